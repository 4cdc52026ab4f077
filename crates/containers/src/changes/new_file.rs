//! The files with the new contents of entries.
//!
//! A plan has hundreds of thousands of them and keeps them in several lists, so a
//! [`NewFile`] is a reference: to the row of a file in [`NewFiles`], or to a file of
//! its own.

use std::fmt;
use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use crate::io::{Compact, Composed, Origin, Patch, ReadAt, Result, read_error, unit_in};

/// Number of bytes that are read at a time.
const PIECE: usize = 64 << 10;

/// A table of files whose bytes follow one another in one source.
#[derive(Default)]
pub struct FileTable {
    /// All paths.
    paths: String,
    rows: Vec<Row>,
}

struct Row {
    /// The end of its path in all paths.
    path_end: usize,
    /// The end of its bytes in the source.
    end: u64,
    modified: i64,
    version: u64,
}

impl FileTable {
    /// Adds a file with its length in bytes and its modification time in seconds since
    /// 1970 UTC. `version` is a number that changes with its bytes, or 0.
    pub fn push(&mut self, path: &str, len: u64, modified: i64, version: u64) {
        let start = self.rows.last().map_or(0, |row| row.end);
        self.paths.make_room(path.len());
        self.paths.push_str(path);
        self.rows.make_room(1);
        self.rows.push(Row {
            path_end: self.paths.len(),
            end: start.saturating_add(len),
            modified,
            version,
        });
    }

    /// Returns the path of a file in the folder of changes.
    ///
    /// # Panics
    /// Panics if there is no such file.
    pub fn path(&self, number: usize) -> &str {
        let start = number.checked_sub(1);
        let start = start.map_or(0, |before| self.rows[before].path_end);
        &self.paths[start..self.rows[number].path_end]
    }

    /// Returns the number that changes with the bytes of a file.
    ///
    /// # Panics
    /// Panics if there is no such file.
    pub fn version(&self, number: usize) -> u64 {
        self.rows[number].version
    }

    /// Returns the bytes of the source that a file has.
    ///
    /// # Panics
    /// Panics if there is no such file.
    pub fn range(&self, number: usize) -> Range<u64> {
        let start = number.checked_sub(1);
        start.map_or(0, |before| self.rows[before].end)..self.rows[number].end
    }

    /// Returns the number of the file with the byte at an offset of the source.
    pub fn file_at(&self, offset: u64) -> usize {
        self.rows.partition_point(|row| row.end <= offset)
    }

    /// Returns the length of the source in bytes.
    pub fn len(&self) -> u64 {
        self.rows.last().map_or(0, |row| row.end)
    }

    /// Returns whether no file has bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns its memory in bytes.
    pub fn memory(&self) -> usize {
        self.paths.capacity() + self.rows.capacity() * size_of::<Row>()
    }

    /// Gives back the memory for more files.
    pub fn shrink_to_fit(&mut self) {
        self.paths.shrink_to_fit();
        self.rows.shrink_to_fit();
    }
}

/// The files of a folder.
pub struct NewFiles {
    table: Arc<FileTable>,
    source: Arc<dyn ReadAt>,
    /// Checksums of its files, once one is asked for: the kind and the value.
    checksums: OnceLock<Box<[AtomicU64]>>,
}

/// A kind of checksum that archives have of their files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Checksum {
    /// CRC-32, as in zip archives.
    Crc32 = 1,
    /// The checksum of assets in HIP archives.
    Hip = 2,
    /// The checksum of files in HPI archives of version 2.
    Hpi2 = 3,
}

impl NewFiles {
    /// Creates the files of a table, whose bytes `source` has.
    pub fn new(table: Arc<FileTable>, source: Arc<dyn ReadAt>) -> Arc<Self> {
        Arc::new(Self {
            table,
            source,
            checksums: OnceLock::new(),
        })
    }

    /// Returns the path of a file in the folder of changes.
    pub(super) fn path(&self, number: u32) -> &str {
        self.table.path(number as usize)
    }
}

impl fmt::Debug for NewFiles {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("NewFiles").finish_non_exhaustive()
    }
}

/// A file with the new contents of an entry.
#[derive(Clone)]
pub struct NewFile(Place);

#[derive(Clone)]
enum Place {
    Alone(Arc<Alone>),
    /// A row of a table.
    Row(Arc<NewFiles>, u32),
}

/// A file of its own.
struct Alone {
    path: Box<str>,
    bytes: Arc<dyn ReadAt>,
}

impl NewFile {
    /// Creates a file with these bytes. Messages name its path in the folder of
    /// changes.
    pub fn new(path: impl Into<Box<str>>, bytes: Arc<dyn ReadAt>) -> Self {
        let path = path.into();
        Self(Place::Alone(Arc::new(Alone { path, bytes })))
    }

    /// Returns a file of a folder by its number.
    pub fn of(files: &Arc<NewFiles>, number: u32) -> Self {
        Self(Place::Row(files.clone(), number))
    }

    /// Returns its folder and its number there; `None` if it is alone.
    pub(super) fn row(&self) -> Option<(&Arc<NewFiles>, u32)> {
        match &self.0 {
            Place::Alone(_) => None,
            Place::Row(files, number) => Some((files, *number)),
        }
    }

    /// Returns its path in the folder of changes, for messages.
    pub fn path(&self) -> &str {
        match &self.0 {
            Place::Alone(alone) => &alone.path,
            Place::Row(files, number) => files.path(*number),
        }
    }

    /// Returns whether this is a copy of another one, or its original.
    pub fn is_same(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Place::Alone(one), Place::Alone(other)) => Arc::ptr_eq(one, other),
            (Place::Row(files, number), Place::Row(others, other)) => {
                Arc::ptr_eq(files, others) && number == other
            }
            _ => false,
        }
    }

    /// Returns its modification time in seconds since 1970 UTC, if it has one.
    pub fn modified(&self) -> Option<i64> {
        match &self.0 {
            Place::Alone(_) => None,
            Place::Row(files, number) => Some(files.table.rows[*number as usize].modified),
        }
    }

    /// Returns a number that changes with its bytes; 0 for a file of its own.
    pub fn version(&self) -> u64 {
        match &self.0 {
            Place::Alone(_) => 0,
            Place::Row(files, number) => files.table.version(*number as usize),
        }
    }

    /// Returns the source that has its bytes, and where.
    pub fn place(&self) -> (&Arc<dyn ReadAt>, Range<u64>) {
        match &self.0 {
            Place::Alone(alone) => (&alone.bytes, 0..alone.bytes.len()),
            Place::Row(files, number) => (&files.source, files.table.range(*number as usize)),
        }
    }

    /// Returns it as a source of its own.
    pub fn composed(&self) -> Composed {
        let (source, range) = self.place();
        Composed::part(source, range)
    }

    /// Returns its length in bytes.
    pub fn len(&self) -> u64 {
        let (_, range) = self.place();
        range.end - range.start
    }

    /// Returns whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Calls `take` with all of its bytes, in order.
    ///
    /// # Errors
    /// Returns [`Error::Read`](crate::io::Error::Read) if it cannot be read.
    pub fn read(&self, take: &mut dyn FnMut(&[u8])) -> Result<()> {
        let mut piece = vec![0; self.len().min(PIECE as u64) as usize];
        let mut offset = 0;
        while offset < self.len() {
            let length = (self.len() - offset).min(PIECE as u64) as usize;
            let read = self.read_exact_at(&mut piece[..length], offset);
            read.map_err(|cause| read_error(offset, length as u64, cause))?;
            take(&piece[..length]);
            offset += length as u64;
        }
        Ok(())
    }

    /// Returns the CRC-32 of its bytes.
    ///
    /// # Errors
    /// Returns [`Error::Read`](crate::io::Error::Read) if it cannot be read.
    pub fn crc32(&self) -> Result<u32> {
        self.checksum(Checksum::Crc32, || {
            let mut sum = crc32fast::Hasher::new();
            self.read(&mut |bytes| sum.update(bytes))?;
            Ok(sum.finalize())
        })
    }

    /// Returns a checksum of its bytes, which `compute` computes if it is not known from
    /// another plan with this file.
    ///
    /// # Errors
    /// Returns the error of `compute`.
    pub fn checksum(&self, kind: Checksum, compute: impl FnOnce() -> Result<u32>) -> Result<u32> {
        let Place::Row(files, number) = &self.0 else {
            return compute();
        };
        let checksums = files.checksums.get_or_init(|| {
            let rows = files.table.rows.iter();
            rows.map(|_| AtomicU64::new(0)).collect()
        });
        let known = &checksums[*number as usize];
        let value = known.load(Ordering::Relaxed);
        if value >> 32 == kind as u64 {
            return Ok(value as u32);
        }
        let value = compute()?;
        known.store((kind as u64) << 32 | u64::from(value), Ordering::Relaxed);
        Ok(value)
    }
}

impl Composed {
    /// Appends a file.
    pub fn append_file(&mut self, file: &NewFile) {
        let (source, range) = file.place();
        self.append(source, range);
    }
}

impl Patch {
    /// Puts a file at `at`.
    pub fn put_file(&mut self, at: u64, file: &NewFile) {
        let (source, range) = file.place();
        self.put_range(at, source, range);
    }
}

impl fmt::Debug for NewFile {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_tuple("NewFile")
            .field(&self.path())
            .finish()
    }
}

impl ReadAt for NewFile {
    fn len(&self) -> u64 {
        self.len()
    }

    fn origin_at(&self, offset: u64) -> Origin<'_> {
        let (source, range) = self.place();
        Origin {
            length: self.len().saturating_sub(offset),
            ..Origin::of(&**source, range.start.saturating_add(offset))
        }
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        self.check_end(buf.len(), offset)?;
        let (source, range) = self.place();
        source.read_exact_at(buf, range.start.saturating_add(offset))
    }

    fn will_need(&self, offset: u64, length: u64) {
        let (source, range) = self.place();
        source.will_need(range.start.saturating_add(offset), length);
    }

    fn unit_at(&self, offset: u64) -> Option<Range<u64>> {
        let (source, range) = self.place();
        unit_in(&**source, range.start, offset)
    }
}
