//! Builders for odd and broken HPI archives that no packer should write.
//!
//! They place everything explicitly and do not use the library's writer, which
//! writes only valid archives.

pub mod hostile;
pub mod quirks;
mod v1;
mod v2;

use std::io::Write;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use hpimount_containers::hpi::chunk::{ChunkHeader, MARKER, Method, checksum, scramble};
use hpimount_containers::hpi::lz77;
use zerocopy::IntoBytes;

pub use v1::V1;
pub use v2::V2;

/// The last bytes of a version 1 archive.
pub const TRAILER: &[u8] = b"Copyright 1997 Cavedog Entertainment";

/// An entry of a directory. Any bytes may be its name, and several entries
/// may have the same.
#[derive(Debug, Clone)]
pub struct Entry {
    pub name: Vec<u8>,
    pub content: Content,
}

/// The contents of an [`Entry`].
#[derive(Debug, Clone)]
pub enum Content {
    Directory(Vec<Entry>),
    File(File),
}

/// Returns a directory entry for a directory.
pub fn dir(name: &[u8], entries: Vec<Entry>) -> Entry {
    Entry {
        name: name.to_vec(),
        content: Content::Directory(entries),
    }
}

/// Returns a directory entry for a file.
pub fn file(name: &[u8], file: File) -> Entry {
    Entry {
        name: name.to_vec(),
        content: Content::File(file),
    }
}

/// A file, and the form of its chunks.
#[derive(Clone)]
pub struct File {
    pub data: Vec<u8>,
    /// The method in the file's record.
    pub method: u8,
    pub chunk: Chunk,
}

/// Omits the bytes.
impl std::fmt::Debug for File {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (size, method) = (self.data.len(), self.chunk.method);
        write!(
            formatter,
            "{size} bytes, {} with {method:?} chunks",
            self.method
        )
    }
}

impl File {
    /// Creates a file that is packed as in known archives.
    pub fn new(data: impl Into<Vec<u8>>, method: Method) -> Self {
        Self {
            data: data.into(),
            method: method.number(),
            chunk: Chunk::new(method),
        }
    }

    /// Returns the file with another form of its chunks.
    pub fn with(mut self, change: impl FnOnce(&mut Chunk)) -> Self {
        change(&mut self.chunk);
        self
    }
}

/// The form of a chunk.
#[derive(Clone)]
pub struct Chunk {
    pub version: u8,
    pub method: Method,
    pub scrambled: bool,
    /// Bytes that follow the packed data inside the payload.
    pub behind_data: Vec<u8>,
    /// Bytes that follow the payload inside the length in the chunk table.
    pub behind_payload: Vec<u8>,
    /// The payload instead of the packed data, before scrambling.
    pub payload: Option<Vec<u8>>,
}

impl Chunk {
    /// Creates the form of chunks in known version 1 archives.
    pub fn new(method: Method) -> Self {
        Self {
            version: 2,
            method,
            scrambled: true,
            behind_data: Vec::new(),
            behind_payload: Vec::new(),
            payload: None,
        }
    }

    /// Packs `plain`, with a header.
    pub fn pack(&self, plain: &[u8]) -> Vec<u8> {
        let packed = || match self.method {
            Method::Stored => plain.to_vec(),
            Method::Lz77 => lz77::encode(plain),
            Method::Zlib => zlib(plain),
        };
        let mut payload = self.payload.clone().unwrap_or_else(packed);
        payload.extend(&self.behind_data);
        if self.scrambled {
            scramble(0, &mut payload);
        }
        let header = ChunkHeader {
            marker: MARKER,
            version: self.version,
            method: self.method.number(),
            scrambled: self.scrambled.into(),
            compressed_size: (payload.len() as u32).into(),
            decompressed_size: (plain.len() as u32).into(),
            checksum: checksum(&payload).into(),
        };
        [header.as_bytes(), &payload, &self.behind_payload].concat()
    }
}

/// Packs `plain` as zlib data.
pub fn zlib(plain: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(plain).unwrap();
    encoder.finish().unwrap()
}

/// A built archive.
#[derive(Clone)]
pub struct Built {
    pub bytes: Vec<u8>,
    /// The offsets of the parts of the files, in the order of the data.
    pub files: Vec<FileOffsets>,
}

/// Absolute offsets of the parts of a file.
#[derive(Clone)]
pub struct FileOffsets {
    /// Its record; in version 2 only if the directory block is raw.
    pub record: usize,
    /// Its data: the chunk table in version 1.
    pub data: usize,
    /// The headers of its chunks.
    pub chunks: Vec<usize>,
}

impl Built {
    /// Returns the archive's bytes with some of them replaced. Only for
    /// archives without a key.
    pub fn patched(&self, offset: usize, with: impl AsRef<[u8]>) -> Vec<u8> {
        let mut bytes = self.bytes.clone();
        bytes[offset..][..with.as_ref().len()].copy_from_slice(with.as_ref());
        bytes
    }
}

/// Returns a tree with everything usual in it: text and noise, sizes around the
/// size of a chunk, an empty file, an empty directory, and a deep one.
pub fn usual_tree(method: Method) -> Vec<Entry> {
    use super::{noise, text};
    let file = |name: &str, data: Vec<u8>| file(name.as_bytes(), File::new(data, method));
    let deep = dir(b"b", vec![dir(b"c", vec![file("one.bin", vec![b'x'])])]);
    vec![
        dir(
            b"units",
            vec![file("ARMPW.FBI", text(1700)), file("empty.txt", vec![])],
        ),
        dir(b"deep", vec![dir(b"a", vec![deep])]),
        dir(b"emptydir", vec![]),
        file("exact64k.bin", noise(1, 65536)),
        file("exact128k.bin", text(131_072)),
        file("noise.bin", noise(2, 70_000)),
        file("big.tdf", text(200_000)),
    ]
}
