//! Path tables: the directories of a tree by level, each with its place and the number
//! of its parent (ECMA-119 9.4).

use std::collections::HashMap;

use super::disc::{DirectoryId, Disc, both};
use crate::io::{Error, Result};
use crate::iso::record::{Extent, be32, le32};

/// Offset of the size of the tables in a volume descriptor.
const SIZE: usize = 132;

/// Length of a row before its name.
const ROW: usize = 8;

/// One of the tables that a volume descriptor has a place for. They differ in the byte
/// order of their numbers only.
#[derive(Debug, Clone, Copy)]
pub(super) struct PathTable {
    /// Offset of its place in the descriptor.
    at: usize,
    is_big: bool,
}

const fn table(at: usize, is_big: bool) -> PathTable {
    PathTable { at, is_big }
}

/// The table in each byte order, each followed by an optional copy.
const TABLES: [PathTable; 4] = [
    table(140, false),
    table(144, false),
    table(148, true),
    table(152, true),
];

/// A row: a directory, the number of its parent's row from 1 on, and its identifier.
pub(super) type Row = (DirectoryId, usize, Vec<u8>);

/// Returns the tables of a descriptor, and where they are.
pub(super) fn tables_of(descriptor: &[u8]) -> impl Iterator<Item = (PathTable, Extent)> {
    let size = le32(descriptor, SIZE);
    TABLES.iter().filter_map(move |&table| {
        let block = match table.is_big {
            true => be32(descriptor, table.at),
            false => le32(descriptor, table.at),
        };
        (block != 0).then_some((table, Extent { block, size }))
    })
}

/// Sets the size of the tables of a descriptor.
pub(super) fn set_size(descriptor: &mut [u8], size: u32) {
    descriptor[SIZE..][..8].copy_from_slice(&both(size));
}

/// Returns the rows of a tree, sorted by level, parent, and identifier.
pub(super) fn rows(disc: &Disc, root: DirectoryId) -> Vec<Row> {
    let mut rows = vec![(root, 1, vec![0])];
    let mut level = 0..1;
    while !level.is_empty() {
        let mut next = Vec::new();
        for number in level.clone() {
            let directory = disc.dir(rows[number].0);
            let mut inner: Vec<_> = directory
                .records
                .iter()
                .map(|&entry| disc.record(entry))
                .filter_map(|record| Some((record.directory?, number + 1, record.id().to_vec())))
                .collect();
            inner.sort_by(|one, other| one.2.cmp(&other.2));
            next.extend(inner);
        }
        level = rows.len()..rows.len() + next.len();
        rows.extend(next);
    }
    rows
}

impl PathTable {
    /// Sets the place of the table in its descriptor.
    pub(super) fn set_place(self, descriptor: &mut [u8], block: u32) {
        descriptor[self.at..self.at + 4].copy_from_slice(&self.word(block));
    }

    /// Returns the bytes of the table with these rows.
    ///
    /// # Errors
    /// Returns [`Error::Unsupported`] if there are more parents than can be numbered.
    pub(super) fn encode(self, disc: &Disc, rows: &[Row]) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        for (id, parent, name) in rows {
            let Ok(parent) = u16::try_from(*parent) else {
                let text = "would have more than 65535 directories";
                return Err(Error::Unsupported(text.to_owned()));
            };
            let parent = match self.is_big {
                true => parent.to_be_bytes(),
                false => parent.to_le_bytes(),
            };
            bytes.extend([name.len() as u8, 0]);
            bytes.extend(self.word(disc.dir(*id).place.block));
            bytes.extend(parent);
            bytes.extend(name);
            bytes.resize(bytes.len().next_multiple_of(2), 0);
        }
        Ok(bytes)
    }

    /// Changes the places of directories in the bytes of the table; `moved` has the new
    /// blocks by the old ones.
    pub(super) fn update(self, bytes: &mut [u8], moved: &HashMap<u32, u32>) {
        let read = if self.is_big { be32 } else { le32 };
        let mut at = 0;
        while at + ROW <= bytes.len() && bytes[at] > 0 {
            if let Some(&new) = moved.get(&read(bytes, at + 2)) {
                bytes[at + 2..at + 6].copy_from_slice(&self.word(new));
            }
            at += ROW + usize::from(bytes[at]).next_multiple_of(2);
        }
    }

    fn word(self, number: u32) -> [u8; 4] {
        match self.is_big {
            true => number.to_be_bytes(),
            false => number.to_le_bytes(),
        }
    }
}
