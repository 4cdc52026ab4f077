//! hpipack packs a directory into an HPI or HIP archive.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{fs, io, iter, thread};

use hpimount::app::{ExitReason, progress_bar, tell};
use hpimount::cli::hpipack::{Args, PROGRAM};
use hpimount::pack::{self, Applied, Archive, Target, check_target};
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
    if !args.folders.is_empty() {
        return apply(args, &dir, &out);
    }
    let archive = if args.replacements.is_empty() {
        let format = args.format(&dir, &out).map_err(Failure::usage)?;
        Archive::of_directory(&dir, &out, format)?
    } else {
        Archive::with_replacements(&dir, &args.replacements)?
    };
    let target = Target::new(&out, args.force)?;
    clean_up_on_signals(vec![target.temporary().to_owned()])?;
    let bar = progress_bar(archive.bytes, !args.quiet);
    let written = archive.write(target, &mut |bytes| bar.inc(bytes));
    bar.finish_and_clear();
    written?;
    if !args.quiet {
        for (path, why) in &archive.skipped {
            tell(PROGRAM.name, format!("{}: skipped: {why}", path.display()));
        }
    }
    Ok(())
}

/// Writes an archive or a disc with changes.
fn apply(args: &Args, source: &Path, out: &Path) -> Result<(), Failure> {
    check_target(out, source, &args.folders, args.force)?;
    let plan = Applied::new(source, &args.folders, args.is_strict)?;
    let target = Target::new(out, args.force)?;
    let directory = plan.directory(out);
    let directory = directory.map(|path| Target::new(&path, args.force));
    let directory = directory.transpose()?;
    let targets = iter::once(&target).chain(&directory);
    clean_up_on_signals(
        targets
            .map(|target| target.temporary().to_owned())
            .collect(),
    )?;
    let bar = progress_bar(plan.bytes(), !args.quiet);
    let written = plan.write(target, directory, &mut |bytes| bar.inc(bytes));
    bar.finish_and_clear();
    written?;
    if !args.quiet {
        for warning in plan.warnings() {
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
