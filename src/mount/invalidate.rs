//! Entries that the kernel must forget because a file on disk has changed.

use std::collections::VecDeque;

use super::Ino;
use crate::io::awaited::Awaited;

/// Maximum number of entries waiting to be sent to the kernel. Beyond that the
/// oldest are dropped; reads through them keep failing.
const MAX_WAITING: usize = 4096;

/// Directory entries that no longer refer to the same inode.
///
/// The kernel is notified by a separate thread, because the request that found
/// the change may hold the lock of the directory.
#[derive(Default)]
pub struct Invalidations(Awaited<VecDeque<(Ino, String)>>);

impl Invalidations {
    /// Queues the entry `name` of `parent`.
    pub(super) fn push(&self, parent: Ino, name: String) {
        self.0.change(|waiting| {
            waiting.push_back((parent, name));
            if waiting.len() > MAX_WAITING {
                waiting.pop_front();
            }
            true
        });
    }

    /// Waits for the next entry; `None` after [`close`](Self::close).
    pub fn next(&self) -> Option<(Ino, String)> {
        self.0.wait_for(VecDeque::pop_front)
    }

    /// Wakes all waiting threads.
    pub fn close(&self) {
        self.0.close();
    }
}
