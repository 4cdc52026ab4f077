//! The room for new data on a disc.

use std::collections::BTreeSet;
use std::iter;
use std::ops::Range;

use super::disc::Disc;
use super::frames::Frames;
use super::path_tables::tables_of;
use crate::changes::Occupied;
use crate::disc::sector::{SECTOR, Sectors, read_user};
use crate::io::{Error, Result, undamaged};
use crate::iso::record::Extent;

/// Maximum cost of the search for empty sectors: each of them costs 1, and each one
/// with data [`FILLED`].
const SEARCH: u64 = 1 << 19;
const FILLED: u64 = 1 << 7;

/// The sectors that are in use, and those that can be added.
pub(super) struct Room {
    /// The sectors of the original.
    sectors: Sectors,
    count: u64,
    /// Those in use, and those that cannot be written, which are `gaps`.
    occupied: Occupied,
    gaps: Vec<Range<u64>>,
    /// The sector after the last one.
    end: u64,
    /// The sector after the last one that the medium can have, if it has an end.
    limit: Option<u64>,
    /// The sector where the search for empty sectors continues.
    searched: u64,
    /// The remaining cost of that search, see [`SEARCH`].
    budget: u64,
}

impl Room {
    /// Returns the room on a disc, where `gaps` cannot be written.
    pub(super) fn new(
        frames: &Frames,
        disc: &Disc,
        gaps: Vec<Range<u64>>,
        limit: Option<u64>,
    ) -> Self {
        let trees = disc.trees.iter();
        let tables = trees.flat_map(|tree| tables_of(&tree.descriptor));
        let used: BTreeSet<(u64, u64)> = disc
            .extents()
            .chain(tables.map(|(_, place)| place))
            .map(Extent::blocks)
            .chain(iter::once(disc.first..disc.descriptors_end))
            .chain(gaps.iter().cloned())
            .map(|range| (range.start, range.end))
            .collect();
        Self {
            sectors: frames.sectors(),
            count: frames.count,
            occupied: Occupied::new(used.into_iter().map(|(start, end)| start..end)),
            end: frames.count,
            gaps,
            limit,
            searched: frames.first,
            budget: SEARCH,
        }
    }

    /// Returns the sector after the last one.
    pub(super) fn end(&self) -> u64 {
        self.end
    }

    /// Returns the first block of an extent if `count` blocks fit in it and nothing
    /// else is there.
    pub(super) fn fits(&self, extent: Extent, count: u64) -> Option<u64> {
        let own = extent.blocks();
        let is_free = self.can_write(extent) && self.occupied.room(&own) != own.start;
        (is_free && !own.is_empty() && count <= own.end - own.start).then_some(own.start)
    }

    /// Returns whether all blocks of an extent can be written.
    pub(super) fn can_write(&self, extent: Extent) -> bool {
        let own = extent.blocks();
        let is_in = |gap: &Range<u64>| gap.start < own.end && own.start < gap.end;
        !self.gaps.iter().any(is_in)
    }

    /// Returns the first of `count` blocks for new data: at the end, or on a medium
    /// that is full among the empty ones.
    ///
    /// # Errors
    /// Returns [`Error::Unsupported`] if there is no room.
    pub(super) fn append(&mut self, count: u64) -> Result<u64> {
        let end = self.end.saturating_add(count);
        if end <= self.limit.unwrap_or(u32::MAX.into()) {
            return Ok(std::mem::replace(&mut self.end, end));
        }
        let Some(limit) = self.limit else {
            return Err(Error::Unsupported("would have too many blocks".to_owned()));
        };
        self.empty(count)?.ok_or_else(|| {
            let text = format!(
                "needs {count} sectors, and so many are not free up to the end of the disc at \
                 sector {limit}: only what needs no more sectors than before has room"
            );
            Error::Unsupported(text)
        })
    }

    /// Returns the first of `count` blocks that nothing refers to and that have only
    /// zeros, and takes them; `None` if there is no such room.
    fn empty(&mut self, count: u64) -> Result<Option<u64>> {
        let mut start = self.occupied.free(self.searched, count, 1);
        let mut block = start;
        while block < start.saturating_add(count) {
            if start.saturating_add(count) > self.count {
                return Ok(None);
            }
            let is_empty = is_empty(&self.sectors, block)?;
            let cost = if is_empty { 1 } else { FILLED };
            let Some(left) = self.budget.checked_sub(cost) else {
                return Ok(None);
            };
            self.budget = left;
            block += 1;
            if !is_empty {
                start = self.occupied.free(block, count, 1);
                block = start;
            }
        }
        self.searched = block;
        Ok(Some(start))
    }
}

/// Returns whether a sector has nothing but zeros; a damaged one has something.
fn is_empty(sectors: &Sectors, number: u64) -> Result<bool> {
    let mut bytes = vec![0; SECTOR as usize];
    let read = undamaged(read_user(sectors, number * SECTOR, &mut bytes))?;
    Ok(read.is_some() && bytes.iter().all(|&byte| byte == 0))
}
