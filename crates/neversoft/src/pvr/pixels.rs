//! Pixels in the format of the Dreamcast's PVR chip, which several formats contain
//! (FORMATS, PSX 8).

use hpimount_assets::parse::pixels::color::{
    argb1555, argb4444, from_argb1555, from_argb4444, from_rgb565, rgb565,
};
use hpimount_assets::parse::pixels::encode::mip;

/// Size of the codebook before compressed pixels in bytes.
const CODEBOOK: usize = 2048;

/// Format of a 16-bit color.
#[derive(Clone, Copy)]
enum Color {
    Argb1555,
    Rgb565,
    Argb4444,
}

/// Arrangement of the pixels.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Arrangement {
    /// Along a curve through the square. A rectangle consists of several squares.
    Twiddled,
    /// Like [`Arrangement::Twiddled`], after the smaller mipmaps.
    TwiddledMips,
    /// Blocks of 2 by 2 from a codebook, along the curve.
    Compressed,
    /// Like [`Arrangement::Compressed`], after the smaller mipmaps.
    CompressedMips,
    /// Row by row.
    Rows,
}

impl Color {
    fn of(format: u32) -> Option<Self> {
        match format & 0xFF {
            0 => Some(Self::Argb1555),
            1 => Some(Self::Rgb565),
            2 => Some(Self::Argb4444),
            _ => None,
        }
    }

    fn rgba(self, color: u16) -> [u8; 4] {
        match self {
            Self::Argb1555 => argb1555(color),
            Self::Rgb565 => rgb565(color),
            Self::Argb4444 => argb4444(color),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Argb1555 => "ARGB1555",
            Self::Rgb565 => "RGB565",
            Self::Argb4444 => "ARGB4444",
        }
    }

    /// Returns the nearest color.
    fn nearest(self, rgba: [u8; 4]) -> u16 {
        match self {
            Self::Argb1555 => from_argb1555(rgba),
            Self::Rgb565 => from_rgb565(rgba),
            Self::Argb4444 => from_argb4444(rgba),
        }
    }
}

impl Arrangement {
    fn of(format: u32) -> Option<Self> {
        match format & 0xFF00 {
            0x100 | 0xD00 => Some(Self::Twiddled),
            0x200 => Some(Self::TwiddledMips),
            0x300 => Some(Self::Compressed),
            0x400 => Some(Self::CompressedMips),
            0x900 => Some(Self::Rows),
            _ => None,
        }
    }

    /// Returns the offset and size of the largest mipmap.
    fn extent(self, width: usize, height: usize) -> (usize, usize) {
        let pixels = width * height;
        // Mipmaps have 1, 4, 16 ... pixels; together a third of the next one.
        match self {
            Self::Rows | Self::Twiddled => (0, 2 * pixels),
            Self::TwiddledMips => (6 + 2 * (pixels.saturating_sub(1) / 3), 2 * pixels),
            Self::Compressed => (CODEBOOK, pixels / 4),
            Self::CompressedMips => (
                CODEBOOK + 1 + (pixels / 4).saturating_sub(1) / 3,
                pixels / 4,
            ),
        }
    }

    fn has_mips(self) -> bool {
        matches!(self, Self::TwiddledMips | Self::CompressedMips)
    }
}

/// The defect of pixels that cannot be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wrong {
    /// The form of the colors.
    Color,
    /// The arrangement.
    Arrangement,
    /// The width or height.
    Size,
    /// The number of bytes.
    Length,
}

/// Returns the name of a format's color format.
pub(crate) fn form(format: u32) -> &'static str {
    Color::of(format).map_or("", Color::name)
}

/// Returns the reason why pixels cannot be shown. The low byte of `format` is the color
/// format, the second byte the arrangement.
pub(crate) fn problem(
    format: u32,
    width: usize,
    height: usize,
    length: usize,
) -> Option<(Wrong, String)> {
    let unknown = || format!("its pixel format {format:#x} is unknown");
    if Color::of(format).is_none() {
        return Some((Wrong::Color, unknown()));
    }
    let Some(arrangement) = Arrangement::of(format) else {
        return Some((Wrong::Arrangement, unknown()));
    };
    let smallest = match arrangement {
        Arrangement::Rows => 0,
        Arrangement::Twiddled => 1,
        _ => 2,
    };
    let fits = |length: usize| length.is_power_of_two() && length >= smallest;
    if smallest > 0 && !(fits(width) && fits(height)) || arrangement.has_mips() && width != height {
        let why = format!(
            "{width} by {height} pixels cannot be arranged as its pixel format {format:#x} requires"
        );
        return Some((Wrong::Size, why));
    }
    let (start, size) = arrangement.extent(width, height);
    (length < start + size).then(|| {
        let needed = start + size;
        let why = format!("has {length} bytes of pixels, {width} by {height} take {needed}");
        (Wrong::Length, why)
    })
}

/// Returns the RGBA values of pixels without a [`problem`].
pub(crate) fn pixels(format: u32, width: u32, height: u32, data: &[u8]) -> Option<Vec<[u8; 4]>> {
    let (color, arrangement) = (Color::of(format)?, Arrangement::of(format)?);
    let (width, height) = (width as usize, height as usize);
    let (start, size) = arrangement.extent(width, height);
    let shown = data.get(start..start.checked_add(size)?)?;
    let short = |bytes: &[u8], index: usize| {
        let pair = bytes.get(2 * index..2 * index + 2);
        pair.map_or(0, |pair| u16::from_le_bytes([pair[0], pair[1]]))
    };
    let pixel = |x: usize, y: usize| match arrangement {
        Arrangement::Rows => short(shown, y * width + x),
        Arrangement::Twiddled | Arrangement::TwiddledMips => {
            short(shown, twiddled(x, y, width, height))
        }
        Arrangement::Compressed | Arrangement::CompressedMips => {
            let block = twiddled(x / 2, y / 2, width / 2, height / 2);
            let code = shown.get(block).copied().unwrap_or(0);
            short(data, 4 * usize::from(code) + twiddled(x % 2, y % 2, 2, 2))
        }
    };
    let all = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
    Some(all.map(|(x, y)| color.rgba(pixel(x, y))).collect())
}

/// Returns the reason why pixels without a [`problem`] cannot be encoded.
pub(crate) fn fixed(format: u32) -> Option<&'static str> {
    let arrangement = Arrangement::of(format)?;
    let is_compressed = matches!(
        arrangement,
        Arrangement::Compressed | Arrangement::CompressedMips
    );
    is_compressed.then_some("is stored as blocks from a table (VQ), and such a table is not made")
}

/// Encodes pixels that have no [`problem`] and are not [`fixed`]. Pixels that look the
/// same keep their bytes. Smaller mipmaps are recomputed.
pub(crate) fn encode(
    format: u32,
    (width, height): (u32, u32),
    data: &[u8],
    edited: &[[u8; 4]],
) -> Option<Vec<u8>> {
    let (color, arrangement) = (Color::of(format)?, Arrangement::of(format)?);
    let halved = |&(width, height): &(u32, u32)| {
        (arrangement.has_mips() && width > 1).then_some((width / 2, height / 2))
    };
    let sizes: Vec<_> = std::iter::successors(Some((width, height)), halved).collect();
    let levels = mip::levels(edited, &sizes);
    let mut data = data.to_vec();
    for ((width, height), pixels) in sizes.into_iter().zip(levels) {
        let (width, height) = (width as usize, height as usize);
        let (start, size) = arrangement.extent(width, height);
        let (words, _) = data.get_mut(start..start + size)?.as_chunks_mut::<2>();
        for (number, &pixel) in pixels.iter().enumerate() {
            let (x, y) = (number % width, number / width);
            let place = match arrangement {
                Arrangement::Rows => number,
                _ => twiddled(x, y, width, height),
            };
            let word = words.get_mut(place)?;
            if color.rgba(u16::from_le_bytes(*word)) != pixel {
                *word = color.nearest(pixel).to_le_bytes();
            }
        }
    }
    Some(data)
}

/// Returns the position of a pixel on the curve: the interleaved bits of y and x, y
/// first. The squares of a rectangle are consecutive.
fn twiddled(x: usize, y: usize, width: usize, height: usize) -> usize {
    let side = width.min(height).max(1);
    let square = (x / side).max(y / side);
    square * side * side + (spread(x % side) << 1 | spread(y % side))
}

/// Spreads the bits of a number, with a zero before each.
fn spread(value: usize) -> usize {
    (0..16).fold(0, |spread, bit| spread | (value >> bit & 1) << (2 * bit))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the pixels of `format`, where the n-th pixel of the file has the value
    /// n.
    fn order(format: u32, width: u32, height: u32, before: usize) -> Vec<u16> {
        let count = (width * height) as u16;
        let mut data = vec![0xEE; before];
        data.extend((0..count).flat_map(u16::to_le_bytes));
        assert_eq!(
            problem(format, width as usize, height as usize, data.len()),
            None
        );
        assert!(problem(format, width as usize, height as usize, data.len() - 1).is_some());
        let pixels = pixels(format, width, height, &data).unwrap();
        // The low 5 bits of an RGB565 color are its blue.
        let blue = |pixel: &[u8; 4]| (u16::from(pixel[2]) * 31 + 127) / 255;
        pixels.iter().map(blue).collect()
    }

    #[test]
    fn the_curve_goes_down_first() {
        let expected = [0, 2, 8, 10, 1, 3, 9, 11, 4, 6, 12, 14, 5, 7, 13, 15];
        assert_eq!(order(0x101, 4, 4, 0), expected);
        // 6 bytes and mipmaps of 1 and 4 pixels come first.
        assert_eq!(order(0x201, 4, 4, 6 + 2 + 8), expected);
        assert_eq!(order(0x901, 3, 2, 0), [0, 1, 2, 3, 4, 5]);
    }

    #[test]
    fn a_rectangle_is_several_squares() {
        assert_eq!(order(0xD01, 4, 2, 0), [0, 2, 4, 6, 1, 3, 5, 7]);
        assert_eq!(order(0xD01, 2, 4, 0), [0, 2, 1, 3, 4, 6, 5, 7]);
    }

    #[test]
    fn compressed_pixels_are_blocks_of_a_table() {
        let mut data = vec![0; CODEBOOK];
        for (index, blue) in [1, 2, 3, 4].into_iter().enumerate() {
            data[8 * 7 + 2 * index] = blue;
        }
        let plain = [data.clone(), vec![0, 7, 0, 0]].concat();
        let left_below = pixels(0x301, 4, 4, &plain).unwrap();
        let blues: Vec<u8> = left_below.iter().map(|pixel| pixel[2]).collect();
        assert_eq!(blues[8..], [8, 24, 0, 0, 16, 33, 0, 0]);
        assert_eq!(problem(0x301, 4, 4, plain.len()), None);
        // Mipmaps of 1 by 1 and 2 by 2 pixels have a byte each.
        let mips = [data, vec![9, 9, 0, 7, 0, 0]].concat();
        assert_eq!(pixels(0x401, 4, 4, &mips).unwrap(), left_below);
        assert_eq!(problem(0x401, 4, 4, mips.len()), None);
        assert!(problem(0x401, 4, 4, mips.len() - 1).is_some());
    }

    #[test]
    fn an_encoded_pixel_changes_its_own_bytes_alone() {
        for (format, before) in [(0x101, 0), (0x900, 0), (0x902, 3), (0x102, 0), (0xD00, 1)] {
            let data: Vec<u8> = (0..32 + before).map(|at| at as u8 * 7).collect();
            let mut shown = pixels(format, 4, 4, &data).unwrap();
            assert_eq!(encode(format, (4, 4), &data, &shown).unwrap(), data);
            shown[6] = [255, 0, 0, 255];
            let changed = encode(format, (4, 4), &data, &shown).unwrap();
            let differing = data.iter().zip(&changed).filter(|(old, new)| old != new);
            assert!(differing.count() <= 2);
            assert_eq!(pixels(format, 4, 4, &changed).unwrap(), shown);
        }
    }

    #[test]
    fn smaller_mipmaps_are_made_anew() {
        // 6 bytes, and mipmaps of 1, 4 and 16 pixels.
        let data = vec![7; 6 + 2 * (1 + 4 + 16)];
        let white = encode(0x201, (4, 4), &data, &[[255; 4]; 16]).unwrap();
        assert_eq!(white, [vec![7; 6], vec![255; 2 * (1 + 4 + 16)]].concat());
    }

    #[test]
    fn tables_of_blocks_are_not_made() {
        assert!(fixed(0x301).is_some() && fixed(0x400).is_some());
        assert_eq!(fixed(0x201), None);
    }

    #[test]
    fn impossible_formats_are_reported() {
        assert!(problem(0x103, 4, 4, 999).is_some());
        assert!(problem(0x501, 4, 4, 999).is_some());
        assert!(problem(0x101, 5, 4, 999).is_some());
        assert!(problem(0x201, 8, 4, 999).is_some());
        assert!(problem(0x301, 1, 1, 9999).is_some());
        assert_eq!(problem(0x902, 5, 3, 30), None);
    }

    #[test]
    fn every_color_has_its_full_range() {
        assert_eq!(Color::Argb1555.rgba(0xFFFF), [255; 4]);
        assert_eq!(Color::Argb1555.rgba(0x7C00), [255, 0, 0, 0]);
        assert_eq!(Color::Rgb565.rgba(0x07E0), [0, 255, 0, 255]);
        assert_eq!(Color::Argb4444.rgba(0x8F00), [255, 0, 0, 136]);
    }
}
