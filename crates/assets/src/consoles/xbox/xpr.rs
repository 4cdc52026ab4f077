//! Packed resources of the Xbox, `XPR0`: pictures as the graphics chip reads
//! them. All numbers are little-endian.

use bytes::Bytes;
use get_size2::GetSize;

use crate::model::{Picture, Pixels, size_problem};
use crate::parse::pixels::encode::{mip, xbox};
use crate::parse::pixels::{self, Blocks, Level, XboxColors, XboxFormat};
use crate::parse::slice_of;
use hpimount_containers::io::{Cursor, Endian, Error, Result};

/// Extensions of the files.
pub const EXTENSIONS: &[&str] = &["xpr"];

/// File names of the pictures of titles and saves. Games use their extension for many
/// other formats.
pub const NAMES: &[&str] = &["titleimage.xbx", "saveimage.xbx"];

/// First bytes of a file.
pub const MAGIC: &[u8] = b"XPR0";

/// Maximum number of pictures that are read.
const MAX_PICTURES: usize = 1024;

/// Length of a resource's description in bytes.
const RESOURCE: usize = 20;

/// Mask of a resource's kind, and the kind of a texture.
const KIND: u32 = 0x7_0000;
const TEXTURE: u32 = 0x4_0000;

/// Number of dimensions of a picture without padding between its levels.
const FLAT: u32 = 2;

/// Pictures of a file.
#[derive(Debug, Clone, Default, GetSize)]
pub struct Xpr {
    /// The pictures.
    pub pictures: Vec<Stored>,
}

/// An encoded picture.
#[derive(Debug, Clone, GetSize)]
pub struct Stored {
    /// Offset of its pixels in the file.
    pub offset: u64,
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Number of the format of its pixels.
    pub format: u8,
    /// The picture and its smaller levels.
    pub(super) levels: Vec<Level>,
}

/// Parses a file.
///
/// # Errors
/// Returns [`Error::Damaged`] if the magic is wrong, or a description or pixels
/// are cut off.
pub fn parse(bytes: &Bytes) -> Result<Xpr> {
    let mut cursor = Cursor::new(bytes, 0, Endian::Little);
    if cursor.take(MAGIC.len(), "magic")? != MAGIC {
        return Err(Error::damaged(0, "magic", "is not XPR0"));
    }
    cursor.u32("length")?;
    let data = cursor.u32("length of the header")?;
    let mut xpr = Xpr::default();
    while cursor.remaining() >= RESOURCE
        && cursor.offset() + RESOURCE as u64 <= u64::from(data)
        && xpr.pictures.len() < MAX_PICTURES
    {
        let at = cursor.offset();
        if cursor.u32("kind")? & KIND != TEXTURE {
            break;
        }
        let start = u64::from(data) + u64::from(cursor.u32("offset")?);
        cursor.u32("lock")?;
        let (format, size) = (cursor.u32("format")?, cursor.u32("size")?);
        xpr.pictures.push(picture(bytes, at, start, format, size)?);
    }
    Ok(xpr)
}

/// Returns the picture of the resource at `at`, whose pixels begin at `start`.
fn picture(bytes: &Bytes, at: u64, start: u64, format: u32, size: u32) -> Result<Stored> {
    // Only a picture whose sides are not powers of two has a size field.
    let (width, height) = match size {
        0 => (1 << (format >> 20 & 15), 1 << (format >> 24 & 15)),
        size => ((size & 0xFFF) + 1, (size >> 12 & 0xFFF) + 1),
    };
    if let Some(problem) = size_problem(width.into(), height.into()) {
        return Err(Error::damaged(at + 16, "size", problem));
    }
    let number = (format >> 8) as u8;
    let Some(known) = format_of(number) else {
        let problem = format!("is {number:#x}, which is not supported");
        return Err(Error::damaged(at + 12, "format of pixels", problem));
    };
    let count = match format >> 4 & 15 {
        FLAT => (format >> 16 & 15).max(1),
        _ => 1,
    };
    let levels = levels(bytes, start, known, (width, height), count);
    if levels.is_empty() {
        let problem = format!("need {} bytes", known.size(width, height));
        return Err(Error::damaged(start, "pixels", problem));
    }
    Ok(Stored {
        offset: start,
        width,
        height,
        format: number,
        levels,
    })
}

/// Returns the first `count` levels, which begin at `start`, up to a truncated one.
fn levels(
    bytes: &Bytes,
    start: u64,
    format: XboxFormat,
    (width, height): (u32, u32),
    count: u32,
) -> Vec<Level> {
    let mut start = usize::try_from(start).unwrap_or(usize::MAX);
    let levels = (0..count).map_while(|number| {
        let (width, height) = ((width >> number).max(1), (height >> number).max(1));
        let end = start.checked_add(format.size(width, height))?;
        let data = slice_of(bytes, bytes.get(start..end)?);
        start = end;
        Some(Level {
            width,
            height,
            data,
            pitch: 0,
        })
    });
    levels.collect()
}

/// Returns the format with this number of the graphics chip, if it is supported.
fn format_of(number: u8) -> Option<XboxFormat> {
    let colors = match number {
        0x0C => return Some(XboxFormat::Blocks(Blocks::Dxt1)),
        0x0E => return Some(XboxFormat::Blocks(Blocks::Dxt3)),
        0x0F => return Some(XboxFormat::Blocks(Blocks::Dxt5)),
        0x00 => XboxColors::L8,
        0x02 => XboxColors::Argb1555,
        0x03 => XboxColors::Rgb555,
        0x04 => XboxColors::Argb4444,
        0x05 => XboxColors::Rgb565,
        0x06 => XboxColors::Argb8888,
        0x07 => XboxColors::Rgb888,
        _ => return None,
    };
    Some(XboxFormat::Pixels(colors))
}

impl Stored {
    /// Returns the picture.
    pub fn decode(&self) -> Picture {
        let mut pixels = Vec::new();
        if let Some((level, format)) = self.levels.first().zip(format_of(self.format)) {
            pixels.resize(level.pixels(), [0; 4]);
            pixels::xbox::decode(level, format, &[], &mut pixels);
        }
        Picture {
            width: self.width,
            height: self.height,
            pixels: Pixels::Rgba(pixels),
        }
    }

    /// Returns the name of the pixel format.
    pub(super) fn format_name(&self) -> &'static str {
        format_of(self.format).map_or("", XboxFormat::name)
    }

    /// Returns the bytes of all levels with the pixels of an edited picture.
    pub(super) fn encode(&self, edited: &[[u8; 4]]) -> Vec<Vec<u8>> {
        let Some(format) = format_of(self.format) else {
            return Vec::new();
        };
        let sizes = self.levels.iter().map(|level| (level.width, level.height));
        let sizes: Vec<_> = sizes.collect();
        let levels = self.levels.iter().zip(mip::levels(edited, &sizes));
        let data = levels.map(|(level, pixels)| xbox::encode(level, format, false, &pixels, &[]));
        data.collect()
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Returns a file with a picture of 4 by 4 pixels.
    pub(in super::super) fn xpr(format: u32, pixels: &[u8]) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        let words = [
            0x800 + pixels.len() as u32,
            0x800,
            0x4_0001,
            0,
            0,
            2 << 24 | 2 << 20 | format << 8 | 0x29,
            0,
            u32::MAX,
        ];
        bytes.extend(words.into_iter().flat_map(u32::to_le_bytes));
        bytes.resize(0x800, 0);
        bytes.extend(pixels);
        bytes
    }

    #[test]
    fn pictures_of_blocks_and_of_colors_are_decoded() {
        // White and black; the first pixel is black.
        let dxt = xpr(0x0C, &[0xFF, 0xFF, 0, 0, 1, 0, 0, 0]);
        let found = parse(&dxt.into()).unwrap();
        let [picture] = &found.pictures[..] else {
            panic!()
        };
        assert_eq!(
            (picture.width, picture.height, picture.offset),
            (4, 4, 0x800)
        );
        let pixels = picture.decode().rgba();
        assert_eq!(pixels[..2], [[0, 0, 0, 255], [255; 4]]);
        // The third pixel is the first one of the second row.
        let mut colors = [0; 64];
        colors[8..12].copy_from_slice(&[3, 2, 1, 9]);
        let found = parse(&xpr(0x06, &colors).into()).unwrap();
        assert_eq!(found.pictures[0].decode().rgba()[4], [1, 2, 3, 9]);
    }

    #[test]
    fn smaller_levels_count_as_memory() {
        let whole = xpr(3 << 8 | 0x0C, &[0; 24]);
        let found = parse(&whole.into()).unwrap();
        let expected = size_of::<Stored>() + 3 * size_of::<Level>();
        assert!(found.get_heap_size() >= expected);
    }

    #[test]
    fn cut_pixels_and_unknown_formats_are_damaged() {
        let whole = xpr(0x0C, &[0; 8]);
        assert!(parse(&whole[..whole.len() - 1].to_vec().into()).is_err());
        assert!(parse(&xpr(0x70, &[0; 64]).into()).is_err());
        assert!(parse(&b"XPR1".to_vec().into()).is_err());
    }
}
