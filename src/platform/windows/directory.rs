//! Directories that are held open.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Component, Path, PathBuf};

use super::files::SHARING_VIOLATION;
use super::stat::{hold, open_to_ask};
use super::{FileMode, canonical, check_names};
use crate::platform::FileStat;

/// Error of a name that no file can have.
const INVALID_NAME: i32 = 123;
/// Error of a link that is known to the driver of another file system only.
const CANNOT_ACCESS_FILE: i32 = 1920;

/// A directory that is open. Nothing that is opened in it is outside, since no link is
/// followed.
#[derive(Debug)]
pub struct Directory {
    /// In the form in which long paths and names of devices are plain names.
    path: PathBuf,
    held: File,
}

impl Directory {
    /// Opens a directory; links in the path are followed.
    ///
    /// # Errors
    /// Returns the error of the operating system.
    pub fn open(path: &Path) -> io::Result<Self> {
        Self::at(canonical(path)?)
    }

    fn at(path: PathBuf) -> io::Result<Self> {
        let held = open_to_ask(&path, false)?;
        Self::of(path, held)
    }

    fn of(path: PathBuf, held: File) -> io::Result<Self> {
        match held.metadata()?.file_type() {
            kind if kind.is_symlink() => Err(io::Error::other("is a link, which is not followed")),
            kind if kind.is_dir() => Ok(Self { path, held }),
            _ => Err(ErrorKind::NotADirectory.into()),
        }
    }

    /// Returns the full form of a path in it. Only the last component may be a link, if
    /// `may_be_link` is set.
    fn beneath(&self, path: &Path, may_be_link: bool) -> io::Result<PathBuf> {
        let mut full = self.path.clone();
        let mut components = path.components().peekable();
        while let Some(component) = components.next() {
            match component {
                Component::Normal(name) => full.push(name),
                Component::CurDir => continue,
                _ => return Err(ErrorKind::InvalidInput.into()),
            }
            let is_checked = !may_be_link || components.peek().is_some();
            if is_checked && full.symlink_metadata()?.is_symlink() {
                return Err(io::Error::other("is a link, which is not followed"));
            }
        }
        Ok(full)
    }

    /// Returns the full form of a name of a new entry.
    fn new_entry(&self, name: &str) -> io::Result<PathBuf> {
        check_names(name)?;
        Ok(self.path.join(name))
    }

    /// Opens a directory in it, to list that.
    ///
    /// # Errors
    /// Returns the error of the operating system.
    pub fn open_directory(&self, path: &Path) -> io::Result<Self> {
        Self::at(self.beneath(path, false)?)
    }

    /// Opens a file in it.
    ///
    /// # Errors
    /// Returns the error of the operating system.
    pub fn open_file(&self, path: &Path) -> io::Result<File> {
        File::open(self.beneath(path, false)?)
    }

    /// Returns the names in it, in no order.
    ///
    /// # Errors
    /// Returns the error of the operating system, for all or for one of them.
    pub fn names(&self) -> io::Result<impl Iterator<Item = io::Result<OsString>>> {
        let entries = fs::read_dir(&self.path)?;
        Ok(entries.map(|entry| Ok(entry?.file_name())))
    }

    /// Returns the text of a link in it, with `/` between the names.
    ///
    /// # Errors
    /// Returns the error of the operating system.
    pub fn link_text(&self, name: &OsStr) -> io::Result<Vec<u8>> {
        let text = fs::read_link(self.path.join(name))?;
        Ok(text.to_string_lossy().replace('\\', "/").into_bytes())
    }

    /// Returns whether an entry that cannot be examined is omitted from a listing: it has
    /// vanished, or is not accessible.
    pub fn omits(&self, error: &io::Error) -> bool {
        let is_other = |code| [SHARING_VIOLATION, INVALID_NAME, CANNOT_ACCESS_FILE].contains(&code);
        [ErrorKind::NotFound, ErrorKind::PermissionDenied].contains(&error.kind())
            || error.raw_os_error().is_some_and(is_other)
    }

    /// Returns `None`: only Linux has overlayfs.
    ///
    /// # Errors
    /// Never fails.
    pub fn overlay_attribute(&self, name: &str) -> io::Result<Option<Vec<u8>>> {
        overlay_attribute(&self.held, name)
    }

    /// Returns its metadata.
    ///
    /// # Errors
    /// Returns the error of the operating system.
    pub fn stat(&self) -> io::Result<FileStat> {
        FileStat::of(&self.held)
    }

    /// Returns the metadata of a path in it, without following a link in the last component.
    ///
    /// # Errors
    /// Returns the error of the operating system.
    pub fn stat_of(&self, path: &Path) -> io::Result<FileStat> {
        FileStat::of(&open_to_ask(&self.beneath(path, true)?, true)?)
    }

    /// Opens a directory in it, which is created if it is missing. Until it is closed, no
    /// other program can rename it, and so put a link in its place.
    ///
    /// # Errors
    /// Returns the error of the operating system.
    pub fn enter(&self, name: &str, mode: FileMode) -> io::Result<Self> {
        let path = self.new_entry(name)?;
        match mode.create_directory(&path) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(error),
            _ => Self::of(path.clone(), hold(&path)?),
        }
    }

    /// Creates a file in it, to write to it.
    ///
    /// # Errors
    /// Returns the error of the operating system.
    pub fn create_file(&self, name: &str, mode: FileMode) -> io::Result<File> {
        mode.create_file(&self.new_entry(name)?)
    }

    /// Makes no link, which few users may do.
    ///
    /// # Errors
    /// Always fails.
    pub fn make_link(&self, _text: &str, _name: &str) -> io::Result<()> {
        Err(io::Error::new(
            ErrorKind::Unsupported,
            "symbolic links are not made on Windows",
        ))
    }

    /// Removes a file in it, if there is one.
    ///
    /// # Errors
    /// Returns the error of the operating system.
    pub fn remove_file(&self, name: &str) -> io::Result<()> {
        match fs::remove_file(self.new_entry(name)?) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            removed => removed,
        }
    }

    /// Renames a file in it. One of the new name is replaced if `replaces` is set; otherwise
    /// one that appears at this moment may be.
    ///
    /// # Errors
    /// Returns the error of the operating system: `AlreadyExists` if there is one that is
    /// not replaced.
    pub fn rename(&self, old: &str, new: &str, replaces: bool) -> io::Result<()> {
        let new = self.new_entry(new)?;
        match !replaces && new.symlink_metadata().is_ok() {
            true => Err(ErrorKind::AlreadyExists.into()),
            false => fs::rename(self.new_entry(old)?, new),
        }
    }
}

/// Opens the file at a path in a directory, or in the current one; links are followed.
///
/// # Errors
/// Returns the error of the operating system.
pub fn open_at(directory: Option<&Directory>, path: &Path) -> io::Result<File> {
    match directory {
        Some(directory) => File::open(directory.path.join(path)),
        None => File::open(path),
    }
}

impl FileStat {
    /// Returns the metadata of a path in a directory, or in the current one, following
    /// links.
    ///
    /// # Errors
    /// Returns the error of the operating system.
    pub fn through_links(at: Option<&Directory>, path: &Path) -> io::Result<Self> {
        let path = at.map_or(path.to_owned(), |at| at.path.join(path));
        Self::of(&open_to_ask(&path, false)?)
    }
}

/// Returns `None`: only Linux has overlayfs.
///
/// # Errors
/// Never fails.
pub fn overlay_attribute(_file: &File, _name: &str) -> io::Result<Option<Vec<u8>>> {
    Ok(None)
}
