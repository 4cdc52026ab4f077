//! Writing PPF 3 patches.

use std::io::Write;

use hpimount_containers::io::ReadAt;

use super::{BLOCK, BLOCK_LEN, DESCRIPTION, MAGIC};
use crate::error::{Error, Result};
use crate::extents::{output, read_at};
use crate::{Extents, Format};

/// Length of data that may move together, in bytes.
const MAX_MOVED: u64 = 64 << 20;

/// Maximum gap of equal bytes that takes less space than a new record.
const GAP: usize = 8;

/// Maximum length of a record.
const MAX_RECORD: usize = u8::MAX as usize;

/// The low half of an offset that looks like the start of a description file, `@BEG`.
const BEGIN_POSITION: u32 = u32::from_le_bytes(*b"@BEG");

/// An end of a patch that looks like the end of a description file, before its length.
const DIZ: &[u8] = b".DIZ";

/// Writes a patch, see [`write::ppf`](crate::write::ppf).
pub(crate) fn write(extents: &Extents, original: &dyn ReadAt, out: &mut dyn Write) -> Result<()> {
    let limit = |problem: &str| Err(Error::limit(Format::Ppf, problem));
    if extents.len() < original.len() {
        return limit("cannot make a file shorter: use .xdelta or .bps");
    }
    let moved = extents
        .originals()
        .filter(|(start, range)| *start != range.start);
    if moved.map(|(_, range)| range.end - range.start).sum::<u64>() > MAX_MOVED {
        return limit("has no copies, and more than 64 MiB have moved: use .xdelta or .bps");
    }
    let mut patch = Records {
        extents,
        original,
        out,
        last: None,
    };
    patch.header()?;
    extents.changes(original, GAP, |offset, bytes| patch.write(offset, bytes))?;
    patch.finish()
}

struct Records<'a> {
    extents: &'a Extents,
    original: &'a dyn ReadAt,
    out: &'a mut dyn Write,
    /// The offset and data of the last record.
    last: Option<(u64, Vec<u8>)>,
}

impl Records<'_> {
    fn header(&mut self) -> Result<()> {
        let has_block = self.original.len() >= BLOCK + BLOCK_LEN as u64;
        let mut header = [MAGIC, b"30\x02", &[b' '; DESCRIPTION]].concat();
        header.extend([0, u8::from(has_block), 0, 0]);
        if has_block {
            let mut block = [0; BLOCK_LEN];
            read_at(self.original, &mut block, BLOCK)?;
            header.extend(block);
        }
        self.out.write_all(&header).map_err(output)
    }

    /// Writes the records of a run of changed bytes.
    fn write(&mut self, mut offset: u64, mut bytes: &[u8]) -> Result<()> {
        while !bytes.is_empty() {
            if offset as u32 == BEGIN_POSITION {
                // This offset is not allowed, so the record begins one byte earlier.
                let now = bytes.len().min(MAX_RECORD - 1);
                let before = self.extents.byte(self.original, offset - 1)?;
                self.record(offset - 1, &[&[before], &bytes[..now]].concat())?;
                (offset, bytes) = (offset + now as u64, &bytes[now..]);
                continue;
            }
            let now = bytes.len().min(MAX_RECORD);
            self.record(offset, &bytes[..now])?;
            (offset, bytes) = (offset + now as u64, &bytes[now..]);
        }
        Ok(())
    }

    fn record(&mut self, offset: u64, bytes: &[u8]) -> Result<()> {
        let length = [bytes.len() as u8];
        let record = [&offset.to_le_bytes(), &length[..], bytes].concat();
        self.out.write_all(&record).map_err(output)?;
        self.last = Some((offset, bytes.to_vec()));
        Ok(())
    }

    /// Makes sure that the end does not look like a description file.
    fn finish(mut self) -> Result<()> {
        let (offset, bytes) = self.last.take().ok_or(Error::Unchanged)?;
        let record = [&offset.to_le_bytes(), &[bytes.len() as u8][..], &bytes].concat();
        let is_mark = |width| {
            let end = record.len().checked_sub(width);
            end.is_some_and(|end| record[..end].ends_with(DIZ))
        };
        match (is_mark(2) || is_mark(4), bytes.last()) {
            (true, Some(last)) => self.record(offset + bytes.len() as u64 - 1, &[*last]),
            _ => Ok(()),
        }
    }
}
