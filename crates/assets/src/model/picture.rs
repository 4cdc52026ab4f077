//! Pictures, as used by the writers.

/// Maximum number of pixels of a written picture.
pub const MAX_PIXELS: u64 = 1 << 24;

/// A picture, from the top left to the bottom right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    /// Width in pixels, not 0.
    pub width: u32,
    /// Height in pixels, not 0.
    pub height: u32,
    /// The pixels.
    pub pixels: Pixels,
}

/// Pixels of a picture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pixels {
    /// Indices into a palette.
    Indexed {
        /// Bits of an index: 4 or 8.
        bits: u8,
        /// The rows, each padded to a whole byte; with 4 bits the left pixel
        /// is in the high half.
        rows: Vec<u8>,
        /// Red, green, blue and alpha of 16 or 256 colors.
        palette: Vec<[u8; 4]>,
    },
    /// Red, green, blue and alpha.
    Rgba(Vec<[u8; 4]>),
}

/// Returns the reason why a picture of this size is not written.
pub fn size_problem(width: u64, height: u64) -> Option<String> {
    let pixels = width.saturating_mul(height);
    if pixels == 0 {
        return Some(format!("{width} by {height} pixels are not a picture"));
    }
    (pixels > MAX_PIXELS).then(|| {
        format!("{width} by {height} pixels are more than the {MAX_PIXELS} that are shown")
    })
}

impl Picture {
    /// Returns a picture of red, green and blue bytes.
    pub fn from_rgb(width: u32, height: u32, bytes: &[u8]) -> Self {
        let colors = bytes.as_chunks().0.iter();
        Self {
            width,
            height,
            pixels: Pixels::Rgba(colors.map(|&[r, g, b]| [r, g, b, 255]).collect()),
        }
    }

    /// Returns the palette index of every pixel; `None` without a palette.
    pub fn indices(&self) -> Option<Vec<u8>> {
        let Pixels::Indexed { bits, rows, .. } = &self.pixels else {
            return None;
        };
        if *bits == 8 {
            return Some(rows.clone());
        }
        let width = self.width as usize;
        let mut indices = Vec::with_capacity(2 * rows.len());
        for row in rows.chunks_exact(width.div_ceil(2)) {
            let end = indices.len() + width;
            indices.extend(row.iter().flat_map(|pair| [pair >> 4, pair & 15]));
            indices.truncate(end);
        }
        Some(indices)
    }

    /// Returns red, green, blue and alpha of every pixel, without a copy of true colors.
    pub fn into_rgba(self) -> Vec<[u8; 4]> {
        match self.pixels {
            Pixels::Rgba(pixels) => pixels,
            Pixels::Indexed { .. } => self.rgba(),
        }
    }

    /// Returns red, green, blue and alpha of every pixel.
    pub fn rgba(&self) -> Vec<[u8; 4]> {
        match &self.pixels {
            Pixels::Rgba(pixels) => pixels.clone(),
            Pixels::Indexed { palette, .. } => {
                // With a color for each index, no pixel needs a check.
                let mut colors = [[0; 4]; 256];
                for (color, given) in colors.iter_mut().zip(palette) {
                    *color = *given;
                }
                let indices = self.indices().unwrap_or_default();
                let colors = indices.iter().map(|&index| colors[usize::from(index)]);
                colors.collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_left_pixel_is_in_the_high_half() {
        let picture = Picture {
            width: 3,
            height: 2,
            pixels: Pixels::Indexed {
                bits: 4,
                rows: vec![0x12, 0x30, 0x45, 0x60],
                palette: (0..16).map(|gray| [gray; 4]).collect(),
            },
        };
        let grays: Vec<u8> = picture.rgba().iter().map(|color| color[0]).collect();
        assert_eq!(grays, [1, 2, 3, 4, 5, 6]);
        assert_eq!(picture.indices().unwrap(), grays);
    }

    #[test]
    fn empty_and_oversized_pictures_are_rejected() {
        assert!(size_problem(0, 5).is_some());
        assert!(size_problem(4096, 4097).is_some());
        assert!(size_problem(u64::MAX, u64::MAX).is_some());
        assert_eq!(size_problem(4096, 4096), None);
    }
}
