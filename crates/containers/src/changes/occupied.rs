//! The ranges of an image that are in use.

use std::ops::Range;

/// The ranges of an image that are in use, in bytes, sectors or blocks.
pub(crate) struct Occupied {
    /// Sorted by their starts; none is empty. They may overlap.
    ranges: Vec<Range<u64>>,
}

impl Occupied {
    /// Creates a list of these ranges.
    pub(crate) fn new(ranges: impl Iterator<Item = Range<u64>>) -> Self {
        let mut ranges: Vec<_> = ranges.filter(|range| !range.is_empty()).collect();
        ranges.sort_by_key(|range| (range.start, range.end));
        Self { ranges }
    }

    /// Returns the end of the free room from the start of `own` on, which is in
    /// the list; its start if another range overlaps it.
    pub(crate) fn room(&self, own: &Range<u64>) -> u64 {
        let mut is_own_left = true;
        let mut others = self.ranges.iter().filter(|&range| {
            let is_own = is_own_left && range == own;
            is_own_left &= !is_own;
            !is_own
        });
        let mut end = u64::MAX;
        let is_shared = others.any(|other| {
            if other.start >= own.end {
                end = end.min(other.start);
            }
            other.start < own.end && own.start < other.end
        });
        if is_shared { own.start } else { end }
    }

    /// Returns the start of the next range from `offset` on.
    pub(crate) fn next(&self, offset: u64) -> u64 {
        let after = self.ranges.partition_point(|range| range.start < offset);
        self.ranges.get(after).map_or(u64::MAX, |range| range.start)
    }

    /// Returns the first multiple of `alignment` from `from` on that begins a
    /// free range of `length`, which may be after everything.
    pub(crate) fn free(&self, from: u64, length: u64, alignment: u64) -> u64 {
        let mut at = from.next_multiple_of(alignment);
        for range in &self.ranges {
            if at.saturating_add(length) <= range.start {
                break;
            }
            at = at.max(range.end.next_multiple_of(alignment));
        }
        at
    }

    /// Adds a range.
    pub(crate) fn add(&mut self, range: Range<u64>) {
        if !range.is_empty() {
            let key = (range.start, range.end);
            let at = self
                .ranges
                .partition_point(|other| (other.start, other.end) < key);
            self.ranges.insert(at, range);
        }
    }

    /// Removes a range once.
    pub(crate) fn remove(&mut self, range: &Range<u64>) {
        if let Some(at) = self.ranges.iter().position(|other| other == range) {
            self.ranges.remove(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_room_of_a_range_ends_with_the_next_one() {
        let occupied = Occupied::new([10..20, 30..40, 5..5, 35..50].into_iter());
        assert_eq!(occupied.room(&(10..20)), 30);
        assert_eq!(occupied.room(&(30..40)), 30);
        let mut twice = Occupied::new([1..2, 1..2].into_iter());
        assert_eq!(twice.room(&(1..2)), 1);
        twice.remove(&(1..2));
        assert_eq!(twice.room(&(1..2)), u64::MAX);
    }

    #[test]
    fn free_ranges_are_aligned_and_may_be_behind_everything() {
        let mut occupied = Occupied::new([0..10, 20..30].into_iter());
        assert_eq!(occupied.free(0, 8, 4), 12);
        assert_eq!(occupied.free(0, 9, 4), 32);
        occupied.add(12..16);
        assert_eq!(occupied.free(0, 4, 4), 16);
        assert_eq!(occupied.next(13), 20);
        assert_eq!(occupied.next(21), u64::MAX);
    }
}
