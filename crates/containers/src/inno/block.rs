//! The two blocks of a header: pieces of 4096 bytes, each behind its CRC-32, which
//! may be packed by LZMA.

use std::io::Read as _;

use super::version::Version;
use crate::codec::lzma;
use crate::io::{Cursor, Endian, Error, ReadAt, Result, read_vec};

/// Maximum length of a block in bytes, packed or not.
const MAX_BLOCK: u64 = 64 << 20;

/// Length of a piece, with its checksum.
const PIECE: usize = 4 + 4096;

/// Length of what precedes the packed data: a byte of properties and the size of the
/// dictionary.
const LZMA_HEADER: usize = 5;

/// A block.
pub(super) struct Block {
    /// Its decoded bytes.
    pub(super) bytes: Vec<u8>,
    /// Absolute offset after it.
    pub(super) end: u64,
}

/// Reads the block at `offset`.
///
/// # Errors
/// Returns an error if it is damaged or too long.
pub(super) fn read(source: &dyn ReadAt, offset: u64, version: Version) -> Result<Block> {
    let is_wide = version.since(6, 7, 0);
    let length = if is_wide { 13 } else { 9 };
    let head = read_vec(source, offset, length, "header block")?;
    let mut fields = Cursor::new(&head, offset, Endian::Little);
    let sum = fields.u32("block checksum")?;
    super::check_crc(&head[4..], sum, offset, "header block")?;
    let stored = match is_wide {
        true => fields.u64("block size")?,
        false => fields.u32("block size")?.into(),
    };
    let is_packed = fields.u8("block compression")? != 0;
    if stored > MAX_BLOCK {
        return Err(too_long(offset));
    }
    let start = offset + length;
    let mut bytes = read_vec(source, start, stored, "header block")?;
    // The pieces become one in place: of a large block there are no copies.
    let mut length = 0;
    for at in (0..bytes.len()).step_by(PIECE) {
        let end = bytes.len().min(at + PIECE);
        let (piece, offset) = (&bytes[at..end], start + at as u64);
        let sum = Cursor::new(piece, offset, Endian::Little).u32("piece checksum")?;
        super::check_crc(&piece[4..], sum, offset, "piece of a header block")?;
        bytes.copy_within(at + 4..end, length);
        length += end - at - 4;
    }
    bytes.truncate(length);
    Ok(Block {
        bytes: match is_packed {
            true => unpack(&bytes, offset)?,
            false => bytes,
        },
        end: start + stored,
    })
}

fn too_long(offset: u64) -> Error {
    let problem = format!("has more than {MAX_BLOCK} bytes");
    Error::damaged(offset, "header block", problem)
}

fn unpack(packed: &[u8], offset: u64) -> Result<Vec<u8>> {
    let mut fields = Cursor::new(packed, offset, Endian::Little);
    let properties = fields.u8("LZMA properties")?;
    // More than the decoded data is never needed.
    let dictionary = fields.u32("dictionary size")?.min(MAX_BLOCK as u32);
    let packed = &packed[LZMA_HEADER..];
    let reader = lzma(packed, MAX_BLOCK + 1, properties, dictionary);
    let mut reader =
        reader.map_err(|error| Error::damaged(offset, "LZMA properties", error.to_string()))?;
    let mut bytes = Vec::new();
    // There is no mark at the end: the decoder fails there. The checksums have shown
    // that all packed bytes are right.
    let _ = reader.read_to_end(&mut bytes);
    match bytes.len() as u64 > MAX_BLOCK {
        true => Err(too_long(offset)),
        false => Ok(bytes),
    }
}
