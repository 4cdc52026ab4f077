//! Unmounting where `fuser` makes the mounts.

use std::path::PathBuf;
use std::process::Command;

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

    /// The session has ended, and `fuser` has unmounted then.
    pub(super) fn clear_away(&self) {}
}
