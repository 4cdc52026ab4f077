//! Reading bytes: decoded blocks out of the cache, or into it.

use std::cell::Cell;
use std::io::Read;
use std::num::NonZeroUsize;
use std::ops::{Deref, Range};
use std::sync::{Arc, Mutex};

use lru::LruCache;

use super::cache::{Cache, Key, Weight, lock};
use crate::io::{self, Error};
use crate::mount::Ino;
use crate::mount::stats::Stats;
use crate::view::View;
use crate::volume::{Archive, Chunk, ChunkTable, FileId, Scratch, Storage};

/// Longest chunk that is decoded as a whole, and the length of the pieces in
/// which longer ones are.
pub const BLOCK_SIZE: u32 = 65_536;

/// Start of the [`Key`] of a file's chunk table. No block can begin there:
/// a file has at most `u32::MAX` bytes.
const TABLE: u32 = u32::MAX;

/// Start of the [`Key`] of an asset's parsed model, which no block has
/// either: blocks begin at multiples of 64 KiB, or where chunks do.
const MODEL: u32 = u32::MAX - 1;

/// Most long chunks whose decoding can go on where it stopped.
const MAX_STREAMS: NonZeroUsize = NonZeroUsize::new(8).unwrap();

/// What the cache holds.
#[derive(Clone)]
enum Block {
    Bytes(Arc<Vec<u8>>),
    Table(Arc<ChunkTable>),
    Model(Arc<dyn View>),
}

impl Weight for Block {
    fn weight(&self) -> usize {
        match self {
            Self::Bytes(bytes) => bytes.capacity(),
            Self::Table(table) => table.memory(),
            Self::Model(model) => model.memory(),
        }
    }
}

/// Bytes that were read.
#[derive(Debug)]
pub enum Bytes {
    /// A part of a block that the cache may hold as well.
    Shared(Arc<Vec<u8>>, Range<usize>),
    /// Bytes put together for this read.
    Owned(Vec<u8>),
}

impl Bytes {
    /// What of `range` lies inside `text`.
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

/// A file to read from.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    /// Its inode, by which its blocks are cached.
    pub ino: Ino,
    /// The archive it is in.
    pub archive: &'a dyn Archive,
    /// Its number there.
    pub file: FileId,
}

/// Reads files of all archives through one cache.
pub struct Reader {
    cache: Cache<Block, Error>,
    /// The last model that was too heavy for the cache: without it, each of
    /// the texts that show it would parse the asset again.
    heavy: Mutex<Option<(Ino, Arc<dyn View>)>>,
    streams: Mutex<LruCache<StreamKey, StreamSlot>>,
}

/// A long chunk: its file and its number there.
type StreamKey = (Ino, u32);

/// Whoever holds the lock decodes the chunk; empty where decoding has not
/// begun, and after a failure.
type StreamSlot = Arc<Mutex<Option<Stream>>>;

/// A long chunk that is being decoded from its start on.
struct Stream {
    reader: Box<dyn Read + Send>,
    /// Position in the decoded file of the next byte.
    next: u32,
}

thread_local! {
    /// Each thread decodes with buffers of its own. They are taken out while
    /// they are in use: an archive inside an archive is read while the outer
    /// one decodes.
    static SCRATCH: Cell<Option<Box<Scratch>>> = const { Cell::new(None) };
}

/// Runs `decode` with this thread's buffers.
fn with_scratch<T>(decode: impl FnOnce(&mut Scratch) -> T) -> T {
    let mut scratch = SCRATCH.take().unwrap_or_default();
    let decoded = decode(&mut scratch);
    SCRATCH.set(Some(scratch));
    decoded
}

impl Reader {
    /// A reader that keeps at most `budget` bytes of blocks.
    pub fn new(budget: usize) -> Self {
        Self {
            cache: Cache::new(budget),
            heavy: Mutex::default(),
            streams: Mutex::new(LruCache::new(MAX_STREAMS)),
        }
    }

    /// Hits, misses and bytes held.
    pub fn cache_state(&self) -> (u64, u64, usize) {
        let counters = &self.cache.counters;
        (
            counters.hits.get(),
            counters.misses.get(),
            self.cache.used(),
        )
    }

    /// Reads `range` of a file, which must lie inside it.
    pub fn read(&self, source: Source<'_>, range: Range<u64>, stats: &Stats) -> io::Result<Bytes> {
        match source.archive.storage(source.file) {
            Storage::Stored => {
                let mut bytes = vec![0; (range.end - range.start) as usize];
                source
                    .archive
                    .read_stored(source.file, range.start, &mut bytes)?;
                Ok(Bytes::Owned(bytes))
            }
            Storage::Generated => {
                let text = self.text(source.ino, || source.archive.generate(source.file))?;
                Ok(Bytes::part_of(text, range))
            }
            Storage::Chunked => self.read_chunks(source, range, stats),
        }
    }

    /// The generated text of a file, made where it is not at hand.
    pub fn text(
        &self,
        ino: Ino,
        make: impl FnOnce() -> io::Result<Vec<u8>>,
    ) -> io::Result<Arc<Vec<u8>>> {
        self.bytes(key(ino, 0), true, || make().map(Arc::new))
    }

    /// The parsed model of an asset, made where it is not at hand.
    pub fn model(
        &self,
        asset: Ino,
        make: impl FnOnce() -> io::Result<Arc<dyn View>>,
    ) -> io::Result<Arc<dyn View>> {
        let heavy = lock(&self.heavy).clone();
        if let Some((_, model)) = heavy.filter(|(of, _)| *of == asset) {
            return Ok(model);
        }
        let made = self.cache.get(key(asset, MODEL), || {
            let model = make()?;
            if !self.cache.has_room_for(model.memory()) {
                *lock(&self.heavy) = Some((asset, model.clone()));
            }
            Ok(Block::Model(model))
        })?;
        match made {
            Block::Model(model) => Ok(model),
            _ => unreachable!("only a model has a model's key"),
        }
    }

    fn read_chunks(
        &self,
        source: Source<'_>,
        range: Range<u64>,
        stats: &Stats,
    ) -> io::Result<Bytes> {
        let table = self.chunk_table(source)?;
        let mut position = range.start;
        let mut owned = Vec::new();
        loop {
            let (start, block) = self.block_at(source, &table, position..range.end, stats)?;
            let from = (position - u64::from(start)) as usize;
            let wanted = (range.end - position) as usize;
            let to = block.len().min(from + wanted);
            if owned.is_empty() && to - from == wanted {
                return Ok(Bytes::Shared(block, from..to));
            }
            if owned.is_empty() {
                owned.reserve_exact(wanted);
            }
            owned.extend_from_slice(&block[from..to]);
            position += (to - from) as u64;
            if position == range.end {
                return Ok(Bytes::Owned(owned));
            }
        }
    }

    fn chunk_table(&self, source: Source<'_>) -> io::Result<Arc<ChunkTable>> {
        let block = self.cache.get(key(source.ino, TABLE), || {
            let table = source.archive.chunk_table(source.file)?;
            Ok(Block::Table(Arc::new(table)))
        })?;
        match block {
            Block::Table(table) => Ok(table),
            _ => unreachable!("only a table has a table's key"),
        }
    }

    /// The block that holds the start of `wanted`, and where in the file it
    /// begins. A block that is wanted whole goes into the kernel's page cache
    /// and is not kept here as well.
    fn block_at(
        &self,
        source: Source<'_>,
        table: &ChunkTable,
        wanted: Range<u64>,
        stats: &Stats,
    ) -> io::Result<(u32, Arc<Vec<u8>>)> {
        let position = wanted.start;
        let chunk = table.at(position)?;
        if chunk.length <= BLOCK_SIZE {
            let end = u64::from(chunk.start) + u64::from(chunk.length);
            let keep = position > chunk.start.into() || wanted.end < end;
            let block = self.bytes(key(source.ino, chunk.start), keep, || {
                let decode = |scratch: &mut Scratch| {
                    source.archive.decode_chunk(source.file, chunk, scratch)
                };
                let decoded = with_scratch(decode)?;
                stats.add_decoded(decoded.len());
                Ok(Arc::new(decoded))
            })?;
            return Ok((chunk.start, block));
        }
        let into_chunk = position as u32 - chunk.start;
        let start = position as u32 - into_chunk % BLOCK_SIZE;
        let block = self.bytes(key(source.ino, start), true, || {
            self.piece(source, chunk, start, stats)
        })?;
        Ok((start, block))
    }

    /// Decodes a long chunk up to and including the piece that begins at
    /// `start`, keeping the pieces before it as well.
    fn piece(
        &self,
        source: Source<'_>,
        chunk: Chunk,
        start: u32,
        stats: &Stats,
    ) -> io::Result<Arc<Vec<u8>>> {
        let slot = lock(&self.streams)
            .get_or_insert((source.ino, chunk.index), StreamSlot::default)
            .clone();
        let mut slot = lock(&slot);
        // Whoever decoded while this reader waited may have come by.
        if let Some(Block::Bytes(piece)) = self.cache.peek(key(source.ino, start)) {
            return Ok(piece);
        }
        let mut stream = match slot.take() {
            Some(stream) if stream.next <= start => stream,
            _ => Stream {
                reader: source.archive.open_chunk(source.file, chunk)?,
                next: chunk.start,
            },
        };
        loop {
            let (at, piece) = stream.next_piece(chunk)?;
            stats.add_decoded(piece.len());
            let piece = Arc::new(piece);
            if at == start {
                *slot = Some(stream);
                return Ok(piece);
            }
            self.cache.put(key(source.ino, at), Block::Bytes(piece));
        }
    }

    fn bytes(
        &self,
        key: Key,
        keep: bool,
        make: impl FnOnce() -> io::Result<Arc<Vec<u8>>>,
    ) -> io::Result<Arc<Vec<u8>>> {
        let make = || make().map(Block::Bytes);
        match self.cache.get_and_keep(key, keep, make)? {
            Block::Bytes(bytes) => Ok(bytes),
            _ => unreachable!("the keys of tables and models are reserved"),
        }
    }
}

impl Stream {
    /// Decodes the next piece; says where in the file it begins.
    fn next_piece(&mut self, chunk: Chunk) -> io::Result<(u32, Vec<u8>)> {
        let start = self.next;
        let left = chunk.start + chunk.length - start;
        let mut piece = vec![0; left.min(BLOCK_SIZE) as usize];
        let mut read = self.reader.read_exact(&mut piece);
        if left <= BLOCK_SIZE && read.is_ok() {
            // The reader fails where the chunk goes on.
            read = self.reader.read(&mut [0]).map(drop);
        }
        read.map_err(|error| {
            Error::of_reader(&error, |text| {
                Error::damaged(chunk.offset, format!("chunk {}", chunk.index), text)
            })
        })?;
        self.next += piece.len() as u32;
        Ok((start, piece))
    }
}

fn key(ino: Ino, start: u32) -> Key {
    Key {
        inode: ino.0,
        start,
    }
}
