//! Reading bytes: decoded blocks out of the cache, or into it.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::BLOCK_SIZE;
use super::block::{Access, Block, Bytes, Caches, Part, is_kept, part_of_block};
use super::long_chunk::LongChunk;
use super::model::{Models, SharedValues};
use super::spool::Spool;
use super::stats::Stats;
use super::stream::{Decoders, Stream};
use super::{File, Generated, Key, VolumeId};
use crate::memory::budget::Budget;
use crate::memory::cache::{Cache, Entry};
use hpimount_containers::io::{Error, Result, read_error};
use hpimount_containers::volume::{
    Chunk, ChunkTable, Chunks, Content, Decoder, Needs, STREAM_PIECE, Streams,
};

/// Reads from volumes, decodes, and caches the results.
pub struct Reader {
    pub(super) caches: Arc<Caches>,
    pub(super) models: Arc<Models>,
    pub(super) shared_values: Arc<SharedValues>,
    pub(super) spool: Arc<Spool>,
    decoders: Decoders,
    budget: Arc<Budget>,
    /// Block images that were opened.
    images: AtomicU64,
    /// Counters of requests and of bytes.
    pub stats: Arc<Stats>,
}

impl Reader {
    /// Creates a reader that caches within the budget, and keeps generated
    /// files in `spool`.
    pub fn new(budget: &Arc<Budget>, spool: Spool) -> Arc<Self> {
        let (caches, stats) = (Caches::new(budget), Arc::default());
        let spool = Arc::new(spool);
        Arc::new(Self {
            decoders: Decoders::new(&caches, &spool, budget, &stats),
            caches,
            models: Cache::new(budget, 1),
            shared_values: Cache::new(budget, 1),
            spool,
            budget: budget.clone(),
            images: AtomicU64::new(0),
            stats,
        })
    }

    /// Returns the memory budget.
    pub fn budget(&self) -> &Arc<Budget> {
        &self.budget
    }

    /// Returns the storage for bytes that do not fit in memory.
    pub fn spool(&self) -> &Spool {
        &self.spool
    }

    /// Returns a unique number for something packed around a volume. Volumes
    /// are numbered from 0 up, these from the maximum down.
    pub(super) fn next_image(&self) -> VolumeId {
        VolumeId(u64::MAX - self.images.fetch_add(1, Ordering::Relaxed), 0)
    }

    /// Returns the statistics of the caches for `stats.json`.
    pub fn cache_json(&self) -> serde_json::Value {
        let (hits, misses) = self.caches.hits_and_misses();
        serde_json::json!({
            "hits": hits,
            "misses": misses,
            "bytes": self.budget.used(),
            "extra": self.budget.extra(),
            "budget": self.budget.limit(),
            "spooled": self.spool.used(),
        })
    }

    /// Reads `range` of a file, which must lie inside it. Blocks that a reader
    /// with this `access` does not need again are not cached.
    ///
    /// # Errors
    /// Returns an error if one of the bytes cannot be read.
    pub fn read(&self, file: File<'_>, range: Range<u64>, access: Access) -> Result<Bytes> {
        let wanted = (range.end - range.start) as usize;
        let first = self.read_some(file, range.clone(), access)?;
        if first.len() == wanted {
            return Ok(first);
        }
        let mut all = Vec::with_capacity(wanted);
        all.extend_from_slice(&first);
        while all.len() < wanted {
            let start = range.start + all.len() as u64;
            all.extend_from_slice(&self.read_some(file, start..range.end, access)?);
        }
        Ok(Bytes::Owned(all))
    }

    /// Reads `range` of a chunk of one block by decoding it up to there; `None` if that is all
    /// of it.
    fn part_of_chunk(
        &self,
        file: File<'_>,
        volume: &dyn Chunks,
        chunk: Chunk,
        range: &Range<u64>,
    ) -> Result<Option<Bytes>> {
        let range = range.start - chunk.start..range.end - chunk.start;
        if range.end >= chunk.length.into() {
            return Ok(None);
        }
        let decoded = volume.decode_chunk(file.file, chunk, range.end as u32)?;
        self.stats.add_decoded(decoded.len());
        Ok(Some(Bytes::part_of(Arc::new(decoded), range)))
    }

    /// Loads the block of a packed file that contains `offset` into the cache.
    ///
    /// # Errors
    /// Returns an error under the same conditions as [`Reader::read`].
    pub fn load(&self, file: File<'_>, offset: u64) -> Result<()> {
        // A block that is read in part is cached.
        self.read_some(file, offset..offset + 1, Access::Unknown)
            .map(drop)
    }

    /// Drops the block of a file that begins at `start` from the cache.
    pub fn forget(&self, file: Key, start: u64) {
        self.caches.blocks.remove(&(file, Part::Block(start)));
    }

    /// Announces to the source of a file that its beginning will be read soon,
    /// if the volume knows its position without reading.
    pub fn will_need(&self, file: File<'_>, length: u64) {
        if let Ok(Content::Extent { source, offset }) = file.volume.volume.content(file.file) {
            source.will_need(offset, length);
        }
    }

    /// Returns the size of a stream that was declared without one. If it is decoded for
    /// that, the spool keeps its blocks for the next reader.
    ///
    /// # Errors
    /// Returns the errors of [`Streams::size`].
    pub fn stream_size(&self, file: File<'_>, volume: &dyn Streams) -> Result<u64> {
        const _: () = assert!(STREAM_PIECE == BLOCK_SIZE as usize);
        volume.size(file.file, &mut |at, block| {
            self.decoders.keep(file.key(), at, block);
        })
    }

    /// Reads the beginning of `range` of a file: at least one byte, and as
    /// many as there are without putting anything together.
    ///
    /// # Errors
    /// Returns an error under the same conditions as [`Reader::read`].
    pub(super) fn read_some(
        &self,
        file: File<'_>,
        range: Range<u64>,
        access: Access,
    ) -> Result<Bytes> {
        match file.volume.volume.content(file.file)? {
            Content::Extent { source, offset } => {
                let mut bytes = vec![0; (range.end - range.start) as usize];
                let offset = offset + range.start;
                source
                    .read_exact_at(&mut bytes, offset)
                    .map_err(|cause| read_error(offset, bytes.len() as u64, cause))?;
                Ok(Bytes::Owned(bytes))
            }
            Content::Generated(volume) => {
                let wanted = range.clone();
                let bytes = self.rendered(Generated::once(file.key()), range, &|out| {
                    volume.generate(file.file, out)
                })?;
                if bytes.is_empty() && !wanted.is_empty() {
                    return Err(Error::Changed);
                }
                Ok(bytes)
            }
            Content::Chunks(volume) => self.read_chunk(file, volume, range, access),
            Content::Stream(volume) => {
                let stream = Stream {
                    file: file.key(),
                    nesting: file.volume.nesting,
                    start: 0,
                    needs: volume.needs(file.file),
                    open: &|position| volume.decoder_before(file.file, position),
                    restart: &|position| volume.restart_before(file.file, position),
                    whole: &|| volume.decode_whole(file.file),
                };
                self.decoders.read(&stream, range, access)
            }
            Content::Part { whole, offset } => {
                let volume = file.volume;
                debug_assert!(volume.volume.has_parts());
                let whole = File {
                    volume,
                    file: whole,
                };
                let bytes =
                    self.read_some(whole, offset + range.start..offset + range.end, access)?;
                // The file may be known to be damaged by now.
                volume.volume.content(file.file)?;
                Ok(bytes)
            }
        }
    }

    /// Reads the beginning of `wanted` in a file of chunks. For a chunk of one block that is
    /// cached, the chunk table is not needed.
    fn read_chunk(
        &self,
        file: File<'_>,
        volume: &dyn Chunks,
        wanted: Range<u64>,
        access: Access,
    ) -> Result<Bytes> {
        let blocks = &self.caches.blocks;
        let start = wanted.start - wanted.start % u64::from(BLOCK_SIZE);
        let key = (file.key(), Part::Block(start));
        let range = |block: &Block| start..start + block.len() as u64;
        let has_it = |block: &Block| range(block).contains(&wanted.start);
        let stays = |block: &Block| !has_it(block) || is_kept(&wanted, &range(block), access);
        let is_partial = matches!(access, Access::Head | Access::Part);
        let entry = match is_partial {
            true => blocks.peek_and_keep(&key, stays).map(Entry::Ready),
            false => Some(blocks.enter(&key, stays)?),
        };
        let making = match entry {
            Some(Entry::Ready(block)) if has_it(&block) => {
                return Ok(part_of_block(block, start, wanted));
            }
            Some(Entry::Mine(making)) => Some(making),
            _ => None,
        };
        let chunk = self.chunk_table(file, volume)?.at(wanted.start)?;
        if chunk.length > BLOCK_SIZE {
            drop(making);
            return self.read_long_chunk(file, volume, chunk, wanted, access);
        }
        if is_partial && let Some(part) = self.part_of_chunk(file, volume, chunk, &wanted)? {
            return Ok(part);
        }
        let decode = || {
            let decoded = volume.decode_chunk(file.file, chunk, chunk.length)?;
            self.stats.add_decoded(decoded.len());
            Ok(Arc::new(decoded))
        };
        let range = chunk.start..chunk.start + u64::from(chunk.length);
        let is_kept = is_kept(&wanted, &range, access);
        let block = match making.filter(|_| chunk.start == start) {
            Some(making) => blocks.finish(making, is_kept, decode())?,
            None => {
                let key = (file.key(), Part::Block(chunk.start));
                blocks.get_and_keep(&key, is_kept, decode)?
            }
        };
        Ok(part_of_block(block, chunk.start, wanted))
    }

    fn chunk_table(&self, file: File<'_>, volume: &dyn Chunks) -> Result<Arc<ChunkTable>> {
        let key = file.key();
        if let Some(table) = self.caches.tables.peek(&key) {
            return Ok(table);
        }
        let table = Arc::new(volume.chunk_table(file.file)?);
        // For one chunk it is read as quickly from the archive, and there may be
        // as many such files as the cache has bytes.
        if table.len() > 1 {
            self.caches.tables.put(&key, table.clone());
        }
        Ok(table)
    }

    /// Reads the part of `wanted` that is in one block of a chunk that has several.
    fn read_long_chunk(
        &self,
        file: File<'_>,
        volume: &dyn Chunks,
        chunk: Chunk,
        wanted: Range<u64>,
        access: Access,
    ) -> Result<Bytes> {
        let open = |_| {
            let reader = volume.open_chunk(file.file, chunk)?;
            Ok(Box::new(LongChunk::new(reader, chunk)) as Box<dyn Decoder>)
        };
        let stream = Stream {
            file: file.key(),
            nesting: file.volume.nesting,
            start: chunk.start,
            needs: Needs {
                memory: 0,
                is_copied: false,
                whole: None,
            },
            open: &open,
            restart: &|_| 0,
            whole: &|| None,
        };
        self.decoders.read(&stream, wanted, access)
    }
}
