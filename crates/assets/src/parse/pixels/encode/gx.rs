//! Pictures as tiles of the GameCube.

use super::block;
use crate::parse::pixels::color::{from_ia8, from_rgb5a3, from_rgb565, nearest4};
use crate::parse::pixels::dxt::padded;
use crate::parse::pixels::{GxFormat, Level, gx};

/// Encodes a level with the old data `level`. `indices` has the palette indices in
/// formats with a palette.
pub fn encode(level: &Level, format: GxFormat, pixels: &[[u8; 4]], indices: &[u16]) -> Vec<u8> {
    let (tile_width, tile_height, size) = format.tile();
    let (width, height) = (level.width as usize, level.height as usize);
    let has_colors = format.colors() == 0;
    let mut shown = vec![[0; 4]; level.pixels()];
    if has_colors {
        gx::decode(level, format, &[], &mut shown);
    }
    let mut data = Vec::with_capacity(format.size(level.width, level.height));
    let (mut new, mut again) = (Vec::new(), Vec::new());
    for y in (0..height).step_by(tile_height) {
        for x in (0..width).step_by(tile_width) {
            let place = |number: usize| (x + number % tile_width, y + number / tile_width);
            // Pixels of a tile outside of the picture repeat the edge.
            let at = (0..tile_width * tile_height).map(place);
            let at = at.map(|(x, y)| y.min(height - 1) * width + x.min(width - 1));
            let at: Vec<usize> = at.collect();
            let old = padded::<64>(&level.data, data.len(), size);
            if format == GxFormat::Cmpr {
                blocks(&at, pixels, &shown, &old, &mut data);
                continue;
            }
            new.clear();
            tile(format, &at, pixels, indices, &mut new);
            if has_colors {
                again.clear();
                tile(format, &at, &shown, indices, &mut again);
                keep(format, &again, &old, &mut new);
            }
            data.extend_from_slice(&new);
        }
    }
    data
}

/// Restores the old bytes where a tile's pixels are unchanged: some colors have several
/// encodings.
fn keep(format: GxFormat, again: &[u8], old: &[u8], new: &mut [u8]) {
    let unit = match format {
        GxFormat::Ia8 | GxFormat::Rgb565 | GxFormat::Rgb5a3 => 2,
        _ => 1,
    };
    let units = new.chunks_exact_mut(unit).zip(again.chunks_exact(unit));
    for ((new, again), old) in units.zip(old.chunks_exact(unit)) {
        if new == again {
            new.copy_from_slice(old);
        }
    }
}

/// Appends the four blocks of a tile. `at` has the numbers of the tile's pixels.
fn blocks(at: &[usize], pixels: &[[u8; 4]], shown: &[[u8; 4]], old: &[u8; 64], data: &mut Vec<u8>) {
    for (number, old) in old.as_chunks::<8>().0.iter().enumerate().take(4) {
        let corner = 32 * (number / 2) + 4 * (number % 2);
        let at: [usize; 16] = std::array::from_fn(|pixel| at[corner + 8 * (pixel / 4) + pixel % 4]);
        let block = at.map(|at| pixels[at]);
        match block == at.map(|at| shown[at]) {
            true => data.extend(old),
            false => data.extend(block::cmpr(&block)),
        }
    }
}

/// Appends a tile of a format without blocks. `at` has the numbers of the tile's
/// pixels.
fn tile(format: GxFormat, at: &[usize], pixels: &[[u8; 4]], indices: &[u16], data: &mut Vec<u8>) {
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
        GxFormat::Cmpr => {}
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
