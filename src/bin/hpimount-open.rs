//! hpimount-open mounts an archive for the desktop and shows it in the file
//! manager. Of an asset on a mount it shows the model or the preview.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use hpimount::app::desktop::{self, Error, Mounts};
use hpimount::app::{ExitReason, tell};
use hpimount::cli::open::{Action, FAILED, PROGRAM};

fn main() -> ExitCode {
    let args = match PROGRAM.parse(std::env::args_os()) {
        Ok(args) => args,
        Err(rejected) => {
            let problem = rejected.into_message();
            return fail(ExitReason::USAGE.meaning, &problem, ExitReason::USAGE.code);
        }
    };
    if let Some(text) = args.common.generate {
        return match text.print(&PROGRAM) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                tell(
                    PROGRAM.name,
                    format!("cannot write to standard output: {error}"),
                );
                ExitCode::from(FAILED.code)
            }
        };
    }
    let action = match args.action() {
        Ok(action) => action,
        Err(problem) => return fail("Cannot open", &problem, ExitReason::USAGE.code),
    };
    let mut code = ExitCode::SUCCESS;
    for (title, outcome) in run(action) {
        if let Err(error) = outcome {
            code = fail(title, &error.to_string(), FAILED.code);
        }
    }
    code
}

/// Runs an action; each outcome comes with the title of its notification.
fn run(action: Action) -> Vec<(&'static str, Result<(), Error>)> {
    match action {
        Action::Open(files) => {
            let opened = files.iter().map(|file| open(file));
            opened.map(|outcome| ("Cannot open", outcome)).collect()
        }
        Action::Unmount(files) => {
            let closed = files.iter().map(|file| mounts()?.close(file));
            closed.map(|outcome| ("Cannot unmount", outcome)).collect()
        }
        Action::UnmountAll => {
            let closed = mounts().and_then(|mounts| mounts.close_all());
            vec![("Cannot unmount", closed)]
        }
    }
}

fn open(file: &Path) -> Result<(), Error> {
    if let Some(shown) = desktop::representation(file) {
        return desktop::show(&shown);
    }
    let point = mounts()?.open(file)?;
    desktop::show(&point)
}

fn mounts() -> Result<Mounts, Error> {
    Mounts::in_home(&desktop::home_directory()?, hpimount())
}

/// Returns the program that mounts: the one in the same directory, or else that
/// in the PATH.
fn hpimount() -> PathBuf {
    let beside = std::env::current_exe().map(|program| program.with_file_name("hpimount"));
    beside
        .ok()
        .filter(|program| program.exists())
        .unwrap_or_else(|| PathBuf::from("hpimount"))
}

/// Reports an error on standard error and on the desktop.
fn fail(title: &str, text: &str, code: u8) -> ExitCode {
    tell(PROGRAM.name, text);
    desktop::notify(title, text);
    ExitCode::from(code)
}
