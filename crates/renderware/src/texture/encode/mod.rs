//! Pictures as textures: the inverse of [`Texture::rgba`]. The texture keeps its format
//! and number of levels, and its size where that is fixed. Smaller levels are computed
//! from the picture, and missing palette colors replace unused ones.

mod d3d;
mod ps2;
mod size;

pub use size::Sides;

use bytes::Bytes;

use super::d3d::{D3dColors, D3dPixels, D3dVersion};
use super::ps2::Ps2Pixels;
use super::{Format, GxPalette, Ps2Format, Texture, XboxColors, XboxFormat};
use hpimount_assets::model::palette::{Fitted, Palettized};
use hpimount_assets::model::png;
use hpimount_assets::parse::pixels::color::{from_ia8, from_rgb5a3, from_rgb565};
use hpimount_assets::parse::pixels::encode::{gx, mip, xbox};
use hpimount_assets::view::AssetContext;
use hpimount_assets::view::import::{self, Changed, Edit, Imported};

/// Encodes an edited picture of a texture. `read` reads the texture from a new file.
///
/// # Errors
/// Returns the reason why the picture does not fit.
pub fn import(
    edit: &Edit<'_>,
    texture: &Texture,
    sides: Sides,
    read: impl Fn(Bytes) -> Option<Texture>,
) -> Result<Imported, String> {
    let size = (texture.width, texture.height);
    let found = png::size(edit.file).ok();
    let found = found
        .filter(|_| size::has_any_size(texture))
        .unwrap_or(size);
    if found == size {
        let (edited, _memory) = import::picture(edit, size)?;
        if texture.rgba(0).is_some_and(|shown| shown == edited) {
            return Ok(Imported::Unchanged);
        }
        let changed = with_pixels(edit.asset, texture, &edited, edit.context, read)?;
        return Ok(Imported::Changed(changed));
    }
    let resized = size::resized(edit, texture, found, sides)?;
    let (edited, _memory) = import::picture(edit, found)?;
    let file = Bytes::from(resized.file);
    let texture = read(file.clone()).ok_or("cannot be read again with this size")?;
    let mut changed = with_pixels(&file, &texture, &edited, edit.context, read)?;
    changed.warnings.splice(..0, resized.warnings);
    Ok(Imported::Changed(changed))
}

/// Replaces the pixels of `texture` in `file`, which it was read from. `read` reads the
/// texture from the new file.
fn with_pixels(
    file: &Bytes,
    texture: &Texture,
    pixels: &[[u8; 4]],
    context: &dyn AssetContext,
    read: impl FnOnce(Bytes) -> Option<Texture>,
) -> Result<Changed, String> {
    let level = texture.levels.first().ok_or("shows no pixels")?;
    let sizes: Vec<(u32, u32)> = texture
        .levels
        .iter()
        .map(|level| (level.width, level.height))
        .collect();
    let mut changed = file.to_vec();
    let needs_alpha = texture.is_opaque && pixels.iter().any(|pixel| pixel[3] < 255);
    let with_alpha = match alpha_flag(texture).filter(|_| needs_alpha) {
        Some((place, flag)) => {
            let at = texture.offset as usize + place;
            *changed
                .get_mut(at)
                .ok_or("shows a texture without header")? |= flag;
            Some(Texture {
                is_opaque: false,
                ..texture.clone()
            })
        }
        None => None,
    };
    let texture = with_alpha.as_ref().unwrap_or(texture);
    let palette = palette(texture, pixels, context)?;
    if let Some(palette) = &palette {
        import::overwrite(file, &texture.palette, &palette.stored, &mut changed)?;
    }
    let levels = mip::levels(pixels, &sizes);
    for (number, (level, pixels)) in texture.levels.iter().zip(&levels).enumerate() {
        let smaller;
        let indices = match &palette {
            None => &[][..],
            Some(palette) if number == 0 => &palette.indices,
            Some(palette) => {
                smaller = indices(texture, number, &palette.colors, pixels);
                &smaller
            }
        };
        let data = match texture.format {
            Format::GameCube { format, .. } => gx::encode(level, format, pixels, indices),
            Format::Xbox(format) => xbox::encode(level, format, texture.is_opaque, pixels, indices),
            Format::PlayStation2(format) => ps2::encode(level, format, pixels, indices),
            Format::Direct3d(format) => {
                d3d::encode(level, format, texture.is_opaque, pixels, indices)
            }
        };
        import::overwrite(file, &level.data, &data, &mut changed)?;
    }
    let shown = read(changed.clone().into()).and_then(|texture| texture.rgba(0));
    let shown = shown.filter(|shown| shown.len() == level.pixels());
    let shown = shown.ok_or("cannot be read again in the form of the texture")?;
    let form = texture.format.name();
    Ok(import::with_pixels(changed, pixels, &shown, form))
}

/// Offsets of the alpha flag in the fields of a texture, for Xbox and Direct3D 8, and
/// for Direct3D 9.
const ALPHA_FLAG: usize = 76;
const ALPHA_FLAG_9: usize = 87;

/// Returns the offset and the bit of the alpha flag in the fields of a texture, if
/// setting it enables alpha.
fn alpha_flag(texture: &Texture) -> Option<(usize, u8)> {
    use D3dColors::{A4L4, A8, A8L8, Abgr8888, Argb1555, Argb4444, Argb8888};
    let has_room = |pixels| match pixels {
        D3dPixels::Palette { .. } => true,
        D3dPixels::Colors(colors) => {
            [Argb8888, Abgr8888, Argb1555, Argb4444, A8, A8L8, A4L4].contains(&colors)
        }
        D3dPixels::Blocks(_) => false,
    };
    match texture.format {
        Format::Direct3d(format) if has_room(format.pixels) => Some(match format.version {
            D3dVersion::Eight => (ALPHA_FLAG, 1),
            D3dVersion::Nine => (ALPHA_FLAG_9, 1),
        }),
        Format::Xbox(
            XboxFormat::Palette { .. }
            | XboxFormat::Pixels(XboxColors::Argb1555 | XboxColors::Argb4444 | XboxColors::Argb8888),
        ) => Some((ALPHA_FLAG, 1)),
        _ => None,
    }
}

/// The palette of a texture.
struct NewPalette {
    colors: Vec<[u8; 4]>,
    /// The palette as encoded colors.
    stored: Vec<u8>,
    /// The index of each pixel of the largest level.
    indices: Vec<u16>,
}

/// Returns the palette for a picture, extended by missing colors; `None` for a texture
/// without a palette.
fn palette(
    texture: &Texture,
    pixels: &[[u8; 4]],
    context: &dyn AssetContext,
) -> Result<Option<NewPalette>, String> {
    let count = match texture.format {
        Format::GameCube { format, .. } => format.colors(),
        // A 16-color palette is stored with room for 32.
        Format::Xbox(XboxFormat::Palette { colors: 256, .. }) => 256,
        Format::Xbox(XboxFormat::Palette { .. }) => 16,
        Format::Direct3d(format) => match format.pixels {
            D3dPixels::Palette { colors: 256 } => 256,
            D3dPixels::Palette { .. } => 16,
            _ => 0,
        },
        Format::PlayStation2(Ps2Format { pixels, .. }) => match pixels {
            Ps2Pixels::Indices8 { .. } => 256,
            Ps2Pixels::Indices4 { .. } => 16,
            Ps2Pixels::Bits16 | Ps2Pixels::Bits32 => 0,
        },
        _ => 0,
    };
    if count == 0 {
        return Ok(None);
    }
    let mut before = palette_colors(texture, &texture.palette);
    // Missing palette entries are transparent and cannot hold other colors.
    let usable = before.len().min(count);
    before.resize(count, [0; 4]);
    let old = old_indices(texture, 0);
    let rounded = |pixel| rounded(texture, pixel);
    let reserve = |bytes| context.reserve(bytes);
    let fitted = Fitted::new(&before, usable, &old, pixels, rounded, &reserve)?;
    let Fitted {
        colors, indices, ..
    } = fitted;
    let mut stored = texture.palette.to_vec();
    let size = stored_color(texture, [0; 4]).len();
    let changes = before.iter().zip(&colors);
    for (stored, (before, color)) in stored.chunks_exact_mut(size).zip(changes) {
        if color != before {
            stored.copy_from_slice(&stored_color(texture, *color));
        }
    }
    Ok(Some(NewPalette {
        colors,
        stored,
        indices,
    }))
}

/// Returns the palette indices of the pixels of a smaller level.
fn indices(texture: &Texture, level: usize, colors: &[[u8; 4]], pixels: &[[u8; 4]]) -> Vec<u16> {
    let mut palettized = Palettized::new(colors, None);
    // Few distinct colors remain to be searched in a large palette.
    let rounded = |pixel| match colors.len() {
        ..=256 => pixel,
        _ => rounded(texture, pixel),
    };
    let old = old_indices(texture, level);
    let pairs = pixels.iter().zip(old);
    let indices = pairs.map(|(&pixel, old)| palettized.index(rounded(pixel), old));
    indices.collect()
}

/// Returns the colors of a stored palette.
fn palette_colors(texture: &Texture, stored: &[u8]) -> Vec<[u8; 4]> {
    let mut colors = match texture.format {
        Format::GameCube { palette, .. } => {
            palette.map_or_else(Vec::new, |palette| palette.colors(stored))
        }
        Format::Xbox(format) => xbox::colors(format, stored),
        Format::PlayStation2(format) => ps2::colors(format, stored),
        Format::Direct3d(_) => stored.as_chunks().0.to_vec(),
    };
    if texture.is_opaque {
        colors.iter_mut().for_each(|color| color[3] = 255);
    }
    colors
}

/// Encodes a color for the palette of a texture.
fn stored_color(texture: &Texture, color: [u8; 4]) -> Vec<u8> {
    match texture.format {
        Format::GameCube {
            palette: Some(palette),
            ..
        } => {
            let word = match palette {
                GxPalette::Ia8 => from_ia8(color),
                GxPalette::Rgb565 => from_rgb565(color),
                GxPalette::Rgb5a3 => from_rgb5a3(color),
            };
            word.to_be_bytes().to_vec()
        }
        Format::PlayStation2(format) => ps2::palette_color(format, color),
        Format::Direct3d(_) => color.to_vec(),
        _ => xbox::palette_color(color).to_vec(),
    }
}

/// Returns the nearest color that the palette of a texture can store.
fn rounded(texture: &Texture, color: [u8; 4]) -> [u8; 4] {
    let colors = palette_colors(texture, &stored_color(texture, color));
    colors.first().copied().unwrap_or(color)
}

/// Returns the palette indices of a level.
fn old_indices(texture: &Texture, level: usize) -> Vec<u16> {
    // In this palette, each color contains its index, the low byte as red and the high
    // byte as alpha.
    let numbered = Texture {
        palette: match texture.format {
            Format::Xbox(_) => (0..=255).flat_map(|index| [0, 0, index, 0]).collect(),
            Format::PlayStation2(_) | Format::Direct3d(_) => {
                (0..=255).flat_map(|index| [index, 0, 0, 0]).collect()
            }
            _ => (0..1 << 14).flat_map(u16::to_be_bytes).collect(),
        },
        format: match texture.format {
            Format::GameCube { format, .. } => Format::GameCube {
                format,
                palette: Some(GxPalette::Ia8),
            },
            Format::PlayStation2(format) => Format::PlayStation2(format.with_wide_palette()),
            format => format,
        },
        is_opaque: false,
        ..texture.clone()
    };
    let pixels = numbered.rgba(level).unwrap_or_default();
    let high = |alpha| match texture.format {
        Format::GameCube { .. } => alpha,
        _ => 0,
    };
    let indices = pixels.into_iter();
    let indices = indices.map(|[red, .., alpha]| u16::from_be_bytes([high(alpha), red]));
    indices.collect()
}

#[cfg(test)]
mod tests;
