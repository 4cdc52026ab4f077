//! The memory of large decoders: those that do not fit in the budget together
//! take turns.

use std::sync::Arc;

use super::slots::StreamKey;
use crate::memory::budget::{Budget, Charge};
use crate::requester;
use crate::sync::{Condvar, Mutex, lock, wait_a_moment};
use hpimount_containers::io::Result;

/// The memory of the decoders of a reader.
///
/// A thread that needs memory for a decoder waits for the threads that decode in
/// volumes at the same nesting depth or around them. Decoding depends only on
/// volumes further out, so threads never wait for each other in a cycle.
pub(super) struct DecoderMemory {
    budget: Arc<Budget>,
    /// The streams with large decoders that threads decode.
    in_use: Mutex<Vec<Use>>,
    /// A decoder is no longer in use.
    ended: Condvar,
}

/// A stream that a thread decodes.
struct Use {
    stream: StreamKey,
    /// Nesting depth of its volume.
    nesting: u8,
    /// True if the thread waits for memory, and has no decoder.
    waits: bool,
}

impl DecoderMemory {
    pub(super) fn new(budget: &Arc<Budget>) -> Self {
        Self {
            budget: budget.clone(),
            in_use: Mutex::default(),
            ended: Condvar::new(),
        }
    }

    /// Marks a stream with a large decoder as in use while the turn lives, when no other
    /// thread uses it any more. A thread needs the turn before it locks the decoder: one
    /// that is locked cannot be evicted, so its user must be waited for.
    ///
    /// # Errors
    /// Returns an error if the reader was killed.
    pub(super) fn turn(&self, stream: StreamKey, nesting: u8) -> Result<Turn<'_>> {
        let mut in_use = lock(&self.in_use);
        while in_use.iter().any(|other| other.stream == stream) {
            requester::check()?;
            in_use = wait_a_moment(&self.ended, in_use);
        }
        in_use.push(Use {
            stream,
            nesting,
            waits: false,
        });
        Ok(Turn {
            memory: self,
            stream,
            nesting,
        })
    }
}

/// The use of a large decoder by a thread.
pub(super) struct Turn<'a> {
    memory: &'a DecoderMemory,
    stream: StreamKey,
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
        self.set_waiting(&mut in_use, true);
        let mut charge = memory
            .budget
            .empty_charge("the dictionary of a packed file");
        let charged = loop {
            if charge.grow_sparing(bytes).is_ok() {
                break Ok(charge);
            }
            let is_awaited = |other: &Use| !other.waits && other.nesting <= self.nesting;
            if !in_use.iter().any(is_awaited) {
                break charge.grow_beyond(bytes).map(|()| charge);
            }
            if let Err(killed) = requester::check() {
                break Err(killed);
            }
            in_use = wait_a_moment(&memory.ended, in_use);
        };
        self.set_waiting(&mut in_use, false);
        charged
    }

    fn set_waiting(&self, in_use: &mut [Use], waits: bool) {
        let own = in_use.iter_mut().find(|own| own.stream == self.stream);
        if let Some(own) = own {
            own.waits = waits;
        }
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        lock(&self.memory.in_use).retain(|other| other.stream != self.stream);
        self.memory.ended.notify_all();
    }
}
