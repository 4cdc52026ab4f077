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
use crate::sync::flights::{Claim, Flight, Flights, Waited};
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
    state: Mutex<State<K, V, E>>,
}

struct State<K: Hash + Eq, V, E> {
    values: LruCache<K, Kept<V>>,
    /// The values that are being made.
    flights: Flights<K, Result<V, E>>,
}

/// A value that was requested.
pub enum Entry<'c, K: Hash + Eq, V, E> {
    /// It was cached, or another thread has made it.
    Ready(V),
    /// The caller must make it.
    Mine(Making<'c, K, V, E>),
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
            state: Mutex::new(State {
                values: LruCache::unbounded(),
                flights: Flights::default(),
            }),
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
        match self.enter(key, |_| keep)? {
            Entry::Ready(value) => Ok(value),
            Entry::Mine(making) => self.finish(making, keep, make()),
        }
    }

    /// Returns the value for `key`, which stays cached only if `keep` returns true for it,
    /// or has the caller make it. Waits for another caller that makes it.
    ///
    /// # Errors
    /// Returns the errors of the other caller.
    pub fn enter<'c>(
        &'c self,
        key: &'c K,
        keep: impl Fn(&V) -> bool,
    ) -> Result<Entry<'c, K, V, E>, E>
    where
        E: Outcome,
    {
        loop {
            let found = match self.claim(key, &keep) {
                Claim::Found(found) => found?,
                Claim::Mine(_) => return Ok(Entry::Mine(self.making(key))),
                Claim::Flying(flight) => match flight.wait(&|| !requester::is_killed()) {
                    // It was made for a process that was killed.
                    Waited::Landed(Err(error)) if error.is_killed() => continue,
                    Waited::Landed(found) => {
                        let found = found?;
                        if !keep(&found) {
                            self.remove(key);
                        }
                        found
                    }
                    // After a panic of the thread that made it, the next one makes it.
                    Waited::Abandoned => continue,
                    Waited::Unwanted => return Err(E::killed()),
                },
            };
            self.counters.hits.add(1);
            return Ok(Entry::Ready(found));
        }
    }

    /// Passes a value that the caller has made to all that wait for it, and keeps it if
    /// `keep` is set.
    ///
    /// # Errors
    /// Returns the error of the result.
    pub fn finish(
        &self,
        mut making: Making<'_, K, V, E>,
        keep: bool,
        result: Result<V, E>,
    ) -> Result<V, E> {
        making.is_landed = true;
        let flight = match &result {
            Ok(value) if keep => self.keep(making.key, value, |all| all.end(making.key)),
            _ => making.end(),
        };
        // From now on no other thread can begin to wait.
        if let Some(flight) = flight.filter(|flight| Arc::strong_count(flight) > 1) {
            flight.land(result.clone());
        }
        result
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
        match self.claim(key, |_| true) {
            Claim::Found(found) => {
                self.counters.hits.add(1);
                found
            }
            Claim::Mine(_) => self.finish(self.making(key), true, make()),
            Claim::Flying(_) => {
                self.counters.misses.add(1);
                make()
            }
        }
    }

    /// Returns the value for `key` if it is cached.
    pub fn peek(&self, key: &K) -> Option<V> {
        self.peek_and_keep(key, |_| true)
    }

    /// Like [`Cache::peek`]; afterwards the value is cached only if `keep` returns true for
    /// it.
    pub fn peek_and_keep(&self, key: &K, keep: impl FnOnce(&V) -> bool) -> Option<V> {
        let shard = self.shard_of(key);
        self.find(shard, &mut lock(&shard.state).values, key, keep)
    }

    /// Keeps a value that was made on the way to another one.
    pub fn put(&self, key: &K, value: V) {
        self.keep(key, &value, |_| ());
    }

    /// Forgets the value for `key`.
    pub fn remove(&self, key: &K) {
        self.peek_and_keep(key, |_| false);
    }

    /// Finds the value for `key`, or the flight of the thread that makes it.
    fn claim(&self, key: &K, keep: impl FnOnce(&V) -> bool) -> Claim<Result<V, E>> {
        let shard = self.shard_of(key);
        let State { values, flights } = &mut *lock(&shard.state);
        let find = || self.find(shard, values, key, keep).map(Ok);
        flights.claim(key.clone(), find)
    }

    fn making<'c>(&'c self, key: &'c K) -> Making<'c, K, V, E> {
        self.counters.misses.add(1);
        Making {
            shard: self.shard_of(key),
            key,
            is_landed: false,
        }
    }

    /// Finds a value of a shard, and takes it out unless it is kept.
    fn find(
        &self,
        shard: &Shard<K, V, E>,
        values: &mut LruCache<K, Kept<V>>,
        key: &K,
        keep: impl FnOnce(&V) -> bool,
    ) -> Option<V> {
        let kept = values.get_mut(key)?;
        let found = match keep(&kept.value) {
            true => {
                kept.used_at = self.budget.now();
                kept.value.clone()
            }
            false => {
                let Kept { value, weight, .. } = values.pop(key)?;
                self.budget.subtract(weight);
                value
            }
        };
        shard.note_oldest(values);
        Some(found)
    }

    /// Inserts `value`, and evicts others if the budget is short. If there is
    /// still no room, it is not kept. `then` is called under the same lock.
    fn keep<T>(
        &self,
        key: &K,
        value: &V,
        then: impl FnOnce(&mut Flights<K, Result<V, E>>) -> T,
    ) -> T {
        let shard = self.shard_of(key);
        let weight = value.weight() + OVERHEAD;
        let mut may_fit = !value.is_kept_elsewhere();
        loop {
            let mut state = lock(&shard.state);
            let replaced = match may_fit {
                true => self.try_keep(shard, &mut state.values, key, value, weight),
                false => Ok(None),
            };
            if let Ok(replaced) = replaced {
                let done = then(&mut state.flights);
                // The charge of the replaced value is released without the lock.
                drop(state);
                drop(replaced);
                return done;
            }
            drop(state);
            may_fit = self.budget.make_room(weight);
        }
    }

    /// Inserts `value` if the budget has room for it, and returns the value that it
    /// replaces. The budget is never exceeded, and a thread that finds no room because of
    /// the value can evict it.
    fn try_keep(
        &self,
        shard: &Shard<K, V, E>,
        values: &mut LruCache<K, Kept<V>>,
        key: &K,
        value: &V,
        weight: usize,
    ) -> Result<Option<Kept<V>>, Full> {
        let kept = Kept {
            value: value.clone(),
            weight,
            used_at: self.budget.now(),
        };
        let replaced = values.put(key.clone(), kept);
        shard.note_oldest(values);
        self.budget
            .subtract(replaced.as_ref().map_or(0, |kept| kept.weight));
        if self.budget.try_account(weight) {
            return Ok(replaced);
        }
        values.pop(key);
        shard.note_oldest(values);
        Err(Full)
    }

    fn shard_of(&self, key: &K) -> &Shard<K, V, E> {
        let hash = self.hasher.hash_one(key);
        &self.shards[(hash >> 32) as usize % self.shards.len()]
    }
}

/// The budget has no room.
struct Full;

/// A value that this thread makes, and that others may wait for. Dropped, it is made by one
/// of them.
pub struct Making<'c, K: Hash + Eq, V, E> {
    shard: &'c Shard<K, V, E>,
    key: &'c K,
    is_landed: bool,
}

impl<K: Hash + Eq, V, E> Making<'_, K, V, E> {
    fn end(&self) -> Option<Arc<Flight<Result<V, E>>>> {
        lock(&self.shard.state).flights.end(self.key)
    }
}

impl<K: Hash + Eq, V, E> Drop for Making<'_, K, V, E> {
    fn drop(&mut self) {
        if !self.is_landed
            && let Some(flight) = self.end()
        {
            flight.abandon();
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
            let mut state = lock(&shard.state);
            let values = &mut state.values;
            let Some((key, mut kept)) = values.pop_lru() else {
                // Another thread was quicker; another shard may have some.
                shard.note_oldest(values);
                if self.oldest().is_none() {
                    return false;
                }
                continue;
            };
            if kept.value.is_in_use() {
                kept.used_at = self.budget.now();
                values.put(key, kept);
                shard.note_oldest(values);
                continue;
            }
            shard.note_oldest(values);
            // Its own charge is released without the lock.
            drop(state);
            self.budget.subtract(kept.weight);
            return true;
        }
        false
    }
}
