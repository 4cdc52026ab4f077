//! Positioned reads from anything that contains an archive.

use std::io;
use std::ops::Range;
use std::sync::Arc;

use super::{Error, Result};

/// The origin of bytes of a source.
#[derive(Clone, Copy)]
pub struct Origin<'a> {
    /// The other source, and the offset there; `None` if they are in no other one.
    pub source: Option<(&'a dyn ReadAt, u64)>,
    /// The number of bytes that this is true for.
    pub length: u64,
}

impl<'a> Origin<'a> {
    /// All bytes are the source's own.
    pub const OWN: Self = Self {
        source: None,
        length: u64::MAX,
    };

    /// Creates the origin of bytes that `source` has at `offset`.
    pub fn of(source: &'a dyn ReadAt, offset: u64) -> Self {
        Self {
            source: Some((source, offset)),
            length: source.len().saturating_sub(offset),
        }
    }
}

/// Bytes that can be read at any position by several threads at once.
///
/// Implementations never map the source into memory: a file truncated under a
/// mapping would kill the process with SIGBUS, a truncated read is an error.
pub trait ReadAt: Send + Sync {
    /// Returns the length of the source in bytes, as it was when it was opened.
    fn len(&self) -> u64;

    /// Fills `buf` with the bytes at `offset`. Reading no bytes succeeds at any
    /// offset: archives, above all truncated ones, place empty files after their end.
    ///
    /// # Errors
    /// Returns `UnexpectedEof` if the source ends too early, or the error of
    /// the operating system. Interrupted and short reads are continued.
    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()>;

    /// Checks that the source has `length` bytes at `offset`. An empty range is always
    /// there.
    ///
    /// # Errors
    /// Returns `UnexpectedEof` if the range ends past the source.
    fn check_end(&self, length: usize, offset: u64) -> io::Result<()> {
        let end = offset.checked_add(length as u64);
        if length > 0 && end.is_none_or(|end| end > self.len()) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(())
    }

    /// Announces that `length` bytes at `offset` will be read soon. A remote
    /// source may fetch some of them.
    fn will_need(&self, offset: u64, length: u64) {
        let _ = (offset, length);
    }

    /// Returns where the bytes from `offset` on come from, for sources that consist of
    /// ranges of others.
    fn origin_at(&self, offset: u64) -> Origin<'_> {
        let _ = offset;
        Origin::OWN
    }

    /// Returns the range that is decoded to read the byte at `offset`; `None`
    /// if a read decodes nothing, or only the requested bytes. It may end after
    /// the source.
    fn unit_at(&self, offset: u64) -> Option<Range<u64>> {
        let _ = offset;
        None
    }

    /// Returns the source that has the bytes of a range of this one, one after the
    /// other and unchanged, and where they begin there; `None` if they are decoded,
    /// checked or put together here. Reading them there returns the same bytes, or
    /// fails as well. The range is inside this source.
    fn beneath(&self, range: Range<u64>) -> Option<(&dyn ReadAt, u64)> {
        let _ = range;
        None
    }

    /// Returns whether the source is empty.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Returns the range that is decoded to read the byte at `offset` of what begins
/// at `start` of a source, counted from there.
pub fn unit_in(source: &dyn ReadAt, start: u64, offset: u64) -> Option<Range<u64>> {
    let unit = source.unit_at(start.checked_add(offset)?)?;
    Some(unit.start.saturating_sub(start)..unit.end.saturating_sub(start))
}

/// Returns the sources that have the bytes of a range of a source unchanged, each
/// with the offset where they begin: first `source` itself, then the sources beneath.
pub fn layers_of(
    source: &dyn ReadAt,
    range: Range<u64>,
) -> impl Iterator<Item = (&dyn ReadAt, u64)> {
    let length = range.end.saturating_sub(range.start);
    std::iter::successors(Some((source, range.start)), move |&(source, start)| {
        let end = start.checked_add(length)?;
        (end <= source.len()).then(|| source.beneath(start..end))?
    })
}

/// Reads `length` bytes at `offset`, after checking that the source contains
/// them.
///
/// # Errors
/// Returns [`Error::Damaged`] with the name `field` if the range extends past
/// the end of the source, or [`Error::Read`] if the operating system fails.
pub fn read_vec(
    source: &dyn ReadAt,
    offset: u64,
    length: u64,
    field: &'static str,
) -> Result<Vec<u8>> {
    check_range(source, offset, length, field)?;
    let mut bytes = vec![0; length as usize];
    source
        .read_exact_at(&mut bytes, offset)
        .map_err(|cause| read_error(offset, length, cause))?;
    Ok(bytes)
}

/// Checks that `length` bytes at `offset` lie inside the source.
fn check_range(source: &dyn ReadAt, offset: u64, length: u64, field: &'static str) -> Result<()> {
    let end = source.len();
    if offset.checked_add(length).is_none_or(|last| last > end) {
        return Err(Error::damaged(
            offset,
            field,
            format!("its {length} bytes extend past the end of the file at {end:#x}"),
        ));
    }
    Ok(())
}

/// Returns an [`Error::Read`] for a read of `length` bytes at `offset`.
pub fn read_error(offset: u64, length: u64, cause: io::Error) -> Error {
    Error::Read {
        offset,
        length,
        cause: Arc::new(cause),
    }
}

/// A range of a source as a forward [`io::Read`].
pub struct SourceReader {
    source: Arc<dyn ReadAt>,
    start: u64,
    position: u64,
    end: u64,
}

impl SourceReader {
    /// Reads the `length` bytes at `offset` of `source`, or as many as exist.
    pub fn new(source: Arc<dyn ReadAt>, offset: u64, length: u64) -> Self {
        let end = offset.saturating_add(length).min(source.len());
        Self {
            source,
            start: offset,
            position: offset,
            end,
        }
    }

    /// Returns the absolute offset in the source of the next byte.
    pub fn position(&self) -> u64 {
        self.position
    }
}

impl io::Read for SourceReader {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let left = self.end.saturating_sub(self.position);
        let wanted = buf.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        if wanted > 0 {
            let read = self.source.read_exact_at(&mut buf[..wanted], self.position);
            // Wrapped as an error of the source, which no decoder mistakes for
            // the end or for damage.
            read.map_err(|cause| {
                io::Error::other(read_error(self.position, wanted as u64, cause))
            })?;
            self.position += wanted as u64;
        }
        Ok(wanted)
    }
}

impl io::Seek for SourceReader {
    fn seek(&mut self, to: io::SeekFrom) -> io::Result<u64> {
        let position = match to {
            io::SeekFrom::Start(offset) => self.start.checked_add(offset),
            io::SeekFrom::End(distance) => self.end.checked_add_signed(distance),
            io::SeekFrom::Current(distance) => self.position.checked_add_signed(distance),
        };
        let position = position.filter(|&position| position >= self.start);
        self.position = position.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.position - self.start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Seek};

    #[test]
    fn a_range_past_the_end_is_rejected_before_memory_is_allocated() {
        let source = vec![1, 2, 3];
        let error = read_vec(&source, 1, u64::MAX, "directory").unwrap_err();
        assert_eq!(
            error.to_string(),
            "directory at 0x1: its 18446744073709551615 bytes extend past the end of the file at 0x3"
        );
        assert_eq!(read_vec(&source, 1, 2, "directory").unwrap(), [2, 3]);
    }

    #[test]
    fn reading_no_bytes_succeeds_past_the_end() {
        let source = vec![1, 2, 3];
        for offset in [3, 4, u64::MAX] {
            source.check_end(0, offset).unwrap();
            source.read_exact_at(&mut [], offset).unwrap();
            let error = source.check_end(1, offset).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
            source.read_exact_at(&mut [0], offset).unwrap_err();
        }
    }

    #[test]
    fn a_source_reader_stops_at_its_range_and_at_the_end() {
        let source: Arc<dyn ReadAt> = Arc::new(vec![1, 2, 3, 4]);
        let read = |offset, length| {
            let mut bytes = Vec::new();
            SourceReader::new(source.clone(), offset, length)
                .read_to_end(&mut bytes)
                .unwrap();
            bytes
        };
        assert_eq!(read(1, 2), [2, 3]);
        assert_eq!(read(2, 100), [3, 4]);
        assert!(read(9, 1).is_empty());
    }

    #[test]
    fn a_source_reader_counts_positions_from_its_start() {
        let source: Arc<dyn ReadAt> = Arc::new(vec![1, 2, 3, 4]);
        let mut reader = SourceReader::new(source, 1, 2);
        let mut byte = [0];
        assert_eq!(reader.seek(io::SeekFrom::End(-1)).unwrap(), 1);
        reader.read_exact(&mut byte).unwrap();
        assert_eq!(byte, [3]);
        reader.rewind().unwrap();
        reader.read_exact(&mut byte).unwrap();
        assert_eq!(byte, [2]);
        assert!(reader.seek(io::SeekFrom::Current(-2)).is_err());
    }
}
