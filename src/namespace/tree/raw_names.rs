//! The original names of inodes that are shown under different names, as all on
//! discs are.

use std::collections::HashMap;

use super::{Index, heap};
use hpimount_containers::io::Compact;

/// Raw names by inode.
#[derive(Debug, Default)]
pub(super) struct RawNames {
    /// Names that were added in the order of their inodes.
    bytes: Vec<u8>,
    /// Their inodes in ascending order, each with the end of its name.
    names_of: Vec<(Index, u32)>,
    /// Names that were added after the name of a higher inode.
    others: HashMap<Index, Box<[u8]>>,
}

impl RawNames {
    /// Adds the raw name of an inode that has none yet.
    pub(super) fn add(&mut self, index: Index, raw: &[u8]) {
        let is_next = self.names_of.last().is_none_or(|&(last, _)| last < index);
        match u32::try_from(self.bytes.len() + raw.len()) {
            Ok(end) if is_next => {
                self.bytes.extend_from_slice(raw);
                self.names_of.push((index, end));
            }
            _ if self.get(index).is_none() => {
                self.others.insert(index, raw.into());
            }
            _ => {}
        }
    }

    /// Returns the raw name of an inode.
    pub(super) fn get(&self, index: Index) -> Option<&[u8]> {
        let found = self
            .names_of
            .binary_search_by_key(&index, |&(inode, _)| inode);
        let Ok(position) = found else {
            return self.others.get(&index).map(|raw| &**raw);
        };
        let end = |position: usize| self.names_of[position].1 as usize;
        let start = position.checked_sub(1).map_or(0, end);
        Some(&self.bytes[start..end(position)])
    }

    /// Forgets the names of the inodes from `first` on.
    pub(super) fn remove_from(&mut self, first: Index) {
        let kept = self.names_of.partition_point(|&(index, _)| index < first);
        self.names_of.truncate(kept);
        let end = self.names_of.last().map_or(0, |&(_, end)| end);
        self.bytes.truncate(end as usize);
        self.others.retain(|&index, _| index < first);
    }

    pub(super) fn compact(&mut self) {
        self.bytes.compact();
        self.names_of.compact();
    }

    /// Returns the memory of the names, in bytes.
    pub(super) fn memory(&self) -> usize {
        self.bytes.capacity()
            + self.names_of.capacity() * size_of::<(Index, u32)>()
            + heap(&self.others)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_name_of_an_inode_is_kept_in_any_order() {
        let mut names = RawNames::default();
        for (index, raw) in [
            (2, "two"),
            (5, ""),
            (9, "nine"),
            (5, "x"),
            (4, "four"),
            (4, "y"),
        ] {
            names.add(index, raw.as_bytes());
        }
        let found = [1, 2, 4, 5, 9, 10].map(|index| names.get(index));
        let expected = [
            None,
            Some("two"),
            Some("four"),
            Some(""),
            Some("nine"),
            None,
        ];
        assert_eq!(found, expected.map(|name| name.map(str::as_bytes)));
        names.remove_from(5);
        names.add(5, b"five");
        let found = [2, 4, 5, 9].map(|index| names.get(index));
        let expected = [Some("two"), Some("four"), Some("five"), None];
        assert_eq!(found, expected.map(|name| name.map(str::as_bytes)));
    }
}
