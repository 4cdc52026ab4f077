//! Cached data of files, and the bytes that are read from it.

use std::ops::{Deref, Range};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::Key;
use super::checkpoints::Checkpoints;
use super::spool::Spooled;
use crate::memory::budget::Budget;
use crate::memory::cache::{Cache, Counters, Value};
use hpimount_containers::io::Error;
use hpimount_containers::volume::ChunkTable;

/// The caches of a reader, one for each kind of value. All kinds count towards the budget, and the oldest value
/// of all is evicted first.
pub(super) struct Caches {
    /// Decoded bytes.
    pub(super) blocks: Arc<Cache<(Key, Part), Block, Error>>,
    /// Blocks of images, by the number of the image and of the block.
    pub(super) images: Arc<Cache<(Key, u64), Arc<ImageBlock>, Error>>,
    /// Chunk tables: the positions of the chunks of files.
    pub(super) tables: Arc<Cache<Key, Arc<ChunkTable>, Error>>,
    /// Checkpoints of decoders.
    pub(super) checkpoints: Arc<Cache<Key, Arc<Checkpoints>, Error>>,
    /// Generated files.
    pub(super) renderings: Arc<Cache<Key, Rendering, Error>>,
    /// The sizes of generated and of decoded files.
    pub(super) sizes: Arc<Cache<Key, Size, Error>>,
}

/// Maximum number of shards of the blocks.
const MAX_SHARDS: usize = 16;

/// Budget per shard of the blocks, in bytes.
const SHARD_BUDGET: usize = 1 << 20;

/// Number of shards of a kind with few values.
const FEW: usize = 4;

impl Caches {
    /// Creates empty caches within a budget.
    pub(super) fn new(budget: &Arc<Budget>) -> Arc<Self> {
        let shards = (budget.limit() / SHARD_BUDGET).clamp(1, MAX_SHARDS);
        Arc::new(Self {
            blocks: Cache::new(budget, shards),
            images: Cache::new(budget, shards),
            tables: Cache::new(budget, FEW),
            checkpoints: Cache::new(budget, 1),
            renderings: Cache::new(budget, FEW),
            sizes: Cache::new(budget, FEW),
        })
    }

    /// Returns the numbers of values that were found and made.
    pub(super) fn hits_and_misses(&self) -> (u64, u64) {
        let all = [
            &self.blocks.counters,
            &self.images.counters,
            &self.renderings.counters,
            &self.sizes.counters,
        ];
        let sum = |count: fn(&Counters) -> u64| all.into_iter().map(count).sum();
        (sum(|one| one.hits.get()), sum(|one| one.misses.get()))
    }
}

/// A part of a file whose decoded bytes are cached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Part {
    /// The bytes from this position on.
    Block(u64),
    /// The same, of a stream without checkpoints: they stay in the cache after
    /// they were read, because decoding them again would begin at the start.
    Piece(u64),
    /// All bytes of a stream that was decoded at once, from this position on.
    Whole(u64),
}

/// Decoded bytes.
pub(super) type Block = Arc<Vec<u8>>;

/// A finished rendering.
#[derive(Clone)]
pub(super) enum Rendering {
    Memory(Block),
    Spool(Arc<Spooled>),
}

/// The size of a file in bytes.
#[derive(Clone, Copy)]
pub(super) struct Size(pub(super) u64);

impl Value for Block {
    fn weight(&self) -> usize {
        self.capacity()
    }
}

impl Value for Arc<ImageBlock> {
    fn weight(&self) -> usize {
        self.memory()
    }
}

impl Value for Arc<ChunkTable> {
    fn weight(&self) -> usize {
        self.memory()
    }
}

impl Value for Arc<Checkpoints> {
    fn weight(&self) -> usize {
        self.memory()
    }
}

impl Value for Rendering {
    fn weight(&self) -> usize {
        match self {
            Self::Memory(bytes) => bytes.capacity(),
            Self::Spool(_) => 0,
        }
    }

    fn is_kept_elsewhere(&self) -> bool {
        matches!(self, Self::Spool(_))
    }
}

impl Value for Size {
    fn weight(&self) -> usize {
        0
    }
}

/// Bytes that were read.
#[derive(Debug)]
pub enum Bytes {
    /// A part of a block, which may be cached too.
    Shared(Arc<Vec<u8>>, Range<usize>),
    /// Bytes put together for this read.
    Owned(Vec<u8>),
}

impl Bytes {
    /// No bytes.
    pub const EMPTY: Self = Self::Owned(Vec::new());

    /// Returns the part of `range` that is inside `text`.
    pub fn part_of(text: Arc<Vec<u8>>, range: Range<u64>) -> Self {
        let end = text
            .len()
            .min(usize::try_from(range.end).unwrap_or(usize::MAX));
        let start = end.min(usize::try_from(range.start).unwrap_or(usize::MAX));
        Self::Shared(text, start..end)
    }
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Shared(block, range) => &block[range.clone()],
            Self::Owned(bytes) => bytes,
        }
    }
}

impl AsRef<[u8]> for Bytes {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

/// Known access pattern of a reader in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Access {
    /// Nothing: a block is cached if only a part of it is read.
    #[default]
    Unknown,
    /// It has read the bytes before: a block that it reads to its end is not
    /// read again.
    Sequential,
    /// It is expected to be the only reader of the file, or of the solid block around it, and
    /// to read in order: decoded blocks are not spooled before a reader goes back.
    Once,
    /// It reads no more of this file than the beginning.
    Head,
    /// It may read anything, but the block is decoded for the kernel right after
    /// this: it need not be cached, nor decoded further than it is read.
    Part,
}

/// A decoded block of an image.
pub(super) struct ImageBlock {
    pub(super) bytes: Vec<u8>,
    /// Number of bytes that were read of it.
    read: AtomicUsize,
}

impl ImageBlock {
    /// Creates a block that has not been read.
    pub(super) fn new(bytes: Vec<u8>) -> Self {
        Self {
            bytes,
            read: AtomicUsize::new(0),
        }
    }

    /// Returns its memory, in bytes.
    pub(super) fn memory(&self) -> usize {
        size_of::<Self>() + self.bytes.capacity()
    }

    /// Counts bytes that were read, and returns whether the whole block has
    /// been read by now.
    pub(super) fn note_read(&self, length: usize) -> bool {
        self.read.fetch_add(length, Ordering::Relaxed) + length >= self.bytes.len()
    }

    /// Returns whether enough was read that the rest may be padding between files.
    pub(super) fn is_read(&self) -> bool {
        self.read.load(Ordering::Relaxed) >= self.bytes.len() / 16
    }
}

/// Returns whether a block is cached after a read. A block that is read whole
/// goes into the kernel's page cache and is not cached here as well.
pub(super) fn is_kept(read: &Range<u64>, block: &Range<u64>, access: Access) -> bool {
    let is_partial = read.start > block.start && access == Access::Unknown;
    is_partial || read.end < block.end
}

/// Returns the part of `range` in the block that begins at `start`.
pub(super) fn part_of_block(block: Arc<Vec<u8>>, start: u64, range: Range<u64>) -> Bytes {
    let from = (range.start - start) as usize;
    let wanted = (range.end - range.start) as usize;
    let end = block.len().min(from + wanted);
    Bytes::Shared(block, from..end)
}
