//! Decoding what decodes only from its first byte on: packed files, solid
//! blocks, and chunks that are longer than a block.
//!
//! All readers of a stream share one decoder, which is kept at its position. It
//! goes forward. Readers behind it get bytes that were decoded before:
//!
//! * A stream that fits in memory, and has a decoder for that, is decoded at once.
//! * A longer stream is written to the spool as it is decoded, if all of it has
//!   room there. So it is decoded once.
//! * Some decoders can be copied. Copies are saved as checkpoints while a file
//!   is decoded, so that any byte is a bounded distance after one.
//!   The checkpoints of a file are one value of the cache, and are thinned out
//!   if they would take too much of it. Their windows are in the spool if that has
//!   room, so that they can be dense where the spool does not have the blocks.
//! * The blocks from other decoders stay in the cache until memory is short. The
//!   spool keeps the blocks on the way to a position far ahead. It keeps all
//!   blocks from the moment when a reader goes back to one that is gone.

mod memory;
mod slots;
#[cfg(test)]
mod tests;

use std::ops::Range;
use std::sync::Arc;

use self::memory::{DecoderMemory, Turn};
use self::slots::{Decoding, Progress, Slots, StreamKey, lock_wanted};
use super::BLOCK_SIZE;
use super::Key;
use super::block::{Access, Bytes, Caches, Part, is_kept, part_of_block};
use super::checkpoints::{Checkpoints, Windows};
use super::spool::{RECORD, Spool};
use super::stats::Stats;
use crate::memory::budget::Budget;
use crate::requester;
use hpimount_containers::io::{Error, Result};
use hpimount_containers::volume::{Decoder, Needs};

/// The checkpoints of one file may take the budget divided by this, and the
/// records of spooled blocks as well.
const SHARE: usize = 8;

/// A stream is kept in the spool as a whole if it is longer than the budget
/// divided by this. A shorter one is decoded at once, or its blocks stay in the
/// cache.
const SHORT: u64 = 4;

/// Distance of the checkpoints of a stream that is kept in the spool, in bytes:
/// they are needed only for blocks that the spool has evicted.
const SPARSE_SPACING: u64 = 8 << 20;

/// Distance over which all blocks are cached while decoding forward: concurrent
/// sequential readers are rarely further apart.
const TOGETHER: u64 = 1 << 20;

/// Minimum number of bytes that a decoder which was evicted decodes ahead into
/// the spool when it is needed again.
const MIN_AHEAD: u64 = 16 << 20;

/// Something that decodes from its first byte on.
pub(super) struct Stream<'a> {
    /// The file that it is in.
    pub(super) file: Key,
    /// Number of archives around its volume.
    pub(super) nesting: u8,
    /// The position in the file of its first byte.
    pub(super) start: u64,
    /// Requirements of its decoder.
    pub(super) needs: Needs,
    /// Returns a decoder at the last restart not after a position in the stream.
    pub(super) open: &'a dyn Fn(u64) -> Result<Box<dyn Decoder>>,
    /// Returns the position of that restart; 0 is the first byte.
    pub(super) restart: &'a dyn Fn(u64) -> u64,
    /// Decodes all of it at once, if [`Needs::whole`] says that this is possible.
    pub(super) whole: &'a dyn Fn() -> Option<Vec<u8>>,
}

impl Stream<'_> {
    /// Returns the file, and the position of the stream in it.
    fn key(&self) -> StreamKey {
        (self.file, self.start)
    }

    /// Returns the position in the file of the last restart not after `position`.
    fn restart(&self, position: u64) -> u64 {
        self.start + (self.restart)(position - self.start)
    }

    /// Returns the part of the cache for the block at a position in the file.
    fn part(&self, position: u64) -> Part {
        match self.needs.is_copied {
            true => Part::Block(position),
            false => Part::Piece(position),
        }
    }
}

/// The decoders of a reader.
pub(super) struct Decoders {
    caches: Arc<Caches>,
    spool: Arc<Spool>,
    budget: Arc<Budget>,
    stats: Arc<Stats>,
    memory: DecoderMemory,
    slots: Arc<Slots>,
}

impl Decoders {
    /// Creates an empty set of decoders, whose blocks are kept in `caches` and
    /// `spool`.
    pub(super) fn new(
        caches: &Arc<Caches>,
        spool: &Arc<Spool>,
        budget: &Arc<Budget>,
        stats: &Arc<Stats>,
    ) -> Self {
        let slots = Arc::new(Slots::new());
        let weak = Arc::downgrade(&slots);
        budget.register(weak);
        Self {
            caches: caches.clone(),
            spool: spool.clone(),
            budget: budget.clone(),
            stats: stats.clone(),
            memory: DecoderMemory::new(budget),
            slots,
        }
    }

    /// Reads the part of `wanted` that is in the block with its start.
    ///
    /// # Errors
    /// Returns [`Error::Changed`] if the stream ends earlier, and the errors of
    /// decoding.
    pub(super) fn read(
        &self,
        stream: &Stream<'_>,
        wanted: Range<u64>,
        access: Access,
    ) -> Result<Bytes> {
        if let Some(bytes) = self.part_of_whole(stream, &wanted, access) {
            return Ok(bytes);
        }
        let start = wanted.start - (wanted.start - stream.start) % u64::from(BLOCK_SIZE);
        let key = (stream.file, stream.part(start));
        if self.caches.blocks.peek(&key).is_none() {
            let part = self.spool.block_part(stream.file, start, &wanted);
            if let Some(bytes) = part {
                return Ok(Bytes::Owned(bytes));
            }
        }
        let is_kept =
            |length| !stream.needs.is_copied || is_kept(&wanted, &(start..start + length), access);
        let decode = || {
            let block = self.decode_to(stream, start, &wanted, access)?;
            Ok(Arc::new(block))
        };
        let block = self
            .caches
            .blocks
            .get_and_keep(&key, is_kept(BLOCK_SIZE.into()), decode)?;
        // The last block is shorter. One that was decoded on the way to a later
        // one is cached until it is read, and one of a stream that was decoded at
        // once is cached with that.
        if !is_kept(block.len() as u64) || self.whole(stream).is_some() {
            self.caches.blocks.remove(&key);
        }
        if wanted.start - start >= block.len() as u64 {
            return Err(Error::Changed);
        }
        Ok(part_of_block(block, start, wanted))
    }

    /// Returns all bytes of a stream that was decoded at once, if they are cached.
    fn whole(&self, stream: &Stream<'_>) -> Option<Arc<Vec<u8>>> {
        stream.needs.whole?;
        let key = (stream.file, Part::Whole(stream.start));
        self.caches.blocks.peek(&key)
    }

    /// Returns the part of `wanted` in a stream that was decoded at once, if that
    /// is cached. After its end was read in order, it is not cached any more.
    fn part_of_whole(
        &self,
        stream: &Stream<'_>,
        wanted: &Range<u64>,
        access: Access,
    ) -> Option<Bytes> {
        let bytes = self.whole(stream)?;
        let range = stream.start..stream.start + bytes.len() as u64;
        if !range.contains(&wanted.start) {
            return None;
        }
        self.caches.blocks.counters.hits.add(1);
        if !is_kept(wanted, &range, access) {
            self.caches
                .blocks
                .remove(&(stream.file, Part::Whole(stream.start)));
        }
        Some(part_of_block(bytes, stream.start, wanted.clone()))
    }

    /// Decodes a stream up to and including the block that begins at `start`;
    /// empty if the stream ends earlier.
    fn decode_to(
        &self,
        stream: &Stream<'_>,
        start: u64,
        wanted: &Range<u64>,
        access: Access,
    ) -> Result<Vec<u8>> {
        // Declared first, so that the decoder is unlocked or gone when it ends.
        let is_large = stream.needs.memory > 0;
        let turn = is_large.then(|| self.memory.turn(stream.key(), stream.nesting));
        let turn = turn.transpose()?;
        let slot = self.slots.get(stream.key());
        let mut progress = lock_wanted(&slot)?;
        // Another reader may have decoded it while this one waited.
        if let Some(block) = self.found(stream, start) {
            return Ok(block);
        }
        if let Some(block) = self.decode_whole(stream, start, wanted, &mut progress) {
            self.slots.end(stream.key());
            return Ok(block);
        }
        let is_once = access == Access::Once;
        let block = match stream.needs.is_copied {
            true => self.decode_copied(stream, start, is_once, &mut progress),
            false => self.decode_forward(stream, start, is_once, &mut progress, turn.as_ref()),
        };
        if progress.decoding.is_none() && block.is_ok() {
            // At the end, this makes room for others.
            self.slots.end(stream.key());
        }
        block
    }

    /// Returns a block that was decoded before.
    fn found(&self, stream: &Stream<'_>, start: u64) -> Option<Vec<u8>> {
        let key = (stream.file, stream.part(start));
        if let Some(block) = self.caches.blocks.peek(&key) {
            return Some(block.to_vec());
        }
        let block = start..start + u64::from(BLOCK_SIZE);
        if let Some(bytes) = self.part_of_whole(stream, &block, Access::Unknown) {
            return Some(bytes.to_vec());
        }
        self.spool.block_part(stream.file, start, &block)
    }

    /// Decodes a stream whose decoder can be copied, and saves checkpoints.
    fn decode_copied(
        &self,
        stream: &Stream<'_>,
        start: u64,
        is_once: bool,
        progress: &mut Progress,
    ) -> Result<Vec<u8>> {
        let checkpoints = self.checkpoints(stream);
        let kept = progress.decoding.take();
        let kept = kept.filter(|kept| kept.position() <= start);
        let from = kept.as_ref().map_or(0, Decoding::position);
        let mut windows = SpooledWindows {
            decoders: self,
            file: stream.file,
            has_room: true,
        };
        let copy = checkpoints.between(from, start, &windows);
        let is_copy = copy.is_some();
        let mut decoding = match (copy, kept) {
            (Some((at, decoder)), _) => Decoding {
                end: at + decoder.left(),
                decoder,
                charge: None,
            },
            (None, Some(kept)) => kept,
            (None, None) => self.new_decoding(stream, 0, None)?,
        };
        let is_near = start - decoding.position() <= TOGETHER;
        let keeps_all = !is_once && self.keeps_all(stream, &decoding);
        let is_sparse = is_once || keeps_all;
        windows.has_room = !is_sparse;
        loop {
            decoding = self.wanted(decoding, progress)?;
            let at = decoding.position();
            let limit = self.budget.limit() / SHARE;
            let is_due = !is_sparse || at.is_multiple_of(SPARSE_SPACING);
            if is_due
                && decoding.decoder.left() > 0
                && checkpoints.save(at, &*decoding.decoder, &windows, limit)
            {
                // Their memory has changed.
                let changed = checkpoints.clone();
                self.caches.checkpoints.put(&stream.file, changed);
            }
            let block = self.next_block(&mut decoding)?;
            let is_spooled = keeps_all && self.spool(stream, at, &block);
            if at >= start || block.is_empty() {
                progress.decoding = self.kept(decoding);
                return Ok(block);
            }
            if is_near && !is_copy && !is_spooled {
                self.cache(stream, at, block);
            }
        }
    }

    /// Returns whether the spool keeps all blocks of a stream: memory does not, and
    /// there is room for them beside others.
    fn keeps_all(&self, stream: &Stream<'_>, decoding: &Decoding) -> bool {
        let length = decoding.end - stream.start;
        length > self.budget.limit() as u64 / SHORT && length <= self.max_spooled()
    }

    /// Returns the maximum length of a stream that the spool keeps beside others.
    fn max_spooled(&self) -> u64 {
        let records = (self.budget.limit() / SHARE / RECORD) as u64;
        let blocks = records / 4 * 3 * u64::from(BLOCK_SIZE);
        blocks.min(self.spool.size() / 4 * 3)
    }

    /// Spools a block of a stream of unknown length, unless the block ends where a stream
    /// is too long for the spool.
    pub(super) fn keep(&self, file: Key, at: u64, block: &[u8]) {
        self.stats.add_decoded(block.len());
        if at + block.len() as u64 <= self.max_spooled() {
            self.keep_spooled(file, at, block);
        }
    }

    /// Decodes a whole stream at once, if that is possible within a part of the
    /// budget, and returns the block that begins at `start`. A program that reads
    /// on finds the rest in the cache, and one that reads here and there finds it in
    /// the spool.
    fn decode_whole(
        &self,
        stream: &Stream<'_>,
        start: u64,
        wanted: &Range<u64>,
        progress: &mut Progress,
    ) -> Option<Vec<u8>> {
        let whole = stream.needs.whole.filter(|_| !progress.is_not_whole)?;
        let size = usize::try_from(whole.size).ok()?;
        let memory = usize::try_from(whole.packed).ok()?.checked_add(size)?;
        // Decoding stops early for a program that reads only the beginning.
        let reads_start = start == 0 && wanted.end < u64::from(BLOCK_SIZE).min(whole.size);
        if memory > self.budget.limit() / 2 || reads_start && size > BLOCK_SIZE as usize {
            return None;
        }
        let charge = self.budget.charge("a packed file", memory).ok()?;
        let Some(bytes) = (stream.whole)() else {
            progress.is_not_whole = true;
            return None;
        };
        drop(charge);
        self.stats.add_decoded(bytes.len());
        let position = progress.decoding.take().map(|kept| kept.position());
        if bytes.len() <= BLOCK_SIZE as usize {
            return Some(bytes);
        }
        let number = usize::try_from(start / u64::from(BLOCK_SIZE)).ok()?;
        let block = bytes.chunks(BLOCK_SIZE as usize).nth(number)?.to_vec();
        let reads_on = match position {
            Some(position) => (position..=position + TOGETHER).contains(&start),
            None => start == 0,
        };
        if reads_on || !self.spool_whole(stream, &bytes) {
            let key = (stream.file, Part::Whole(stream.start));
            self.caches.blocks.put(&key, Arc::new(bytes));
        }
        Some(block)
    }

    /// Spools all blocks of a stream. Returns false if there is no space for one.
    fn spool_whole(&self, stream: &Stream<'_>, bytes: &[u8]) -> bool {
        let starts = (stream.start..).step_by(BLOCK_SIZE as usize);
        let mut blocks = starts.zip(bytes.chunks(BLOCK_SIZE as usize));
        blocks.all(|(at, block)| self.spool(stream, at, block))
    }

    /// Decodes a stream whose decoder cannot be copied. The cache or the spool
    /// keeps everything, because to decode it again begins at the start.
    fn decode_forward(
        &self,
        stream: &Stream<'_>,
        start: u64,
        is_once: bool,
        progress: &mut Progress,
        turn: Option<&Turn<'_>>,
    ) -> Result<Vec<u8>> {
        let kept = progress.decoding.take();
        let is_new = kept.is_none();
        let is_behind = kept.as_ref().is_some_and(|kept| kept.position() > start);
        progress.goes_back |= is_behind;
        // Bytes before a restart need not be decoded.
        let is_nearest = |kept: &Decoding| {
            let is_near = start.saturating_sub(kept.position()) <= TOGETHER;
            is_near || stream.restart(start) <= kept.position()
        };
        let kept = kept.filter(|kept| !is_behind && is_nearest(kept));
        let mut decoding = match kept {
            Some(kept) => kept,
            None => self.new_decoding(stream, start, turn)?,
        };
        let is_again = std::mem::take(&mut progress.is_evicted) && is_new;
        let is_far = start - decoding.position() > TOGETHER;
        let keeps_all = progress.goes_back || !is_once && self.keeps_all(stream, &decoding);
        let block = loop {
            decoding = self.wanted(decoding, progress)?;
            let at = decoding.position();
            let block = self.next_block(&mut decoding)?;
            if at >= start || block.is_empty() {
                if keeps_all {
                    self.spool(stream, at, &block);
                }
                break block;
            }
            let spools = is_far || is_again || keeps_all;
            if !(spools && self.spool(stream, at, &block)) {
                self.cache(stream, at, block);
            }
        };
        progress.decoding = match is_again {
            true => self.decode_ahead(stream, start, decoding),
            false => self.kept(decoding),
        };
        Ok(block)
    }

    /// Decodes ahead into the spool as much again as was decoded, since the
    /// decoder will probably be evicted again: so it decodes a stream to its end
    /// with few beginnings.
    fn decode_ahead(
        &self,
        stream: &Stream<'_>,
        start: u64,
        mut decoding: Decoding,
    ) -> Option<Decoding> {
        let end = start + (start - stream.start).max(MIN_AHEAD);
        while decoding.position() < end && decoding.decoder.left() > 0 && !requester::is_killed() {
            let at = decoding.position();
            // An error is left to the reader who comes there.
            let block = self.next_block(&mut decoding).ok()?;
            if !self.spool(stream, at, &block) {
                self.cache(stream, at, block);
                break;
            }
        }
        self.kept(decoding)
    }

    /// Returns a decoder if its reader still waits; otherwise it is kept for others.
    fn wanted(&self, decoding: Decoding, progress: &mut Progress) -> Result<Decoding> {
        match requester::check() {
            Ok(()) => Ok(decoding),
            Err(killed) => {
                progress.decoding = self.kept(decoding);
                Err(killed)
            }
        }
    }

    fn next_block(&self, decoding: &mut Decoding) -> Result<Vec<u8>> {
        let block = decoding.next_block()?;
        self.stats.add_decoded(block.len());
        Ok(block)
    }

    fn cache(&self, stream: &Stream<'_>, at: u64, block: Vec<u8>) {
        let key = (stream.file, stream.part(at));
        self.caches.blocks.put(&key, Arc::new(block));
    }

    /// Spools a block. Returns false if there is no space for it.
    fn spool(&self, stream: &Stream<'_>, at: u64, block: &[u8]) -> bool {
        self.keep_spooled(stream.file, at, block)
    }

    fn keep_spooled(&self, file: Key, at: u64, bytes: &[u8]) -> bool {
        let record = self.budget.charge("the record of a spooled block", RECORD);
        let max_memory = self.budget.limit() / SHARE;
        record.is_ok_and(|record| {
            let key = (file, at);
            self.spool.keep_block(key, bytes, record, max_memory)
        })
    }

    fn checkpoints(&self, stream: &Stream<'_>) -> Arc<Checkpoints> {
        let cached = self.caches.checkpoints.peek(&stream.file);
        cached.unwrap_or_default()
    }

    /// Returns a new decoder, at the first block after the last restart before
    /// `position`. Memory beyond a few buffers is charged before it is created.
    fn new_decoding(
        &self,
        stream: &Stream<'_>,
        position: u64,
        turn: Option<&Turn<'_>>,
    ) -> Result<Decoding> {
        let charge = turn.map(|turn| turn.charge(stream.needs.memory));
        let charge = charge.transpose()?;
        let within = position.saturating_sub(stream.start);
        let mut decoder = (stream.open)(within)?;
        let restart = (stream.restart)(within);
        let end = stream.start + restart + decoder.left();
        // Restarts are not at block boundaries.
        let partial = restart.next_multiple_of(BLOCK_SIZE.into()) - restart;
        let mut partial = vec![0; partial.min(decoder.left()) as usize];
        decoder.read(&mut partial)?;
        Ok(Decoding {
            end,
            decoder,
            charge,
        })
    }

    /// Returns a decoder to be kept for readers that continue, if there is memory
    /// for it and something left to decode.
    fn kept(&self, mut decoding: Decoding) -> Option<Decoding> {
        if decoding.decoder.left() == 0 {
            return None;
        }
        if decoding.charge.is_none() {
            let memory = decoding.decoder.memory();
            decoding.charge = self.budget.charge("a decoder", memory).ok();
        }
        decoding.charge.is_some().then_some(decoding)
    }
}

/// The windows of checkpoints of a file, in the spool.
struct SpooledWindows<'a> {
    decoders: &'a Decoders,
    file: Key,
    /// False if the spool keeps all blocks of the stream: the windows would be evicted together
    /// with them.
    has_room: bool,
}

impl SpooledWindows<'_> {
    /// Returns the key of the window of a checkpoint in the spool: a position
    /// where no block begins.
    fn key(position: u64) -> u64 {
        position + 1
    }
}

impl Windows for SpooledWindows<'_> {
    fn keep(&self, position: u64, window: &[u8]) -> bool {
        self.has_room
            && self
                .decoders
                .keep_spooled(self.file, Self::key(position), window)
    }

    fn get(&self, position: u64) -> Option<Box<[u8]>> {
        let start = Self::key(position);
        let spool = &self.decoders.spool;
        let window = spool.block_part(self.file, start, &(start..u64::MAX))?;
        Some(window.into())
    }
}
