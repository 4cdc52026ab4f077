//! Decoded blocks, kept in memory within a byte budget.
//!
//! The cache is cut into shards, each with a lock of its own and its part of
//! the budget. A block that several readers ask for at once is made by one of
//! them, without a lock on the shard; the others wait for it.
//!
//! `tests/locks.rs` includes this file, to try it with the locks of a model
//! checker in the place of the real ones.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use lru::LruCache;

use super::sync::{Mutex, MutexGuard, PoisonError};
use super::tally::Tally;

/// What a block is found by: the inode, and the position in the file at which
/// the block begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Key {
    /// Number of the inode in the mount.
    pub inode: u32,
    /// Position of the first byte, or one of the reserved numbers of
    /// the reader.
    pub start: u32,
}

/// A value and the memory that it takes.
pub trait Weight {
    /// Bytes in memory.
    fn weight(&self) -> usize;
}

/// How often the cache helped.
#[derive(Debug, Default)]
pub struct Counters {
    /// Found, or made by another reader meanwhile.
    pub hits: Tally,
    /// Made.
    pub misses: Tally,
}

/// A value that is being made: empty until it is there. Whoever holds the
/// lock makes it, the others wait for the lock.
type Flight<V, E> = Arc<Mutex<Option<Result<V, E>>>>;

/// A cache of `V`, which are cheap to clone.
pub struct Cache<V, E> {
    shards: Vec<Mutex<Shard<V, E>>>,
    /// Of each shard, in bytes.
    budget: usize,
    /// For the statistics.
    pub counters: Counters,
}

struct Shard<V, E> {
    blocks: LruCache<Key, V>,
    flights: HashMap<Key, Flight<V, E>>,
    /// Memory of `blocks` in bytes, never above the budget.
    used: usize,
}

/// What a block costs beside its bytes: its places in the list and the map.
const OVERHEAD: usize = 128;

/// Smallest budget of a shard for which another shard is worth having.
const SHARD_BUDGET: usize = 1 << 20;

/// Most shards.
const MAX_SHARDS: usize = 16;

impl<V: Clone + Weight, E: Clone> Cache<V, E> {
    /// A cache that never holds more than `budget` bytes.
    pub fn new(budget: usize) -> Self {
        let shards = (budget / SHARD_BUDGET).clamp(1, MAX_SHARDS);
        let shard = || Shard {
            blocks: LruCache::unbounded(),
            flights: HashMap::new(),
            used: 0,
        };
        Self {
            shards: (0..shards).map(|_| Mutex::new(shard())).collect(),
            budget: budget / shards,
            counters: Counters::default(),
        }
    }

    /// Bytes that are held.
    pub fn used(&self) -> usize {
        self.shards.iter().map(|shard| lock(shard).used).sum()
    }

    /// The value for `key`, made by `make` where it is not there. While one
    /// caller makes it, others that ask for it wait; all get the same result.
    /// A failure is not kept.
    pub fn get(&self, key: Key, make: impl FnOnce() -> Result<V, E>) -> Result<V, E> {
        self.get_and_keep(key, true, make)
    }

    /// As [`Cache::get`]; a value that had to be made stays in the cache only
    /// where `keep` says so.
    pub fn get_and_keep(
        &self,
        key: Key,
        keep: bool,
        make: impl FnOnce() -> Result<V, E>,
    ) -> Result<V, E> {
        let shard = &self.shards[self.shard_of(key)];
        let flight = {
            let mut shard = lock(shard);
            if let Some(value) = shard.blocks.get(&key) {
                self.counters.hits.add(1);
                return Ok(value.clone());
            }
            match shard.flights.entry(key) {
                Entry::Occupied(flight) => flight.get().clone(),
                Entry::Vacant(place) => place.insert(Arc::default()).clone(),
            }
        };
        let mut slot = lock(&flight);
        if let Some(result) = &*slot {
            self.counters.hits.add(1);
            return result.clone();
        }
        self.counters.misses.add(1);
        let result = make();
        *slot = Some(result.clone());
        let mut shard = lock(shard);
        shard.flights.remove(&key);
        if let (Ok(value), true) = (&result, keep) {
            shard.insert(key, value.clone(), self.budget);
        }
        result
    }

    /// The value for `key` where it is there.
    pub fn peek(&self, key: Key) -> Option<V> {
        lock(&self.shards[self.shard_of(key)])
            .blocks
            .get(&key)
            .cloned()
    }

    /// Whether a value of this weight is kept at all.
    pub fn has_room_for(&self, weight: usize) -> bool {
        weight.saturating_add(OVERHEAD) <= self.budget
    }

    /// Puts in a value that was made on the way to another one.
    pub fn put(&self, key: Key, value: V) {
        lock(&self.shards[self.shard_of(key)]).insert(key, value, self.budget);
    }

    fn shard_of(&self, key: Key) -> usize {
        // Neighbouring blocks of a file, which are read together, go to
        // different shards.
        let mixed =
            key.inode.wrapping_mul(0x9E37_79B9) ^ (key.start >> 16).wrapping_mul(0x85EB_CA6B);
        (mixed >> 16) as usize % self.shards.len()
    }
}

impl<V: Clone + Weight, E> Shard<V, E> {
    /// Keeps `value`, at the price of the least recently used ones. What is
    /// larger than the whole budget is not kept.
    fn insert(&mut self, key: Key, value: V, budget: usize) {
        let weight = value.weight() + OVERHEAD;
        if weight > budget {
            return;
        }
        self.used += weight;
        if let Some(replaced) = self.blocks.put(key, value) {
            self.used -= replaced.weight() + OVERHEAD;
        }
        while self.used > budget {
            let Some((_, dropped)) = self.blocks.pop_lru() else {
                break;
            };
            self.used -= dropped.weight() + OVERHEAD;
        }
    }
}

/// Locks, and goes on where another thread panicked: every state that a panic
/// can leave behind is a sound one.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
