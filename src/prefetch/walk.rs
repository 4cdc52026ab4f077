//! The files after a position, in the order that programs walk a tree.

use crate::namespace::tree::{Index, InodeKind, Tree};

/// Entries and ends of directories that are passed in search of a file.
const MAX_STEPS: usize = 256;

/// An order of walking a tree: everything below an entry comes before the entry
/// after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// Each directory in the order of its listing, as by `find`, `grep -r`,
    /// `tar` and others.
    Listed,
    /// Each directory from its last entry to the first, as by `rg` and others
    /// that put the entries of a listing on a stack.
    Reversed,
}

/// A position in a tree.
pub(super) struct Walk {
    order: Order,
    directory: Index,
    /// Number of entries of the directory in front of the position, in the order
    /// of the listing.
    entry: usize,
}

impl Walk {
    /// The position after an entry, which is given as a directory and a number.
    pub(super) fn after((directory, number): (Index, usize), order: Order) -> Self {
        Self {
            order,
            directory,
            entry: match order {
                Order::Listed => number + 1,
                Order::Reversed => number,
            },
        }
    }

    /// Advances past the next file and returns it. `None` at the end of the
    /// tree, and if there are no files nearby.
    pub(super) fn next_file(&mut self, tree: &Tree) -> Option<Index> {
        for _ in 0..MAX_STEPS {
            let Some(index) = self.next_entry(tree) else {
                *self = Self::after(tree.position(self.directory)?, self.order);
                continue;
            };
            match tree.inode(index)?.kind {
                InodeKind::File { .. } => return Some(index),
                InodeKind::Dir { count, .. } => {
                    self.directory = index;
                    self.entry = match self.order {
                        Order::Listed => 0,
                        Order::Reversed => count as usize,
                    };
                }
                _ => {}
            }
        }
        None
    }

    /// Advances past the next entry of the directory.
    fn next_entry(&mut self, tree: &Tree) -> Option<Index> {
        if self.order == Order::Reversed {
            self.entry = self.entry.checked_sub(1)?;
        }
        let (_, index) = tree.entries(self.directory, self.entry).next()?;
        if self.order == Order::Listed {
            self.entry += 1;
        }
        Some(index)
    }
}
