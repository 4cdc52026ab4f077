//! Systems without Landlock: nothing is confined.

use std::io;
use std::path::PathBuf;

use crate::source::remote::Access;

/// What confined threads may do: here, everything.
#[derive(Debug)]
pub struct Confinement;

impl Confinement {
    /// Would leave the files and directories `readable`.
    pub fn to(_readable: &[PathBuf]) -> Self {
        Self
    }

    /// Would leave what threads need that talk to servers.
    pub fn to_network(_access: &Access) -> Self {
        Self
    }

    /// Does nothing.
    pub fn enter(&self) {}

    /// Runs `work`.
    ///
    /// # Errors
    /// None.
    pub fn run<T: Send>(&self, work: impl FnOnce() -> T + Send) -> io::Result<T> {
        Ok(work())
    }
}
