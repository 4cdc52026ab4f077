//! Pixels as graphics chips store them: tiles, blocks, swizzled rows (FORMATS, HIP
//! assets 4, GTA 2). RenderWare's textures have them, and formats of the consoles
//! themselves.

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

/// A level of a texture: the picture, or a smaller copy of it.
#[derive(Debug, Clone)]
pub struct Level {
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// The stored pixels. Missing ones at the end are zeros.
    pub data: Bytes,
    /// Length of a stored row in bytes, where the format has rows that may be
    /// padded (Direct3D); otherwise 0.
    pub pitch: usize,
}

impl Level {
    /// Returns the number of pixels.
    pub fn pixels(&self) -> usize {
        self.width as usize * self.height as usize
    }
}

/// Decodes the pixels of a GameCube picture in a format without a palette.
pub fn gamecube_pixels(size: (u32, u32), format: GxFormat, data: &Bytes) -> Vec<[u8; 4]> {
    let level = level(size, data);
    let mut pixels = vec![[0; 4]; level.pixels()];
    gx::decode(&level, format, &[], &mut pixels);
    pixels
}

/// Decodes the pixels of an Xbox picture in a format without a palette.
pub fn xbox_pixels(size: (u32, u32), format: XboxFormat, data: &Bytes) -> Vec<[u8; 4]> {
    let level = level(size, data);
    let mut pixels = vec![[0; 4]; level.pixels()];
    xbox::decode(&level, format, &[], &mut pixels);
    pixels
}

fn level((width, height): (u32, u32), data: &Bytes) -> Level {
    Level {
        width,
        height,
        data: data.clone(),
        pitch: 0,
    }
}
