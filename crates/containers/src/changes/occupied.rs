//! The ranges of an image that are in use.

use std::ops::Range;

/// The ranges of an image that are in use, in bytes, sectors or blocks.
pub(crate) struct Occupied {
    /// Sorted by their starts; none is empty. They may overlap.
    ranges: Vec<Range<u64>>,
    /// For each range, the largest end of it and those before it.
    reach: Vec<u64>,
}

impl Occupied {
    /// Creates a list of these ranges.
    pub(crate) fn new(ranges: impl Iterator<Item = Range<u64>>) -> Self {
        let mut ranges: Vec<_> = ranges.filter(|range| !range.is_empty()).collect();
        ranges.sort_by_key(key);
        let mut occupied = Self {
            ranges,
            reach: Vec::new(),
        };
        occupied.update_reach(0);
        occupied
    }

    /// Computes `reach` again from a range on.
    fn update_reach(&mut self, from: usize) {
        self.reach.truncate(from);
        let mut reach = self.reach.last().copied().unwrap_or_default();
        for range in &self.ranges[from..] {
            reach = reach.max(range.end);
            self.reach.push(reach);
        }
    }

    /// Returns the number of ranges that are sorted before this one.
    fn position(&self, range: &Range<u64>) -> usize {
        self.ranges.partition_point(|other| key(other) < key(range))
    }

    /// Returns the end of the free room from the start of `own` on, which is in
    /// the list; its start if another range overlaps it.
    pub(crate) fn room(&self, own: &Range<u64>) -> u64 {
        let at = self.position(own);
        let is_own = self.ranges.get(at) == Some(own);
        let before = at.checked_sub(1).map_or(0, |last| self.reach[last]);
        let behind = self.ranges.partition_point(|range| range.start < own.end);
        let is_shared = before > own.start || behind > at + usize::from(is_own);
        match self.ranges.get(behind) {
            _ if is_shared => own.start,
            Some(next) => next.start,
            None => u64::MAX,
        }
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
            let at = self.position(&range);
            self.ranges.insert(at, range);
            self.update_reach(at);
        }
    }

    /// Removes a range once.
    pub(crate) fn remove(&mut self, range: &Range<u64>) {
        let at = self.position(range);
        if self.ranges.get(at) == Some(range) {
            self.ranges.remove(at);
            self.update_reach(at);
        }
    }
}

/// Returns what ranges are sorted by.
fn key(range: &Range<u64>) -> (u64, u64) {
    (range.start, range.end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_range_has_room_up_to_the_next_one_unless_it_is_shared(
            ranges in prop::collection::vec((0..30_u64, 1..8_u64), 1..12),
            added in prop::collection::vec((0..30_u64, 1..8_u64), 0..4),
            removed in any::<prop::sample::Index>(),
        ) {
            let range = |(start, length): (u64, u64)| start..start + length;
            let mut ranges: Vec<_> = ranges.into_iter().map(range).collect();
            let mut occupied = Occupied::new(ranges.iter().cloned());
            for added in added.into_iter().map(range) {
                occupied.add(added.clone());
                ranges.push(added);
            }
            let removed = ranges.swap_remove(removed.index(ranges.len()));
            occupied.remove(&removed);
            for (number, own) in ranges.iter().enumerate() {
                let others = ranges.iter().enumerate().filter(|&(other, _)| other != number);
                let others: Vec<_> = others.map(|(_, other)| other).collect();
                let is_shared = |other: &&&Range<u64>| other.start < own.end && own.start < other.end;
                let behind = others.iter().map(|other| other.start).filter(|&start| start >= own.end);
                let expected = match others.iter().find(is_shared) {
                    Some(_) => own.start,
                    None => behind.min().unwrap_or(u64::MAX),
                };
                prop_assert_eq!(occupied.room(own), expected);
            }
        }
    }

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
