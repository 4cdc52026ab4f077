//! The memory budget of a mount: one limit for everything that is kept.
//!
//! What takes memory either holds a [`Charge`] or is kept in a
//! [`super::cache::Cache`] that accounts for it here. When more is wanted than
//! the limit leaves, the least recently used values of all caches are given
//! up, whatever their kind.
//!
//! Lock order: nothing here is called with the lock of a cache held, and the
//! lock of the budget is never held while a cache is asked to give something
//! up.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};

use super::Error;
use super::sync::{Condvar, Mutex, lock, wait};

/// Memory that one reservation may take beyond the limit, so that an asset
/// can be parsed where the limit is small.
const RESERVE_EXTRA: usize = 16 << 20;

/// Something that can give up values it keeps.
pub trait Reclaim: Send + Sync {
    /// When the value that would be given up was used last; `None` where there
    /// is none.
    fn oldest(&self) -> Option<u64>;

    /// Gives up the least recently used value that nobody is using. False
    /// where there is none.
    fn give_up_oldest(&self) -> bool;
}

/// A limit in bytes and what of it is used.
pub struct Budget {
    limit: usize,
    used: AtomicUsize,
    /// Counts insertions: the clock by which values are old.
    clock: AtomicU64,
    caches: Mutex<Vec<Weak<dyn Reclaim>>>,
    state: Mutex<State>,
    /// A reservation has ended.
    ended: Condvar,
}

#[derive(Default)]
struct State {
    /// Reservations under way; each ends without waiting for another one.
    reservations: usize,
    /// Whether something is larger than the limit by itself.
    oversize: bool,
}

impl Budget {
    /// A budget of `limit` bytes.
    pub fn new(limit: usize) -> Arc<Self> {
        Arc::new(Self {
            limit,
            used: AtomicUsize::new(0),
            clock: AtomicU64::new(0),
            caches: Mutex::new(Vec::new()),
            state: Mutex::default(),
            ended: Condvar::new(),
        })
    }

    /// The limit in bytes.
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// Bytes that are accounted for.
    pub fn used(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }

    /// Whether a value of `bytes` can be kept at all.
    pub fn has_room_for(&self, bytes: usize) -> bool {
        bytes <= self.limit
    }

    /// Has `cache` give up values when memory is short.
    pub fn register(&self, cache: Weak<dyn Reclaim>) {
        lock(&self.caches).push(cache);
    }

    /// The time of a use, by the clock of the budget.
    pub fn now(&self) -> u64 {
        self.clock.load(Ordering::Relaxed)
    }

    /// Accounts for a value that a cache has taken in, and makes room for it.
    pub fn add(&self, bytes: usize) {
        self.clock.fetch_add(1, Ordering::Relaxed);
        self.used.fetch_add(bytes, Ordering::Relaxed);
        self.make_room(self.limit);
    }

    /// A value that was accounted for is gone.
    pub fn subtract(&self, bytes: usize) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Accounts for `bytes` for as long as the charge lives.
    ///
    /// # Errors
    /// [`Error::NoMemory`] where nothing is left to be given up for it.
    pub fn charge(self: &Arc<Self>, what: &'static str, bytes: usize) -> Result<Charge, Error> {
        let mut charge = self.empty_charge(what);
        charge.grow_to(bytes)?;
        Ok(charge)
    }

    /// A charge of nothing, to be enlarged later.
    pub fn empty_charge(self: &Arc<Self>, what: &'static str) -> Charge {
        Charge {
            budget: self.clone(),
            what,
            bytes: 0,
            oversize: false,
        }
    }

    /// Whether so many bytes can be reserved when nothing else is.
    pub fn may_reserve(&self, bytes: usize) -> bool {
        bytes <= self.limit.saturating_add(RESERVE_EXTRA)
    }

    /// Accounts for memory that is needed for a moment, up to a little more
    /// than the limit.
    ///
    /// With `waits`, other reservations are waited for; whoever holds one must
    /// not wait for another.
    ///
    /// # Errors
    /// [`Error::NoMemory`] where it does not fit.
    pub fn reserve(
        self: &Arc<Self>,
        what: &'static str,
        bytes: usize,
        waits: bool,
    ) -> Result<Reservation, Error> {
        let limit = self.limit.saturating_add(RESERVE_EXTRA);
        let mut state = lock(&self.state);
        loop {
            state.reservations += 1;
            drop(state);
            if self.try_take(bytes, limit) {
                return Ok(Reservation {
                    budget: self.clone(),
                    bytes,
                });
            }
            state = lock(&self.state);
            state.reservations -= 1;
            if !waits || bytes > limit || state.reservations == 0 {
                return Err(Error::no_memory(what, bytes, limit));
            }
            state = wait(&self.ended, state);
        }
    }

    /// Takes `bytes`, having given up what must be for them.
    fn try_take(&self, bytes: usize, limit: usize) -> bool {
        self.used.fetch_add(bytes, Ordering::Relaxed);
        if bytes <= limit && self.make_room(limit) {
            return true;
        }
        self.subtract(bytes);
        false
    }

    /// Gives up values until no more than `limit` bytes are used.
    fn make_room(&self, limit: usize) -> bool {
        while self.used() > limit {
            if !self.give_up_oldest() {
                return false;
            }
        }
        true
    }

    fn give_up_oldest(&self) -> bool {
        // The cache with the oldest value first; the others where everything
        // in that one is in use.
        let mut tried = 0;
        loop {
            let mut caches: Vec<(u64, Arc<dyn Reclaim>)> = lock(&self.caches)
                .iter()
                .filter_map(Weak::upgrade)
                .filter_map(|cache| Some((cache.oldest()?, cache)))
                .collect();
            caches.sort_by_key(|&(age, _)| age);
            let Some((_, cache)) = caches.get(tried) else {
                return false;
            };
            if cache.give_up_oldest() {
                return true;
            }
            tried += 1;
        }
    }
}

/// Bytes that are accounted for while this lives.
pub struct Charge {
    budget: Arc<Budget>,
    what: &'static str,
    bytes: usize,
    /// Whether it stands beside the budget, being larger by itself.
    oversize: bool,
}

impl Charge {
    /// Bytes that it accounts for.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Accounts for `bytes` in all.
    ///
    /// # Errors
    /// [`Error::NoMemory`] where nothing is left to be given up for more.
    pub fn grow_to(&mut self, bytes: usize) -> Result<(), Error> {
        if self.oversize {
            self.bytes = bytes;
            return Ok(());
        }
        let more = bytes.saturating_sub(self.bytes);
        if more > 0 && !self.budget.try_take(more, self.budget.limit) {
            return Err(Error::no_memory(self.what, bytes, self.budget.limit));
        }
        self.budget.subtract(self.bytes.saturating_sub(bytes));
        self.bytes = bytes;
        Ok(())
    }

    /// As [`Charge::grow_to`]; where the limit does not leave that much, the
    /// charge stands beside the budget, as one at a time may.
    ///
    /// # Errors
    /// [`Error::NoMemory`] where another one does.
    pub fn grow_beyond(&mut self, bytes: usize) -> Result<(), Error> {
        let Err(error) = self.grow_to(bytes) else {
            return Ok(());
        };
        let mut state = lock(&self.budget.state);
        if state.oversize {
            return Err(error);
        }
        state.oversize = true;
        drop(state);
        self.budget.subtract(self.bytes);
        self.oversize = true;
        self.bytes = bytes;
        Ok(())
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        if self.oversize {
            lock(&self.budget.state).oversize = false;
        } else {
            self.budget.subtract(self.bytes);
        }
    }
}

/// Memory that is needed for a moment. See [`Budget::reserve`].
pub struct Reservation {
    budget: Arc<Budget>,
    bytes: usize,
}

impl Reservation {
    /// A charge for the `bytes` of it that are still needed, and are kept.
    pub fn into_charge(mut self, what: &'static str, bytes: usize) -> Charge {
        self.budget.subtract(self.bytes);
        self.bytes = 0;
        self.budget.used.fetch_add(bytes, Ordering::Relaxed);
        Charge {
            budget: self.budget.clone(),
            what,
            bytes,
            oversize: false,
        }
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.budget.subtract(self.bytes);
        lock(&self.budget.state).reservations -= 1;
        self.budget.ended.notify_all();
    }
}
