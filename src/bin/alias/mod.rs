//! The other names of `hpi`, for `cargo install`, which cannot make links.

use std::env::{self, ArgsOs};
use std::ffi::OsStr;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// Starts the program `hpi` beside this one, under the name `name`, or where a program
/// cannot have another name, with the command that the name stands for.
pub(crate) fn run(name: &str, command: &str) -> ExitCode {
    let mut words = env::args_os();
    let called = PathBuf::from(words.next().unwrap_or_default());
    // Without /proc, it is where it was called, or else in the PATH.
    let program = env::current_exe().unwrap_or_else(|_| called.clone());
    let hpi = program.with_file_name("hpi");
    let called = match called.file_name() == Some(name.as_ref()) {
        true => &called,
        false => Path::new(name),
    };
    let names = [called.as_ref(), command.as_ref()];
    let started = start(Command::new(&hpi), names, words);
    let error = match started {
        Ok(code) => return code,
        Err(error) => error,
    };
    // Not eprintln!, which panics if standard error is closed.
    let hpi = hpi.display();
    let _ = writeln!(io::stderr(), "{name}: {hpi}, the program to start: {error}");
    ExitCode::FAILURE
}

/// Replaces this process by `hpi` with the first of the names. Returns only if that fails.
#[cfg(unix)]
fn start(mut hpi: Command, [called, _]: [&OsStr; 2], words: ArgsOs) -> io::Result<ExitCode> {
    use std::os::unix::process::CommandExt;
    Err(hpi.arg0(called).args(words).exec())
}

/// Runs `hpi` with the command, the second of the names, beside this process.
#[cfg(not(unix))]
fn start(mut hpi: Command, [_, command]: [&OsStr; 2], words: ArgsOs) -> io::Result<ExitCode> {
    let code = hpi.arg(command).args(words).status()?.code();
    let code = code.and_then(|code| u8::try_from(code).ok());
    Ok(code.map_or(ExitCode::FAILURE, ExitCode::from))
}
