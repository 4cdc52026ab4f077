//! The headers of a 7z archive: the one at the start has the position of the
//! database, which may be packed itself.

use std::io::Read;
use std::sync::Arc;

use super::block::Block;
use super::database::{self, Database, HEADER};
use super::decoder;
use super::keys::Keys;
use crate::codec::{Restart, Solid as _};
use crate::crypt::WRONG_PASSWORD;
use crate::io::{Cursor, Endian, Error, ReadAt, Result, check_sum, read_vec};

/// First bytes of an archive.
pub(super) const MAGIC: &[u8; 6] = b"7z\xBC\xAF\x27\x1C";

/// Maximum length of the database in bytes, packed or not.
const MAX_DATABASE: u64 = 64 << 20;

/// Maximum nesting of packed databases.
const MAX_PACKED: usize = 4;

/// Ids of a plain and of a packed database.
const PLAIN: u8 = 0x01;
const PACKED: u8 = 0x17;

/// First bytes of programs for Windows and for Unix, which may extract the archive
/// after them.
const PROGRAMS: [&[u8]; 2] = [b"MZ", b"\x7FELF"];

/// Number of bytes at the start of a program that are searched for an archive,
/// and how many at a time.
const SEARCHED: u64 = 4 << 20;
const PIECE: u64 = 64 << 10;

/// Returns where the archive begins in a source: at its start, or after a
/// program. Returns `None` if there is none.
///
/// # Errors
/// Returns an error if the source cannot be read.
pub(super) fn start(source: &dyn ReadAt) -> Result<Option<u64>> {
    let head = read_vec(source, 0, source.len().min(HEADER), "header")?;
    if head.starts_with(MAGIC) {
        return Ok(Some(0));
    }
    if !PROGRAMS.iter().any(|program| head.starts_with(program)) {
        return Ok(None);
    }
    let end = source.len().min(SEARCHED);
    let mut at = 0;
    while at + HEADER <= end {
        let piece = read_vec(source, at, PIECE.min(end - at), "program")?;
        let found = piece.windows(MAGIC.len()).enumerate();
        for (position, _) in found.filter(|(_, bytes)| bytes == MAGIC) {
            let start = at + position as u64;
            if is_header(source, start)? {
                return Ok(Some(start));
            }
        }
        at += PIECE - MAGIC.len() as u64;
    }
    Ok(None)
}

/// Returns whether a header with a right checksum is at `start`: a program that
/// reads archives has their first bytes in itself.
fn is_header(source: &dyn ReadAt, start: u64) -> Result<bool> {
    if source.len() - start < HEADER {
        return Ok(false);
    }
    let bytes = read_vec(source, start, HEADER, "header")?;
    let sum = [bytes[8], bytes[9], bytes[10], bytes[11]];
    Ok(u32::from_le_bytes(sum) == crc32fast::hash(&bytes[12..]))
}

/// Reads the database of an archive.
///
/// # Errors
/// Returns an error if it is damaged, or encrypted.
pub(super) fn read(source: &Arc<dyn ReadAt>, keys: &Keys) -> Result<Database> {
    let bytes = read_vec(&**source, 0, HEADER, "header")?;
    let mut fields = Cursor::new(&bytes, 0, Endian::Little);
    fields.take(MAGIC.len(), "magic")?;
    let major = fields.u8("version")?;
    if major != 0 {
        let text = format!("is a 7z archive of version {major}, which is not supported");
        return Err(Error::Unsupported(text));
    }
    fields.u8("version")?;
    let sum = fields.u32("header checksum")?;
    check_crc(&bytes[12..], sum, 8, "header")?;
    let offset = fields.u64("database offset")?;
    let length = fields.u64("database size")?;
    let sum = fields.u32("database checksum")?;
    if length == 0 {
        return Ok(Database::default());
    }
    let offset = HEADER.saturating_add(offset);
    check_length(length, 20)?;
    let mut bytes = read_vec(&**source, offset, length, "database")?;
    check_crc(&bytes, sum, 28, "database")?;
    for _ in 0..MAX_PACKED {
        let mut cursor = Cursor::new(&bytes, offset, Endian::Little);
        match cursor.u8("database")? {
            PLAIN => return database::read(&mut cursor),
            PACKED => {
                let blocks = database::read_streams(&mut cursor)?.into_blocks()?;
                let [block] = &blocks[..] else {
                    let problem = format!("is packed in {} blocks", blocks.len());
                    return Err(Error::damaged(offset, "database", problem));
                };
                bytes = unpack(source, block, keys)?;
            }
            id => {
                let problem = format!("begins with {id:#x}");
                return Err(Error::damaged(offset, "database", problem));
            }
        }
    }
    let problem = format!("is packed more than {MAX_PACKED} times");
    Err(Error::damaged(offset, "database", problem))
}

fn check_length(length: u64, offset: u64) -> Result<()> {
    if length > MAX_DATABASE {
        let problem = format!("is {length}; at most {MAX_DATABASE} bytes are supported");
        return Err(Error::damaged(offset, "database size", problem));
    }
    Ok(())
}

/// Decodes a block with a database.
fn unpack(source: &Arc<dyn ReadAt>, block: &Block, keys: &Keys) -> Result<Vec<u8>> {
    if !block.is_encrypted() {
        return unpack_plain(source, block, keys);
    }
    if !keys.has_password() {
        let text = "is a 7z archive with encrypted names, and needs a password";
        return Err(Error::Encrypted(text.into()));
    }
    match unpack_plain(source, block, keys) {
        Err(Error::Damaged { .. }) => Err(Error::Encrypted(WRONG_PASSWORD.into())),
        unpacked => unpacked,
    }
}

fn unpack_plain(source: &Arc<dyn ReadAt>, block: &Block, keys: &Keys) -> Result<Vec<u8>> {
    let offset = block.offset();
    if let Some(problem) = block.problem() {
        return Err(problem.error());
    }
    check_length(block.size(), offset)?;
    if block.decoder_memory() as u64 > 2 * MAX_DATABASE {
        let problem = "needs a larger dictionary than the database has bytes";
        return Err(Error::damaged(offset, "database", problem));
    }
    let mut bytes = Vec::new();
    let mut reader = decoder::reader(source, block, keys, Restart::default())?.take(block.size());
    let read = reader.read_to_end(&mut bytes);
    read.map_err(|error| {
        Error::of_reader(&error, |text| Error::damaged(offset, "database", text))
    })?;
    if (bytes.len() as u64) < block.size() {
        let problem = format!("ends after {} bytes of {}", bytes.len(), block.size());
        return Err(Error::damaged(offset, "database", problem));
    }
    if let Some(sum) = block.sum() {
        check_crc(&bytes, sum, offset, "database")?;
    }
    Ok(bytes)
}

/// Verifies a CRC-32.
fn check_crc(bytes: &[u8], recorded: u32, offset: u64, field: &'static str) -> Result<()> {
    check_sum("checksum", crc32fast::hash(bytes), recorded)
        .map_err(|problem| Error::damaged(offset, field, problem))
}
