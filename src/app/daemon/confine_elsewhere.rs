//! Systems without Landlock: no confinement.

use std::io;
use std::panic::resume_unwind;
use std::path::PathBuf;
use std::thread;

use crate::source::remote::{Access, Task};

/// The permissions of confined threads: here, all.
#[derive(Debug)]
pub struct Confinement;

impl Confinement {
    /// Has no effect.
    pub fn to(_readable: &[PathBuf]) -> Self {
        Self
    }

    /// Has no effect.
    pub fn to_network(_task: Task, _access: &Access) -> Self {
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

    /// Runs `work` in a thread, since the first one of a process has a smaller stack on some
    /// systems, and waits for it.
    ///
    /// # Errors
    /// Returns an error if a thread cannot be started.
    ///
    /// # Panics
    /// Panics if `work` does.
    pub fn run<T: Send>(&self, work: impl FnOnce() -> T + Send) -> io::Result<T> {
        thread::scope(|scope| {
            let done = thread::Builder::new().spawn_scoped(scope, work)?.join();
            Ok(done.unwrap_or_else(|panic| resume_unwind(panic)))
        })
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
