//! Pixels in the layouts of graphics chips: tiles, blocks, swizzled rows (FORMATS, HIP
//! assets 4, GTA 2). RenderWare's textures and the formats of the consoles use them.

pub mod color;
pub mod dxt;
pub mod encode;
pub mod gx;
pub mod swizzle;
pub mod xbox;

pub use dxt::Blocks;
pub use gx::GxFormat;
pub use xbox::{XboxColors, XboxFormat};

use bytes::Bytes;
use get_size2::GetSize;

/// A level of a texture: the picture, or a smaller copy of it.
#[derive(Debug, Clone, GetSize)]
pub struct Level {
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// The stored pixels. Truncated data is padded with zeros.
    #[get_size(ignore)]
    pub data: Bytes,
    /// Length of a stored row in bytes for formats with padded rows (Direct3D);
    /// otherwise 0.
    pub pitch: usize,
}

impl Level {
    /// Returns the number of pixels.
    pub fn pixels(&self) -> usize {
        self.width as usize * self.height as usize
    }
}

/// Decodes the pixels of a GameCube picture in a format without a palette.
pub fn gamecube_pixels(
    (width, height): (u32, u32),
    format: GxFormat,
    data: &Bytes,
) -> Vec<[u8; 4]> {
    let level = Level {
        width,
        height,
        data: data.clone(),
        pitch: 0,
    };
    let mut pixels = vec![[0; 4]; level.pixels()];
    gx::decode(&level, format, &[], &mut pixels);
    pixels
}
