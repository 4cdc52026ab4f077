//! Text used by several layers: tab-separated tables, and the single-byte names
//! of archives and assets.

mod charset;
mod file_name;
mod table;
mod windows_name;

pub use charset::Charset;
pub use file_name::{Name, file_name, numbered};
pub use table::Table;
pub use table::push_escaped;
pub use windows_name::{is_windows_name, plain_name, untaken_name, windows_name};

use std::borrow::Cow;

use encoding_rs::WINDOWS_1252;

/// Returns the text of a single-byte name in Windows-1252. Every byte is a
/// character, so different names are different texts.
pub fn windows_1252(name: &[u8]) -> Cow<'_, str> {
    match str::from_utf8(name) {
        // Most names, which the general decoder takes longer for.
        Ok(text) if name.is_ascii() => Cow::Borrowed(text),
        _ => WINDOWS_1252.decode_without_bom_handling(name).0,
    }
}

/// Returns the single-byte form of a text from [`windows_1252`].
pub fn to_windows_1252(text: &str) -> Cow<'_, [u8]> {
    WINDOWS_1252.encode(text).0
}

/// Returns the byte of a character in Windows-1252; `None` if it has no such byte.
pub fn windows_1252_byte(character: char) -> Option<u8> {
    let mut buffer = [0; 4];
    match *to_windows_1252(character.encode_utf8(&mut buffer)) {
        [byte] => Some(byte),
        // Unknown characters are encoded as references of HTML.
        _ => None,
    }
}

/// Returns whether `name` ends in a dot and `extension`, ignoring ASCII case.
pub fn has_extension(name: &[u8], extension: &str) -> bool {
    name.len()
        .checked_sub(extension.len() + 1)
        .and_then(|dot| name[dot..].split_first())
        .is_some_and(|(&dot, rest)| dot == b'.' && rest.eq_ignore_ascii_case(extension.as_bytes()))
}

/// Returns the name of a file without its directories and its extension. A dot at the
/// beginning begins no extension.
pub fn stem(path: &str) -> &str {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    let dot = name.rfind('.').filter(|&dot| dot > 0);
    dot.map_or(name, |dot| &name[..dot])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stem_has_no_directories_and_no_extension() {
        let stems = ["a/b.c.d", "a\\B.TXT", ".odd", "a.b/none", ""].map(stem);
        assert_eq!(stems, ["b.c", "B", ".odd", "none", ""]);
    }

    #[test]
    fn every_byte_of_a_name_is_a_distinct_character() {
        let all: Vec<u8> = (0..=255).collect();
        let text = windows_1252(&all);
        let characters: std::collections::HashSet<char> = text.chars().collect();
        assert_eq!(characters.len(), 256);
        assert_eq!(to_windows_1252(&text), all);
        assert_eq!(windows_1252(b"caf\xe9 \x80"), "café €");
        assert_eq!(windows_1252(b"\xef\xbb\xbf"), "ï»¿");
    }
}
