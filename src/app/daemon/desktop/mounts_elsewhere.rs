//! Builds without FUSE: no archive is open.

use std::convert::Infallible;
use std::path::{Path, PathBuf};

use super::Error;

/// The mounts of a user, of which there are none.
#[derive(Debug)]
pub(super) struct Mounts(Infallible);

impl Mounts {
    /// Returns no mounts.
    ///
    /// # Errors
    /// Always fails.
    pub(super) fn in_home(_home: &Path, _program: PathBuf) -> Result<Self, Error> {
        Err(Error::NoMounts)
    }

    /// Is not called.
    ///
    /// # Errors
    /// Never fails.
    pub(super) fn open(&self, _file: &Path, _is_edited: bool) -> Result<PathBuf, Error> {
        match self.0 {}
    }

    /// Is not called.
    ///
    /// # Errors
    /// Never fails.
    pub(super) fn close(&self, _file: &Path) -> Result<(), Error> {
        match self.0 {}
    }

    /// Is not called.
    ///
    /// # Errors
    /// Never fails.
    pub(super) fn close_all(&self) -> Result<(), Error> {
        match self.0 {}
    }
}
