//! Archives opened by double click: mounts without a shell. An asset on a mount
//! is opened as what shows it.
//!
//! They are in one directory of the user's home, named after their archives, and
//! are unmounted after some time without use. Errors are shown as
//! notifications.

mod asset;
pub mod files;
#[cfg_attr(not(fuse), path = "mounts_elsewhere.rs")]
mod mounts;
mod notify;

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use self::asset::representation;
use self::mounts::Mounts;
#[cfg(edit)]
pub(super) use self::notify::notify;
#[cfg(not(edit))]
use self::notify::notify;
use crate::app::{ExitReason, tell};

/// Environment variable with the directory that contains the mounts. File
/// managers show mounts in the home directory as volumes that can be ejected, but
/// none in the session's runtime directory.
const HOME: &str = "HOME";

/// Programs that open a file or a directory with the program that the desktop
/// has for it; the first installed one is used.
const OPENERS: [&[&str]; 2] = [&["xdg-open"], &["gio", "open"]];

/// Some programs run until they are closed: a failure after this time is
/// unrelated to opening the file.
const SHOWN: Duration = Duration::from_secs(10);

/// An error of opening or unmounting, with the message for the user.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no home directory.
    #[error("{HOME} is not set: there is no directory in which to mount")]
    NoHome,
    /// The program cannot mount.
    #[error("this program was built without FUSE; `hpi extract` writes the files of an archive")]
    #[cfg(not(fuse))]
    NoMounts,
    /// An error of the operating system.
    #[error("{0}: {1}")]
    Os(String, io::Error),
    /// The message of a program that failed.
    #[error("{0}")]
    Reported(String),
    /// The file is not open.
    #[error("{0}: is not open")]
    NotOpen(String),
    /// A mount does not answer, perhaps because its process is stopped.
    #[error("{0}: the mount there does not answer; `umount -l` removes it")]
    Silent(String),
    /// Something on a mount cannot be shown, and why.
    #[error("{0}: is mounted, but cannot be shown: {1}")]
    NotShown(String, String),
}

/// Returns an error of the operating system about a path.
fn os(path: &Path) -> impl FnOnce(io::Error) -> Error {
    let path = path.display().to_string();
    |error| Error::Os(path, error)
}

/// An action on files.
#[derive(Debug, PartialEq, Eq)]
pub enum Action {
    /// Mount files, so that they can be edited if that is true, and show them.
    Open(Vec<PathBuf>, bool),
    /// Unmount files.
    Unmount(Vec<PathBuf>),
    /// Unmount all files of the session.
    UnmountAll,
}

/// Does something with files, and reports errors on standard error and on the desktop.
pub fn run(action: Action) -> ExitCode {
    let (title, outcomes) = match action {
        Action::Open(files, is_edited) => {
            let opened = files.iter().map(|file| open(file, is_edited));
            ("Cannot open", opened.collect())
        }
        Action::Unmount(files) => {
            let closed = files.iter().map(|file| mounts()?.close(file));
            ("Cannot unmount", closed.collect())
        }
        Action::UnmountAll => {
            let closed = mounts().and_then(|mounts| mounts.close_all());
            ("Cannot unmount", vec![closed])
        }
    };
    let mut code = ExitCode::SUCCESS;
    for error in outcomes.into_iter().filter_map(Result::err) {
        code = report(title, &error.to_string(), ExitReason::OTHER);
    }
    code
}

/// Reports an error on standard error and on the desktop.
pub fn report(title: &str, text: &str, reason: ExitReason) -> ExitCode {
    tell(text);
    notify(title, text);
    ExitCode::from(reason.code)
}

fn open(file: &Path, is_edited: bool) -> Result<(), Error> {
    if let Some(shown) = representation(file) {
        return show(&shown);
    }
    let point = mounts()?.open(file, is_edited)?;
    show(&point)
}

fn mounts() -> Result<Mounts, Error> {
    let program = std::env::current_exe();
    let program = program.map_err(|error| Error::Os("this program".to_owned(), error))?;
    Mounts::in_home(&home_directory()?, program)
}

/// Returns the user's home directory.
fn home_directory() -> Result<PathBuf, Error> {
    let value = std::env::var_os(HOME).map(PathBuf::from);
    value.filter(|path| path.is_absolute()).ok_or(Error::NoHome)
}

/// Shows the directory of a mount in the file manager, or a file in its viewer. It is an
/// error if there is no program that does it, or it fails at once.
fn show(path: &Path) -> Result<(), Error> {
    let not_shown = |why: &str| Error::NotShown(path.display().to_string(), why.to_owned());
    for opener in OPENERS {
        let arguments = opener[1..].iter().map(OsString::from);
        let begun = Instant::now();
        return match output_of(Command::new(opener[0]).args(arguments).arg(path)) {
            Err(Error::Os(_, error)) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(_) if begun.elapsed() > SHOWN => Ok(()),
            // Earlier lines list the attempts.
            Err(Error::Reported(report)) => Err(not_shown(last_line(&report))),
            outcome => outcome,
        };
    }
    Err(not_shown("xdg-open is not installed"))
}

/// Returns the last line of a program's output.
fn last_line(printed: &str) -> &str {
    printed.lines().next_back().unwrap_or_default()
}

/// Runs a program that reports failures on standard error.
fn output_of(command: &mut Command) -> Result<(), Error> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command
        .output()
        .map_err(|error| Error::Os(name.clone(), error))?;
    if output.status.success() {
        return Ok(());
    }
    let printed = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(Error::Reported(if printed.is_empty() {
        format!("{name}: {}", output.status)
    } else {
        printed
    }))
}
