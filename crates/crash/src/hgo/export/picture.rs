//! Textures as pictures (FORMATS, HGO 2).

use crate::hgo::{Texture, TextureFormat};
use hpimount_assets::model::{Picture, Pixels, size_problem};
use hpimount_assets::parse::pixels::{self, GxFormat};

/// Returns the reason why a texture cannot be shown. Examines no pixels.
pub(super) fn problem(texture: &Texture) -> Option<String> {
    let side = |length: i32| u64::try_from(length).unwrap_or(0);
    let (width, height) = (side(texture.width), side(texture.height));
    let problem = size_problem(width, height);
    problem.or_else(|| {
        let Some(needed) = data_size(texture.format, width as usize, height as usize) else {
            let name = texture.format.name();
            return Some(format!("the layout of {name} pixels is unknown"));
        };
        let length = texture.data.len();
        (length < needed)
            .then(|| format!("has {length} bytes of pixels, {width} by {height} take {needed}"))
    })
}

/// Returns the graphics chip's format of the pixels, if they have one.
pub(in crate::hgo) fn gx_format(format: TextureFormat) -> Option<GxFormat> {
    match format {
        TextureFormat::Cmpr => Some(GxFormat::Cmpr),
        TextureFormat::Rgb5a3 => Some(GxFormat::Rgb5a3),
        TextureFormat::Rgba8 => Some(GxFormat::Rgba8),
        _ => None,
    }
}

/// Returns the number of bytes of the pixels, for formats with a known layout.
fn data_size(format: TextureFormat, width: usize, height: usize) -> Option<usize> {
    match format {
        TextureFormat::Pal8 => Some(width * height),
        TextureFormat::Pal4 => Some((width * height).div_ceil(2)),
        _ => Some(gx_format(format)?.size(width as u32, height as u32)),
    }
}

/// Returns the pixels of a texture that has no [`problem`].
pub(in crate::hgo) fn picture(texture: &Texture) -> Option<Picture> {
    if problem(texture).is_some() {
        return None;
    }
    let width = u32::try_from(texture.width).ok()?;
    let height = u32::try_from(texture.height).ok()?;
    let pixels = match gx_format(texture.format) {
        Some(format) => Pixels::Rgba(pixels::gamecube_pixels(
            (width, height),
            format,
            &texture.data,
        )),
        None => indexed(texture, (width as usize, height as usize)),
    };
    Some(Picture {
        width,
        height,
        pixels,
    })
}

/// Returns the pixels of a texture with an RGBA palette. Indices are stored row by row;
/// with 4 bits, the left pixel is in the low half. No file of the games uses this;
/// other games of the same engine have this layout.
fn indexed(texture: &Texture, (width, height): (usize, usize)) -> Pixels {
    let index = |pixel_number: usize| match texture.format {
        TextureFormat::Pal4 => {
            let pair = texture.data.get(pixel_number / 2).copied().unwrap_or(0);
            pair >> (4 * (pixel_number % 2)) & 15
        }
        _ => texture.data.get(pixel_number).copied().unwrap_or(0),
    };
    // 8 bits always: a row of 4-bit indices in the file may end inside a byte.
    Pixels::Indexed {
        bits: 8,
        rows: (0..width * height).map(index).collect(),
        palette: texture.palette.as_chunks().0.to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;

    fn texture(format: TextureFormat, size: (i32, i32), data: &[u8], palette: &[u8]) -> Texture {
        Texture {
            code: 0,
            format,
            width: size.0,
            height: size.1,
            mipmaps: None,
            offset: 0,
            data: Bytes::copy_from_slice(data),
            palette: Bytes::copy_from_slice(palette),
        }
    }

    #[test]
    fn palettes_have_red_first_and_left_pixels_are_in_the_low_half() {
        let palette: Vec<u8> = (0..64).collect();
        let four = texture(TextureFormat::Pal4, (3, 1), &[0x21, 0x0F], &palette);
        assert_eq!(problem(&four), None);
        let expected = [[4, 5, 6, 7], [8, 9, 10, 11], [60, 61, 62, 63]];
        assert_eq!(picture(&four).unwrap().rgba(), expected);
    }

    #[test]
    fn blocks_at_the_edge_are_cut() {
        let block = [0xF8, 0, 0, 0x1F, 0x1B, 0, 0, 0];
        let odd = texture(TextureFormat::Cmpr, (3, 1), &block.repeat(4), &[]);
        let pixels = picture(&odd).unwrap().rgba();
        assert_eq!(pixels[0], [255, 0, 0, 255]);
        assert_eq!(pixels[1], [0, 0, 255, 255]);
        assert_eq!(pixels[2], [159, 0, 95, 255]);
    }

    #[test]
    fn textures_that_cannot_be_shown_are_reported() {
        let short = texture(TextureFormat::Rgba8, (4, 5), &[0; 127], &[]);
        assert_eq!(
            problem(&short).unwrap(),
            "has 127 bytes of pixels, 4 by 5 take 128"
        );
        assert!(picture(&short).is_none());
        let unknown = texture(TextureFormat::Rgb24, (2, 2), &[0; 12], &[]);
        assert!(problem(&unknown).unwrap().contains("RGB24"));
        assert!(problem(&texture(TextureFormat::Pal8, (-1, 2), &[], &[])).is_some());
    }
}
