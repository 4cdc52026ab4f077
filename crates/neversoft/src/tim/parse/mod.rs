//! The pictures of a TIM or TIM2 file.

mod playstation;
mod playstation2;

use std::ops::Range;

use bytes::Bytes;
use get_size2::GetSize;

use hpimount_assets::model::{MAX_PIXELS, Picture, Pixels};
use hpimount_assets::parse::color::{self, opaque};
use hpimount_assets::parse::pixels::color::{from_half_alpha, half_alpha};
use hpimount_assets::parse::pixels::swizzle::exchanged;
use hpimount_containers::io::{self, Cursor, Endian, Error, Warnings};

/// Extensions of the files.
pub const EXTENSIONS: &[&str] = &["tim", "tm2"];

/// First bytes of a TIM2 file.
const TIM2: &[u8] = b"TIM2";

/// Maximum number of pictures to read from a file.
const MAX_PICTURES: usize = 256;

/// A parsed file.
#[derive(Debug, Clone, Default, GetSize)]
pub struct Tim {
    /// The header of a TIM2 file; a TIM file has none.
    pub header: Option<Tim2Header>,
    /// The pictures, in file order.
    pub pictures: Vec<Stored>,
    /// Warnings.
    pub warnings: Warnings,
}

/// The header of a TIM2 file.
#[derive(Debug, Clone, Copy, GetSize)]
pub struct Tim2Header {
    /// Version of the format.
    pub version: u8,
    /// Alignment of the pictures in bytes: 16 or 128.
    pub alignment: u8,
    /// Number of pictures, as it is stored.
    pub count: u16,
}

/// A picture as it is stored.
#[derive(Debug, Clone, GetSize)]
pub struct Stored {
    /// Absolute offset of the picture.
    pub offset: u64,
    /// Bits of a pixel: 4, 8, 16, 24 or 32.
    pub bits: u8,
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Properties that exist in one of the formats only.
    pub details: Details,
    /// The rows, from the top.
    #[get_size(ignore)]
    pub(super) data: Bytes,
    /// Bytes of a row.
    row_size: usize,
    /// The colors of all palettes.
    #[get_size(ignore)]
    pub(super) colors: Bytes,
}

/// Properties of a picture in one of the formats.
#[derive(Debug, Clone, GetSize)]
pub enum Details {
    /// TIM.
    PlayStation {
        /// The block of the palettes.
        palette: Option<Block>,
        /// The block of the pixels.
        picture: Block,
        /// Colors of the palettes with the semi-transparency bit.
        stp_colors: usize,
    },
    /// TIM2.
    PlayStation2 {
        /// Number of mipmaps, as it is stored.
        mipmaps: u8,
        /// Number of colors of the palette.
        colors: u16,
        /// 1, 2 or 3 for colors of 16, 24 or 32 bits.
        palette_type: u8,
        /// True if the colors are in the order of the indices.
        is_linear: bool,
        /// The format, as it is stored.
        format: u8,
        /// Lengths of all levels in bytes, as stored; empty without smaller levels.
        level_sizes: Vec<u32>,
    },
}

/// A rectangle of the video memory.
#[derive(Debug, Clone, Copy, GetSize)]
pub struct Block {
    /// Length of the block in bytes, as stored.
    pub size: u32,
    /// Left edge in video memory, in 16-bit words.
    pub x: u16,
    /// Upper edge in the video memory.
    pub y: u16,
    /// Width in words of 16 bits.
    pub words: u16,
    /// Height in rows.
    pub height: u16,
}

/// Parses a file.
///
/// # Errors
/// Returns [`Error::Damaged`] if a header is wrong or pixels are missing.
pub fn parse(bytes: &Bytes) -> io::Result<Tim> {
    let mut cursor = Cursor::new(bytes, 0, Endian::Little);
    let mut tim = Tim::default();
    if bytes.starts_with(TIM2) {
        playstation2::read(&mut cursor, bytes, &mut tim)?;
    } else {
        playstation::read(&mut cursor, bytes, &mut tim)?;
    }
    match cursor.remaining() {
        0 => {}
        rest => tim
            .warnings
            .push(format!("{rest} bytes follow the last picture")),
    }
    Ok(tim)
}

/// Checks the number of pixels of a picture whose size is at `offset`.
fn check_size(width: u32, height: u32, offset: u64) -> io::Result<()> {
    if u64::from(width) * u64::from(height) > MAX_PIXELS {
        let problem = format!("{width} by {height} pixels are more than {MAX_PIXELS}");
        return Err(Error::damaged(offset, "picture size", problem));
    }
    Ok(())
}

/// Returns the error of a picture at `offset` that is too short.
fn too_short(offset: u64, have: usize, needed: usize) -> Error {
    Error::damaged(
        offset,
        "picture",
        format!("has {have} of {needed} bytes of pixels"),
    )
}

impl Stored {
    /// Returns the number of palettes.
    pub fn palettes(&self) -> usize {
        match &self.details {
            _ if self.bits > 8 => 0,
            Details::PlayStation { palette: None, .. } => 0,
            Details::PlayStation { .. } => ((self.colors.len() / 2) >> self.bits).max(1),
            Details::PlayStation2 { .. } => 1,
        }
    }

    /// Returns the number of shown pictures: one for each palette, or one without
    /// palettes.
    pub fn faces(&self) -> usize {
        self.palettes().max(1)
    }

    /// Decodes the picture with the palette of this number. Without palettes,
    /// indices are shown as gray.
    pub fn decode(&self, palette: usize) -> Picture {
        let pixels = match self.bits {
            bits @ (4 | 8) => Pixels::Indexed {
                bits,
                rows: self.indices(),
                palette: self.palette(palette),
            },
            _ => Pixels::Rgba(self.true_color()),
        };
        Picture {
            width: self.width,
            height: self.height,
            pixels,
        }
    }

    /// Returns the rows of indices, with the left pixel in the high half.
    fn indices(&self) -> Vec<u8> {
        let rows = &self.data[..self.row_size * self.height as usize];
        match self.bits {
            4 => rows.iter().map(|byte| byte.rotate_left(4)).collect(),
            _ => rows.to_vec(),
        }
    }

    /// Returns the colors of the palette with this number; missing colors are
    /// transparent.
    pub(super) fn palette(&self, number: usize) -> Vec<[u8; 4]> {
        let count = 1_usize << self.bits;
        if self.palettes() == 0 {
            let step = 255 / (count - 1);
            let gray = |index| (index * step) as u8;
            return (0..count)
                .map(|index| [gray(index), gray(index), gray(index), 255])
                .collect();
        }
        let slots = (0..count).map(|index| self.slot(number, index));
        let colors = slots.map(|slot| slot.map_or([0; 4], |slot| self.color(&self.colors[slot])));
        colors.collect()
    }

    /// Returns the location of a color in the bytes of all palettes, if it exists. In a
    /// PlayStation 2 palette that is not linear, some colors change places.
    pub(super) fn slot(&self, palette: usize, index: usize) -> Option<Range<usize>> {
        let (size, number) = match self.details {
            Details::PlayStation { .. } => (2, (palette << self.bits) + index),
            Details::PlayStation2 {
                colors,
                palette_type,
                is_linear,
                ..
            } => {
                let is_swapped = self.bits == 8 && !is_linear;
                let number = if is_swapped { exchanged(index) } else { index };
                if number >= usize::from(colors) {
                    return None;
                }
                (usize::from(palette_type) + 1, number)
            }
        };
        let slot = size * number..size * (number + 1);
        (slot.end <= self.colors.len()).then_some(slot)
    }

    /// Returns a stored color.
    pub(super) fn color(&self, stored: &[u8]) -> [u8; 4] {
        match *stored {
            [low, high] => {
                let word = u16::from_le_bytes([low, high]);
                match self.details {
                    Details::PlayStation { .. } => playstation::color(word),
                    Details::PlayStation2 { .. } => opaque(word),
                }
            }
            [red, green, blue] => [red, green, blue, 255],
            [red, green, blue, alpha] => half_alpha([red, green, blue, alpha]),
            _ => [0; 4],
        }
    }

    /// Stores the nearest color, with the blending bit of the old one.
    pub(super) fn store(&self, color: [u8; 4], stored: &mut [u8]) {
        if let [low, high] = *stored {
            let old = u16::from_le_bytes([low, high]);
            let word = match self.details {
                Details::PlayStation { .. } => playstation::nearest(color, old),
                Details::PlayStation2 { .. } => color::nearest(color) | old & 0x8000,
            };
            stored.copy_from_slice(&word.to_le_bytes());
        } else {
            let color = from_half_alpha(color);
            let length = stored.len().min(color.len());
            stored[..length].copy_from_slice(&color[..length]);
        }
    }

    /// Returns the locations and sizes of the levels in the pixels. Fails with a reason
    /// if smaller levels are not where expected.
    pub(super) fn levels(&self) -> Result<Vec<Place>, String> {
        let (count, lengths) = match &self.details {
            Details::PlayStation { .. } => (1, &[][..]),
            Details::PlayStation2 {
                mipmaps,
                level_sizes,
                ..
            } => (usize::from(*mipmaps).max(1), &level_sizes[..]),
        };
        let unknown = || format!("has {count} levels, whose places are unknown");
        let mut start = 0;
        let mut levels = Vec::with_capacity(count);
        for number in 0..count {
            let side = |side: u32| side.checked_shr(number as u32).unwrap_or(0).max(1);
            let (width, height) = (side(self.width), side(self.height));
            let row_size = match number {
                0 => self.row_size,
                _ => (width as usize * usize::from(self.bits)).div_ceil(8),
            };
            let needed = row_size * height as usize;
            let length = match lengths.get(number) {
                Some(&length) => length as usize,
                None if count == 1 => needed,
                None => return Err(unknown()),
            };
            if length < needed || length > self.data.len() - start {
                return Err(unknown());
            }
            levels.push(Place {
                bytes: start..start + needed,
                row_size,
                size: (width, height),
            });
            start += length;
        }
        Ok(levels)
    }

    fn true_color(&self) -> Vec<[u8; 4]> {
        let size = usize::from(self.bits / 8);
        let width = self.width as usize;
        let rows = (0..self.height as usize).map(|y| &self.data[y * self.row_size..]);
        let pixel = |bytes| self.color(bytes);
        rows.flat_map(|row| row[..width * size].chunks_exact(size).map(pixel))
            .collect()
    }
}

/// The place of a level.
pub(super) struct Place {
    /// The range of the level in the bytes of all pixels.
    pub(super) bytes: Range<usize>,
    /// Bytes of a row.
    pub(super) row_size: usize,
    /// Width and height in pixels.
    pub(super) size: (u32, u32),
}

#[cfg(test)]
pub(super) mod tests;
