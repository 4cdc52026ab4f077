//! The table with the offsets of the header and of the data: a resource of the
//! program, or before 5.1.5 at an offset that the program has at 0x30.

use crate::io::{Cursor, Endian, Error, ReadAt, Result, read_vec};

/// First bytes of tables with a revision, of two families of compilers.
const MAGICS: [&[u8; 12]; 2] = [
    b"rDlPtS\xCD\xE6\xD7\x7B\x0B\x2A",
    b"nS5W7dT\x83\xAA\x1B\x0F\x6A",
];

/// First bytes of tables before 5.1.5, which have no revision.
const OLD_MAGIC: &[u8; 12] = b"rDlPtS07\x87eVx";

/// Prefix of these bytes, and of tables before 4.1.6, which have other offsets.
const OLD_PREFIX: &[u8] = b"rDlPtS0";

/// Length of the longest table.
const LENGTH: u64 = 64;

/// Bytes at 0x30 of programs before 5.1.5, followed by the offset of the table and its complement.
const OLD_MARK: &[u8; 4] = b"Inno";

/// Type and id of the resource that is the table.
const RCDATA: u32 = 10;
const TABLE: u32 = 11111;

/// Maximum number of sections, as in Windows, and of entries of a resource directory.
const MAX_SECTIONS: u64 = 96;
const MAX_RESOURCES: u64 = 4096;

/// The offsets of an installer's parts.
#[derive(Debug)]
pub(super) struct Offsets {
    /// Absolute offset of the header.
    pub(super) header: u64,
    /// Absolute offset of the data; 0 if it is in slices.
    pub(super) data: u64,
}

/// Returns the offset of the table in a program; `None` for other programs.
///
/// # Errors
/// Returns an error if the source cannot be read.
pub(super) fn find(source: &dyn ReadAt) -> Result<Option<u64>> {
    let found = match in_resources(source) {
        Err(Error::Damaged { .. }) => at_mark(source),
        found => found,
    };
    match found {
        Ok(offset) => Ok(Some(offset)),
        Err(Error::Damaged { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Returns a cursor over `length` bytes at `offset`.
macro_rules! fields {
    ($bytes:ident = $source:expr, $offset:expr, $length:expr) => {{
        $bytes = read_vec($source, $offset, $length, "program")?;
        Cursor::new(&$bytes, $offset, Endian::Little)
    }};
}

fn not_an_installer(offset: u64) -> Error {
    Error::damaged(offset, "program", "has no table of Inno Setup")
}

/// Returns the offset that the program has at 0x30.
fn at_mark(source: &dyn ReadAt) -> Result<u64> {
    let bytes;
    let mut fields = fields!(bytes = source, 0x30, 12);
    let mark = fields.take(OLD_MARK.len(), "mark")?;
    let (offset, complement) = (fields.u32("offset")?, fields.u32("complement")?);
    let magic = read_vec(source, offset.into(), OLD_MAGIC.len() as u64, "table")?;
    let is_table = magic.starts_with(OLD_PREFIX) || MAGICS.iter().any(|known| magic == *known);
    match mark == OLD_MARK && offset == !complement && is_table {
        true => Ok(offset.into()),
        false => Err(not_an_installer(offset.into())),
    }
}

/// Returns the offset of the resource, in its first language.
fn in_resources(source: &dyn ReadAt) -> Result<u64> {
    let resources = Resources::of(source)?;
    let (mut at, mut number) = (resources.root, 0);
    for wanted in [Some(RCDATA), Some(TABLE), None] {
        (at, number) = resources.entry(source, at, wanted)?;
    }
    let bytes;
    let mut fields = fields!(bytes = source, resources.at(number)?, 8);
    let offset = resources.at_address(fields.u32("address")?)?;
    let magic = read_vec(source, offset, LENGTH.min(MAGICS[0].len() as u64), "table")?;
    match MAGICS.iter().any(|known| magic == *known) {
        true => Ok(offset),
        false => Err(not_an_installer(at.into())),
    }
}

/// The section of a program that has its resources.
struct Resources {
    /// Address of the section in memory.
    address: u32,
    /// Offset of the section in the file, and its length there.
    offset: u64,
    length: u64,
    /// Offset of the root directory in the section.
    root: u32,
}

impl Resources {
    fn of(source: &dyn ReadAt) -> Result<Self> {
        let bytes;
        let mut fields = fields!(bytes = source, 0, 0x40);
        if fields.take(super::PROGRAM.len(), "magic")? != super::PROGRAM {
            return Err(not_an_installer(0));
        }
        fields.seek(0x3C, "magic")?;
        let start = u64::from(fields.u32("offset of the header")?);
        let bytes;
        let mut fields = fields!(bytes = source, start, 24);
        if fields.take(4, "magic")? != b"PE\0\0" {
            return Err(not_an_installer(start));
        }
        fields.u16("machine")?;
        let sections = u64::from(fields.u16("number of sections")?).min(MAX_SECTIONS);
        fields.take(12, "symbols")?;
        let length = u64::from(fields.u16("length of the optional header")?);
        let start = start + 24;
        let bytes;
        let mut fields = fields!(bytes = source, start, length);
        let directories = match fields.u16("magic")? {
            0x10B => 92,
            0x20B => 108,
            _ => return Err(not_an_installer(start)),
        };
        fields.seek(start + directories, "directories")?;
        if fields.u32("number of directories")? < 3 {
            return Err(not_an_installer(start));
        }
        // The third one.
        fields.take(2 * 8, "directories")?;
        let root = fields.u32("address of the resources")?;
        let bytes;
        let mut fields = fields!(bytes = source, start + length, 40 * sections);
        for _ in 0..sections {
            fields.take(8, "name")?;
            let size = fields.u32("size")?;
            let address = fields.u32("address")?;
            let stored = fields.u32("stored size")?;
            let offset = fields.u32("offset")?;
            fields.take(16, "section")?;
            if let Some(root) = root.checked_sub(address)
                && root < size.max(stored)
            {
                return Ok(Self {
                    address,
                    offset: offset.into(),
                    length: stored.into(),
                    root,
                });
            }
        }
        Err(not_an_installer(start))
    }

    /// Returns the offset in the file of an offset in the section.
    fn at(&self, offset: u32) -> Result<u64> {
        match u64::from(offset) < self.length {
            true => Ok(self.offset + u64::from(offset)),
            false => Err(not_an_installer(self.offset)),
        }
    }

    fn at_address(&self, address: u32) -> Result<u64> {
        let offset = address.checked_sub(self.address);
        self.at(offset.ok_or_else(|| not_an_installer(self.offset))?)
    }

    /// Returns the directory or the resource in the directory at `directory` with
    /// this id, or the first one: as an offset in the section, and as the place of
    /// that.
    fn entry(
        &self,
        source: &dyn ReadAt,
        directory: u32,
        wanted: Option<u32>,
    ) -> Result<(u32, u32)> {
        let start = self.at(directory)?;
        let bytes;
        let mut fields = fields!(bytes = source, start, 16);
        fields.take(12, "directory")?;
        let named = fields.u16("number of names")?;
        let count = u64::from(named) + u64::from(fields.u16("number of ids")?);
        let bytes;
        let mut fields = fields!(bytes = source, start + 16, 8 * count.min(MAX_RESOURCES));
        while fields.remaining() > 0 {
            let (id, offset) = (fields.u32("id")?, fields.u32("offset")?);
            if wanted.is_none_or(|wanted| wanted == id) {
                let offset = offset & !(1 << 31);
                return Ok((offset, offset));
            }
        }
        Err(not_an_installer(start))
    }
}

impl Offsets {
    /// Reads the table at `offset`.
    ///
    /// # Errors
    /// Returns an error if it is damaged, or of a version that is not supported.
    pub(super) fn read(source: &dyn ReadAt, offset: u64) -> Result<Self> {
        let length = source.len().saturating_sub(offset).min(LENGTH);
        let bytes = read_vec(source, offset, length, "table")?;
        let mut fields = Cursor::new(&bytes, offset, Endian::Little);
        let magic = fields.take(OLD_MAGIC.len(), "magic")?;
        let is_old = magic == OLD_MAGIC;
        if magic.starts_with(OLD_PREFIX) && !is_old {
            return Err(super::unsupported("before 4.1.6"));
        }
        let revision = if is_old { 1 } else { fields.u32("revision")? };
        let is_wide = match revision {
            1 => false,
            2 => true,
            _ => {
                let problem = format!("is {revision}; 1 and 2 are supported");
                return Err(Error::damaged(offset + 12, "table revision", problem));
            }
        };
        let number = |fields: &mut Cursor<'_>, name| match is_wide {
            true => fields.u64(name),
            false => Ok(fields.u32(name)?.into()),
        };
        number(&mut fields, "total size")?;
        number(&mut fields, "program offset")?;
        fields.take(8, "program size")?;
        let offsets = Self {
            header: number(&mut fields, "header offset")?,
            data: number(&mut fields, "data offset")?,
        };
        if is_wide {
            fields.u32("padding")?;
        }
        let covered = (fields.offset() - offset) as usize;
        let recorded = fields.u32("table checksum")?;
        super::check_crc(&bytes[..covered], recorded, offset, "table")?;
        Ok(offsets)
    }
}
