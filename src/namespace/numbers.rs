//! The inode numbers of a mount: a range for every subtree.
//!
//! No number is used twice, so that a number which the kernel or an NFS client still
//! has never refers to another inode. A subtree that was evicted and is rebuilt gets
//! the same numbers, unless its source has changed: then the old ones are stale.
//!
//! The ranges of subtrees that are built on demand count towards the memory budget. A
//! range may be dropped when its subtree is evicted, the kernel has forgotten all of
//! its inodes, nothing in the mount has a [`Hold`] of it, and the ranges of directories
//! inside it are dropped; entered again, its directory gets new numbers. Ranges are dropped
//! when they take more than their share of the budget ([`Numbers::trim`]), or for something
//! that has no room even with everything else evicted.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Bound::{Excluded, Unbounded};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, Weak};

use super::Ino;
use super::companion::Shows;
use super::tree::Index;
use crate::memory::budget::{Budget, Charge, Reclaim};
use crate::sync::lock;
use hpimount_containers::io::Result;

/// The part of the memory budget that ranges may take before the oldest are dropped.
const SHARE: usize = 8;

/// Ranges that are examined for each new one, when they exceed their share.
const EXAMINED: usize = 4;

/// Ranges that are examined at a time.
const EXAMINED_AT_ONCE: usize = 64;

/// Origin of the root of a subtree in the mount.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Origin {
    /// The root of the mount.
    Root,
    /// The root of the files, if the root of the mount is the converted tree.
    Files,
    /// The control directory.
    Control,
    /// A directory of another subtree.
    Directory(Ino),
    /// A companion of this file or directory that is not listed.
    Hidden(Ino, Shows),
    /// The plain files of the disc whose root this is, which are found there.
    Plain(Ino),
}

impl Origin {
    /// Returns the inode in the subtree around it.
    fn inode(self) -> Option<Ino> {
        match self {
            Self::Root | Self::Files | Self::Control => None,
            Self::Directory(ino) | Self::Hidden(ino, _) | Self::Plain(ino) => Some(ino),
        }
    }
}

/// The numbers of one subtree; the inode with index `n` has the number
/// `first + n`.
#[derive(Debug, Clone, Copy)]
pub struct Range {
    /// Number of its root.
    pub first: u64,
    /// Number of its inodes.
    pub len: u32,
    /// Origin of its root in the mount.
    pub origin: Origin,
}

impl Range {
    /// Returns the number of the inode with this index.
    pub fn ino(&self, index: Index) -> Ino {
        Ino(self.first + u64::from(index))
    }

    /// Returns the index of an inode; `None` if it is in another subtree.
    pub fn index(&self, ino: Ino) -> Option<Index> {
        let index = Index::try_from(ino.0.checked_sub(self.first)?).ok()?;
        (index < self.len).then_some(index)
    }
}

/// The facts that the numbers of a subtree depend on.
#[derive(Debug, Clone, Copy)]
pub struct Identity {
    /// Origin of its root in the mount.
    pub origin: Origin,
    /// Number of its inodes.
    pub len: u32,
    /// Changes when the numbers refer to other inodes.
    pub fingerprint: u64,
    /// An inode of a third subtree, whose numbers it contains.
    pub refers_to: Option<Ino>,
}

/// All numbers that have been assigned.
pub struct Numbers {
    budget: Arc<Budget>,
    /// Ranges to be examined by [`Numbers::trim`].
    due: AtomicUsize,
    state: Mutex<State>,
}

struct State {
    /// The lowest number that was never assigned.
    next: u64,
    /// The ranges of subtrees that are built on demand, by their first numbers.
    ranges: BTreeMap<u64, Record>,
    /// The latest range of every origin.
    by_origin: BTreeMap<Origin, u64>,
    /// Charges the ranges.
    charge: Charge,
    /// Number of inodes in all ranges.
    inodes: u64,
    /// Number of ranges that may be dropped.
    idle: usize,
    /// The range that was examined last.
    hand: u64,
}

/// A range of numbers of a subtree that is built on demand.
struct Record {
    identity: Identity,
    /// Lookups that the kernel has not forgotten. From the maximum on they are not
    /// counted, and the range stays.
    lookups: u32,
    /// Ranges that refer to its inodes, as their origins or otherwise.
    inner: u32,
    /// Holds of it. A subtree that was evicted and built again has another one.
    holds: u32,
    /// True if a number was used since the range was examined.
    was_used: bool,
}

impl Record {
    /// Memory of a range, in bytes: an entry of each map. Nodes of the maps are at
    /// least half full.
    const MEMORY: usize = 2 * (size_of::<(u64, Self)>() + size_of::<(Origin, u64)>());

    fn is_idle(&self) -> bool {
        self.lookups == 0 && self.inner == 0 && self.holds == 0
    }
}

impl Numbers {
    /// Creates an empty set within a budget. The first inode will be [`Ino::ROOT`].
    pub fn new(budget: &Arc<Budget>) -> Arc<Self> {
        let numbers = Arc::new(Self {
            budget: budget.clone(),
            due: AtomicUsize::new(0),
            state: Mutex::new(State {
                next: Ino::ROOT.0,
                ranges: BTreeMap::new(),
                by_origin: BTreeMap::new(),
                charge: budget.empty_charge("inode numbers"),
                inodes: 0,
                idle: 0,
                hand: 0,
            }),
        });
        let weak: Weak<Self> = Arc::downgrade(&numbers);
        budget.register(weak);
        numbers
    }

    /// Returns the range for a permanent subtree of `len` inodes, which is not kept
    /// here.
    pub fn permanent(&self, origin: Origin, len: u32) -> Range {
        let first = lock(&self.state).take(len);
        Range { first, len, origin }
    }

    /// Returns a new number.
    pub fn single(&self) -> Ino {
        Ino(lock(&self.state).take(1))
    }

    /// Returns the range for a subtree that is built on demand, which stays for as
    /// long as it is held: the previous range if nothing has changed.
    ///
    /// # Errors
    /// Returns an error if there is no memory for it.
    pub fn assign(self: &Arc<Self>, identity: Identity) -> Result<(Range, Arc<Hold>)> {
        let known = lock(&self.state).again(&identity);
        let first = match known {
            Some(first) => first,
            None => {
                // Without the lock, since ranges may be dropped for it.
                let charge = self.budget.charge("inode numbers", Record::MEMORY)?;
                let mut state = lock(&self.state);
                let first = state.add(identity, charge);
                if state.charge.bytes() > self.share() {
                    self.due.fetch_add(EXAMINED, Ordering::Relaxed);
                }
                first
            }
        };
        let range = Range {
            first,
            len: identity.len,
            origin: identity.origin,
        };
        let hold = Hold {
            numbers: self.clone(),
            first,
        };
        Ok((range, Arc::new(hold)))
    }

    /// Returns how many bytes ranges may take before the oldest are dropped.
    fn share(&self) -> usize {
        self.budget.limit() / SHARE
    }

    /// Returns the range of a subtree that is built on demand and has this number.
    pub fn find(&self, ino: Ino) -> Option<Range> {
        let state = &mut *lock(&self.state);
        let (&first, record) = state.ranges.range_mut(..=ino.0).next_back()?;
        let Identity { origin, len, .. } = record.identity;
        let range = Range { first, len, origin };
        range.index(ino)?;
        record.was_used = true;
        Some(range)
    }

    /// Counts a lookup of an inode by the kernel. Returns whether it is in a subtree
    /// that is built on demand.
    pub fn look(&self, ino: Ino) -> bool {
        let count = |record: &mut Record| {
            record.lookups = record.lookups.saturating_add(1);
            record.was_used = true;
        };
        lock(&self.state).change_at(ino, count)
    }

    /// Drops lookups of an inode that the kernel has forgotten. Returns whether it is
    /// in a subtree that is built on demand.
    pub fn forget(&self, ino: Ino, lookups: u64) -> bool {
        let lookups = u32::try_from(lookups).unwrap_or(u32::MAX);
        let forget = |record: &mut Record| {
            if record.lookups < u32::MAX {
                record.lookups = record.lookups.saturating_sub(lookups);
            }
        };
        lock(&self.state).change_at(ino, forget)
    }

    /// Returns whether [`Numbers::trim`] has something to do.
    pub fn exceed_their_share(&self) -> bool {
        self.due.load(Ordering::Relaxed) > 0
    }

    /// Examines some ranges, the longest unused first, and drops those that may be
    /// dropped, until the others fit in their share of the budget. Returns the origins
    /// of those that the kernel must forget first.
    pub fn trim(&self) -> Vec<Origin> {
        let mut known = Vec::new();
        let due = self.due.swap(0, Ordering::Relaxed);
        let state = &mut *lock(&self.state);
        for _ in 0..due.min(EXAMINED_AT_ONCE).min(state.ranges.len()) {
            if state.charge.bytes() <= self.share() {
                break;
            }
            let Some((first, record)) = state.advance() else {
                break;
            };
            if std::mem::take(&mut record.was_used) {
                continue;
            }
            if record.is_idle() {
                state.remove(first);
            } else if record.lookups > 0 && record.inner == 0 {
                known.push(record.identity.origin);
            }
        }
        known
    }

    /// Returns how many inodes have numbers in subtrees that are built on demand.
    pub fn inodes(&self) -> u64 {
        lock(&self.state).inodes
    }
}

impl Reclaim for Numbers {
    fn yields_to_values(&self) -> bool {
        !self.is_last_resort()
    }

    fn is_last_resort(&self) -> bool {
        lock(&self.state).charge.bytes() <= self.share()
    }

    /// Everything else is evicted first: it may refer to inodes by their numbers.
    fn oldest(&self) -> Option<u64> {
        (lock(&self.state).idle > 0).then_some(u64::MAX)
    }

    fn evict_oldest(&self) -> bool {
        let state = &mut *lock(&self.state);
        while state.idle > 0
            && let Some((first, record)) = state.advance()
        {
            if record.is_idle() {
                state.remove(first);
                return true;
            }
        }
        false
    }
}

impl State {
    fn take(&mut self, count: u32) -> u64 {
        let first = self.next;
        self.next += u64::from(count);
        first
    }

    /// Returns the latest range of a subtree, if nothing has changed, and counts one
    /// more hold.
    fn again(&mut self, identity: &Identity) -> Option<u64> {
        let first = *self.by_origin.get(&identity.origin)?;
        let known = self.ranges.get(&first)?.identity;
        let is_same = (known.len, known.fingerprint) == (identity.len, identity.fingerprint);
        is_same.then(|| {
            self.change(first, |record| record.holds += 1);
            first
        })
    }

    /// Adds a range with one hold.
    fn add(&mut self, identity: Identity, charge: Charge) -> u64 {
        let first = self.take(identity.len);
        let record = Record {
            identity,
            lookups: 0,
            inner: 0,
            holds: 1,
            was_used: true,
        };
        for ino in referred(&identity) {
            self.change_at(ino, |other| other.inner += 1);
        }
        self.ranges.insert(first, record);
        self.by_origin.insert(identity.origin, first);
        self.charge.absorb(charge);
        self.inodes += u64::from(identity.len);
        first
    }

    /// Drops an idle range.
    fn remove(&mut self, first: u64) {
        let Some(Record { identity, .. }) = self.ranges.remove(&first) else {
            return;
        };
        if self.by_origin.get(&identity.origin) == Some(&first) {
            self.by_origin.remove(&identity.origin);
        }
        self.idle -= 1;
        self.inodes -= u64::from(identity.len);
        self.charge.shrink(Record::MEMORY);
        for ino in referred(&identity) {
            self.change_at(ino, |other| other.inner -= 1);
        }
    }

    /// Returns the range that contains a number.
    fn containing(&self, ino: Ino) -> Option<u64> {
        let (&first, record) = self.ranges.range(..=ino.0).next_back()?;
        (ino.0 - first < u64::from(record.identity.len)).then_some(first)
    }

    fn change_at(&mut self, ino: Ino, change: impl FnOnce(&mut Record)) -> bool {
        let found = self.containing(ino);
        found.is_some_and(|first| self.change(first, change))
    }

    /// Changes a range, and counts the idle ones. Returns false if it was dropped.
    fn change(&mut self, first: u64, change: impl FnOnce(&mut Record)) -> bool {
        let Some(record) = self.ranges.get_mut(&first) else {
            return false;
        };
        self.idle -= usize::from(record.is_idle());
        change(record);
        self.idle += usize::from(record.is_idle());
        true
    }

    /// Returns the range after the one that was examined last.
    fn advance(&mut self) -> Option<(u64, &mut Record)> {
        let after = (Excluded(self.hand), Unbounded);
        let next = self.ranges.range(after).next();
        let (&first, _) = next.or_else(|| self.ranges.first_key_value())?;
        self.hand = first;
        Some((first, self.ranges.get_mut(&first)?))
    }
}

/// Returns inodes of the other subtrees whose numbers a subtree contains.
fn referred(identity: &Identity) -> impl Iterator<Item = Ino> + use<> {
    let origin = identity.origin.inode();
    origin.into_iter().chain(identity.refers_to)
}

/// Keeps a range of numbers: of a subtree in memory, or of one that may be evicted while
/// something in the mount remembers numbers of it.
pub struct Hold {
    numbers: Arc<Numbers>,
    first: u64,
}

impl Hold {
    /// Returns the first number of the range.
    pub fn first(&self) -> u64 {
        self.first
    }
}

impl fmt::Debug for Hold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Hold").field(&self.first).finish()
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        let mut state = lock(&self.numbers.state);
        state.change(self.first, |record| record.holds -= 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: Origin = Origin::Directory(Ino(7));

    /// Assigns ten numbers, as for a subtree that is evicted at once.
    fn assign(numbers: &Arc<Numbers>, origin: Origin, fingerprint: u64) -> u64 {
        let identity = Identity {
            origin,
            len: 10,
            fingerprint,
            refers_to: None,
        };
        numbers.assign(identity).unwrap().0.first
    }

    /// Examines ranges as often as there may be any.
    fn trim(numbers: &Numbers) -> Vec<Origin> {
        let examine = || {
            numbers.due.store(EXAMINED_AT_ONCE, Ordering::Relaxed);
            numbers.trim()
        };
        [examine(), examine()].concat()
    }

    #[test]
    fn a_subtree_keeps_its_numbers_until_it_changes() {
        let numbers = Numbers::new(&Budget::new(1 << 20));
        assert_eq!(numbers.permanent(Origin::Root, 10).first, Ino::ROOT.0);
        assert_eq!(assign(&numbers, A, 1), 11);
        assert_eq!(assign(&numbers, A, 1), 11);
        assert_eq!(assign(&numbers, A, 2), 21);
        let first = |ino| numbers.find(Ino(ino)).map(|range| range.first);
        assert_eq!(first(20), Some(11));
        assert_eq!(first(30), Some(21));
        assert_eq!((first(10), first(31), first(0)), (None, None, None));
        assert_eq!(numbers.inodes(), 20);
    }

    #[test]
    fn ranges_beyond_their_share_are_dropped_unless_something_needs_them() {
        let room_for_one = Budget::new(SHARE * Record::MEMORY);
        let numbers = Numbers::new(&room_for_one);
        numbers.permanent(Origin::Root, 10);
        let outer = assign(&numbers, A, 0);
        let inner = assign(&numbers, Origin::Directory(Ino(outer + 3)), 0);
        assert!(numbers.look(Ino(inner + 9)));
        let is_there = |first| numbers.find(Ino(first)).is_some();
        assert_eq!(trim(&numbers), [Origin::Directory(Ino(outer + 3))]);
        assert!(is_there(inner) && is_there(outer));

        assert!(numbers.forget(Ino(inner + 9), 1));
        assert_eq!(trim(&numbers), []);
        assert!(!is_there(inner) && is_there(outer), "one has its share");
        assert!(!numbers.forget(Ino(inner), 1));
        let again = assign(&numbers, Origin::Directory(Ino(outer + 3)), 0);
        assert!(again > inner, "no number is used twice");
    }

    #[test]
    fn ranges_are_dropped_for_others_if_there_is_no_memory() {
        let room_for_two = Budget::new(2 * Record::MEMORY);
        let numbers = Numbers::new(&room_for_two);
        let origin = |number| Origin::Directory(Ino(number));
        let identity = |number| Identity {
            origin: origin(number),
            len: 1,
            fingerprint: 0,
            refers_to: None,
        };
        let (_, first) = numbers.assign(identity(1)).unwrap();
        let second = numbers.assign(identity(2)).unwrap();
        assert!(numbers.assign(identity(3)).is_err(), "both are in use");
        drop(first);
        let third = numbers.assign(identity(3)).unwrap();
        let ranges = lock(&numbers.state).ranges.len();
        assert_eq!((ranges, room_for_two.used()), (2, 2 * Record::MEMORY));
        drop((second, third));
        assert_eq!(lock(&numbers.state).idle, 2);
    }

    #[test]
    fn ranges_within_their_share_are_dropped_only_if_there_is_no_other_room() {
        let budget = Budget::new(SHARE * Record::MEMORY);
        let numbers = Numbers::new(&budget);
        assign(&numbers, A, 0);
        let parsing = budget.reserve("an asset", budget.limit(), true).unwrap();
        let mut tree = budget.empty_charge("a tree");
        tree.grow_beyond(2 * budget.limit()).unwrap();
        assert_eq!(numbers.inodes(), 10);
        let index = budget.charge("an index", 1);
        assert_eq!((index.is_ok(), numbers.inodes()), (false, 0));
        drop((parsing, tree));
    }
}
