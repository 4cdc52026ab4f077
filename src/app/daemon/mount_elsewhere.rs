//! Unmounting on systems where `fuser` mounts.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use super::Occupant;
use crate::app::Failure;

/// The driver of FUSE, on FreeBSD.
const DRIVER: &str = "/dev/fuse";

/// Checks that `path` can be a mount point, and makes it absolute.
///
/// # Errors
/// Returns [`Failure::MountPoint`] if it cannot.
pub(super) fn mount_point(path: &Path) -> Result<PathBuf, Failure> {
    let unusable = |why: &dyn std::fmt::Display| {
        Failure::MountPoint(format!("mount point {}: {why}", path.display()))
    };
    let point = std::fs::canonicalize(path).map_err(|error| unusable(&error))?;
    if !point.is_dir() {
        return Err(unusable(&"is not a directory"));
    }
    Ok(point)
}

/// Returns the occupant of `point`. There is no table of mounts with their types, so
/// a directory with the files of a mount of hpimount counts as one.
/// It is [`Occupant::Silent`] if it has not answered after `patience`.
pub(super) fn occupant(point: &Path, patience: Duration) -> Occupant {
    let (sender, receiver) = mpsc::channel();
    let info = point.join(".hpimount/info.json");
    thread::spawn(move || sender.send(info.exists()));
    match receiver.recv_timeout(patience) {
        Ok(true) => Occupant::Mount,
        Ok(false) => Occupant::Nothing,
        Err(_) => Occupant::Silent,
    }
}

/// Unmounts the mount at `path`, unless it is in use.
///
/// # Errors
/// Returns [`Failure::NotUnmounted`] if the system refuses.
pub fn unmount(path: &Path) -> Result<(), Failure> {
    let failed =
        |why: &dyn std::fmt::Display| Failure::NotUnmounted(format!("{}: {why}", path.display()));
    let output = Command::new("umount").arg(path).output();
    let output = output.map_err(|error| failed(&error))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(failed(&String::from_utf8_lossy(&output.stderr).trim())),
    }
}

/// Returns the failure for a mount that was refused with this error, with
/// advice.
pub(super) fn refused(point: &Path, error: &std::io::Error) -> Failure {
    match Path::new(DRIVER).exists() {
        true => Failure::Refused(format!("{}: {error}", point.display())),
        false => Failure::NoFuse(format!(
            "{DRIVER} is missing; load the kernel module with `kldload fusefs`; `hpi list`, \
             `hpi cat` and `hpi check` work without"
        )),
    }
}

/// A mount of this process.
#[derive(Debug)]
pub(super) struct Mount {
    point: PathBuf,
}

impl Mount {
    /// Returns the mount that `fuser` has made on `point`.
    pub(super) fn new(point: PathBuf) -> Self {
        Self { point }
    }

    /// Unmounts, even if in use. Returns whether the mount is gone.
    pub(super) fn unmount(&self) -> bool {
        let outcome = Command::new("umount").arg("-f").arg(&self.point).status();
        match outcome {
            Ok(status) => status.success(),
            Err(error) => {
                log::error!("cannot run umount: {error}");
                false
            }
        }
    }

    /// Unmounts unless the mount is in use. Returns whether it is gone.
    pub(super) fn unmount_unused(&self) -> bool {
        let outcome = Command::new("umount").arg(&self.point).output();
        outcome.is_ok_and(|output| output.status.success())
    }

    /// Not needed: unmounting aborts requests.
    pub(super) fn cut_off(&self) {}

    /// Always returns true, because the state is unknown here.
    pub(super) fn is_connected(&self) -> bool {
        true
    }

    /// Not needed: `fuser` has unmounted when the session ended.
    pub(super) fn clear_away(&self) {}
}
