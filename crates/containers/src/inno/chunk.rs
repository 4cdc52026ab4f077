//! Chunks: one or many files that are compressed together.

use std::io::BufReader;
use std::sync::{Arc, OnceLock};

use flate2::bufread::ZlibDecoder;

use super::header::Compression;
use crate::codec::{
    self, ByteStream, MAX_DEFLATE_RATIO, MAX_DICTIONARY, Restarts, check_dictionary,
    lzma2_dictionary,
};
use crate::io::{Error, ReadAt, Result, SourceReader, read_vec};

/// First bytes of a chunk.
const MAGIC: &[u8; 4] = b"zlb\x1A";

/// Maximum number of decoded bytes per stored byte. A match of LZMA has 273 bytes, and
/// fourteen bits that take a 45th of a bit each at least. A block of bzip2 has 46 MB in
/// more than 32 bytes.
const MAX_LZMA_RATIO: u64 = 8192;
const MAX_BZIP2_RATIO: u64 = 2 << 20;

/// Largest byte of properties of LZMA: that with the most memory.
const MAX_PROPERTIES: u8 = 224;

/// Smallest dictionary that LZMA has, in bytes.
const MIN_DICTIONARY: u64 = 4096;

/// Number of packed bytes read at a time.
const PIECE: usize = 32 << 10;

impl Compression {
    /// Returns the maximum number of bytes that `stored` bytes decode to.
    pub(super) fn most(self, stored: u64) -> u64 {
        stored.saturating_mul(match self {
            Self::Stored => 1,
            Self::Zlib => MAX_DEFLATE_RATIO,
            Self::Bzip2 => MAX_BZIP2_RATIO,
            Self::Lzma | Self::Lzma2 => MAX_LZMA_RATIO,
        })
    }
}

/// A chunk.
#[derive(Debug)]
pub(super) struct Chunk {
    /// Absolute offset of its first byte in the data.
    offset: u64,
    /// Number of stored bytes after the first four.
    stored: u64,
    pub(super) compression: Compression,
    /// Number of decoded bytes up to the end of the last file in it.
    pub(super) decoded: u64,
    /// Its packing, once that was read.
    packing: OnceLock<Packing>,
    /// Its restart points, if it is packed by LZMA2.
    restarts: OnceLock<Box<Restarts>>,
}

/// The packing of a chunk.
#[derive(Debug, Clone, Copy)]
struct Packing {
    /// Absolute offset of the first packed byte, and their number.
    start: u64,
    length: u64,
    method: Method,
}

#[derive(Debug, Clone, Copy)]
enum Method {
    Stored,
    Zlib,
    Reader(codec::Method),
}

impl Chunk {
    pub(super) fn new(offset: u64, stored: u64, compression: Compression) -> Self {
        Self {
            offset,
            stored,
            compression,
            decoded: 0,
            packing: OnceLock::new(),
            restarts: OnceLock::new(),
        }
    }

    fn damaged(&self, problem: impl Into<String>) -> Error {
        Error::damaged(self.offset, "chunk", problem)
    }

    /// Returns how it is packed, after checking that it is there.
    fn packing(&self, data: &dyn ReadAt) -> Result<Packing> {
        if let Some(packing) = self.packing.get() {
            return Ok(*packing);
        }
        let magic = read_vec(data, self.offset, MAGIC.len() as u64, "chunk")?;
        if magic != MAGIC {
            return Err(self.damaged("does not begin with \"zlb\""));
        }
        let start = self.offset + MAGIC.len() as u64;
        let length = match self.compression {
            Compression::Lzma => 5,
            Compression::Lzma2 => 1,
            _ => 0,
        };
        let properties = read_vec(data, start, length, "chunk properties")?;
        let method = match (self.compression, &properties[..]) {
            (Compression::Lzma, &[properties, a, b, c, d]) if properties <= MAX_PROPERTIES => {
                let dictionary = self.dictionary(u32::from_le_bytes([a, b, c, d]))?;
                Method::Reader(codec::Method::Lzma {
                    properties,
                    dictionary,
                })
            }
            (Compression::Lzma2, &[properties]) => {
                let dictionary = lzma2_dictionary(properties);
                let dictionary = dictionary.ok_or_else(|| self.unknown_properties())?;
                let dictionary = self.dictionary(dictionary)?;
                Method::Reader(codec::Method::Lzma2 { dictionary })
            }
            (Compression::Lzma, _) => return Err(self.unknown_properties()),
            (Compression::Bzip2, _) => Method::Reader(codec::Method::Bzip2),
            (Compression::Zlib, _) => Method::Zlib,
            (Compression::Stored | Compression::Lzma2, _) => Method::Stored,
        };
        let packing = Packing {
            start: start + length,
            length: self.stored.saturating_sub(length),
            method,
        };
        Ok(*self.packing.get_or_init(|| packing))
    }

    fn unknown_properties(&self) -> Error {
        self.damaged("has unknown properties of LZMA")
    }

    /// Returns the size of the dictionary that is needed, given the declared one.
    fn dictionary(&self, declared: u32) -> Result<u32> {
        let needed = self.decoded.max(MIN_DICTIONARY).min(declared.into());
        check_dictionary(needed)?;
        // Not larger than the declared one.
        Ok(needed as u32)
    }

    /// Returns the maximum memory of a decoder in bytes, without reading anything.
    pub(super) fn max_decoder_memory(&self) -> usize {
        let dictionary = self.decoded.clamp(MIN_DICTIONARY, MAX_DICTIONARY.into()) as u32;
        match self.compression {
            Compression::Stored | Compression::Zlib => 0,
            Compression::Bzip2 => codec::Method::Bzip2.memory(),
            Compression::Lzma => {
                let properties = MAX_PROPERTIES;
                let method = codec::Method::Lzma {
                    properties,
                    dictionary,
                };
                method.memory()
            }
            Compression::Lzma2 => codec::Method::Lzma2 { dictionary }.memory(),
        }
    }

    /// Returns the memory of a decoder, in bytes.
    ///
    /// # Errors
    /// Returns an error if the chunk cannot be read, or its properties are not valid.
    pub(super) fn decoder_memory(&self, data: &dyn ReadAt) -> Result<usize> {
        Ok(match self.packing(data)?.method {
            Method::Reader(method) => method.memory(),
            Method::Stored | Method::Zlib => 0,
        })
    }

    /// Returns the absolute offset of the byte at `position` of a chunk that is stored.
    ///
    /// # Errors
    /// Returns an error if the chunk does not begin as one.
    pub(super) fn stored_at(&self, position: u64, data: &dyn ReadAt) -> Result<u64> {
        Ok(self.packing(data)?.start.saturating_add(position))
    }

    /// Returns the last position not after `position` of the decoded chunk where decoding
    /// can begin.
    pub(super) fn restart(&self, position: u64, data: &dyn ReadAt) -> u64 {
        match self.packing(data) {
            Ok(packing) => self.restart_in(packing, position, data).0,
            Err(_) => 0,
        }
    }

    /// Returns the same, and its offset in the packed data.
    fn restart_in(&self, packing: Packing, position: u64, data: &dyn ReadAt) -> (u64, u64) {
        match packing.method {
            _ if position == 0 => (0, 0),
            Method::Stored => (position, position),
            Method::Reader(codec::Method::Lzma2 { .. }) => {
                let restarts = self.restarts.get_or_init(Box::default);
                let restart = restarts.before(position, data, packing.start, packing.length);
                (restart.decoded, restart.packed)
            }
            _ => (0, 0),
        }
    }

    /// Returns a reader of the decoded bytes from [`Chunk::restart`] on, and where that
    /// is.
    ///
    /// # Errors
    /// Returns an error if the chunk is not there, or its properties are not valid.
    pub(super) fn open(&self, position: u64, data: &Arc<dyn ReadAt>) -> Result<(ByteStream, u64)> {
        let packing = self.packing(&**data)?;
        let (decoded, packed) = self.restart_in(packing, position, &**data);
        let start = packing.start.saturating_add(packed);
        let packed = SourceReader::new(data.clone(), start, packing.length.saturating_sub(packed));
        let buffered = |packed| BufReader::with_capacity(PIECE, packed);
        let reader: ByteStream = match packing.method {
            Method::Stored => Box::new(packed),
            Method::Zlib => Box::new(ZlibDecoder::new(buffered(packed))),
            Method::Reader(method) => method
                .reader(buffered(packed), self.decoded)
                .map_err(|error| self.damaged(error.to_string()))?,
        };
        Ok((reader, decoded))
    }

    /// Returns the memory that it uses, in bytes.
    pub(super) fn memory(&self) -> usize {
        let restarts = match self.compression {
            Compression::Lzma2 => size_of::<Restarts>() + Restarts::max_memory(self.decoded),
            _ => 0,
        };
        size_of::<Self>() + restarts
    }
}
