//! Pixels of the Xbox, little-endian.

use super::Level;
use super::color::{argb1555, argb4444, bgra, rgb565, xrgb1555};
use super::dxt::{self, Blocks};
use super::swizzle::Morton;

/// The format of the pixels of an Xbox texture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum XboxFormat {
    /// Blocks of 4 by 4 pixels.
    Blocks(Blocks),
    /// A byte per pixel, and a palette.
    Palette {
        /// Number of stored colors: 256, or 32 for a palette of 16.
        colors: usize,
        /// True if the palette's alpha is used.
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

    /// Returns the name of the palette format.
    pub fn palette_name(self) -> Option<&'static str> {
        match self {
            Self::Palette { has_alpha, .. } => Some(if has_alpha { "8888" } else { "888" }),
            _ => None,
        }
    }

    /// Returns the block format, if any.
    pub fn blocks(self) -> Option<Blocks> {
        match self {
            Self::Blocks(blocks) => Some(blocks),
            _ => None,
        }
    }

    /// Returns the encoded length of a picture of this size in bytes.
    pub fn size(self, width: u32, height: u32) -> usize {
        let (width, height) = (width as usize, height as usize);
        match self {
            Self::Blocks(blocks) => width.div_ceil(4) * height.div_ceil(4) * blocks.size(),
            Self::Palette { .. } => width * height,
            Self::Pixels(colors) => width * height * colors.size(),
        }
    }
}

/// Decodes a picture.
pub fn decode(level: &Level, format: XboxFormat, palette: &[u8], out: &mut [[u8; 4]]) {
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

/// Decodes swizzled pixels of `N` bytes. Truncated data is padded with zeros.
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
