//! Programs without an index: no texts are searched.

use std::io;

use super::answer::Refusal;
use super::names::Collected;
use crate::inspect::index::SearchHit;
use crate::mount::Vfs;

pub(super) use crate::inspect::index::Words;

/// The index of texts: none.
pub struct Texts;

impl Texts {
    /// Creates none.
    pub fn none() -> Self {
        Self
    }

    /// Creates none.
    ///
    /// # Errors
    /// Never fails.
    pub fn start(
        _most: u64,
        _enter: impl FnOnce() -> io::Result<()> + Send + 'static,
    ) -> io::Result<Self> {
        Ok(Self)
    }

    /// Returns that nothing is collected.
    pub(super) fn collect(&self, _vfs: &Vfs) -> Collected {
        Collected::Off
    }

    /// Returns that nothing is collected.
    pub(super) fn progress(&self) -> (Collected, u64) {
        (Collected::Off, 0)
    }

    /// Finds nothing.
    ///
    /// # Errors
    /// Never fails.
    pub(super) fn find(&self, _: Words, _: i64, _: usize) -> Result<Vec<SearchHit>, Refusal> {
        Ok(Vec::new())
    }
}
