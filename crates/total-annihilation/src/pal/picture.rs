//! Pictures of palette indices.

use crate::pal::Palette;
use hpimount_assets::model::{Picture, Pixels};

impl Palette {
    /// Returns a picture of indices of the palette, all of them opaque.
    pub fn picture(&self, width: u32, height: u32, rows: Vec<u8>) -> Picture {
        Picture {
            width,
            height,
            pixels: Pixels::Indexed {
                bits: 8,
                rows,
                palette: self.opaque(),
            },
        }
    }

    /// Returns red, green, blue and alpha of all colors, which are opaque.
    pub(crate) fn opaque(&self) -> Vec<[u8; 4]> {
        let colors = self.0.iter();
        colors.map(|&[r, g, b]| [r, g, b, 255]).collect()
    }
}
