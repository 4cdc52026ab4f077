//! hpipack packs a directory into an archive, and applies changes to archives and
//! discs.

use std::path::PathBuf;
use std::process::ExitCode;
use std::{fs, io, iter, thread};

use hpimount::app::{ExitReason, progress_bar, tell};
use hpimount::cli::hpipack::{Args, PROGRAM};
use hpimount::pack::{self, Archive, Target, check_target};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

fn main() -> ExitCode {
    let ran = match PROGRAM.parse(std::env::args_os()) {
        Ok(args) => run(&args),
        Err(rejected) => Err(Failure::usage(rejected.into_message())),
    };
    match ran {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            tell(PROGRAM.name, failure.message);
            ExitCode::from(failure.code)
        }
    }
}

fn run(args: &Args) -> Result<(), Failure> {
    if let Some(text) = args.common.generate {
        return text.print(&PROGRAM).map_err(|error| Failure {
            message: format!("cannot write to standard output: {error}"),
            code: 1,
        });
    }
    let (dir, out) = args.paths().map_err(Failure::usage)?;
    let archive = if !args.folders.is_empty() {
        check_target(&out, &dir, &args.folders, args.force)?;
        Archive::with_changes(&dir, &args.folders, args.is_strict)?
    } else if args.replacements.is_empty() {
        let format = args.format(&dir, &out).map_err(Failure::usage)?;
        Archive::of_directory(&dir, &out, format)?
    } else {
        Archive::with_replacements(&dir, &args.replacements)?
    };
    let target = Target::new(&out, args.force)?;
    let beside = archive.beside(&out);
    let beside = beside.map(|path| Target::new(&path, args.force));
    let beside = beside.transpose()?;
    let targets = iter::once(&target).chain(&beside);
    let temporary = targets.map(|target| target.temporary().to_owned());
    clean_up_on_signals(temporary.collect())?;
    let bar = progress_bar(archive.bytes, !args.quiet);
    let written = archive.write(target, beside, &mut |bytes| bar.inc(bytes));
    bar.finish_and_clear();
    written?;
    if !args.quiet {
        for (path, why) in &archive.skipped {
            tell(PROGRAM.name, format!("{}: skipped: {why}", path.display()));
        }
        for warning in &archive.warnings {
            tell(PROGRAM.name, warning);
        }
    }
    Ok(())
}

/// Why the program exits, and its exit code.
struct Failure {
    message: String,
    code: u8,
}

impl Failure {
    fn usage(message: String) -> Self {
        Self {
            message,
            code: ExitReason::USAGE.code,
        }
    }
}

impl From<pack::Error> for Failure {
    fn from(error: pack::Error) -> Self {
        Self {
            message: error.to_string(),
            code: error.exit_code(),
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self {
            message: format!("cannot handle signals: {error}"),
            code: 1,
        }
    }
}

/// Removes the unfinished files when a signal ends the program.
fn clean_up_on_signals(temporary: Vec<PathBuf>) -> io::Result<()> {
    // With SIGXFSZ handled, a write past the file size limit fails like one to
    // a full disk, instead of terminating the program.
    let mut signals = Signals::new([SIGHUP, SIGINT, SIGTERM, SIGXFSZ])?;
    thread::spawn(move || {
        for signal in signals.forever().filter(|&signal| signal != SIGXFSZ) {
            for path in &temporary {
                // It may just have been renamed, so the file may be gone.
                let _ = fs::remove_file(path);
            }
            let _ = emulate_default_handler(signal);
        }
    });
    Ok(())
}
