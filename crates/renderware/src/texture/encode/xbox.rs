//! Pictures as swizzled pixels and blocks of the Xbox.

use super::super::{Level, XboxColors, XboxFormat};
use super::block;
use hpimount_assets::parse::pixels::color::{
    bgra, from_argb1555, from_argb4444, from_ia8, from_rgb565, from_xrgb1555,
};
use hpimount_assets::parse::pixels::swizzle::Morton;

/// Encodes a level, whose old data `level` has. `indices` has the
/// palette indices, in formats with a palette.
pub(super) fn encode(
    level: &Level,
    format: XboxFormat,
    is_opaque: bool,
    pixels: &[[u8; 4]],
    indices: &[u16],
) -> Vec<u8> {
    let word = |word: fn([u8; 4]) -> u16| move |at: usize| word(pixels[at]).to_le_bytes();
    match format {
        XboxFormat::Blocks(kind) => block::level(level, kind, is_opaque, pixels),
        XboxFormat::Palette { .. } => swizzled(level, |at| [indices[at] as u8]),
        XboxFormat::Pixels(colors) => match colors {
            XboxColors::Argb1555 => swizzled(level, word(from_argb1555)),
            XboxColors::Rgb565 => swizzled(level, word(from_rgb565)),
            XboxColors::Argb4444 => swizzled(level, word(from_argb4444)),
            XboxColors::Rgb555 => swizzled(level, word(from_xrgb1555)),
            XboxColors::L8 => swizzled(level, |at| {
                let [_, gray] = from_ia8(pixels[at]).to_be_bytes();
                [gray]
            }),
            XboxColors::Argb8888 | XboxColors::Rgb888 => {
                swizzled(level, |at| palette_color(pixels[at]))
            }
        },
    }
}

/// Swizzles pixels of `N` bytes; `stored` returns the bytes of a pixel by its number.
fn swizzled<const N: usize>(level: &Level, stored: impl Fn(usize) -> [u8; N]) -> Vec<u8> {
    let (width, height) = (level.width as usize, level.height as usize);
    let morton = Morton::new(width, height);
    // Positions of sides that are no powers of two may be outside.
    let mut data = vec![0; N * width * height];
    for y in 0..height {
        for x in 0..width {
            let at = N * (morton.x[x] | morton.y[y]);
            if let Some(pixel) = data.get_mut(at..at + N) {
                pixel.copy_from_slice(&stored(y * width + x));
            }
        }
    }
    data
}

/// Returns the colors of a stored palette.
pub(super) fn colors(format: XboxFormat, stored: &[u8]) -> Vec<[u8; 4]> {
    let has_alpha = matches!(
        format,
        XboxFormat::Palette {
            has_alpha: true,
            ..
        }
    );
    let stored = stored.as_chunks().0.iter();
    stored.map(|&color| bgra(color, has_alpha)).collect()
}

/// Returns the stored form of a color: blue, green, red, alpha.
pub(super) fn palette_color([r, g, b, a]: [u8; 4]) -> [u8; 4] {
    [b, g, r, a]
}
