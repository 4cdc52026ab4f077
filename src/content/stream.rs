//! Decoding what decodes only from its first byte on: packed files, and chunks
//! that are longer than a block.
//!
//! The decoders of a few of them are kept at their position, for sequential
//! readers. While a file is decoded, copies of the decoder are saved as
//! checkpoints, so that any byte is a bounded distance after one. The
//! checkpoints of a file are one value of the cache, and are thinned out if
//! they would take too much of it.

use std::io::Read;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use lru::LruCache;

use super::Key;
use super::block::{Access, BLOCK_SIZE, Block, Blocks, Part, is_kept};
use super::checkpoints::Checkpoints;
use super::stats::Stats;
use crate::memory::budget::{Budget, Charge};
use crate::sync::lock;
use hpimount_containers::io::{Error, Result};
use hpimount_containers::volume::{Chunk, Decoder};

/// Maximum number of decoders that are kept at their position.
const MAX_DECODERS: NonZeroUsize = NonZeroUsize::new(8).unwrap();

/// The checkpoints of one file may take the budget divided by this.
const SHARE: usize = 8;

/// Distance over which all blocks are cached while decoding forward: concurrent
/// sequential readers are never further apart.
const TOGETHER: u64 = 1 << 20;

/// Memory of the decoder of a long chunk in bytes: its buffers and its window.
const CHUNK_MEMORY: usize = 80 << 10;

/// Something that decodes from its first byte on.
pub(super) struct Stream<'a> {
    /// The file that it is in.
    pub(super) file: Key,
    /// The position in the file of its first byte.
    pub(super) start: u64,
    /// Memory of its decoder in bytes, if that is more than a few buffers.
    pub(super) memory: usize,
    /// Whether copies of its decoder may be saved. Without them, all blocks that
    /// are decoded on the way to another one are cached.
    pub(super) has_checkpoints: bool,
    /// Returns a decoder at its first byte.
    pub(super) open: &'a dyn Fn() -> Result<Box<dyn Decoder>>,
}

impl Stream<'_> {
    /// Returns the part of the cache for the block at a position in the file.
    fn part(&self, position: u64) -> Part {
        match self.has_checkpoints {
            true => Part::Block(position),
            false => Part::Piece(position),
        }
    }
}

/// The decoders that are kept at their position.
pub(super) struct Decoders {
    blocks: Arc<Blocks>,
    budget: Arc<Budget>,
    stats: Arc<Stats>,
    slots: Mutex<LruCache<(Key, u64), Slot>>,
}

/// The thread that holds the lock decodes the stream; empty before decoding
/// begins, at its end, and after a failure.
type Slot = Arc<Mutex<Option<Decoding>>>;

/// A stream that is being decoded.
struct Decoding {
    decoder: Box<dyn Decoder>,
    /// The position in the file of the end of the stream.
    end: u64,
    /// Accounts for its memory; `None` if that is small and the budget had no
    /// room.
    charge: Option<Charge>,
}

impl Decoding {
    /// Returns the position in the file of the next byte, a multiple of
    /// [`BLOCK_SIZE`] after the start of the stream.
    fn position(&self) -> u64 {
        self.end - self.decoder.left()
    }

    /// Decodes the next block.
    fn next_block(&mut self) -> Result<Vec<u8>> {
        let length = self.decoder.left().min(BLOCK_SIZE.into());
        let mut block = vec![0; length as usize];
        self.decoder.read(&mut block)?;
        Ok(block)
    }
}

impl Decoders {
    /// Creates an empty set of decoders, whose blocks are cached in `blocks`.
    pub(super) fn new(blocks: &Arc<Blocks>, budget: &Arc<Budget>, stats: &Arc<Stats>) -> Self {
        Self {
            blocks: blocks.clone(),
            budget: budget.clone(),
            stats: stats.clone(),
            slots: Mutex::new(LruCache::new(MAX_DECODERS)),
        }
    }

    /// Returns the block of a stream with the start of `wanted`, and its position
    /// in the file.
    pub(super) fn block(
        &self,
        stream: &Stream<'_>,
        wanted: &Range<u64>,
        access: Access,
    ) -> Result<(u64, Arc<Vec<u8>>)> {
        let start = wanted.start - (wanted.start - stream.start) % u64::from(BLOCK_SIZE);
        let key = (stream.file, stream.part(start));
        let is_kept =
            |length| !stream.has_checkpoints || is_kept(wanted, &(start..start + length), access);
        let decode = || Ok(Block::Bytes(Arc::new(self.decode_to(stream, start)?)));
        let block = self
            .blocks
            .get_and_keep(&key, is_kept(BLOCK_SIZE.into()), decode)?
            .into_bytes();
        // The last block is shorter. One that was decoded on the way to a later
        // one is cached until it is read.
        if !is_kept(block.len() as u64) {
            self.blocks.remove(&key);
        }
        Ok((start, block))
    }

    /// Decodes a stream up to and including the block that begins at `start`;
    /// empty if the stream ends earlier.
    fn decode_to(&self, stream: &Stream<'_>, start: u64) -> Result<Vec<u8>> {
        let slot = self.slot(stream);
        let mut slot = lock(&slot);
        // Another reader may have decoded it while this one waited.
        if let Some(Block::Bytes(block)) = self.blocks.peek(&(stream.file, stream.part(start))) {
            return Ok(block.to_vec());
        }
        let mut checkpoints = self.checkpoints(stream);
        let kept = slot.take();
        let new = || self.new_decoding(stream);
        let (mut decoding, is_copy) = nearest(kept, &checkpoints, start, new)?;
        let is_near = start - decoding.position() <= TOGETHER;
        let mut keeps = !stream.has_checkpoints || !is_copy && is_near;
        loop {
            let at = decoding.position();
            let is_due = stream.has_checkpoints && checkpoints.lacks(at);
            if is_due && decoding.decoder.left() > 0 {
                let limit = self.budget.limit() / SHARE;
                match checkpoints.with(at, &*decoding.decoder, limit) {
                    Some(more) => {
                        checkpoints = Arc::new(more);
                        let more = Block::Checkpoints(checkpoints.clone());
                        self.blocks.put(&(stream.file, Part::Checkpoints), more);
                    }
                    // A later read before this position would decode everything
                    // again.
                    None => keeps = true,
                }
            }
            let block = decoding.next_block()?;
            self.stats.add_decoded(block.len());
            if at >= start || block.is_empty() {
                self.keep(stream, &mut slot, decoding);
                return Ok(block);
            }
            if keeps {
                let block = Block::Bytes(Arc::new(block));
                self.blocks.put(&(stream.file, stream.part(at)), block);
            }
        }
    }

    fn checkpoints(&self, stream: &Stream<'_>) -> Arc<Checkpoints> {
        match self.blocks.peek(&(stream.file, Part::Checkpoints)) {
            Some(Block::Checkpoints(checkpoints)) => checkpoints,
            _ => Arc::new(Checkpoints::NONE),
        }
    }

    /// Returns a decoder at the start of a stream. Memory beyond a few buffers is
    /// reserved before it is created.
    fn new_decoding(&self, stream: &Stream<'_>) -> Result<Decoding> {
        let charge = || {
            let what = "the dictionary of a packed file";
            self.budget.charge(what, stream.memory)
        };
        let charge = match stream.memory {
            0 => None,
            _ => Some(charge().or_else(|_| {
                self.give_up();
                charge()
            })?),
        };
        let decoder = (stream.open)()?;
        Ok(Decoding {
            end: stream.start + decoder.left(),
            decoder,
            charge,
        })
    }

    /// Keeps a decoder for readers that continue, if there is memory for it.
    fn keep(&self, stream: &Stream<'_>, slot: &mut Option<Decoding>, mut decoding: Decoding) {
        if decoding.decoder.left() == 0 {
            // This makes room for others.
            lock(&self.slots).pop(&(stream.file, stream.start));
            return;
        }
        if decoding.charge.is_none() {
            let memory = decoding.decoder.memory();
            decoding.charge = self.budget.charge("a decoder", memory).ok();
        }
        *slot = decoding.charge.is_some().then_some(decoding);
    }

    fn slot(&self, stream: &Stream<'_>) -> Slot {
        let mut slots = lock(&self.slots);
        let key = (stream.file, stream.start);
        slots.get_or_insert(key, Slot::default).clone()
    }

    /// Drops all decoders that are not in use.
    fn give_up(&self) {
        for (_, slot) in lock(&self.slots).iter() {
            if let Ok(mut slot) = slot.try_lock() {
                *slot = None;
            }
        }
    }
}

/// Returns the decoder that is nearest before `start`: the one that was kept,
/// one of a checkpoint, or a new one. Also returns whether it is from a
/// checkpoint.
fn nearest(
    kept: Option<Decoding>,
    checkpoints: &Checkpoints,
    start: u64,
    new: impl FnOnce() -> Result<Decoding>,
) -> Result<(Decoding, bool)> {
    let kept = kept.filter(|kept| kept.position() <= start);
    let from = kept.as_ref().map_or(0, Decoding::position);
    let checkpoint = checkpoints
        .before(start)
        .filter(|(at, _)| kept.is_none() || *at > from);
    if let Some((at, decoder)) = checkpoint
        && let Some(copy) = decoder.fork()
    {
        let decoding = Decoding {
            end: at + decoder.left(),
            decoder: copy,
            charge: None,
        };
        return Ok((decoding, true));
    }
    match kept {
        Some(kept) => Ok((kept, false)),
        None => Ok((new()?, false)),
    }
}

/// A long chunk as a decoder.
pub(super) struct LongChunk {
    // Never locked: the mutex only makes the decoder `Sync`.
    reader: Mutex<Box<dyn Read + Send>>,
    chunk: Chunk,
    left: u64,
}

impl LongChunk {
    /// Creates the decoder of a chunk that `reader` decodes from its start.
    pub(super) fn new(reader: Box<dyn Read + Send>, chunk: Chunk) -> Self {
        Self {
            reader: Mutex::new(reader),
            chunk,
            left: chunk.length.into(),
        }
    }
}

impl Decoder for LongChunk {
    fn left(&self) -> u64 {
        self.left
    }

    fn read(&mut self, out: &mut [u8]) -> Result<()> {
        let reader = self.reader.get_mut();
        let reader = reader.unwrap_or_else(PoisonError::into_inner);
        let mut read = reader.read_exact(out);
        self.left = self.left.saturating_sub(out.len() as u64);
        if self.left == 0 && read.is_ok() {
            // The reader fails if the chunk is longer.
            read = reader.read(&mut [0]).map(drop);
        }
        let chunk = self.chunk;
        read.map_err(|error| {
            Error::of_reader(&error, |text| {
                Error::damaged(chunk.offset, format!("chunk {}", chunk.index), text)
            })
        })
    }

    fn fork(&self) -> Option<Box<dyn Decoder>> {
        None
    }

    fn memory(&self) -> usize {
        CHUNK_MEMORY
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;
    use crate::content::checkpoints::SPACING;
    use crate::content::{File, OpenVolume, Reader, Spool, VolumeId};
    use hpimount_containers::volume::{Content, FileId, Streams, Volume};

    /// Memory of a decoder in these tests.
    const MEMORY: usize = 40_000;

    const SIZE: u64 = 64 << 20;

    /// Returns the byte at a position of the file.
    fn byte(position: u64) -> u8 {
        (position.wrapping_mul(0x9E37_79B9) >> 24) as u8
    }

    /// A volume with one long file.
    struct Long {
        /// Bytes that were decoded.
        decoded: Arc<AtomicU64>,
        /// The position where decoding fails.
        damaged_at: u64,
    }

    struct Counting {
        position: u64,
        decoded: Arc<AtomicU64>,
        damaged_at: u64,
    }

    impl Decoder for Counting {
        fn left(&self) -> u64 {
            SIZE - self.position
        }

        fn read(&mut self, out: &mut [u8]) -> Result<()> {
            for byte_out in out.iter_mut() {
                *byte_out = byte(self.position);
                self.position += 1;
            }
            self.decoded.fetch_add(out.len() as u64, Ordering::Relaxed);
            if self.position > self.damaged_at {
                return Err(Error::damaged(7, "packed data", "is damaged"));
            }
            Ok(())
        }

        fn fork(&self) -> Option<Box<dyn Decoder>> {
            Some(Box::new(Self {
                decoded: self.decoded.clone(),
                ..*self
            }))
        }

        fn memory(&self) -> usize {
            MEMORY
        }
    }

    impl Streams for Long {
        fn decoder(&self, _file: FileId) -> Result<Box<dyn Decoder>> {
            Ok(Box::new(Counting {
                position: 0,
                decoded: self.decoded.clone(),
                damaged_at: self.damaged_at,
            }))
        }
    }

    impl Volume for Long {
        fn content(&self, _file: FileId) -> Result<Content<'_>> {
            Ok(Content::Stream(self))
        }

        fn memory(&self) -> usize {
            0
        }
    }

    /// A reader, the long file, and the number of bytes decoded of it.
    struct Case {
        reader: Arc<Reader>,
        volume: OpenVolume,
        decoded: Arc<AtomicU64>,
    }

    impl Case {
        fn new(memory: usize, damaged_at: u64) -> Self {
            let decoded = Arc::<AtomicU64>::default();
            let volume = Long {
                decoded: decoded.clone(),
                damaged_at,
            };
            Self {
                reader: Reader::new(&Budget::new(memory), Spool::new(None, 0)),
                volume: OpenVolume {
                    id: VolumeId(1),
                    name: String::new(),
                    location: String::new(),
                    format: "test",
                    is_plain_folder: true,
                    nesting: 0,
                    image_warnings: Vec::new(),
                    volume: Box::new(volume),
                    charge: None,
                },
                decoded,
            }
        }

        /// Reads and compares bytes; returns how many were decoded for that.
        fn read(&self, start: u64, length: u64) -> Result<u64> {
            let before = self.decoded.load(Ordering::Relaxed);
            let file = File {
                volume: &self.volume,
                file: FileId(0),
            };
            let bytes = self
                .reader
                .read(file, start..start + length, Access::Unknown)?;
            let expected = (start..start + length).map(byte);
            assert!(bytes.iter().copied().eq(expected), "{start}");
            assert!(self.reader.budget().used() <= self.reader.budget().limit());
            Ok(self.decoded.load(Ordering::Relaxed) - before)
        }
    }

    #[test]
    fn sequential_reads_decode_every_byte_once() {
        let case = Case::new(16 << 20, SIZE);
        let step = 128 << 10;
        let decoded = (0..SIZE / step).map(|at| case.read(at * step, step).unwrap());
        assert_eq!(decoded.sum::<u64>(), SIZE);
    }

    #[test]
    fn any_byte_is_near_a_checkpoint_once_the_file_was_decoded() {
        let case = Case::new(16 << 20, SIZE);
        case.read(SIZE - 100, 100).unwrap();
        for number in 0..200_u64 {
            let position = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) % (SIZE - 4096);
            let decoded = case.read(position, 4096).unwrap();
            assert!(
                decoded <= 2 * SPACING + 2 * u64::from(BLOCK_SIZE),
                "{decoded}"
            );
        }
    }

    #[test]
    fn checkpoints_are_thinned_out_if_memory_is_short() {
        let case = Case::new(1 << 20, SIZE);
        case.read(SIZE - 100, 100).unwrap();
        let decoded = case.read(SIZE / 2 + 5, 10).unwrap();
        // Three of them fit into an eighth of a MiB.
        assert!(decoded <= SIZE / 2, "{decoded}");
    }

    #[test]
    fn damage_is_an_error_only_for_the_data_after_it() {
        let case = Case::new(16 << 20, 10 << 20);
        assert!(case.read(12 << 20, 1).is_err());
        assert!(case.read(0, 10 << 20).is_ok());
        assert!(case.read(11 << 20, 1).is_err());
    }
}
