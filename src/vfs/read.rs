//! Reading bytes: decoded blocks out of the cache, or into it.

use std::cell::RefCell;
use std::io::Read;
use std::num::NonZeroUsize;
use std::ops::{Deref, Range};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use lru::LruCache;

use super::Ino;
use super::cache::{Cache, Key, Weight, lock};
use super::stats::Stats;
use crate::archive::{Archive, Chunk, ChunkTable, FileId, Scratch, Storage};
use crate::io::{self, Error};

/// Longest chunk that is decoded as a whole, and the length of the pieces in
/// which longer ones are.
const BLOCK_SIZE: u32 = 65_536;

/// Start of the [`Key`] of a file's chunk table. No block can begin there:
/// a file has at most `u32::MAX` bytes.
const TABLE: u32 = u32::MAX;

/// Most long chunks whose decoding can go on where it stopped.
const MAX_STREAMS: NonZeroUsize = NonZeroUsize::new(8).unwrap();

/// What the cache holds.
#[derive(Clone)]
enum Block {
    Bytes(Arc<Vec<u8>>),
    Table(Arc<ChunkTable>),
}

impl Weight for Block {
    fn weight(&self) -> usize {
        match self {
            Self::Bytes(bytes) => bytes.capacity(),
            Self::Table(table) => table.memory(),
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
pub(super) struct Source<'a> {
    /// Its inode, by which its blocks are cached.
    pub(super) ino: Ino,
    /// The archive it is in.
    pub(super) archive: &'a dyn Archive,
    /// Its number there.
    pub(super) file: FileId,
}

/// Reads files of all archives through one cache.
pub(super) struct Reader {
    cache: Cache<Block, Error>,
    streams: Mutex<LruCache<StreamKey, Arc<Mutex<Stream>>>>,
}

/// A long chunk: its file and its number there.
type StreamKey = (Ino, u32);

/// A long chunk that is being decoded from its start on.
struct Stream {
    reader: Box<dyn Read + Send>,
    /// Position in the decoded file of the next byte.
    next: u32,
}

thread_local! {
    /// Each thread decodes with buffers of its own.
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

impl Reader {
    /// A reader that keeps at most `budget` bytes of blocks.
    pub(super) fn new(budget: usize) -> Self {
        Self {
            cache: Cache::new(budget),
            streams: Mutex::new(LruCache::new(MAX_STREAMS)),
        }
    }

    /// Hits, misses and bytes held.
    pub(super) fn cache_state(&self) -> (u64, u64, usize) {
        let counters = &self.cache.counters;
        (
            counters.hits.load(Ordering::Relaxed),
            counters.misses.load(Ordering::Relaxed),
            self.cache.used(),
        )
    }

    /// Reads `range` of a file, which must lie inside it.
    pub(super) fn read(
        &self,
        source: Source<'_>,
        range: Range<u64>,
        stats: &Stats,
    ) -> io::Result<Bytes> {
        match source.archive.storage(source.file) {
            Storage::Stored => {
                let mut bytes = vec![0; (range.end - range.start) as usize];
                source
                    .archive
                    .read_stored(source.file, range.start, &mut bytes)?;
                Ok(Bytes::Owned(bytes))
            }
            Storage::Generated => {
                let text = self.text(source)?;
                let end = text.len().min(range.end as usize);
                let start = end.min(range.start as usize);
                Ok(Bytes::Shared(text, start..end))
            }
            Storage::Chunked => self.read_chunks(source, range, stats),
        }
    }

    /// The text of a generated file.
    pub(super) fn text(&self, source: Source<'_>) -> io::Result<Arc<Vec<u8>>> {
        self.bytes(source, 0, || source.archive.generate(source.file))
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
            let (start, block) = self.block_at(source, &table, position, stats)?;
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
        let key = key(source, TABLE);
        let block = self.cache.get(key, || {
            let table = source.archive.chunk_table(source.file)?;
            Ok(Block::Table(Arc::new(table)))
        })?;
        match block {
            Block::Table(table) => Ok(table),
            Block::Bytes(_) => unreachable!("a table's key has no bytes"),
        }
    }

    /// The block that holds `position`, and where in the file it begins.
    fn block_at(
        &self,
        source: Source<'_>,
        table: &ChunkTable,
        position: u64,
        stats: &Stats,
    ) -> io::Result<(u32, Arc<Vec<u8>>)> {
        let chunk = table.at(position)?;
        let count = |bytes: &Vec<u8>| {
            stats
                .decoded
                .fetch_add(bytes.len() as u64, Ordering::Relaxed);
        };
        if chunk.length <= BLOCK_SIZE {
            let block = self.bytes(source, chunk.start, || {
                let decode = |scratch: &RefCell<Scratch>| {
                    source
                        .archive
                        .decode_chunk(source.file, chunk, &mut scratch.borrow_mut())
                };
                SCRATCH.with(decode).inspect(count)
            })?;
            return Ok((chunk.start, block));
        }
        let into_chunk = position as u32 - chunk.start;
        let start = position as u32 - into_chunk % BLOCK_SIZE;
        let block = self.bytes(source, start, || {
            self.piece(source, chunk, start).inspect(count)
        })?;
        Ok((start, block))
    }

    /// Decodes a long chunk up to and including the piece that begins at
    /// `start`, keeping the pieces before it as well.
    fn piece(&self, source: Source<'_>, chunk: Chunk, start: u32) -> io::Result<Vec<u8>> {
        let open = || -> io::Result<Stream> {
            Ok(Stream {
                reader: source.archive.open_chunk(source.file, chunk)?,
                next: chunk.start,
            })
        };
        let known = lock(&self.streams).get(&(source.ino, chunk.index)).cloned();
        let stream = match known {
            Some(stream) => stream,
            None => Arc::new(Mutex::new(open()?)),
        };
        let mut decoding = lock(&stream);
        if decoding.next > start {
            *decoding = open()?;
        }
        let piece = loop {
            let next = decoding.next_piece(chunk);
            if next.is_err() {
                // Nobody knows where the reader stands now.
                decoding.next = u32::MAX;
            }
            let (at, piece) = next?;
            if at == start {
                break piece;
            }
            self.cache
                .put(key(source, at), Block::Bytes(Arc::new(piece)));
        };
        drop(decoding);
        lock(&self.streams).put((source.ino, chunk.index), stream);
        Ok(piece)
    }

    fn bytes(
        &self,
        source: Source<'_>,
        start: u32,
        make: impl FnOnce() -> io::Result<Vec<u8>>,
    ) -> io::Result<Arc<Vec<u8>>> {
        let block = self
            .cache
            .get(key(source, start), || Ok(Block::Bytes(Arc::new(make()?))))?;
        match block {
            Block::Bytes(bytes) => Ok(bytes),
            Block::Table(_) => unreachable!("only a table's key has a table"),
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
            let field = format!("chunk {}", chunk.index);
            Error::damaged(chunk.offset, field, error.to_string())
        })?;
        self.next += piece.len() as u32;
        Ok((start, piece))
    }
}

fn key(source: Source<'_>, start: u32) -> Key {
    Key {
        inode: source.ino.0,
        start,
    }
}
