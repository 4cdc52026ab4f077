//! The pixels of a file.

use std::io::Read;

use bytes::Bytes;
use flate2::read::GzDecoder;
use get_size2::GetSize;

use hpimount_assets::model::{MAX_PIXELS, Picture, Pixels, size_problem};
use hpimount_assets::parse::bmp::{self, Bmp};
use hpimount_assets::parse::color::opaque;
use hpimount_containers::io::{Cursor, Endian, Error, Result, Warnings};

/// Extensions of the files.
pub const EXTENSIONS: &[&str] = &["rle", "bmr", "zlb"];

/// First bytes of packed pixels.
pub const MAGIC: &[u8] = b"_RLE_16_";

/// Excess of the stored length over the pixels in bytes. In files without packing,
/// these bytes follow the pixels.
const ADDED: usize = 8;

/// Bytes before the runs of packed pixels.
const HEADER: usize = 12;

/// Bytes of a pixel.
const PIXEL: usize = 2;

/// Maximum number of pixels of a run.
const MAX_RUN: usize = 0x7FFF;

/// Flag of a run that repeats one pixel.
const REPEATS: u16 = 0x8000;

/// Allowed excess of a gzip file over runs of one pixel each, in bytes.
const SLACK: usize = 1 << 16;

/// Widths of pictures, the usual ones first.
const WIDTHS: [usize; 8] = [512, 640, 768, 320, 256, 384, 480, 1024];

/// The usual heights of pictures.
const HEIGHTS: [usize; 4] = [240, 256, 480, 512];

/// Maximum height of a picture.
const MAX_HEIGHT: usize = 4096;

/// A parsed file.
#[derive(Debug, Clone, GetSize)]
pub struct Rle {
    /// True if the pixels are packed.
    pub is_packed: bool,
    /// True if the file is compressed with gzip.
    pub is_gzip: bool,
    /// The contents.
    pub content: Content,
    /// Warnings.
    pub warnings: Warnings,
}

/// The contents of a file.
#[derive(Debug, Clone, GetSize)]
pub enum Content {
    /// A picture.
    Picture {
        /// Width in pixels, a guess.
        width: u32,
        /// Height in pixels.
        height: u32,
        /// The 16-bit colors; missing ones are black.
        colors: Vec<u8>,
    },
    /// A BMP file.
    Bmp(Box<Inside>),
}

/// A BMP file that is packed in place of colors.
#[derive(Debug, Clone, GetSize)]
pub struct Inside {
    /// Bytes.
    #[get_size(size_fn = unpacked_size)]
    pub file: Bytes,
    /// Contents; `None` for an unsupported kind.
    pub picture: Option<Bmp>,
}

/// Returns the memory of unpacked bytes, which nothing else owns.
fn unpacked_size(file: &Bytes) -> usize {
    file.len()
}

/// Parses a file. `is_gzip` tells whether it is compressed.
///
/// # Errors
/// Returns [`Error::Damaged`] if the pixels cannot be unpacked, or no width
/// fits their number.
pub fn parse(bytes: &Bytes, is_gzip: bool) -> Result<Rle> {
    let unpacked;
    let bytes = match is_gzip {
        true => {
            unpacked = inflated(bytes)?;
            &unpacked[..]
        }
        false => bytes,
    };
    let is_packed = bytes.starts_with(MAGIC);
    let mut warnings = Warnings::default();
    let (colors, count) = match is_packed {
        true => unpack(bytes)?,
        false => plain(bytes, &mut warnings),
    };
    let content = match is_packed && colors.starts_with(bmp::MAGIC) {
        true => Content::Bmp(Box::new(inside(colors.into(), &mut warnings))),
        false => picture(colors, count, &mut warnings)?,
    };
    Ok(Rle {
        is_packed,
        is_gzip,
        content,
        warnings,
    })
}

/// Decompresses the start of a gzip file, as far as its pixels need.
fn inflated(bytes: &[u8]) -> Result<Vec<u8>> {
    let damaged =
        |error: std::io::Error| Error::damaged(0, "gzip", format!("cannot be unpacked: {error}"));
    let mut decoder = GzDecoder::new(bytes);
    let mut unpacked = Vec::new();
    let mut more = |unpacked: &mut Vec<u8>, length: usize| {
        let read = decoder.by_ref().take(length as u64);
        { read }.read_to_end(unpacked).map_err(damaged)
    };
    more(&mut unpacked, HEADER)?;
    let most = match unpacked.starts_with(MAGIC) {
        true => 2 * PIXEL * count_of(&unpacked)? + SLACK,
        false => PIXEL * MAX_PIXELS as usize + ADDED + 1,
    };
    more(&mut unpacked, most)?;
    Ok(unpacked)
}

/// Returns the number of pixels of packed pixels.
fn count_of(bytes: &[u8]) -> Result<usize> {
    let mut cursor = Cursor::new(bytes, 0, Endian::Little);
    cursor.take(MAGIC.len(), "magic")?;
    let at = cursor.offset();
    let count = (cursor.u32("length")? as usize).saturating_sub(ADDED) / PIXEL;
    if count as u64 > MAX_PIXELS {
        let problem = format!("is that of {count} pixels, more than {MAX_PIXELS}");
        return Err(Error::damaged(at, "length", problem));
    }
    Ok(count)
}

/// Unpacks runs. Returns the colors, possibly incomplete, and their number.
fn unpack(bytes: &[u8]) -> Result<(Vec<u8>, usize)> {
    let count = count_of(bytes)?;
    let mut cursor = Cursor::new(bytes, 0, Endian::Little);
    cursor.take(HEADER, "header")?;
    // A run takes at least 4 bytes.
    let most = (MAX_RUN + 1) * (cursor.remaining() / 4 + 1);
    if count > most {
        let left = cursor.remaining();
        let problem = format!("is that of {count} pixels, which {left} bytes cannot be");
        return Err(Error::damaged(MAGIC.len() as u64, "length", problem));
    }
    let mut colors = Vec::with_capacity(PIXEL * count);
    while cursor.remaining() >= 2 && colors.len() < PIXEL * count {
        let control = cursor.u16("run")?;
        let run = usize::from(control & !REPEATS).min(count - colors.len() / PIXEL);
        if control & REPEATS == 0 {
            let there = cursor.remaining() & !1;
            colors.extend(cursor.take(there.min(PIXEL * run), "pixels")?);
        } else if cursor.remaining() >= PIXEL {
            colors.extend(cursor.take(PIXEL, "pixel")?.repeat(run));
        }
    }
    Ok((colors, count))
}

/// Returns the colors of a file without packing, and their number.
fn plain(bytes: &[u8], warnings: &mut Warnings) -> (Vec<u8>, usize) {
    let count = bytes.len().saturating_sub(ADDED) / PIXEL;
    let (colors, rest) = bytes.split_at(PIXEL * count);
    if rest.iter().any(|&byte| byte != 0) {
        warnings.push("the bytes after the pixels are not 0");
    }
    (colors.to_vec(), count)
}

/// Returns the BMP file in place of the colors.
fn inside(file: Bytes, warnings: &mut Warnings) -> Inside {
    let parsed = bmp::parse(&file).map_err(|incomplete| incomplete.error.to_string());
    let shown = parsed.and_then(
        |bmp| match size_problem(bmp.width.into(), bmp.height.into()) {
            None => Ok(bmp),
            Some(problem) => Err(problem),
        },
    );
    match &shown {
        Ok(bmp) => {
            for text in bmp.warnings.texts() {
                warnings.push(format!("the BMP file in it: {text}"));
            }
        }
        Err(problem) => warnings.push(format!("the BMP file in it is not shown: {problem}")),
    }
    Inside {
        file,
        picture: shown.ok(),
    }
}

/// Returns the picture of `count` colors.
fn picture(mut colors: Vec<u8>, count: usize, warnings: &mut Warnings) -> Result<Content> {
    if count as u64 > MAX_PIXELS {
        let problem = format!("has {count} pixels, more than {MAX_PIXELS}");
        return Err(Error::damaged(0, "picture", problem));
    }
    let width = width_of(count).ok_or_else(|| {
        let problem = format!("has {count} pixels, which no known width divides");
        Error::damaged(0, "picture", problem)
    })?;
    let there = colors.len() / PIXEL;
    if there < count {
        warnings.push(format!("{there} of {count} pixels; the others are black"));
        colors.resize(PIXEL * count, 0);
    }
    Ok(Content::Picture {
        width: width as u32,
        height: (count / width) as u32,
        colors,
    })
}

/// Returns the width of a picture with this number of pixels: the first one with a
/// usual height, or else the first divisor.
fn width_of(count: usize) -> Option<usize> {
    let fits = |&&width: &&usize| {
        count.is_multiple_of(width) && (1..=MAX_HEIGHT).contains(&(count / width))
    };
    let mut fitting = WIDTHS.iter().filter(fits).copied();
    let first = fitting.clone().next();
    fitting
        .find(|width| HEIGHTS.contains(&(count / width)))
        .or(first)
}

impl Content {
    /// Returns the picture; `None` for an unsupported BMP file.
    pub fn picture(&self) -> Option<Picture> {
        let (width, height, colors) = match self {
            Self::Picture {
                width,
                height,
                colors,
            } => (*width, *height, colors),
            Self::Bmp(inside) => return inside.picture.as_ref().map(Bmp::picture),
        };
        let colors = colors.as_chunks().0.iter();
        let pixels = colors.map(|&color| opaque(u16::from_le_bytes(color)));
        Some(Picture {
            width,
            height,
            pixels: Pixels::Rgba(pixels.collect()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    use fixtures::ta::bmp::Bmp as Built;

    /// Returns packed pixels with this stored count.
    fn packed(count: u32, runs: &[u16]) -> Vec<u8> {
        let mut file = MAGIC.to_vec();
        file.extend((2 * count + 8).to_le_bytes());
        file.extend(runs.iter().flat_map(|word| word.to_le_bytes()));
        file
    }

    /// Returns a packed BMP file with an even number of bytes.
    fn with_bmp(file: &[u8]) -> Vec<u8> {
        let words = file
            .as_chunks()
            .0
            .iter()
            .map(|&word| u16::from_le_bytes(word));
        let runs = [file.len() as u16 / 2].into_iter().chain(words);
        packed(file.len() as u32 / 2, &runs.collect::<Vec<_>>())
    }

    fn rgba(rle: &Rle) -> Vec<[u8; 4]> {
        rle.content.picture().unwrap().rgba()
    }

    #[test]
    fn runs_repeat_a_color_or_list_colors() {
        let runs = [REPEATS | 254, 0x1F, 0, 2, 0x03E0, 0x7C00];
        let rle = parse(&packed(256, &runs).into(), false).unwrap();
        let pixels = rgba(&rle);
        assert_eq!(
            pixels[253..],
            [[255, 0, 0, 255], [0, 255, 0, 255], [0, 0, 255, 255]]
        );
        assert!(rle.warnings.is_empty());
    }

    #[test]
    fn missing_pixels_are_black() {
        let rle = parse(&packed(512, &[3, 0x7FFF]).into(), false).unwrap();
        assert_eq!(rgba(&rle)[..2], [[255; 4], [0, 0, 0, 255]]);
        assert_eq!(rle.warnings.len(), 1);
    }

    #[test]
    fn the_width_is_the_first_that_gives_a_usual_height() {
        assert_eq!(width_of(512 * 240), Some(512));
        assert_eq!(width_of(640 * 480), Some(640));
        assert_eq!(width_of(320 * 240), Some(320));
        assert_eq!(width_of(512 * 7), Some(512));
        assert_eq!((width_of(1001), width_of(0)), (None, None));
    }

    #[test]
    fn a_bmp_may_be_packed() {
        let built = Built {
            width: 1,
            height: 2,
            bits: 24,
            colors: Vec::new(),
            rows: vec![1, 2, 3, 0, 4, 5, 6, 0],
        };
        let rle = parse(&with_bmp(&built.file()).into(), false).unwrap();
        assert_eq!(rgba(&rle), [[6, 5, 4, 255], [3, 2, 1, 255]]);
        assert!(rle.warnings.is_empty(), "{:?}", rle.warnings);
        assert!(matches!(rle.content, Content::Bmp(inside) if inside.file == built.file()));
    }

    #[test]
    fn a_bmp_that_is_not_read_is_a_warning() {
        let rle = parse(&with_bmp(b"BM\x07\0\x08\0").into(), false).unwrap();
        assert!(rle.content.picture().is_none());
        let [warning] = &rle.warnings.texts()[..] else {
            panic!("{:?}", rle.warnings);
        };
        assert!(
            warning.starts_with("the BMP file in it is not shown: "),
            "{warning}"
        );
    }

    #[test]
    fn impossible_lengths_are_refused() {
        let error = |count| parse(&packed(count, &[1, 1]).into(), false).unwrap_err();
        for count in [1 << 25, 100_000] {
            let error = error(count).to_string();
            assert!(error.starts_with("length at 0x8: "), "{error}");
        }
    }

    #[test]
    fn a_gzip_file_is_unpacked_only_as_far_as_its_pixels_need() {
        let mut file = packed(512, &[REPEATS | 512, 0x1F]);
        file.resize(1 << 20, 0);
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), Default::default());
        encoder.write_all(&file).unwrap();
        let mut gzip = encoder.finish().unwrap();
        assert!(inflated(&gzip).unwrap().len() < 100_000);
        let rle = parse(&gzip.clone().into(), true).unwrap();
        assert_eq!(rgba(&rle), [[255, 0, 0, 255]; 512]);
        gzip[0] = 0;
        assert!(parse(&gzip.into(), true).is_err());
    }
}
