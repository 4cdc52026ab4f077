//! Wholes: the files of a chunk, or the parts of a file that are in several chunks,
//! which are decoded one after another.

use std::io::{self, Read, Take};
use std::sync::{Arc, OnceLock};

use flate2::read::ZlibDecoder;

use super::calls::{self, Calls, Filter};
use super::chunk::Chunk;
use super::sum::{Checksum, Hasher};
use crate::codec::{ByteStream, Solid, SolidDecoder};
use crate::io::{Error, ReadAt, Result};
use crate::volume::Decoder;

/// The encoding of a segment's bytes in the chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Plain,
    /// The filter of programs was applied.
    Filtered(Filter),
    /// They are a zlib stream.
    Deflated,
}

/// A part of a decoded chunk.
#[derive(Debug, Clone, Copy)]
pub(super) struct Segment {
    /// The number of the chunk.
    pub(super) chunk: u32,
    /// Offset in the decoded chunk, and number of bytes there.
    pub(super) offset: u64,
    pub(super) length: u64,
    /// Offset in the whole, and number of bytes there.
    pub(super) start: u64,
    pub(super) size: u64,
    pub(super) kind: Kind,
}

impl Segment {
    /// Returns the last position not after `position` of the segment where reading it
    /// can begin.
    fn unit_before(&self, position: u64) -> u64 {
        match self.kind {
            Kind::Plain => position,
            Kind::Filtered(Filter::Blocks { .. }) => position - position % calls::BLOCK,
            Kind::Filtered(Filter::Whole) | Kind::Deflated => 0,
        }
    }

    /// Returns the first position not before `position` where reading it can begin, or
    /// its length.
    fn unit_after(&self, position: u64) -> u64 {
        match self.unit_before(position) {
            before if before == position => position,
            before => match self.kind {
                Kind::Filtered(Filter::Blocks { .. }) => before + calls::BLOCK,
                _ => self.length,
            },
        }
    }

    /// Returns the offset after it in the whole.
    pub(super) fn end_in_whole(&self) -> u64 {
        self.start.saturating_add(self.size)
    }

    /// Returns the offset after it in the decoded chunk.
    fn end(&self) -> u64 {
        self.offset.saturating_add(self.length)
    }
}

/// A file in a whole.
#[derive(Debug)]
pub(super) struct Member {
    /// Offset in the whole after its last byte.
    pub(super) end: u64,
    sum: Option<Checksum>,
    /// The error of a mismatch, once found.
    mismatch: OnceLock<Error>,
}

impl Member {
    pub(super) fn new(end: u64, sum: Option<Checksum>) -> Self {
        Self {
            end,
            sum,
            mismatch: OnceLock::new(),
        }
    }
}

/// Segments that are decoded one after another.
#[derive(Debug, Default)]
pub(super) struct Whole {
    /// Absolute offset of the first chunk in the data.
    pub(super) offset: u64,
    pub(super) segments: Vec<Segment>,
    pub(super) members: Vec<Member>,
    /// True if wrong checksums are only logged.
    pub(super) force: bool,
    /// Memory of a decoder in bytes, after [`Whole::decoder_memory_in`].
    memory: OnceLock<usize>,
}

/// The chunks of an installer, and the source that they are in.
pub(super) struct Chunks {
    pub(super) chunks: Vec<Chunk>,
    pub(super) data: Arc<dyn ReadAt>,
}

impl Chunks {
    /// Returns a chunk. Segments have numbers of chunks only.
    pub(super) fn of(&self, segment: &Segment) -> &Chunk {
        &self.chunks[segment.chunk as usize]
    }
}

/// The start of a read in a whole.
#[derive(Debug, Clone, Copy, Default)]
struct Place {
    /// The number of the segment, and the position there.
    segment: usize,
    within: u64,
    /// The offset in the whole.
    position: u64,
}

impl Whole {
    /// Creates a whole without segments, whose first chunk is at `offset`.
    pub(super) fn new(offset: u64) -> Self {
        Self {
            offset,
            ..Self::default()
        }
    }

    /// Returns the memory of a decoder for it in bytes, or the maximum while that of its
    /// chunk cannot be read.
    pub(super) fn decoder_memory_in(&self, chunks: &Chunks) -> usize {
        if let Some(memory) = self.memory.get() {
            return *memory;
        }
        let memory = match &self.segments[..] {
            [first, .., last] if first.chunk != last.chunk => {
                // Not by reading the start of each, which may be on a server.
                let chunks = self.segments.iter().map(|segment| chunks.of(segment));
                chunks.map(Chunk::max_decoder_memory).max().unwrap_or(0)
            }
            [first, ..] => match chunks.of(first).decoder_memory(&*chunks.data) {
                Ok(memory) => memory,
                // The next read may succeed.
                Err(_) => return chunks.of(first).max_decoder_memory(),
            },
            [] => 0,
        };
        *self.memory.get_or_init(|| memory)
    }

    /// Returns the last position not after `position` where decoding can begin.
    pub(super) fn restart(&self, position: u64, chunks: &Chunks) -> u64 {
        self.place(position, chunks).position
    }

    fn place(&self, position: u64, chunks: &Chunks) -> Place {
        let segments = &self.segments;
        let after = segments.partition_point(|segment| segment.start <= position);
        let mut number = after.saturating_sub(1);
        let Some(segment) = segments.get(number) else {
            return Place::default();
        };
        let within = segment.unit_before(position.saturating_sub(segment.start));
        let wanted = segment.offset.saturating_add(within);
        let restart = chunks.of(segment).restart(wanted, &*chunks.data);
        // The first segment in the chunk that is not before the restart.
        while let Some(before) = number.checked_sub(1).map(|before| &segments[before])
            && before.chunk == segment.chunk
            && before.offset < segments[number].offset
            && before.end() > restart
        {
            number -= 1;
        }
        let first = &segments[number];
        let within = first.unit_after(restart.saturating_sub(first.offset));
        match within < first.length {
            true => Place {
                segment: number,
                within,
                position: first.start + within,
            },
            false => Place {
                segment: number + 1,
                within: 0,
                position: first.end_in_whole(),
            },
        }
    }

    /// Opens it at the last restart before `position`.
    ///
    /// # Errors
    /// Returns an error if a chunk is not there.
    pub(super) fn decoder_before(
        self: &Arc<Self>,
        position: u64,
        chunks: &Arc<Chunks>,
    ) -> Result<Box<dyn Decoder>> {
        let place = self.place(position, chunks);
        let mut reader = Reader {
            whole: self.clone(),
            chunks: chunks.clone(),
            next: place.segment,
            left: 0,
            state: State::Between(None),
        };
        if place.segment < self.segments.len() {
            reader.begin(place.within)?;
        }
        // The decoder asks for this memory.
        self.decoder_memory_in(chunks);
        Ok(Box::new(SolidDecoder::new(
            Box::new(reader),
            self,
            place.position,
        )))
    }

    /// Checks that the data of a member was not found to be damaged.
    ///
    /// # Errors
    /// Returns an error if it was.
    pub(super) fn check(&self, number: usize) -> Result<()> {
        let member = self.members.get(number);
        match member.and_then(|member| member.mismatch.get()) {
            Some(error) => Err(error.clone()),
            None => Ok(()),
        }
    }

    /// Returns the memory that it uses, in bytes.
    pub(super) fn memory(&self) -> usize {
        let sums = self.members.iter().filter_map(|member| member.sum.as_ref());
        // With the counters of an `Arc`.
        2 * size_of::<usize>()
            + size_of::<Arc<Self>>()
            + size_of::<Self>()
            + self.segments.capacity() * size_of::<Segment>()
            + self.members.capacity() * size_of::<Member>()
            + sums.map(|sum| sum.0.len()).sum::<usize>()
    }
}

impl Solid for Whole {
    type Hasher = Hasher;

    fn size(&self) -> u64 {
        self.members.last().map_or(0, |member| member.end)
    }

    fn first_file_from(&self, position: u64) -> usize {
        match position {
            0 => 0,
            _ => self.members.partition_point(|member| member.end < position) + 1,
        }
    }

    fn file(&self, number: usize) -> Option<(u64, u64)> {
        let end = self.members.get(number)?.end;
        let before = number
            .checked_sub(1)
            .and_then(|before| self.members.get(before));
        let start = before.map_or(0, |before| before.end);
        Some((start, end - start))
    }

    fn hasher(&self, number: usize) -> Hasher {
        self.members.get(number)?.sum.as_ref()?.hasher()
    }

    fn update(hasher: &mut Hasher, bytes: &[u8]) {
        if let Some(hasher) = hasher {
            hasher.update(bytes);
        }
    }

    /// Records a mismatch, or with `force` only logs it.
    fn found_sum(&self, number: usize, hasher: Hasher) {
        let Some(member) = self.members.get(number) else {
            return;
        };
        let checked = member.sum.as_ref().map_or(Ok(()), |sum| sum.check(hasher));
        let Err(problem) = checked else {
            return;
        };
        let field = format!("file {number} of a chunk");
        let error = Error::damaged(self.offset, field, problem);
        match self.force {
            true => log::warn!("{error}; ignored"),
            // Fails only if another pass has found the same.
            false => drop(member.mismatch.set(error)),
        }
    }

    fn damaged(&self, position: u64, problem: &str) -> Error {
        let problem = format!("after byte {position} of the decoded data: {problem}");
        Error::damaged(self.offset, "chunk", problem)
    }

    fn decoder_memory(&self) -> usize {
        self.memory.get().copied().unwrap_or(0)
    }
}

/// A reader of the segments of a whole.
struct Reader {
    whole: Arc<Whole>,
    chunks: Arc<Chunks>,
    /// The number of the segment that is read, or that is read next.
    next: usize,
    /// Number of bytes of that segment that are left.
    left: u64,
    state: State,
}

/// A decoded chunk, its number, and the offset there of the next byte.
type Opened = (ByteStream, u32, u64);

enum State {
    /// No segment is read.
    Between(Option<Opened>),
    Plain(Take<ByteStream>),
    Filtered(Calls<Take<ByteStream>>),
    Deflated(Box<ZlibDecoder<Take<ByteStream>>>),
}

impl Reader {
    /// Begins to read the next segment, `within` bytes after its start.
    fn begin(&mut self, within: u64) -> Result<()> {
        let segment = self.whole.segments[self.next];
        let wanted = segment.offset.saturating_add(within);
        let opened = match std::mem::replace(&mut self.state, State::Between(None)) {
            State::Between(opened) => opened,
            _ => None,
        };
        let opened = opened.filter(|(_, chunk, at)| *chunk == segment.chunk && *at <= wanted);
        let (mut stream, at) = match opened {
            Some((stream, _, at)) => (stream, at),
            None => self.chunks.of(&segment).open(wanted, &self.chunks.data)?,
        };
        let damaged = |text: String| self.whole.damaged(segment.start, &text);
        let skipped = io::copy(&mut stream.by_ref().take(wanted - at), &mut io::sink());
        skipped.map_err(|error| Error::of_reader(&error, damaged))?;
        let bytes = stream.take(segment.length.saturating_sub(within));
        self.left = segment.size.saturating_sub(within);
        self.state = match segment.kind {
            Kind::Plain => State::Plain(bytes),
            Kind::Filtered(filter) => State::Filtered(Calls::new(bytes, filter, within)),
            Kind::Deflated => State::Deflated(Box::new(ZlibDecoder::new(bytes))),
        };
        Ok(())
    }

    /// Ends the segment that is read.
    fn end(&mut self) -> io::Result<()> {
        let mut bytes = match std::mem::replace(&mut self.state, State::Between(None)) {
            State::Between(_) => return Ok(()),
            State::Plain(bytes) => bytes,
            State::Filtered(bytes) => bytes.into_inner(),
            State::Deflated(bytes) => bytes.into_inner(),
        };
        io::copy(&mut bytes, &mut io::sink())?;
        let segment = self.whole.segments[self.next];
        // If the chunk has ended early, some bytes are left.
        let at = segment.end().saturating_sub(bytes.limit());
        self.state = State::Between(Some((bytes.into_inner(), segment.chunk, at)));
        self.next += 1;
        Ok(())
    }
}

impl Read for Reader {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        while !buf.is_empty() && self.next < self.whole.segments.len() {
            let wanted = buf
                .len()
                .min(usize::try_from(self.left).unwrap_or(usize::MAX));
            let wanted = &mut buf[..wanted];
            let length = match &mut self.state {
                State::Between(_) => {
                    self.begin(0).map_err(io::Error::other)?;
                    continue;
                }
                _ if self.left == 0 => {
                    self.end()?;
                    continue;
                }
                State::Plain(bytes) => bytes.read(wanted)?,
                State::Filtered(bytes) => bytes.read(wanted)?,
                State::Deflated(bytes) => bytes.read(wanted)?,
            };
            self.left -= length as u64;
            // 0 is the end of the chunk, or of a part that is shorter than it should be.
            return Ok(length);
        }
        Ok(0)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::super::header::Compression;
    use super::*;

    /// A chunk of LZMA2 with a dictionary of 1 MiB, which can be read if that is set.
    struct Switched(AtomicBool);

    impl ReadAt for Switched {
        fn len(&self) -> u64 {
            5
        }

        fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
            match self.0.load(Ordering::Relaxed) {
                true => b"zlb\x1A\x10".to_vec().read_exact_at(buf, offset),
                false => Err(io::ErrorKind::TimedOut.into()),
            }
        }
    }

    #[test]
    fn the_memory_of_a_decoder_is_known_after_a_read_that_failed() {
        let mut chunk = Chunk::new(0, 1, Compression::Lzma2);
        chunk.decoded = 1 << 30;
        let max = chunk.max_decoder_memory();
        let source = Arc::new(Switched(AtomicBool::new(false)));
        let chunks = Chunks {
            chunks: vec![chunk],
            data: source.clone(),
        };
        let mut whole = Whole::new(0);
        whole.segments.push(Segment {
            chunk: 0,
            offset: 0,
            length: 1 << 30,
            start: 0,
            size: 1 << 30,
            kind: Kind::Plain,
        });
        assert_eq!(whole.decoder_memory_in(&chunks), max);
        source.0.store(true, Ordering::Relaxed);
        let memory = whole.decoder_memory_in(&chunks);
        assert!((1 << 20..max).contains(&memory), "{memory}");
    }
}
