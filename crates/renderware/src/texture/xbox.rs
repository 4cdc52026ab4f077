//! Textures of the Xbox: their header, little-endian.

use super::{
    Blocks, Format, Rules, Sampling, Texture, XboxColors, XboxFormat, check_size, take_levels,
};
use crate::Chunk;
use hpimount_assets::parse::name::until_nul;
use hpimount_assets::parse::take;
use hpimount_containers::io::{Endian, Error, Result, Warnings};

/// The first word of the fields.
pub(super) const PLATFORM: u32 = 5;

/// Bits of the raster's flags.
const COLORS: u32 = 0x0F00;
const PALETTE_8: u32 = 0x2000;
const PALETTE_4: u32 = 0x4000;

/// Returns the colors for a raster's flags.
fn colors_of(raster: u32) -> Option<XboxColors> {
    Some(match raster & COLORS {
        0x100 => XboxColors::Argb1555,
        0x200 => XboxColors::Rgb565,
        0x300 => XboxColors::Argb4444,
        0x400 => XboxColors::L8,
        0x500 => XboxColors::Argb8888,
        0x600 => XboxColors::Rgb888,
        0xA00 => XboxColors::Rgb555,
        _ => return None,
    })
}

/// Returns the format for the flags of a raster at `offset`, and a compression.
fn format_of(raster: u32, compression: u8, offset: u64) -> Result<XboxFormat> {
    let unknown = |field: &'static str, value: u32| {
        Err(Error::damaged(
            offset,
            field,
            format!("is {value:#x}, which is unknown"),
        ))
    };
    match compression {
        0 => {}
        0x0C => return Ok(XboxFormat::Blocks(Blocks::Dxt1)),
        0x0D => return Ok(XboxFormat::Blocks(Blocks::Dxt2)),
        0x0E => return Ok(XboxFormat::Blocks(Blocks::Dxt3)),
        0x0F => return Ok(XboxFormat::Blocks(Blocks::Dxt5)),
        other => return unknown("compression", other.into()),
    }
    if raster & (PALETTE_8 | PALETTE_4) != 0 {
        return Ok(XboxFormat::Palette {
            colors: if raster & PALETTE_8 != 0 { 256 } else { 32 },
            has_alpha: raster & COLORS != 0x600,
        });
    }
    match colors_of(raster) {
        Some(colors) => Ok(XboxFormat::Pixels(colors)),
        None => unknown("raster", raster),
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
    let format = format_of(raster, compression, format_at)?;
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

/// Warns about sizes that cannot be swizzled, and about indices out of range.
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
