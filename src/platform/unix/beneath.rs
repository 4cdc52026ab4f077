//! Opening and renaming files below a directory and nowhere else.

use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Component, Path};

use rustix::fs::{AtFlags, Mode, OFlags, openat, renameat, statat};
use rustix::io::Errno;

/// Flags to open a directory for opening others relative to it, whatever is
/// mounted on it later. On Linux this needs no permission to list it.
#[cfg(target_os = "linux")]
pub const DIRECTORY_HANDLE: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
/// The same on other systems, where it does.
#[cfg(not(target_os = "linux"))]
pub const DIRECTORY_HANDLE: OFlags = OFlags::DIRECTORY.union(OFlags::CLOEXEC);

/// Opens the relative path `path` below `directory`. Symbolic links are not
/// followed in any component, so replacing a directory by a link cannot lead
/// out of it.
///
/// # Errors
/// Returns the error of the operating system: `ELOOP` for a symbolic link, on
/// Linux also `EXDEV` for a path that leads out.
pub fn open_beneath(directory: impl AsFd, path: &Path, flags: OFlags) -> io::Result<OwnedFd> {
    let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let directory = directory.as_fd();
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{ResolveFlags, openat2};

        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
        let target = if path.as_os_str().is_empty() {
            Path::new(".")
        } else {
            path
        };
        match openat2(directory, target, flags, Mode::empty(), resolve) {
            // Kernels before 5.6, and sandboxes that do not allow the call.
            Err(Errno::NOSYS | Errno::PERM) => {}
            opened => return Ok(opened?),
        }
    }
    open_by_parts(directory, path, flags)
}

/// Renames an entry of a directory, unless there is one of the new name.
///
/// # Errors
/// Returns `EXIST` if there is one, or the error of the operating system. File systems that
/// can only replace may replace one that appears at this moment.
pub fn rename_without_replacing(
    from: impl AsFd,
    old: &str,
    to: impl AsFd,
    new: &str,
) -> rustix::io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{RenameFlags, renameat_with};

        match renameat_with(&from, old, &to, new, RenameFlags::NOREPLACE) {
            Err(Errno::INVAL) => {}
            renamed => return renamed,
        }
    }
    match statat(&to, new, AtFlags::SYMLINK_NOFOLLOW) {
        Err(Errno::NOENT) => renameat(from, old, to, new),
        found => found.and(Err(Errno::EXIST)),
    }
}

/// Like [`open_beneath`], one component at a time.
fn open_by_parts(directory: BorrowedFd<'_>, path: &Path, flags: OFlags) -> io::Result<OwnedFd> {
    let mut parts = Vec::new();
    for part in path.components() {
        match part {
            Component::Normal(name) => parts.push(name),
            Component::CurDir => {}
            _ => return Err(io::ErrorKind::InvalidInput.into()),
        }
    }
    let last = parts.pop().unwrap_or(OsStr::new("."));
    let mut above: Option<OwnedFd> = None;
    for part in parts {
        let at = above.as_ref().map_or(directory, AsFd::as_fd);
        let next = openat(at, part, DIRECTORY_HANDLE | OFlags::NOFOLLOW, Mode::empty())?;
        above = Some(next);
    }
    let at = above.as_ref().map_or(directory, AsFd::as_fd);
    Ok(openat(at, last, flags, Mode::empty())?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, File};
    use std::os::unix::fs::symlink;

    #[test]
    fn symbolic_links_in_a_path_are_not_followed() {
        let root = tempfile::tempdir().unwrap();
        let path = |name: &str| root.path().join(name);
        fs::create_dir_all(path("inside/deep")).unwrap();
        fs::write(path("inside/deep/file"), "x").unwrap();
        symlink("deep", path("inside/link")).unwrap();
        symlink("deep/file", path("inside/linked")).unwrap();
        fs::write(path("outside"), "y").unwrap();

        let directory = File::open(path("inside")).unwrap();
        let ways: [fn(&File, &Path) -> io::Result<OwnedFd>; 2] = [
            |directory, path| open_beneath(directory, path, OFlags::RDONLY),
            |directory, path| {
                open_by_parts(directory.as_fd(), path, OFlags::RDONLY | OFlags::NOFOLLOW)
            },
        ];
        for open in ways {
            let open = |name: &str| open(&directory, Path::new(name));
            assert!(open("deep/file").is_ok());
            assert!(open("").is_ok());
            for name in ["link/file", "linked", "../outside", "deep/../../outside"] {
                assert!(open(name).is_err(), "{name}");
            }
        }
    }
}
