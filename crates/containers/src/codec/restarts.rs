//! Restart points of an LZMA2 stream besides its start: chunks that reset the state and
//! the dictionary. Archives that several threads have packed have them.

use std::sync::{Mutex, PoisonError};

use crate::io::{ReadAt, read_vec};

/// Minimum distance of two restarts in the decoded stream, in bytes.
const MIN_DISTANCE: u64 = 1 << 20;

/// Maximum number of restarts of a stream. If there are more, every other one is
/// dropped.
const MAX_RESTARTS: usize = 1024;

/// Maximum length of the header of a chunk in bytes.
const MAX_HEADER: u64 = 6;

/// A position where decoding can begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Restart {
    /// Offset in the decoded stream.
    pub(crate) decoded: u64,
    /// Offset in the packed stream.
    pub(crate) packed: u64,
}

/// The restarts of a stream. The headers of its chunks are read as far as they are
/// needed.
#[derive(Debug)]
pub(crate) struct Restarts(Mutex<Scan>);

#[derive(Debug)]
struct Scan {
    restarts: Vec<Restart>,
    min_distance: u64,
    /// The first chunk that was not read.
    next: Restart,
    has_ended: bool,
}

/// The header of a chunk.
struct ChunkHeader {
    /// True if decoding can begin with the chunk.
    is_restart: bool,
    /// Length in the packed stream, with the header.
    packed: u64,
    decoded: u64,
}

impl Default for Restarts {
    fn default() -> Self {
        Self(Mutex::new(Scan {
            restarts: vec![Restart::default()],
            min_distance: MIN_DISTANCE,
            next: Restart::default(),
            has_ended: false,
        }))
    }
}

impl Restarts {
    /// Returns the maximum memory of the restarts of a stream that decodes to `size`
    /// bytes, in bytes.
    pub(crate) fn max_memory(size: u64) -> usize {
        let restarts = (size / MIN_DISTANCE + 1).min(MAX_RESTARTS as u64);
        restarts as usize * size_of::<Restart>()
    }

    /// Returns the last restart that is not after `position` of the decoded stream.
    /// The packed stream is the `length` bytes at `offset`.
    pub(crate) fn before(
        &self,
        position: u64,
        source: &dyn ReadAt,
        offset: u64,
        length: u64,
    ) -> Restart {
        let mut scan = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        while !scan.has_ended && scan.next.decoded <= position {
            let left = length.saturating_sub(scan.next.packed).min(MAX_HEADER);
            let header = offset.checked_add(scan.next.packed);
            let header = header.and_then(|at| read_vec(source, at, left, "chunk header").ok());
            match header.as_deref().and_then(ChunkHeader::parse) {
                Some(header) => scan.note(&header),
                // The end, or damage, which decoding reports.
                None => scan.has_ended = true,
            }
        }
        let after = scan
            .restarts
            .partition_point(|restart| restart.decoded <= position);
        scan.restarts[after.saturating_sub(1)]
    }
}

impl Scan {
    fn note(&mut self, header: &ChunkHeader) {
        let last = self.restarts.last().map_or(0, |last| last.decoded);
        if header.is_restart && self.next.decoded - last >= self.min_distance {
            if self.restarts.len() == MAX_RESTARTS {
                let mut is_odd = false;
                self.restarts.retain(|_| {
                    is_odd = !is_odd;
                    is_odd
                });
                self.min_distance *= 2;
            }
            self.restarts.push(self.next);
        }
        // Each is at most the length of a stream in a source.
        self.next.decoded = self.next.decoded.saturating_add(header.decoded);
        self.next.packed = self.next.packed.saturating_add(header.packed);
    }
}

impl ChunkHeader {
    /// Parses the header of a chunk; `None` at the end of the stream, and if it is
    /// not valid.
    fn parse(bytes: &[u8]) -> Option<Self> {
        let (&control, sizes) = bytes.split_first()?;
        let size = |at: usize| {
            let bytes = sizes.get(at..at + 2)?;
            Some(u64::from(bytes[0]) << 8 | u64::from(bytes[1]))
        };
        match control {
            1 | 2 => Some(Self {
                is_restart: control == 1,
                packed: 3 + size(0)? + 1,
                decoded: size(0)? + 1,
            }),
            0x80.. => Some(Self {
                is_restart: control >= 0xE0,
                packed: 5 + u64::from(control >= 0xC0) + size(2)? + 1,
                decoded: (u64::from(control & 0x1F) << 16) + size(0)? + 1,
            }),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a chunk of LZMA with 4 packed bytes that declares 1 MiB.
    fn chunk(control: u8) -> Vec<u8> {
        let header = [control | 0x0F, 0xFF, 0xFF, 0, 3];
        let properties: &[u8] = if control >= 0xC0 { &[0x5D] } else { &[] };
        [&header, properties, &[9; 4]].concat()
    }

    fn before(stream: &[u8], position: u64) -> Restart {
        let (source, length) = ([&[7; 10][..], stream].concat(), stream.len() as u64);
        Restarts::default().before(position, &source, 10, length)
    }

    #[test]
    fn decoding_begins_at_the_last_chunk_that_resets_everything() {
        let chunks = [chunk(0xE0), chunk(0x80), chunk(0xE0), chunk(0xC0), vec![0]];
        let stream = chunks.concat();
        let third = Restart {
            decoded: 2 << 20,
            packed: (chunks[0].len() + chunks[1].len()) as u64,
        };
        assert_eq!(before(&stream, 0), Restart::default());
        assert_eq!(before(&stream, (2 << 20) - 1), Restart::default());
        assert_eq!(before(&stream, 2 << 20), third);
        assert_eq!(before(&stream, u64::MAX), third);
        for length in 0..stream.len() {
            before(&stream[..length], u64::MAX);
        }
    }

    #[test]
    fn the_restarts_of_a_stream_of_many_chunks_are_bounded() {
        let stream = chunk(0xE0).repeat(10 * MAX_RESTARTS);
        let restarts = Restarts::default();
        let last = restarts.before(u64::MAX, &stream, 0, stream.len() as u64);
        assert!(last.decoded > (10 * MAX_RESTARTS as u64 - 40) << 20);
        let scan = restarts.0.lock().unwrap();
        let memory = scan.restarts.capacity() * size_of::<Restart>();
        assert!(memory <= Restarts::max_memory(u64::MAX));
    }
}
