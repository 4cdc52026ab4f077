//! The occupant of a path: a mount of hpimount that answers, a silent one, or nothing.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use rustix::io::Errno;

use super::Occupant;
use super::mount_table::{MountId, MountTable};
use crate::app::Failure;

/// Type of our mounts in the mount table.
pub(super) const FS_TYPE: &str = "fuse.hpimount";

/// Reads the mount table.
pub(super) fn mount_table() -> Result<MountTable, Failure> {
    MountTable::read().map_err(|error| Failure::Other("cannot read the mount table", error))
}

/// Returns the mount that is visible at `point`, an absolute path, if it is one of
/// hpimount.
pub(super) fn ours_on(point: &Path) -> Result<Option<MountId>, Failure> {
    let table = mount_table()?;
    let ours = table.topmost(point).filter(|top| top.fs_type == FS_TYPE);
    Ok(ours.map(|top| top.id.clone()))
}

/// Makes a path absolute without accessing its last component, which may be a
/// dead mount.
pub(super) fn resolve(path: &Path) -> io::Result<PathBuf> {
    match fs::canonicalize(path) {
        Err(error) if is_dead(&error) => {
            let path = std::path::absolute(path)?;
            match (path.parent(), path.file_name()) {
                (Some(parent), Some(name)) => Ok(fs::canonicalize(parent)?.join(name)),
                _ => Err(error),
            }
        }
        other => other,
    }
}

/// Returns whether a FUSE mount has lost its daemon.
pub(super) fn is_dead_mount(point: &Path) -> bool {
    answers(point).is_err_and(|error| is_dead(&error))
}

/// Waits for a response of a FUSE mount. The kernel never answers `statfs` from
/// its caches, unlike attributes and listings.
fn answers(point: &Path) -> io::Result<()> {
    Ok(rustix::fs::statfs(point).map(drop)?)
}

/// Like [`answers`], but waits for at most `patience`. A mount without a daemon
/// fails at once, unless the kernel keeps a thread of the daemon in a hanging
/// read.
pub(super) fn answers_soon(point: &Path, patience: Duration) -> io::Result<()> {
    let (sender, receiver) = mpsc::channel();
    let point = point.to_owned();
    thread::Builder::new().spawn(move || sender.send(answers(&point)))?;
    receiver
        .recv_timeout(patience)
        .unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
}

/// Returns the occupant of `point`, an absolute path. A mount that has not
/// answered after `patience` is [`Occupant::Silent`].
pub(super) fn occupant(point: &Path, patience: Duration) -> Occupant {
    let Ok(Some(_)) = ours_on(point) else {
        return Occupant::Nothing;
    };
    match answers_soon(point, patience) {
        Ok(()) => Occupant::Mount,
        Err(error) if error.kind() == io::ErrorKind::TimedOut => Occupant::Silent,
        // The next mount replaces a dead one.
        Err(_) => Occupant::Nothing,
    }
}

/// Returns whether an error comes from a FUSE mount without a daemon.
pub(super) fn is_dead(error: &io::Error) -> bool {
    matches!(
        Errno::from_io_error(error),
        Some(Errno::NOTCONN | Errno::CONNABORTED)
    )
}
