//! The header of Xbox programs, `.xbe`: the certificate, which has the title and
//! the regions of a game, and the sections (FORMATS, Consoles 2). All numbers are
//! little-endian.

use encoding_rs::UTF_16LE;
use serde_json::{Value, json};

use crate::io::{Cursor, Endian, Error, Result};

/// First bytes of a program.
pub const MAGIC: &[u8; 4] = b"XBEH";

/// Bytes of all headers at most: of the program, the certificate, and the
/// sections with their names.
pub const MAX_HEADERS: u64 = 64 << 10;

/// Offsets of the address at which the header is loaded, of the address of the
/// certificate, and of the number and the address of the section headers.
const BASE: u64 = 0x104;
const CERTIFICATE: u64 = 0x118;
const SECTIONS: u64 = 0x11C;

/// Length of a section header in bytes.
const SECTION: usize = 56;

/// Length of the name of a section that is read, in bytes.
const NAME: usize = 64;

/// Length of the title in bytes.
const TITLE: usize = 80;

/// Bits of regions and their names.
const REGIONS: [(u32, &str); 4] = [
    (1, "North America"),
    (2, "Japan"),
    (4, "rest of the world"),
    (0x8000_0000, "manufacturing"),
];

/// The header of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// The identity of the program.
    pub certificate: Certificate,
    /// Its sections, in order.
    pub sections: Vec<Section>,
}

/// The identity of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Certificate {
    /// When it was made, in seconds since 1970 UTC.
    pub time: u32,
    /// The number of the title: two letters of the publisher, and a number.
    pub title_id: u32,
    /// The title.
    pub title: String,
    /// The regions, a bit each.
    pub regions: u32,
    /// Number of the disc.
    pub disc: u32,
    /// Its version.
    pub version: u32,
}

/// A section of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// Its name.
    pub name: String,
    /// Offset of its bytes in the file.
    pub offset: u32,
    /// Number of its bytes in the file.
    pub size: u32,
}

impl Program {
    /// Parses the headers at the start of a program. `bytes` has at least all of
    /// them, or the first [`MAX_HEADERS`].
    ///
    /// # Errors
    /// Returns [`Error::Damaged`] if the magic is wrong, or a header is not in
    /// `bytes`.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        let mut cursor = Cursor::new(bytes, 0, Endian::Little);
        if cursor.take(MAGIC.len(), "magic")? != MAGIC {
            return Err(Error::damaged(0, "magic", "is not that of an Xbox program"));
        }
        cursor.seek(BASE, "base address")?;
        let base = cursor.u32("base address")?;
        let certificate = Certificate::parse(follow(&cursor, base, CERTIFICATE, "certificate")?)?;
        cursor.seek(SECTIONS, "number of sections")?;
        let count = cursor.u32("number of sections")?;
        let mut headers = follow(&cursor, base, SECTIONS + 4, "section headers")?;
        let count = headers.check_count(count.into(), SECTION, "section headers")?;
        let mut sections = Vec::with_capacity(count);
        for _ in 0..count {
            let mut header = headers.section(SECTION, "section header")?;
            header.take(12, "flags and address")?;
            let (offset, size) = (header.u32("offset")?, header.u32("size")?);
            let at = header.offset();
            let mut name = follow(&cursor, base, at, "name of a section")?;
            let name = name.take(name.remaining().min(NAME), "name of a section")?;
            let end = name.iter().position(|&byte| byte == 0);
            let name = crate::text::windows_1252(&name[..end.unwrap_or(name.len())]);
            sections.push(Section {
                name: name.into_owned(),
                offset,
                size,
            });
        }
        Ok(Self {
            certificate,
            sections,
        })
    }
}

/// Returns a cursor at the address that is stored at `at`.
fn follow<'a>(cursor: &Cursor<'a>, base: u32, at: u64, field: &'static str) -> Result<Cursor<'a>> {
    let mut pointer = cursor.clone();
    pointer.seek(at, field)?;
    let address = pointer.u32(field)?;
    let Some(offset) = address.checked_sub(base) else {
        let problem = format!("is at {address:#x}, before the program at {base:#x}");
        return Err(Error::damaged(at, field, problem));
    };
    cursor.follow(offset.into(), at, field)
}

impl Certificate {
    fn parse(mut cursor: Cursor<'_>) -> Result<Self> {
        cursor.take(4, "length of the certificate")?;
        let (time, title_id) = (cursor.u32("time")?, cursor.u32("title number")?);
        let title = UTF_16LE
            .decode_without_bom_handling(cursor.take(TITLE, "title")?)
            .0;
        let title = title.split('\0').next().unwrap_or_default().to_owned();
        cursor.take(64 + 4, "alternate titles and media")?;
        let regions = cursor.u32("regions")?;
        cursor.take(4, "ratings")?;
        Ok(Self {
            time,
            title_id,
            title,
            regions,
            disc: cursor.u32("disc")?,
            version: cursor.u32("version")?,
        })
    }

    /// Returns the number of the title as it is printed: two letters, a hyphen
    /// and three digits; in hexadecimal digits if it has no letters.
    pub fn id(&self) -> String {
        let [low, high, second, first] = self.title_id.to_le_bytes();
        let number = u16::from_le_bytes([low, high]);
        match [first, second].map(|letter| letter.is_ascii_alphanumeric()) {
            [true, true] => format!("{}{}-{number:03}", char::from(first), char::from(second)),
            _ => format!("{:08X}", self.title_id),
        }
    }

    /// Returns the facts for `info.json`.
    pub fn facts(&self) -> Value {
        let regions = REGIONS.iter().filter(|(bit, _)| self.regions & bit != 0);
        let regions: Vec<_> = regions.map(|(_, name)| *name).collect();
        json!({
            "title": self.title,
            "id": self.id(),
            "region": regions.join(", "),
            "disc": self.disc,
            "version": self.version,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the headers of a program with a section.
    fn program() -> Vec<u8> {
        let mut bytes = vec![0; 0x400];
        let mut put = |at: usize, part: &[u8]| bytes[at..at + part.len()].copy_from_slice(part);
        put(0, MAGIC);
        let base = 0x1_0000_u32;
        let words = [
            (0x104, base),
            (0x118, base + 0x200),
            (0x11C, 1),
            (0x120, base + 0x300),
            (0x208, 0x4156_0007),
            (0x2A0, 5),
            (0x2A8, 1),
            (0x2AC, 3),
            (0x30C, 0x1000),
            (0x310, 0x800),
            (0x314, base + 0x3F0),
        ];
        for (at, word) in words {
            put(at, &word.to_le_bytes());
        }
        let title = "A Gäme".encode_utf16().flat_map(u16::to_le_bytes);
        put(0x20C, &title.collect::<Vec<_>>());
        put(0x3F0, b"$$XTIMAG\0");
        bytes
    }

    #[test]
    fn a_program_has_a_title_regions_and_sections() {
        let program = Program::parse(&program()).unwrap();
        let facts = program.certificate.facts();
        assert_eq!(facts["title"], "A Gäme");
        assert_eq!(facts["id"], "AV-007");
        assert_eq!(facts["region"], "North America, rest of the world");
        assert_eq!((&facts["disc"], &facts["version"]), (&1.into(), &3.into()));
        let section = Section {
            name: "$$XTIMAG".to_owned(),
            offset: 0x1000,
            size: 0x800,
        };
        assert_eq!(program.sections, [section]);
    }

    #[test]
    fn headers_outside_the_bytes_are_damaged() {
        let whole = program();
        for length in [0, 0x104, 0x11F, 0x2B0, 0x330] {
            assert!(Program::parse(&whole[..length]).is_err(), "{length:#x}");
        }
        for (at, word) in [(0x118, 0xFFFF_u32), (0x118, u32::MAX), (0x11C, u32::MAX)] {
            let mut bytes = whole.clone();
            bytes[at..at + 4].copy_from_slice(&word.to_le_bytes());
            assert!(Program::parse(&bytes).is_err(), "{at:#x}: {word:#x}");
        }
    }
}
