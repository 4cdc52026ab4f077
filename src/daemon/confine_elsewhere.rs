//! Systems without Landlock: nothing is confined.

use std::io;
use std::path::PathBuf;

/// What confined threads may do: here, everything.
#[derive(Debug)]
pub struct Confinement;

impl Confinement {
    /// Would leave the files and directories `readable`.
    pub fn to(_readable: &[PathBuf]) -> Self {
        Self
    }

    /// Runs `work`.
    ///
    /// # Errors
    /// None.
    pub fn run<T: Send>(&self, work: impl FnOnce() -> T + Send) -> io::Result<T> {
        Ok(work())
    }
}
