//! A source that is composed of ranges of others.
//!
//! There may be millions of parts, so they are small: sources have numbers, and a part
//! ends where the next one begins.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::ops::Range;
use std::sync::Arc;

use super::{Compact, Origin, ReadAt};

/// The origin of a part's bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// From the source with this number.
    Source(u32),
    /// From the bytes in memory.
    Memory,
    /// All bytes are equal.
    Fill,
}

/// The bytes of a part.
#[derive(Clone, Copy)]
struct Data {
    place: Place,
    /// The offset of the first byte there; the byte itself of a fill.
    at: u64,
}

impl Data {
    fn fill(byte: u8) -> Self {
        let (place, at) = (Place::Fill, byte.into());
        Self { place, at }
    }

    /// Returns the data without its first `count` bytes.
    fn skip(self, count: u64) -> Self {
        match self.place {
            Place::Fill => self,
            place => Self {
                place,
                at: self.at + count,
            },
        }
    }

    /// Returns whether `next` continues this data after `length` bytes.
    fn continues(self, length: u64, next: Self) -> bool {
        self.place == next.place && self.skip(length).at == next.at
    }
}

/// Length from which on bytes are a source of their own, in bytes.
const LARGE: usize = 64 << 10;

/// A source among fewer ones is found without a table of addresses; most have one.
const FEW: usize = 8;

/// The sources and bytes that parts refer to.
#[derive(Default)]
struct Stock {
    sources: Vec<Arc<dyn ReadAt>>,
    /// The number of each source, by its address, once there are [`FEW`].
    numbers: HashMap<usize, u32>,
    /// Bytes of parts that are not large.
    memory: Vec<u8>,
    /// Number of bytes in sources for large ones.
    large: usize,
}

impl Stock {
    /// Adds a source, if it is another one, and returns its bytes from an offset on.
    fn source(&mut self, source: &Arc<dyn ReadAt>, at: u64) -> Data {
        let next = self.sources.len() as u32;
        let number = match next as usize {
            ..FEW => {
                let mut known = (0..).zip(&self.sources);
                let known = known.find(|(_, known)| address(known) == address(source));
                known.map_or(next, |(number, _)| number)
            }
            _ => {
                if self.numbers.is_empty() {
                    let known = self.sources.iter().map(address);
                    self.numbers = known.zip(0..).collect();
                }
                *self.numbers.entry(address(source)).or_insert(next)
            }
        };
        if number == next {
            self.sources.push(source.clone());
        }
        let place = Place::Source(number);
        Data { place, at }
    }

    /// Adds bytes.
    fn bytes(&mut self, bytes: Vec<u8>) -> Data {
        if bytes.len() >= LARGE {
            self.large += bytes.len();
            return self.source(&(Arc::new(bytes) as Arc<dyn ReadAt>), 0);
        }
        let data = Data {
            place: Place::Memory,
            at: self.memory.len() as u64,
        };
        self.memory.make_room(bytes.len());
        self.memory.extend(bytes);
        data
    }

    /// Adds `length` bytes of another stock.
    fn of_other(&mut self, other: &Self, data: Data, length: u64) -> Data {
        match data.place {
            Place::Source(number) => self.source(&other.sources[number as usize], data.at),
            Place::Memory => {
                let start = data.at as usize;
                self.bytes(other.memory[start..start + length as usize].to_vec())
            }
            Place::Fill => data,
        }
    }

    /// Returns the source of data, and its offset there; `None` for a fill.
    fn get(&self, data: Data) -> Option<(&dyn ReadAt, u64)> {
        match data.place {
            Place::Source(number) => Some((&*self.sources[number as usize], data.at)),
            Place::Memory => Some((&self.memory, data.at)),
            Place::Fill => None,
        }
    }
}

fn address(source: &Arc<dyn ReadAt>) -> usize {
    Arc::as_ptr(source).addr()
}

/// A part of a [`Composed`] source, up to the next one.
struct Part {
    /// Position of its first byte.
    start: u64,
    data: Data,
}

/// A source that consists of ranges of other sources, of bytes in memory, and of
/// runs of equal bytes. Ranges of sources are not copied.
#[derive(Default)]
pub struct Composed {
    /// In order; none is empty.
    parts: Vec<Part>,
    len: u64,
    stock: Stock,
}

impl Composed {
    /// Creates a source that is a range of another one; empty if the range ends before it
    /// begins.
    pub fn part(source: &Arc<dyn ReadAt>, range: Range<u64>) -> Self {
        let mut part = Self::default();
        part.append(source, range);
        part
    }

    /// Creates a source that is another one as a whole.
    pub fn whole(source: &Arc<dyn ReadAt>) -> Self {
        Self::part(source, 0..source.len())
    }

    /// Creates a source that is others, one after the other.
    pub fn joined(sources: impl IntoIterator<Item = Arc<dyn ReadAt>>) -> Self {
        let mut joined = Self::default();
        for source in sources {
            joined.append_all(&source);
        }
        joined
    }

    /// Creates a source of bytes.
    pub fn of_bytes(bytes: Vec<u8>) -> Self {
        let mut whole = Self::default();
        whole.append_bytes(bytes);
        whole
    }

    /// Appends a range of a source.
    pub fn append(&mut self, source: &Arc<dyn ReadAt>, range: Range<u64>) {
        if !range.is_empty() {
            let data = self.stock.source(source, range.start);
            self.push(range.end - range.start, data);
        }
    }

    /// Appends a source as a whole.
    pub fn append_all(&mut self, source: &Arc<dyn ReadAt>) {
        self.append(source, 0..source.len());
    }

    /// Appends bytes.
    pub fn append_bytes(&mut self, bytes: Vec<u8>) {
        let length = bytes.len() as u64;
        let data = self.stock.bytes(bytes);
        self.push(length, data);
    }

    /// Appends `length` times the same byte.
    pub fn append_fill(&mut self, byte: u8, length: u64) {
        self.push(length, Data::fill(byte));
    }

    /// Appends the parts of another.
    pub fn append_composed(&mut self, other: Self) {
        if self.len == 0 {
            *self = other;
            return;
        }
        self.stock.large += other.stock.large;
        for (index, part) in other.parts.iter().enumerate() {
            let length = other.end(index) - part.start;
            let data = self.stock.of_other(&other.stock, part.data, length);
            self.push(length, data);
        }
    }

    /// Removes the bytes from `at` on, and returns them. The memory of large appended
    /// bytes counts for both.
    pub fn split_off(&mut self, at: u64) -> Self {
        let mut rest = Self::default();
        rest.stock.large = self.stock.large;
        let first = self.first_part(at);
        for index in first..self.parts.len() {
            let part = &self.parts[index];
            let (start, end) = (part.start.max(at), self.end(index));
            if start < end {
                let data = part.data.skip(start - part.start);
                let data = rest.stock.of_other(&self.stock, data, end - start);
                rest.push(end - start, data);
            }
        }
        self.truncate(at);
        rest
    }

    /// Removes the bytes from `at` on. The memory of appended ones still counts.
    pub fn truncate(&mut self, at: u64) {
        let stay = self.parts.partition_point(|part| part.start < at);
        self.parts.truncate(stay);
        self.len = self.len.min(at);
    }

    /// Gives back the memory for more parts and bytes.
    pub(crate) fn compact(&mut self) {
        self.parts.compact();
        self.stock.memory.compact();
    }

    /// Returns the memory of the list of parts and of appended bytes, in bytes,
    /// without that of sources.
    pub fn memory(&self) -> usize {
        size_of::<Self>()
            + self.parts.capacity() * size_of::<Part>()
            + self.stock.memory.capacity()
            + self.stock.large
            + self.stock.sources.capacity() * size_of::<Arc<dyn ReadAt>>()
            + self.stock.numbers.capacity() * size_of::<(usize, u32)>()
    }

    fn push(&mut self, length: u64, data: Data) {
        if length == 0 {
            return;
        }
        let start = self.len;
        self.len += length;
        let last = self.parts.last();
        if !last.is_some_and(|last| last.data.continues(start - last.start, data)) {
            self.parts.make_room(1);
            self.parts.push(Part { start, data });
        }
    }

    /// Returns the position after a part.
    fn end(&self, index: usize) -> u64 {
        self.parts
            .get(index + 1)
            .map_or(self.len, |next| next.start)
    }

    /// Returns the index of the part with the byte at `offset`.
    fn first_part(&self, offset: u64) -> usize {
        let after = self.parts.partition_point(|part| part.start <= offset);
        after.saturating_sub(1)
    }

    /// Returns the ranges of `range` that are in one part each, with their data.
    fn pieces(&self, range: Range<u64>) -> impl Iterator<Item = (Range<u64>, Data)> {
        let parts = self
            .parts
            .iter()
            .enumerate()
            .skip(self.first_part(range.start));
        let pieces = parts.map(move |(index, part)| {
            let start = range.start.max(part.start);
            let piece = start..range.end.min(self.end(index));
            (piece, part.data.skip(start - part.start))
        });
        pieces.take_while(|(piece, _)| !piece.is_empty())
    }
}

impl ReadAt for Composed {
    fn len(&self) -> u64 {
        self.len
    }

    fn origin_at(&self, offset: u64) -> Origin<'_> {
        match self.pieces(offset..self.len).next() {
            Some((piece, data)) => Origin {
                source: self.stock.get(data),
                length: piece.end - piece.start,
            },
            None => Origin::OWN,
        }
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        self.check_end(buf.len(), offset)?;
        let mut rest = buf;
        for (piece, data) in self.pieces(offset..offset.saturating_add(rest.len() as u64)) {
            let (now, after) = rest.split_at_mut((piece.end - piece.start) as usize);
            match self.stock.get(data) {
                Some((source, at)) => source.read_exact_at(now, at)?,
                None => now.fill(data.at as u8),
            }
            rest = after;
        }
        Ok(())
    }

    fn beneath(&self, range: Range<u64>) -> Option<(&dyn ReadAt, u64)> {
        let (piece, data) = self.pieces(range.clone()).next()?;
        self.stock.get(data).filter(|_| piece == range)
    }

    fn will_need(&self, offset: u64, length: u64) {
        for (piece, data) in self.pieces(offset..offset.saturating_add(length)) {
            if let Some((source, at)) = self.stock.get(data) {
                source.will_need(at, piece.end - piece.start);
            }
        }
    }

    fn unit_at(&self, offset: u64) -> Option<Range<u64>> {
        let index = self.first_part(offset);
        let part = self.parts.get(index)?;
        let length = self.end(index) - part.start;
        let skip = offset.checked_sub(part.start)?;
        let (source, start) = self.stock.get(part.data).filter(|_| skip < length)?;
        // The unit, moved from the source to here, as far as it is in the part.
        let unit = source.unit_at(start + skip)?;
        let to = |at: u64| part.start + at.clamp(start, start + length) - start;
        Some(to(unit.start)..to(unit.end))
    }
}

/// An original with other bytes over parts of it. Where these overlap, the last
/// ones win.
pub struct Patch {
    /// The original is the first source.
    stock: Stock,
    /// The length of the original.
    original: u64,
    /// By position; they do not overlap.
    over: BTreeMap<u64, (u64, Data)>,
    len: u64,
}

impl Patch {
    /// The original from its beginning on.
    const ORIGINAL: Data = Data {
        place: Place::Source(0),
        at: 0,
    };

    /// Begins with the unchanged original.
    pub fn new(original: Arc<dyn ReadAt>) -> Self {
        let mut stock = Stock::default();
        stock.source(&original, 0);
        Self {
            stock,
            original: original.len(),
            over: BTreeMap::new(),
            len: original.len(),
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
        let length = bytes.len() as u64;
        let data = self.stock.bytes(bytes);
        self.insert(at, length, data);
    }

    /// Puts a source as a whole at `at`.
    pub fn put_source(&mut self, at: u64, source: &Arc<dyn ReadAt>) {
        self.put_range(at, source, 0..source.len());
    }

    /// Puts a range of a source at `at`.
    pub fn put_range(&mut self, at: u64, source: &Arc<dyn ReadAt>, range: Range<u64>) {
        if !range.is_empty() {
            let data = self.stock.source(source, range.start);
            self.insert(at, range.end - range.start, data);
        }
    }

    /// Puts `length` times the same byte at `at`.
    pub fn fill(&mut self, at: u64, byte: u8, length: u64) {
        self.insert(at, length, Data::fill(byte));
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
        self.grow(end);
        for start in covered {
            let Some((length, data)) = self.over.remove(&start) else {
                continue;
            };
            if start < at {
                self.over.insert(start, (length.min(at - start), data));
            }
            if start + length > end {
                let rest = (start + length - end, data.skip(end - start));
                self.over.insert(end, rest);
            }
        }
        // Files that are one after the other in both places are one entry.
        if let Some((start, (before, own))) = self.over.range_mut(..at).next_back()
            && start + *before == at
            && own.continues(*before, data)
        {
            *before += length;
            return;
        }
        self.over.insert(at, (length, data));
    }

    /// Returns the result.
    pub fn finish(self) -> Composed {
        let Self {
            stock,
            original,
            over,
            len,
        } = self;
        let mut composed = Composed {
            stock,
            ..Composed::default()
        };
        let keep = |composed: &mut Composed, end: u64| {
            let start = composed.len;
            let kept = end.min(original).saturating_sub(start);
            composed.push(kept, Self::ORIGINAL.skip(start));
            composed.append_fill(0, end - composed.len);
        };
        for (start, (length, data)) in over {
            keep(&mut composed, start);
            composed.push(length, data);
        }
        keep(&mut composed, len);
        composed.compact();
        composed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::{BlockBuffer, layers_of};
    use proptest::prelude::*;

    fn source(bytes: &[u8]) -> Arc<dyn ReadAt> {
        Arc::new(bytes.to_vec())
    }

    fn all(composed: &Composed) -> Vec<u8> {
        let mut bytes = vec![0; composed.len() as usize];
        composed.read_exact_at(&mut bytes, 0).unwrap();
        bytes
    }

    #[test]
    fn neighboring_ranges_of_a_source_become_one_part() {
        let original = source(b"0123456789");
        let mut composed = Composed::default();
        composed.append(&original, 0..3);
        composed.append(&original, 3..5);
        composed.append(&original, 7..7);
        composed.append_fill(b'x', 2);
        composed.append_fill(b'x', 1);
        composed.append_bytes(b"yz".to_vec());
        assert_eq!(composed.parts.len(), 3);
        assert_eq!(all(&composed), b"01234xxxyz");
    }

    #[test]
    fn a_source_is_divided_inside_a_part_between_parts_and_at_its_ends() {
        for at in 0..=12 {
            let mut composed = Composed::default();
            composed.append(&source(b"0123456789"), 1..5);
            composed.append_fill(b'x', 3);
            composed.append_bytes(b"yz".to_vec());
            let whole = all(&composed);
            let mut rest = composed.split_off(at);
            let at = whole.len().min(at as usize);
            assert_eq!(all(&composed), whole[..at], "{at}");
            assert_eq!(all(&rest), whole[at..], "{at}");
            rest.truncate(1);
            assert_eq!(all(&rest), whole[at..(at + 1).min(whole.len())]);
        }
    }

    #[test]
    fn reads_past_the_end_fail() {
        let mut composed = Composed::default();
        composed.append_bytes(b"ab".to_vec());
        assert!(composed.read_exact_at(&mut [0; 2], 1).is_err());
        assert!(composed.read_exact_at(&mut [0], u64::MAX).is_err());
        assert!(composed.read_exact_at(&mut [], u64::MAX).is_ok());
        assert!(Composed::default().read_exact_at(&mut [0], 0).is_err());
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
            let composed = patch.finish();
            prop_assert_eq!(&all(&composed), &expected);
            let (start, end) = (offset.min(expected.len()), (offset + length).min(expected.len()));
            let mut piece = vec![0; end - start];
            composed.read_exact_at(&mut piece, start as u64).unwrap();
            prop_assert_eq!(&piece, &expected[start..end]);
        }
    }

    /// Asserts that all sources with the bytes of a range return the same bytes, and
    /// returns the number of these sources.
    fn layers(source: &dyn ReadAt, range: Range<u64>) -> usize {
        let read = |source: &dyn ReadAt, offset| {
            let mut bytes = vec![0; (range.end - range.start) as usize];
            source.read_exact_at(&mut bytes, offset).map(|()| bytes)
        };
        let expected = read(source, range.start).ok();
        let layers = layers_of(source, range.clone());
        layers
            .inspect(|&(layer, offset)| assert_eq!(read(layer, offset).ok(), expected))
            .count()
    }

    #[test]
    fn the_bytes_of_a_range_are_found_beneath() {
        let whole: Arc<dyn ReadAt> = Arc::new((0..20).collect::<Vec<u8>>());
        let tail: Arc<dyn ReadAt> = Arc::new(Composed::part(&whole, 4..20));
        let buffered: Arc<dyn ReadAt> = Arc::new(BlockBuffer::new(tail));
        let joined = Composed::joined([buffered, whole]);
        assert_eq!(layers(&joined, 3..16), 4);
        assert_eq!(layers(&joined, 17..30), 2);
        assert_eq!(layers(&joined, 15..17), 1, "in two parts");
        assert_eq!(layers(&joined, 30..40), 1, "past the end");
    }

    #[test]
    fn reads_cross_the_ends_of_parts() {
        let parts: [&[u8]; 4] = [b"abc", b"", b"d", b"efgh"];
        let sources = parts.map(|part| Arc::new(part.to_vec()) as Arc<dyn ReadAt>);
        let joined = Composed::joined(sources);
        assert_eq!(joined.len(), 8);
        for start in 0..8 {
            for end in start..=8 {
                let mut bytes = vec![0; end - start];
                joined.read_exact_at(&mut bytes, start as u64).unwrap();
                assert_eq!(bytes, b"abcdefgh"[start..end]);
            }
        }
        assert!(joined.read_exact_at(&mut [0; 2], 7).is_err());
    }
}
