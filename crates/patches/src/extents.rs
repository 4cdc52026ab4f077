//! A result as ranges of the original and new bytes: the input of the patch writers.

use std::io;
use std::ops::Range;
use std::sync::Arc;

use hpimount_containers::io::{ReadAt, read_error};

use crate::error::{self, Mismatch, Result};

/// Read size for new bytes.
const PIECE: u64 = 64 << 10;

/// Minimum number of bytes equal to the original at the same place that begin a new
/// range of it.
const MIN_EQUAL: usize = 32;

/// Minimum number of equal bytes in a run.
pub(crate) const MIN_RUN: u64 = 16;

/// The origin of an extent.
#[derive(Clone)]
enum Data {
    /// The original, from this offset on.
    Original(u64),
    /// Another source, from this offset on.
    Source(Arc<dyn ReadAt>, u64),
    /// All bytes are equal.
    Fill(u8),
}

/// A result that consists of ranges of an original, new bytes, and repeated bytes.
/// [`write`](mod@crate::write) makes patches from it.
#[derive(Clone, Default)]
pub struct Extents {
    /// Offset and data of each extent, in order and without gaps; none is empty.
    list: Vec<(u64, Data)>,
    len: u64,
}

impl Extents {
    /// Returns the length of the result in bytes.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Returns the number of extents.
    pub(crate) fn count(&self) -> usize {
        self.list.len()
    }

    /// Returns whether the result is empty.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Appends a range of the original.
    pub fn append_original(&mut self, range: Range<u64>) {
        let continues = |data: &Data, length| match data {
            Data::Original(from) => from + length == range.start,
            _ => false,
        };
        let length = range.end.saturating_sub(range.start);
        self.push(length, Data::Original(range.start), continues);
    }

    /// Appends a range of another source: new bytes, which are read when the patch is
    /// written.
    pub fn append_source(&mut self, source: &Arc<dyn ReadAt>, range: Range<u64>) {
        let continues = |data: &Data, length| match data {
            Data::Source(other, from) => Arc::ptr_eq(source, other) && from + length == range.start,
            _ => false,
        };
        let length = range.end.saturating_sub(range.start);
        self.push(length, Data::Source(source.clone(), range.start), continues);
    }

    /// Appends new bytes.
    pub fn append_bytes(&mut self, bytes: Vec<u8>) {
        let length = bytes.len() as u64;
        self.push(length, Data::Source(Arc::new(bytes), 0), |_, _| false);
    }

    /// Appends a range of another result of the same original.
    pub fn append_range(&mut self, other: &Self, range: Range<u64>) {
        let first = other
            .list
            .partition_point(|(start, _)| *start <= range.start);
        for (extent, data) in other.iter_from(first.saturating_sub(1)) {
            let (from, to) = (range.start.max(extent.start), range.end.min(extent.end));
            if from >= to {
                break;
            }
            let (skip, length) = (from - extent.start, to - from);
            match data {
                Data::Original(at) => self.append_original(at + skip..at + skip + length),
                Data::Source(source, at) => {
                    self.append_source(source, at + skip..at + skip + length);
                }
                Data::Fill(byte) => self.append_fill(*byte, length),
            }
        }
    }

    /// Rebases the result on the original of `base`, whose result is the original of
    /// this one.
    #[must_use]
    pub fn over(&self, base: &Self) -> Self {
        let mut whole = Self::default();
        for (extent, data) in self.iter() {
            let length = extent.end - extent.start;
            match data {
                Data::Original(at) => whole.append_range(base, *at..at + length),
                Data::Source(source, at) => whole.append_source(source, *at..at + length),
                Data::Fill(byte) => whole.append_fill(*byte, length),
            }
        }
        whole
    }

    /// Returns whether a range of the result equals the range of the original at
    /// `from`.
    pub fn is_original(&self, range: Range<u64>, from: u64) -> bool {
        let mut part = Self::default();
        part.append_range(self, range);
        match &part.list[..] {
            [] => true,
            [(_, Data::Original(start))] => *start == from,
            _ => false,
        }
    }

    /// Appends `length` times the same byte.
    pub fn append_fill(&mut self, byte: u8, length: u64) {
        let continues = |data: &Data, _| matches!(data, Data::Fill(other) if *other == byte);
        self.push(length, Data::Fill(byte), continues);
    }

    /// Appends an extent, or extends the last one. `continues` gets its data and
    /// length.
    fn push(&mut self, length: u64, data: Data, continues: impl Fn(&Data, u64) -> bool) {
        if length == 0 {
            return;
        }
        let last = self.list.last();
        if !last.is_some_and(|(start, data)| continues(data, self.len - start)) {
            self.list.push((self.len, data));
        }
        self.len += length;
    }

    /// Returns the range of each extent in the result, and its data.
    fn iter(&self) -> impl Iterator<Item = (Range<u64>, &Data)> {
        self.iter_from(0)
    }

    /// Returns the extents from this number on.
    fn iter_from(&self, first: usize) -> impl Iterator<Item = (Range<u64>, &Data)> {
        let list = &self.list[first..];
        let starts = list.iter().map(|(start, _)| *start);
        let ends = starts.clone().skip(1).chain([self.len]);
        let data = list.iter().map(|(_, data)| data);
        starts.zip(ends).map(|(start, end)| start..end).zip(data)
    }

    /// Returns the ranges of the original, each with its offset in the result.
    pub(crate) fn originals(&self) -> impl Iterator<Item = (u64, Range<u64>)> {
        self.iter().filter_map(|(range, data)| match data {
            Data::Original(from) => Some((range.start, *from..from + (range.end - range.start))),
            _ => None,
        })
    }

    /// Checks that the original has all ranges.
    pub(crate) fn check(&self, original: &dyn ReadAt) -> Result<()> {
        let needed = self.originals().map(|(_, range)| range.end).max();
        match needed.filter(|&needed| needed > original.len()) {
            None => Ok(()),
            Some(needed) => Err(Mismatch::TooShort {
                needed,
                found: original.len(),
            }
            .into()),
        }
    }

    /// Returns the byte at `offset`, which must be inside of the result.
    pub(crate) fn byte(&self, original: &dyn ReadAt, offset: u64) -> Result<u8> {
        let after = self.list.partition_point(|(start, _)| *start <= offset);
        let (start, data) = &self.list[after.saturating_sub(1)];
        let mut byte = [0];
        read(original, data, offset - start, &mut byte)?;
        Ok(byte[0])
    }

    /// Calls `visit` with pieces of the result in order. New bytes that equal the
    /// original at the same place become ranges of it, and repeated bytes become runs.
    pub(crate) fn visit(
        &self,
        original: &dyn ReadAt,
        mut visit: impl FnMut(Piece<'_>) -> Result<()>,
    ) -> Result<()> {
        self.check(original)?;
        let mut is_changed = self.len != original.len();
        for (range, data) in self.iter() {
            let mut visit = |offset, piece: Piece<'_>| {
                is_changed |= piece.from != From::Original(offset);
                visit(piece)
            };
            let length = range.end - range.start;
            match data {
                Data::Original(from) => {
                    visit(range.start, Piece::of(length, From::Original(*from)))?
                }
                Data::Fill(byte) if length >= MIN_RUN => {
                    visit(range.start, Piece::of(length, From::Run(*byte)))?;
                }
                _ => compare(original, range, data, &mut visit)?,
            }
        }
        match is_changed {
            true => Ok(()),
            false => Err(error::Error::Unchanged),
        }
    }

    /// Calls `visit` with each run of bytes that differ from the original at the same
    /// place, and its offset, in order. Merges runs with at most `gap` equal bytes
    /// between them.
    pub(crate) fn changes(
        &self,
        original: &dyn ReadAt,
        gap: usize,
        mut visit: impl FnMut(u64, &[u8]) -> Result<()>,
    ) -> Result<()> {
        self.check(original)?;
        let (mut new, mut old, mut run) = (Vec::new(), Vec::new(), Run::default());
        for (range, data) in self.iter() {
            if matches!(data, Data::Original(from) if *from == range.start) {
                run.finish(&mut visit)?;
                continue;
            }
            for (offset, length) in steps(range.clone()) {
                new.resize(length, 0);
                read(original, data, offset - range.start, &mut new)?;
                read_old(original, offset, length, &mut old)?;
                for (number, byte) in new.iter().enumerate() {
                    let is_equal = old.get(number) == Some(byte);
                    run.add(offset + number as u64, *byte, is_equal, gap, &mut visit)?;
                }
            }
        }
        run.finish(&mut visit)
    }
}

/// A run of changed bytes.
#[derive(Default)]
struct Run {
    start: u64,
    bytes: Vec<u8>,
    /// Number of trailing bytes that equal the original.
    equal: usize,
}

impl Run {
    /// Adds a byte, and visits the run if it has ended.
    fn add(
        &mut self,
        offset: u64,
        byte: u8,
        is_equal: bool,
        gap: usize,
        visit: &mut impl FnMut(u64, &[u8]) -> Result<()>,
    ) -> Result<()> {
        if is_equal && (self.bytes.is_empty() || self.equal == gap) {
            return self.finish(visit);
        }
        if self.bytes.len() as u64 >= PIECE && !is_equal {
            self.finish(visit)?;
        }
        if self.bytes.is_empty() {
            self.start = offset;
        }
        self.bytes.push(byte);
        self.equal = if is_equal { self.equal + 1 } else { 0 };
        Ok(())
    }

    fn finish(&mut self, visit: &mut impl FnMut(u64, &[u8]) -> Result<()>) -> Result<()> {
        self.bytes.truncate(self.bytes.len() - self.equal);
        self.equal = 0;
        if !self.bytes.is_empty() {
            visit(self.start, &self.bytes)?;
        }
        self.bytes.clear();
        Ok(())
    }
}

/// A piece of the result.
pub(crate) struct Piece<'a> {
    pub(crate) length: u64,
    pub(crate) from: From,
    /// The bytes, if they were read; new bytes always are.
    pub(crate) bytes: Option<&'a [u8]>,
}

/// The origin of a piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum From {
    /// The original, from this offset on.
    Original(u64),
    /// All bytes are equal.
    Run(u8),
    /// New bytes.
    New,
}

impl Piece<'_> {
    fn of(length: u64, from: From) -> Self {
        let bytes = None;
        Self {
            length,
            from,
            bytes,
        }
    }
}

/// Visits an extent of new bytes in pieces: ranges equal to the original, runs, and the
/// rest.
fn compare(
    original: &dyn ReadAt,
    range: Range<u64>,
    data: &Data,
    visit: &mut dyn FnMut(u64, Piece<'_>) -> Result<()>,
) -> Result<()> {
    let (mut new, mut old) = (Vec::new(), Vec::new());
    for (offset, length) in steps(range.clone()) {
        new.resize(length, 0);
        read(original, data, offset - range.start, &mut new)?;
        read_old(original, offset, length, &mut old)?;
        divide(&new, &old, |start, end, from| {
            let from = match from {
                From::Original(_) => From::Original(offset + start as u64),
                other => other,
            };
            let piece = Piece {
                length: (end - start) as u64,
                from,
                bytes: Some(&new[start..end]),
            };
            visit(offset + start as u64, piece)
        })?;
    }
    Ok(())
}

/// Divides new bytes into ranges equal to the original, which may be shorter, runs, and
/// the rest. Calls `visit` with the start, the end and the origin of each.
fn divide(
    new: &[u8],
    old: &[u8],
    mut visit: impl FnMut(usize, usize, From) -> Result<()>,
) -> Result<()> {
    // The ends of the equal bytes and of the run at `position`.
    let (mut start, mut position, mut equal, mut run) = (0, 0, 0, 0);
    while position < new.len() {
        if equal <= position {
            let pairs = new[position..]
                .iter()
                .zip(old.get(position..).unwrap_or(&[]));
            equal = position + pairs.take_while(|(new, old)| new == old).count();
        }
        if run <= position {
            let byte = new[position];
            run = position
                + new[position..]
                    .iter()
                    .take_while(|other| **other == byte)
                    .count();
        }
        let (end, from) = if equal - position >= MIN_EQUAL {
            (equal, From::Original(0))
        } else if (run - position) as u64 >= MIN_RUN {
            (run, From::Run(new[position]))
        } else {
            position += 1;
            continue;
        };
        if start < position {
            visit(start, position, From::New)?;
        }
        visit(position, end, from)?;
        (start, position) = (end, end);
    }
    match start < position {
        true => visit(start, position, From::New),
        false => Ok(()),
    }
}

/// Splits a range into pieces: offset and length of each.
fn steps(range: Range<u64>) -> impl Iterator<Item = (u64, usize)> {
    let starts = (range.start..range.end).step_by(PIECE as usize);
    starts.map(move |start| (start, PIECE.min(range.end - start) as usize))
}

/// Fills `buf` with the bytes at `offset` of an extent.
fn read(original: &dyn ReadAt, data: &Data, offset: u64, buf: &mut [u8]) -> Result<()> {
    let (source, offset): (&dyn ReadAt, u64) = match data {
        Data::Original(from) => (original, from + offset),
        Data::Source(source, from) => (&**source, from + offset),
        Data::Fill(byte) => {
            buf.fill(*byte);
            return Ok(());
        }
    };
    read_at(source, buf, offset)
}

/// Fills `buf` with the bytes at `offset` of a source.
pub(crate) fn read_at(source: &dyn ReadAt, buf: &mut [u8], offset: u64) -> Result<()> {
    let length = buf.len() as u64;
    source
        .read_exact_at(buf, offset)
        .map_err(|cause| read_error(offset, length, cause).into())
}

/// Reads up to `length` bytes of the original at `offset`.
fn read_old(original: &dyn ReadAt, offset: u64, length: usize, old: &mut Vec<u8>) -> Result<()> {
    let there = original.len().saturating_sub(offset).min(length as u64);
    old.resize(there as usize, 0);
    read_at(original, old, offset)
}

/// Returns the error of the output of a patch.
pub(crate) fn output(error: io::Error) -> error::Error {
    error::Error::Output(Arc::new(error))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the bytes of a result, read individually.
    fn bytes(extents: &Extents, original: &[u8]) -> Vec<u8> {
        let original = original.to_vec();
        let byte = |offset| extents.byte(&original, offset).unwrap();
        (0..extents.len()).map(byte).collect()
    }

    fn base() -> Extents {
        let mut base = Extents::default();
        base.append_original(2..5);
        base.append_bytes(b"xyz".to_vec());
        base.append_fill(b'-', 2);
        base
    }

    #[test]
    fn ranges_of_a_result_are_parts_of_its_extents() {
        let whole = b"234xyz--";
        assert_eq!(bytes(&base(), b"0123456789"), whole);
        for start in 0..=whole.len() {
            for end in start..=whole.len() {
                let mut part = Extents::default();
                part.append_range(&base(), start as u64..end as u64);
                assert_eq!(bytes(&part, b"0123456789"), whole[start..end]);
            }
        }
        let mut none = Extents::default();
        none.append_range(&Extents::default(), 0..9);
        none.append_range(&base(), 8..9);
        assert!(none.is_empty());
    }

    #[test]
    fn a_result_over_another_one_has_ranges_of_its_original() {
        let mut second = Extents::default();
        second.append_original(1..7);
        second.append_bytes(b"new".to_vec());
        second.append_fill(b'.', 2);
        second.append_original(0..2);
        let whole = second.over(&base());
        assert_eq!(bytes(&whole, b"0123456789"), b"34xyz-new..23");
        let originals: Vec<_> = whole.originals().collect();
        assert_eq!(originals, [(0, 3..5), (11, 2..4)]);
    }
}
