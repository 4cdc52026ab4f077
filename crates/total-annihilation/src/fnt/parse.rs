//! FNT: fonts (FORMATS, TA 10).

use bytes::Bytes;
use get_size2::GetSize;

use crate::pointer::{little, u16_at};
use hpimount_assets::parse::{Incomplete, finish};
use hpimount_containers::io::{Error, Result, Warnings};

/// Extensions of FNT files.
pub const EXTENSIONS: &[&str] = &["fnt"];

/// Number of characters.
pub const CHARACTERS: usize = 256;

/// Minimum offset of a glyph: after two numbers and the table.
const FIRST_GLYPH: u16 = 4 + 2 * CHARACTERS as u16;

/// The parsed contents of an FNT file.
#[derive(Debug, Clone, Default, GetSize)]
pub struct Fnt {
    /// Height of all glyphs in pixels, 1 to 255.
    pub height: u16,
    /// Flags of unknown meaning.
    pub flags: u16,
    /// Warnings.
    pub warnings: Warnings,
    /// A 16-bit pointer for each character.
    #[get_size(ignore)]
    table: Bytes,
    #[get_size(ignore)]
    file: Bytes,
}

/// The picture of a character.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Glyph {
    /// Width in pixels.
    pub width: u8,
    /// Pixels row by row: 255 if set, otherwise 0.
    pub pixels: Vec<u8>,
}

/// Parses an FNT file.
///
/// # Errors
/// Returns [`Incomplete`] if the height is invalid, or the table is truncated.
/// A glyph outside the file is a warning.
pub fn parse(bytes: &Bytes) -> std::result::Result<Fnt, Box<Incomplete<Fnt>>> {
    let mut fnt = Fnt {
        file: bytes.clone(),
        ..Fnt::default()
    };
    let result = fnt.read();
    finish(fnt, result)
}

impl Fnt {
    /// Returns the picture of a character, if the font has it.
    pub fn glyph(&self, character: u8) -> Option<Glyph> {
        let (width, bits) = self.stored(character)?;
        let pixels = (0..usize::from(width) * usize::from(self.height)).map(|pixel| {
            let bit = bits[pixel / 8] >> (7 - pixel % 8) & 1;
            if bit == 0 { 0 } else { 0xFF }
        });
        Some(Glyph {
            width,
            pixels: pixels.collect(),
        })
    }

    /// Returns the width of a character in pixels, if the font has it.
    pub fn width(&self, character: u8) -> Option<u8> {
        Some(self.stored(character)?.0)
    }

    fn read(&mut self) -> Result<()> {
        let file = self.file.clone();
        let mut cursor = little(&file);
        let height = cursor.u16("height")?;
        if !(1..=255).contains(&height) {
            let problem = format!("is {height}, should be 1 to 255");
            return Err(Error::damaged(0, "height", problem));
        }
        self.height = height;
        self.flags = cursor.u16("flags")?;
        self.table = file.slice_ref(cursor.take(2 * CHARACTERS, "glyph table")?);
        for character in 0..=u8::MAX {
            let pointer = self.pointer(character);
            if pointer != 0 && self.stored(character).is_none() {
                self.warnings.push(format!(
                    "the glyph of character {character} at {pointer:#x} is not in the file"
                ));
            }
        }
        Ok(())
    }

    /// Returns the offset of a character's glyph; 0 without a glyph.
    fn pointer(&self, character: u8) -> u16 {
        u16_at(&self.table, character.into()).unwrap_or_default()
    }

    /// Returns the width and bits of a glyph. Rows are not padded and may begin
    /// inside a byte.
    fn stored(&self, character: u8) -> Option<(u8, &[u8])> {
        let pointer = self.pointer(character);
        if pointer < FIRST_GLYPH {
            return None;
        }
        let (&width, rest) = self.file.get(usize::from(pointer)..)?.split_first()?;
        let bits = usize::from(width) * usize::from(self.height);
        Some((width, rest.get(..bits.div_ceil(8))?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a font of height 3 with a glyph of 3 x 3 pixels for `A`.
    fn font() -> Vec<u8> {
        let mut bytes = vec![3, 0, 7, 0];
        bytes.resize(4 + 512, 0);
        let table = 4 + 2 * usize::from(b'A');
        bytes[table..table + 2].copy_from_slice(&516_u16.to_le_bytes());
        bytes.extend([3, 0b0101_1101, 0x80]);
        bytes
    }

    #[test]
    fn rows_of_a_glyph_are_not_padded() {
        let font = parse(&font().into()).unwrap();
        assert!(font.warnings.is_empty());
        assert_eq!((font.height, font.flags), (3, 7));
        let glyph = font.glyph(b'A').unwrap();
        assert_eq!(glyph.width, 3);
        assert_eq!(glyph.pixels, [0, 255, 0, 255, 255, 255, 0, 255, 255]);
        assert_eq!((font.width(b'A'), font.width(b'B')), (Some(3), None));
    }

    #[test]
    fn glyphs_outside_of_the_file_are_warnings() {
        let mut bytes = font();
        bytes[4..6].copy_from_slice(&0xFFFF_u16.to_le_bytes());
        bytes[6..8].copy_from_slice(&515_u16.to_le_bytes());
        bytes.pop();
        let font = parse(&bytes.into()).unwrap();
        assert_eq!(
            font.warnings.texts(),
            [
                "the glyph of character 0 at 0xffff is not in the file",
                "the glyph of character 1 at 0x203 is not in the file",
                "the glyph of character 65 at 0x204 is not in the file",
            ]
        );
        assert_eq!(font.glyph(0), None);
    }

    #[test]
    fn a_font_without_a_valid_height_or_table_is_an_error() {
        let error = |bytes: &[u8]| {
            let bytes = Bytes::copy_from_slice(bytes);
            parse(&bytes).unwrap_err().error.to_string()
        };
        let mut bytes = font();
        bytes[1] = 1;
        assert_eq!(error(&bytes), "height at 0x0: is 259, should be 1 to 255");
        bytes[..2].fill(0);
        assert_eq!(error(&bytes), "height at 0x0: is 0, should be 1 to 255");
        assert_eq!(
            error(&font()[..515]),
            "glyph table at 0x4: needs 512 bytes, 511 are left"
        );
    }
}
