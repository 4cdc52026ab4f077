//! The headers of a 7z archive: the one at the start has the position of the
//! database, which may be packed itself.

use std::io::Read;
use std::sync::Arc;

use super::Problem;
use super::block::Block;
use super::database::{self, Database};
use super::decoder;
use super::restarts::Restart;
use crate::io::{Cursor, Endian, Error, ReadAt, Result, read_vec};

/// First bytes of an archive.
pub(super) const MAGIC: &[u8; 6] = b"7z\xBC\xAF\x27\x1C";

/// Length of the first header. Offsets count from its end.
pub(super) const HEADER: u64 = 32;

/// Maximum length of the database in bytes, packed or not.
const MAX_DATABASE: u64 = 64 << 20;

/// Maximum nesting of packed databases.
const MAX_PACKED: usize = 4;

/// Ids of a plain and of a packed database.
const PLAIN: u8 = 0x01;
const PACKED: u8 = 0x17;

/// Reads the database of an archive.
///
/// # Errors
/// Returns an error if it is damaged, or encrypted.
pub(super) fn read(source: &Arc<dyn ReadAt>) -> Result<Database> {
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
    check_sum(&bytes[12..], sum, 8, "header checksum")?;
    let offset = fields.u64("database offset")?;
    let length = fields.u64("database size")?;
    let sum = fields.u32("database checksum")?;
    if length == 0 {
        return Ok(Database::default());
    }
    let offset = HEADER.saturating_add(offset);
    check_length(length, 20)?;
    let mut bytes = read_vec(&**source, offset, length, "database")?;
    check_sum(&bytes, sum, 28, "database checksum")?;
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
                bytes = unpack(source, block)?;
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
fn unpack(source: &Arc<dyn ReadAt>, block: &Block) -> Result<Vec<u8>> {
    let offset = block.offset();
    match block.problem() {
        Some(Problem::Encrypted) => {
            let text = "is a 7z archive with encrypted names, which is not decrypted";
            return Err(Error::Encrypted(text.into()));
        }
        Some(problem) => return Err(problem.error()),
        None => {}
    }
    check_length(block.size(), offset)?;
    if block.decoder_memory() as u64 > 2 * MAX_DATABASE {
        let problem = "needs a larger dictionary than the database has bytes";
        return Err(Error::damaged(offset, "database", problem));
    }
    let mut bytes = Vec::new();
    let mut reader = decoder::reader(source, block, Restart::default())?.take(block.size());
    let read = reader.read_to_end(&mut bytes);
    read.map_err(|error| {
        Error::of_reader(&error, |text| Error::damaged(offset, "database", text))
    })?;
    if (bytes.len() as u64) < block.size() {
        let problem = format!("ends after {} bytes of {}", bytes.len(), block.size());
        return Err(Error::damaged(offset, "database", problem));
    }
    if let Some(sum) = block.sum() {
        check_sum(&bytes, sum, offset, "database checksum")?;
    }
    Ok(bytes)
}

/// Verifies a CRC-32.
fn check_sum(bytes: &[u8], stored: u32, offset: u64, field: &'static str) -> Result<()> {
    let found = crc32fast::hash(bytes);
    if found != stored {
        let problem = format!("is {stored:08x}, should be {found:08x}");
        return Err(Error::damaged(offset, field, problem));
    }
    Ok(())
}
