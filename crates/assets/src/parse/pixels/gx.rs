//! Pixels of the GameCube's graphics chip: tiles from left to right, then
//! down; rows of a tile from the top. Numbers are big-endian.

use super::Level;
use super::color::{ia8, rgb5a3, rgb565, wide4};
use super::dxt::{cmpr_block, padded, put};

/// The format of the pixels of a GameCube texture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GxFormat {
    /// Intensity of 4 bits, which is also the alpha.
    I4,
    /// Intensity of 8 bits, which is also the alpha.
    I8,
    /// Alpha and intensity of 4 bits.
    Ia4,
    /// Alpha and intensity of 8 bits.
    Ia8,
    /// 16 bits without alpha.
    Rgb565,
    /// 16 bits, opaque or with alpha of 3 bits.
    Rgb5a3,
    /// 32 bits, alpha and red apart from green and blue.
    Rgba8,
    /// Indices of 4 bits.
    C4,
    /// Indices of 8 bits.
    C8,
    /// Indices of 14 bits.
    C14x2,
    /// Blocks, four to a tile.
    Cmpr,
}

/// Largest tile in bytes and in pixels.
const MAX_TILE: usize = 64;

impl GxFormat {
    /// Returns the format with this number.
    pub fn from_number(number: u8) -> Option<Self> {
        Some(match number {
            0 => Self::I4,
            1 => Self::I8,
            2 => Self::Ia4,
            3 => Self::Ia8,
            4 => Self::Rgb565,
            5 => Self::Rgb5a3,
            6 => Self::Rgba8,
            8 => Self::C4,
            9 => Self::C8,
            10 => Self::C14x2,
            14 => Self::Cmpr,
            _ => return None,
        })
    }

    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::I4 => "I4",
            Self::I8 => "I8",
            Self::Ia4 => "IA4",
            Self::Ia8 => "IA8",
            Self::Rgb565 => "RGB565",
            Self::Rgb5a3 => "RGB5A3",
            Self::Rgba8 => "RGBA8",
            Self::C4 => "C4",
            Self::C8 => "C8",
            Self::C14x2 => "C14X2",
            Self::Cmpr => "CMPR",
        }
    }

    /// Returns the number of colors of its palette, 0 without a palette.
    pub fn colors(self) -> usize {
        match self {
            Self::C4 => 16,
            Self::C8 => 256,
            Self::C14x2 => 16_384,
            _ => 0,
        }
    }

    /// Returns the width and height of a tile in pixels, and its length in
    /// bytes.
    pub fn tile(self) -> (usize, usize, usize) {
        match self {
            Self::I4 | Self::C4 | Self::Cmpr => (8, 8, 32),
            Self::I8 | Self::Ia4 | Self::C8 => (8, 4, 32),
            Self::Ia8 | Self::Rgb565 | Self::Rgb5a3 | Self::C14x2 => (4, 4, 32),
            Self::Rgba8 => (4, 4, 64),
        }
    }

    /// Returns the encoded length of a picture of this size in bytes.
    pub fn size(self, width: u32, height: u32) -> usize {
        let (tile_width, tile_height, bytes) = self.tile();
        let across = (width as usize).div_ceil(tile_width);
        across * (height as usize).div_ceil(tile_height) * bytes
    }
}

/// Decodes a picture. `palette` has the colors in formats with indices.
pub fn decode(level: &Level, format: GxFormat, palette: &[[u8; 4]], out: &mut [[u8; 4]]) {
    let color = |index: usize| palette.get(index).copied().unwrap_or_default();
    match format {
        GxFormat::I4 => tiles(level, format, out, |tile, to| {
            nibbles(tile, to, |v| [wide4(v); 4]);
        }),
        GxFormat::C4 => tiles(level, format, out, |tile, to| {
            nibbles(tile, to, |v| color(v.into()));
        }),
        GxFormat::I8 => tiles(level, format, out, |tile, to| bytes(tile, to, |v| [v; 4])),
        GxFormat::Ia4 => tiles(level, format, out, |tile, to| {
            bytes(tile, to, |v| {
                let gray = wide4(v);
                [gray, gray, gray, wide4(v >> 4)]
            });
        }),
        GxFormat::C8 => tiles(level, format, out, |tile, to| {
            bytes(tile, to, |v| color(v.into()));
        }),
        GxFormat::Ia8 => tiles(level, format, out, |tile, to| words(tile, to, ia8)),
        GxFormat::Rgb565 => tiles(level, format, out, |tile, to| words(tile, to, rgb565)),
        GxFormat::Rgb5a3 => tiles(level, format, out, |tile, to| words(tile, to, rgb5a3)),
        GxFormat::C14x2 => tiles(level, format, out, |tile, to| {
            words(tile, to, |v| color(usize::from(v & 0x3FFF)));
        }),
        GxFormat::Rgba8 => tiles(level, format, out, rgba8),
        GxFormat::Cmpr => tiles(level, format, out, cmpr),
    }
}

type Tile = [u8; MAX_TILE];
type Pixels = [[u8; 4]; MAX_TILE];

/// Decodes the tiles of a picture. `decode` fills in the pixels of a tile.
fn tiles(
    level: &Level,
    format: GxFormat,
    out: &mut [[u8; 4]],
    decode: impl Fn(&Tile, &mut Pixels),
) {
    let (tile_width, tile_height, size) = format.tile();
    let (width, height) = (level.width as usize, level.height as usize);
    let mut pixels = [[0; 4]; MAX_TILE];
    let mut at = 0;
    for y in (0..height).step_by(tile_height) {
        for x in (0..width).step_by(tile_width) {
            decode(&padded(&level.data, at, size), &mut pixels);
            let tile = &pixels[..tile_width * tile_height];
            put(tile, tile_width, (x, y), (width, height), out);
            at += size;
        }
    }
}

fn nibbles(tile: &Tile, to: &mut Pixels, decode: impl Fn(u8) -> [u8; 4]) {
    for (pair, byte) in to.as_chunks_mut::<2>().0.iter_mut().zip(tile) {
        *pair = [decode(byte >> 4), decode(byte & 15)];
    }
}

fn bytes(tile: &Tile, to: &mut Pixels, decode: impl Fn(u8) -> [u8; 4]) {
    for (pixel, byte) in to.iter_mut().zip(tile).take(32) {
        *pixel = decode(*byte);
    }
}

fn words(tile: &Tile, to: &mut Pixels, decode: impl Fn(u16) -> [u8; 4]) {
    for (pixel, word) in to.iter_mut().zip(tile.as_chunks::<2>().0).take(16) {
        *pixel = decode(u16::from_be_bytes(*word));
    }
}

fn rgba8(tile: &Tile, to: &mut Pixels) {
    let (ar, gb) = tile.split_at(32);
    let pairs = ar.as_chunks::<2>().0.iter().zip(gb.as_chunks::<2>().0);
    for (pixel, ([a, r], [g, b])) in to.iter_mut().zip(pairs) {
        *pixel = [*r, *g, *b, *a];
    }
}

fn cmpr(tile: &Tile, to: &mut Pixels) {
    for (number, block) in tile.as_chunks::<8>().0.iter().enumerate().take(4) {
        let corner = (number % 2 * 4, number / 2 * 4);
        put(&cmpr_block(*block), 4, corner, (8, 8), to);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn level(width: u32, height: u32, data: &[u8]) -> Level {
        Level {
            width,
            height,
            data: data.to_vec().into(),
            pitch: 0,
        }
    }

    fn decoded(level: &Level, format: GxFormat) -> Vec<[u8; 4]> {
        let mut out = vec![[9; 4]; level.pixels()];
        decode(level, format, &[], &mut out);
        out
    }

    #[test]
    fn tiles_are_in_rows_and_clipped_at_the_edges() {
        // Two tiles across, two down, each of a different gray.
        let data: Vec<u8> = [10, 20, 30, 40].iter().flat_map(|&v| [v; 32]).collect();
        let level = level(9, 5, &data);
        let out = decoded(&level, GxFormat::I8);
        assert_eq!(
            [out[0][0], out[8][0], out[36][0], out[44][0]],
            [10, 20, 30, 40]
        );
        assert_eq!(GxFormat::I8.size(9, 5), 128);
        assert_eq!(GxFormat::Cmpr.size(1, 1), 32);
    }

    #[test]
    fn missing_bytes_are_zeros() {
        let out = decoded(&level(4, 4, &[0xFF, 0xFF]), GxFormat::Rgb565);
        assert_eq!((out[0], out[1]), ([255; 4], [0, 0, 0, 255]));
    }

    #[test]
    fn blocks_of_a_tile_form_a_square() {
        let block = |gray: u8| [gray, gray, 0, 0, 0, 0, 0, 0];
        let tile = [block(0x20), block(0x40), block(0x60), block(0x80)].concat();
        let out = decoded(&level(8, 8, &tile), GxFormat::Cmpr);
        let red = |x: usize, y: usize| out[y * 8 + x][0] >> 5;
        assert_eq!([red(0, 0), red(4, 0), red(3, 4), red(7, 7)], [1, 2, 3, 4]);
    }
}
