//! Files that are written in directories that are held, or without a name.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::Path;

use rustix::fs::{AtFlags, OFlags, mkdirat, openat, renameat, symlinkat, unlinkat};
use rustix::io::Errno;

use super::{DIRECTORY_HANDLE, Directory, FileMode, open_beneath, rename_without_replacing};

impl Directory {
    /// Opens a directory in it, which is created if there is none.
    ///
    /// # Errors
    /// Returns the error of the operating system.
    pub fn enter(&self, name: &str, mode: FileMode) -> io::Result<Self> {
        match mkdirat(&self.0, name, mode.directory()) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
        open_beneath(&self.0, Path::new(name), DIRECTORY_HANDLE).map(Self)
    }

    /// Creates a file in it, to write to it.
    ///
    /// # Errors
    /// Returns the error of the operating system.
    pub fn create_file(&self, name: &str, mode: FileMode) -> io::Result<File> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let file = openat(&self.0, name, flags | OFlags::NOFOLLOW, mode.file())?;
        Ok(file.into())
    }

    /// Makes a symbolic link in it.
    ///
    /// # Errors
    /// Returns the error of the operating system.
    pub fn make_link(&self, text: &str, name: &str) -> io::Result<()> {
        Ok(symlinkat(text, &self.0, name)?)
    }

    /// Removes a file in it, if there is one.
    ///
    /// # Errors
    /// Returns the error of the operating system.
    pub fn remove_file(&self, name: &str) -> io::Result<()> {
        match unlinkat(&self.0, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Renames a file in it. One of the new name is replaced if `replaces` is set.
    ///
    /// # Errors
    /// Returns the error of the operating system: `AlreadyExists` if there is one that is
    /// not replaced.
    pub fn rename(&self, old: &str, new: &str, replaces: bool) -> io::Result<()> {
        Ok(match replaces {
            true => renameat(&self.0, old, &self.0, new),
            false => rename_without_replacing(&self.0, old, &self.0, new),
        }?)
    }
}

/// Creates a file without a name in a directory, for this user alone; `None` if the file
/// system has none.
#[cfg(target_os = "linux")]
pub fn unnamed_file(directory: &Path) -> Option<File> {
    use rustix::fs::Mode;

    use super::PRIVATE;

    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    let file = rustix::fs::open(directory, flags, Mode::from_raw_mode(PRIVATE)).ok()?;
    // Without /proc it could not get a name.
    descriptor(&file).exists().then(|| file.into())
}

/// Gives a name to a file that has none.
///
/// # Errors
/// Returns the error of the operating system.
#[cfg(target_os = "linux")]
pub fn name_file(file: &File, path: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, linkat};

    let follow = AtFlags::SYMLINK_FOLLOW;
    Ok(linkat(CWD, descriptor(file), CWD, path, follow)?)
}

/// Returns the path of an open file.
#[cfg(target_os = "linux")]
fn descriptor(file: &impl std::os::fd::AsRawFd) -> std::path::PathBuf {
    format!("/proc/self/fd/{}", file.as_raw_fd()).into()
}

/// Returns `None`: only Linux has such files.
#[cfg(not(target_os = "linux"))]
pub fn unnamed_file(_directory: &Path) -> Option<File> {
    None
}

/// Is not called: there are no such files.
///
/// # Errors
/// Always fails.
#[cfg(not(target_os = "linux"))]
pub fn name_file(_file: &File, _path: &Path) -> io::Result<()> {
    Err(ErrorKind::Unsupported.into())
}

/// Copies a range of a file, from `start` on, to the current position of another one by the
/// kernel, and returns how many bytes were copied.
///
/// # Errors
/// Returns the error of the operating system, such as that it cannot copy between these
/// files.
#[cfg(target_os = "linux")]
pub fn copy_range(from: &File, mut start: u64, to: &File, length: u64) -> io::Result<u64> {
    let length = usize::try_from(length).map_err(|_| ErrorKind::InvalidInput)?;
    let copied = rustix::fs::copy_file_range(from, Some(&mut start), to, None, length)?;
    Ok(copied as u64)
}

/// Copies nothing.
///
/// # Errors
/// Always fails.
#[cfg(not(target_os = "linux"))]
pub fn copy_range(_from: &File, _start: u64, _to: &File, _length: u64) -> io::Result<u64> {
    Err(ErrorKind::Unsupported.into())
}
