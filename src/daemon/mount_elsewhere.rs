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

/// A mount of ours.
#[derive(Debug)]
pub(super) struct Mount {
    point: PathBuf,
}

impl Mount {
    /// The mount that `fuser` has made on `point`.
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

    /// Unmounting has done it.
    pub(super) fn cut_off(&self) {}

    /// Not known here.
    pub(super) fn is_connected(&self) -> bool {
        true
    }

    /// The session has ended, and `fuser` has unmounted then.
    pub(super) fn clear_away(&self) {}
}
