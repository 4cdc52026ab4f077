//! Textures of the GameCube: their header, big-endian.

use bytes::Bytes;

use super::{Format, GxFormat, Rules, Sampling, Texture, check_size, take_levels};
use crate::Chunk;
use hpimount_assets::parse::name::until_nul;
use hpimount_assets::parse::pixels::color::{ia8, rgb5a3, rgb565};
use hpimount_assets::parse::take;
use hpimount_containers::io::{Endian, Error, Result, Warnings};

/// The first word of the fields, read little-endian.
pub(super) const PLATFORM: u32 = 0x0600_0000;

/// The format of the colors of a GameCube palette.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GxPalette {
    /// Alpha and intensity.
    Ia8,
    /// Without alpha.
    Rgb565,
    /// Opaque, or with alpha of 3 bits.
    Rgb5a3,
}

impl GxPalette {
    fn from_number(number: u8) -> Option<Self> {
        Some(match number {
            0 => Self::Ia8,
            1 => Self::Rgb565,
            2 => Self::Rgb5a3,
            _ => return None,
        })
    }

    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ia8 => "IA8",
            Self::Rgb565 => "RGB565",
            Self::Rgb5a3 => "RGB5A3",
        }
    }

    /// Returns the colors of a stored palette.
    pub(super) fn colors(self, stored: &[u8]) -> Vec<[u8; 4]> {
        let words = stored.as_chunks::<2>().0.iter();
        let words = words.map(|word| u16::from_be_bytes(*word));
        match self {
            Self::Ia8 => words.map(ia8).collect(),
            Self::Rgb565 => words.map(rgb565).collect(),
            Self::Rgb5a3 => words.map(rgb5a3).collect(),
        }
    }
}

/// Reads the fields of a GameCube texture.
pub(super) fn read(fields: &Chunk, rules: Rules, warnings: &mut Warnings) -> Result<Texture> {
    if fields.is_cut() {
        warnings.push(format!(
            "texture at {:#x}: needs {} bytes, {} are left",
            fields.offset,
            fields.declared_size,
            fields.body.len()
        ));
    }
    let mut cursor = fields.cursor(Endian::Big);
    cursor.u32("texture platform")?;
    let sampling = Sampling::from_word(cursor.u32("filter and addressing")?);
    cursor.take(16, "texture header")?;
    let name = until_nul(cursor.take(32, "texture name")?);
    let mask = until_nul(cursor.take(32, "mask name")?);
    let raster = cursor.u32("raster flags")?;
    let size_at = cursor.offset();
    let width = u32::from(cursor.u16("texture width")?);
    let height = u32::from(cursor.u16("texture height")?);
    let depth = u32::from(cursor.u8("texture depth")?);
    let declared_levels = u32::from(cursor.u8("texture levels")?);
    let format_at = cursor.offset();
    let format = cursor.u8("texture format")?;
    let palette_format = cursor.u8("palette format")?;
    let has_alpha = cursor.u32("alpha flag")? != 0;
    check_size(size_at, width, height)?;
    let format = GxFormat::from_number(format).ok_or_else(|| {
        Error::damaged(
            format_at,
            "texture format",
            format!("is {format}, which is unknown"),
        )
    })?;
    let (mut palette, mut colors) = (None, Bytes::new());
    if format.colors() > 0 {
        let known = GxPalette::from_number(palette_format).ok_or_else(|| {
            let problem = format!("is {palette_format}, which is unknown");
            Error::damaged(format_at + 1, "palette format", problem)
        })?;
        palette = Some(known);
        colors = take(&mut cursor, &fields.body, 2 * format.colors(), "palette")?;
    }
    let declared_size = Some(cursor.u32("size of all levels")?);
    let stored = Format::GameCube { format, palette };
    let mut texture = Texture {
        width,
        height,
        depth,
        raster,
        has_alpha: Some(has_alpha),
        declared_levels,
        declared_size,
        palette: colors,
        ..Texture::new(fields, [name, mask], sampling, stored)
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
    Ok(texture)
}
