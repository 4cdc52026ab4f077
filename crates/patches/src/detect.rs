//! Magic bytes of patches, and of files that users mistake for patches.

use hpimount_containers::io::{Error, ReadAt, Result, read_vec};

use crate::Format;
use crate::{bps, ips, ppf, ups, vcdiff};

/// The starts of the formats.
const MAGIC: [(&[u8], Format); 6] = [
    (vcdiff::MAGIC, Format::Vcdiff),
    (bps::MAGIC, Format::Bps),
    (ups::MAGIC, Format::Ups),
    (ppf::MAGIC, Format::Ppf),
    (ips::IPS, Format::Ips),
    (ips::IPS32, Format::Ips32),
];

/// Magic bytes of other formats, which are refused by name.
const OTHERS: [(&[u8], &str); 11] = [
    (b"%XDELTA%", "a patch of xdelta 1"),
    (b"%XDZ", "a patch of xdelta 1"),
    (b"BSDIFF40", "a patch of bsdiff"),
    (b"ENDSLEY/BSDIFF43", "a patch of bsdiff"),
    (b"APS10", "an APS patch for the Nintendo 64"),
    (b"APS1", "an APS patch for the Game Boy Advance"),
    (b"NINJA2", "a RUP patch"),
    (b"PMSR", "a patch of Star Rod"),
    (b"PK\x03\x04", "a zip archive: unpack it"),
    (b"7z\xBC\xAF", "a 7z archive: unpack it"),
    (b"Rar!", "a rar archive: unpack it"),
];

/// Number of bytes that detection needs.
const START: u64 = 16;

impl Format {
    /// Detects the format of a patch by its first bytes. Riivolution is not detected:
    /// it is text, see [`riivolution`](crate::riivolution).
    ///
    /// # Errors
    /// Returns an error if the source cannot be read. Returns [`Error::Unsupported`]
    /// with the name of the format for patches and archives of other known formats.
    pub fn detect(source: &dyn ReadAt) -> Result<Option<Self>> {
        let start = read_vec(source, 0, source.len().min(START), "start of the patch")?;
        let others = OTHERS.iter().find(|(magic, _)| start.starts_with(magic));
        if let Some((_, name)) = others {
            return Err(Error::Unsupported(format!("is {name}")));
        }
        let found = MAGIC.iter().find(|(magic, _)| start.starts_with(magic));
        Ok(found.map(|(_, format)| *format))
    }
}
