//! What the kernel must forget, because a file on disk that it was
//! made from has changed.

use std::collections::VecDeque;

use super::Ino;
use crate::io::awaited::Awaited;

/// Entries that wait to be sent to the kernel. Beyond them the oldest are
/// dropped: what is read through them stays an error.
const MAX_WAITING: usize = 4096;

/// Directory entries that no longer lead to what they did.
///
/// The kernel is notified by a thread of its own: the request in which the change
/// was found may hold the directory.
#[derive(Default)]
pub struct Invalidations(Awaited<VecDeque<(Ino, String)>>);

impl Invalidations {
    /// The entry `name` of `parent` is to be forgotten.
    pub(super) fn push(&self, parent: Ino, name: String) {
        self.0.change(|waiting| {
            waiting.push_back((parent, name));
            if waiting.len() > MAX_WAITING {
                waiting.pop_front();
            }
            true
        });
    }

    /// Waits for the next entry; `None` once there will be no more.
    pub fn next(&self) -> Option<(Ino, String)> {
        self.0.wait_for(VecDeque::pop_front)
    }

    /// Ends all waiting.
    pub fn close(&self) {
        self.0.close();
    }
}
