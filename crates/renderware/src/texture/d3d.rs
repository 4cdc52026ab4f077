//! Textures of Windows games: Direct3D 8 and 9, little-endian (FORMATS, GTA
//! 2.1).

use super::{Format, Level, Rules, Sampling, Texture, check_levels, check_size};
use crate::Chunk;
use hpimount_assets::parse::name::until_nul;
use hpimount_assets::parse::pixels::color::{argb1555, argb4444, bgra, rgb565, xrgb1555};
use hpimount_assets::parse::pixels::dxt::{self, Blocks};
use hpimount_assets::parse::take;
use hpimount_containers::io::{Cursor, Endian, Error, Result, Warnings};

/// The first word of the fields, for Direct3D 8.
pub(super) const PLATFORM_8: u32 = 8;

/// The first word of the fields, for Direct3D 9.
pub(super) const PLATFORM_9: u32 = 9;

/// Bits of the raster's flags.
const COLORS: u32 = 0x0F00;
const PALETTE_8: u32 = 0x2000;
const PALETTE_4: u32 = 0x4000;

/// Bits of the flags of Direct3D 9.
const HAS_ALPHA: u8 = 1;
const IS_CUBE: u8 = 2;
const IS_COMPRESSED: u8 = 8;

/// The version of Direct3D that a texture was stored for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum D3dVersion {
    /// Direct3D 8: GTA III and Vice City.
    Eight,
    /// Direct3D 9: San Andreas.
    Nine,
}

impl D3dVersion {
    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Eight => "d3d8",
            Self::Nine => "d3d9",
        }
    }
}

/// The format of a Direct3D texture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct D3dFormat {
    /// The version of Direct3D.
    pub version: D3dVersion,
    /// Pixel format.
    pub pixels: D3dPixels,
}

/// Pixel format of a Direct3D texture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum D3dPixels {
    /// Blocks of 4 by 4 pixels.
    Blocks(Blocks),
    /// An index per pixel, and a palette.
    Palette {
        /// Number of stored colors: 256, 32 for a 16-color palette with 8-bit indices,
        /// or 16.
        colors: usize,
    },
    /// Pixels with direct colors.
    Colors(D3dColors),
}

/// Direct colors of a Direct3D texture, named from the highest bits to the lowest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum D3dColors {
    /// 32 bits with alpha.
    Argb8888,
    /// 32 bits without alpha.
    Xrgb8888,
    /// 24 bits.
    Rgb888,
    /// 32 bits with alpha, red lowest.
    Abgr8888,
    /// 32 bits without alpha, red lowest.
    Xbgr8888,
    /// 16 bits without alpha.
    Rgb565,
    /// 15 bits in 16.
    Xrgb1555,
    /// 16 bits with one of alpha.
    Argb1555,
    /// 16 bits with four of alpha.
    Argb4444,
    /// 12 bits in 16.
    Xrgb4444,
    /// 8 bits of alpha; the color is white.
    A8,
    /// 8 bits of gray.
    L8,
    /// 8 bits of alpha and 8 of gray.
    A8L8,
    /// 4 bits of alpha and 4 of gray.
    A4L4,
}

impl D3dColors {
    /// Returns the colors of a raster format. `depth` decides for the default format.
    fn from_raster(raster: u32, depth: u32) -> Option<Self> {
        Some(match (raster & COLORS, depth) {
            (0x100, _) | (0, 16) => Self::Argb1555,
            (0x200, _) => Self::Rgb565,
            (0x300, _) => Self::Argb4444,
            (0x400, _) | (0, 8) => Self::L8,
            (0, 24) => Self::Rgb888,
            (0x500 | 0, _) => Self::Argb8888,
            (0x600, _) => Self::Xrgb8888,
            (0xA00, _) => Self::Xrgb1555,
            _ => return None,
        })
    }

    /// Returns the colors of a D3DFORMAT.
    fn from_d3d(format: u32) -> Option<Self> {
        Some(match format {
            20 => Self::Rgb888,
            21 => Self::Argb8888,
            22 => Self::Xrgb8888,
            23 => Self::Rgb565,
            24 => Self::Xrgb1555,
            25 => Self::Argb1555,
            26 => Self::Argb4444,
            28 => Self::A8,
            30 => Self::Xrgb4444,
            32 => Self::Abgr8888,
            33 => Self::Xbgr8888,
            50 => Self::L8,
            51 => Self::A8L8,
            52 => Self::A4L4,
            _ => return None,
        })
    }

    /// Returns the length of a pixel in bytes.
    pub(super) fn size(self) -> usize {
        match self {
            Self::A8 | Self::L8 | Self::A4L4 => 1,
            Self::Rgb565
            | Self::Xrgb1555
            | Self::Argb1555
            | Self::Argb4444
            | Self::Xrgb4444
            | Self::A8L8 => 2,
            Self::Rgb888 => 3,
            Self::Argb8888 | Self::Xrgb8888 | Self::Abgr8888 | Self::Xbgr8888 => 4,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Argb8888 => "8888",
            Self::Xrgb8888 => "888",
            Self::Rgb888 => "888_24",
            Self::Abgr8888 => "ABGR8888",
            Self::Xbgr8888 => "XBGR888",
            Self::Rgb565 => "565",
            Self::Xrgb1555 => "555",
            Self::Argb1555 => "1555",
            Self::Argb4444 => "4444",
            Self::Xrgb4444 => "X444",
            Self::A8 => "A8",
            Self::L8 => "L8",
            Self::A8L8 => "A8L8",
            Self::A4L4 => "A4L4",
        }
    }
}

impl D3dFormat {
    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self.pixels {
            D3dPixels::Blocks(blocks) => blocks.name(),
            D3dPixels::Palette { colors: 256 } => "PAL8",
            D3dPixels::Palette { .. } => "PAL4",
            D3dPixels::Colors(colors) => colors.name(),
        }
    }

    pub(super) fn palette_name(self) -> Option<&'static str> {
        matches!(self.pixels, D3dPixels::Palette { .. }).then_some("8888")
    }

    fn blocks(self) -> Option<Blocks> {
        match self.pixels {
            D3dPixels::Blocks(blocks) => Some(blocks),
            _ => None,
        }
    }

    /// Returns the lengths in bytes of a row without padding and of a level.
    pub(super) fn lengths(self, width: u32, height: u32) -> (usize, usize) {
        let (width, height) = (width as usize, height as usize);
        let row = match self.pixels {
            D3dPixels::Blocks(blocks) => {
                let size = blocks.size() * width.div_ceil(4);
                return (size, size * height.div_ceil(4));
            }
            D3dPixels::Palette { colors: 16 } => width.div_ceil(2),
            D3dPixels::Palette { .. } => width,
            D3dPixels::Colors(colors) => width * colors.size(),
        };
        (row, row * height)
    }
}

/// The fields before the palette.
struct Header {
    texture: Texture,
    raster: u32,
    /// The D3DFORMAT; for Direct3D 8, the alpha flag.
    word: u32,
    /// The compression; for Direct3D 9, the flags.
    last: u8,
    word_at: u64,
}

/// Reads the fields of a Direct3D texture.
pub(super) fn read(
    fields: &Chunk,
    version: D3dVersion,
    rules: Rules,
    warnings: &mut Warnings,
) -> Result<Texture> {
    let mut cursor = fields.cursor(Endian::Little);
    let mut header = header(fields, version, &mut cursor, warnings)?;
    let mut format = D3dFormat {
        version,
        pixels: pixels(&header, version, warnings)?,
    };
    if let D3dPixels::Palette { colors } = &mut format.pixels {
        let (width, height) = (header.texture.width, header.texture.height);
        let rest = &fields.body[fields.body.len() - cursor.remaining()..];
        *colors = stored_colors(rest, *colors, header.texture.depth, width * height);
        header.texture.palette = take(&mut cursor, &fields.body, *colors * 4, "palette")?;
    }
    let mut texture = header.texture;
    let has_alpha = texture.has_alpha.unwrap_or_default();
    texture.is_opaque = rules.alpha.is_opaque(has_alpha, format.blocks());
    levels(&mut texture, format, &mut cursor, fields, warnings)?;
    Ok(texture)
}

fn header(
    fields: &Chunk,
    version: D3dVersion,
    cursor: &mut Cursor<'_>,
    warnings: &mut Warnings,
) -> Result<Header> {
    cursor.u32("texture platform")?;
    let sampling = Sampling::from_word(cursor.u32("filter and addressing")?);
    let name = until_nul(cursor.take(32, "texture name")?);
    let mask = until_nul(cursor.take(32, "mask name")?);
    let raster = cursor.u32("raster flags")?;
    let word_at = cursor.offset();
    let word = cursor.u32("texture format")?;
    let size_at = cursor.offset();
    let width = u32::from(cursor.u16("texture width")?);
    let height = u32::from(cursor.u16("texture height")?);
    let depth = u32::from(cursor.u8("texture depth")?);
    let levels_at = cursor.offset();
    let declared_levels = u32::from(cursor.u8("texture levels")?);
    cursor.u8("texture type")?;
    let last = cursor.u8("compression")?;
    check_size(size_at, width, height)?;
    if declared_levels == 0 && cursor.remaining() > 4 {
        warnings.push(format!(
            "texture levels at {levels_at:#x}: are 0; level 0 is read"
        ));
    } else {
        check_levels(levels_at, declared_levels)?;
    }
    let has_alpha = match version {
        D3dVersion::Eight => word != 0,
        D3dVersion::Nine => last & HAS_ALPHA != 0,
    };
    if version == D3dVersion::Nine && last & IS_CUBE != 0 {
        warnings.push(format!(
            "cube map flag at {:#x}: is set; one side is shown",
            levels_at + 2
        ));
    }
    let stored = Format::Direct3d(D3dFormat {
        version,
        pixels: D3dPixels::Colors(D3dColors::Argb8888),
    });
    Ok(Header {
        texture: Texture {
            width,
            height,
            depth,
            raster,
            has_alpha: Some(has_alpha),
            declared_levels,
            ..Texture::new(fields, [name, mask], sampling, stored)
        },
        raster,
        word,
        last,
        word_at,
    })
}

/// Returns the pixel format. For a palette, it has the maximum number of colors.
fn pixels(header: &Header, version: D3dVersion, warnings: &mut Warnings) -> Result<D3dPixels> {
    let unknown = |at, field: &'static str, value: u32| {
        Error::damaged(at, field, format!("is {value:#x}, which is unknown"))
    };
    let stored = match version {
        D3dVersion::Eight => {
            let compression = header.last;
            if compression == 0 {
                None
            } else {
                let blocks = Blocks::from_number(compression).ok_or_else(|| {
                    unknown(header.word_at + 11, "compression", compression.into())
                })?;
                Some(D3dPixels::Blocks(blocks))
            }
        }
        D3dVersion::Nine => d3d9_pixels(header, warnings)
            .ok_or_else(|| unknown(header.word_at, "D3D format", header.word))?,
    };
    if header.raster & PALETTE_8 != 0 {
        return Ok(D3dPixels::Palette { colors: 256 });
    }
    if header.raster & PALETTE_4 != 0 {
        return Ok(D3dPixels::Palette { colors: 32 });
    }
    let raster = || {
        let colors = D3dColors::from_raster(header.raster, header.texture.depth);
        let colors = colors.ok_or_else(|| unknown(header.word_at - 4, "raster", header.raster))?;
        Ok(D3dPixels::Colors(colors))
    };
    stored.map_or_else(raster, Ok)
}

/// Returns the pixels of a D3DFORMAT: `Some(None)` if the raster's flags or the palette
/// decide, `None` if it is unknown.
fn d3d9_pixels(header: &Header, warnings: &mut Warnings) -> Option<Option<D3dPixels>> {
    let is_compressed = header.last & IS_COMPRESSED != 0;
    let has_palette = header.raster & (PALETTE_8 | PALETTE_4) != 0;
    let at = header.word_at;
    if let [b'D', b'X', b'T', digit] = header.word.to_le_bytes() {
        if !is_compressed {
            warnings.push(format!(
                "D3D format at {at:#x}: is compressed, but the flag for that is not set"
            ));
        }
        let blocks = Blocks::from_number(digit.wrapping_sub(b'0'))?;
        return Some(Some(D3dPixels::Blocks(blocks)));
    }
    if header.word <= 1 && !is_compressed {
        warnings.push(format!(
            "D3D format at {at:#x}: is missing; the raster's flags are used"
        ));
        return Some(None);
    }
    if is_compressed {
        warnings.push(format!(
            "D3D format at {at:#x}: is not compressed, but the flag for that is set"
        ));
    }
    const P8: u32 = 41;
    if header.word == P8 && has_palette {
        return Some(None);
    }
    D3dColors::from_d3d(header.word).map(|colors| Some(D3dPixels::Colors(colors)))
}

/// Returns the number of stored colors. A 16-color palette has 16 or 32 entries; the
/// length of level 0 after it decides.
fn stored_colors(rest: &[u8], most: usize, depth: u32, pixels: u32) -> usize {
    if most == 256 {
        return most;
    }
    let fits = |colors: usize| {
        let size = rest.get(colors * 4..).and_then(|rest| rest.first_chunk());
        let size = size.map(|bytes| u32::from_le_bytes(*bytes));
        size.is_some_and(|size| size == pixels || size == pixels.div_ceil(2))
    };
    let (likely, other) = if depth == 4 { (16, 32) } else { (32, 16) };
    if !fits(likely) && fits(other) {
        other
    } else {
        likely
    }
}

/// Reads the levels, each preceded by its length. Rows may be padded to 4 bytes.
fn levels(
    texture: &mut Texture,
    mut format: D3dFormat,
    cursor: &mut Cursor<'_>,
    fields: &Chunk,
    warnings: &mut Warnings,
) -> Result<()> {
    for number in 0..texture.declared_levels.max(1) {
        let width = (texture.width >> number).max(1);
        let height = (texture.height >> number).max(1);
        let at = cursor.offset();
        let missing = |problem: String, warnings: &mut Warnings| {
            if number == 0 {
                return Err(Error::damaged(at, "level 0", problem));
            }
            warnings.push(format!("level {number} at {at:#x}: {problem}"));
            Ok(())
        };
        if cursor.remaining() < 4 {
            let problem = format!("needs 4 bytes, {} are left", cursor.remaining());
            missing(problem, warnings)?;
            break;
        }
        let size = cursor.u32("level size")? as usize;
        if size > cursor.remaining() {
            let problem = format!("has {size} bytes, {} are left", cursor.remaining());
            missing(problem, warnings)?;
            break;
        }
        if number == 0 {
            format.pixels = by_length(format.pixels, (width, height), size);
        }
        let (row, needed) = format.lengths(width, height);
        let padded = row.next_multiple_of(4);
        let is_padded = format.blocks().is_none() && size == padded * height as usize;
        if !is_padded && size != needed {
            let problem = format!("has {size} bytes, needs {needed}");
            if size < needed {
                missing(problem.clone(), warnings)?;
            }
            if number > 0 || size > needed {
                warnings.push(format!("size of level {number} at {at:#x}: {problem}"));
            }
            if size < needed {
                break;
            }
        }
        texture.levels.push(Level {
            width,
            height,
            data: take(cursor, &fields.body, size, "level")?,
            pitch: if is_padded { padded } else { row },
        });
    }
    texture.format = Format::Direct3d(format);
    Ok(())
}

/// Corrects the pixel format according to the length of level 0: some tools store 24
/// bits as 32, and 16-color palettes have 4-bit or 8-bit indices.
fn by_length(pixels: D3dPixels, (width, height): (u32, u32), size: usize) -> D3dPixels {
    let count = width as usize * height as usize;
    match pixels {
        D3dPixels::Colors(D3dColors::Xrgb8888) if size == count * 3 => {
            D3dPixels::Colors(D3dColors::Rgb888)
        }
        D3dPixels::Palette { colors: 16 | 32 } if size < count => D3dPixels::Palette { colors: 16 },
        D3dPixels::Palette { colors: 16 } => D3dPixels::Palette { colors: 32 },
        other => other,
    }
}

/// Decodes a picture.
pub(super) fn decode(level: &Level, format: D3dFormat, palette: &[u8], out: &mut [[u8; 4]]) {
    let (width, height) = (level.width as usize, level.height as usize);
    match format.pixels {
        D3dPixels::Blocks(blocks) => dxt::decode(&level.data, width, height, blocks, out),
        D3dPixels::Palette { colors } => indices(level, colors == 16, palette, out),
        D3dPixels::Colors(colors) => direct(level, colors, out),
    }
}

/// The color of an index past the end of the palette.
const NO_COLOR: [u8; 4] = [255, 0, 255, 255];

fn indices(level: &Level, is_half: bool, palette: &[u8], out: &mut [[u8; 4]]) {
    let colors = palette.as_chunks().0;
    let color = |index: u8| colors.get(usize::from(index)).copied().unwrap_or(NO_COLOR);
    for (row, pixels) in rows(level, out) {
        for (x, pixel) in pixels.iter_mut().enumerate() {
            let byte = |at: usize| row.get(at).copied().unwrap_or_default();
            *pixel = color(if is_half {
                byte(x / 2) >> (4 * (1 - x % 2)) & 15
            } else {
                byte(x)
            });
        }
    }
}

fn direct(level: &Level, colors: D3dColors, out: &mut [[u8; 4]]) {
    let word = |decode: fn(u16) -> [u8; 4]| move |bytes| decode(u16::from_le_bytes(bytes));
    match colors {
        D3dColors::Argb8888 => each(level, out, |stored| bgra(stored, true)),
        D3dColors::Xrgb8888 => each(level, out, |stored| bgra(stored, false)),
        D3dColors::Rgb888 => each(level, out, |[b, g, r]| [r, g, b, 255]),
        D3dColors::Abgr8888 => each(level, out, |stored: [u8; 4]| stored),
        D3dColors::Xbgr8888 => each(level, out, |[r, g, b, _]: [u8; 4]| [r, g, b, 255]),
        D3dColors::Rgb565 => each(level, out, word(rgb565)),
        D3dColors::Xrgb1555 => each(level, out, word(xrgb1555)),
        D3dColors::Argb1555 => each(level, out, word(argb1555)),
        D3dColors::Argb4444 => each(level, out, word(argb4444)),
        D3dColors::Xrgb4444 => each(level, out, word(|value| argb4444(value | 0xF000))),
        D3dColors::A8 => each(level, out, |[alpha]| [255, 255, 255, alpha]),
        D3dColors::L8 => each(level, out, |[gray]| [gray, gray, gray, 255]),
        D3dColors::A8L8 => each(level, out, |[gray, alpha]| [gray, gray, gray, alpha]),
        D3dColors::A4L4 => each(level, out, |[both]: [u8; 1]| {
            let (gray, alpha) = ((both & 15) * 17, (both >> 4) * 17);
            [gray, gray, gray, alpha]
        }),
    }
}

/// Decodes pixels of `N` bytes. Truncated data is padded with zeros.
fn each<const N: usize>(level: &Level, out: &mut [[u8; 4]], decode: impl Fn([u8; N]) -> [u8; 4]) {
    for (row, pixels) in rows(level, out) {
        let stored = row.as_chunks::<N>().0;
        for (x, pixel) in pixels.iter_mut().enumerate() {
            *pixel = decode(stored.get(x).copied().unwrap_or([0; N]));
        }
    }
}

/// Returns the stored rows with their decoded pixels.
fn rows<'a>(
    level: &'a Level,
    out: &'a mut [[u8; 4]],
) -> impl Iterator<Item = (&'a [u8], &'a mut [[u8; 4]])> {
    let rows = out.chunks_exact_mut(level.width as usize);
    rows.enumerate().map(|(y, pixels)| {
        let row = level.data.get(y * level.pitch..).unwrap_or_default();
        (row, pixels)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;

    fn level(width: u32, height: u32, pitch: usize, data: &[u8]) -> Level {
        Level {
            width,
            height,
            data: Bytes::copy_from_slice(data),
            pitch,
        }
    }

    #[test]
    fn padding_after_a_row_is_skipped() {
        let mut out = [[0; 4]; 2];
        direct(
            &level(1, 2, 4, &[7, 1, 1, 1, 9, 1, 1, 1]),
            D3dColors::L8,
            &mut out,
        );
        assert_eq!(out, [[7, 7, 7, 255], [9, 9, 9, 255]]);
    }

    #[test]
    fn of_two_indices_in_a_byte_the_left_is_in_the_high_half() {
        let palette = [[1, 0, 0, 255], [2, 0, 0, 255]].concat();
        let mut out = [[0; 4]; 3];
        indices(&level(3, 1, 2, &[0x01, 0x20]), true, &palette, &mut out);
        assert_eq!(out, [[1, 0, 0, 255], [2, 0, 0, 255], NO_COLOR]);
    }

    #[test]
    fn the_length_of_level_0_decides_between_both_kinds_of_small_palettes() {
        let bytes = [[0; 64].to_vec(), 8_u32.to_le_bytes().to_vec(), vec![0; 72]].concat();
        assert_eq!(stored_colors(&bytes, 32, 8, 16), 16);
        assert_eq!(stored_colors(&bytes, 32, 8, 32), 32);
        assert_eq!(stored_colors(&bytes, 256, 8, 16), 256);
    }
}
