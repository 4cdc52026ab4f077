//! hpipack packs a directory into an HPI archive.

use std::path::PathBuf;
use std::process::ExitCode;
use std::{fs, io, thread};

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, ValueEnum};
use hpimount::pack::{self, Format, Target};
use hpimount::volume::hpi::chunk::Method;
use indicatif::{ProgressBar, ProgressStyle};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

/// Packs a directory into an archive for Total Annihilation or TA: Kingdoms.
///
/// Everything in DIR is packed. Symbolic links are followed. Names must exist
/// in Windows-1252, and may not differ in case alone. OUT appears when it is
/// complete, or not at all.
#[derive(Parser)]
#[command(name = "hpipack", version, after_help = EXIT_CODES)]
struct Arguments {
    /// The directory to pack
    dir: PathBuf,
    /// The archive to write, such as mod.hpi, unit.ufo or map.kmp
    out: PathBuf,
    /// The game that is to read the archive
    #[arg(long, value_enum, default_value = "ta")]
    format: Game,
    /// How files are packed. Kingdoms knows stored and zlib only
    #[arg(long, value_enum, default_value = "zlib")]
    method: MethodName,
    /// Encipher with this key, 1 to 254 or 0x01 to 0xFE; not for kingdoms. 0
    /// is none
    #[arg(long, value_name = "N", value_parser = key, default_value = "0", hide_default_value = true)]
    key: u8,
    /// Replace OUT if it exists
    #[arg(short, long)]
    force: bool,
    /// Say nothing but errors
    #[arg(short, long)]
    quiet: bool,
}

const EXIT_CODES: &str = "\
Exit codes:
   0  OUT is written
   2  usage
  10  DIR cannot be read, or has something in it that cannot be packed
  20  OUT cannot be written, or exists
   1  anything else";

/// The games.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Game {
    /// Total Annihilation
    Ta,
    /// TA: Kingdoms
    Kingdoms,
}

/// The methods as users name them.
#[derive(Clone, Copy, ValueEnum)]
enum MethodName {
    /// As they are
    Stored,
    /// With the games' own LZ77, like the archives that came with the game
    Lz77,
    /// With zlib, which is smaller
    Zlib,
}

impl From<MethodName> for Method {
    fn from(name: MethodName) -> Self {
        match name {
            MethodName::Stored => Self::Stored,
            MethodName::Lz77 => Self::Lz77,
            MethodName::Zlib => Self::Zlib,
        }
    }
}

/// Reads a key, decimal or with `0x` before it.
fn key(text: &str) -> Result<u8, String> {
    let number = match text.strip_prefix("0x") {
        Some(digits) => u8::from_str_radix(digits, 16),
        None => text.parse(),
    };
    match number {
        Ok(255) => Err("the game takes archives with this key for plain ones".into()),
        Ok(key) => Ok(key),
        Err(_) => Err("a key is a number from 0 to 254".into()),
    }
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let format = match format(&arguments) {
        Ok(format) => format,
        Err(problem) => Arguments::command()
            .error(ErrorKind::ArgumentConflict, problem)
            .exit(),
    };
    match run(&arguments, format) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("hpipack: {}", failure.message);
            ExitCode::from(failure.code)
        }
    }
}

/// The format that the arguments ask for.
fn format(arguments: &Arguments) -> Result<Format, &'static str> {
    let method = Method::from(arguments.method);
    let key = arguments.key;
    match (arguments.format, method) {
        (Game::Ta, _) => Ok(Format::TotalAnnihilation { method, key }),
        (Game::Kingdoms, _) if key != 0 => Err("archives for Kingdoms have no --key"),
        (Game::Kingdoms, Method::Lz77) => Err("archives for Kingdoms are not packed with lz77"),
        (Game::Kingdoms, _) => Ok(Format::Kingdoms {
            packed: method == Method::Zlib,
        }),
    }
}

fn run(arguments: &Arguments, format: Format) -> Result<(), Failure> {
    let walked = pack::walk(&arguments.dir, &arguments.out)?;
    let target = Target::new(&arguments.out, arguments.force)?;
    clean_up_on_signals(target.temporary().to_owned())?;
    let bar = progress_bar(walked.bytes, arguments.quiet);
    let packed = pack::pack(&walked.root, format, target, &mut |bytes| bar.inc(bytes));
    bar.finish_and_clear();
    packed?;
    if !arguments.quiet {
        for path in &walked.left_out {
            eprintln!("hpipack: {}: left out, is the archive", path.display());
        }
    }
    Ok(())
}

/// Why the program ends, and with which exit code.
struct Failure {
    message: String,
    code: u8,
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

/// Removes the unfinished archive when a signal ends the program.
fn clean_up_on_signals(temporary: PathBuf) -> io::Result<()> {
    // A handled SIGXFSZ lets a write past the file size limit fail as one to
    // a full disk does, instead of ending the program.
    let mut signals = Signals::new([SIGHUP, SIGINT, SIGTERM, SIGXFSZ])?;
    thread::spawn(move || {
        for signal in signals.forever().filter(|&signal| signal != SIGXFSZ) {
            // It may have become the archive just now, and nothing is there.
            let _ = fs::remove_file(&temporary);
            let _ = emulate_default_handler(signal);
        }
    });
    Ok(())
}

/// A bar for `bytes`, seen on terminals only.
fn progress_bar(bytes: u64, quiet: bool) -> ProgressBar {
    if quiet {
        return ProgressBar::hidden();
    }
    let template = "{bar:40} {bytes}/{total_bytes} {bytes_per_sec} {eta}";
    let style = ProgressStyle::with_template(template).expect("the template is sound");
    ProgressBar::new(bytes).with_style(style)
}
