//! Pixels without the fields of a texture, as the consoles' own formats have
//! them.

use bytes::Bytes;

use super::{GxFormat, Level, XboxFormat, gx, xbox};

/// Decodes the pixels of a GameCube picture in a format without a palette.
pub(crate) fn gamecube_pixels(size: (u32, u32), format: GxFormat, data: &Bytes) -> Vec<[u8; 4]> {
    let level = level(size, data);
    let mut pixels = vec![[0; 4]; level.pixels()];
    gx::decode(&level, format, &[], &mut pixels);
    pixels
}

/// Decodes the pixels of an Xbox picture in a format without a palette.
pub(crate) fn xbox_pixels(size: (u32, u32), format: XboxFormat, data: &Bytes) -> Vec<[u8; 4]> {
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
