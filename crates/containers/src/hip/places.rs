//! An index of the data of an archive's assets, for range queries.

use std::collections::BTreeSet;
use std::ops::Range;

use super::AssetOffsets;

/// The places of some assets, sorted, so that no question needs all of them.
pub(super) struct Places {
    /// Starts and ends of the data of assets, each sorted on its own. Assets without
    /// data are in neither.
    starts: Vec<u64>,
    ends: Vec<u64>,
    /// The offsets of all assets with the numbers of these.
    offsets: Vec<(u64, u32)>,
}

impl Places {
    /// Returns the places of these assets, which are given with their numbers.
    pub(super) fn of<'a>(assets: impl Iterator<Item = (u32, &'a AssetOffsets)>) -> Self {
        let mut places = Self {
            starts: Vec::new(),
            ends: Vec::new(),
            offsets: Vec::new(),
        };
        for (number, asset) in assets {
            let range = asset.range();
            places.offsets.push((range.start, number));
            if !range.is_empty() {
                places.starts.push(range.start);
                places.ends.push(range.end);
            }
        }
        places.starts.sort_unstable();
        places.ends.sort_unstable();
        places.offsets.sort_unstable();
        places
    }

    /// Returns how many assets have data in a range, or on both sides of its place
    /// if the range is empty.
    pub(super) fn overlapping(&self, range: &Range<u64>) -> usize {
        let begun = self.starts.partition_point(|&start| start < range.end);
        let ended = self.ends.partition_point(|&end| end <= range.start);
        begun - ended
    }

    /// Returns the assets from an offset on, in the order of their offsets.
    pub(super) fn from(&self, offset: u64) -> impl Iterator<Item = (u64, u32)> {
        let first = self.offsets.partition_point(|&(start, _)| start < offset);
        self.offsets[first..].iter().copied()
    }
}

/// Returns whether a range has bytes of an asset, or is a place inside it if the
/// range is empty, as [`Places::overlapping`] counts.
pub(super) fn overlaps(asset: &AssetOffsets, range: &Range<u64>) -> bool {
    let own = asset.range();
    !own.is_empty() && own.start < range.end && own.end > range.start
}

/// Ranges that do not overlap.
#[derive(Default)]
pub(super) struct Apart {
    /// Their starts and ends.
    ranges: BTreeSet<(u64, u64)>,
}

impl Apart {
    /// Returns whether a range overlaps none of them.
    pub(super) fn has_room(&self, range: &Range<u64>) -> bool {
        let before = self.ranges.range(..(range.end, 0)).next_back();
        before.is_none_or(|&(_, end)| end <= range.start)
    }

    /// Adds a range.
    pub(super) fn add(&mut self, range: &Range<u64>) {
        self.ranges.insert((range.start, range.end));
    }
}
