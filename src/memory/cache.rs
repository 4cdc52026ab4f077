//! A cache of values within the budget.
//!
//! A cache is divided into shards, each with its own lock. A value that several
//! readers request at once is made by one of them, without a lock on the shard;
//! the others wait for it.
//!
//! `tests/locks.rs` includes this file to test it with the locks of a model
//! checker.

use std::hash::{BuildHasher, Hash, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use lru::LruCache;

use super::budget::{Budget, Reclaim};
use crate::requester::{self, Outcome};
use crate::sync::flights::{Claim, Flights, Waited};
use crate::sync::tally::Tally;
use crate::sync::{Mutex, lock};

/// A value of a cache, which is cheap to clone.
pub trait Value: Clone + Send + Sync {
    /// Returns the bytes that the cache accounts for while it keeps the value,
    /// without those that the value has charged itself.
    fn weight(&self) -> usize;

    /// Returns whether evicting it would free nothing now, because it is in
    /// use.
    fn is_in_use(&self) -> bool {
        false
    }

    /// Returns whether something else keeps it, so that the cache need not.
    fn is_kept_elsewhere(&self) -> bool {
        false
    }
}

/// Hits and misses.
#[derive(Debug, Default)]
pub struct Counters {
    /// Found, or made by another reader meanwhile.
    pub hits: Tally,
    /// Made.
    pub misses: Tally,
}

/// A cache of values by keys.
pub struct Cache<K: Hash + Eq, V, E> {
    shards: Vec<Shard<K, V, E>>,
    hasher: RandomState,
    budget: Arc<Budget>,
    /// For the statistics.
    pub counters: Counters,
}

struct Shard<K: Hash + Eq, V, E> {
    /// When the least recently used value was used; [`NEVER`] without one.
    oldest: AtomicU64,
    values: Mutex<LruCache<K, Kept<V>>>,
    /// The values that are being made.
    flights: Flights<K, Result<V, E>>,
}

struct Kept<V> {
    value: V,
    weight: usize,
    used_at: u64,
}

/// Overhead of a value: its slots in the list and the map.
const OVERHEAD: usize = 128;

/// The age of an empty shard.
const NEVER: u64 = u64::MAX;

/// Values in use that are skipped in the search for one to evict.
const MAX_IN_USE: usize = 64;

impl<K, V, E> Cache<K, V, E>
where
    K: Hash + Eq + Clone + Send + Sync + 'static,
    V: Value + 'static,
    E: Clone + Send + Sync + 'static,
{
    /// Creates a cache of that many shards, whose values count towards
    /// `budget`.
    pub fn new(budget: &Arc<Budget>, shards: usize) -> Arc<Self> {
        let shard = || Shard {
            oldest: AtomicU64::new(NEVER),
            values: Mutex::new(LruCache::unbounded()),
            flights: Flights::default(),
        };
        let cache = Arc::new(Self {
            shards: (0..shards).map(|_| shard()).collect(),
            hasher: RandomState::new(),
            budget: budget.clone(),
            counters: Counters::default(),
        });
        let weak: Weak<Self> = Arc::downgrade(&cache);
        budget.register(weak);
        cache
    }

    /// Returns the value for `key`, made by `make` if it is missing. While one
    /// caller makes it, others that request it wait; all get the same result. A
    /// failure is not cached.
    ///
    /// # Errors
    /// Returns the errors of `make`.
    pub fn get(&self, key: &K, make: impl FnOnce() -> Result<V, E>) -> Result<V, E>
    where
        E: Outcome,
    {
        self.get_and_keep(key, true, make)
    }

    /// Like [`Cache::get`]; afterwards the value is cached only if `keep` is set.
    ///
    /// # Errors
    /// Returns the errors of `make`.
    pub fn get_and_keep(
        &self,
        key: &K,
        keep: bool,
        make: impl FnOnce() -> Result<V, E>,
    ) -> Result<V, E>
    where
        E: Outcome,
    {
        let shard = self.shard_of(key);
        if let Some(value) = self.peek(key) {
            return self.hit(key, keep, Ok(value));
        }
        loop {
            match shard.flights.claim(key.clone(), || self.peek(key).map(Ok)) {
                Claim::Found(found) => return self.hit(key, keep, found),
                Claim::Flying(flight) => {
                    match flight.wait(&|| !requester::is_killed()) {
                        // It was made for a process that was killed.
                        Waited::Landed(Err(error)) if error.is_killed() => {}
                        Waited::Landed(found) => return self.hit(key, keep, found),
                        // After a panic of the thread that made it, the next one
                        // makes it.
                        Waited::Abandoned => {}
                        Waited::Unwanted => return Err(E::killed()),
                    }
                }
                Claim::Mine(_) => return self.make(key, keep, make),
            }
        }
    }

    /// Like [`Cache::get`], for a caller that is making another value of the
    /// cache: it does not wait, and makes its own value if another thread is
    /// making it. So values that depend on each other never wait in a cycle.
    ///
    /// # Errors
    /// Returns the errors of `make`.
    pub fn get_without_waiting(
        &self,
        key: &K,
        make: impl FnOnce() -> Result<V, E>,
    ) -> Result<V, E> {
        let flights = &self.shard_of(key).flights;
        match flights.claim(key.clone(), || self.peek(key).map(Ok)) {
            Claim::Found(found) => self.hit(key, true, found),
            Claim::Mine(_) => self.make(key, true, make),
            Claim::Flying(_) => {
                self.counters.misses.add(1);
                make()
            }
        }
    }

    /// Returns the value for `key` if it is cached.
    pub fn peek(&self, key: &K) -> Option<V> {
        let shard = self.shard_of(key);
        let mut values = lock(&shard.values);
        let kept = values.get_mut(key)?;
        kept.used_at = self.budget.now();
        let found = kept.value.clone();
        shard.note_oldest(&values);
        Some(found)
    }

    /// Keeps a value that was made on the way to another one.
    pub fn put(&self, key: &K, value: V) {
        self.keep(key, &value);
    }

    /// Forgets the value for `key`.
    pub fn remove(&self, key: &K) {
        let shard = self.shard_of(key);
        let mut values = lock(&shard.values);
        let removed = values.pop(key);
        shard.note_oldest(&values);
        drop(values);
        if let Some(kept) = removed {
            self.budget.subtract(kept.weight);
        }
    }

    /// Returns a value that was found, which is cached only if `keep` is set.
    fn hit(&self, key: &K, keep: bool, found: Result<V, E>) -> Result<V, E> {
        self.counters.hits.add(1);
        if !keep {
            self.remove(key);
        }
        found
    }

    /// Makes the value of a flight that the caller has claimed.
    fn make(&self, key: &K, keep: bool, make: impl FnOnce() -> Result<V, E>) -> Result<V, E> {
        let mut flight = Claimed {
            flights: &self.shard_of(key).flights,
            key,
            is_landed: false,
        };
        self.counters.misses.add(1);
        let result = make();
        if let (Ok(value), true) = (&result, keep) {
            self.keep(key, value);
        }
        flight.land(result.clone());
        result
    }

    /// Inserts `value`, and evicts others if the budget is short. If there is
    /// still no room, it is not kept.
    fn keep(&self, key: &K, value: &V) {
        if value.is_kept_elsewhere() {
            return;
        }
        let weight = value.weight() + OVERHEAD;
        while !self.try_keep(key, value, weight) {
            if !self.budget.make_room(weight) {
                return;
            }
        }
    }

    /// Inserts `value` if the budget has room for it. The budget is never
    /// exceeded, and a thread that finds no room because of the value can evict
    /// it.
    fn try_keep(&self, key: &K, value: &V, weight: usize) -> bool {
        let shard = self.shard_of(key);
        let mut values = lock(&shard.values);
        let kept = Kept {
            value: value.clone(),
            weight,
            used_at: self.budget.now(),
        };
        let replaced = values.put(key.clone(), kept);
        shard.note_oldest(&values);
        self.budget
            .subtract(replaced.as_ref().map_or(0, |kept| kept.weight));
        let is_kept = self.budget.try_account(weight);
        if !is_kept {
            values.pop(key);
            shard.note_oldest(&values);
        }
        // The charge of the replaced value is released without the lock.
        drop(values);
        is_kept
    }

    fn shard_of(&self, key: &K) -> &Shard<K, V, E> {
        let hash = self.hasher.hash_one(key);
        &self.shards[(hash >> 32) as usize % self.shards.len()]
    }
}

/// A flight that this thread has claimed. It is abandoned if the thread panics.
struct Claimed<'a, K: Hash + Eq, V: Clone> {
    flights: &'a Flights<K, V>,
    key: &'a K,
    is_landed: bool,
}

impl<K: Hash + Eq, V: Clone> Claimed<'_, K, V> {
    fn land(&mut self, value: V) {
        self.is_landed = true;
        self.flights.land(self.key, value);
    }
}

impl<K: Hash + Eq, V: Clone> Drop for Claimed<'_, K, V> {
    fn drop(&mut self) {
        if !self.is_landed {
            self.flights.abandon(self.key);
        }
    }
}

impl<K: Hash + Eq, V, E> Shard<K, V, E> {
    fn note_oldest(&self, values: &LruCache<K, Kept<V>>) {
        let oldest = values.peek_lru();
        let oldest = oldest.map_or(NEVER, |(_, kept)| kept.used_at);
        self.oldest.store(oldest, Ordering::Relaxed);
    }
}

impl<K, V, E> Reclaim for Cache<K, V, E>
where
    K: Hash + Eq + Clone + Send + Sync,
    V: Value,
    E: Send + Sync,
{
    fn oldest(&self) -> Option<u64> {
        let ages = self.shards.iter();
        let oldest = ages.map(|shard| shard.oldest.load(Ordering::Relaxed)).min();
        oldest.filter(|&age| age != NEVER)
    }

    fn evict_oldest(&self) -> bool {
        for _ in 0..MAX_IN_USE {
            let shards = self.shards.iter();
            let oldest = shards.min_by_key(|shard| shard.oldest.load(Ordering::Relaxed));
            let Some(shard) = oldest else {
                return false;
            };
            let mut values = lock(&shard.values);
            let Some((key, mut kept)) = values.pop_lru() else {
                // Another thread was quicker; another shard may have some.
                shard.note_oldest(&values);
                if self.oldest().is_none() {
                    return false;
                }
                continue;
            };
            if kept.value.is_in_use() {
                kept.used_at = self.budget.now();
                values.put(key, kept);
                shard.note_oldest(&values);
                continue;
            }
            shard.note_oldest(&values);
            // Its own charge is released without the lock.
            drop(values);
            self.budget.subtract(kept.weight);
            return true;
        }
        false
    }
}
