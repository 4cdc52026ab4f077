//! Systems other than Linux have no mounts that can be edited, and so no notifications of
//! them.

use std::io;

/// Nothing.
#[derive(Debug)]
pub(super) struct Notifier;

impl Notifier {
    /// Does nothing, successfully.
    pub(super) fn start() -> io::Result<Self> {
        Ok(Self)
    }
}
