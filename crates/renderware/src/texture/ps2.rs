//! Textures of the PlayStation 2: header and pixels, little-endian. The layout follows
//! a free implementation of RenderWare; no texture of a game was available (FORMATS,
//! HIP assets 4, GTA 2.3).

use bytes::Bytes;

use super::{Format, Level, Rules, Sampling, Texture, check_size};
use crate::{Chunk, kind};
use hpimount_assets::parse::pixels::color::{abgr1555, half_alpha};
use hpimount_assets::parse::pixels::swizzle::{Bands, exchanged};
use hpimount_containers::io::{Endian, Error, Result, Warnings};

/// The first word of the fields: `PS2` and a NUL.
pub(super) const PLATFORM: u32 = u32::from_le_bytes(*b"PS2\0");

/// Bits of the raster's flags.
const COLORS: u32 = 0x0F00;
const PALETTE_8: u32 = 0x2000;
const PALETTE_4: u32 = 0x4000;

/// Sizes of the packets before the pixels and before the palette, since version 2.
const PACKET: usize = 0x50;

/// The format of the pixels of a PlayStation 2 texture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ps2Format {
    /// Pixel format.
    pub pixels: Ps2Pixels,
    /// True if pixels are in the order of the graphics memory.
    pub is_swizzled: bool,
    /// Smallest width and height of a stored level, in pixels.
    pub least: (u32, u32),
}

/// A pixel of a PlayStation 2 texture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ps2Pixels {
    /// An index of 8 bits.
    Indices8 {
        /// True if colors have 32 bits instead of 16.
        is_wide: bool,
    },
    /// An index of 4 bits, the left pixel in the low half.
    Indices4 {
        /// True if colors have 32 bits instead of 16.
        is_wide: bool,
    },
    /// A color of 16 bits.
    Bits16,
    /// A color of 32 bits.
    Bits32,
}

impl Ps2Format {
    fn new(raster: u32, depth: u32, version: u16) -> Self {
        let is_wide = !matches!(raster & COLORS, 0x100 | 0xA00);
        let pixels = if raster & PALETTE_8 != 0 {
            Ps2Pixels::Indices8 { is_wide }
        } else if raster & PALETTE_4 != 0 {
            Ps2Pixels::Indices4 { is_wide }
        } else if depth == 16 {
            Ps2Pixels::Bits16
        } else {
            Ps2Pixels::Bits32
        };
        let has_packets = version >= 2;
        let (is_swizzled, least) = match pixels {
            Ps2Pixels::Indices8 { .. } if version >= 1 => (true, (16, 4)),
            Ps2Pixels::Indices4 { .. } if has_packets => (true, (32, 4)),
            Ps2Pixels::Bits16 if has_packets => (false, (4, 1)),
            Ps2Pixels::Bits32 if has_packets => (false, (2, 1)),
            _ => (false, (1, 1)),
        };
        Self {
            pixels,
            is_swizzled,
            least,
        }
    }

    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self.pixels {
            Ps2Pixels::Indices8 { .. } => "PAL8",
            Ps2Pixels::Indices4 { .. } => "PAL4",
            Ps2Pixels::Bits16 => "1555",
            Ps2Pixels::Bits32 => "8888",
        }
    }

    pub(super) fn palette_name(self) -> Option<&'static str> {
        match self.pixels {
            Ps2Pixels::Indices8 { is_wide } | Ps2Pixels::Indices4 { is_wide } => {
                Some(if is_wide { "8888" } else { "1555" })
            }
            Ps2Pixels::Bits16 | Ps2Pixels::Bits32 => None,
        }
    }

    /// Returns whether palette colors have 32 bits.
    pub(super) fn is_wide(self) -> bool {
        self.palette_name() == Some("8888")
    }

    /// Returns the format with 32-bit palette colors, if there is a palette.
    pub(super) fn with_wide_palette(self) -> Self {
        let is_wide = true;
        let pixels = match self.pixels {
            Ps2Pixels::Indices8 { .. } => Ps2Pixels::Indices8 { is_wide },
            Ps2Pixels::Indices4 { .. } => Ps2Pixels::Indices4 { is_wide },
            other => other,
        };
        Self { pixels, ..self }
    }

    /// Returns the number of bits of a pixel.
    fn bits(self) -> u32 {
        match self.pixels {
            Ps2Pixels::Indices8 { .. } => 8,
            Ps2Pixels::Indices4 { .. } => 4,
            Ps2Pixels::Bits16 => 16,
            Ps2Pixels::Bits32 => 32,
        }
    }

    /// Returns the length of a stored level in bytes.
    fn size(self, width: u32, height: u32) -> usize {
        let (width, height) = (width.max(self.least.0), height.max(self.least.1));
        // At most 4096 by 4096 pixels of 32 bits.
        (width as usize * height as usize * self.bits() as usize).div_ceil(8)
    }

    /// Returns the length of the palette in bytes.
    pub(super) fn palette_size(self) -> usize {
        match self.pixels {
            Ps2Pixels::Indices8 { is_wide } => 256 * if is_wide { 4 } else { 2 },
            Ps2Pixels::Indices4 { is_wide } => 16 * if is_wide { 4 } else { 2 },
            Ps2Pixels::Bits16 | Ps2Pixels::Bits32 => 0,
        }
    }
}

/// Reads a PlayStation 2 texture. `fields` is the first structure in `native`.
pub(super) fn read(
    native: &Chunk,
    fields: &Chunk,
    rules: Rules,
    warnings: &mut Warnings,
) -> Result<Texture> {
    let mut cursor = fields.cursor(Endian::Little);
    cursor.u32("texture platform")?;
    let sampling = Sampling::from_word(cursor.u32("filter and addressing")?);
    let of_kind = |wanted| native.children().filter(move |chunk| chunk.kind == wanted);
    let mut strings = of_kind(kind::STRING).map(|chunk| chunk.string());
    let names = std::array::from_fn(|_| strings.next().unwrap_or_default());
    let missing = |field| Error::damaged(native.offset, field, "is missing");
    let raster = of_kind(kind::STRUCT)
        .nth(1)
        .ok_or_else(|| missing("texture raster"))?;
    let mut parts = raster.children().filter(|chunk| chunk.kind == kind::STRUCT);
    let header = parts.next().ok_or_else(|| missing("texture header"))?;
    let data = parts.next().ok_or_else(|| missing("texture data"))?;
    let header = Header::read(&header)?;
    let format = Ps2Format::new(header.raster, header.depth, header.version);
    header.check(format, rules, warnings)?;
    let (pixels, palette) = header.split(&data, format, rules, warnings)?;
    let levels = header.levels(&pixels, data.offset, format, rules, warnings)?;
    Ok(Texture {
        width: header.width,
        height: header.height,
        depth: header.depth,
        raster: header.raster,
        declared_levels: header.levels,
        declared_size: Some(header.pixel_size),
        levels,
        palette,
        ..Texture::new(fields, names, sampling, Format::PlayStation2(format))
    })
}

struct Header {
    offset: u64,
    width: u32,
    height: u32,
    depth: u32,
    raster: u32,
    version: u16,
    levels: u32,
    pixel_size: u32,
}

impl Header {
    fn read(chunk: &Chunk) -> Result<Self> {
        let mut cursor = chunk.cursor(Endian::Little);
        let offset = cursor.offset();
        let width = cursor.u32("texture width")?;
        let height = cursor.u32("texture height")?;
        let depth = cursor.u32("texture depth")?;
        let raster = u32::from(cursor.u16("raster flags")?);
        let version = cursor.u16("texture version")?;
        cursor.take(8 + 4, "texture registers")?;
        let levels = (cursor.u32("texture levels")? >> 2 & 7) + 1;
        cursor.take(16, "texture registers")?;
        let pixel_size = cursor.u32("size of the pixels")?;
        cursor.take(12, "sizes of the texture")?;
        check_size(offset, width, height)?;
        Ok(Self {
            offset,
            width,
            height,
            depth,
            raster,
            version,
            levels,
            pixel_size,
        })
    }

    fn check(&self, format: Ps2Format, rules: Rules, warnings: &mut Warnings) -> Result<()> {
        let (at, bits) = (self.offset, format.bits());
        let mut problem = |field: &'static str, problem: String| {
            if !rules.may_be_cut {
                return Err(Error::damaged(at, field, problem));
            }
            warnings.push(format!("{field} at {at:#x}: {problem}"));
            Ok(())
        };
        if self.depth != bits {
            let depth = self.depth;
            problem(
                "texture depth",
                format!("is {depth}, pixels have {bits} bits"),
            )?;
        }
        if self.version > 2 {
            let version = self.version;
            problem("texture version", format!("is {version}, 0 to 2 are known"))?;
        }
        Ok(())
    }

    /// Returns the number of bytes before the pixels and before the palette.
    fn packet(&self) -> usize {
        if self.version >= 2 { PACKET } else { 0 }
    }

    /// Returns the bytes of all levels, and the palette.
    fn split(
        &self,
        data: &Chunk,
        format: Ps2Format,
        rules: Rules,
        warnings: &mut Warnings,
    ) -> Result<(Bytes, Bytes)> {
        let available = data.body.len();
        let declared = self.pixel_size as usize;
        let end = available.min(declared);
        if end < declared {
            let problem = format!("is {declared}, {available} bytes are left");
            if !rules.may_be_cut {
                return Err(Error::damaged(self.offset, "size of the pixels", problem));
            }
            warnings.push(format!(
                "size of the pixels at {:#x}: {problem}",
                self.offset
            ));
        }
        let start = end.saturating_add(self.packet()).min(available);
        let needed = format.palette_size();
        let length = needed.min(available - start);
        if length < needed {
            let at = data.offset + start as u64;
            let problem = format!("needs {needed} bytes, {length} are left");
            if !rules.may_be_cut {
                return Err(Error::damaged(at, "palette", problem));
            }
            warnings.push(format!("palette at {at:#x}: {problem}"));
        }
        Ok((
            data.body.slice(..end),
            data.body.slice(start..start + length),
        ))
    }

    /// Returns the levels in `pixels`, which begin at `offset`. Since version 2, each
    /// begins with a packet and is padded to 16 bytes.
    fn levels(
        &self,
        pixels: &Bytes,
        offset: u64,
        format: Ps2Format,
        rules: Rules,
        warnings: &mut Warnings,
    ) -> Result<Vec<Level>> {
        let mut levels = Vec::new();
        let mut start = 0;
        for number in 0..self.levels {
            let (width, height) = (
                (self.width >> number).max(1),
                (self.height >> number).max(1),
            );
            start += self.packet();
            let needed = format.size(width, height);
            let available = pixels.len().saturating_sub(start).min(needed);
            if available < needed {
                let at = offset + start as u64;
                let problem = format!("needs {needed} bytes, {available} are left");
                let least = if rules.may_be_cut { needed / 2 } else { needed };
                if number == 0 && available < least {
                    return Err(Error::damaged(at, "level 0", problem));
                }
                warnings.push(format!("level {number} at {at:#x}: {problem}"));
                if number > 0 {
                    break;
                }
            }
            levels.push(Level {
                width,
                height,
                data: pixels.slice(start.min(pixels.len())..).slice(..available),
                pitch: 0,
            });
            start += if self.packet() > 0 {
                available.next_multiple_of(16)
            } else {
                available
            };
        }
        Ok(levels)
    }
}

/// Decodes a picture.
pub(super) fn decode(level: &Level, format: Ps2Format, palette: &[u8], out: &mut [[u8; 4]]) {
    let data = &level.data[..];
    match format.pixels {
        Ps2Pixels::Indices8 { is_wide } => {
            let colors = colors(palette, is_wide, true);
            place(level, format, out, |index| {
                colors[usize::from(data.get(index).copied().unwrap_or_default())]
            });
        }
        Ps2Pixels::Indices4 { is_wide } => {
            let colors = colors(palette, is_wide, false);
            place(level, format, out, |index| {
                let byte = data.get(index / 2).copied().unwrap_or_default();
                colors[usize::from(byte >> (index % 2 * 4) & 15)]
            });
        }
        Ps2Pixels::Bits16 => {
            let words = data.as_chunks().0;
            place(level, format, out, |index| {
                let word = words.get(index).copied();
                word.map_or([0; 4], |word| abgr1555(u16::from_le_bytes(word)))
            });
        }
        Ps2Pixels::Bits32 => {
            let words = data.as_chunks().0;
            place(level, format, out, |index| {
                words.get(index).copied().map_or([0; 4], half_alpha)
            });
        }
    }
}

/// Decodes pixels. `color` returns the color of a pixel by its number in the data.
fn place(level: &Level, format: Ps2Format, out: &mut [[u8; 4]], color: impl Fn(usize) -> [u8; 4]) {
    let place = places(level, format);
    let rows = out.chunks_exact_mut(level.width as usize);
    for (y, row) in rows.enumerate() {
        for (x, pixel) in row.iter_mut().enumerate() {
            *pixel = color(place(x, y));
        }
    }
}

/// Returns a function from the column and the row of a pixel to its number in the data.
pub(super) fn places(level: &Level, format: Ps2Format) -> impl Fn(usize, usize) -> usize {
    let bands = format
        .is_swizzled
        .then(|| Bands::new(level.width, format.least.0));
    let stride = level.width.max(format.least.0) as usize;
    move |x, y| {
        bands
            .as_ref()
            .map_or(y * stride + x, |bands| bands.index(x, y))
    }
}

/// Returns the colors of a palette; missing colors are transparent. In a palette of
/// 256, bits 3 and 4 of an index are exchanged.
pub(super) fn colors(palette: &[u8], is_wide: bool, is_exchanged: bool) -> [[u8; 4]; 256] {
    let stored = stored_colors(palette, is_wide);
    std::array::from_fn(|index| {
        let place = match is_exchanged {
            true => exchanged(index),
            false => index,
        };
        stored.get(place).copied().unwrap_or_default()
    })
}

/// Returns the colors of a palette in stored order.
pub(super) fn stored_colors(palette: &[u8], is_wide: bool) -> Vec<[u8; 4]> {
    match is_wide {
        true => palette
            .as_chunks()
            .0
            .iter()
            .copied()
            .map(half_alpha)
            .collect(),
        false => {
            let words = palette.as_chunks().0.iter();
            words
                .map(|&word| abgr1555(u16::from_le_bytes(word)))
                .collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_3_and_4_of_an_index_into_256_colors_are_exchanged() {
        let palette: Vec<u8> = (0..=255_u8).flat_map(|index| [index, 0, 0, 128]).collect();
        let found = colors(&palette, true, true);
        assert_eq!(
            [found[8][0], found[16][0], found[24][0], found[1][0]],
            [16, 8, 24, 1]
        );
        assert_eq!(colors(&palette, true, false)[8][0], 8);
        assert_eq!(colors(&palette[..4], true, false)[1], [0; 4]);
    }
}
