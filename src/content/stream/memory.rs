//! The memory of large decoders: those that do not fit in the budget together
//! take turns.

use std::sync::{Arc, Condvar, Mutex};

use crate::memory::budget::{Budget, Charge};
use crate::sync::{lock, wait};
use hpimount_containers::io::Result;

/// The memory of the decoders of a reader.
///
/// A thread that needs memory for a decoder waits for the threads that decode in
/// volumes at the same nesting depth or around them. Decoding depends only on
/// volumes further out, so threads never wait for each other in a cycle.
pub(super) struct DecoderMemory {
    budget: Arc<Budget>,
    /// Nesting depths of the volumes in which large decoders are in use.
    in_use: Mutex<Vec<u8>>,
    /// A decoder is no longer in use.
    ended: Condvar,
}

impl DecoderMemory {
    pub(super) fn new(budget: &Arc<Budget>) -> Self {
        Self {
            budget: budget.clone(),
            in_use: Mutex::default(),
            ended: Condvar::new(),
        }
    }

    /// Marks a large decoder as in use while the turn lives.
    pub(super) fn turn(&self, nesting: u8) -> Turn<'_> {
        lock(&self.in_use).push(nesting);
        Turn {
            memory: self,
            nesting,
        }
    }
}

/// The use of a large decoder by a thread.
pub(super) struct Turn<'a> {
    memory: &'a DecoderMemory,
    nesting: u8,
}

impl Turn<'_> {
    /// Charges the memory of a new decoder, which evicts those that are not in
    /// use, and waits for others if that is not enough. A decoder that is larger
    /// than the budget exceeds it alone.
    ///
    /// # Errors
    /// Returns an error if something else exceeds the budget.
    pub(super) fn charge(&self, bytes: usize) -> Result<Charge> {
        let memory = self.memory;
        let mut in_use = lock(&memory.in_use);
        leave(&mut in_use, self.nesting);
        let mut charge = memory
            .budget
            .empty_charge("the dictionary of a packed file");
        let charged = loop {
            if charge.grow_to(bytes).is_ok() {
                break Ok(charge);
            }
            if !in_use.iter().any(|&nesting| nesting <= self.nesting) {
                break charge.grow_beyond(bytes).map(|()| charge);
            }
            in_use = wait(&memory.ended, in_use);
        };
        in_use.push(self.nesting);
        charged
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        leave(&mut lock(&self.memory.in_use), self.nesting);
        self.memory.ended.notify_all();
    }
}

fn leave(in_use: &mut Vec<u8>, nesting: u8) {
    if let Some(number) = in_use.iter().position(|&other| other == nesting) {
        in_use.swap_remove(number);
    }
}
