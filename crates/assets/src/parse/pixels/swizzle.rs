//! Orders of pixels other than row by row.

/// Positions of the pixels of an Xbox picture: the bits of x and y are
/// interleaved from the lowest, x first, and the longer side keeps its other
/// bits (FORMATS, HIP assets 4). The pixel at (x, y) is number `x[x] | y[y]`.
pub struct Morton {
    /// The bits of each x.
    pub x: Vec<usize>,
    /// The bits of each y.
    pub y: Vec<usize>,
}

impl Morton {
    /// Creates the positions for a picture of this size in pixels.
    pub fn new(width: usize, height: usize) -> Self {
        let (mut mask_x, mut mask_y, mut bit) = (0, 0, 1);
        let mut side = 1;
        while side < width.max(height) {
            for (length, mask) in [(width, &mut mask_x), (height, &mut mask_y)] {
                if side < length {
                    *mask |= bit;
                    bit <<= 1;
                }
            }
            side <<= 1;
        }
        Self {
            x: spread(mask_x, width),
            y: spread(mask_y, height),
        }
    }
}

/// Returns the numbers below `count` with their bits spread over the bits of `mask`.
fn spread(mask: usize, count: usize) -> Vec<usize> {
    let next = |&value: &usize| Some(value.wrapping_sub(mask) & mask);
    std::iter::successors(Some(0), next).take(count).collect()
}

/// Positions of the pixels of a PlayStation 2 picture with 4 or 8 bits per pixel. It
/// was uploaded as a picture with pixels four times as large (FORMATS, HIP assets 4).
pub struct Bands {
    log_width: u32,
}

impl Bands {
    /// Returns the positions for a picture of this width in a buffer that is at
    /// least `least` pixels wide: 16 for 8 bits, 32 for 4.
    pub fn new(width: u32, least: u32) -> Self {
        let width = width.max(least).next_power_of_two();
        Self {
            log_width: width.trailing_zeros(),
        }
    }

    /// Returns the number of the pixel at (x, y).
    pub fn index(&self, x: usize, y: usize) -> usize {
        let log = self.log_width;
        let x = x ^ (((y >> 1 ^ y >> 2) & 1) << 2);
        let column = x & 7 | x >> 1 & !7;
        let row = y & 1 | y >> 1 & !1;
        let number = y >> 1 & 1 | (x >> 3 & 1) << 1;
        let within = number | column << 2 | row << (log + 1);
        ((y & !3) << log) + (within & ((1 << (log + 2)) - 1))
    }
}

/// Returns the place of a color in a 256-color palette of the PlayStation 2: bits 3 and
/// 4 are exchanged.
pub fn exchanged(index: usize) -> usize {
    index & !0x18 | (index & 8) << 1 | (index & 16) >> 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_pixel_of_a_swizzled_picture_has_its_own_position() {
        for (width, height) in [(1, 1), (8, 8), (2, 64), (64, 4), (256, 16)] {
            let morton = Morton::new(width, height);
            let offsets: BTreeSet<_> = morton
                .y
                .iter()
                .flat_map(|y| morton.x.iter().map(move |x| x | y))
                .collect();
            assert_eq!(offsets, (0..width * height).collect());
        }
    }

    #[test]
    fn bits_of_x_and_y_alternate_and_the_longer_side_keeps_the_rest() {
        let morton = Morton::new(8, 2);
        assert_eq!(morton.x, [0, 1, 4, 5, 8, 9, 12, 13]);
        assert_eq!(morton.y, [0, 2]);
    }

    #[test]
    fn every_pixel_of_a_band_has_its_own_position() {
        for width in [16, 32, 128] {
            let bands = Bands::new(width, 16);
            let offsets: BTreeSet<_> = (0..8)
                .flat_map(|y| (0..width as usize).map(move |x| (x, y)))
                .map(|(x, y)| bands.index(x, y))
                .collect();
            assert_eq!(offsets, (0..width as usize * 8).collect());
        }
    }
}
