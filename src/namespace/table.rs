//! The trees of a mount and the inode numbers of all of them.

use std::sync::Mutex;

use super::tree::{Index, Kind, Tree};
use crate::content::cache::lock;
use crate::mount::Ino;

/// Highest inode number. The top bit stays free for numbers that are derived
/// from others, and no number needs more than 32 bits: 32-bit programs could
/// not stat such a file.
const LAST_INO: u32 = (1 << 31) - 1;

/// All trees of a mount. Trees are added and never removed, so a number is
/// never used twice.
pub struct Forest {
    /// In the order of their numbers.
    trees: boxcar::Vec<Planted>,
    /// The lowest number that was never given away.
    next: Mutex<u32>,
}

/// A tree and the number of its root; the inode with index `n` has the number
/// `first + n`.
struct Planted {
    first: u32,
    tree: Tree,
}

/// An inode of one of the trees.
#[derive(Clone, Copy)]
pub struct Node<'a> {
    /// The tree it is in.
    pub tree: &'a Tree,
    /// Its number there.
    pub index: Index,
    first: u32,
}

impl Node<'_> {
    /// What the inode is.
    pub fn kind(&self) -> Option<Kind> {
        self.tree.inode(self.index).map(|inode| inode.kind)
    }

    /// Its number in the mount.
    pub fn ino(&self) -> Ino {
        self.ino_of(self.index)
    }

    /// The number of another inode of the same tree.
    pub fn ino_of(&self, index: Index) -> Ino {
        Ino(self.first + index)
    }

    /// Another inode of the same tree.
    pub fn other(&self, index: Index) -> Self {
        Self { index, ..*self }
    }
}

impl Forest {
    /// A forest without trees. The first number will be that of
    /// [`Ino::ROOT`].
    pub fn new() -> Self {
        Self {
            trees: boxcar::Vec::new(),
            next: Mutex::new(Ino::ROOT.0),
        }
    }

    /// Adds a tree and says what its root's number is; `None` where there are
    /// no numbers left.
    pub fn plant(&self, tree: Tree) -> Option<Ino> {
        let mut next = lock(&self.next);
        let first = take_numbers(&mut next, tree.len())?;
        self.trees.push(Planted { first, tree });
        Some(Ino(first))
    }

    /// A number that no inode has had; `None` where there are none left.
    pub fn fresh_number(&self) -> Option<Ino> {
        take_numbers(&mut lock(&self.next), 1).map(Ino)
    }

    /// The inode with this number.
    pub fn get(&self, ino: Ino) -> Option<Node<'_>> {
        let (mut low, mut high) = (0, self.trees.count());
        while low < high {
            let middle = low.midpoint(high);
            match self.trees.get(middle) {
                Some(planted) if planted.first <= ino.0 => low = middle + 1,
                _ => high = middle,
            }
        }
        let planted = self.trees.get(low.checked_sub(1)?)?;
        let index = ino.0 - planted.first;
        (index < planted.tree.len()).then_some(Node {
            tree: &planted.tree,
            index,
            first: planted.first,
        })
    }

    /// All trees.
    pub fn trees(&self) -> impl Iterator<Item = &Tree> {
        self.trees.iter().map(|(_, planted)| &planted.tree)
    }
}

fn take_numbers(next: &mut u32, count: u32) -> Option<u32> {
    let first = *next;
    let after = first.checked_add(count).filter(|&end| end <= LAST_INO)?;
    *next = after;
    Some(first)
}
