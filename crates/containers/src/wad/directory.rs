//! The three forms of a HED directory.

use super::super::paths::Span;
use crate::io::{Cursor, Endian, Error, Result};

/// Length of a sector, the unit of offsets in THAW.
pub(super) const SECTOR: u64 = 2048;

/// The part of an offset that counts sectors.
pub(super) const SECTOR_BITS: u32 = 0x00FF_FFFF;

/// The bit of a size that marks a file outside the WAD.
pub(super) const ELSEWHERE: u32 = 0x8000_0000;

/// Number of pairs of neighbors that are examined to distinguish sectors from
/// bytes.
const NEIGHBOURS: usize = 20;

/// Length of a record of the hashed form.
const HASHED: usize = 12;

/// The layout of a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// Name, offset, size.
    Names,
    /// Offset, size, name.
    Offsets,
    /// Hash of the name, offset, size.
    Hashed,
}

impl Form {
    /// Returns its name in `info.json`.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Names => "names",
            Self::Offsets => "offsets",
            Self::Hashed => "hashed",
        }
    }
}

/// The name of a file in a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum FileName {
    /// The name.
    Plain(Box<[u8]>),
    /// Its hash.
    Hash(u32),
}

/// A file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) name: FileName,
    pub(super) offset: u32,
    pub(super) size: u32,
    /// True if it is not in the WAD.
    pub(super) is_elsewhere: bool,
}

/// A directory that was read.
#[derive(Debug)]
pub(super) struct Directory {
    pub(super) form: Form,
    pub(super) records: Vec<Record>,
    /// The bytes after the records: their end mark, and padding.
    pub(super) terminator: Vec<u8>,
    /// Number of bytes after it that are not padding.
    pub(super) trailing: usize,
    /// True if the offsets count sectors.
    pub(super) in_sectors: bool,
}

impl Directory {
    /// Returns the extent of a file.
    pub(super) fn span(&self, record: &Record) -> Span {
        Span {
            offset: match self.in_sectors {
                true => u64::from(record.offset & SECTOR_BITS) * SECTOR,
                false => record.offset.into(),
            },
            size: record.size.into(),
        }
    }
}

/// The records of a form, the offset after them, and the bytes after what marks their end.
type Records<'a> = (Vec<Record>, u64, &'a [u8]);

/// Reads a directory for a WAD of this length, trying all forms.
///
/// # Errors
/// Returns [`Error::UnknownFormat`] if no form matches.
pub(super) fn read(hed: &[u8], wad: u64) -> Result<Directory> {
    let forms = [
        (Form::Names, names(hed)),
        (Form::Offsets, offsets(hed)),
        (Form::Hashed, hashed(hed)),
    ];
    for (form, records) in forms {
        let Ok((records, end, rest)) = records else {
            continue;
        };
        let is_empty = records.is_empty() && !(form == Form::Names && hed == [0xFF]);
        if is_empty || form == Form::Hashed && !mostly_inside(&records, wad) {
            continue;
        }
        let is_filled = rest.iter().all(|byte| matches!(byte, 0 | 0xFF));
        return Ok(Directory {
            form,
            in_sectors: form == Form::Offsets && counts_sectors(&records),
            records,
            terminator: hed[end as usize..].to_vec(),
            trailing: if is_filled { 0 } else { rest.len() },
        });
    }
    Err(Error::UnknownFormat)
}

/// Reads the form with names first. It ends with a byte 0xFF, or with the file.
fn names(hed: &[u8]) -> Result<Records<'_>> {
    let mut cursor = Cursor::new(hed, 0, Endian::Little);
    let mut records = Vec::new();
    loop {
        let end = cursor.offset();
        let rest = &hed[end as usize..];
        match rest.first() {
            None => return Ok((records, end, rest)),
            Some(0xFF) => return Ok((records, end, &rest[1..])),
            Some(_) => {}
        }
        let name = name(&mut cursor)?;
        records.push(Record {
            name: FileName::Plain(name.into()),
            offset: cursor.u32("offset")?,
            size: cursor.u32("size")?,
            is_elsewhere: false,
        });
    }
}

/// Reads the form with offsets first. It ends with 0xFFFFFFFF, or with the
/// file.
fn offsets(hed: &[u8]) -> Result<Records<'_>> {
    let mut cursor = Cursor::new(hed, 0, Endian::Little);
    let mut records = Vec::new();
    let mut end = 0;
    while cursor.remaining() >= 4 {
        let offset = cursor.u32("offset")?;
        if offset == u32::MAX {
            break;
        }
        let size = cursor.u32("size")?;
        records.push(Record {
            name: FileName::Plain(name(&mut cursor)?.into()),
            offset,
            size: size & !ELSEWHERE,
            is_elsewhere: size & ELSEWHERE != 0,
        });
        end = cursor.offset();
    }
    Ok((records, end, &hed[cursor.offset() as usize..]))
}

/// Reads the form with hashes. It ends with a record of zeros, or with the
/// file.
fn hashed(hed: &[u8]) -> Result<Records<'_>> {
    let mut cursor = Cursor::new(hed, 0, Endian::Little);
    let mut records = Vec::new();
    let mut end = 0;
    while cursor.remaining() >= HASHED {
        let (hash, offset, size) = (
            cursor.u32("hash")?,
            cursor.u32("offset")?,
            cursor.u32("size")?,
        );
        if (hash, offset, size) == (0, 0, 0) {
            return Ok((records, end, &hed[cursor.offset() as usize..]));
        }
        records.push(Record {
            name: FileName::Hash(hash),
            offset,
            size,
            is_elsewhere: false,
        });
        end = cursor.offset();
    }
    let rest = &hed[cursor.offset() as usize..];
    if rest.iter().any(|&byte| byte != 0) {
        let problem = format!("{} bytes are not a record", rest.len());
        return Err(Error::damaged(cursor.offset(), "record", problem));
    }
    Ok((records, end, rest))
}

/// Reads a printable name with its NUL, and the padding to a multiple of four
/// bytes from the start of the directory; the last one may lack it.
fn name<'a>(cursor: &mut Cursor<'a>) -> Result<&'a [u8]> {
    let offset = cursor.offset();
    let name = cursor.c_string("name")?;
    let is_printable = name.iter().all(|byte| (0x20..0x7F).contains(byte));
    if name.is_empty() || !is_printable {
        return Err(Error::damaged(offset, "name", "is not printable"));
    }
    let padding = cursor.offset().next_multiple_of(4) - cursor.offset();
    cursor.take((padding as usize).min(cursor.remaining()), "padding")?;
    Ok(name)
}

/// Returns whether most files are inside a WAD of this length, since any bytes
/// can be read as hashes.
fn mostly_inside(records: &[Record], wad: u64) -> bool {
    let outside = records.iter().filter(|record| {
        let end = u64::from(record.offset) + u64::from(record.size);
        end > wad
    });
    outside.count() * 2 <= records.len()
}

/// Returns whether offsets count sectors, as in THAW: two neighbors would
/// overlap if they counted bytes (FORMATS, HED/WAD 4).
fn counts_sectors(records: &[Record]) -> bool {
    let pairs = records.windows(2).take(NEIGHBOURS);
    for pair in pairs {
        let [first, second] = pair else {
            continue;
        };
        if first.size == 0 || second.size == 0 || first.is_elsewhere || second.is_elsewhere {
            continue;
        }
        let (start, next) = (first.offset & SECTOR_BITS, second.offset & SECTOR_BITS);
        if next <= start {
            continue;
        }
        let (start, next, size) = (u64::from(start), u64::from(next), u64::from(first.size));
        if next >= start + size {
            return false;
        }
        if next >= start + size.div_ceil(SECTOR) {
            return true;
        }
    }
    false
}
