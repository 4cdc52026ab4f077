//! Pictures as tiles of the GameCube.

use super::super::{GxFormat, GxPalette, Level};
use super::block;
use hpimount_assets::parse::pixels::color::{from_ia8, from_rgb5a3, from_rgb565, nearest4};
use hpimount_assets::parse::pixels::dxt::padded;

/// Encodes a level, whose old data `level` has. `indices` has the
/// palette indices, in formats with a palette.
pub(super) fn encode(
    level: &Level,
    format: GxFormat,
    pixels: &[[u8; 4]],
    indices: &[u16],
) -> Vec<u8> {
    let (tile_width, tile_height, size) = format.tile();
    let (width, height) = (level.width as usize, level.height as usize);
    let mut data = Vec::with_capacity(format.size(level.width, level.height));
    for y in (0..height).step_by(tile_height) {
        for x in (0..width).step_by(tile_width) {
            // Pixels of a tile that are outside repeat those at the edge.
            let at = (0..tile_width * tile_height).map(|number| {
                let (x, y) = (x + number % tile_width, y + number / tile_width);
                y.min(height - 1) * width + x.min(width - 1)
            });
            let at: Vec<usize> = at.collect();
            let old = padded::<64>(&level.data, data.len(), size);
            tile(format, &at, pixels, indices, &old, &mut data);
        }
    }
    data
}

/// Appends a tile, whose pixels have the numbers `at`.
fn tile(
    format: GxFormat,
    at: &[usize],
    pixels: &[[u8; 4]],
    indices: &[u16],
    old: &[u8; 64],
    data: &mut Vec<u8>,
) {
    let colors = at.iter().map(|&at| pixels[at]);
    let words = |word: fn([u8; 4]) -> u16, data: &mut Vec<u8>| {
        data.extend(colors.clone().flat_map(|color| word(color).to_be_bytes()));
    };
    match format {
        GxFormat::I4 => nibbles(colors.map(|color| nearest4(mean(&color))), data),
        GxFormat::C4 => nibbles(at.iter().map(|&at| indices[at] as u8 & 15), data),
        GxFormat::I8 => data.extend(colors.map(|color| mean(&color))),
        GxFormat::C8 => data.extend(at.iter().map(|&at| indices[at] as u8)),
        GxFormat::C14x2 => data.extend(at.iter().flat_map(|&at| indices[at].to_be_bytes())),
        GxFormat::Ia4 => {
            data.extend(colors.map(|color| nearest4(color[3]) << 4 | nearest4(mean(&color[..3]))))
        }
        GxFormat::Ia8 => words(from_ia8, data),
        GxFormat::Rgb565 => words(from_rgb565, data),
        GxFormat::Rgb5a3 => words(from_rgb5a3, data),
        GxFormat::Rgba8 => {
            data.extend(colors.clone().flat_map(|[r, _, _, a]| [a, r]));
            data.extend(colors.flat_map(|[_, g, b, _]| [g, b]));
        }
        GxFormat::Cmpr => {
            for (number, old) in old.as_chunks::<8>().0.iter().enumerate().take(4) {
                let corner = 32 * (number / 2) + 4 * (number % 2);
                let block =
                    std::array::from_fn(|pixel| pixels[at[corner + 8 * (pixel / 4) + pixel % 4]]);
                data.extend(block::cmpr(&block, *old));
            }
        }
    }
}

/// Appends pairs of 4 bits, the first one high.
fn nibbles(values: impl Iterator<Item = u8>, data: &mut Vec<u8>) {
    let values: Vec<u8> = values.collect();
    let pairs = values.as_chunks::<2>().0.iter();
    data.extend(pairs.map(|[high, low]| high << 4 | low));
}

/// Returns the mean of parts, rounded.
fn mean(parts: &[u8]) -> u8 {
    let sum: usize = parts.iter().map(|&part| usize::from(part)).sum();
    ((sum + parts.len() / 2) / parts.len().max(1)) as u8
}

/// Returns the stored form of a color of a palette.
pub(super) fn palette_color(palette: GxPalette, color: [u8; 4]) -> [u8; 2] {
    let word = match palette {
        GxPalette::Ia8 => from_ia8(color),
        GxPalette::Rgb565 => from_rgb565(color),
        GxPalette::Rgb5a3 => from_rgb5a3(color),
    };
    word.to_be_bytes()
}
