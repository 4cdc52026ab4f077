//! Generated files that are too large for memory, and small files and decoded blocks
//! that would take long to make again, in a temporary file without a name.
//!
//! The file is divided into extents of one size. A spooled file has some of
//! them, in any order, as spooled blocks have; they are released when it is evicted.
//! Small files share an extent.

use std::fs::File;
use std::io::{self, Write};
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use super::Key;
use crate::memory::budget::{Budget, Charge, Reclaim};
use crate::memory::cache::{Cache, Value};
use crate::platform::{read_exact_at, write_all_at};
use crate::sync::lock;
use hpimount_containers::io::Error;

/// Bytes of an extent.
const EXTENT: usize = 32 << 10;

/// Memory of the record of a spooled block, in bytes.
pub(super) const RECORD: usize = 256;

/// Maximum length of a small file: two of them share an extent.
pub(super) const MAX_SMALL: usize = EXTENT / 2;

/// Maximum number of small files in an extent: their records are not dropped before it is
/// written, and empty ones would never fill it.
const MAX_SHARING: usize = 256;

/// Memory of the record of a small file, in bytes.
pub(super) const SMALL_RECORD: usize = 192;

/// Storage for data that is too large for memory.
pub struct Spool {
    shared: Arc<Shared>,
    /// The files. Their budget is disk space.
    files: Arc<Cache<Key, Arc<Spooled>, Error>>,
    /// The blocks, by file and position, within the same budget.
    blocks: Arc<Cache<(Key, u64), Arc<SpooledBlock>, Error>>,
    /// The small files, within the same budget.
    small: Arc<Cache<Key, Arc<SmallFile>, Error>>,
    /// The extent that is being filled with small files.
    open: Mutex<OpenExtent>,
}

struct Shared {
    /// Opened on demand.
    file: OnceLock<io::Result<Arc<File>>>,
    space: Arc<Budget>,
    extents: Mutex<Extents>,
    /// Number of blocks.
    blocks: AtomicUsize,
    /// Number of small files.
    small: AtomicUsize,
}

/// An extent that is not written yet.
#[derive(Default)]
struct OpenExtent {
    bytes: Vec<u8>,
    /// The files in it, and the charges of their records.
    files: Vec<(Key, Range<usize>, Charge)>,
}

#[derive(Default)]
struct Extents {
    /// The first one that was never used.
    next: u32,
    free: Vec<u32>,
}

impl Spool {
    /// Creates a spool of at most `size` bytes in `file`, which must not be
    /// used otherwise, or in a temporary file.
    pub fn new(file: Option<Arc<File>>, size: u64) -> Self {
        let space = Budget::new(usize::try_from(size).unwrap_or(usize::MAX));
        let opened = OnceLock::new();
        if let Some(file) = file {
            // Cannot fail: the lock has not been set before.
            let _ = opened.set(Ok(file));
        }
        Self {
            files: Cache::new(&space, 1),
            blocks: Cache::new(&space, 1),
            small: Cache::new(&space, 1),
            open: Mutex::default(),
            shared: Arc::new(Shared {
                file: opened,
                space,
                extents: Mutex::default(),
                blocks: AtomicUsize::new(0),
                small: AtomicUsize::new(0),
            }),
        }
    }

    /// Returns the file with this `key`.
    pub fn get(&self, key: Key) -> Option<Arc<Spooled>> {
        self.files.peek(&key)
    }

    /// Keeps a file until space is short.
    pub fn keep(&self, key: Key, file: Arc<Spooled>) {
        self.files.put(&key, file);
    }

    /// Returns a file of this spool to be written.
    pub fn writer(&self) -> SpoolWriter {
        SpoolWriter {
            spooled: self.empty(),
            buffer: Vec::with_capacity(EXTENT),
        }
    }

    fn empty(&self) -> Spooled {
        Spooled {
            charge: self.shared.space.empty_charge("a generated file"),
            shared: self.shared.clone(),
            extents: Vec::new(),
            len: 0,
        }
    }

    /// Keeps decoded bytes of the file with this `key` from `start` on. Returns false
    /// when space is short, or when the records would exceed `max_memory`. `record`
    /// reserves memory for the first of them ([`RECORD`] bytes).
    pub(super) fn keep_block(
        &self,
        (key, start): (Key, u64),
        bytes: &[u8],
        record: Charge,
        max_memory: usize,
    ) -> bool {
        while self.shared.blocks.load(Ordering::Relaxed) >= max_memory / RECORD {
            if !self.blocks.evict_oldest() {
                return false;
            }
        }
        let mut spooled = self.empty();
        let written = bytes
            .chunks(EXTENT)
            .try_for_each(|piece| spooled.write(piece));
        if let Err(error) = &written {
            log::debug!("cannot keep decoded bytes: {error}");
            return false;
        }
        let block = SpooledBlock {
            bytes: spooled,
            _record: record,
        };
        self.shared.blocks.fetch_add(1, Ordering::Relaxed);
        self.blocks.put(&(key, start), Arc::new(block));
        self.blocks.peek(&(key, start)).is_some()
    }

    /// Returns the part of `range` in the bytes that are kept from `start` on of the
    /// file with this `key`; `None` if they are not kept.
    pub(super) fn block_part(&self, key: Key, start: u64, range: &Range<u64>) -> Option<Vec<u8>> {
        let block = self.blocks.peek(&(key, start))?;
        let end = range.end.min(start + block.bytes.len);
        let length = end.checked_sub(range.start).filter(|&length| length > 0)?;
        let mut bytes = vec![0; usize::try_from(length).ok()?];
        let read = block.bytes.read_exact_at(&mut bytes, range.start - start);
        read.is_ok().then_some(bytes)
    }

    /// Keeps a file of at most [`MAX_SMALL`] bytes, unless space is short. If the records of
    /// such files exceed `max_memory`, older ones are dropped. `record` is the charge of its
    /// own one ([`SMALL_RECORD`] bytes).
    pub(super) fn keep_small(&self, key: Key, bytes: &[u8], record: Charge, max_memory: usize) {
        let mut open = lock(&self.open);
        let has_room = open.bytes.len() + bytes.len() <= EXTENT && open.files.len() < MAX_SHARING;
        let full = (!has_room).then(|| std::mem::take(&mut *open));
        let start = open.bytes.len();
        open.bytes.extend_from_slice(bytes);
        let range = start..open.bytes.len();
        open.files.push((key, range, record));
        drop(open);
        if let Some(full) = full {
            self.keep_extent(full, max_memory);
        }
    }

    fn keep_extent(&self, full: OpenExtent, max_memory: usize) {
        let mut extent = self.empty();
        if let Err(error) = extent.write(&full.bytes) {
            log::debug!("cannot keep generated files: {error}");
            return;
        }
        let extent = Arc::new(extent);
        for (key, range, record) in full.files {
            while self.shared.small.load(Ordering::Relaxed) >= max_memory / SMALL_RECORD {
                if !self.small.evict_oldest() {
                    return;
                }
            }
            self.shared.small.fetch_add(1, Ordering::Relaxed);
            let file = SmallFile {
                extent: extent.clone(),
                range,
                _record: record,
            };
            self.small.put(&key, Arc::new(file));
        }
    }

    /// Returns the size of the small file with this `key`, if it is kept.
    pub(super) fn small_size(&self, key: Key) -> Option<u64> {
        let range = match self.small.peek(&key) {
            Some(file) => file.range.clone(),
            None => {
                let open = lock(&self.open);
                let mut files = open.files.iter();
                files.find(|(kept, ..)| *kept == key)?.1.clone()
            }
        };
        Some(range.len() as u64)
    }

    /// Returns the bytes of the small file with this `key`, if it is kept.
    pub(super) fn small(&self, key: Key) -> Option<Vec<u8>> {
        let Some(file) = self.small.peek(&key) else {
            let open = lock(&self.open);
            let (_, range, _) = open.files.iter().find(|(kept, ..)| *kept == key)?;
            return Some(open.bytes[range.clone()].to_vec());
        };
        let mut bytes = vec![0; file.range.len()];
        let read = file
            .extent
            .read_exact_at(&mut bytes, file.range.start as u64);
        read.is_ok().then_some(bytes)
    }

    /// Returns the maximum number of bytes on disk.
    pub(super) fn size(&self) -> u64 {
        self.shared.space.limit() as u64
    }

    /// Returns the bytes on disk that are in use.
    pub fn used(&self) -> usize {
        self.shared.space.used()
    }
}

impl Shared {
    fn file(&self) -> io::Result<&File> {
        let file = self.file.get_or_init(|| tempfile::tempfile().map(Arc::new));
        match file {
            Ok(file) => Ok(file),
            Err(error) => Err(io::Error::new(error.kind(), error.to_string())),
        }
    }

    fn take_extent(&self) -> u32 {
        let mut extents = lock(&self.extents);
        extents.free.pop().unwrap_or_else(|| {
            let extent = extents.next;
            extents.next += 1;
            extent
        })
    }
}

/// A file in the spool.
pub struct Spooled {
    shared: Arc<Shared>,
    charge: Charge,
    extents: Vec<u32>,
    len: u64,
}

impl Spooled {
    /// Returns the length in bytes.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Fills `buf` with the bytes at `position`, which are inside the file.
    ///
    /// # Errors
    /// Returns the error of the operating system.
    pub fn read_exact_at(&self, mut buf: &mut [u8], mut position: u64) -> io::Result<()> {
        while !buf.is_empty() {
            let within = (position % EXTENT as u64) as usize;
            let extent = self.extents.get((position / EXTENT as u64) as usize);
            let extent = u64::from(*extent.ok_or(io::ErrorKind::UnexpectedEof)?);
            let length = buf.len().min(EXTENT - within);
            let (now, later) = buf.split_at_mut(length);
            let offset = extent * EXTENT as u64 + within as u64;
            read_exact_at(self.shared.file()?, now, offset)?;
            buf = later;
            position += length as u64;
        }
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let used = (self.extents.len() + 1) * EXTENT;
        self.charge.grow_to(used).map_err(|_| {
            io::Error::new(
                io::ErrorKind::StorageFull,
                "it needs more space than -o spoolsize= allows",
            )
        })?;
        let extent = self.shared.take_extent();
        self.extents.push(extent);
        self.len += bytes.len() as u64;
        let offset = u64::from(extent) * EXTENT as u64;
        write_all_at(self.shared.file()?, bytes, offset)
    }
}

impl Drop for Spooled {
    fn drop(&mut self) {
        lock(&self.shared.extents).free.append(&mut self.extents);
    }
}

/// Decoded bytes in the spool.
struct SpooledBlock {
    bytes: Spooled,
    _record: Charge,
}

impl Drop for SpooledBlock {
    fn drop(&mut self) {
        self.bytes.shared.blocks.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A small file: a part of an extent.
struct SmallFile {
    extent: Arc<Spooled>,
    range: Range<usize>,
    _record: Charge,
}

impl Drop for SmallFile {
    fn drop(&mut self) {
        self.extent.shared.small.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Value for Arc<SmallFile> {
    fn weight(&self) -> usize {
        0
    }
}

impl Value for Arc<SpooledBlock> {
    fn weight(&self) -> usize {
        0
    }

    fn is_in_use(&self) -> bool {
        Arc::strong_count(self) > 1
    }
}

impl Value for Arc<Spooled> {
    fn weight(&self) -> usize {
        0
    }

    fn is_in_use(&self) -> bool {
        Arc::strong_count(self) > 1
    }
}

/// Writes a file of a spool.
pub struct SpoolWriter {
    spooled: Spooled,
    /// The extent that is being filled.
    buffer: Vec<u8>,
}

impl SpoolWriter {
    /// Finishes the file and returns it.
    ///
    /// # Errors
    /// Returns the errors of writing.
    pub fn finish(mut self) -> io::Result<Arc<Spooled>> {
        self.flush_extent()?;
        Ok(Arc::new(self.spooled))
    }

    fn flush_extent(&mut self) -> io::Result<()> {
        if !self.buffer.is_empty() {
            self.spooled.write(&self.buffer)?;
            self.buffer.clear();
        }
        Ok(())
    }
}

impl Write for SpoolWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let length = bytes.len().min(EXTENT - self.buffer.len());
        self.buffer.extend_from_slice(&bytes[..length]);
        if self.buffer.len() == EXTENT {
            self.flush_extent()?;
        }
        Ok(length)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::content::VolumeId;
    use hpimount_containers::volume::FileId;

    fn key(file: u32) -> Key {
        Key {
            volume: VolumeId(0, 0),
            file: FileId(file),
        }
    }

    /// Returns a file of `length` bytes that differ from number to number.
    fn write(spool: &Spool, number: u32, length: usize) -> io::Result<Arc<Spooled>> {
        let mut writer = spool.writer();
        for position in 0..length {
            writer.write_all(&[(position as u32 ^ number) as u8])?;
        }
        writer.finish()
    }

    fn check(file: &Spooled, number: u32) {
        let mut bytes = vec![0; file.len() as usize - 1];
        file.read_exact_at(&mut bytes, 1).unwrap();
        let expected = |position: usize| ((position as u32 + 1) ^ number) as u8;
        assert!((0..bytes.len()).all(|position| bytes[position] == expected(position)));
    }

    #[test]
    fn files_keep_their_bytes_while_others_are_written_and_evicted() {
        let spool = Spool::new(None, 5 * EXTENT as u64);
        let held = write(&spool, 7, EXTENT + 10).unwrap();
        for number in 0..10 {
            let file = write(&spool, number, EXTENT + number as usize).unwrap();
            check(&file, number);
            spool.keep(key(number), file);
            check(&held, 7);
        }
        assert!(spool.get(key(0)).is_none(), "evicted for the others");
        check(&spool.get(key(9)).unwrap(), 9);
        assert!(spool.used() <= 5 * EXTENT);
    }

    #[test]
    fn small_files_share_extents_until_their_records_take_too_much_memory() {
        let (spool, memory) = (Spool::new(None, 8 * EXTENT as u64), Budget::new(1 << 20));
        let bytes = |number: u32| vec![number as u8; 1000 + number as usize];
        for number in 0..200 {
            let record = memory.charge("a record", SMALL_RECORD).unwrap();
            spool.keep_small(key(number), &bytes(number), record, 100 * SMALL_RECORD);
        }
        assert!(spool.used() <= 8 * EXTENT);
        let kept: Vec<u32> = (0..200)
            .filter(|&number| spool.small(key(number)).is_some())
            .collect();
        // The files of the last extent are not written yet.
        assert!((100..130).contains(&kept.len()), "{kept:?}");
        for number in kept {
            assert_eq!(spool.small(key(number)).unwrap(), bytes(number));
        }
        assert!(memory.used() <= 200 * SMALL_RECORD);
    }

    #[test]
    fn records_of_empty_files_take_a_bounded_memory() {
        let (spool, memory) = (Spool::new(None, 8 * EXTENT as u64), Budget::new(1 << 20));
        for number in 0..10_000 {
            let record = memory.charge("a record", SMALL_RECORD).unwrap();
            spool.keep_small(key(number), &[], record, 100 * SMALL_RECORD);
        }
        assert!(memory.used() <= (100 + MAX_SHARING) * SMALL_RECORD);
        assert_eq!(spool.small(key(9_999)).unwrap(), b"");
    }

    #[test]
    fn a_file_larger_than_the_spool_is_an_error_and_uses_no_space() {
        let spool = Spool::new(None, EXTENT as u64);
        let error = write(&spool, 0, EXTENT + 1).err().unwrap();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        assert_eq!(spool.used(), 0);
        assert!(write(&spool, 0, EXTENT).is_ok());
    }
}
