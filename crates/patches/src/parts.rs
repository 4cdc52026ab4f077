//! A patched file as ranges of the original and of the patch.

use std::io;

use hpimount_containers::io::{Error, ReadAt, Result};

/// Maximum number of parts for one copy within the result. The bytes of a larger copy
/// are kept instead.
const MAX_PIECES: usize = 64;

/// Longest period of a repetition that is kept only once.
const MAX_PERIOD: u64 = 64 << 10;

/// The source of the bytes of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Data {
    /// From this offset of the original on.
    Original(u64),
    /// The patch, or its decoded sections, from this offset on.
    Patch(u64),
    /// The patch from this offset on, XOR the original at the same place, which counts
    /// as 0 after its end.
    Xor(u64),
    /// All bytes are equal.
    Fill(u8),
    /// From this offset of [`Parts::kept`] on.
    Kept(u64),
    /// A repetition of `period` bytes at `at` of [`Parts::kept`], starting at byte
    /// `phase`.
    Pattern { at: u32, period: u32, phase: u32 },
}

impl Data {
    /// Returns the data without its first `count` bytes.
    pub(crate) fn skip(self, count: u64) -> Self {
        match self {
            Self::Original(offset) => Self::Original(offset + count),
            Self::Patch(offset) => Self::Patch(offset + count),
            Self::Xor(offset) => Self::Xor(offset + count),
            Self::Kept(offset) => Self::Kept(offset + count),
            Self::Fill(byte) => Self::Fill(byte),
            Self::Pattern { at, period, phase } => Self::Pattern {
                at,
                period,
                phase: ((u64::from(phase) + count) % u64::from(period)) as u32,
            },
        }
    }
}

/// A range of the result.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Part {
    /// Offset of the first byte in the result.
    start: u64,
    pub(crate) data: Data,
}

/// The sources that parts refer to.
#[derive(Clone, Copy)]
pub(crate) struct Inputs<'a> {
    /// The original.
    pub(crate) original: &'a dyn ReadAt,
    /// The patch, or its decoded sections.
    pub(crate) patch: &'a dyn ReadAt,
}

/// The parts of a result, in order and without gaps; none is empty.
#[derive(Debug, Default)]
pub(crate) struct Parts {
    parts: Vec<Part>,
    len: u64,
    /// Bytes that were computed once.
    kept: Vec<u8>,
    /// Memory limit for parts and kept bytes.
    limit: usize,
}

impl Parts {
    /// Creates an empty list with a memory limit in bytes.
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            limit,
            ..Self::default()
        }
    }

    /// Returns the current length of the result.
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// Returns the memory of the parts, in bytes.
    pub(crate) fn memory(&self) -> usize {
        self.parts.capacity() * size_of::<Part>() + self.kept.capacity()
    }

    /// Releases memory that is not in use.
    pub(crate) fn shrink(&mut self) {
        self.parts.shrink_to_fit();
        self.kept.shrink_to_fit();
    }

    /// Appends a part.
    pub(crate) fn push(&mut self, length: u64, data: Data) -> Result<()> {
        if length == 0 {
            return Ok(());
        }
        let start = self.len;
        let continues = |last: &Part| match data {
            Data::Pattern { .. } => false,
            data => last.data.skip(start - last.start) == data,
        };
        if !self.parts.last().is_some_and(continues) {
            let used = self.memory();
            reserve(&mut self.parts, 1, used, self.limit)?;
            self.parts.push(Part { start, data });
        }
        self.len += length;
        Ok(())
    }

    /// Appends a copy of the result from `from` on, which must be before the end. The
    /// copy may overlap the appended bytes (section 8 of the specification). It
    /// consists of parts of other data, so reads do not follow chains.
    pub(crate) fn copy(&mut self, from: u64, mut length: u64, inputs: Inputs<'_>) -> Result<()> {
        let distance = self.len - from;
        if distance >= length {
            return self.copy_apart(from, length, inputs);
        }
        if distance <= MAX_PERIOD {
            return self.repeat(from, distance, length, inputs);
        }
        while length > 0 {
            let now = length.min(distance);
            self.copy_apart(from, now, inputs)?;
            length -= now;
        }
        Ok(())
    }

    /// Appends a copy that does not overlap the appended bytes.
    fn copy_apart(&mut self, from: u64, length: u64, inputs: Inputs<'_>) -> Result<()> {
        let end = from + length;
        let pieces = self.pieces(from, end).take(MAX_PIECES + 1);
        let pieces: Vec<_> = pieces.collect();
        if pieces.len() > MAX_PIECES {
            let at = self.keep(from, length, inputs)?;
            return self.push(length, Data::Kept(at));
        }
        let mut pieces = pieces.into_iter();
        pieces.try_for_each(|(length, data)| self.push(length, data))
    }

    /// Appends a repetition of the last `period` bytes.
    fn repeat(&mut self, from: u64, period: u64, length: u64, inputs: Inputs<'_>) -> Result<()> {
        let at = self.keep(from, period, inputs)?;
        let bytes = &self.kept[at as usize..];
        let byte = bytes[0];
        if bytes.iter().all(|other| *other == byte) {
            self.kept.truncate(at as usize);
            return self.push(length, Data::Fill(byte));
        }
        let (Ok(at), Ok(period)) = (u32::try_from(at), u32::try_from(period)) else {
            return Err(Error::no_memory(
                "a repetition",
                at as usize,
                u32::MAX as usize,
            ));
        };
        let phase = 0;
        self.push(length, Data::Pattern { at, period, phase })
    }

    /// Appends a range of the result to the kept bytes, and returns their offset there.
    fn keep(&mut self, from: u64, length: u64, inputs: Inputs<'_>) -> Result<u64> {
        let (at, used) = (self.kept.len(), self.memory());
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        reserve(&mut self.kept, length, used, self.limit)?;
        let mut bytes = std::mem::take(&mut self.kept);
        bytes.resize(at + length, 0);
        let (before, new) = bytes.split_at_mut(at);
        let read = self.read_with(inputs, before, new, from);
        self.kept = bytes;
        read.map_err(|error| Error::of_reader(&error, |text| Error::damaged(from, "copy", text)))?;
        Ok(at as u64)
    }

    /// Returns the pieces of the result between two offsets: length and data of each.
    pub(crate) fn pieces(&self, from: u64, end: u64) -> impl Iterator<Item = (u64, Data)> {
        let first = self.parts.partition_point(|part| part.start <= from);
        let first = first.saturating_sub(1);
        (first..self.parts.len()).map_while(move |number| {
            let part = self.parts[number];
            let next = self.parts.get(number + 1);
            let part_end = next.map_or(self.len, |next| next.start);
            let (start, end) = (part.start.max(from), part_end.min(end));
            (start < end).then(|| (end - start, part.data.skip(start - part.start)))
        })
    }

    /// Fills `buf` with the bytes at `offset`, which must be inside of the result.
    pub(crate) fn read(&self, inputs: Inputs<'_>, buf: &mut [u8], offset: u64) -> io::Result<()> {
        self.read_with(inputs, &self.kept, buf, offset)
    }

    fn read_with(
        &self,
        inputs: Inputs<'_>,
        kept: &[u8],
        buf: &mut [u8],
        mut offset: u64,
    ) -> io::Result<()> {
        let end = offset + buf.len() as u64;
        let mut rest = buf;
        for (length, data) in self.pieces(offset, end) {
            let (piece, after) = rest.split_at_mut(length as usize);
            match data {
                Data::Original(from) => inputs.original.read_exact_at(piece, from)?,
                Data::Patch(from) => inputs.patch.read_exact_at(piece, from)?,
                Data::Xor(from) => xor(inputs, piece, from, offset)?,
                Data::Fill(byte) => piece.fill(byte),
                Data::Kept(from) => piece.copy_from_slice(&kept[from as usize..][..piece.len()]),
                Data::Pattern { at, period, phase } => {
                    let pattern = &kept[at as usize..][..period as usize];
                    let bytes = pattern.iter().cycle().skip(phase as usize);
                    piece
                        .iter_mut()
                        .zip(bytes)
                        .for_each(|(to, from)| *to = *from);
                }
            }
            offset += length;
            rest = after;
        }
        Ok(())
    }
}

/// Fills `buf` with the bytes at `from` of the patch, XOR the original at `offset`.
fn xor(inputs: Inputs<'_>, buf: &mut [u8], from: u64, offset: u64) -> io::Result<()> {
    inputs.patch.read_exact_at(buf, from)?;
    let there = inputs.original.len().saturating_sub(offset);
    let there = there.min(buf.len() as u64) as usize;
    let mut bytes = vec![0; there];
    inputs.original.read_exact_at(&mut bytes, offset)?;
    buf.iter_mut().zip(bytes).for_each(|(to, byte)| *to ^= byte);
    Ok(())
}

/// Makes room for `more` items. `used` bytes are taken so far, and `limit` is the
/// maximum.
pub(crate) fn reserve<T>(list: &mut Vec<T>, more: usize, used: usize, limit: usize) -> Result<()> {
    let needed = list.len().saturating_add(more);
    if needed <= list.capacity() {
        return Ok(());
    }
    // Doubles the capacity if it fits, so growing takes linear time.
    let left = limit.saturating_sub(used) / size_of::<T>().max(1);
    let new = (needed - list.capacity()).max(list.capacity().max(16));
    let least = needed - list.capacity();
    if least > left {
        let needed = used.saturating_add(least.saturating_mul(size_of::<T>()));
        return Err(Error::no_memory("the patch", needed, limit));
    }
    list.reserve_exact(new.min(left) + list.capacity() - list.len());
    Ok(())
}
