//! Textures as pictures (FORMATS, PSX 7 and 8).

use crate::psx::{Palette, Texture, TextureData};
use crate::pvr::pixels;
use hpimount_assets::model::{Picture, Pixels, size_problem};
use hpimount_assets::parse::color::opaque;

/// Returns the reason why a texture cannot be shown. Examines no pixels, and does not
/// look for a palette.
pub(super) fn problem(texture: &Texture) -> Option<String> {
    let (width, height) = (texture.width, texture.height);
    size_problem(width.into(), height.into()).or_else(|| match &texture.data {
        TextureData::Indexed { row_size, rows, .. } => {
            let needed = row_size * usize::from(height);
            (rows.len() < needed).then(|| "its pixels end with the file".into())
        }
        TextureData::Pvr { pixel_format, data } => {
            let problem = pixels::problem(*pixel_format, width.into(), height.into(), data.len());
            problem.map(|(_, why)| why)
        }
        TextureData::External => Some("its pixels are in a file of their own".into()),
        TextureData::Unknown => Some("its form is unknown".into()),
    })
}

/// Returns the pixels of a texture without a [`problem`].
pub(super) fn picture(texture: &Texture, palette: Option<&Palette>) -> Option<Picture> {
    let (width, height) = (u32::from(texture.width), u32::from(texture.height));
    let decoded = match &texture.data {
        TextureData::Indexed {
            bits,
            row_size,
            rows,
        } => Pixels::Indexed {
            bits: *bits,
            rows: packed(*bits, width as usize, *row_size, rows)?,
            palette: palette?
                .colors
                .iter()
                .map(|&stored| color(stored))
                .collect(),
        },
        TextureData::Pvr { pixel_format, data } => {
            Pixels::Rgba(pixels::pixels(*pixel_format, width, height, data)?)
        }
        TextureData::External | TextureData::Unknown => return None,
    };
    Some(Picture {
        width,
        height,
        pixels: decoded,
    })
}

/// Returns the rows without padding, with the left pixel in the high half of a byte.
fn packed(bits: u8, width: usize, row_size: usize, rows: &[u8]) -> Option<Vec<u8>> {
    let shown = (width * usize::from(bits)).div_ceil(8);
    let rows = rows.chunks_exact(row_size.max(1));
    let mut packed = Vec::new();
    for row in rows {
        let row = row.get(..shown)?;
        if bits == 4 {
            packed.extend(row.iter().map(|pair| pair.rotate_right(4)));
        } else {
            packed.extend_from_slice(row);
        }
    }
    Some(packed)
}

/// Converts a palette color. The top bit matters for blending only.
pub(in crate::psx) fn color(stored: u16) -> [u8; 4] {
    if Palette::is_transparent(stored) {
        return [0; 4];
    }
    opaque(stored)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colors_have_their_full_range_and_magenta_is_transparent() {
        assert_eq!(color(0x7FFF), [255; 4]);
        assert_eq!(color(0x801F), [255, 0, 0, 255]);
        assert_eq!(color(0xFC1F), [0; 4]);
    }

    #[test]
    fn padding_of_rows_is_omitted() {
        let rows = [0x21, 0x43, 0xF5, 0xFF, 0x87, 0x65, 0xF4, 0xFF];
        let expected = vec![0x12, 0x34, 0x5F, 0x78, 0x56, 0x4F];
        assert_eq!(packed(4, 5, 4, &rows), Some(expected));
        assert_eq!(packed(8, 3, 4, &[1, 2, 3, 0]), Some(vec![1, 2, 3]));
        assert_eq!(packed(8, 3, 2, &[1, 2]), None);
    }
}
