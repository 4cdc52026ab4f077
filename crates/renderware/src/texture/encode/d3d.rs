//! Pictures as rows of pixels and blocks of Windows games.

use super::super::d3d::{D3dColors, D3dFormat, D3dPixels};
use super::super::{Level, d3d};
use hpimount_assets::parse::pixels::color::{
    from_argb1555, from_argb4444, from_ia8, from_rgb565, from_xrgb1555, nearest4,
};
use hpimount_assets::parse::pixels::encode::block;

/// Encodes a level with the old data `level`. `indices` has the palette indices in
/// formats with a palette. Pixels that look the same keep their bytes.
pub(super) fn encode(
    level: &Level,
    format: D3dFormat,
    is_opaque: bool,
    pixels: &[[u8; 4]],
    indices: &[u16],
) -> Vec<u8> {
    let width = level.width as usize;
    let mut data = level.data.to_vec();
    let place = |number: usize| (number / width * level.pitch, number % width);
    match format.pixels {
        D3dPixels::Blocks(kind) => return block::level(level, kind, is_opaque, pixels),
        D3dPixels::Palette { colors: 16 } => {
            for (number, &index) in indices.iter().enumerate() {
                let (row, x) = place(number);
                if let Some(byte) = data.get_mut(row + x / 2) {
                    // The left pixel is in the high half.
                    let shift = 4 * (1 - x % 2);
                    *byte = *byte & !(15 << shift) | (index as u8 & 15) << shift;
                }
            }
        }
        D3dPixels::Palette { .. } => {
            for (number, &index) in indices.iter().enumerate() {
                let (row, x) = place(number);
                if let Some(byte) = data.get_mut(row + x) {
                    *byte = index as u8;
                }
            }
        }
        D3dPixels::Colors(colors) => {
            let mut old = vec![[0; 4]; pixels.len()];
            d3d::decode(level, format, &[], &mut old);
            let size = colors.size();
            for (number, (&pixel, old)) in pixels.iter().zip(old).enumerate() {
                let shown = match (is_opaque, old) {
                    (true, [r, g, b, _]) => [r, g, b, 255],
                    (false, old) => old,
                };
                let (row, x) = place(number);
                let stored = data
                    .get_mut(row + x * size..)
                    .and_then(|rest| rest.get_mut(..size));
                if let Some(stored) = stored.filter(|_| shown != pixel) {
                    stored.copy_from_slice(&color(colors, pixel)[..size]);
                }
            }
        }
    }
    data
}

/// Encodes a color in the first bytes.
fn color(colors: D3dColors, pixel: [u8; 4]) -> [u8; 4] {
    let [r, g, b, a] = pixel;
    let word = |word: u16| {
        let [low, high] = word.to_le_bytes();
        [low, high, 0, 0]
    };
    let [alpha, gray] = from_ia8(pixel).to_be_bytes();
    match colors {
        D3dColors::Argb8888 => [b, g, r, a],
        D3dColors::Xrgb8888 | D3dColors::Rgb888 => [b, g, r, 255],
        D3dColors::Abgr8888 => pixel,
        D3dColors::Xbgr8888 => [r, g, b, 255],
        D3dColors::Rgb565 => word(from_rgb565(pixel)),
        D3dColors::Xrgb1555 => word(from_xrgb1555(pixel)),
        D3dColors::Argb1555 => word(from_argb1555(pixel)),
        D3dColors::Argb4444 => word(from_argb4444(pixel)),
        D3dColors::Xrgb4444 => word(from_argb4444(pixel) | 0xF000),
        D3dColors::A8 => [alpha, 0, 0, 0],
        D3dColors::L8 => [gray, 0, 0, 0],
        D3dColors::A8L8 => [gray, alpha, 0, 0],
        D3dColors::A4L4 => [nearest4(alpha) << 4 | nearest4(gray), 0, 0, 0],
    }
}
