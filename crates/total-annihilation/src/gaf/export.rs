//! Sprites as pictures.

use crate::gaf::{self, Frame};
use crate::pal::Palette;
use hpimount_assets::model::{Picture, Pixels};

/// Decodes a frame, or returns `None` if it has no pixels. Transparent pixels have no
/// color, and missing pixels are transparent.
pub fn sprite(picture: gaf::Picture, palette: &Palette) -> Option<Picture> {
    let (width, height): (u32, u32) = (picture.width.into(), picture.height.into());
    if width == 0 || height == 0 {
        return None;
    }
    let pixels = match picture.pixels {
        gaf::Pixels::Rgba(bytes) => {
            let mut pixels = bytes.as_chunks().0.to_vec();
            // The pixels are missing if the layers cannot be read.
            pixels.resize(width as usize * height as usize, [0; 4]);
            Pixels::Rgba(pixels)
        }
        gaf::Pixels::Indexed(sprite) => {
            let mut colors = palette.opaque();
            let pixels = sprite.indices.iter().zip(&sprite.mask);
            // All transparent pixels have the same index, the key.
            let key = sprite.mask.iter().position(|&mask| mask == 0);
            let key = key.and_then(|at| sprite.indices.get(at).copied());
            // Without an early end: that compiles to vector instructions.
            let has_opaque = |key| {
                let pixels = pixels.clone();
                pixels.fold(false, |has, (&index, &mask)| {
                    has | ((index == key) & (mask != 0))
                })
            };
            match key {
                Some(key) if has_opaque(key) => {
                    let color = |(&index, &mask): (&u8, &u8)| match mask {
                        0 => [0; 4],
                        _ => colors[usize::from(index)],
                    };
                    Pixels::Rgba(pixels.map(color).collect())
                }
                key => {
                    if let Some(key) = key {
                        colors[usize::from(key)] = [0; 4];
                    }
                    Pixels::Indexed {
                        bits: 8,
                        rows: sprite.indices,
                        palette: colors,
                    }
                }
            }
        }
    };
    Some(Picture {
        width,
        height,
        pixels,
    })
}

/// Returns the bounding rectangle of all frames aligned by their origins: its top left
/// corner relative to the origins, and its size.
pub fn extent(frames: impl Iterator<Item = Frame>) -> Option<((i32, i32), (u32, u32))> {
    let edges = frames.filter(|frame| frame.pixels() > 0).map(|frame| {
        let (left, top) = (-i32::from(frame.x), -i32::from(frame.y));
        let right = left + i32::from(frame.width);
        [left, top, right, top + i32::from(frame.height)]
    });
    let [left, top, right, bottom] = edges.reduce(|a, b| {
        [
            a[0].min(b[0]),
            a[1].min(b[1]),
            a[2].max(b[2]),
            a[3].max(b[3]),
        ]
    })?;
    Some(((left, top), (left.abs_diff(right), top.abs_diff(bottom))))
}
