//! Systems without Landlock: no confinement.

use std::io;
use std::path::PathBuf;

use crate::source::remote::Access;

/// The permissions of confined threads: here, all.
#[derive(Debug)]
pub struct Confinement;

impl Confinement {
    /// Has no effect.
    pub fn to(_readable: &[PathBuf]) -> Self {
        Self
    }

    /// Has no effect.
    pub fn to_network(_access: &Access) -> Self {
        Self
    }

    /// Has no effect.
    pub fn enter(&self) {}

    /// Has no effect.
    pub(super) fn restrict_files(&self) {}

    /// Runs `work`.
    ///
    /// # Errors
    /// Never fails.
    pub fn run<T: Send>(&self, work: impl FnOnce() -> T + Send) -> io::Result<T> {
        Ok(work())
    }
}

/// A confined thread: here, the calling one.
#[derive(Debug)]
pub(super) struct Confined;

impl Confined {
    /// Has no effect.
    ///
    /// # Errors
    /// Never fails.
    pub(super) fn start() -> io::Result<Self> {
        Ok(Self)
    }

    /// Runs `work`.
    pub(super) fn run<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> T {
        work()
    }
}
