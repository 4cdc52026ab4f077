//! Textures of the Xbox: their header and their pixels, little-endian.

use super::color::{argb1555, argb4444, bgra, rgb565, xrgb1555};
use super::dxt::{self, Blocks};
use super::swizzle::Morton;
use super::{Format, Level, Rules, Sampling, Texture, check_size, take_levels};
use crate::parse::name::until_nul;
use crate::parse::take;
use crate::renderware::Chunk;
use hpimount_containers::io::{Endian, Error, Result, Warnings};

/// The first word of the fields.
pub(super) const PLATFORM: u32 = 5;

/// Bits of the raster's flags.
const COLORS: u32 = 0x0F00;
const PALETTE_8: u32 = 0x2000;
const PALETTE_4: u32 = 0x4000;

/// The format of the pixels of an Xbox texture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum XboxFormat {
    /// Blocks of 4 by 4 pixels.
    Blocks(Blocks),
    /// A byte per pixel, and a palette.
    Palette {
        /// Number of colors that are stored: 256, or 32 for a palette of 16.
        colors: usize,
        /// Whether the palette's alpha is used.
        has_alpha: bool,
    },
    /// Pixels with direct colors.
    Pixels(XboxColors),
}

/// Colors of an Xbox texture without a palette.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum XboxColors {
    /// 16 bits with one of alpha.
    Argb1555,
    /// 16 bits without alpha.
    Rgb565,
    /// 16 bits with four of alpha.
    Argb4444,
    /// 8 bits of gray.
    L8,
    /// 32 bits with alpha.
    Argb8888,
    /// 32 bits without alpha.
    Rgb888,
    /// 15 bits in 16.
    Rgb555,
}

impl XboxColors {
    fn from_raster(raster: u32) -> Option<Self> {
        Some(match raster & COLORS {
            0x100 => Self::Argb1555,
            0x200 => Self::Rgb565,
            0x300 => Self::Argb4444,
            0x400 => Self::L8,
            0x500 => Self::Argb8888,
            0x600 => Self::Rgb888,
            0xA00 => Self::Rgb555,
            _ => return None,
        })
    }

    /// Returns the length of a pixel in bytes.
    fn size(self) -> usize {
        match self {
            Self::L8 => 1,
            Self::Argb1555 | Self::Rgb565 | Self::Argb4444 | Self::Rgb555 => 2,
            Self::Argb8888 | Self::Rgb888 => 4,
        }
    }
}

impl XboxFormat {
    fn new(raster: u32, compression: u8, offset: u64) -> Result<Self> {
        let unknown = |field: &'static str, value: u32| {
            Err(Error::damaged(
                offset,
                field,
                format!("is {value:#x}, which is unknown"),
            ))
        };
        match compression {
            0 => {}
            0x0C => return Ok(Self::Blocks(Blocks::Dxt1)),
            0x0D => return Ok(Self::Blocks(Blocks::Dxt2)),
            0x0E => return Ok(Self::Blocks(Blocks::Dxt3)),
            0x0F => return Ok(Self::Blocks(Blocks::Dxt5)),
            other => return unknown("compression", other.into()),
        }
        if raster & (PALETTE_8 | PALETTE_4) != 0 {
            return Ok(Self::Palette {
                colors: if raster & PALETTE_8 != 0 { 256 } else { 32 },
                has_alpha: raster & COLORS != 0x600,
            });
        }
        match XboxColors::from_raster(raster) {
            Some(colors) => Ok(Self::Pixels(colors)),
            None => unknown("raster", raster),
        }
    }

    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Blocks(blocks) => blocks.name(),
            Self::Palette { colors: 256, .. } => "PAL8",
            Self::Palette { .. } => "PAL4",
            Self::Pixels(XboxColors::Argb1555) => "1555",
            Self::Pixels(XboxColors::Rgb565) => "565",
            Self::Pixels(XboxColors::Argb4444) => "4444",
            Self::Pixels(XboxColors::L8) => "L8",
            Self::Pixels(XboxColors::Argb8888) => "8888",
            Self::Pixels(XboxColors::Rgb888) => "888",
            Self::Pixels(XboxColors::Rgb555) => "555",
        }
    }

    pub(super) fn palette_name(self) -> Option<&'static str> {
        match self {
            Self::Palette { has_alpha, .. } => Some(if has_alpha { "8888" } else { "888" }),
            _ => None,
        }
    }

    /// Returns the format of the blocks, if pixels are stored in blocks.
    fn blocks(self) -> Option<Blocks> {
        match self {
            Self::Blocks(blocks) => Some(blocks),
            _ => None,
        }
    }

    /// Returns the length in bytes of a picture of this size.
    pub(crate) fn size(self, width: u32, height: u32) -> usize {
        let (width, height) = (width as usize, height as usize);
        match self {
            Self::Blocks(blocks) => width.div_ceil(4) * height.div_ceil(4) * blocks.size(),
            Self::Palette { .. } => width * height,
            Self::Pixels(colors) => width * height * colors.size(),
        }
    }
}

/// Reads the fields of an Xbox texture.
pub(super) fn read(fields: &Chunk, rules: Rules, warnings: &mut Warnings) -> Result<Texture> {
    let mut cursor = fields.cursor(Endian::Little);
    cursor.u32("texture platform")?;
    let sampling = Sampling::from_word(cursor.u32("filter and addressing")?);
    let name = until_nul(cursor.take(32, "texture name")?);
    let mask = until_nul(cursor.take(32, "mask name")?);
    let format_at = cursor.offset();
    let raster = cursor.u32("raster flags")?;
    let has_alpha = cursor.u16("alpha flag")? != 0;
    if cursor.u16("cube map flag")? != 0 {
        warnings.push(format!(
            "cube map flag at {:#x}: is set; one side is shown",
            cursor.offset() - 2
        ));
    }
    let size_at = cursor.offset();
    let width = u32::from(cursor.u16("texture width")?);
    let height = u32::from(cursor.u16("texture height")?);
    let depth = u32::from(cursor.u8("texture depth")?);
    let declared_levels = u32::from(cursor.u8("texture levels")?);
    cursor.u8("texture type")?;
    let compression = cursor.u8("compression")?;
    let declared_size = Some(cursor.u32("size of all levels")?);
    check_size(size_at, width, height)?;
    let format = XboxFormat::new(raster, compression, format_at)?;
    let palette_size = match format {
        XboxFormat::Palette { colors, .. } => colors * 4,
        _ => 0,
    };
    let palette = take(&mut cursor, &fields.body, palette_size, "palette")?;
    let mut texture = Texture {
        width,
        height,
        depth,
        raster,
        has_alpha: Some(has_alpha),
        declared_levels,
        declared_size,
        is_opaque: rules.alpha.is_opaque(has_alpha, format.blocks()),
        palette,
        ..Texture::new(fields, [name, mask], sampling, Format::Xbox(format))
    };
    let data = fields.body.slice(fields.body.len() - cursor.remaining()..);
    let size = |width, height| format.size(width, height);
    take_levels(
        &mut texture,
        (&data, cursor.offset()),
        size,
        rules,
        warnings,
    )?;
    check_pixels(&texture, format, warnings);
    Ok(texture)
}

/// Warns about sizes that cannot be swizzled, and indices out of range.
fn check_pixels(texture: &Texture, format: XboxFormat, warnings: &mut Warnings) {
    let at = texture.offset;
    let is_swizzlable = texture.width.is_power_of_two() && texture.height.is_power_of_two();
    if format.blocks().is_none() && !is_swizzlable {
        warnings.push(format!(
            "texture size at {at:#x}: {} by {} pixels cannot be swizzled",
            texture.width, texture.height
        ));
    }
    if let XboxFormat::Palette { colors, .. } = format {
        let indices = texture.levels.iter().flat_map(|level| level.data.iter());
        let highest = indices.max().map_or(0, |&index| usize::from(index));
        if highest >= colors {
            warnings.push(format!(
                "texture at {at:#x}: has index {highest}, the palette has {colors} colors"
            ));
        }
    }
}

/// Decodes a picture.
pub(super) fn decode(level: &Level, format: XboxFormat, palette: &[u8], out: &mut [[u8; 4]]) {
    let (width, height) = (level.width as usize, level.height as usize);
    match format {
        XboxFormat::Blocks(blocks) => dxt::decode(&level.data, width, height, blocks, out),
        XboxFormat::Palette { has_alpha, .. } => {
            let mut colors = [[0; 4]; 256];
            for (color, stored) in colors.iter_mut().zip(palette.as_chunks().0) {
                *color = bgra(*stored, has_alpha);
            }
            swizzled(level, out, |[index]| colors[usize::from(index)]);
        }
        XboxFormat::Pixels(colors) => pixels(level, colors, out),
    }
}

fn pixels(level: &Level, colors: XboxColors, out: &mut [[u8; 4]]) {
    let word = |decode: fn(u16) -> [u8; 4]| move |bytes| decode(u16::from_le_bytes(bytes));
    match colors {
        XboxColors::Argb1555 => swizzled(level, out, word(argb1555)),
        XboxColors::Rgb565 => swizzled(level, out, word(rgb565)),
        XboxColors::Argb4444 => swizzled(level, out, word(argb4444)),
        XboxColors::Rgb555 => swizzled(level, out, word(xrgb1555)),
        XboxColors::L8 => swizzled(level, out, |[gray]| [gray, gray, gray, 255]),
        XboxColors::Argb8888 => swizzled(level, out, |stored| bgra(stored, true)),
        XboxColors::Rgb888 => swizzled(level, out, |stored| bgra(stored, false)),
    }
}

/// Decodes swizzled pixels of `N` bytes. Missing ones are decoded from zeros.
fn swizzled<const N: usize>(
    level: &Level,
    out: &mut [[u8; 4]],
    decode: impl Fn([u8; N]) -> [u8; 4],
) {
    let morton = Morton::new(level.width as usize, level.height as usize);
    let stored = level.data.as_chunks::<N>().0;
    let rows = out.chunks_exact_mut(level.width as usize);
    for (row, y) in rows.zip(&morton.y) {
        for (pixel, x) in row.iter_mut().zip(&morton.x) {
            *pixel = decode(stored.get(x | y).copied().unwrap_or([0; N]));
        }
    }
}
