//! The records of an IMG directory.

use super::super::paths::{Span, until_nul};
use super::SECTOR;
use crate::io::{Cursor, Endian, Result, Warnings};

/// Length of a record in bytes.
pub(super) const RECORD: usize = 32;

/// Length of the field for the name in a record.
const NAME: usize = 24;

/// Where records stand, and what they point into.
#[derive(Clone, Copy)]
pub(super) struct Layout {
    /// Absolute offset of the first record.
    pub(super) base: u64,
    /// Whether the size consists of two 16-bit numbers (version 2).
    pub(super) halves: bool,
    /// Length of the image in bytes.
    pub(super) image: u64,
    /// Where in the image the directory ends.
    pub(super) directory_end: u64,
}

/// A directory that has been read.
pub(super) struct Directory {
    /// The files in its order.
    pub(super) files: Vec<Span>,
    /// Their names, one after the other, and where each ends.
    names: Vec<u8>,
    ends: Vec<u32>,
}

impl Directory {
    /// Name of the file of this number.
    pub(super) fn name(&self, number: usize) -> &[u8] {
        let start = match number.checked_sub(1) {
            Some(before) => self.ends[before],
            None => 0,
        };
        &self.names[start as usize..self.ends[number] as usize]
    }

    /// The names in the order of the files.
    pub(super) fn names(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.files.len()).map(|number| self.name(number))
    }
}

/// Reads whole records.
pub(super) fn read_records(
    records: &[u8],
    layout: Layout,
    warnings: &mut Warnings,
) -> Result<Directory> {
    let mut cursor = Cursor::new(records, layout.base, Endian::Little);
    let count = records.len() / RECORD;
    let mut directory = Directory {
        files: Vec::with_capacity(count),
        names: Vec::with_capacity(count * NAME / 2),
        ends: Vec::with_capacity(count),
    };
    for number in 0..count {
        let sector = cursor.u32("sector")?;
        let sectors = if layout.halves {
            // The size in the archive wins where there is one (IMG, 1).
            let streaming = cursor.u16("streaming sectors")?;
            match cursor.u16("sectors in archive")? {
                0 => streaming.into(),
                archive => archive.into(),
            }
        } else {
            cursor.u32("sectors")?
        };
        let field = cursor.take(NAME, "name")?;
        let name = until_nul(field);
        if name.len() == NAME {
            warnings.push(format!("entry {number}: its name has no end"));
        }
        let span = Span {
            offset: u64::from(sector) * SECTOR,
            size: u64::from(sectors) * SECTOR,
        };
        directory.files.push(fit(span, number, layout, warnings));
        directory.names.extend_from_slice(name);
        directory.ends.push(directory.names.len() as u32);
    }
    Ok(directory)
}

/// A span as it is in the image: without what is missing of its last sector.
fn fit(span: Span, number: usize, layout: Layout, warnings: &mut Warnings) -> Span {
    if span.size > 0 && span.offset < layout.directory_end {
        warnings.push(format!("entry {number} overlaps the directory"));
    }
    if span.is_inside(layout.image) {
        return span;
    }
    // Neither is more than 43 bits long.
    let missing = (span.offset + span.size) - layout.image;
    if missing < SECTOR && span.size >= missing {
        warnings.push(format!("entry {number}: {missing} bytes are missing"));
        return Span {
            size: span.size - missing,
            ..span
        };
    }
    warnings.push(format!("entry {number} reaches past the end of the image"));
    span
}

/// Whether bytes are the start of a directory of version 1 for an image of
/// that length: most records have a printable name with a dot, and lie in the
/// image.
pub(super) fn is_plausible(start: &[u8], image: u64) -> bool {
    let records = start.chunks_exact(RECORD);
    let count = records.len();
    let plausible = records.filter(|record| is_plausible_record(record, image));
    plausible.count() * 2 > count
}

fn is_plausible_record(record: &[u8], image: u64) -> bool {
    let mut cursor = Cursor::new(record, 0, Endian::Little);
    let (Ok(sector), Ok(sectors)) = (cursor.u32("sector"), cursor.u32("sectors")) else {
        return false;
    };
    let name = until_nul(&record[RECORD - NAME..]);
    let end = (u64::from(sector) + u64::from(sectors)) * SECTOR;
    let is_printable = name.iter().all(|byte| (0x20..0x7F).contains(byte));
    is_printable && name.contains(&b'.') && end < image + SECTOR
}
