//! A list that is sorted before it is printed.

use std::cmp::{Ordering, Reverse};
use std::sync::Arc;

use super::SortKey;
use crate::inspect::{Contents, Error, Trouble};
use crate::memory::budget::{Budget, Charge};
use crate::mount::{Attr, FileKind, HeldIno, Vfs};
use hpimount_containers::io;

/// Number of entries after which the memory charge is updated.
const CHARGED_AT_ONCE: usize = 4096;

/// The entries of a list, within the memory budget.
pub(super) struct Sorted<'v> {
    vfs: &'v Vfs,
    key: SortKey,
    entries: Vec<Kept>,
    /// Bytes on the heap of all entries.
    heap: usize,
    charge: Charge,
}

/// An entry.
pub(super) struct Kept {
    pub(super) path: Box<str>,
    pub(super) attr: Attr,
    /// Keeps its number.
    _ino: HeldIno,
    /// The type, if that is the key.
    type_of: Option<Box<str>>,
}

impl<'v> Sorted<'v> {
    pub(super) fn new(vfs: &'v Vfs, key: SortKey) -> Self {
        let budget: &Arc<Budget> = vfs.reader().budget();
        Self {
            vfs,
            key,
            entries: Vec::new(),
            heap: 0,
            charge: budget.empty_charge("the sorted list"),
        }
    }

    /// Adds an entry.
    ///
    /// # Errors
    /// Returns an error if the list does not fit in the memory budget.
    pub(super) fn add(&mut self, path: &str, attr: Attr, ino: &HeldIno) -> Result<(), Error> {
        let type_of = match (self.key, attr.kind) {
            (SortKey::Type, FileKind::File) => Contents(self.vfs).type_of(attr.ino),
            _ => None,
        };
        self.heap += path.len() + type_of.as_ref().map_or(0, String::len);
        if self.entries.len().is_multiple_of(CHARGED_AT_ONCE) {
            // The list may double its capacity next.
            let bytes = self.heap + 2 * self.entries.capacity() * size_of::<Kept>();
            let charged: io::Result<()> = self.charge.grow_to(bytes);
            charged.map_err(|error| Error::path(path, Trouble::Bytes(error)))?;
        }
        self.entries.push(Kept {
            path: path.into(),
            attr,
            _ino: ino.clone(),
            type_of: type_of.map(String::into_boxed_str),
        });
        Ok(())
    }

    /// Returns the entries in order.
    pub(super) fn finish(mut self) -> Vec<Kept> {
        let key = self.key;
        self.entries
            .sort_unstable_by(|one, other| compare(key, one, other));
        self.entries
    }
}

fn compare(key: SortKey, one: &Kept, other: &Kept) -> Ordering {
    let by_key = match key {
        SortKey::Name => Ordering::Equal,
        SortKey::Size => Reverse(one.attr.size).cmp(&Reverse(other.attr.size)),
        SortKey::Time => Reverse(one.attr.modified).cmp(&Reverse(other.attr.modified)),
        SortKey::Type => one.type_of.cmp(&other.type_of),
    };
    by_key.then_with(|| one.path.cmp(&other.path))
}
