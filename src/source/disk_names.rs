//! Meaning of the names of files on disk.

use std::borrow::Cow;
use std::io::{self, ErrorKind};

use crate::platform::{WINDOWS_NAMES, check_names};
use hpimount_containers::text::{plain_name, windows_name};

/// Meaning of the names in a folder whose files go to or come from an archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiskNames {
    /// Themselves.
    Plain,
    /// The names that [`windows_name`] made them of.
    Windows,
}

impl DiskNames {
    /// Returns [`Windows`](Self::Windows) on Windows, or if `is_windows` is set.
    pub fn new(is_windows: bool) -> Self {
        match is_windows || WINDOWS_NAMES {
            true => Self::Windows,
            false => Self::Plain,
        }
    }

    /// Returns the name of a file that stands for `name`.
    ///
    /// # Errors
    /// Returns an error if no file can have such a name.
    pub fn on_disk(self, name: &str) -> io::Result<Cow<'_, str>> {
        match self {
            Self::Plain => check_names(name).map(|()| Cow::Borrowed(name)),
            Self::Windows => Some(windows_name(name))
                .filter(|on_disk| plain_name(on_disk) == name)
                .ok_or_else(|| io::Error::new(ErrorKind::InvalidFilename, "is too long a name")),
        }
    }

    /// Returns the name in an archive of a file called `name`.
    pub fn in_archives(self, name: &str) -> Cow<'_, str> {
        match self {
            Self::Plain => Cow::Borrowed(name),
            Self::Windows => plain_name(name),
        }
    }
}

impl Default for DiskNames {
    fn default() -> Self {
        Self::new(false)
    }
}
