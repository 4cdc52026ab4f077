//! The streams that were decoded last, each with its decoder.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use lru::LruCache;
use parking_lot::MutexGuard;

use crate::content::BLOCK_SIZE;
use crate::content::Key;
use crate::memory::budget::{Charge, Reclaim};
use crate::requester;
use crate::sync::lock;
use hpimount_containers::io::Result;
use hpimount_containers::volume::Decoder;

/// Maximum number of decoders that are kept at their position.
const MAX_DECODERS: NonZeroUsize = NonZeroUsize::new(8).unwrap();

/// A thread that waits for a slot checks after each such interval whether its reader was
/// killed.
const PATIENCE: Duration = Duration::from_millis(5);

/// Maximum number of streams in the list of those that were decoded to their end.
const MAX_ENDED: NonZeroUsize = NonZeroUsize::new(64).unwrap();

/// A stream: its file, and its position there.
pub(super) type StreamKey = (Key, u64);

/// The streams that were decoded last.
pub(super) struct Slots(Mutex<Latest>);

/// The same, by file and position.
struct Latest {
    slots: LruCache<StreamKey, Slot>,
    /// Streams that were decoded to their end.
    ended: LruCache<StreamKey, ()>,
}

/// The thread that holds the lock decodes the stream.
pub(super) type Slot = Arc<parking_lot::Mutex<Progress>>;

/// Decoding progress of a stream.
#[derive(Default)]
pub(super) struct Progress {
    /// The decoder; `None` before decoding begins, at its end, and after a
    /// failure.
    pub(super) decoding: Option<Decoding>,
    /// True if a reader has gone back to decoded bytes that are gone.
    pub(super) goes_back: bool,
    /// True if the decoder was evicted since it was last used.
    pub(super) is_evicted: bool,
    /// True if decoding it at once has failed.
    pub(super) is_not_whole: bool,
}

/// A stream that is being decoded.
pub(super) struct Decoding {
    pub(super) decoder: Box<dyn Decoder>,
    /// The position in the file of the end of the stream.
    pub(super) end: u64,
    /// Accounts for its memory; `None` if that is small and the budget had no
    /// room.
    pub(super) charge: Option<Charge>,
}

impl Decoding {
    /// Returns the position in the file of the next byte, a multiple of
    /// [`BLOCK_SIZE`] after the start of the stream.
    pub(super) fn position(&self) -> u64 {
        self.end - self.decoder.left()
    }

    /// Decodes the next block.
    pub(super) fn next_block(&mut self) -> Result<Vec<u8>> {
        let length = self.decoder.left().min(BLOCK_SIZE.into());
        let mut block = vec![0; length as usize];
        self.decoder.read(&mut block)?;
        Ok(block)
    }
}

/// Locks a slot, whose stream another thread may decode for long, unless the reader was
/// killed.
///
/// # Errors
/// Returns an error if the reader was killed.
pub(super) fn lock_wanted(slot: &Slot) -> Result<MutexGuard<'_, Progress>> {
    loop {
        if let Some(progress) = slot.try_lock_for(PATIENCE) {
            return Ok(progress);
        }
        requester::check()?;
    }
}

impl Slots {
    pub(super) fn new() -> Self {
        Self(Mutex::new(Latest {
            slots: LruCache::new(MAX_DECODERS),
            ended: LruCache::new(MAX_ENDED),
        }))
    }

    /// Returns the slot of a stream; a new one knows whether the stream was decoded
    /// to its end before.
    pub(super) fn get(&self, key: StreamKey) -> Slot {
        let mut latest = lock(&self.0);
        let Latest { slots, ended } = &mut *latest;
        let new = || {
            let progress = Progress {
                goes_back: ended.contains(&key),
                ..Progress::default()
            };
            Slot::new(progress.into())
        };
        slots.get_or_insert(key, new).clone()
    }

    /// Records that a stream was decoded to its end, which needs no decoder any
    /// more.
    pub(super) fn end(&self, key: StreamKey) {
        let mut latest = lock(&self.0);
        latest.slots.pop(&key);
        latest.ended.put(key, ());
    }
}

/// Decoders are evicted after everything else, since most of them are needed
/// again.
impl Reclaim for Slots {
    fn yields_to_values(&self) -> bool {
        false
    }

    fn oldest(&self) -> Option<u64> {
        Some(u64::MAX)
    }

    fn evict_oldest(&self) -> bool {
        lock(&self.0).slots.iter().rev().any(|(_, slot)| {
            let Some(mut progress) = slot.try_lock() else {
                return false;
            };
            let evicted = progress.decoding.take();
            progress.is_evicted |= evicted.is_some();
            evicted.is_some()
        })
    }
}
