//! Directories that are held open.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::Path;

use rustix::fs::{CWD, Dir, Mode, OFlags, openat};
use rustix::io::Errno;

use super::{DIRECTORY_HANDLE, open_beneath};

/// Flags for opening a directory to list it.
const LISTED: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY);

/// Flags for opening a file; without blocking, since it may be a pipe by now, without a
/// writer.
const FILE: OFlags = OFlags::RDONLY.union(OFlags::NONBLOCK);

/// A directory that is held open: it stays the same when another one, or a mount, takes its
/// path. Nothing that is opened in it is outside, since no symbolic link is followed.
#[derive(Debug)]
pub struct Directory(pub(super) OwnedFd);

impl Directory {
    /// Opens a directory; symbolic links in the path are followed.
    ///
    /// # Errors
    /// Returns the error of the operating system.
    pub fn open(path: &Path) -> io::Result<Self> {
        Ok(Self(openat(CWD, path, DIRECTORY_HANDLE, Mode::empty())?))
    }

    /// Opens a directory in it, to list that.
    ///
    /// # Errors
    /// Returns the error of the operating system.
    pub fn open_directory(&self, path: &Path) -> io::Result<Self> {
        open_beneath(&self.0, path, LISTED).map(Self)
    }

    /// Opens a file in it.
    ///
    /// # Errors
    /// Returns the error of the operating system.
    pub fn open_file(&self, path: &Path) -> io::Result<File> {
        open_beneath(&self.0, path, FILE).map(File::from)
    }

    /// Returns the names in it, in no order. It must have been opened to be listed.
    ///
    /// # Errors
    /// Returns the error of the operating system, for all or for one of them.
    pub fn names(&self) -> io::Result<impl Iterator<Item = io::Result<OsString>>> {
        let names = Dir::read_from(&self.0)?.map(|entry| {
            let name = entry?.file_name().to_bytes().to_vec();
            Ok(OsString::from_vec(name))
        });
        let is_entry = |name: &OsString| name != "." && name != "..";
        Ok(names.filter(move |name| !name.as_ref().is_ok_and(|name| !is_entry(name))))
    }

    /// Returns the text of a symbolic link in it.
    ///
    /// # Errors
    /// Returns the error of the operating system.
    pub fn link_text(&self, name: &OsStr) -> io::Result<Vec<u8>> {
        let text = rustix::fs::readlinkat(&self.0, name, Vec::new())?;
        Ok(text.into_bytes())
    }

    /// Returns whether an entry that cannot be examined is omitted from a listing. A fault
    /// of the whole file system is not such an error: it may be temporary, and listings are
    /// kept.
    pub fn omits(&self, error: &io::Error) -> bool {
        match Errno::from_io_error(error) {
            // It has vanished, has become something else, or is not accessible.
            Some(Errno::NOENT | Errno::INVAL | Errno::ACCESS) => true,
            // A dead mount, unless it is the one that contains the directory.
            Some(Errno::NOTCONN) => rustix::fs::fstatfs(&self.0).is_ok(),
            _ => false,
        }
    }

    /// Returns an attribute of overlayfs of the directory, as [`overlay_attribute`].
    ///
    /// # Errors
    /// Returns the error of the operating system.
    pub fn overlay_attribute(&self, name: &str) -> io::Result<Option<Vec<u8>>> {
        overlay_attribute(&self.0, name)
    }
}

impl AsFd for Directory {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Opens the file at a path in a directory, or in the current one; symbolic links are
/// followed.
///
/// # Errors
/// Returns the error of the operating system.
pub fn open_at(directory: Option<&Directory>, path: &Path) -> io::Result<File> {
    let directory = directory.map_or(CWD, AsFd::as_fd);
    Ok(openat(directory, path, FILE | OFlags::CLOEXEC, Mode::empty())?.into())
}

/// Name spaces of the attributes of overlayfs.
#[cfg(target_os = "linux")]
const SPACES: [&str; 2] = ["trusted.overlay.", "user.overlay."];

/// Returns an attribute of overlayfs; `None` if it is not set or the file system
/// has none.
///
/// # Errors
/// Returns the error of the operating system.
#[cfg(target_os = "linux")]
pub fn overlay_attribute(file: impl AsFd, name: &str) -> io::Result<Option<Vec<u8>>> {
    use rustix::fs::fgetxattr;

    for space in SPACES {
        // Longer values are paths, which are not read.
        let mut value = [0; 16];
        match fgetxattr(file.as_fd(), format!("{space}{name}"), &mut value[..]) {
            Ok(length) => return Ok(Some(value[..length].to_vec())),
            Err(Errno::RANGE) => return Ok(Some(Vec::new())),
            Err(Errno::NODATA | Errno::NOTSUP | Errno::PERM) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(None)
}

/// Returns `None`: only Linux has overlayfs.
///
/// # Errors
/// Never fails.
#[cfg(not(target_os = "linux"))]
pub fn overlay_attribute(_file: impl AsFd, _name: &str) -> io::Result<Option<Vec<u8>>> {
    Ok(None)
}
