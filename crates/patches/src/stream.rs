//! Sequential, buffered reads of a range of a patch.

use std::io::{BufReader, Read};
use std::ops::Range;
use std::sync::Arc;

use hpimount_containers::io::{Error, ReadAt, Result, SourceReader};

/// A range of a source for sequential reading. Errors carry the offset in the source.
pub(crate) struct Stream {
    reader: BufReader<SourceReader>,
    offset: u64,
    end: u64,
}

impl Stream {
    /// Reads a range of a source with a buffer of `capacity` bytes.
    pub(crate) fn new(source: &Arc<dyn ReadAt>, range: Range<u64>, capacity: usize) -> Self {
        let length = range.end.saturating_sub(range.start);
        let reader = SourceReader::new(source.clone(), range.start, length);
        Self {
            reader: BufReader::with_capacity(capacity, reader),
            offset: range.start,
            end: range.end,
        }
    }

    /// Returns the offset of the next byte in the source.
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    /// Returns the number of remaining bytes.
    pub(crate) fn left(&self) -> u64 {
        self.end - self.offset
    }

    /// Returns an error unless `length` bytes remain.
    pub(crate) fn check(&self, length: u64, field: &'static str) -> Result<()> {
        match length <= self.left() {
            true => Ok(()),
            false => Err(Error::damaged(
                self.offset,
                field,
                format!("needs {length} bytes, {} are left", self.left()),
            )),
        }
    }

    /// Fills `buf` with the next bytes.
    pub(crate) fn fill(&mut self, buf: &mut [u8], field: &'static str) -> Result<()> {
        self.check(buf.len() as u64, field)?;
        self.reader.read_exact(buf).map_err(|error| {
            Error::of_reader(&error, |text| Error::damaged(self.offset, field, text))
        })?;
        self.offset += buf.len() as u64;
        Ok(())
    }

    /// Takes the next `N` bytes.
    pub(crate) fn array<const N: usize>(&mut self, field: &'static str) -> Result<[u8; N]> {
        let mut bytes = [0; N];
        self.fill(&mut bytes, field)?;
        Ok(bytes)
    }

    /// Takes the next byte.
    pub(crate) fn byte(&mut self, field: &'static str) -> Result<u8> {
        Ok(self.array::<1>(field)?[0])
    }

    /// Skips `length` bytes, and returns the offset of the first.
    pub(crate) fn skip(&mut self, length: u64, field: &'static str) -> Result<u64> {
        self.check(length, field)?;
        let start = self.offset;
        // Positions are below 2^63, like the lengths of sources.
        let distance = i64::try_from(length).unwrap_or(i64::MAX);
        self.reader
            .seek_relative(distance)
            .map_err(|error| Error::of_reader(&error, |text| Error::damaged(start, field, text)))?;
        self.offset += length;
        Ok(start)
    }
}
