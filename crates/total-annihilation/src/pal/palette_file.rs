//! Palettes in common file formats (FORMATS, TA 2).

use bytes::Bytes;

use crate::pal::{self, Palette, RGB_SIZE};
use hpimount_assets::parse::pcx;
use hpimount_containers::io::{Error, Result};

/// Maximum length of a palette file in bytes; a picture with a palette may be large.
pub const MAX_SIZE: u64 = 64 << 20;

/// First line of a GIMP palette.
const GIMP: &[u8] = b"GIMP Palette";

/// First byte of a PCX picture.
const PCX: u8 = 10;

/// Magic bytes of other formats, which may have the size of a palette of the games.
const OTHERS: [&[u8]; 2] = [b"RIFF", b"JASC-PAL"];

/// Reads the palette in a file and detects its kind by content: 1024 bytes as in the
/// games, 768 bytes of red, green and blue, the colors at the end of a PCX picture, or
/// a GIMP palette.
///
/// # Errors
/// Returns [`Error::Damaged`] if it is none of them, or has too few colors.
pub fn parse(file: &Bytes) -> Result<Palette> {
    if file.starts_with(GIMP) {
        return gimp(file);
    }
    if OTHERS.iter().any(|magic| file.starts_with(magic)) {
        let problem = "is neither of TA (.pal, 768 bytes, .pcx) nor of GIMP (.gpl)";
        return Err(Error::damaged(0, "palette", problem));
    }
    if let Some(palette) = Palette::from_rgb(file) {
        return Ok(palette);
    }
    if file.first() == Some(&PCX) && pcx::parse(file).is_ok() {
        let too_short = || {
            let problem = format!("has {} bytes, too few for {RGB_SIZE} of colors", file.len());
            Error::damaged(0, "picture", problem)
        };
        let palette = pcx::game_palette(file).ok_or_else(too_short)?;
        return Ok(Palette(palette));
    }
    match pal::parse(file) {
        Ok(pal) => Ok(pal.palette),
        Err(incomplete) => Err(incomplete.error),
    }
}

/// Reads lines of red, green, blue and an optional name. Colors after the last line are
/// black.
fn gimp(file: &[u8]) -> Result<Palette> {
    let mut palette = Palette::default();
    let mut colors = 0;
    let mut at = 0;
    for line in file.split_inclusive(|&byte| byte == b'\n') {
        let start = at as u64;
        at += line.len();
        let text = String::from_utf8_lossy(line);
        let mut words = text.split_whitespace().map(str::parse::<u8>);
        // Lines of other kinds, and comments, do not begin with a number.
        let Some(Ok(red)) = words.next() else {
            continue;
        };
        let (Some(Ok(green)), Some(Ok(blue))) = (words.next(), words.next()) else {
            return Err(Error::damaged(
                start,
                "color",
                "is not three numbers up to 255",
            ));
        };
        let Some(color) = palette.0.get_mut(colors) else {
            return Err(Error::damaged(start, "color", "is one of more than 256"));
        };
        *color = [red, green, blue];
        colors += 1;
    }
    if colors == 0 {
        return Err(Error::damaged(0, "palette", "has no colors"));
    }
    Ok(palette)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixtures::ta as build;

    /// Returns a palette of different colors.
    fn colors() -> Palette {
        Palette(std::array::from_fn(|index| {
            [index as u8, 255 - index as u8, 7]
        }))
    }

    fn read(bytes: Vec<u8>) -> Result<Palette> {
        parse(&bytes.into())
    }

    #[test]
    fn every_kind_of_file_yields_the_same_colors() {
        let plain = colors().0.as_flattened().to_vec();
        let padded = colors().0.map(|[r, g, b]| [r, g, b, 0]).concat();
        let picture = build::pcx::Pcx {
            palette: Some((0, plain.clone())),
            ..build::pcx::Pcx::indexed(1, 1, vec![0])
        };
        let mut lines = "GIMP Palette\nName: x\nColumns: 16\n#\n".to_owned();
        for [red, green, blue] in colors().0 {
            lines += &format!("{red:3} {green:3} {blue:3}\tIndex\r\n");
        }
        let files = [plain, padded, picture.file(), lines.into_bytes()];
        for file in files {
            assert_eq!(read(file).unwrap(), colors());
        }
    }

    #[test]
    fn a_short_palette_of_gimp_ends_with_black() {
        let palette = read(b"GIMP Palette\n#\n1 2 3 first\n4 5 6".to_vec()).unwrap();
        assert_eq!(palette.0[..3], [[1, 2, 3], [4, 5, 6], [0; 3]]);
    }

    #[test]
    fn other_files_are_rejected() {
        let many = "GIMP Palette\n".to_owned() + &"1 2 3\n".repeat(257);
        for (file, problem) in [
            (Vec::new(), "palette at 0x0: has 0 bytes"),
            (vec![0; 1023], "palette at 0x0: has 1023 bytes"),
            (b"RIFF".repeat(300), "palette at 0x0: is neither of TA"),
            (
                b"GIMP Palette\n# none".to_vec(),
                "palette at 0x0: has no colors",
            ),
            (b"GIMP Palette\n1 2".to_vec(), "color at 0xd: is not three"),
            (
                b"GIMP Palette\n1 2 300".to_vec(),
                "color at 0xd: is not three",
            ),
            (many.into_bytes(), "color at 0x60d: is one of more than 256"),
        ] {
            let error = read(file).unwrap_err().to_string();
            assert!(error.starts_with(problem), "{error}");
        }
    }
}
