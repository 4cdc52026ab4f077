//! Entries that the kernel must forget, because a file on disk has changed or memory is
//! short.

use std::collections::VecDeque;

use crate::mount::Ino;
use crate::namespace::numbers::Origin;
use crate::sync::awaited::Awaited;

/// Maximum number of entries waiting to be sent to the kernel. Beyond that the
/// oldest are dropped; the next use of an old number through them queues them
/// again.
const MAX_WAITING: usize = 4096;

/// An entry that the kernel must forget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StaleEntry {
    /// The entry of the subtree at this origin.
    Subtree(Origin),
    /// The entry of a directory in another spelling.
    Alias(Ino),
}

/// Directory entries that the kernel must forget.
///
/// The kernel is notified by a separate thread, because the request that found
/// the change may hold the lock of the directory.
#[derive(Default)]
pub struct Invalidations(Awaited<VecDeque<StaleEntry>>);

impl Invalidations {
    /// Queues an entry, unless it is the last one in the queue.
    pub(crate) fn push(&self, entry: StaleEntry) {
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
    pub(crate) fn next(&self) -> Option<StaleEntry> {
        self.0.wait_for(VecDeque::pop_front)
    }

    /// Wakes all waiting threads.
    pub fn close(&self) {
        self.0.close();
    }
}
