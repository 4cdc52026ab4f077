//! Containers: from the bytes of a source to a tree of entries, and from an
//! entry to its bytes.
//!
//! Each format is one folder here and one line in [`FORMATS`]. A format reads
//! its directory once, in its `open` function, and tells the [`Sink`] what is
//! in it; what it keeps in memory is the little that it needs to find the
//! bytes of a file again.
//!
//! Reading is pure: no threads, no clock, no global state. Archives are
//! untrusted, so every number is checked against what is there before it is
//! used to allocate, loop or index.

pub mod folder;
pub mod hip;
pub mod hpi;

use std::io::Read;
use std::sync::Arc;

use crate::io::{Error, ReadAt, Result};

/// Most entries that one archive may list. An archive with more is refused,
/// so that a small hostile one cannot take gigabytes.
pub const MAX_ENTRIES: usize = 2_000_000;

/// Deepest nesting of directories that an archive may have.
pub const MAX_DEPTH: usize = 64;

/// Number of a file within its archive, chosen by the archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FileId(pub u32);

/// A node that a [`Sink`] has taken in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct NodeId(pub u32);

/// A file as an archive announces it.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// The archive's number for it.
    pub file: FileId,
    /// Decoded size in bytes; `None` for a generated text, whose size is known
    /// when it has been made.
    pub size: Option<u64>,
    /// Modification time in seconds since 1970 UTC, where the archive has one.
    pub modified: Option<i64>,
}

/// Takes in the tree of an archive while its directory is read.
///
/// Names are the raw bytes that the archive holds, in Windows-1252; making
/// them fit for a file system is the sink's business. Several entries of one
/// directory may have the same name. An archive gives its files the numbers
/// 0, 1, 2 and so on.
pub trait Sink {
    /// The directory that stands for the archive itself.
    fn root(&self) -> NodeId;

    /// Adds a directory.
    ///
    /// # Errors
    /// An error of the sink (too many entries) ends the reading.
    fn dir(&mut self, parent: NodeId, name: &[u8]) -> Result<NodeId>;

    /// Adds a file.
    ///
    /// # Errors
    /// As for [`Sink::dir`].
    fn file(&mut self, parent: NodeId, name: &[u8], entry: Entry) -> Result<NodeId>;

    /// Adds one more name for a file that was added before.
    ///
    /// # Errors
    /// As for [`Sink::dir`].
    fn link(&mut self, parent: NodeId, name: &[u8], file: NodeId) -> Result<()>;

    /// Adds a symbolic link to a node that was added before.
    ///
    /// # Errors
    /// As for [`Sink::dir`].
    fn symlink(&mut self, parent: NodeId, name: &[u8], target: NodeId) -> Result<()>;
}

/// How the bytes of a file come about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Storage {
    /// They stand in the source, one for one: [`Archive::read_stored`].
    Stored,
    /// They are cut into chunks, each packed on its own:
    /// [`Archive::chunk_table`] and [`Archive::decode_chunk`].
    Chunked,
    /// They are a text about the archive: [`Archive::generate`].
    Generated,
}

/// One chunk of a [`Storage::Chunked`] file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chunk {
    /// Number in the file, from 0.
    pub index: u32,
    /// Absolute offset in the source of its first byte, the header.
    pub offset: u64,
    /// Bytes in the source, header included.
    pub stored: u32,
    /// Position in the decoded file of its first byte.
    pub start: u32,
    /// Decoded length in bytes.
    pub length: u32,
}

/// Where the chunks of one file are, packed to eight bytes a chunk.
///
/// A table may be broken: from some chunk on nobody can tell where the others
/// begin. The chunks before can be read all the same.
#[derive(Debug, Clone)]
pub struct ChunkTable {
    /// Offset in the source and position in the decoded file of every chunk,
    /// then of the end; both grow strictly.
    bounds: Vec<(u32, u32)>,
    broken: Option<Error>,
}

impl ChunkTable {
    /// An empty table for chunks of which the first stands at `offset`.
    pub fn starting_at(offset: u32) -> Self {
        Self {
            bounds: vec![(offset, 0)],
            broken: None,
        }
    }

    /// Adds the next chunk: `stored` bytes in the source, header included,
    /// which decode to `length` bytes. False, and nothing is added, where
    /// either is 0 or a position would no longer fit into 32 bits.
    #[must_use]
    pub fn push(&mut self, stored: u32, length: u32) -> bool {
        let (offset, start) = self.end();
        match (offset.checked_add(stored), start.checked_add(length)) {
            (Some(next_offset), Some(next_start)) if stored > 0 && length > 0 => {
                self.bounds.push((next_offset, next_start));
                true
            }
            _ => false,
        }
    }

    /// Says why there is no chunk after those that were added.
    pub fn break_off(&mut self, error: Error) {
        self.broken = Some(error);
    }

    /// Offset in the source and position in the decoded file behind the last
    /// chunk.
    pub fn end(&self) -> (u32, u32) {
        *self.bounds.last().expect("a table has its first bound")
    }

    /// Number of chunks.
    pub fn len(&self) -> usize {
        self.bounds.len() - 1
    }

    /// Whether there are no chunks.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Memory that the table takes, in bytes.
    pub fn memory(&self) -> usize {
        size_of::<Self>() + self.bounds.capacity() * size_of::<(u32, u32)>()
    }

    /// The chunk that holds the byte at `position` of the decoded file.
    ///
    /// # Errors
    /// Where the table is broken off before that chunk.
    pub fn at(&self, position: u64) -> Result<Chunk> {
        let after = self
            .bounds
            .partition_point(|&(_, start)| u64::from(start) <= position);
        let (Some(&(offset, start)), Some(&(next_offset, next_start))) = (
            self.bounds.get(after.wrapping_sub(1)),
            self.bounds.get(after),
        ) else {
            let (offset, start) = self.end();
            return Err(self.broken.clone().unwrap_or_else(|| {
                Error::damaged(
                    offset.into(),
                    "chunks",
                    format!("end at byte {start} of the file"),
                )
            }));
        };
        Ok(Chunk {
            index: (after - 1) as u32,
            offset: offset.into(),
            stored: next_offset - offset,
            start,
            length: next_start - start,
        })
    }
}

/// Buffers and tables that decoding needs and that are worth keeping from one
/// chunk to the next. One thread uses one at a time.
pub struct Scratch {
    /// The whole-buffer zlib decoder.
    pub(crate) inflate: libdeflater::Decompressor,
    /// Stored bytes of the chunk being decoded.
    pub(crate) stored: Vec<u8>,
}

impl Default for Scratch {
    fn default() -> Self {
        Self {
            inflate: libdeflater::Decompressor::new(),
            stored: Vec::new(),
        }
    }
}

/// What the reader of an archive is told about it and asked to do.
#[derive(Debug, Default, Clone)]
pub struct Options {
    /// Name of the archive, as users know it.
    pub name: String,
    /// Mount and read past damage as far as possible (`-o force`).
    pub force: bool,
    /// Compute checksums for listings as well, not only when one is asked
    /// for (`-o verify`).
    pub verify: bool,
}

/// An archive whose directory has been read.
pub trait Archive: Send + Sync {
    /// How the bytes of `file` come about.
    fn storage(&self, file: FileId) -> Storage;

    /// Fills `buf` with the bytes from `position` on of a
    /// [`Storage::Stored`] file. The range lies inside the announced size.
    ///
    /// # Errors
    /// [`Error::Read`] where the source does not give them.
    fn read_stored(&self, file: FileId, position: u64, buf: &mut [u8]) -> Result<()> {
        let _ = (position, buf);
        Err(no_such_part(file, "stored bytes"))
    }

    /// Finds the chunks of a [`Storage::Chunked`] file.
    ///
    /// # Errors
    /// Where the chunks cannot add up to the announced size.
    fn chunk_table(&self, file: FileId) -> Result<ChunkTable> {
        Err(no_such_part(file, "chunks"))
    }

    /// Decodes a whole chunk of at most 64 KiB.
    ///
    /// # Errors
    /// Where the chunk fails any of its checks; the error names the chunk.
    fn decode_chunk(&self, file: FileId, chunk: Chunk, scratch: &mut Scratch) -> Result<Vec<u8>> {
        let _ = (chunk, scratch);
        Err(no_such_part(file, "chunks"))
    }

    /// Opens a chunk of any length for reading from its start on.
    ///
    /// # Errors
    /// Where the chunk's header or checksum is wrong. What is wrong further
    /// in becomes an error of the reader.
    fn open_chunk(&self, file: FileId, chunk: Chunk) -> Result<Box<dyn Read + Send>> {
        let _ = chunk;
        Err(no_such_part(file, "chunks"))
    }

    /// Makes the text of a [`Storage::Generated`] file.
    ///
    /// # Errors
    /// Where the source cannot be read.
    fn generate(&self, file: FileId) -> Result<Vec<u8>> {
        Err(no_such_part(file, "text"))
    }

    /// Names of the extended attributes that tell what the archive knows
    /// about `file`.
    fn xattr_names(&self, file: FileId) -> Vec<&'static str> {
        let _ = file;
        Vec::new()
    }

    /// Value of one of [`Archive::xattr_names`]; `None` for any other name.
    ///
    /// # Errors
    /// Where the source must be read for it and cannot be.
    fn xattr(&self, file: FileId, name: &str) -> Result<Option<String>> {
        let _ = (file, name);
        Ok(None)
    }

    /// What there is to say about the archive as a whole.
    fn info(&self) -> serde_json::Value {
        serde_json::Value::Null
    }

    /// What is odd about the archive, a sentence each.
    fn warnings(&self) -> &[String] {
        &[]
    }
}

/// An archive was asked for a part of a file that its storage does not have.
fn no_such_part(file: FileId, part: &str) -> Error {
    Error::Unsupported(format!("file {} of the archive has no {part}", file.0))
}

/// Reads the directory of a source and tells the sink about it; what comes
/// back can read the files.
pub type Open = fn(Arc<dyn ReadAt>, &mut dyn Sink, Options) -> Result<Box<dyn Archive>>;

/// A container format: how it is told and how it is opened.
pub struct Format {
    /// Short name, as `info.json` shows it.
    pub name: &'static str,
    /// Extensions of its files, in lower case, without the dot.
    pub extensions: &'static [&'static str],
    /// Whether a source that starts with these bytes (up to 64) is of the
    /// format.
    pub matches: fn(&[u8]) -> bool,
    /// Opens a source.
    pub open: Open,
}

/// The formats, in the order in which they are tried.
pub const FORMATS: &[Format] = &[hpi::FORMAT, hip::FORMAT];

/// The format of a source, told by its first bytes.
///
/// # Errors
/// [`Error::UnknownFormat`] where no format recognises it, [`Error::Read`]
/// where the source cannot be read.
pub fn detect(source: &dyn ReadAt) -> Result<&'static Format> {
    let length = source.len().min(64);
    let head = crate::io::read_vec(source, 0, length, "header")?;
    FORMATS
        .iter()
        .find(|format| (format.matches)(&head))
        .ok_or(Error::UnknownFormat)
}
