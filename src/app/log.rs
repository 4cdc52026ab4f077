//! The log: to standard error, or to the system log once in the background.

use std::io::Write;
use std::sync::OnceLock;
use std::time::Instant;

use log::{Level, LevelFilter, Log, Metadata, Record};

use super::flood::Flood;
use super::message::{for_people, program};
use crate::printable::printable;

/// The module that logs about the session with the kernel.
const SESSION: &str = "fuser";

/// The logger of the process.
static LOGGER: OnceLock<Logger> = OnceLock::new();

struct Logger {
    stderr: env_logger::Logger,
    /// Set when the process has gone into the background; `None` inside if
    /// there is no system log.
    system: OnceLock<Option<Box<dyn Log>>>,
    flood: Flood,
}

/// Starts logging to standard error.
pub(super) fn start(level: LevelFilter) {
    // The session warns about every request that is correctly answered with
    // ENOSYS.
    let session_level = match level {
        LevelFilter::Debug => LevelFilter::Debug,
        _ => LevelFilter::Error,
    };
    let mut builder = env_logger::Builder::new();
    builder
        .filter_level(level)
        .filter_module(SESSION, session_level)
        // Its errors are reported in plain words by whoever gets them.
        .filter_module("rustls_platform_verifier", LevelFilter::Off)
        .format_target(false);
    // Whoever asks for details gets their times too.
    if level <= LevelFilter::Warn {
        builder.format(|out, record| {
            let kind = match record.level() {
                Level::Error => "error",
                _ => "warning",
            };
            writeln!(out, "{}: {kind}: {}", program(), record.args())
        });
    }
    let logger = LOGGER.get_or_init(|| Logger {
        stderr: builder.build(),
        system: OnceLock::new(),
        flood: Flood::new(Instant::now()),
    });
    // Only a second start could fail.
    if log::set_logger(logger).is_ok() {
        log::set_max_level(level);
    }
}

/// Logs there from now on, or nowhere, instead of to standard error.
#[cfg(fuse)]
pub(super) fn deliver_to(system: Option<Box<dyn Log>>) {
    if let Some(logger) = LOGGER.get() {
        // Only a second move could fail.
        let _ = logger.system.set(system);
    }
}

impl Logger {
    /// Passes on a text that is safe on terminals and in logs.
    fn deliver(&self, level: Level, target: &str, text: &str) {
        let args = format_args!("{text}");
        let record = Record::builder()
            .level(level)
            .target(target)
            // Levels are filtered by the module.
            .module_path(Some(target))
            .args(args)
            .build();
        match self.system.get() {
            None => self.stderr.log(&record),
            Some(Some(system)) => system.log(&record),
            Some(None) => {}
        }
    }
}

impl Log for Logger {
    fn enabled(&self, metadata: &Metadata) -> bool {
        self.stderr.enabled(metadata)
    }

    fn log(&self, record: &Record) {
        if !self.enabled(record.metadata()) {
            return;
        }
        let text = record.args().to_string();
        let text = printable(&text);
        let text = for_people(&text);
        // Debugging needs all details.
        let lines = match record.level() {
            Level::Error | Level::Warn => self.flood.admit(record.level(), &text, Instant::now()),
            level => vec![(level, text.into_owned())],
        };
        for (level, line) in lines {
            self.deliver(level, record.target(), &line);
        }
    }

    /// Logs summaries of the messages that were left out.
    fn flush(&self) {
        for (level, line) in self.flood.rest() {
            self.deliver(level, "", &line);
        }
        self.stderr.flush();
    }
}
