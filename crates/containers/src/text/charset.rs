//! The character sets of names in containers.

use std::borrow::Cow;

use encoding_rs::{Encoding, SHIFT_JIS};

use super::windows_1252;

/// The upper half of code page 437, of the IBM PC.
const CP437: [char; 128] = [
    'Ç', 'ü', 'é', 'â', 'ä', 'à', 'å', 'ç', 'ê', 'ë', 'è', 'ï', 'î', 'ì', 'Ä', 'Å', 'É', 'æ', 'Æ',
    'ô', 'ö', 'ò', 'û', 'ù', 'ÿ', 'Ö', 'Ü', '¢', '£', '¥', '₧', 'ƒ', 'á', 'í', 'ó', 'ú', 'ñ', 'Ñ',
    'ª', 'º', '¿', '⌐', '¬', '½', '¼', '¡', '«', '»', '░', '▒', '▓', '│', '┤', '╡', '╢', '╖', '╕',
    '╣', '║', '╗', '╝', '╜', '╛', '┐', '└', '┴', '┬', '├', '─', '┼', '╞', '╟', '╚', '╔', '╩', '╦',
    '╠', '═', '╬', '╧', '╨', '╤', '╥', '╙', '╘', '╒', '╓', '╫', '╪', '┘', '┌', '█', '▄', '▌', '▐',
    '▀', 'α', 'ß', 'Γ', 'π', 'Σ', 'σ', 'µ', 'τ', 'Φ', 'Θ', 'Ω', 'δ', '∞', 'φ', 'ε', '∩', '≡', '±',
    '≥', '≤', '⌠', '⌡', '÷', '≈', '°', '∙', '·', '√', 'ⁿ', '²', '■', '\u{a0}',
];

/// A character set. It maps different names to different texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Charset {
    /// Windows-1252, for western Europe.
    Windows1252,
    /// Code page 437 of the IBM PC. The first 128 characters are ASCII.
    Cp437,
    /// Shift-JIS as Windows defines it.
    ShiftJis,
    /// UTF-8.
    Utf8,
    /// Another one, which the user chose.
    Other(&'static Encoding),
}

impl Charset {
    /// Returns the text of a name. One that is not valid in a character set of
    /// several bytes is treated as Windows-1252.
    pub fn decode(self, name: &[u8]) -> Cow<'_, str> {
        match self {
            Self::Windows1252 => windows_1252(name),
            Self::Cp437 => cp437(name),
            Self::ShiftJis => Self::Other(SHIFT_JIS).decode(name),
            Self::Other(encoding) => encoding
                .decode_without_bom_handling_and_without_replacement(name)
                .unwrap_or_else(|| windows_1252(name)),
            Self::Utf8 => match str::from_utf8(name) {
                Ok(text) => Cow::Borrowed(text),
                Err(_) => windows_1252(name),
            },
        }
    }
}

fn cp437(name: &[u8]) -> Cow<'_, str> {
    match str::from_utf8(name) {
        Ok(text) if text.is_ascii() => Cow::Borrowed(text),
        _ => name.iter().map(|&byte| cp437_character(byte)).collect(),
    }
}

fn cp437_character(byte: u8) -> char {
    match byte.checked_sub(128) {
        Some(upper) => CP437[upper as usize],
        None => byte.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_of_a_cp437_name_is_a_distinct_character() {
        let all: Vec<u8> = (0..=255).collect();
        let text = Charset::Cp437.decode(&all);
        let characters: std::collections::HashSet<char> = text.chars().collect();
        assert_eq!(characters.len(), 256);
        assert_eq!(Charset::Cp437.decode(b"M\x81ll\xE1\xFE"), "Müllß■");
    }

    #[test]
    fn shift_jis_names_are_japanese_and_others_windows_1252() {
        assert_eq!(
            Charset::ShiftJis.decode(b"\x83e\x83X\x83g.txt"),
            "テスト.txt"
        );
        assert_eq!(Charset::ShiftJis.decode(b"caf\xe9"), "café");
    }

    #[test]
    fn invalid_utf_8_is_windows_1252() {
        assert_eq!(Charset::Utf8.decode("é".as_bytes()), "é");
        assert_eq!(Charset::Utf8.decode(b"\xe9"), "é");
    }
}
