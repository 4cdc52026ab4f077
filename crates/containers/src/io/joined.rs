//! Concatenation of sources, and a source without its beginning.

use std::io;
use std::ops::Range;
use std::sync::Arc;

use super::{ReadAt, unit_in};

/// The parts of a file that was split.
pub struct Joined {
    /// The offset of each part, in order.
    parts: Vec<(u64, Arc<dyn ReadAt>)>,
    len: u64,
}

impl Joined {
    /// Joins the parts.
    pub fn new(sources: Vec<Arc<dyn ReadAt>>) -> Self {
        let mut len = 0_u64;
        let parts = sources.into_iter().map(|source| {
            let start = len;
            len = len.saturating_add(source.len());
            (start, source)
        });
        Self {
            parts: parts.collect(),
            len,
        }
    }

    /// Returns the offset of each part, in order.
    pub fn starts(&self) -> impl Iterator<Item = u64> {
        self.parts.iter().map(|(start, _)| *start)
    }

    /// Returns the number of the part with the byte at `offset`.
    fn at(&self, offset: u64) -> usize {
        // Empty parts begin where the next one does.
        let after = self.parts.partition_point(|(start, _)| *start <= offset);
        after.saturating_sub(1)
    }

    /// Returns the offset of the end of a part, which may have become shorter since.
    fn end(&self, part: usize) -> u64 {
        self.parts.get(part + 1).map_or(self.len, |(next, _)| *next)
    }
}

impl ReadAt for Joined {
    fn len(&self) -> u64 {
        self.len
    }

    fn read_exact_at(&self, mut buf: &mut [u8], mut offset: u64) -> io::Result<()> {
        self.check_end(buf.len(), offset)?;
        while !buf.is_empty() {
            let part = self.at(offset);
            let (start, source) = &self.parts[part];
            let left = usize::try_from(self.end(part) - offset).unwrap_or(usize::MAX);
            let (now, later) = buf.split_at_mut(left.min(buf.len()));
            source.read_exact_at(now, offset - start)?;
            offset += now.len() as u64;
            buf = later;
        }
        Ok(())
    }

    fn will_need(&self, offset: u64, length: u64) {
        if offset >= self.len {
            return;
        }
        let (start, source) = &self.parts[self.at(offset)];
        source.will_need(offset - start, length);
    }

    fn beneath(&self, range: Range<u64>) -> Option<(&dyn ReadAt, u64)> {
        let part = self.at(range.start);
        let (start, source) = self.parts.get(part)?;
        let is_inside = range.end <= self.end(part);
        is_inside.then(|| (&**source, range.start - start))
    }
}

/// A source without its prefix, such as a self-extractor.
pub struct Tail {
    source: Arc<dyn ReadAt>,
    start: u64,
    end: u64,
}

impl Tail {
    /// Creates the part of a source from `start` on, which is inside it.
    pub fn new(source: Arc<dyn ReadAt>, start: u64) -> Self {
        let end = u64::MAX;
        Self { source, start, end }
    }

    /// Ends it at the offset `end` of the source.
    pub fn until(self, end: u64) -> Self {
        Self { end, ..self }
    }
}

impl ReadAt for Tail {
    fn len(&self) -> u64 {
        self.source.len().min(self.end).saturating_sub(self.start)
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        self.check_end(buf.len(), offset)?;
        if buf.is_empty() {
            return Ok(());
        }
        self.source.read_exact_at(buf, self.start + offset)
    }

    fn will_need(&self, offset: u64, length: u64) {
        self.source
            .will_need(self.start.saturating_add(offset), length);
    }

    fn unit_at(&self, offset: u64) -> Option<Range<u64>> {
        unit_in(&*self.source, self.start, offset)
    }

    fn beneath(&self, range: Range<u64>) -> Option<(&dyn ReadAt, u64)> {
        Some((&*self.source, self.start.checked_add(range.start)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::{BlockBuffer, layers_of};

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
        let tail: Arc<dyn ReadAt> = Arc::new(Tail::new(whole.clone(), 4));
        let buffered: Arc<dyn ReadAt> = Arc::new(BlockBuffer::new(tail));
        let joined = Joined::new(vec![buffered, whole]);
        assert_eq!(layers(&joined, 3..16), 4);
        assert_eq!(layers(&joined, 17..30), 2);
        assert_eq!(layers(&joined, 15..17), 1, "in two parts");
        assert_eq!(layers(&joined, 30..40), 1, "past the end");
    }

    #[test]
    fn reads_cross_the_ends_of_parts() {
        let parts: [&[u8]; 4] = [b"abc", b"", b"d", b"efgh"];
        let sources = parts.map(|part| Arc::new(part.to_vec()) as Arc<dyn ReadAt>);
        let joined = Joined::new(sources.into());
        assert_eq!(joined.len(), 8);
        for start in 0..8 {
            for end in start..=8 {
                let mut bytes = vec![0; end - start];
                joined.read_exact_at(&mut bytes, start as u64).unwrap();
                assert_eq!(bytes, b"abcdefgh"[start..end]);
            }
        }
        assert!(joined.read_exact_at(&mut [0; 2], 7).is_err());
        assert_eq!(joined.starts().collect::<Vec<_>>(), [0, 3, 3, 4]);
    }
}
