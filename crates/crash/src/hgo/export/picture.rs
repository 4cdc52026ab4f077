//! Textures as pictures (FORMATS, HGO 2).

use crate::hgo::{Texture, TextureFormat};
use hpimount_assets::model::{Picture, Pixels, size_problem};

/// Returns why a texture cannot be shown, or `None` if it can. Examines no
/// pixels.
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

/// Returns the number of bytes of the pixels, for formats with a known layout.
fn data_size(format: TextureFormat, width: usize, height: usize) -> Option<usize> {
    let tiles = |side: usize| width.div_ceil(side) * height.div_ceil(side);
    match format {
        TextureFormat::Cmpr => Some(32 * tiles(8)),
        TextureFormat::Rgb5a3 => Some(32 * tiles(4)),
        TextureFormat::Rgba8 => Some(64 * tiles(4)),
        TextureFormat::Pal8 => Some(width * height),
        TextureFormat::Pal4 => Some((width * height).div_ceil(2)),
        TextureFormat::Rgb16
        | TextureFormat::Rgba16
        | TextureFormat::Rgb24
        | TextureFormat::Rgba32
        | TextureFormat::Unknown => None,
    }
}

/// Returns the pixels of a texture that has no [`problem`].
pub(super) fn picture(texture: &Texture) -> Option<Picture> {
    if problem(texture).is_some() {
        return None;
    }
    let width = u32::try_from(texture.width).ok()?;
    let height = u32::try_from(texture.height).ok()?;
    let size = (width as usize, height as usize);
    let data = &texture.data;
    let pixels = match texture.format {
        TextureFormat::Cmpr => Pixels::Rgba(cmpr(size, data)),
        TextureFormat::Rgb5a3 => Pixels::Rgba(tiles(size, data.as_chunks().0, rgb5a3)),
        TextureFormat::Rgba8 => Pixels::Rgba(tiles(size, data.as_chunks().0, rgba8)),
        TextureFormat::Pal8 | TextureFormat::Pal4 => indexed(texture, size),
        _ => return None,
    };
    Some(Picture {
        width,
        height,
        pixels,
    })
}

/// Returns the pixels of tiles of 4 by 4, stored from left to right, then down.
fn tiles<const N: usize>(
    (width, height): (usize, usize),
    tiles: &[[u8; N]],
    pixel: fn(&[u8; N], usize) -> [u8; 4],
) -> Vec<[u8; 4]> {
    let across = width.div_ceil(4);
    let all = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
    all.map(|(x, y)| {
        let tile = tiles.get(y / 4 * across + x / 4);
        tile.map_or([0; 4], |tile| pixel(tile, y % 4 * 4 + x % 4))
    })
    .collect()
}

/// Returns a pixel of a tile: opaque with 5 bits per color, or with 3 bits of
/// alpha and 4 per color.
fn rgb5a3(tile: &[u8; 32], index: usize) -> [u8; 4] {
    let value = u16::from_be_bytes([tile[2 * index], tile[2 * index + 1]]);
    if value & 0x8000 != 0 {
        let part = |shift: u16| {
            let part = (value >> shift & 31) as u8;
            part << 3 | part >> 2
        };
        return [part(10), part(5), part(0), 255];
    }
    let part = |shift: u16| (value >> shift & 15) as u8 * 17;
    let alpha = (value >> 12 & 7) as u8;
    let alpha = alpha << 5 | alpha << 2 | alpha >> 1;
    [part(8), part(4), part(0), alpha]
}

/// Returns a pixel of a tile, which has alpha and red of all pixels, then green
/// and blue.
fn rgba8(tile: &[u8; 64], index: usize) -> [u8; 4] {
    let (first, second) = (2 * index, 32 + 2 * index);
    [tile[first + 1], tile[second], tile[second + 1], tile[first]]
}

/// Returns the pixels of tiles of 8 by 8, each with four blocks of 4 by 4.
fn cmpr((width, height): (usize, usize), data: &[u8]) -> Vec<[u8; 4]> {
    let mut pixels = vec![[0; 4]; width * height];
    let across = width.div_ceil(8);
    let blocks: &[[u8; 8]] = data.as_chunks().0;
    for (number, block) in blocks.iter().enumerate() {
        let (tile, quarter) = (number / 4, number % 4);
        let left = tile % across * 8 + quarter % 2 * 4;
        let top = tile / across * 8 + quarter / 2 * 4;
        if top >= height {
            continue;
        }
        let colors = block_colors(block);
        for (y, row) in (top..height.min(top + 4)).zip(&block[4..]) {
            for (x, shift) in (left..width.min(left + 4)).zip([6, 4, 2, 0]) {
                pixels[y * width + x] = colors[usize::from(row >> shift & 3)];
            }
        }
    }
    pixels
}

/// Returns the four colors of a block: two, and two between them, or one
/// between them and a transparent one.
fn block_colors(block: &[u8; 8]) -> [[u8; 4]; 4] {
    let first = u16::from_be_bytes([block[0], block[1]]);
    let second = u16::from_be_bytes([block[2], block[3]]);
    let (a, b) = (rgb565(first), rgb565(second));
    let mix = |of_a: u16, of_b: u16, alpha: u8| {
        let part =
            |i: usize| ((of_a * u16::from(a[i]) + of_b * u16::from(b[i])) / (of_a + of_b)) as u8;
        [part(0), part(1), part(2), alpha]
    };
    if first > second {
        [a, b, mix(2, 1, 255), mix(1, 2, 255)]
    } else {
        [a, b, mix(1, 1, 255), mix(1, 1, 0)]
    }
}

fn rgb565(color: u16) -> [u8; 4] {
    let (r, g, b) = (color >> 11, color >> 5 & 63, color & 31);
    [
        (r << 3 | r >> 2) as u8,
        (g << 2 | g >> 4) as u8,
        (b << 3 | b >> 2) as u8,
        255,
    ]
}

/// Returns the pixels of a texture with a palette of red, green, blue and
/// alpha. Indices are stored row by row; with 4 bits, the left one is in the
/// low half. No file of the games uses this; the same engine has this layout in
/// other games.
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
        assert_eq!(pixels[2], [170, 0, 85, 255]);
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
