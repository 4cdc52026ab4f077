//! Pictures as swizzled pixels and blocks of the Xbox.

use super::block;
use crate::parse::pixels::color::{
    bgra, from_argb1555, from_argb4444, from_ia8, from_rgb565, from_xrgb1555,
};
use crate::parse::pixels::swizzle::Morton;
use crate::parse::pixels::{Level, XboxColors, XboxFormat, xbox};

/// Encodes a level with the old data `level`. `indices` has the palette indices in
/// formats with a palette.
pub fn encode(
    level: &Level,
    format: XboxFormat,
    is_opaque: bool,
    pixels: &[[u8; 4]],
    indices: &[u16],
) -> Vec<u8> {
    let colors = match format {
        XboxFormat::Blocks(kind) => return block::level(level, kind, is_opaque, pixels),
        XboxFormat::Palette { .. } => {
            return swizzled(level, |at| Some([indices[at] as u8]));
        }
        XboxFormat::Pixels(colors) => colors,
    };
    let mut shown = vec![[0; 4]; level.pixels()];
    xbox::decode(level, format, &[], &mut shown);
    let is_shown = |at: usize| {
        let ([r, g, b, a], edited) = (shown[at], pixels[at]);
        edited == [r, g, b, if is_opaque { 255 } else { a }]
    };
    match colors {
        XboxColors::Argb1555 => changed(level, pixels, is_shown, word(from_argb1555)),
        XboxColors::Rgb565 => changed(level, pixels, is_shown, word(from_rgb565)),
        XboxColors::Argb4444 => changed(level, pixels, is_shown, word(from_argb4444)),
        XboxColors::Rgb555 => changed(level, pixels, is_shown, word(from_xrgb1555)),
        XboxColors::L8 => changed(level, pixels, is_shown, |pixel| {
            let [_, gray] = from_ia8(pixel).to_be_bytes();
            [gray]
        }),
        XboxColors::Argb8888 | XboxColors::Rgb888 => {
            changed(level, pixels, is_shown, palette_color)
        }
    }
}

/// Returns a function that encodes a color as a word.
fn word(word: fn([u8; 4]) -> u16) -> impl Fn([u8; 4]) -> [u8; 2] {
    move |pixel| word(pixel).to_le_bytes()
}

/// Swizzles the pixels of `N` bytes that changed.
fn changed<const N: usize>(
    level: &Level,
    pixels: &[[u8; 4]],
    is_shown: impl Fn(usize) -> bool,
    stored: impl Fn([u8; 4]) -> [u8; N],
) -> Vec<u8> {
    swizzled(level, |at| (!is_shown(at)).then(|| stored(pixels[at])))
}

/// Swizzles pixels of `N` bytes. `stored` returns the bytes of a pixel by its number,
/// or `None` to keep the old ones.
fn swizzled<const N: usize>(level: &Level, stored: impl Fn(usize) -> Option<[u8; N]>) -> Vec<u8> {
    let (width, height) = (level.width as usize, level.height as usize);
    let morton = Morton::new(width, height);
    let mut data = level.data.to_vec();
    data.resize(N * width * height, 0);
    let old = data.as_chunks_mut().0;
    for (y, row) in morton.y.iter().enumerate() {
        for (x, column) in morton.x.iter().enumerate() {
            // If sides are not powers of two, positions may be out of bounds.
            let place = old.get_mut(row | column);
            if let (Some(place), Some(new)) = (place, stored(y * width + x)) {
                *place = new;
            }
        }
    }
    data
}

/// Returns the colors of a stored palette.
pub fn colors(format: XboxFormat, stored: &[u8]) -> Vec<[u8; 4]> {
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
pub fn palette_color([r, g, b, a]: [u8; 4]) -> [u8; 4] {
    [b, g, r, a]
}
