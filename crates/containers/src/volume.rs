//! Containers: from the bytes of a source to entries, and from an entry to the
//! layout of its bytes.
//!
//! Each format is a module of this crate and a line in [`crate::formats`]. A
//! format reads its directory once, in its `open` function, declares the
//! entries to a [`Sink`], and keeps only the positions it needs to find the
//! data of a file again. [`Volume::content`] returns how that data is stored;
//! each variant of [`Content`] has only the operations that it supports.
//!
//! Reading is pure: no threads, clocks or global state. Containers are
//! untrusted, so every number is checked against the available data before it
//! is used to allocate, loop or index.

mod assets;
mod description;
mod facts;
mod live;
mod sources;
mod sum;
mod target;

use std::io::{Read, Write};
use std::ops::Range;
use std::sync::Arc;

pub use self::assets::{AssetName, AssetTable, AssetType};
pub(crate) use self::description::Description;
pub use self::facts::{DataFacts, Packed};
pub use self::live::{LiveFolder, Version};
pub use self::sources::Sources;
pub use self::sum::RecordedSum;
pub use self::target::{Game, Platform};
use crate::io::{Error, ReadAt, Result};
pub use crate::text::Name;

/// Maximum number of entries of a volume. Larger ones are refused, so that a
/// small hostile archive cannot use gigabytes of memory.
pub const MAX_ENTRIES: usize = 2_000_000;

/// Maximum nesting of directories in a volume.
pub const MAX_DEPTH: usize = 64;

/// Maximum length of the target of a symbolic link, in bytes, as on Linux.
pub const MAX_LINK: u64 = 4095;

/// Bytes of the pieces of a stream that [`Streams::size`] returns.
pub const STREAM_PIECE: usize = 64 << 10;

/// Number of a file within its volume, assigned by the volume.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(pub u32);

/// A node that was added to a [`Sink`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct NodeId(pub u32);

/// A file declared by a volume.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// The volume's number for it. Files are numbered consecutively from 0.
    pub file: FileId,
    /// Decoded size in bytes; `None` for generated data that must be rendered, and for
    /// a stream that must be decoded ([`Streams::size`]), to find its size.
    pub size: Option<u64>,
    /// Modification time in seconds since 1970 UTC, if the volume has one.
    pub modified: Option<i64>,
    /// The type of the asset, if known. The numbers of a volume's assets begin at 0
    /// and have no large gaps.
    pub asset: Option<AssetType>,
}

/// A receiver of the tree of a volume while its directory is read.
///
/// The sink makes names valid for a file system. A directory may have several
/// entries with the same name.
pub trait Sink {
    /// Returns the directory for the root of the volume.
    fn root(&self) -> NodeId;

    /// Announces the expected number of entries, after the directory has been
    /// read, so that memory for them is allocated once. There may be more or
    /// fewer.
    fn expect(&mut self, entries: usize) {
        let _ = entries;
    }

    /// Adds a directory. `modified` is its modification time in seconds since
    /// 1970 UTC, if the format stores one.
    ///
    /// # Errors
    /// Returns an error of the sink, such as too many entries. The volume must
    /// then stop reading.
    fn dir(&mut self, parent: NodeId, name: Name<'_>, modified: Option<i64>) -> Result<NodeId>;

    /// Returns whether an archive may leave it to [`Volume::list`] to list some of
    /// its directories. If not, it declares their entries as well.
    fn lists_later(&self) -> bool {
        false
    }

    /// Adds a directory whose entries the volume lists later, in
    /// [`LiveFolder::list`] or in [`Volume::list`]. A sink for archives need not
    /// support it, unless [`Sink::lists_later`].
    ///
    /// # Errors
    /// Returns an error under the same conditions as [`Sink::dir`], or if the
    /// sink does not support it.
    fn deferred_dir(
        &mut self,
        parent: NodeId,
        name: Name<'_>,
        directory: FileId,
        modified: Option<i64>,
    ) -> Result<NodeId> {
        let _ = (parent, name, directory, modified);
        let problem = "has directories that are listed later";
        Err(Error::Unsupported(problem.to_owned()))
    }

    /// Adds a file.
    ///
    /// # Errors
    /// Returns an error under the same conditions as [`Sink::dir`].
    fn file(&mut self, parent: NodeId, name: Name<'_>, entry: Entry) -> Result<NodeId>;

    /// Adds another name for a file that was added before.
    ///
    /// # Errors
    /// Returns an error under the same conditions as [`Sink::dir`].
    fn link(&mut self, parent: NodeId, name: Name<'_>, file: NodeId) -> Result<()>;

    /// Adds a symbolic link to an asset. The asset must already be declared, here or,
    /// for a deferred directory, in the volume's first sink.
    ///
    /// # Errors
    /// Returns an error under the same conditions as [`Sink::dir`].
    fn symlink(&mut self, parent: NodeId, name: Name<'_>, asset: Entry) -> Result<()>;

    /// Adds a symbolic link with the target `text`. A sink that shows files
    /// alone need not record it.
    ///
    /// # Errors
    /// Returns an error under the same conditions as [`Sink::dir`].
    fn text_link(
        &mut self,
        parent: NodeId,
        name: Name<'_>,
        text: &[u8],
        modified: Option<i64>,
    ) -> Result<()> {
        let _ = (parent, name, text, modified);
        Ok(())
    }

    /// Adds a symbolic link whose target is the data of a file, of at most
    /// [`MAX_LINK`] bytes. A sink that does not record it adds the file instead.
    ///
    /// # Errors
    /// Returns an error under the same conditions as [`Sink::dir`].
    fn stored_link(&mut self, parent: NodeId, name: Name<'_>, entry: Entry) -> Result<NodeId> {
        self.file(parent, name, entry)
    }

    /// Records the permission bits of a file or directory that was added
    /// before, as on Unix. A sink need not record them.
    fn permissions(&mut self, node: NodeId, mode: u16) {
        let _ = (node, mode);
    }
}

/// The storage of a file's data.
pub enum Content<'a> {
    /// Unchanged in a source, from `offset` on.
    Extent {
        /// The source.
        source: &'a dyn ReadAt,
        /// Offset in it of the first byte.
        offset: u64,
    },
    /// In independently decodable chunks.
    Chunks(&'a dyn Chunks),
    /// As a stream that is decoded from its start.
    Stream(&'a dyn Streams),
    /// As a part of a [`Content::Stream`], which has another number in the
    /// volume. After the last byte was read, [`Volume::content`] returns an
    /// error if the part is damaged.
    Part {
        /// The number of the whole, which is not a file.
        whole: FileId,
        /// Offset in the whole of the first byte.
        offset: u64,
    },
    /// Generated from metadata of the volume.
    Generated(&'a dyn Generate),
}

/// A volume with files in chunks.
pub trait Chunks {
    /// Finds the chunks of a file.
    ///
    /// # Errors
    /// Returns an error if they cannot add up to the declared size.
    fn chunk_table(&self, file: FileId) -> Result<ChunkTable>;

    /// Decodes at least the first `wanted` bytes of a chunk of at most 64 KiB;
    /// all of it if that takes no longer.
    ///
    /// # Errors
    /// Returns an error if the chunk fails any check; the error names the
    /// chunk.
    fn decode_chunk(&self, file: FileId, chunk: Chunk, wanted: u32) -> Result<Vec<u8>>;

    /// Opens a chunk of any length for reading from its start on.
    ///
    /// # Errors
    /// Returns an error if the chunk's header or checksum is wrong. Later
    /// errors are returned by the reader.
    fn open_chunk(&self, file: FileId, chunk: Chunk) -> Result<Box<dyn Read + Send>>;
}

/// A volume with files that are decoded from their first byte.
pub trait Streams {
    /// Opens a file at its first byte.
    ///
    /// # Errors
    /// Returns an error if its packed size is impossible for its size.
    fn decoder(&self, file: FileId) -> Result<Box<dyn Decoder>>;

    /// Returns the decoded size in bytes of a file that was declared without one, which
    /// may have to be decoded for that. Then `decoded` receives its bytes with their
    /// positions, in order and in pieces of [`STREAM_PIECE`] bytes; the last one may be
    /// shorter.
    ///
    /// # Errors
    /// Returns an error if it cannot be decoded, or is too long to find out.
    fn size(&self, file: FileId, decoded: &mut dyn FnMut(u64, &[u8])) -> Result<u64> {
        let _ = decoded;
        Err(no_such_file(file))
    }

    /// Returns the last position not after `position` at which decoding can begin.
    fn restart_before(&self, file: FileId, position: u64) -> u64 {
        let _ = (file, position);
        0
    }

    /// Opens a file at [`Streams::restart_before`].
    ///
    /// # Errors
    /// Returns an error under the same conditions as [`Streams::decoder`].
    fn decoder_before(&self, file: FileId, position: u64) -> Result<Box<dyn Decoder>> {
        let _ = position;
        self.decoder(file)
    }

    /// Decodes a whole file at once, if [`Needs::whole`] says that this is
    /// possible; `None` if anything is wrong with it, which its decoder reports.
    fn decode_whole(&self, file: FileId) -> Option<Vec<u8>> {
        let _ = file;
        None
    }

    /// Returns the requirements of decoding a file.
    fn needs(&self, file: FileId) -> Needs {
        let _ = file;
        Needs::default()
    }
}

/// The requirements of decoding a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Needs {
    /// Memory of a decoder in bytes, if that is more than a few tens of KiB.
    pub memory: usize,
    /// True if [`Decoder::fork`] returns copies. Without them, decoding begins at the
    /// first byte whenever a reader goes back.
    pub is_copied: bool,
    /// Requirements of [`Streams::decode_whole`], if that is quicker than its decoder.
    pub whole: Option<Whole>,
}

/// The requirements of decoding a file at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Whole {
    /// Number of packed bytes.
    pub packed: u64,
    /// Number of decoded bytes.
    pub size: u64,
}

impl Default for Needs {
    fn default() -> Self {
        Self {
            memory: 0,
            is_copied: true,
            whole: None,
        }
    }
}

/// A decoder at some position of a file.
pub trait Decoder: Send + Sync {
    /// Returns the number of remaining decoded bytes.
    fn left(&self) -> u64;

    /// Fills `out`, which is not longer than the remaining data, with the next
    /// decoded bytes.
    ///
    /// # Errors
    /// Returns an error if the packed data is damaged, does not end with the
    /// last byte, or does not match its checksum. The decoder must not be used
    /// afterwards.
    fn read(&mut self, out: &mut [u8]) -> Result<()>;

    /// Returns a copy that continues from the same byte; `None` if copying is
    /// not supported.
    fn fork(&self) -> Option<Box<dyn Decoder>>;

    /// Takes the last decoded bytes, on which the next ones depend, out of a copy
    /// that has not been read, so that they can be kept elsewhere. The copy must
    /// not be read until [`Decoder::set_window`] has put them back. Empty if the
    /// decoder has no such bytes, or keeps them.
    fn take_window(&mut self) -> Box<[u8]> {
        Box::default()
    }

    /// Puts back what [`Decoder::take_window`] has returned.
    fn set_window(&mut self, window: Box<[u8]>) {
        drop(window);
    }

    /// Returns the memory that it uses, in bytes.
    fn memory(&self) -> usize;
}

/// A volume with files that are generated.
pub trait Generate {
    /// Writes the bytes of a file; the output is always the same.
    ///
    /// # Errors
    /// Returns an error if the source cannot be read, or `out` fails.
    fn generate(&self, file: FileId, out: &mut dyn Write) -> Result<()>;
}

/// One chunk of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chunk {
    /// Number in the file, from 0.
    pub index: u32,
    /// Absolute offset in the source of its first byte, the header.
    pub offset: u64,
    /// Length in the source in bytes, including the header.
    pub stored: u32,
    /// Position in the decoded file of its first byte.
    pub start: u64,
    /// Decoded length in bytes.
    pub length: u32,
}

/// The positions of the chunks of one file.
///
/// A table may be incomplete: the chunks after some position are unknown. Those
/// before it can still be read.
#[derive(Debug, Clone)]
pub struct ChunkTable {
    /// Offset in the source and position in the decoded file of every chunk and
    /// of the end; both strictly increasing.
    bounds: Vec<(u64, u64)>,
    broken: Option<Error>,
}

impl ChunkTable {
    /// Creates an empty table for chunks that begin at `offset`.
    pub fn starting_at(offset: u64) -> Self {
        Self {
            bounds: vec![(offset, 0)],
            broken: None,
        }
    }

    /// Adds the next chunk: `stored` bytes in the source, including the header,
    /// which decode to `length` bytes. Returns false and adds nothing if either
    /// is 0 or a position would not fit in 64 bits.
    #[must_use]
    pub fn push(&mut self, stored: u32, length: u32) -> bool {
        let (offset, start) = self.end();
        match (
            offset.checked_add(stored.into()),
            start.checked_add(length.into()),
        ) {
            (Some(next_offset), Some(next_start)) if stored > 0 && length > 0 => {
                self.bounds.push((next_offset, next_start));
                true
            }
            _ => false,
        }
    }

    /// Sets the error for reads after the chunks that were added.
    pub fn break_off(&mut self, error: Error) {
        self.broken = Some(error);
    }

    /// Returns the offset in the source and the position in the decoded file
    /// after the last chunk.
    pub fn end(&self) -> (u64, u64) {
        *self.bounds.last().expect("a table has its first bound")
    }

    /// Returns the number of chunks.
    pub fn len(&self) -> usize {
        self.bounds.len() - 1
    }

    /// Returns whether there are no chunks.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the memory that the table uses, in bytes.
    pub fn memory(&self) -> usize {
        size_of::<Self>() + self.bounds.capacity() * size_of::<(u64, u64)>()
    }

    /// Returns the chunk with the byte at `position` of the decoded file.
    ///
    /// # Errors
    /// Returns an error if the table ends before that chunk.
    pub fn at(&self, position: u64) -> Result<Chunk> {
        let after = self.bounds.partition_point(|&(_, start)| start <= position);
        let (Some(&(offset, start)), Some(&(next_offset, next_start))) = (
            self.bounds.get(after.wrapping_sub(1)),
            self.bounds.get(after),
        ) else {
            let (offset, start) = self.end();
            return Err(self.broken.clone().unwrap_or_else(|| {
                Error::damaged(offset, "chunks", format!("end at byte {start} of the file"))
            }));
        };
        Ok(Chunk {
            index: (after - 1) as u32,
            offset,
            // Both were added as 32-bit numbers.
            stored: (next_offset - offset) as u32,
            start,
            length: (next_start - start) as u32,
        })
    }
}

/// What a mount wants of a volume, beside its files and their bytes.
pub trait Mountable: Send + Sync {
    /// Returns the memory of the file tables, in bytes.
    fn memory(&self) -> usize;

    /// Returns the names of the extended attributes of `file`.
    fn xattr_names(&self, file: FileId) -> Vec<&'static str> {
        let _ = file;
        Vec::new()
    }

    /// Returns the value of one of [`Mountable::xattr_names`]; `None` for any
    /// other name.
    ///
    /// # Errors
    /// Returns an error if the source must be read and cannot be.
    fn xattr(&self, file: FileId, name: &str) -> Result<Option<String>> {
        let _ = (file, name);
        Ok(None)
    }

    /// Returns it as a folder that other programs may change, if it is one.
    fn live(&self) -> Option<&dyn LiveFolder> {
        None
    }
}

/// An opened container: files and their bytes.
pub trait Volume: Mountable {
    /// Returns how the data of `file` is stored.
    ///
    /// # Errors
    /// Returns an error if there is no such file; [`Error::Encrypted`] or
    /// [`Error::Unsupported`] if its data cannot be decoded.
    fn content(&self, file: FileId) -> Result<Content<'_>>;

    /// Lists a directory that an archive has declared by [`Sink::deferred_dir`]. Its
    /// files have their numbers in this volume.
    ///
    /// # Errors
    /// Returns an error if there is no such directory, or an error of the sink.
    fn list(&self, directory: FileId, sink: &mut dyn Sink) -> Result<()> {
        let _ = sink;
        Err(no_such_file(directory))
    }

    /// Returns facts about the data of `file` that need no decoding.
    ///
    /// # Errors
    /// Returns an error if there is no such file, or its headers or tables
    /// cannot be read.
    fn data_facts(&self, file: FileId) -> Result<DataFacts<'_>> {
        let _ = file;
        Ok(DataFacts::default())
    }

    /// Returns the source whose bytes `file` has, if it is one of its own: whoever keeps
    /// it does not keep the volume.
    fn source_of(&self, file: FileId) -> Option<Arc<dyn ReadAt>> {
        let _ = file;
        None
    }

    /// Returns the range of `file` that says where the volume has its files, which
    /// writing it makes anew; empty for files without such a range.
    fn layout(&self, file: FileId) -> Range<u64> {
        let _ = file;
        0..0
    }

    /// Returns whether it may have a [`Content::Part`]. Asking each file for its content may
    /// read the source.
    fn has_parts(&self) -> bool {
        false
    }

    /// Returns the metadata of the volume.
    fn info(&self) -> serde_json::Value {
        serde_json::Value::Null
    }

    /// Returns the disc images in the volume, in order: a disc, and its tracks;
    /// empty for other volumes.
    fn images(&self) -> Vec<DiscImage> {
        Vec::new()
    }

    /// Returns a disc as plain files for other programs, by names that begin with
    /// `stem`: an image of its user data, or a cue sheet and raw sectors; empty for
    /// other volumes.
    fn plain_files(&self, stem: &str) -> Vec<(String, Arc<dyn ReadAt>)> {
        let _ = stem;
        Vec::new()
    }

    /// Returns the warnings about the volume, one sentence each.
    fn warnings(&self) -> &[String] {
        &[]
    }

    /// Returns its table of assets, if it is a volume of typed assets.
    fn assets(&self) -> Option<&dyn AssetTable> {
        None
    }
}

impl dyn Volume + '_ {
    /// Returns the asset type of `file`; `None` in a volume without types.
    pub fn asset(&self, file: FileId) -> Option<AssetType> {
        self.assets()?.asset_type(file)
    }

    /// Returns the version of `file`, which changes when its data may have
    /// changed.
    ///
    /// # Errors
    /// Returns the errors of [`LiveFolder::version`].
    pub fn version(&self, file: FileId) -> Result<Version> {
        match self.live() {
            Some(folder) => folder.version(file),
            None => Ok(Version::default()),
        }
    }
}

/// A whole disc, a track of one or a cue sheet, as listed in preservation
/// databases.
#[derive(Clone)]
pub struct DiscImage {
    /// Name of its file, if that is not the volume's own.
    pub file: Option<String>,
    /// The part of the file that it is.
    pub part: Part,
    /// Its bytes, with block images decoded.
    pub bytes: Arc<dyn ReadAt>,
}

impl DiscImage {
    /// Returns the only image of a volume.
    pub(crate) fn whole(bytes: &Arc<dyn ReadAt>) -> Vec<Self> {
        vec![Self {
            file: None,
            part: Part::Whole,
            bytes: bytes.clone(),
        }]
    }
}

/// The part of a file that a [`DiscImage`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// All of it.
    Whole,
    /// The track with this number, with its pregap.
    Track(u8),
    /// All of it, which is no image but a text that describes the disc.
    Sheet,
}

/// Returns the error for a file that the volume has not declared.
pub fn no_such_file(file: FileId) -> Error {
    Error::Unsupported(format!("there is no file {} in the volume", file.0))
}
