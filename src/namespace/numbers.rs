//! The inode numbers of a mount: a range for every subtree, which is valid
//! until the mount ends.
//!
//! A subtree that was evicted and is rebuilt gets the same numbers, so that
//! those held by the kernel and by NFS clients stay valid. If its source has
//! changed meanwhile, it gets new ones, and the old ones are stale.

use std::collections::HashMap;
use std::sync::Mutex;

use super::Ino;
use super::companion::Shows;
use super::tree::Index;
use crate::sync::lock;

/// Highest inode number. The top bit is reserved for numbers derived from
/// others, and numbers have at most 32 bits because 32-bit programs could not
/// stat larger ones.
const LAST_INO: u32 = (1 << 31) - 1;

/// What the root of a subtree is in the mount.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
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

/// The numbers of one subtree; the inode with index `n` has the number
/// `first + n`.
#[derive(Debug, Clone, Copy)]
pub struct Range {
    /// Number of its root.
    pub first: u32,
    len: u32,
    /// What its root is in the mount.
    pub origin: Origin,
    /// Changes when the numbers refer to other inodes.
    fingerprint: u64,
}

impl Range {
    /// Memory of a range and of its index entries, in bytes.
    pub const MEMORY: usize = 2 * size_of::<Self>() + size_of::<(Origin, u32)>();

    /// Returns the number of the inode with this index.
    pub fn ino(&self, index: Index) -> Ino {
        Ino(self.first + index)
    }
}

/// All numbers that have been assigned.
pub struct Numbers {
    /// Sorted by their first numbers.
    ranges: boxcar::Vec<Range>,
    state: Mutex<State>,
}

struct State {
    /// The lowest number that was never assigned.
    next: u32,
    /// The latest range of every origin, as an index of `ranges`.
    by_origin: HashMap<Origin, usize>,
}

impl Default for Numbers {
    /// Creates an empty set. The first inode will be [`Ino::ROOT`].
    fn default() -> Self {
        Self {
            ranges: boxcar::Vec::new(),
            state: Mutex::new(State {
                next: Ino::ROOT.0,
                by_origin: HashMap::new(),
            }),
        }
    }
}

impl Numbers {
    /// Returns the range for a subtree of `len` inodes, and whether it is a new
    /// one: the previous range if the fingerprint is the same. Returns `None`
    /// if there are no numbers left.
    pub fn assign(&self, origin: Origin, len: u32, fingerprint: u64) -> Option<(Range, bool)> {
        let mut state = lock(&self.state);
        let latest = state.by_origin.get(&origin);
        if let Some(&range) = latest.and_then(|&latest| self.ranges.get(latest))
            && (range.len, range.fingerprint) == (len, fingerprint)
        {
            return Some((range, false));
        }
        let range = Range {
            first: take(&mut state.next, len)?,
            len,
            origin,
            fingerprint,
        };
        let index = self.ranges.push(range);
        state.by_origin.insert(origin, index);
        Some((range, true))
    }

    /// Returns a new number; `None` if all numbers are assigned.
    pub fn single(&self) -> Option<Ino> {
        take(&mut lock(&self.state).next, 1).map(Ino)
    }

    /// Returns the range that contains a number, and its index.
    pub fn find(&self, ino: Ino) -> Option<(usize, Range)> {
        let (mut low, mut high) = (0, self.ranges.count());
        while low < high {
            let middle = low.midpoint(high);
            match self.ranges.get(middle) {
                Some(range) if range.first <= ino.0 => low = middle + 1,
                _ => high = middle,
            }
        }
        let position = low.checked_sub(1)?;
        let range = self.ranges.get(position)?;
        (ino.0 - range.first < range.len).then_some((position, *range))
    }

    /// Returns how many inodes have had numbers in subtrees.
    pub fn inodes(&self) -> u64 {
        self.ranges
            .iter()
            .map(|(_, range)| u64::from(range.len))
            .sum()
    }
}

fn take(next: &mut u32, count: u32) -> Option<u32> {
    let first = *next;
    *next = first.checked_add(count).filter(|&end| end <= LAST_INO)?;
    Some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: Origin = Origin::Directory(Ino(7));

    #[test]
    fn a_subtree_keeps_its_numbers_until_it_changes() {
        let numbers = Numbers::default();
        let assign = |origin, fingerprint| numbers.assign(origin, 10, fingerprint).unwrap();
        let (root, _) = assign(Origin::Root, 0);
        assert_eq!(root.first, Ino::ROOT.0);
        let (first, is_new) = assign(A, 1);
        assert!(is_new && first.first == 11);
        let (again, is_new) = assign(A, 1);
        assert!(!is_new && again.first == 11);
        let (changed, is_new) = assign(A, 2);
        assert!(is_new && changed.first == 21);
        assert_eq!(numbers.find(Ino(20)).unwrap().1.first, 11);
        assert_eq!(numbers.find(Ino(30)).unwrap().1.first, 21);
        assert!(numbers.find(Ino(31)).is_none());
        assert!(numbers.find(Ino(0)).is_none());
    }

    #[test]
    fn numbers_end_below_the_bit_of_the_shortcuts() {
        let numbers = Numbers::default();
        assert!(numbers.assign(A, LAST_INO - 2, 0).is_some());
        assert_eq!(numbers.single(), Some(Ino(LAST_INO - 1)));
        assert_eq!(numbers.single(), None);
        assert!(numbers.assign(Origin::Root, 1, 0).is_none());
    }
}
