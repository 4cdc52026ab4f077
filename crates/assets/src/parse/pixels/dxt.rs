//! Blocks of 4 by 4 pixels: DXT1 to DXT5 (Xbox, Windows) and CMPR (GameCube).

use super::color::{rgb565, wide4};

/// A block's pixels, row by row.
pub type Block = [[u8; 4]; 16];

/// The format of a block of 8 or 16 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Blocks {
    /// 8 bytes, transparent pixels.
    Dxt1,
    /// 16 bytes, alpha of 4 bits, colors multiplied by alpha.
    Dxt2,
    /// 16 bytes, alpha of 4 bits.
    Dxt3,
    /// 16 bytes, interpolated alpha, colors multiplied by alpha.
    Dxt4,
    /// 16 bytes, interpolated alpha.
    Dxt5,
}

impl Blocks {
    /// Returns the length of a block in bytes.
    pub fn size(self) -> usize {
        match self {
            Self::Dxt1 => 8,
            Self::Dxt2 | Self::Dxt3 | Self::Dxt4 | Self::Dxt5 => 16,
        }
    }

    /// Returns the format with this number, `DXT1` to `DXT5`.
    pub fn from_number(number: u8) -> Option<Self> {
        Some(match number {
            1 => Self::Dxt1,
            2 => Self::Dxt2,
            3 => Self::Dxt3,
            4 => Self::Dxt4,
            5 => Self::Dxt5,
            _ => return None,
        })
    }

    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Dxt1 => "DXT1",
            Self::Dxt2 => "DXT2",
            Self::Dxt3 => "DXT3",
            Self::Dxt4 => "DXT4",
            Self::Dxt5 => "DXT5",
        }
    }

    /// Decodes a block of [`Blocks::size`] bytes.
    pub fn decode(self, block: &[u8; 16]) -> Block {
        let half = |at: usize| -> [u8; 8] { std::array::from_fn(|index| block[at + index]) };
        match self {
            Self::Dxt1 => dxt_colors(half(0), false),
            Self::Dxt2 => Self::Dxt3.decode(block).map(divided),
            Self::Dxt4 => Self::Dxt5.decode(block).map(divided),
            Self::Dxt3 => {
                let mut pixels = dxt_colors(half(8), true);
                for (index, pixel) in pixels.iter_mut().enumerate() {
                    pixel[3] = wide4(block[index / 2] >> (index % 2 * 4));
                }
                pixels
            }
            Self::Dxt5 => {
                let mut pixels = dxt_colors(half(8), true);
                let (alphas, bits) = interpolated(half(0));
                for (index, pixel) in pixels.iter_mut().enumerate() {
                    pixel[3] = alphas[(bits >> (3 * index) & 7) as usize];
                }
                pixels
            }
        }
    }
}

/// Divides a color by its alpha.
fn divided([r, g, b, a]: [u8; 4]) -> [u8; 4] {
    let alpha = u32::from(a);
    let part = |part: u8| match alpha {
        0 => part,
        _ => ((u32::from(part) * 255 + alpha / 2) / alpha).min(255) as u8,
    };
    [part(r), part(g), part(b), a]
}

/// Returns the colors of a block of 8 bytes. `four` is set for formats with
/// separate alpha, which always have four colors.
pub fn dxt_colors(bytes: [u8; 8], four: bool) -> Block {
    let [a0, a1, b0, b1, bits @ ..] = bytes;
    let (first, second) = (u16::from_le_bytes([a0, a1]), u16::from_le_bytes([b0, b1]));
    let (low, high) = (rgb565(first), rgb565(second));
    let palette = if four || first > second {
        let third = |a: u16, b: u16| ((2 * a + b) / 3) as u8;
        [low, high, mix(low, high, third), mix(high, low, third)]
    } else {
        let half = |a: u16, b: u16| ((a + b) / 2) as u8;
        [low, high, mix(low, high, half), [0; 4]]
    };
    let bits = u32::from_le_bytes(bits);
    std::array::from_fn(|index| palette[(bits >> (2 * index) & 3) as usize])
}

/// Returns the colors of a GameCube block of 8 bytes: big-endian, the first
/// pixel in the top bits, and weights of 3/8 as in the hardware. The
/// transparent color is the mean of the two.
pub fn cmpr_block(bytes: [u8; 8]) -> Block {
    let [a0, a1, b0, b1, bits @ ..] = bytes;
    let (first, second) = (u16::from_be_bytes([a0, a1]), u16::from_be_bytes([b0, b1]));
    let (low, high) = (rgb565(first), rgb565(second));
    let palette = if first > second {
        let eighths = |a: u16, b: u16| ((5 * a + 3 * b) >> 3) as u8;
        [low, high, mix(low, high, eighths), mix(high, low, eighths)]
    } else {
        let [r, g, b, _] = mix(low, high, |a, b| ((a + b) / 2) as u8);
        [low, high, [r, g, b, 255], [r, g, b, 0]]
    };
    let bits = u32::from_be_bytes(bits);
    std::array::from_fn(|index| palette[(bits >> (30 - 2 * index) & 3) as usize])
}

/// Mixes the colors of two opaque pixels.
fn mix(a: [u8; 4], b: [u8; 4], rule: impl Fn(u16, u16) -> u8) -> [u8; 4] {
    let part = |index: usize| rule(a[index].into(), b[index].into());
    [part(0), part(1), part(2), 255]
}

/// Returns the eight alphas of a DXT5 block, and the 16 indices of 3 bits.
pub fn interpolated(bytes: [u8; 8]) -> ([u8; 8], u64) {
    let [first, second, ..] = bytes;
    let (a, b) = (u32::from(first), u32::from(second));
    let mut alphas = [first, second, 0, 0, 0, 0, 0, 255];
    let steps: u32 = if first > second { 7 } else { 5 };
    for k in 1..steps {
        alphas[k as usize + 1] = (((steps - k) * a + k * b) / steps) as u8;
    }
    (alphas, u64::from_le_bytes(bytes) >> 16)
}

/// Decodes a picture of blocks, row by row from the top left.
pub fn decode(data: &[u8], width: usize, height: usize, blocks: Blocks, out: &mut [[u8; 4]]) {
    let across = width.div_ceil(4);
    let size = blocks.size();
    for block_y in 0..height.div_ceil(4) {
        for block_x in 0..across {
            let at = (block_y * across + block_x) * size;
            let pixels = blocks.decode(&padded(data, at, size));
            put(&pixels, 4, (block_x * 4, block_y * 4), (width, height), out);
        }
    }
}

/// Returns `size` bytes at `at`, padded with zeros.
pub fn padded<const N: usize>(data: &[u8], at: usize, size: usize) -> [u8; N] {
    let mut bytes = [0; N];
    let rest = data.get(at..).unwrap_or_default();
    let length = rest.len().min(size).min(N);
    bytes[..length].copy_from_slice(&rest[..length]);
    bytes
}

/// Copies a tile with rows of `tile_width` pixels to `(x, y)` of a picture,
/// clipped to it.
pub fn put(
    tile: &[[u8; 4]],
    tile_width: usize,
    (x, y): (usize, usize),
    (width, height): (usize, usize),
    out: &mut [[u8; 4]],
) {
    let across = tile_width.min(width.saturating_sub(x));
    let rows = tile.chunks_exact(tile_width);
    for (row, pixels) in rows.enumerate().take(height.saturating_sub(y)) {
        let start = (y + row) * width + x;
        out[start..start + across].copy_from_slice(&pixels[..across]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gamecube_colors_are_mixed_in_eighths_and_others_in_thirds() {
        // White and black; the pixels have the four colors in turn.
        let cmpr = cmpr_block([0xFF, 0xFF, 0, 0, 0b00_01_10_11, 0, 0, 0]);
        assert_eq!(
            [cmpr[0][0], cmpr[1][0], cmpr[2][0], cmpr[3][0]],
            [255, 0, 159, 95]
        );
        let mut block = [0; 16];
        block[..5].copy_from_slice(&[0xFF, 0xFF, 0, 0, 0b11_10_01_00]);
        let dxt = Blocks::Dxt1.decode(&block);
        assert_eq!(
            [dxt[0][0], dxt[1][0], dxt[2][0], dxt[3][0]],
            [255, 0, 170, 85]
        );
    }

    #[test]
    fn the_transparent_color_is_the_mean_on_gamecube_and_black_elsewhere() {
        let cmpr = cmpr_block([0, 0, 0xFF, 0xFF, 0xFF, 0, 0, 0]);
        assert_eq!(cmpr[0], [127, 127, 127, 0]);
        let mut block = [0; 16];
        block[..5].copy_from_slice(&[0, 0, 0xFF, 0xFF, 3]);
        assert_eq!(Blocks::Dxt1.decode(&block)[0], [0; 4]);
    }

    #[test]
    fn colors_multiplied_by_alpha_are_divided_again() {
        assert_eq!(divided([64, 128, 0, 128]), [128, 255, 0, 128]);
        assert_eq!(divided([200, 1, 2, 100]), [255, 3, 5, 100]);
        assert_eq!(divided([9, 8, 7, 0]), [9, 8, 7, 0]);
    }

    #[test]
    fn alphas_are_interpolated_in_seven_or_five_steps() {
        let (seven, _) = interpolated([210, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(seven, [210, 0, 180, 150, 120, 90, 60, 30]);
        let (five, bits) = interpolated([0, 100, 7, 0, 0, 0, 0, 0]);
        assert_eq!(five, [0, 100, 20, 40, 60, 80, 0, 255]);
        assert_eq!(bits & 7, 7);
    }
}
