//! PCX: pictures of Total Annihilation, and palettes of its sprites in Kingdoms
//! (FORMATS, TA 8).

use std::fmt;
use std::ops::Range;

use bytes::Bytes;
use get_size2::GetSize;

use super::short::fill;
use super::{Incomplete, color, finish};
use hpimount_containers::io::{Cursor, Endian, Error, Result, Warnings};

/// Extensions of PCX files.
pub const EXTENSIONS: &[&str] = &["pcx"];

/// Maximum number of pixels.
const MAX_PIXELS: u64 = 64 << 20;

/// Bytes of the header.
const HEADER_SIZE: usize = 128;

/// First byte of every file.
const MANUFACTURER: u8 = 10;

/// The byte before the 256 colors at the end of the file.
const PALETTE_MARKER: u8 = 0x0C;

/// Bytes of the 256 colors, each red, green, blue.
const PALETTE_SIZE: usize = 768;

/// Minimum length of a file; the game rejects shorter ones.
const MIN_LENGTH: usize = HEADER_SIZE + PALETTE_SIZE;

/// The parsed header of a PCX file, with encoded pixels.
#[derive(Debug, Clone, Default, GetSize)]
pub struct Pcx {
    /// Version; 5 has 256 colors.
    pub version: u8,
    /// Encoding: 1 for runs, 0 for raw bytes.
    pub encoding: u8,
    /// Bits of a pixel in a plane.
    pub bits: u8,
    /// Column and row of the first pixel; they should be 0.
    pub origin: (u16, u16),
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Number of planes.
    pub planes: u8,
    /// Bytes of a row in each plane.
    pub bytes_per_line: u16,
    /// The palette of the picture, each color red, green, blue: 256 colors from
    /// the end of the file, 16 from the header if there are fewer than 8 bits, or
    /// none.
    pub palette: Option<[[u8; 3]; 256]>,
    /// Warnings, except for those about the pixels, which are in
    /// [`Picture::warnings`].
    pub warnings: Warnings,
    #[get_size(ignore)]
    file: Bytes,
}

/// A decoded picture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    /// The pixels, row by row.
    pub pixels: Pixels,
    /// Warnings about them.
    pub warnings: Warnings,
}

/// Pixels, row by row from the top.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pixels {
    /// Palette indices. All of them are opaque.
    Indexed(Vec<u8>),
    /// Red, green, blue.
    Rgb(Vec<u8>),
}

/// A reason why the game shows a picture wrongly or not at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GameIssue {
    /// The game rejects versions other than 5.
    Version,
    /// The game treats all pictures as one plane of 8 bits.
    Depth,
    /// The game assumes as many bytes in a row as there are pixels, so rows are
    /// skewed.
    BytesPerLine,
    /// The game rejects files of fewer than 896 bytes.
    Short,
}

impl fmt::Display for GameIssue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Version => "the game refuses it: the version is not 5",
            Self::Depth => "the game shows garbage: it is not one plane of 8 bits",
            Self::BytesPerLine => "the game skews it: a row does not have as many bytes as pixels",
            Self::Short => "the game refuses it: it is shorter than 896 bytes",
        })
    }
}

/// The format of the pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Depth {
    /// A byte for each pixel.
    Bytes,
    /// Planes of red, green and blue, and possibly an unused one.
    Rgb,
    /// Up to 8 bits per pixel, combined from all planes.
    Packed,
}

/// Parses the header of a PCX file.
///
/// # Errors
/// Returns [`Incomplete`] if the header is invalid or describes an
/// impossible picture.
pub fn parse(bytes: &Bytes) -> std::result::Result<Pcx, Box<Incomplete<Pcx>>> {
    let mut pcx = Pcx {
        file: bytes.clone(),
        ..Pcx::default()
    };
    let result = pcx.read();
    finish(pcx, result)
}

/// Returns the palette that the game reads from a PCX file: the last 768 bytes. `None`
/// if the file is too short for the game.
pub fn game_palette(file: &[u8]) -> Option<[[u8; 3]; 256]> {
    let rest = file.get(HEADER_SIZE..)?;
    color::palette(rest.get(rest.len().checked_sub(PALETTE_SIZE)?..)?)
}

impl Pcx {
    fn read(&mut self) -> Result<()> {
        let file = self.file.clone();
        let mut cursor = Cursor::new(&file, 0, Endian::Little).section(HEADER_SIZE, "header")?;
        let manufacturer = cursor.u8("manufacturer")?;
        if manufacturer != MANUFACTURER {
            let problem = format!("is {manufacturer}, should be {MANUFACTURER}");
            return Err(Error::damaged(0, "manufacturer", problem));
        }
        self.version = cursor.u8("version")?;
        self.encoding = cursor.u8("encoding")?;
        self.bits = cursor.u8("bits per pixel")?;
        let (left, top) = (cursor.u16("left edge")?, cursor.u16("upper edge")?);
        let (right, bottom) = (cursor.u16("right edge")?, cursor.u16("lower edge")?);
        self.origin = (left, top);
        cursor.take(4, "resolution")?;
        let header_palette = cursor.take(48, "palette of the header")?;
        cursor.take(1, "reserved byte")?;
        self.planes = cursor.u8("planes")?;
        self.bytes_per_line = cursor.u16("bytes per line")?;
        if right < left || bottom < top {
            let problem = format!("is from {left},{top} to {right},{bottom}");
            return Err(Error::damaged(4, "picture", problem));
        }
        self.width = u32::from(right - left) + 1;
        self.height = u32::from(bottom - top) + 1;
        self.check()?;
        if self.depth() == Some(Depth::Packed) {
            let mut palette = [[0; 3]; 256];
            let colors = header_palette.as_chunks().0;
            palette[..colors.len()].copy_from_slice(colors);
            self.palette = Some(palette);
        } else if self.version == 5 {
            self.palette = self.trailing_palette();
        }
        self.warn();
        Ok(())
    }

    /// Checks the size and the format of the pixels.
    fn check(&self) -> Result<()> {
        let damaged = |at, field, problem| Err(Error::damaged(at, field, problem));
        let (width, height) = (self.width, self.height);
        if width == 0 || height == 0 {
            return damaged(4, "picture", "has no size".to_owned());
        }
        let samples = u64::from(width) * u64::from(height) * u64::from(self.planes);
        if samples > MAX_PIXELS {
            let planes = self.planes;
            let problem = format!("is {width}x{height}x{planes}, more than {MAX_PIXELS}");
            return damaged(4, "picture", problem);
        }
        if self.depth().is_none() {
            let problem = format!("are {} of {} bits", self.planes, self.bits);
            return damaged(65, "planes", problem);
        }
        let line = u64::from(self.bytes_per_line);
        if 8 * line < u64::from(width) * u64::from(self.bits) {
            let problem = format!("are {line}, too few for {width} pixels");
            return damaged(66, "bytes per line", problem);
        }
        let stored = line * u64::from(self.planes) * u64::from(height);
        if stored > 2 * MAX_PIXELS {
            let most = 2 * MAX_PIXELS;
            let problem = format!("are {line}, more than {most} in all rows");
            return damaged(66, "bytes per line", problem);
        }
        Ok(())
    }

    fn depth(&self) -> Option<Depth> {
        Some(match (self.bits, self.planes) {
            (8, 1) => Depth::Bytes,
            (8, 3 | 4) => Depth::Rgb,
            (1 | 2, 1..=4) | (4, 1 | 2) => Depth::Packed,
            _ => return None,
        })
    }

    /// Returns the offset of the palette marker at the end of the file.
    fn palette_offset(&self) -> Option<usize> {
        let offset = self.file.len().checked_sub(PALETTE_SIZE + 1)?;
        (offset >= HEADER_SIZE).then_some(offset)
    }

    fn trailing_palette(&self) -> Option<[[u8; 3]; 256]> {
        let (&marker, colors) = self.file[self.palette_offset()?..].split_first()?;
        color::palette(colors).filter(|_| marker == PALETTE_MARKER)
    }

    fn warn(&mut self) {
        if self.origin != (0, 0) {
            let (left, top) = self.origin;
            let warning = format!("the picture is from {left},{top}, not from 0,0");
            self.warnings.push(warning);
        }
        if self.encoding != 1 {
            let encoding = self.encoding;
            self.warnings.push(format!("encoding is {encoding}, not 1"));
        }
        if self.depth() == Some(Depth::Bytes) && self.palette.is_none() {
            let what = match game_palette(&self.file) {
                Some(_) => "there is no marker before the palette",
                None => "there is no palette",
            };
            self.warnings.push(what);
        }
    }

    /// Returns the reasons why the game shows the picture wrongly or not at all.
    pub fn game_issues(&self) -> Vec<GameIssue> {
        let issues = [
            (self.version != 5, GameIssue::Version),
            (self.depth() != Some(Depth::Bytes), GameIssue::Depth),
            (
                u32::from(self.bytes_per_line) != self.width,
                GameIssue::BytesPerLine,
            ),
            (self.file.len() < MIN_LENGTH, GameIssue::Short),
        ];
        let issues = issues.into_iter();
        issues
            .filter_map(|(is_one, issue)| is_one.then_some(issue))
            .collect()
    }

    /// Decodes the pixels. Pixels missing at the end of the file are 0, with a warning.
    ///
    /// # Errors
    /// Returns an error if [`parse`] did.
    pub fn decode(&self) -> Result<Picture> {
        self.decode_all().map(|(picture, _)| picture)
    }

    /// Returns the range of the stored pixels.
    ///
    /// # Errors
    /// Returns an error if [`parse`] did.
    pub fn stored(&self) -> Result<Range<usize>> {
        let (_, length) = self.decode_all()?;
        let end = HEADER_SIZE + length;
        let has_palette = self.version == 5 && self.trailing_palette().is_some();
        let palette = self.palette_offset().filter(|_| has_palette);
        Ok(HEADER_SIZE..palette.map_or(end, |palette| palette.min(end)))
    }

    /// Decodes the pixels, and returns the number of encoded bytes.
    fn decode_all(&self) -> Result<(Picture, usize)> {
        self.check()?;
        let mut stored = Stored {
            bytes: self.file.get(HEADER_SIZE..).unwrap_or_default(),
            has_runs: self.encoding == 1,
            at: 0,
            value: 0,
            left: 0,
        };
        // Each side is at most 65536, and the number of pixels `MAX_PIXELS`.
        let (width, height) = (self.width as usize, self.height as usize);
        let depth = self.depth().unwrap_or(Depth::Bytes);
        let channels = if depth == Depth::Rgb { 3 } else { 1 };
        let mut pixels = vec![0; channels * width * height];
        let whole_rows = if depth == Depth::Bytes && usize::from(self.bytes_per_line) == width {
            stored.read(&mut pixels) / width
        } else {
            self.read_rows(depth, &mut stored, &mut pixels)
        };
        let mut warnings = Warnings::default();
        if whole_rows < height {
            warnings.push(format!("the file ends in row {whole_rows} of {height}"));
        } else {
            self.check_end(&stored, &mut warnings);
        }
        let pixels = match depth {
            Depth::Rgb => Pixels::Rgb(pixels),
            _ => Pixels::Indexed(pixels),
        };
        Ok((Picture { pixels, warnings }, stored.at))
    }

    /// Reads rows of encoded pixels in order. Returns the number of complete rows.
    fn read_rows(&self, depth: Depth, stored: &mut Stored<'_>, pixels: &mut [u8]) -> usize {
        let width = self.width as usize;
        let line = usize::from(self.bytes_per_line);
        let mut planes = vec![0; line * usize::from(self.planes)];
        let channels = if depth == Depth::Rgb { 3 } else { 1 };
        let mut whole_rows = 0;
        for row in pixels.chunks_exact_mut(channels * width) {
            let is_whole = stored.read(&mut planes) == planes.len();
            match depth {
                Depth::Bytes => row.copy_from_slice(&planes[..width]),
                Depth::Rgb => interleave(&planes, line, row),
                Depth::Packed => unpack(&planes, line, self.bits, row),
            }
            if !is_whole {
                break;
            }
            whole_rows += 1;
        }
        whole_rows
    }

    /// Warns about data after the pixels that is not a palette.
    fn check_end(&self, stored: &Stored<'_>, warnings: &mut Warnings) {
        if stored.left > 0 {
            let count = stored.left;
            warnings.push(format!("the last run has {count} pixels too many"));
        }
        let has_palette = self.version == 5 && self.trailing_palette().is_some();
        let end = self.palette_offset().filter(|_| has_palette);
        let limit = end.unwrap_or(self.file.len());
        let pixels_end = HEADER_SIZE + stored.at;
        let count = limit.saturating_sub(pixels_end);
        if count > 0 {
            warnings.push(format!(
                "{count} bytes follow the pixels at {pixels_end:#x}"
            ));
        }
    }
}

/// A reader of stored rows.
struct Stored<'a> {
    bytes: &'a [u8],
    /// True if there are runs. They may cross the end of a row.
    has_runs: bool,
    at: usize,
    /// Value of an unfinished run, and the number of its remaining pixels.
    value: u8,
    left: usize,
}

impl Stored<'_> {
    /// Fills `row` and returns the number of bytes read. Bytes past the end of the file
    /// are 0.
    fn read(&mut self, row: &mut [u8]) -> usize {
        if !self.has_runs {
            let rest = &self.bytes[self.at..];
            let count = rest.len().min(row.len());
            row[..count].copy_from_slice(&rest[..count]);
            row[count..].fill(0);
            self.at += count;
            return count;
        }
        // The rest of a run that began in the previous row.
        let mut x = self.left.min(row.len());
        row[..x].fill(self.value);
        self.left -= x;
        let mut rest = &self.bytes[self.at..];
        while x < row.len() {
            // Far from both ends, eight bytes are copied at a time; then the run after
            // their literals is read.
            if rest.len() > 8
                && let Some(room) = row.get_mut(x..x + FAR)
            {
                let plain = plain(rest);
                room[..8].copy_from_slice(&rest[..8]);
                x += plain;
                rest = &rest[plain..];
                if plain == 8 {
                    continue;
                }
                let count = usize::from(rest[0] & 0x3F);
                self.value = rest[1];
                fill(&mut room[plain..], 0, count, self.value);
                x += count;
                rest = &rest[2..];
                continue;
            }
            match rest {
                [byte @ ..0xC0, after @ ..] => {
                    row[x] = *byte;
                    x += 1;
                    rest = after;
                }
                [byte, value, after @ ..] => {
                    let count = usize::from(byte & 0x3F);
                    let end = (x + count).min(row.len());
                    fill(row, x, end, *value);
                    (self.value, self.left) = (*value, count - (end - x));
                    x = end;
                    rest = after;
                }
                _ => break,
            }
        }
        self.at = self.bytes.len() - rest.len();
        // A short run may be followed by extra bytes.
        row[x..].fill(0);
        x
    }
}

/// Maximum number of pixels that eight bytes encode, plus the 16 that [`fill`] writes
/// at a time.
const FAR: usize = 8 + 63 + 16;

/// Returns the number of literals at the start of eight bytes. The two highest bits of
/// the next byte are set.
fn plain(bytes: &[u8]) -> usize {
    const HIGHEST: u64 = u64::from_ne_bytes([0x80; 8]);
    let eight = bytes.first_chunk().copied().unwrap_or_default();
    let eight = u64::from_le_bytes(eight);
    ((eight & eight << 1 & HIGHEST).trailing_zeros() / 8) as usize
}

/// Combines the red, green and blue planes of a row into pixels.
fn interleave(planes: &[u8], line: usize, row: &mut [u8]) {
    let (red, rest) = planes.split_at(line);
    let (green, blue) = rest.split_at(line);
    let colors = red.iter().zip(green).zip(blue);
    for (pixel, ((&red, &green), &blue)) in row.as_chunks_mut().0.iter_mut().zip(colors) {
        *pixel = [red, green, blue];
    }
}

/// Combines the bits of all planes of a row into palette indices. The first plane is
/// the lowest bit.
fn unpack(planes: &[u8], line: usize, bits: u8, row: &mut [u8]) {
    let per_byte = usize::from(8 / bits);
    let mask = (1 << bits) - 1;
    for (x, pixel) in row.iter_mut().enumerate() {
        let shift = 8 - bits * (x % per_byte + 1) as u8;
        for (plane, bytes) in planes.chunks_exact(line).enumerate() {
            let value = bytes[x / per_byte] >> shift & mask;
            *pixel |= value << (plane as u8 * bits);
        }
    }
}

#[cfg(test)]
mod tests;
