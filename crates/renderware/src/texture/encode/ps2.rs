//! Pictures as pixels of the PlayStation 2.

use super::super::Level;
use super::super::ps2::{self, Ps2Format, Ps2Pixels};
use hpimount_assets::parse::pixels::color::{from_argb1555, from_half_alpha};
use hpimount_assets::parse::pixels::swizzle::exchanged;

/// Encodes a level with the old data `level`. `indices` has the positions of colors in
/// the stored palette, in formats with one. Pixels that look the same keep their bytes.
pub(super) fn encode(
    level: &Level,
    format: Ps2Format,
    pixels: &[[u8; 4]],
    indices: &[u16],
) -> Vec<u8> {
    let mut data = level.data.to_vec();
    let mut old = vec![[0; 4]; pixels.len()];
    ps2::decode(level, format, &[], &mut old);
    let width = level.width as usize;
    let place = ps2::places(level, format);
    let changed = pixels.iter().zip(old).enumerate();
    let changed = changed.filter(|(_, (new, old))| *new != old);
    let place = |number: usize| place(number % width, number / width);
    match format.pixels {
        Ps2Pixels::Indices8 { .. } => {
            for (number, &index) in indices.iter().enumerate() {
                if let Some(byte) = data.get_mut(place(number)) {
                    *byte = exchanged(index.into()) as u8;
                }
            }
        }
        Ps2Pixels::Indices4 { .. } => {
            for (number, &index) in indices.iter().enumerate() {
                let place = place(number);
                if let Some(byte) = data.get_mut(place / 2) {
                    let shift = 4 * (place % 2);
                    *byte = *byte & !(15 << shift) | (index as u8 & 15) << shift;
                }
            }
        }
        Ps2Pixels::Bits16 => {
            let words = data.as_chunks_mut().0;
            for (number, (&pixel, _)) in changed {
                if let Some(word) = words.get_mut(place(number)) {
                    *word = narrow(pixel);
                }
            }
        }
        Ps2Pixels::Bits32 => {
            let words = data.as_chunks_mut().0;
            for (number, (&pixel, _)) in changed {
                if let Some(word) = words.get_mut(place(number)) {
                    *word = from_half_alpha(pixel);
                }
            }
        }
    }
    data
}

/// Returns the colors of a palette in their stored order.
pub(super) fn colors(format: Ps2Format, stored: &[u8]) -> Vec<[u8; 4]> {
    ps2::stored_colors(stored, format.is_wide())
}

/// Encodes a color of a palette.
pub(super) fn palette_color(format: Ps2Format, color: [u8; 4]) -> Vec<u8> {
    match format.is_wide() {
        true => from_half_alpha(color).to_vec(),
        false => narrow(color).to_vec(),
    }
}

/// Returns a 16-bit color, with blue in the highest bits below alpha.
fn narrow([r, g, b, a]: [u8; 4]) -> [u8; 2] {
    from_argb1555([b, g, r, a]).to_le_bytes()
}
