//! A PVR file.

use bytes::Bytes;
use get_size2::GetSize;

use super::pixels::{self, Wrong};
use hpimount_assets::model::{Picture, Pixels, size_problem};
use hpimount_assets::parse::slice_of;
use hpimount_containers::io::{Cursor, Endian, Error, Result};

/// Extensions of the files.
pub const EXTENSIONS: &[&str] = &["pvr"];

/// Magic of a file with an index.
const INDEX_MAGIC: &[u8] = b"GBIX";

/// First bytes of the picture.
const MAGIC: &[u8] = b"PVRT";

/// A parsed file.
#[derive(Debug, Clone, GetSize)]
pub struct Pvr {
    /// Global index, if there is one.
    pub index: Option<u32>,
    /// Length of the following data in bytes, as stored.
    pub size: u32,
    /// Color format: 0 ARGB 1555, 1 RGB 565, 2 ARGB 4444.
    pub color: u8,
    /// Arrangement of the pixels.
    pub arrangement: u8,
    /// Width in pixels.
    pub width: u16,
    /// Height in pixels.
    pub height: u16,
    #[get_size(ignore)]
    pub(super) data: Bytes,
}

/// Returns whether a file begins like a PVR file.
pub fn is_known(bytes: &[u8]) -> bool {
    bytes.starts_with(INDEX_MAGIC) || bytes.starts_with(MAGIC)
}

/// Parses a file.
///
/// # Errors
/// Returns [`Error::Damaged`] if the header is wrong or pixels are missing.
pub fn parse(bytes: &Bytes) -> Result<Pvr> {
    let mut cursor = Cursor::new(bytes, 0, Endian::Little);
    let mut index = None;
    if bytes.starts_with(INDEX_MAGIC) {
        cursor.take(INDEX_MAGIC.len(), "magic")?;
        let length = cursor.u32("length of the index")?;
        let mut header = cursor.section(length as usize, "index")?;
        index = header.u32("index").ok();
    }
    let at = cursor.offset();
    if cursor.take(MAGIC.len(), "magic")? != MAGIC {
        return Err(Error::damaged(at, "magic", "is not that of a PVR picture"));
    }
    let size = cursor.u32("length")?;
    let (color, arrangement) = (cursor.u8("color")?, cursor.u8("arrangement")?);
    cursor.take(2, "reserved")?;
    let (width, height) = (cursor.u16("width")?, cursor.u16("height")?);
    let start = cursor.offset();
    let data = cursor.take(cursor.remaining(), "pixels")?;
    let pvr = Pvr {
        index,
        size,
        color,
        arrangement,
        width,
        height,
        data: slice_of(bytes, data),
    };
    if let Some(problem) = size_problem(width.into(), height.into()) {
        return Err(Error::damaged(at + 12, "size", problem));
    }
    match pixels::problem(pvr.format(), width.into(), height.into(), data.len()) {
        None => Ok(pvr),
        Some((wrong, problem)) => {
            let (offset, field) = match wrong {
                Wrong::Color => (at + 8, "color"),
                Wrong::Arrangement => (at + 9, "arrangement"),
                Wrong::Size => (at + 12, "size"),
                Wrong::Length => (start, "pixels"),
            };
            Err(Error::damaged(offset, field, problem))
        }
    }
}

impl Pvr {
    /// Returns the color format and the arrangement in one number.
    pub(super) fn format(&self) -> u32 {
        u32::from(self.color) | u32::from(self.arrangement) << 8
    }

    /// Decodes the picture.
    pub fn picture(&self) -> Option<Picture> {
        let (width, height) = (u32::from(self.width), u32::from(self.height));
        let pixels = pixels::pixels(self.format(), width, height, &self.data)?;
        Some(Picture {
            width,
            height,
            pixels: Pixels::Rgba(pixels),
        })
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Returns a file of 2 by 1 pixels, row by row.
    pub(crate) fn file(index: bool) -> Vec<u8> {
        let index = if index {
            &b"GBIX\x04\0\0\0\x07\0\0\0"[..]
        } else {
            b""
        };
        let head = b"PVRT\x0C\0\0\0\x01\x09\0\0\x02\0\x01\0";
        [index, head, &[0x1F, 0, 0, 0xF8]].concat()
    }

    #[test]
    fn an_index_may_come_before_the_picture() {
        let pvr = parse(&file(true).into()).unwrap();
        assert_eq!((pvr.index, pvr.width, pvr.height), (Some(7), 2, 1));
        assert_eq!(
            pvr.picture().unwrap().rgba(),
            [[0, 0, 255, 255], [255, 0, 0, 255]]
        );
        assert_eq!(parse(&file(false).into()).unwrap().index, None);
    }

    #[test]
    fn an_error_is_at_the_field_that_is_wrong() {
        let error = |at: usize, value: u8| {
            let mut bytes = file(false);
            bytes[at] = value;
            parse(&bytes.into()).unwrap_err().to_string()
        };
        for (at, value, start) in [
            (0, b'x', "magic at 0x0: "),
            (8, 3, "color at 0x8: "),
            (9, 5, "arrangement at 0x9: "),
            (12, 0, "size at 0xc: "),
            (12, 3, "pixels at 0x10: "),
        ] {
            let error = error(at, value);
            assert!(error.starts_with(start), "{error}");
        }
    }
}
