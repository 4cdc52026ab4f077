//! Files that decode from their first byte on.
//!
//! The decoders of a few of them are kept at their position, for sequential
//! readers. While a file is decoded, copies of the decoder are saved as
//! checkpoints, so that any byte is a bounded distance after one. The
//! checkpoints of a file are one value of the cache, and are thinned out if
//! they would take too much of it.

use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::{Arc, Mutex};

use lru::LruCache;

use super::reader::{Access, BLOCK_SIZE, Block, Part, Reader, is_kept};
use super::{File, Key};
use crate::memory::budget::Charge;
use crate::sync::lock;
use hpimount_containers::io::Result;
use hpimount_containers::volume::{Decoder, Streams};

/// Minimum distance between two checkpoints in bytes, a multiple of
/// [`BLOCK_SIZE`]. Decoding that many takes three milliseconds.
const SPACING: u64 = 1 << 20;

/// The checkpoints of one file may take the budget divided by this.
const SHARE: usize = 8;

/// Distance over which all blocks are cached while decoding forward: concurrent
/// sequential readers are never further apart.
const TOGETHER: u64 = 1 << 20;

/// The checkpoints of a file.
pub(super) struct Checkpoints {
    /// Bytes between two checkpoints.
    spacing: u64,
    /// The decoders, with their positions in the file in ascending order.
    points: Vec<(u64, Arc<dyn Decoder>)>,
}

impl Checkpoints {
    const NONE: Self = Self {
        spacing: SPACING,
        points: Vec::new(),
    };

    /// Returns their memory, in bytes.
    pub(super) fn memory(&self) -> usize {
        let points = self.points.iter();
        points
            .map(|(_, decoder)| size_of::<(u64, Arc<dyn Decoder>)>() + decoder.memory())
            .sum()
    }

    /// Returns the last one that is not after `position`.
    fn before(&self, position: u64) -> Option<&(u64, Arc<dyn Decoder>)> {
        let after = self.points.partition_point(|&(at, _)| at <= position);
        self.points.get(after.checked_sub(1)?)
    }

    /// Returns whether a checkpoint is due at `position`.
    fn lacks(&self, position: u64) -> bool {
        let last = self.before(position).map(|&(at, _)| at);
        position > 0 && position.is_multiple_of(self.spacing) && last != Some(position)
    }

    /// Returns these and one at `position`, thinned out to at most `limit`
    /// bytes. `None` if the decoder cannot be copied.
    fn with(&self, position: u64, decoder: &dyn Decoder, limit: usize) -> Option<Self> {
        let copy = decoder.fork()?;
        let mut points = self.points.clone();
        let index = points.partition_point(|&(at, _)| at < position);
        points.insert(index, (position, copy.into()));
        let mut more = Self {
            spacing: self.spacing,
            points,
        };
        while more.memory() > limit && !more.points.is_empty() {
            more.spacing *= 2;
            let spacing = more.spacing;
            more.points.retain(|(at, _)| at.is_multiple_of(spacing));
        }
        Some(more)
    }
}

/// The decoders that are kept at their position.
pub(super) struct Decoders(Mutex<LruCache<Key, Slot>>);

/// The thread that holds the lock decodes the file; empty before decoding
/// begins, at its end, and after a failure.
type Slot = Arc<Mutex<Option<Decoding>>>;

/// A file that is being decoded.
struct Decoding {
    decoder: Box<dyn Decoder>,
    /// Size of the file.
    size: u64,
    /// Accounts for its memory; `None` if that is small and the budget had no
    /// room.
    charge: Option<Charge>,
}

impl Decoding {
    /// Returns the position in the file of the next byte, a multiple of
    /// [`BLOCK_SIZE`].
    fn position(&self) -> u64 {
        self.size - self.decoder.left()
    }

    /// Decodes the next piece.
    fn next_piece(&mut self) -> Result<Vec<u8>> {
        let length = self.decoder.left().min(BLOCK_SIZE.into());
        let mut piece = vec![0; length as usize];
        self.decoder.read(&mut piece)?;
        Ok(piece)
    }
}

impl Decoders {
    /// Creates an empty set of at most `most` decoders.
    pub(super) fn new(most: NonZeroUsize) -> Self {
        Self(Mutex::new(LruCache::new(most)))
    }

    fn slot(&self, key: Key) -> Slot {
        let mut slots = lock(&self.0);
        slots.get_or_insert(key, Slot::default).clone()
    }

    /// Makes room for others after a file was decoded to its end.
    fn forget(&self, key: Key) {
        lock(&self.0).pop(&key);
    }

    /// Drops all decoders that are not in use.
    fn give_up(&self) {
        for (_, slot) in lock(&self.0).iter() {
            if let Ok(mut slot) = slot.try_lock() {
                *slot = None;
            }
        }
    }
}

impl Reader {
    /// Returns the block with the start of `wanted`, and its position in the
    /// file.
    pub(super) fn stream_block(
        &self,
        file: File<'_>,
        volume: &dyn Streams,
        wanted: Range<u64>,
        access: Access,
    ) -> Result<(u64, Arc<Vec<u8>>)> {
        let position = wanted.start;
        let start = position - position % u64::from(BLOCK_SIZE);
        let part = Part::Block(start);
        let is_kept = |length| is_kept(&wanted, &(start..start + length), access);
        let decode = || self.decode_to(file, volume, start);
        let block = self.block(file, part, is_kept(BLOCK_SIZE.into()), decode)?;
        // The last block is shorter. One that was decoded on the way to a later
        // one is cached until it is read.
        if !is_kept(block.len() as u64) {
            self.blocks.remove(&(file.key(), part));
        }
        Ok((start, block))
    }

    /// Decodes a file up to and including the piece that begins at `start`;
    /// empty if the file ends earlier.
    fn decode_to(&self, file: File<'_>, volume: &dyn Streams, start: u64) -> Result<Vec<u8>> {
        let key = file.key();
        let slot = self.decoders.slot(key);
        let mut slot = lock(&slot);
        // Another reader may have decoded it while this one waited.
        if let Some(Block::Bytes(piece)) = self.blocks.peek(&(key, Part::Block(start))) {
            return Ok(piece.to_vec());
        }
        let mut checkpoints = match self.blocks.peek(&(key, Part::Checkpoints)) {
            Some(Block::Checkpoints(checkpoints)) => checkpoints,
            _ => Arc::new(Checkpoints::NONE),
        };
        let kept = slot.take();
        let new = || self.new_decoding(file, volume);
        let (mut decoding, is_copy) = nearest(kept, &checkpoints, start, new)?;
        let mut keeps = !is_copy && start - decoding.position() <= TOGETHER;
        loop {
            let at = decoding.position();
            if checkpoints.lacks(at) && decoding.decoder.left() > 0 {
                let limit = self.budget().limit() / SHARE;
                match checkpoints.with(at, &*decoding.decoder, limit) {
                    Some(more) => {
                        checkpoints = Arc::new(more);
                        let more = Block::Checkpoints(checkpoints.clone());
                        self.blocks.put(&(key, Part::Checkpoints), more);
                    }
                    // A later read before this position would decode everything
                    // again.
                    None => keeps = true,
                }
            }
            let piece = decoding.next_piece()?;
            self.stats.add_decoded(piece.len());
            if at >= start || piece.is_empty() {
                self.keep(key, &mut slot, decoding);
                return Ok(piece);
            }
            if keeps {
                let piece = Block::Bytes(Arc::new(piece));
                self.blocks.put(&(key, Part::Block(at)), piece);
            }
        }
    }

    /// Returns a decoder at the start of a file. Memory beyond a few buffers is
    /// reserved before it is created.
    fn new_decoding(&self, file: File<'_>, volume: &dyn Streams) -> Result<Decoding> {
        let memory = volume.decoder_memory(file.file);
        let charge = match memory {
            0 => None,
            _ => {
                let charge = || {
                    self.budget()
                        .charge("the dictionary of a packed file", memory)
                };
                Some(charge().or_else(|_| {
                    self.decoders.give_up();
                    charge()
                })?)
            }
        };
        let decoder = volume.decoder(file.file)?;
        Ok(Decoding {
            size: decoder.left(),
            decoder,
            charge,
        })
    }

    /// Keeps a decoder for readers that continue, if there is memory for it.
    fn keep(&self, key: Key, slot: &mut Option<Decoding>, mut decoding: Decoding) {
        if decoding.decoder.left() == 0 {
            return self.decoders.forget(key);
        }
        if decoding.charge.is_none() {
            let memory = decoding.decoder.memory();
            decoding.charge = self.budget().charge("a decoder", memory).ok();
        }
        *slot = decoding.charge.is_some().then_some(decoding);
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
            size: at + decoder.left(),
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

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;
    use crate::content::{Access, OpenVolume, Spool, VolumeId};
    use crate::memory::budget::Budget;
    use hpimount_containers::io::Error;
    use hpimount_containers::volume::{Content, FileId, Volume};

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
        /// Position at which decoding fails.
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
