//! Unmounting where `fuser` makes the mounts.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::exit::Failure;

/// Checks that something can be mounted on `path`, and makes it absolute.
///
/// # Errors
/// [`Failure::MountPoint`].
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

/// Unmounts what is mounted at `path`, unless it is in use.
///
/// # Errors
/// [`Failure::NotUnmounted`].
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

/// What a mount that was refused with this error lacks.
pub(super) fn refused(point: &Path, error: &std::io::Error) -> Failure {
    let (driver, advice) = match cfg!(target_os = "macos") {
        true => (
            "/Library/Filesystems/macfuse.fs",
            "install macFUSE (https://macfuse.github.io)",
        ),
        false => ("/dev/fuse", "load the kernel module with `kldload fusefs`"),
    };
    match Path::new(driver).exists() {
        true => Failure::Refused(format!("{}: {error}", point.display())),
        false => Failure::NoFuse(format!(
            "there is no {driver}; {advice}; `--list`, `--cat` and `--check` work without"
        )),
    }
}

/// A mount of ours.
#[derive(Debug)]
pub(super) struct Mount {
    point: PathBuf,
}

impl Mount {
    /// Returns the mount that `fuser` has made on `point`.
    pub(super) fn new(point: PathBuf) -> Self {
        Self { point }
    }

    /// Unmounts, also while it is in use. Says whether the mount is gone.
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

    /// Unmounts unless the mount is in use. Says whether it is gone.
    pub(super) fn unmount_unused(&self) -> bool {
        let outcome = Command::new("umount").arg(&self.point).output();
        outcome.is_ok_and(|output| output.status.success())
    }

    /// Unmounting has done it.
    pub(super) fn cut_off(&self) {}

    /// Not known here.
    pub(super) fn is_connected(&self) -> bool {
        true
    }

    /// The session has ended, and `fuser` has unmounted then.
    pub(super) fn clear_away(&self) {}
}
