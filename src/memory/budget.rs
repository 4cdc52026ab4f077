//! The memory budget of a mount: one limit for all retained memory.
//!
//! Memory is either accounted for by a [`Charge`] or kept in a
//! [`super::cache::Cache`] that accounts for it here. If more is requested than
//! the limit leaves, the least recently used values of all caches are evicted.
//!
//! Lock order: reservations, evicting, then the shards of the caches. Under the
//! lock of a shard, only [`Budget::now`], [`Budget::try_account`] and
//! [`Budget::subtract`] are called, which take no locks.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};

use crate::requester;
use crate::sync::{Condvar, Mutex, lock, wait_a_moment};
use hpimount_containers::io::Error;

/// Memory that reservations, and one retained item, may take beyond the limit,
/// so that an asset can be parsed with a small limit.
const RESERVE_EXTRA: usize = 16 << 20;

/// Something that can evict values it keeps.
pub trait Reclaim: Send + Sync {
    /// Returns whether its values are evicted for values of caches too, and not
    /// only for charges and reservations.
    fn yields_to_values(&self) -> bool {
        true
    }

    /// Returns whether its values are evicted only for what nothing else makes room
    /// for: not for a reservation that can wait, or for what may exceed the limit.
    fn is_last_resort(&self) -> bool {
        false
    }

    /// Returns when the value that would be evicted next was last used; `None`
    /// if no value can be evicted.
    fn oldest(&self) -> Option<u64>;

    /// Evicts the least recently used value that is not in use. Returns false
    /// if all values are in use.
    fn evict_oldest(&self) -> bool;
}

/// Returns whether a cache is one of those whose values are evicted.
type Yields = fn(&dyn Reclaim) -> bool;

fn evict_all(_: &dyn Reclaim) -> bool {
    true
}

fn spare_last(cache: &dyn Reclaim) -> bool {
    !cache.is_last_resort()
}

/// A limit in bytes, and how much of it is used.
pub struct Budget {
    limit: usize,
    used: AtomicUsize,
    /// Bytes of charges that exceed the limit, within [`RESERVE_EXTRA`].
    extra: AtomicUsize,
    /// Counts insertions: the clock for the age of values.
    clock: AtomicU64,
    caches: Mutex<Vec<Weak<dyn Reclaim>>>,
    /// Serializes eviction: a thread that finds nothing to evict is really out of
    /// memory.
    evicting: Mutex<()>,
    /// True if a charge exceeds the limit, and is therefore not counted.
    oversize: AtomicBool,
    /// Reservations under way; each ends without waiting for another one.
    reservations: Mutex<usize>,
    /// A reservation has ended.
    ended: Condvar,
}

impl Budget {
    /// Returns a budget of `limit` bytes.
    pub fn new(limit: usize) -> Arc<Self> {
        Arc::new(Self {
            limit,
            used: AtomicUsize::new(0),
            extra: AtomicUsize::new(0),
            clock: AtomicU64::new(0),
            caches: Mutex::new(Vec::new()),
            evicting: Mutex::new(()),
            oversize: AtomicBool::new(false),
            reservations: Mutex::new(0),
            ended: Condvar::new(),
        })
    }

    /// Returns the limit in bytes.
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// Returns the number of bytes that count towards the limit.
    pub fn used(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }

    /// Returns the bytes that are accounted for in addition to the limit.
    pub fn extra(&self) -> usize {
        self.extra.load(Ordering::Relaxed)
    }

    /// Registers a cache that evicts values when memory is short.
    pub fn register(&self, cache: Weak<dyn Reclaim>) {
        let mut caches = lock(&self.caches);
        // A reference keeps the memory of a cache that is gone.
        caches.retain(|cache| cache.strong_count() > 0);
        caches.push(cache);
    }

    /// Returns the time of a use, by the clock of the budget.
    pub fn now(&self) -> u64 {
        self.clock.load(Ordering::Relaxed)
    }

    /// Accounts for a value that a cache has inserted; returns false, and
    /// accounts for nothing, if there is no room. The value must already be
    /// visible to [`Reclaim`], and the cache must hold the lock under which it
    /// is evicted.
    pub fn try_account(&self, bytes: usize) -> bool {
        let accounted = self.try_add(bytes, self.limit);
        if accounted {
            self.clock.fetch_add(1, Ordering::Relaxed);
        }
        accounted
    }

    /// Evicts values until `bytes` more fit. Returns false if they do not fit
    /// even with nothing left to evict.
    pub fn make_room(&self, bytes: usize) -> bool {
        let fits = || bytes <= self.limit.saturating_sub(self.used());
        while bytes <= self.limit && !fits() {
            if !self.evict_oldest(|cache| cache.yields_to_values(), fits) {
                return false;
            }
        }
        bytes <= self.limit
    }

    /// Stops accounting for a value of `bytes`.
    pub fn subtract(&self, bytes: usize) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Accounts for `bytes` for as long as the charge lives.
    ///
    /// # Errors
    /// Returns [`Error::NoMemory`] if nothing is left to evict.
    pub fn charge(self: &Arc<Self>, what: &'static str, bytes: usize) -> Result<Charge, Error> {
        let mut charge = self.empty_charge(what);
        charge.grow_to(bytes)?;
        Ok(charge)
    }

    /// Returns an empty charge, to be enlarged later.
    pub fn empty_charge(self: &Arc<Self>, what: &'static str) -> Charge {
        Charge {
            budget: self.clone(),
            what,
            bytes: 0,
            counted: Counted::Within,
        }
    }

    /// Returns whether `bytes` could be reserved if nothing else were.
    pub fn may_reserve(&self, bytes: usize) -> bool {
        bytes <= self.limit.saturating_add(RESERVE_EXTRA)
    }

    /// Reserves temporary memory, up to a little more than the limit.
    ///
    /// With `waits`, waits for other reservations; a thread that holds one must
    /// not wait for another.
    ///
    /// # Errors
    /// Returns [`Error::NoMemory`] if it does not fit.
    pub fn reserve(
        self: &Arc<Self>,
        what: &'static str,
        bytes: usize,
        waits: bool,
    ) -> Result<Reservation, Error> {
        let limit = self.limit.saturating_add(RESERVE_EXTRA);
        let mut reservations = lock(&self.reservations);
        while !self.try_take(bytes, self.limit, spare_last)
            && !self.try_take(bytes, limit, spare_last)
        {
            if waits && bytes <= limit && *reservations > 0 {
                requester::check()?;
                reservations = wait_a_moment(&self.ended, reservations);
            } else if self.try_take(bytes, limit, evict_all) {
                break;
            } else {
                let left = limit.saturating_sub(self.used() + self.extra());
                return Err(Error::no_memory(what, bytes, left));
            }
        }
        *reservations += 1;
        Ok(Reservation {
            budget: self.clone(),
            bytes,
        })
    }

    /// Takes `bytes`, evicting values of caches that `yields` if needed.
    fn try_take(&self, bytes: usize, limit: usize, yields: Yields) -> bool {
        let take = || self.try_add(bytes, limit);
        if bytes > limit {
            return false;
        }
        let mut taken = take();
        while !taken {
            let is_taken = || {
                taken = take();
                taken
            };
            if !self.evict_oldest(yields, is_taken) {
                return taken;
            }
        }
        true
    }

    /// Adds `bytes` to the used ones, if the sum is within `limit`.
    fn try_add(&self, bytes: usize, limit: usize) -> bool {
        let extra = if limit > self.limit { self.extra() } else { 0 };
        let fits = |used: usize| {
            let sum = used.checked_add(bytes)?;
            (sum.checked_add(extra)? <= limit).then_some(sum)
        };
        // A thread that finds no room must see the values that take it.
        let (set, fetch) = (Ordering::AcqRel, Ordering::Acquire);
        self.used.fetch_update(set, fetch, fits).is_ok()
    }

    /// Evicts a value of a cache that `yields`, unless `needless` returns true by
    /// then. Returns false if none of them has a value to evict.
    fn evict_oldest(&self, yields: Yields, mut needless: impl FnMut() -> bool) -> bool {
        let _one_at_a_time = lock(&self.evicting);
        if needless() {
            return true;
        }
        // The cache with the oldest value first; the others if everything in
        // that one is in use.
        let mut caches: Vec<(u64, Arc<dyn Reclaim>)> = lock(&self.caches)
            .iter()
            .filter_map(Weak::upgrade)
            .filter(|cache| yields(&**cache))
            .filter_map(|cache| Some((cache.oldest()?, cache)))
            .collect();
        caches.sort_by_key(|&(age, _)| age);
        caches.iter().any(|(_, cache)| cache.evict_oldest())
    }
}

/// Bytes that are accounted for while this lives.
pub struct Charge {
    budget: Arc<Budget>,
    what: &'static str,
    bytes: usize,
    counted: Counted,
}

/// Accounting of a charge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Counted {
    /// Within the limit.
    Within,
    /// Not counted, since it exceeds the limit.
    Oversize,
    /// In addition to the limit, within [`RESERVE_EXTRA`].
    Extra,
}

impl Charge {
    /// Returns the bytes that it accounts for.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Accounts for `bytes` in total.
    ///
    /// # Errors
    /// Returns [`Error::NoMemory`] if nothing is left to evict.
    pub fn grow_to(&mut self, bytes: usize) -> Result<(), Error> {
        self.grow(bytes, evict_all)
    }

    /// Like [`Charge::grow_to`], but evicts no last resort.
    ///
    /// # Errors
    /// Returns [`Error::NoMemory`] if nothing else is left to evict.
    pub fn grow_sparing(&mut self, bytes: usize) -> Result<(), Error> {
        self.grow(bytes, spare_last)
    }

    fn grow(&mut self, bytes: usize, yields: Yields) -> Result<(), Error> {
        if self.counted == Counted::Oversize {
            // A charge that exceeded the limit temporarily may fit now.
            if self.budget.try_take(bytes, self.budget.limit, yields) {
                self.counted = Counted::Within;
                self.budget.oversize.store(false, Ordering::Relaxed);
            }
            self.bytes = bytes;
            return Ok(());
        }
        let more = bytes.saturating_sub(self.bytes);
        if more > 0 && !self.budget.try_take(more, self.budget.limit, yields) {
            let others = self.budget.used().saturating_sub(self.bytes);
            let left = self.budget.limit.saturating_sub(others);
            return Err(Error::no_memory(self.what, bytes, left));
        }
        self.budget.subtract(self.bytes.saturating_sub(bytes));
        self.bytes = bytes;
        Ok(())
    }

    /// Accounts for what another charge within the limit accounts for as well.
    pub fn absorb(&mut self, mut other: Self) {
        self.bytes += std::mem::take(&mut other.bytes);
    }

    /// Accounts for `bytes` less.
    pub fn shrink(&mut self, bytes: usize) {
        self.bytes -= bytes;
        self.budget.subtract(bytes);
    }

    /// Like [`Charge::grow_to`], but a charge that does not fit may exceed the
    /// limit if no other one does.
    ///
    /// # Errors
    /// Returns [`Error::NoMemory`] if another charge exceeds the limit.
    pub fn grow_beyond(&mut self, bytes: usize) -> Result<(), Error> {
        if self.grow_sparing(bytes).is_ok() {
            return Ok(());
        }
        // Evict everything else: this may release a charge that exceeds the limit.
        while self.budget.evict_oldest(spare_last, || false) {}
        if self.budget.oversize.swap(true, Ordering::Relaxed) {
            return self.grow_to(bytes);
        }
        self.budget.subtract(self.bytes);
        self.counted = Counted::Oversize;
        self.bytes = bytes;
        Ok(())
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        match self.counted {
            Counted::Within => self.budget.subtract(self.bytes),
            Counted::Oversize => self.budget.oversize.store(false, Ordering::Relaxed),
            Counted::Extra => {
                self.budget.extra.fetch_sub(self.bytes, Ordering::Relaxed);
            }
        }
    }
}

/// Temporary memory. See [`Budget::reserve`].
pub struct Reservation {
    budget: Arc<Budget>,
    bytes: usize,
}

impl Reservation {
    /// Returns a charge for the `bytes` of it that are retained.
    pub fn into_charge(mut self, what: &'static str, bytes: usize) -> Charge {
        let is_large = bytes > self.budget.limit && bytes <= RESERVE_EXTRA;
        let (counter, counted) = match is_large {
            true => (&self.budget.extra, Counted::Extra),
            false => (&self.budget.used, Counted::Within),
        };
        counter.fetch_add(bytes, Ordering::Relaxed);
        self.budget.subtract(std::mem::take(&mut self.bytes));
        Charge {
            budget: self.budget.clone(),
            what,
            bytes,
            counted,
        }
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.budget.subtract(self.bytes);
        *lock(&self.budget.reservations) -= 1;
        self.budget.ended.notify_all();
    }
}
