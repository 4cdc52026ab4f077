//! The mounts of the user.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use serde_json::Value;

use super::{Error, last_line, os, output_of};
use crate::app::daemon::mount::occupant;
use crate::app::daemon::{Occupant, unmount as unmount_at};
use crate::app::shortened;
use hpimount_containers::text::numbered;

/// Name of the directory in the home directory.
const DIRECTORY: &str = "hpimount";

/// The name under which this program mounts.
const MOUNTING: &str = "hpimount";

/// Ends the name of the folder beside an archive with its edits.
const EDITS: &str = ".mod";

/// Prevents two clicks at the same time from mounting twice. The name is
/// hidden, so that no archive has the same one.
const LOCK: &str = ".lock";

/// Idle time after which a mount is unmounted.
const IDLE: Duration = Duration::from_secs(600);

/// Timeout for the answer of a mount, so that a click does not hang with one that is stopped.
const PATIENCE: Duration = Duration::from_secs(2);

/// The mounts of a user.
#[derive(Debug)]
pub(super) struct Mounts {
    directory: PathBuf,
    /// This program, which mounts.
    program: PathBuf,
    idle: Duration,
    /// Locked while this exists.
    _lock: File,
}

impl Mounts {
    /// Returns the mounts in the home directory `home`, which `hpimount` creates.
    /// Other processes wait while this exists.
    ///
    /// # Errors
    /// Returns an error if the directory cannot be created or locked.
    pub(super) fn in_home(home: &Path, program: PathBuf) -> Result<Self, Error> {
        let directory = home.join(DIRECTORY);
        make_directory(&directory)?;
        let lock = directory.join(LOCK);
        let lock_file = File::create(&lock).map_err(os(&lock))?;
        flock(&lock_file, FlockOperation::LockExclusive)
            .map_err(|error| os(&lock)(error.into()))?;
        let mounts = Self {
            directory,
            program,
            idle: shortened("HPIMOUNT_TEST_IDLE", IDLE),
            _lock: lock_file,
        };
        mounts.tidy();
        Ok(mounts)
    }

    /// Removes the directories of mounts that are gone.
    fn tidy(&self) {
        for point in self.points() {
            // Fails if something is mounted.
            let _ = fs::remove_dir(point);
        }
    }

    /// Returns the directories for mounts.
    fn points(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(&self.directory).into_iter().flatten();
        let paths = entries.flatten().map(|entry| entry.path());
        let mut paths: Vec<PathBuf> = paths.filter(|path| !path.ends_with(LOCK)).collect();
        paths.sort();
        paths
    }

    /// Mounts a file, so that it can be edited if `is_edited`, unless it is already
    /// mounted, and returns the mount point. A file that has changed since is mounted
    /// again.
    ///
    /// # Errors
    /// Returns an error if it cannot be mounted, or if a mount that is named after
    /// it does not answer.
    pub(super) fn open(&self, file: &Path, is_edited: bool) -> Result<PathBuf, Error> {
        let source = fs::canonicalize(file).map_err(os(file))?;
        let usual = self.directory.join(mount_name(&source));
        if occupant(&usual, PATIENCE) == Occupant::Silent {
            return Err(Error::Silent(usual.display().to_string()));
        }
        let is_current = |point: &PathBuf| match is_edited {
            true => can_be_edited(point),
            false => can_be_edited(point) || !has_changed(&source, point),
        };
        let points = self.points_of(&source).into_iter();
        let (current, changed) = points.partition::<Vec<_>, _>(is_current);
        if let Some(point) = current.into_iter().next() {
            return Ok(point);
        }
        for point in changed {
            // Open files of the old mount stay valid.
            let _ = unmount(&point);
        }
        let point = self.free_point(&source);
        self.mount(&source, &point, is_edited)?;
        Ok(point)
    }

    /// Returns the mount points of a source.
    fn points_of(&self, source: &Path) -> Vec<PathBuf> {
        let mut points = self.points();
        points.retain(|point| source_at(point).is_some_and(|found| found == source));
        points
    }

    /// Returns an unused mount point that is named after a source.
    fn free_point(&self, source: &Path) -> PathBuf {
        let name = mount_name(source);
        let mut point = self.directory.join(&name);
        let mut number = 1;
        while occupant(&point, PATIENCE) != Occupant::Nothing {
            number += 1;
            point = self.directory.join(numbered(&name, number));
        }
        point
    }

    fn mount(&self, source: &Path, point: &Path, is_edited: bool) -> Result<(), Error> {
        match make_directory(point) {
            // The next mount replaces a dead one.
            Err(Error::Os(_, error)) if is_dead(&error) => {}
            made => made?,
        }
        // Whoever looks at it in a file manager is to find the pictures.
        let options = format!("idle={},meta=converted", self.idle.as_secs());
        let mut command = Command::new(&self.program);
        command.arg0(MOUNTING).args(["-o", &options]);
        if is_edited {
            let name = source.file_name().unwrap_or_default();
            let mut folder = name.to_owned();
            folder.push(EDITS);
            let folder = source.with_file_name(folder);
            command.arg("--notify").arg("--edit").arg(folder);
        }
        let outcome = output_of(command.arg("--").args([source, point]));
        if outcome.is_err() {
            // Fails unless it is empty.
            let _ = fs::remove_dir(point);
        }
        outcome.map_err(|error| match error {
            Error::Reported(printed) => Error::Reported(without_prefix(&printed).to_owned()),
            other => other,
        })
    }

    /// Unmounts a file.
    ///
    /// # Errors
    /// Returns an error if it is not mounted, or in use.
    pub(super) fn close(&self, file: &Path) -> Result<(), Error> {
        // The file itself may have been deleted.
        let source = fs::canonicalize(file).or_else(|_| std::path::absolute(file));
        let source = source.map_err(os(file))?;
        let points = self.points_of(&source);
        if points.is_empty() {
            return Err(Error::NotOpen(file.display().to_string()));
        }
        points.iter().try_for_each(|point| unmount(point))
    }

    /// Unmounts all files.
    ///
    /// # Errors
    /// Returns the error for the first that is in use or does not answer; the
    /// others are unmounted.
    pub(super) fn close_all(&self) -> Result<(), Error> {
        let points = self.points().into_iter();
        let outcomes = points.map(|point| match occupant(&point, PATIENCE) {
            Occupant::Mount => unmount(&point),
            Occupant::Silent => Err(Error::Silent(point.display().to_string())),
            Occupant::Nothing => Ok(()),
        });
        let outcomes: Vec<_> = outcomes.collect();
        outcomes.into_iter().collect()
    }
}

/// Creates a directory that only its owner can access, unless it exists.
fn make_directory(path: &Path) -> Result<(), Error> {
    match DirBuilder::new().mode(0o700).create(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        made => made.map_err(os(path)),
    }
}

/// Returns the name of the directory for a mount of a source.
fn mount_name(source: &Path) -> String {
    let name = source.file_name().unwrap_or_default().to_string_lossy();
    // A name that begins with a dot would be hidden.
    match name.trim_start_matches('.') {
        "" => "archive".to_owned(),
        name => name.to_owned(),
    }
}

/// Returns the source that is mounted at a mount point, as the mount reports
/// it. `None` for anything but a mount of hpimount that answers.
fn source_at(point: &Path) -> Option<PathBuf> {
    if occupant(point, PATIENCE) != Occupant::Mount {
        return None;
    }
    let text = fs::read(point.join(".hpimount/info.json")).ok()?;
    let info: Value = serde_json::from_slice(&text).ok()?;
    Some(PathBuf::from(info["sources"][0]["path"].as_str()?))
}

/// Returns whether a mount can be edited.
#[cfg(target_os = "linux")]
fn can_be_edited(point: &Path) -> bool {
    rustix::fs::getxattr(point, crate::edit::EDIT, &mut [0; 0][..]).is_ok()
}

/// Returns false: only Linux has such mounts.
#[cfg(not(target_os = "linux"))]
fn can_be_edited(_point: &Path) -> bool {
    false
}

/// Returns whether a source was modified since it was mounted.
fn has_changed(source: &Path, point: &Path) -> bool {
    let time = |path| fs::metadata(path).map(|metadata| metadata.mtime()).ok();
    time(source) != time(point)
}

/// Unmounts a mount point, unless it is in use, and removes its directory.
fn unmount(point: &Path) -> Result<(), Error> {
    unmount_at(point).map_err(|failure| Error::Reported(failure.to_string()))?;
    fs::remove_dir(point).map_err(os(point))
}

fn is_dead(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotConnected
}

/// Returns the message of a program, without its name and without earlier log
/// lines.
fn without_prefix(printed: &str) -> &str {
    let last = last_line(printed);
    last.strip_prefix(MOUNTING)
        .and_then(|rest| rest.strip_prefix(": "))
        .unwrap_or(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_notification_contains_only_the_error() {
        let printed = "[WARN] something\nhpimount: /a.hpi: has no known format";
        assert_eq!(without_prefix(printed), "/a.hpi: has no known format");
        assert_eq!(without_prefix(""), "");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_directory_is_free_even_if_it_looks_like_a_mount() {
        let point = tempfile::tempdir().unwrap();
        assert_eq!(source_at(point.path()), None);
        assert_eq!(source_at(&point.path().join("missing")), None);
        fs::create_dir(point.path().join(".hpimount")).unwrap();
        let forged = r#"{"sources": [{"path": "/my.hpi"}]}"#;
        fs::write(point.path().join(".hpimount/info.json"), forged).unwrap();
        assert_eq!(source_at(point.path()), None);
    }
}
