//! Textures of the PlayStation 2: their header and their pixels, little-endian.
//! The layout follows a free implementation of RenderWare; no texture of a game
//! was available (FORMATS, HIP assets 4).

use bytes::Bytes;

use super::color::abgr1555;
use super::swizzle::Bands;
use super::{Format, Level, Sampling, Texture, check_size};
use crate::renderware::{Chunk, kind};
use hpimount_containers::io::{Endian, Error, Result, Warnings};

/// The first word of the fields: `PS2` and a NUL.
pub(super) const PLATFORM: u32 = u32::from_le_bytes(*b"PS2\0");

/// Bits of the raster's flags.
const COLORS: u32 = 0x0F00;
const PALETTE_8: u32 = 0x2000;
const PALETTE_4: u32 = 0x4000;

/// Length of the packet before the pixels and of that before the palette, since
/// version 2.
const PACKET: usize = 0x50;

/// The format of the pixels of a PlayStation 2 texture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ps2Format {
    /// Indices of 8 bits.
    Indices8 {
        /// Whether pixels are in the order of the graphics memory.
        is_swizzled: bool,
        /// Whether colors have 32 bits instead of 16.
        is_wide: bool,
    },
    /// Indices of 4 bits, the left pixel in the low half.
    Indices4 {
        /// Whether pixels are in the order of the graphics memory.
        is_swizzled: bool,
        /// Whether colors have 32 bits instead of 16.
        is_wide: bool,
    },
    /// Colors of 16 bits.
    Bits16,
    /// Colors of 32 bits.
    Bits32,
}

impl Ps2Format {
    fn new(raster: u32, depth: u32, version: u16) -> Self {
        let is_wide = matches!(raster & COLORS, 0 | 0x500 | 0x600);
        if raster & PALETTE_8 != 0 {
            let is_swizzled = version >= 1;
            return Self::Indices8 {
                is_swizzled,
                is_wide,
            };
        }
        if raster & PALETTE_4 != 0 {
            let is_swizzled = version >= 2;
            return Self::Indices4 {
                is_swizzled,
                is_wide,
            };
        }
        if depth == 16 {
            Self::Bits16
        } else {
            Self::Bits32
        }
    }

    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Indices8 { .. } => "PAL8",
            Self::Indices4 { .. } => "PAL4",
            Self::Bits16 => "1555",
            Self::Bits32 => "8888",
        }
    }

    pub(super) fn palette_name(self) -> Option<&'static str> {
        match self {
            Self::Indices8 { is_wide, .. } | Self::Indices4 { is_wide, .. } => {
                Some(if is_wide { "8888" } else { "1555" })
            }
            Self::Bits16 | Self::Bits32 => None,
        }
    }

    /// Returns the number of bits of a pixel.
    fn bits(self) -> u32 {
        match self {
            Self::Indices8 { .. } => 8,
            Self::Indices4 { .. } => 4,
            Self::Bits16 => 16,
            Self::Bits32 => 32,
        }
    }

    /// Returns the length of the palette in bytes.
    fn palette_size(self) -> usize {
        match self {
            Self::Indices8 { is_wide, .. } => 256 * if is_wide { 4 } else { 2 },
            Self::Indices4 { is_wide, .. } => 16 * if is_wide { 4 } else { 2 },
            Self::Bits16 | Self::Bits32 => 0,
        }
    }
}

/// Reads a PlayStation 2 texture. `fields` is the first structure in `native`.
pub(super) fn read(native: &Chunk, fields: &Chunk, warnings: &mut Warnings) -> Result<Texture> {
    let mut cursor = fields.cursor(Endian::Little);
    cursor.u32("texture platform")?;
    let sampling = Sampling::from_word(cursor.u32("filter and addressing")?);
    let of_kind = |wanted| native.children().filter(move |chunk| chunk.kind == wanted);
    let mut strings = of_kind(kind::STRING).map(|chunk| chunk.string());
    let (name, mask) = (strings.next(), strings.next());
    let missing = |field| Error::damaged(native.offset, field, "is missing");
    let raster = of_kind(kind::STRUCT)
        .nth(1)
        .ok_or_else(|| missing("texture raster"))?;
    let mut parts = raster.children().filter(|chunk| chunk.kind == kind::STRUCT);
    let header = parts.next().ok_or_else(|| missing("texture header"))?;
    let data = parts.next().ok_or_else(|| missing("texture data"))?;
    let header = Header::read(&header)?;
    let format = Ps2Format::new(header.raster, header.depth, header.version);
    header.check(format, warnings);
    let (pixels, palette) = header.split(&data, format, warnings)?;
    Ok(Texture {
        name: name.unwrap_or_default(),
        mask: mask.unwrap_or_default(),
        width: header.width,
        height: header.height,
        depth: header.depth,
        raster: header.raster,
        sampling,
        has_alpha: None,
        declared_levels: header.levels,
        declared_size: Some(header.pixel_size),
        levels: vec![Level {
            width: header.width,
            height: header.height,
            data: pixels,
        }],
        format: Format::PlayStation2(format),
        palette,
        version: fields.version,
        offset: fields.offset,
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

    fn check(&self, format: Ps2Format, warnings: &mut Warnings) {
        let (at, bits) = (self.offset, format.bits());
        if self.depth != bits {
            let depth = self.depth;
            warnings.push(format!(
                "texture depth at {at:#x}: is {depth}, pixels have {bits} bits"
            ));
        }
        if self.version > 2 {
            let version = self.version;
            warnings.push(format!(
                "texture version at {at:#x}: is {version}, 0 to 2 are known"
            ));
        }
    }

    /// Returns the pixels of level 0, and the palette.
    fn split(
        &self,
        data: &Chunk,
        format: Ps2Format,
        warnings: &mut Warnings,
    ) -> Result<(Bytes, Bytes)> {
        let packet = if self.version >= 2 { PACKET } else { 0 };
        let available = data.body.len();
        let end = available.min(self.pixel_size as usize);
        if end < self.pixel_size as usize {
            let size = self.pixel_size;
            warnings.push(format!(
                "size of the pixels at {:#x}: is {size}, {available} bytes are left",
                self.offset
            ));
        }
        let pixels = data.body.slice(packet.min(end)..end);
        let needed =
            (u64::from(self.width) * u64::from(self.height) * u64::from(format.bits())).div_ceil(8);
        let problem = format!("needs {needed} bytes, {} are left", pixels.len());
        if pixels.len() as u64 * 2 < needed {
            return Err(Error::damaged(data.offset, "level 0", problem));
        }
        if (pixels.len() as u64) < needed {
            warnings.push(format!("level 0 at {:#x}: {problem}", data.offset));
        }
        let start = end.saturating_add(packet).min(available);
        let length = format.palette_size().min(available - start);
        if length < format.palette_size() {
            warnings.push(format!(
                "palette at {:#x}: needs {} bytes, {length} are left",
                data.offset + start as u64,
                format.palette_size()
            ));
        }
        Ok((pixels, data.body.slice(start..start + length)))
    }
}

/// Decodes a picture.
pub(super) fn decode(level: &Level, format: Ps2Format, palette: &[u8], out: &mut [[u8; 4]]) {
    let data = &level.data[..];
    match format {
        Ps2Format::Indices8 {
            is_swizzled,
            is_wide,
        } => {
            let colors = colors(palette, is_wide, true);
            let bands = is_swizzled.then(|| Bands::new(level.width, 16));
            indices(level, bands, out, |index| {
                colors[usize::from(data.get(index).copied().unwrap_or_default())]
            });
        }
        Ps2Format::Indices4 {
            is_swizzled,
            is_wide,
        } => {
            let colors = colors(palette, is_wide, false);
            let bands = is_swizzled.then(|| Bands::new(level.width, 32));
            indices(level, bands, out, |index| {
                let byte = data.get(index / 2).copied().unwrap_or_default();
                colors[usize::from(byte >> (index % 2 * 4) & 15)]
            });
        }
        Ps2Format::Bits16 => {
            for (pixel, word) in out.iter_mut().zip(data.as_chunks().0) {
                *pixel = abgr1555(u16::from_le_bytes(*word));
            }
        }
        Ps2Format::Bits32 => {
            for (pixel, stored) in out.iter_mut().zip(data.as_chunks().0) {
                *pixel = half_alpha(*stored);
            }
        }
    }
}

/// Decodes pixels; `color` maps the number of a pixel in the data to its
/// color.
fn indices(
    level: &Level,
    bands: Option<Bands>,
    out: &mut [[u8; 4]],
    color: impl Fn(usize) -> [u8; 4],
) {
    let width = level.width as usize;
    for (y, row) in out.chunks_exact_mut(width).enumerate() {
        for (x, pixel) in row.iter_mut().enumerate() {
            let index = bands
                .as_ref()
                .map_or(y * width + x, |bands| bands.index(x, y));
            *pixel = color(index);
        }
    }
}

/// Returns the colors of a palette; missing ones are transparent. In a palette
/// of 256, bits 3 and 4 of an index are exchanged.
fn colors(palette: &[u8], is_wide: bool, is_exchanged: bool) -> [[u8; 4]; 256] {
    let stored = |index: usize| {
        if is_wide {
            let color = palette.as_chunks().0.get(index).copied();
            return color.map_or([0; 4], half_alpha);
        }
        let word = palette.as_chunks().0.get(index).copied();
        word.map_or([0; 4], |word| abgr1555(u16::from_le_bytes(word)))
    };
    std::array::from_fn(|index| {
        let exchanged = index & !0x18 | (index & 8) << 1 | (index & 16) >> 1;
        stored(if is_exchanged { exchanged } else { index })
    })
}

/// Converts a color with alpha from 0 to 128.
fn half_alpha([r, g, b, a]: [u8; 4]) -> [u8; 4] {
    let alpha = (u32::from(a) * 255 / 128).min(255);
    [r, g, b, alpha as u8]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alpha_of_128_is_opaque() {
        assert_eq!(half_alpha([1, 2, 3, 128]), [1, 2, 3, 255]);
        assert_eq!(half_alpha([0, 0, 0, 255])[3], 255);
        assert_eq!(half_alpha([0, 0, 0, 64])[3], 127);
    }

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
