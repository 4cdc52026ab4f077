//! A source that is composed of ranges of others.

use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::sync::Arc;

use crate::io::{Origin, ReadAt};

/// Where the bytes of a part come from.
#[derive(Clone)]
enum Data {
    /// From a source, from this offset on.
    Source(Arc<dyn ReadAt>, u64),
    /// All bytes are equal.
    Fill(u8),
}

impl Data {
    /// Returns the data without its first `count` bytes.
    fn skip(&self, count: u64) -> Self {
        match self {
            Self::Source(source, offset) => Self::Source(source.clone(), offset + count),
            Self::Fill(byte) => Self::Fill(*byte),
        }
    }

    /// Returns whether `next` continues this data after `length` bytes.
    fn continues(&self, length: u64, next: &Self) -> bool {
        match (self, next) {
            (Self::Source(one, start), Self::Source(other, offset)) => {
                Arc::ptr_eq(one, other) && start + length == *offset
            }
            (Self::Fill(one), Self::Fill(other)) => one == other,
            _ => false,
        }
    }
}

/// A range of a [`Spliced`] source.
struct Part {
    /// Position of its first byte.
    start: u64,
    length: u64,
    data: Data,
}

/// A source that consists of ranges of other sources, of bytes in memory, and of
/// runs of equal bytes. Nothing is copied.
#[derive(Default)]
pub struct Spliced {
    /// In order and without gaps; none is empty.
    parts: Vec<Part>,
    len: u64,
    /// Number of bytes that were appended from memory.
    kept: usize,
}

impl Spliced {
    /// Appends a range of a source.
    pub fn append(&mut self, source: &Arc<dyn ReadAt>, range: Range<u64>) {
        let length = range.end.saturating_sub(range.start);
        self.push(length, Data::Source(source.clone(), range.start));
    }

    /// Appends a source as a whole.
    pub fn append_all(&mut self, source: &Arc<dyn ReadAt>) {
        self.append(source, 0..source.len());
    }

    /// Appends bytes.
    pub fn append_bytes(&mut self, bytes: Vec<u8>) {
        self.kept += bytes.len();
        let source: Arc<dyn ReadAt> = Arc::new(bytes);
        self.append_all(&source);
    }

    /// Appends `length` times the same byte.
    pub fn append_fill(&mut self, byte: u8, length: u64) {
        self.push(length, Data::Fill(byte));
    }

    /// Appends the parts of another.
    pub fn append_spliced(&mut self, other: Self) {
        self.kept += other.kept;
        for part in other.parts {
            self.push(part.length, part.data);
        }
    }

    /// Removes the bytes from `at` on, and returns them. The memory of all appended bytes
    /// counts for the removed part.
    pub fn split_off(&mut self, at: u64) -> Self {
        let mut rest = Self {
            kept: std::mem::take(&mut self.kept),
            ..Self::default()
        };
        let after = self.parts.partition_point(|part| part.start < at);
        if let Some(last) = self.parts[..after].last_mut() {
            let stays = last.length.min(at - last.start);
            rest.push(last.length - stays, last.data.skip(stays));
            last.length = stays;
        }
        for part in self.parts.drain(after..) {
            rest.push(part.length, part.data);
        }
        self.len = self.len.min(at);
        rest
    }

    /// Removes the bytes from `at` on. The memory of appended ones still counts.
    pub fn truncate(&mut self, at: u64) {
        let rest = self.split_off(at);
        self.kept = rest.kept;
    }

    /// Returns the memory of the list of parts and of appended bytes, in bytes,
    /// without that of sources.
    pub fn memory(&self) -> usize {
        size_of::<Self>() + self.parts.capacity() * size_of::<Part>() + self.kept
    }

    fn push(&mut self, length: u64, data: Data) {
        if length == 0 {
            return;
        }
        let start = self.len;
        self.len += length;
        match self.parts.last_mut() {
            Some(last) if last.data.continues(last.length, &data) => last.length += length,
            _ => self.parts.push(Part {
                start,
                length,
                data,
            }),
        }
    }

    /// Returns the parts from the one with the byte at `offset` on.
    fn parts_from(&self, offset: u64) -> &[Part] {
        let after = self.parts.partition_point(|part| part.start <= offset);
        &self.parts[after.saturating_sub(1)..]
    }
}

impl ReadAt for Spliced {
    fn len(&self) -> u64 {
        self.len
    }

    fn origin_at(&self, offset: u64) -> Origin<'_> {
        let Some(part) = self.parts_from(offset).first() else {
            return Origin::OWN;
        };
        let skip = offset - part.start;
        let source: Option<(&dyn ReadAt, u64)> = match &part.data {
            Data::Source(source, start) => Some((&**source, start + skip)),
            Data::Fill(_) => None,
        };
        let length = part.length - skip;
        Origin { source, length }
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        self.check_end(buf.len(), offset)?;
        let (mut rest, mut offset) = (buf, offset);
        for part in self.parts_from(offset) {
            if rest.is_empty() {
                break;
            }
            let skip = offset - part.start;
            let length = (part.length - skip).min(rest.len() as u64) as usize;
            let (piece, after) = rest.split_at_mut(length);
            match &part.data {
                Data::Source(source, start) => source.read_exact_at(piece, start + skip)?,
                Data::Fill(byte) => piece.fill(*byte),
            }
            rest = after;
            offset += length as u64;
        }
        Ok(())
    }

    fn will_need(&self, offset: u64, length: u64) {
        let end = offset.saturating_add(length);
        for part in self.parts_from(offset) {
            let (from, to) = (part.start.max(offset), (part.start + part.length).min(end));
            if from >= to {
                break;
            }
            if let Data::Source(source, start) = &part.data {
                source.will_need(start + (from - part.start), to - from);
            }
        }
    }

    fn unit_at(&self, offset: u64) -> Option<Range<u64>> {
        let part = self.parts_from(offset).first()?;
        let skip = offset
            .checked_sub(part.start)
            .filter(|&skip| skip < part.length)?;
        let Data::Source(source, start) = &part.data else {
            return None;
        };
        // The unit, moved from the source to here, as far as it is in the part.
        let unit = source.unit_at(start + skip)?;
        let to = |at: u64| part.start + at.clamp(*start, start + part.length) - start;
        Some(to(unit.start)..to(unit.end))
    }
}

/// An original with other bytes over parts of it. Where these overlap, the last
/// ones win.
pub struct Patch {
    original: Arc<dyn ReadAt>,
    /// By position; they do not overlap.
    over: BTreeMap<u64, (u64, Data)>,
    len: u64,
    /// Number of bytes that were put from memory.
    kept: usize,
}

impl Patch {
    /// Begins with the unchanged original.
    pub fn new(original: Arc<dyn ReadAt>) -> Self {
        Self {
            len: original.len(),
            original,
            over: BTreeMap::new(),
            kept: 0,
        }
    }

    /// Returns the length of the result in bytes.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Returns whether the result is empty.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Puts bytes at `at`.
    pub fn put(&mut self, at: u64, bytes: Vec<u8>) {
        self.kept += bytes.len();
        let length = bytes.len() as u64;
        self.insert(at, length, Data::Source(Arc::new(bytes), 0));
    }

    /// Puts a source as a whole at `at`.
    pub fn put_source(&mut self, at: u64, source: &Arc<dyn ReadAt>) {
        self.insert(at, source.len(), Data::Source(source.clone(), 0));
    }

    /// Puts a range of a source at `at`.
    pub fn put_range(&mut self, at: u64, source: &Arc<dyn ReadAt>, range: Range<u64>) {
        let length = range.end.saturating_sub(range.start);
        self.insert(at, length, Data::Source(source.clone(), range.start));
    }

    /// Puts `length` times the same byte at `at`.
    pub fn fill(&mut self, at: u64, byte: u8, length: u64) {
        self.insert(at, length, Data::Fill(byte));
    }

    /// Makes the result at least this long, with zeros at the end.
    pub fn grow(&mut self, len: u64) {
        self.len = self.len.max(len);
    }

    fn insert(&mut self, at: u64, length: u64, data: Data) {
        if length == 0 {
            return;
        }
        let end = at.saturating_add(length);
        let before = self.over.range(..at).next_back();
        let first = before.map_or(at, |(&start, _)| start);
        let covered: Vec<u64> = self
            .over
            .range(first..end)
            .map(|(&start, _)| start)
            .collect();
        for start in covered {
            let Some((length, data)) = self.over.remove(&start) else {
                continue;
            };
            if start < at {
                self.over
                    .insert(start, (length.min(at - start), data.clone()));
            }
            if start + length > end {
                let rest = (start + length - end, data.skip(end - start));
                self.over.insert(end, rest);
            }
        }
        self.over.insert(at, (length, data));
        self.grow(end);
    }

    /// Returns the result.
    pub fn finish(self) -> Spliced {
        let Self {
            original,
            over,
            len,
            kept,
        } = self;
        let mut spliced = Spliced {
            kept,
            ..Spliced::default()
        };
        let keep = |spliced: &mut Spliced, end: u64| {
            spliced.append(&original, spliced.len..end.min(original.len()));
            spliced.append_fill(0, end - spliced.len);
        };
        for (start, (length, data)) in over {
            keep(&mut spliced, start);
            spliced.push(length, data);
        }
        keep(&mut spliced, len);
        spliced
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn source(bytes: &[u8]) -> Arc<dyn ReadAt> {
        Arc::new(bytes.to_vec())
    }

    fn all(spliced: &Spliced) -> Vec<u8> {
        let mut bytes = vec![0; spliced.len() as usize];
        spliced.read_exact_at(&mut bytes, 0).unwrap();
        bytes
    }

    #[test]
    fn neighboring_ranges_of_a_source_become_one_part() {
        let original = source(b"0123456789");
        let mut spliced = Spliced::default();
        spliced.append(&original, 0..3);
        spliced.append(&original, 3..5);
        spliced.append(&original, 7..7);
        spliced.append_fill(b'x', 2);
        spliced.append_fill(b'x', 1);
        spliced.append_bytes(b"yz".to_vec());
        assert_eq!(spliced.parts.len(), 3);
        assert_eq!(all(&spliced), b"01234xxxyz");
    }

    #[test]
    fn a_source_is_divided_inside_a_part_between_parts_and_at_its_ends() {
        for at in 0..=12 {
            let mut spliced = Spliced::default();
            spliced.append(&source(b"0123456789"), 1..5);
            spliced.append_fill(b'x', 3);
            spliced.append_bytes(b"yz".to_vec());
            let whole = all(&spliced);
            let mut rest = spliced.split_off(at);
            let at = whole.len().min(at as usize);
            assert_eq!(all(&spliced), whole[..at], "{at}");
            assert_eq!(all(&rest), whole[at..], "{at}");
            assert_eq!((spliced.kept, rest.kept), (0, 2));
            rest.truncate(1);
            assert_eq!(all(&rest), whole[at..(at + 1).min(whole.len())]);
            assert_eq!(rest.kept, 2);
        }
    }

    #[test]
    fn reads_past_the_end_fail() {
        let mut spliced = Spliced::default();
        spliced.append_bytes(b"ab".to_vec());
        assert!(spliced.read_exact_at(&mut [0; 2], 1).is_err());
        assert!(spliced.read_exact_at(&mut [0], u64::MAX).is_err());
        assert!(spliced.read_exact_at(&mut [], u64::MAX).is_ok());
        assert!(Spliced::default().read_exact_at(&mut [0], 0).is_err());
    }

    #[test]
    fn a_patch_past_the_end_leaves_zeros_before_it() {
        let mut patch = Patch::new(source(b"ab"));
        patch.put(4, b"c".to_vec());
        patch.grow(6);
        assert_eq!(all(&patch.finish()), b"ab\0\0c\0");
    }

    proptest! {
        #[test]
        fn the_last_of_overlapping_patches_wins(
            original in prop::collection::vec(any::<u8>(), 0..40),
            puts in prop::collection::vec((0..50u64, prop::collection::vec(any::<u8>(), 0..20)), 0..12),
            (offset, length) in (0..70usize, 0..70usize),
        ) {
            let mut expected = original.clone();
            let mut patch = Patch::new(source(&original));
            for (at, bytes) in puts {
                let (start, end) = (at as usize, at as usize + bytes.len());
                if !bytes.is_empty() {
                    expected.resize(expected.len().max(end), 0);
                    expected[start..end].copy_from_slice(&bytes);
                }
                patch.put(at, bytes);
            }
            let spliced = patch.finish();
            prop_assert_eq!(&all(&spliced), &expected);
            let (start, end) = (offset.min(expected.len()), (offset + length).min(expected.len()));
            let mut piece = vec![0; end - start];
            spliced.read_exact_at(&mut piece, start as u64).unwrap();
            prop_assert_eq!(&piece, &expected[start..end]);
        }
    }
}
