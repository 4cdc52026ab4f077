//! PPF 1, 2 and 3: records for disc images of the PlayStation (section 7 of the
//! specification). All numbers are little-endian.

#[cfg(test)]
mod tests;
pub(crate) mod write;

use std::sync::Arc;

use hpimount_containers::io::{Error, ReadAt, Result, read_error, read_vec};

use crate::error::{self, Mismatch};
use crate::parts::Data;
use crate::records::Records;
use crate::stream::Stream;

/// The start of a PPF patch.
pub(crate) const MAGIC: &[u8] = b"PPF";

/// Offset of the checked block of a raw CD image, in its sector 16.
const BLOCK: u64 = 0x9320;

/// The same in images of PrimoDVD (`.gi`).
const BLOCK_GI: u64 = 0x80A0;

/// Length of the block, in bytes.
const BLOCK_LEN: usize = 1024;

/// Length of the description, in bytes.
const DESCRIPTION: usize = 50;

/// The marks around the description file (file_id), and its maximum length.
const BEGIN: &[u8] = b"@BEGIN_FILE_ID.DIZ";
const END: &[u8] = b"@END_FILE_ID.DIZ";
const MAX_FILE_ID: u64 = 3072;

/// A PPF patch.
pub(crate) struct Ppf {
    pub(crate) records: Records,
    /// The description in code page 437, without padding.
    pub(crate) description: Vec<u8>,
    /// The offset and the bytes of a block of the original.
    pub(crate) block: Option<(u64, Vec<u8>)>,
    /// The size of the original in version 2. It is only informative, because images of
    /// one disc differ by a few sectors.
    pub(crate) size: Option<u64>,
}

/// The header fields that decide the form of the records.
struct Header {
    version: u8,
    has_undo: bool,
}

/// Reads a PPF patch. Its records may take `limit` bytes of memory.
pub(crate) fn read(source: &Arc<dyn ReadAt>, limit: usize) -> Result<Ppf> {
    let mut stream = Stream::new(source, MAGIC.len() as u64..source.len(), 8 << 10);
    let [version, zero, method] = stream.array("version")?;
    let version = version.wrapping_sub(b'0');
    if zero != b'0' || !(1..=3).contains(&version) || method != version - 1 {
        return Err(Error::damaged(
            3,
            "version",
            "is not 1, 2 or 3, or has another method",
        ));
    }
    let mut description = stream.array::<DESCRIPTION>("description")?.to_vec();
    let end = description.iter().rposition(|byte| !b" \0".contains(byte));
    description.truncate(end.map_or(0, |last| last + 1));
    let mut ppf = Ppf {
        records: Records::new(limit),
        description,
        block: None,
        size: None,
    };
    let has_undo = read_checks(&mut stream, version, &mut ppf)?;
    let end = end_of_records(source, version, stream.offset())?;
    let mut stream = Stream::new(source, stream.offset()..end, 8 << 10);
    let header = Header { version, has_undo };
    while stream.left() > 0 {
        read_record(&mut stream, &header, &mut ppf.records)?;
    }
    if ppf.records.is_empty() {
        return Err(Error::damaged(stream.offset(), "records", "there are none"));
    }
    Ok(ppf)
}

/// Reads the checks of the original from the header. Returns whether the records have
/// undo data.
fn read_checks(stream: &mut Stream, version: u8, ppf: &mut Ppf) -> Result<bool> {
    let (place, has_block, has_undo) = match version {
        1 => return Ok(false),
        2 => {
            let size = u32::from_le_bytes(stream.array("size of the original")?);
            ppf.size = Some(u64::from(size));
            (BLOCK, true, false)
        }
        _ => {
            let start = stream.offset();
            let [image, check, undo, _] = stream.array("flags")?;
            if image > 1 || check > 1 || undo > 1 {
                return Err(Error::damaged(start, "flags", "are unknown"));
            }
            let place = if image == 1 { BLOCK_GI } else { BLOCK };
            (place, check == 1, undo == 1)
        }
    };
    if has_block {
        let block = stream.array::<BLOCK_LEN>("block of the original")?;
        ppf.block = Some((place, block.to_vec()));
    }
    Ok(has_undo)
}

/// Reads a record and its undo data.
fn read_record(stream: &mut Stream, header: &Header, records: &mut Records) -> Result<()> {
    let start = stream.offset();
    let position = match header.version {
        3 => u64::from_le_bytes(stream.array("position")?),
        _ => u64::from(u32::from_le_bytes(stream.array("position")?)),
    };
    let length = u64::from(stream.byte("length")?);
    if header.version == 1 && length == 0 {
        return Err(Error::Unsupported(format!(
            "has a record of 0 bytes at {start:#x}, which means a run in the text of PPF 1 and nothing in its programs"
        )));
    }
    let data = stream.skip(length, "data")?;
    if header.has_undo {
        stream.skip(length, "undo data")?;
    }
    records.push(start, position, length, Data::Patch(data))
}

/// Returns the end of the records: the start of the description file, if there is one.
/// Its length at the end has two bytes in version 3 and four in version 2. Other
/// programs write four in version 3 as well.
fn end_of_records(source: &Arc<dyn ReadAt>, version: u8, start: u64) -> Result<u64> {
    let end = source.len();
    let widths: &[u64] = match version {
        1 => &[],
        2 => &[4],
        _ => &[2, 4],
    };
    for width in widths {
        let marks = (BEGIN.len() + END.len()) as u64 + width;
        if end - start < marks {
            continue;
        }
        let length = read_vec(&**source, end - width, *width, "length of the file_id")?;
        let length = length
            .iter()
            .rev()
            .fold(0, |sum, &byte| sum << 8 | u64::from(byte));
        if length > MAX_FILE_ID.min(end - start - marks) {
            continue;
        }
        let from = end - marks - length;
        let bytes = read_vec(&**source, from, marks + length - width, "file_id")?;
        if bytes.starts_with(BEGIN) && bytes.ends_with(END) {
            return Ok(from);
        }
    }
    Ok(end)
}

impl Ppf {
    /// Compares the block of the original. Returns whether the patch has one.
    pub(crate) fn check(&self, original: &dyn ReadAt) -> error::Result<bool> {
        let Some((offset, expected)) = &self.block else {
            return Ok(false);
        };
        let length = expected.len() as u64;
        if original.len() < offset + length {
            return Err(Mismatch::Block(*offset).into());
        }
        let mut found = vec![0; expected.len()];
        original
            .read_exact_at(&mut found, *offset)
            .map_err(|cause| read_error(*offset, length, cause))?;
        match found == *expected {
            true => Ok(true),
            false => Err(Mismatch::Block(*offset).into()),
        }
    }
}
