//! A banner. All numbers are big-endian.

use bytes::Bytes;
use get_size2::GetSize;

use crate::model::{Picture, Pixels};
use crate::parse::pixels::encode::gx::encode;
use crate::parse::pixels::{self, GxFormat, Level};
use crate::parse::take;
use hpimount_containers::io::{Cursor, Endian, Error, Result};
use hpimount_containers::text::Charset;

/// Extensions of the files.
pub const EXTENSIONS: &[&str] = &["bnr"];

/// Size of the picture in pixels, and its bytes: 16 bits each.
pub(super) const WIDTH: u32 = 96;
pub(super) const HEIGHT: u32 = 32;
const PIXELS: usize = (WIDTH * HEIGHT * 2) as usize;

/// Bytes of the header before the picture.
pub(super) const HEADER: usize = 0x20;

/// Languages of a multilingual banner, in order.
const LANGUAGES: [&str; 6] = ["English", "German", "French", "Spanish", "Italian", "Dutch"];

/// A parsed banner.
#[derive(Debug, Clone, GetSize)]
pub struct Banner {
    /// The texts: one, or one in each language.
    pub texts: Vec<Texts>,
    #[get_size(ignore)]
    pixels: Bytes,
}

/// The texts in a language. Lines end with a line feed.
#[derive(Debug, Clone, PartialEq, Eq, GetSize)]
pub struct Texts {
    /// The language; `None` if there is only one.
    pub language: Option<&'static str>,
    /// The title, at most 31 bytes.
    pub short_title: String,
    /// The maker, at most 31 bytes.
    pub short_maker: String,
    /// The title, at most 63 bytes.
    pub title: String,
    /// The maker, at most 63 bytes.
    pub maker: String,
    /// Description of the game, at most 127 bytes.
    pub description: String,
}

/// Returns whether a file begins like a banner.
pub fn is_known(bytes: &[u8]) -> bool {
    bytes.starts_with(b"BNR1") || bytes.starts_with(b"BNR2")
}

/// Parses a banner.
///
/// # Errors
/// Returns [`Error::Damaged`] if the magic is wrong, or the picture or the texts
/// are cut off.
pub fn parse(bytes: &Bytes) -> Result<Banner> {
    let mut cursor = Cursor::new(bytes, 0, Endian::Big);
    let languages: &[Option<&str>] = match cursor.take(4, "magic")? {
        b"BNR1" => &[None],
        b"BNR2" => &LANGUAGES.map(Some),
        _ => return Err(Error::damaged(0, "magic", "is not that of a banner")),
    };
    cursor.take(HEADER - 4, "header")?;
    let pixels = take(&mut cursor, bytes, PIXELS, "picture")?;
    // Banners with several languages are European.
    let charset = match languages.len() {
        1 => Charset::ShiftJis,
        _ => Charset::Windows1252,
    };
    let mut text = |length: usize, field| -> Result<String> {
        let bytes = cursor.take(length, field)?;
        let end = bytes.iter().position(|&byte| byte == 0);
        Ok(charset.decode(&bytes[..end.unwrap_or(length)]).into_owned())
    };
    let mut texts = Vec::with_capacity(languages.len());
    for &language in languages {
        texts.push(Texts {
            language,
            short_title: text(0x20, "short title")?,
            short_maker: text(0x20, "short maker")?,
            title: text(0x40, "title")?,
            maker: text(0x40, "maker")?,
            description: text(0x80, "description")?,
        });
    }
    Ok(Banner { texts, pixels })
}

impl Banner {
    /// Returns the picture.
    pub fn picture(&self) -> Picture {
        Picture {
            width: WIDTH,
            height: HEIGHT,
            pixels: Pixels::Rgba(pixels::gamecube_pixels(
                (WIDTH, HEIGHT),
                GxFormat::Rgb5a3,
                &self.pixels,
            )),
        }
    }

    /// Encodes pixels as the bytes of a picture. Unchanged pixels keep their bytes.
    pub(super) fn encode(&self, pixels: &[[u8; 4]]) -> Vec<u8> {
        let level = Level {
            width: WIDTH,
            height: HEIGHT,
            data: self.pixels.clone(),
            pitch: 0,
        };
        encode(&level, GxFormat::Rgb5a3, pixels, &[])
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in super::super) fn banner(magic: &[u8], languages: usize) -> Vec<u8> {
        let mut bytes = magic.to_vec();
        bytes.resize(HEADER, 0);
        // The second tile is red, the rest transparent.
        bytes.resize(HEADER + 32, 0);
        bytes.extend([0xFC, 0].repeat(16));
        bytes.resize(HEADER + PIXELS, 0);
        for language in 0..languages {
            let start = bytes.len();
            let texts = [
                (0, "Short"),
                (0x20, "Maker"),
                (0x40, "Long"),
                (0xC0, "About\nit"),
            ];
            bytes.resize(start + 0x140, 0);
            for (at, text) in texts {
                let text = format!("{text}{language}");
                bytes[start + at..][..text.len()].copy_from_slice(text.as_bytes());
            }
        }
        bytes
    }

    #[test]
    fn a_banner_has_texts_in_one_or_six_languages_and_a_picture() {
        let one = parse(&banner(b"BNR1", 1).into()).unwrap();
        assert_eq!(one.texts.len(), 1);
        assert_eq!(
            (one.texts[0].language, &*one.texts[0].title),
            (None, "Long0")
        );
        assert_eq!(one.texts[0].description, "About\nit0");
        let picture = one.picture().rgba();
        assert_eq!(picture[0][3], 0);
        assert_eq!((picture[4], picture[8][3]), ([255, 0, 0, 255], 0));
        let six = parse(&banner(b"BNR2", 6).into()).unwrap();
        assert_eq!((six.texts.len(), six.texts[5].language), (6, Some("Dutch")));
        assert_eq!(six.texts[5].short_maker, "Maker5");
    }

    #[test]
    fn a_banner_that_is_cut_or_of_another_kind_is_damaged() {
        let whole = banner(b"BNR1", 1);
        for length in [3, 0x100, whole.len() - 1] {
            assert!(parse(&whole[..length].to_vec().into()).is_err(), "{length}");
        }
        assert!(parse(&banner(b"BNR2", 5).into()).is_err());
        assert!(parse(&banner(b"BNRX", 1).into()).is_err());
    }
}
