//! Entries that the kernel must forget because a file on disk has changed.

use std::collections::VecDeque;

use super::Ino;
use crate::sync::awaited::Awaited;

/// Maximum number of entries waiting to be sent to the kernel. Beyond that the
/// oldest are dropped; the next use of an old number through them queues them
/// again.
const MAX_WAITING: usize = 4096;

/// Directory entries that no longer refer to the same inode.
///
/// The kernel is notified by a separate thread, because the request that found
/// the change may hold the lock of the directory.
#[derive(Default)]
pub struct Invalidations(Awaited<VecDeque<(Ino, String)>>);

impl Invalidations {
    /// Queues the entry `name` of `parent`, unless it is the last one in the
    /// queue.
    pub(super) fn push(&self, parent: Ino, name: String) {
        let entry = (parent, name);
        self.0.change(|waiting| {
            if waiting.back() == Some(&entry) {
                return false;
            }
            waiting.push_back(entry);
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
