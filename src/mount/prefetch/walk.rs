//! The files after a position, in the order in which programs walk a tree.

use crate::namespace::tree::{Index, Kind, Tree};

/// Entries and ends of directories that are passed in search of a file.
const MAX_STEPS: usize = 256;

/// A position in a tree, in the order in which `find`, `grep -r`, `tar` and
/// others visit it: each directory in the order of its listing, and what is
/// below an entry before the entry after it.
pub(super) struct Walk {
    directory: Index,
    /// Number in the directory of the next entry.
    entry: usize,
}

impl Walk {
    /// The position after an inode; `None` for the root.
    pub(super) fn after(tree: &Tree, index: Index) -> Option<Self> {
        let (directory, entry) = tree.position(index)?;
        Some(Self {
            directory,
            entry: entry + 1,
        })
    }

    /// Advances past the next file and returns it. `None` at the end of the
    /// tree, and if there are no files nearby.
    pub(super) fn next_file(&mut self, tree: &Tree) -> Option<Index> {
        for _ in 0..MAX_STEPS {
            let Some((_, index)) = tree.entries(self.directory, self.entry).next() else {
                *self = Self::after(tree, self.directory)?;
                continue;
            };
            self.entry += 1;
            match tree.inode(index)?.kind {
                Kind::File { .. } => return Some(index),
                Kind::Dir { .. } => {
                    self.directory = index;
                    self.entry = 0;
                }
                _ => {}
            }
        }
        None
    }
}
