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
    pub fn to_clients() -> Self {
        Self
    }

    /// Has no effect.
    pub(in crate::app) fn none() -> Self {
        Self
    }

    /// Has no effect.
    ///
    /// # Errors
    /// Never fails.
    pub fn enter(&self) -> io::Result<()> {
        Ok(())
    }

    /// Has no effect.
    ///
    /// # Errors
    /// Never fails.
    pub(super) fn restrict_files(&self) -> io::Result<()> {
        Ok(())
    }

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
    pub(super) fn start(_is_sandboxed: bool) -> io::Result<Self> {
        Ok(Self)
    }

    /// Runs `work`.
    ///
    /// # Errors
    /// Never fails.
    pub(super) fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> io::Result<T> {
        Ok(work())
    }
}
