//! The records of an IMG directory.

use super::super::paths::{Span, until_nul};
use super::SECTOR;
use crate::io::Warnings;

/// Length of a record in bytes.
pub(super) const RECORD: usize = 32;

/// Length of the field for the name in a record.
pub(super) const NAME: usize = 24;

/// The layout of records, and their image.
#[derive(Clone, Copy)]
pub(super) struct Layout {
    /// True if the size consists of two 16-bit numbers (version 2).
    pub(super) halves: bool,
    /// Length of the image in bytes.
    pub(super) image: u64,
    /// Offset in the image of the directory's end.
    pub(super) directory_end: u64,
}

impl Layout {
    /// Returns the layout of version 1, whose image is a separate file.
    pub(super) fn version_1(image: u64) -> Self {
        Self {
            halves: false,
            image,
            directory_end: 0,
        }
    }
}

/// A directory that has been read.
pub(super) struct Directory {
    /// The files, in the order of the directory.
    pub(super) files: Vec<Span>,
    /// Their records, with what follows them.
    pub(super) bytes: Vec<u8>,
    /// The length of the name in each record.
    name_lengths: Vec<u8>,
}

impl Directory {
    /// Returns the names in the order of the files.
    pub(super) fn names(&self) -> impl Iterator<Item = &[u8]> + Clone {
        (0..self.files.len()).map(|number| self.name(number))
    }

    /// Returns the name of the file with this number.
    pub(super) fn name(&self, number: usize) -> &[u8] {
        let start = (number + 1) * RECORD - NAME;
        &self.bytes[start..start + usize::from(self.name_lengths[number])]
    }
}

/// The fields of a record.
struct Record<'a> {
    sector: u32,
    /// In version 2, the number of sectors to stream and that in the archive;
    /// in version 1, the halves of one number of sectors.
    sectors: [u16; 2],
    name: &'a [u8],
}

impl<'a> Record<'a> {
    #[inline]
    fn of(bytes: &'a [u8; RECORD]) -> Self {
        let [a, b, c, d, e, f, g, h, name @ ..] = bytes;
        Self {
            sector: u32::from_le_bytes([*a, *b, *c, *d]),
            sectors: [u16::from_le_bytes([*e, *f]), u16::from_le_bytes([*g, *h])],
            name: until_nul(name),
        }
    }

    /// Returns the extent of its data.
    fn span(&self, layout: Layout) -> Span {
        let sectors = match self.sectors {
            // The size in the archive takes precedence if it is not 0 (FORMATS,
            // IMG 1).
            [streaming, 0] if layout.halves => streaming.into(),
            [_, archive] if layout.halves => archive.into(),
            [low, high] => u32::from(low) | u32::from(high) << 16,
        };
        Span {
            offset: u64::from(self.sector) * SECTOR,
            size: u64::from(sectors) * SECTOR,
        }
    }
}

/// Reads whole records.
pub(super) fn read_records(bytes: Vec<u8>, layout: Layout, warnings: &mut Warnings) -> Directory {
    let (all, _) = bytes.as_chunks();
    let mut files = Vec::with_capacity(all.len());
    let mut name_lengths = Vec::with_capacity(all.len());
    for (number, record) in all.iter().enumerate() {
        let record = Record::of(record);
        if record.name.len() == NAME {
            warnings.push(format!("entry {number}: its name has no end"));
        }
        files.push(fit(record.span(layout), number, layout, warnings));
        name_lengths.push(record.name.len() as u8);
    }
    Directory {
        files,
        bytes,
        name_lengths,
    }
}

/// Returns the part of an extent that exists if only a part of its last sector
/// is missing; otherwise the whole extent.
fn fit(span: Span, number: usize, layout: Layout, warnings: &mut Warnings) -> Span {
    if span.size > 0 && span.offset < layout.directory_end {
        warnings.push(format!("entry {number} overlaps the directory"));
    }
    if span.is_inside(layout.image) {
        return span;
    }
    // Neither has more than 43 bits.
    let missing = (span.offset + span.size) - layout.image;
    if missing < SECTOR && span.size >= missing {
        warnings.push(format!("entry {number}: {missing} bytes are missing"));
        return Span {
            size: span.size - missing,
            ..span
        };
    }
    warnings.push(format!("entry {number} extends past the end of the image"));
    span
}

/// Returns whether bytes are the start of a directory of version 1 for an image
/// of this length: most records have a printable name with a dot, and are
/// inside the image.
pub(super) fn is_plausible(start: &[u8], image: u64) -> bool {
    let (records, _) = start.as_chunks();
    let plausible = records.iter().filter(|record| {
        let record = Record::of(record);
        let (name, span) = (record.name, record.span(Layout::version_1(image)));
        let is_printable = name.iter().all(|byte| (0x20..0x7F).contains(byte));
        is_printable && name.contains(&b'.') && span.offset + span.size < image + SECTOR
    });
    plausible.count() * 2 > records.len()
}
