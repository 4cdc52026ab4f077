//! BMP: pictures of units in many mods of Total Annihilation (FORMATS, TA 8), and in
//! packed pictures of Neversoft (FORMATS, Neversoft 7).
//!
//! Supports the variants in archives, which are uncompressed.

use bytes::Bytes;
use get_size2::GetSize;

use super::{Incomplete, finish};
use crate::model::{self, Picture};
use hpimount_containers::io::{Cursor, Endian, Error, Result, Warnings};

/// First bytes of a BMP file.
pub const MAGIC: &[u8] = b"BM";

/// Maximum number of pixels.
const MAX_PIXELS: u64 = 64 << 20;

/// Bytes before the second header.
const FILE_HEADER_SIZE: usize = 14;

/// Supported length of the second header; it may be longer.
const HEADER_SIZE: usize = 40;

/// Bytes of a color of the palette: blue, green, red, unused.
const COLOR_SIZE: usize = 4;

/// The parsed header of a BMP file, with encoded pixels.
#[derive(Debug, Clone, Default, GetSize)]
pub struct Bmp {
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Bits of a pixel: 1, 4 or 8 for palette indices, 24 or 32 for colors.
    pub bits: u16,
    /// True if the first row is the top one.
    pub is_top_down: bool,
    /// The colors of palette indices, each red, green, blue; missing ones are
    /// black.
    pub palette: Option<[[u8; 3]; 256]>,
    /// Warnings.
    pub warnings: Warnings,
    /// The existing rows, each padded to four bytes.
    #[get_size(ignore)]
    rows: Bytes,
}

/// Pixels, row by row from the top.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pixels {
    /// Palette indices. All of them are opaque.
    Indexed(Vec<u8>),
    /// Red, green, blue.
    Rgb(Vec<u8>),
}

/// Parses the headers of a BMP file. Rows that are missing at its end are a
/// warning.
///
/// # Errors
/// Returns [`Incomplete`] if the header is invalid, or the picture is of a kind
/// that the games do not use.
pub fn parse(bytes: &Bytes) -> std::result::Result<Bmp, Box<Incomplete<Bmp>>> {
    let mut bmp = Bmp::default();
    let result = bmp.read(bytes);
    finish(bmp, result)
}

impl Bmp {
    fn read(&mut self, file: &Bytes) -> Result<()> {
        let mut cursor = Cursor::new(file, 0, Endian::Little)
            .section(FILE_HEADER_SIZE + HEADER_SIZE, "header")?;
        let magic = cursor.take(2, "magic")?;
        if magic != MAGIC {
            let problem = format!("is \"{}\", should be BM", magic.escape_ascii());
            return Err(Error::damaged(0, "magic", problem));
        }
        cursor.take(8, "file size")?;
        let (start_at, start) = (cursor.offset(), cursor.u32("pixels")?);
        let (size_at, header_size) = (cursor.offset(), cursor.u32("header size")?);
        if (header_size as usize) < HEADER_SIZE {
            let problem = format!("is {header_size}, should be {HEADER_SIZE} or more");
            return Err(Error::damaged(size_at, "header size", problem));
        }
        let picture_at = cursor.offset();
        self.width = cursor.u32("width")?;
        // A negative height reverses the order of rows.
        let height = cursor.u32("height")?.cast_signed();
        (self.height, self.is_top_down) = (height.unsigned_abs(), height < 0);
        cursor.take(2, "planes")?;
        let depth_at = cursor.offset();
        self.bits = cursor.u16("bits per pixel")?;
        let compression = cursor.u32("compression")?;
        cursor.take(12, "resolution")?;
        let colors = cursor.u32("colors")?;
        self.check(picture_at, depth_at, compression)?;
        if self.bits <= 8 {
            self.read_palette(file, header_size, colors);
        }
        let mut pixels =
            Cursor::new(file, 0, Endian::Little).follow(start.into(), start_at, "pixels")?;
        // At most `MAX_PIXELS` of four bytes.
        let size = self.stride() * self.height as usize;
        let available = pixels.remaining().min(size);
        if available < size {
            let whole = available / self.stride();
            let height = self.height;
            self.warnings
                .push(format!("the file ends in row {whole} of {height}"));
        }
        self.rows = file.slice_ref(pixels.take(available, "pixels")?);
        Ok(())
    }

    /// Checks the size and the format of the pixels.
    fn check(&self, picture_at: u64, depth_at: u64, compression: u32) -> Result<()> {
        let (width, height) = (self.width, self.height);
        let pixels = u64::from(width) * u64::from(height);
        if pixels == 0 || pixels > MAX_PIXELS {
            let problem = format!("is {width}x{height}, should be 1 to {MAX_PIXELS} pixels");
            return Err(Error::damaged(picture_at, "picture", problem));
        }
        if !matches!(self.bits, 1 | 4 | 8 | 24 | 32) || compression != 0 {
            let bits = self.bits;
            let problem = format!(
                "is {bits} bits with compression {compression}, should be 1, 4, 8, 24 or 32 \
                 without"
            );
            return Err(Error::damaged(depth_at, "depth", problem));
        }
        Ok(())
    }

    /// Reads the existing colors. If `colors` is 0, the maximum number is
    /// expected.
    fn read_palette(&mut self, file: &[u8], header_size: u32, colors: u32) {
        let most = 1 << self.bits;
        let wanted = match colors as usize {
            0 => most,
            colors => colors.min(most),
        };
        let start = FILE_HEADER_SIZE.saturating_add(header_size as usize);
        let stored = file.get(start..).unwrap_or_default();
        let stored = stored.as_chunks::<COLOR_SIZE>().0;
        let mut palette = [[0; 3]; 256];
        let colors = palette.iter_mut().take(wanted);
        let count = colors
            .zip(stored)
            .map(|(color, &[blue, green, red, _])| *color = [red, green, blue])
            .count();
        if count < wanted {
            self.warnings
                .push(format!("found {count} of {wanted} colors"));
        }
        self.palette = Some(palette);
    }

    /// Returns the length of a row in bytes.
    fn stride(&self) -> usize {
        // The width is at most `MAX_PIXELS`.
        (self.width as usize * usize::from(self.bits)).div_ceil(32) * 4
    }

    /// Returns the pixels. Missing pixels are 0.
    pub fn decode(&self) -> Pixels {
        let (width, height) = (self.width as usize, self.height as usize);
        let channels = if matches!(self.bits, 24 | 32) { 3 } else { 1 };
        let mut pixels = vec![0; channels * width * height];
        let stride = self.stride().max(1);
        let stored = self.rows.chunks(stride).enumerate();
        for (number, stored) in stored.take(height) {
            let y = match self.is_top_down {
                true => number,
                false => height - 1 - number,
            };
            let row = &mut pixels[channels * width * y..][..channels * width];
            self.row(stored, row);
        }
        match self.bits {
            24 | 32 => Pixels::Rgb(pixels),
            _ => Pixels::Indexed(pixels),
        }
    }

    /// Returns the picture in its own colors.
    pub fn picture(&self) -> Picture {
        match self.decode() {
            Pixels::Rgb(bytes) => Picture::from_rgb(self.width, self.height, &bytes),
            Pixels::Indexed(rows) => Picture {
                width: self.width,
                height: self.height,
                pixels: model::Pixels::Indexed {
                    bits: 8,
                    rows,
                    palette: self.opaque(),
                },
            },
        }
    }

    /// Returns red, green, blue and alpha of the colors of all 256 indices.
    pub fn opaque(&self) -> Vec<[u8; 4]> {
        let palette = self.palette.unwrap_or([[0; 3]; 256]).into_iter();
        palette.map(|[r, g, b]| [r, g, b, 255]).collect()
    }

    /// Returns the number of possible colors.
    pub fn colors(&self) -> usize {
        1 << self.bits.min(8)
    }

    /// Replaces the pixels of `file`, the parsed file. Returns `None` if pixels and
    /// header overlap. Pixels must have the kind and number that [`Bmp::decode`]
    /// returns.
    pub fn with_pixels(&self, file: &[u8], pixels: &Pixels) -> Option<Vec<u8>> {
        let start = u32::from_le_bytes(*file.get(10..)?.first_chunk()?) as usize;
        let (width, height, stride) = (self.width as usize, self.height as usize, self.stride());
        if start < FILE_HEADER_SIZE + HEADER_SIZE {
            return None;
        }
        let mut out = file.to_vec();
        out.resize(out.len().max(start.checked_add(stride * height)?), 0);
        for (number, stored) in out[start..].chunks_mut(stride).take(height).enumerate() {
            let y = match self.is_top_down {
                true => number,
                false => height - 1 - number,
            };
            match pixels {
                Pixels::Rgb(bytes) => {
                    let colors = bytes[3 * width * y..][..3 * width].as_chunks().0;
                    let size = usize::from(self.bits / 8);
                    // The fourth byte of a pixel stays.
                    for (stored, &[red, green, blue]) in stored.chunks_exact_mut(size).zip(colors) {
                        stored[..3].copy_from_slice(&[blue, green, red]);
                    }
                }
                Pixels::Indexed(indices) => {
                    let bits = usize::from(self.bits);
                    let row = indices[width * y..][..width].chunks(8 / bits);
                    for (stored, indices) in stored.iter_mut().zip(row) {
                        let shifted = (1..)
                            .zip(indices)
                            .map(|(at, index)| index << (8 - bits * at));
                        *stored = shifted.fold(0, |byte, bits| byte | bits);
                    }
                }
            }
        }
        Some(out)
    }

    fn row(&self, stored: &[u8], row: &mut [u8]) {
        match self.bits {
            24 => {
                let stored = stored.as_chunks().0;
                for (pixel, &[blue, green, red]) in row.as_chunks_mut().0.iter_mut().zip(stored) {
                    *pixel = [red, green, blue];
                }
            }
            32 => {
                let stored = stored.as_chunks().0;
                for (pixel, &[blue, green, red, _]) in row.as_chunks_mut().0.iter_mut().zip(stored)
                {
                    *pixel = [red, green, blue];
                }
            }
            8 => {
                let available = stored.len().min(row.len());
                row[..available].copy_from_slice(&stored[..available]);
            }
            bits @ (1 | 4) => {
                // The first pixel has the highest bits.
                let per_byte = usize::from(8 / bits);
                for (pixels, &byte) in row.chunks_mut(per_byte).zip(stored) {
                    for (pixel, pixel_number) in pixels.iter_mut().zip(1..) {
                        *pixel = byte >> (8 - bits * pixel_number) & ((1 << bits) - 1);
                    }
                }
            }
            // Other depths are rejected.
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixtures::ta::bmp::Bmp as Built;

    fn built(bits: u16, height: i32, rows: &[&[u8]]) -> Built {
        Built {
            width: 3,
            height,
            bits,
            colors: vec![[1, 2, 3], [4, 5, 6]],
            rows: rows.concat(),
        }
    }

    fn decoded(file: &Built) -> Pixels {
        let bmp = parse(&file.file().into()).unwrap();
        assert!(bmp.warnings.is_empty(), "{:?}", bmp.warnings);
        bmp.decode()
    }

    #[test]
    fn rows_are_stored_from_the_bottom_unless_the_height_is_negative() {
        let rows: [&[u8]; 2] = [&[1, 2, 3, 0xEE], &[4, 5, 6, 0xEE]];
        let up = Pixels::Indexed(vec![4, 5, 6, 1, 2, 3]);
        assert_eq!(decoded(&built(8, 2, &rows)), up);
        let down = Pixels::Indexed(vec![1, 2, 3, 4, 5, 6]);
        assert_eq!(decoded(&built(8, -2, &rows)), down);
    }

    #[test]
    fn every_depth_is_read() {
        let bits = decoded(&built(1, 1, &[&[0b0100_0000, 0, 0, 0]]));
        assert_eq!(bits, Pixels::Indexed(vec![0, 1, 0]));
        let nibbles = decoded(&built(4, 1, &[&[0x12, 0x30, 0, 0]]));
        assert_eq!(nibbles, Pixels::Indexed(vec![1, 2, 3]));
        let colors = Pixels::Rgb(vec![3, 2, 1, 6, 5, 4, 9, 8, 7]);
        let plain = decoded(&built(24, 1, &[&[1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 0, 0]]));
        assert_eq!(plain, colors);
        let padded = decoded(&built(32, 1, &[&[1, 2, 3, 0, 4, 5, 6, 0, 7, 8, 9, 0]]));
        assert_eq!(padded, colors);
    }

    #[test]
    fn missing_colors_and_rows_are_warnings() {
        let mut file = built(8, 2, &[&[1, 2, 3, 0], &[4, 5, 6, 0]]);
        let bmp = parse(&file.file().into()).unwrap();
        assert_eq!(bmp.palette.unwrap()[..3], [[1, 2, 3], [4, 5, 6], [0; 3]]);
        let mut bytes = file.file();
        bytes.truncate(bytes.len() - 2);
        let bmp = parse(&bytes.into()).unwrap();
        assert_eq!(bmp.warnings.texts(), ["the file ends in row 1 of 2"]);
        assert_eq!(bmp.decode(), Pixels::Indexed(vec![4, 5, 0, 1, 2, 3]));
        // As many as the depth allows.
        file.colors = vec![[9; 3]; 300];
        let bmp = parse(&file.file().into()).unwrap();
        assert_eq!(bmp.palette.unwrap(), [[9; 3]; 256]);
    }

    #[test]
    fn other_pictures_are_rejected() {
        let refused = |at: usize, value: u32| {
            let mut bytes = built(8, 2, &[&[0; 8]]).file();
            fixtures::ta::put(&mut bytes, at, &value.to_le_bytes());
            parse(&bytes.into()).unwrap_err().error.to_string()
        };
        for (at, value, problem) in [
            (0, 0, "magic at 0x0: is "),
            (10, 5000, "pixels at 0xa: "),
            (14, 12, "header size at 0xe: is 12"),
            (18, 0, "picture at 0x12: is 0x2"),
            (18, u32::MAX, "picture at 0x12: is 4294967295x2"),
            (22, 0x8000_0000, "picture at 0x12: is 3x2147483648"),
            (28, 16, "depth at 0x1c: is 16 bits"),
            (30, 1, "depth at 0x1c: is 8 bits with compression 1"),
        ] {
            let error = refused(at, value);
            assert!(error.starts_with(problem), "{error}");
        }
    }
}
