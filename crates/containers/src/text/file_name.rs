//! Conversion of names in archives to valid names in a file system (SEMANTICS,
//! Names).

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fmt::Write;

use super::{Charset, windows_1252};

/// Maximum length of the name of a directory entry in bytes.
const MAX_LENGTH: usize = 255;

/// Maximum length of an extension, with its dot, that is kept when a name is
/// truncated.
const MAX_EXTENSION: usize = 16;

/// The name of an entry: as text, and as the original bytes of the container.
#[derive(Debug, Clone)]
pub struct Name<'a> {
    /// The name as text, not yet escaped for a file system.
    pub text: Cow<'a, str>,
    /// The bytes of the name in the container.
    pub raw: &'a [u8],
    /// True if every `%` of the name must be escaped, because it contains escapes already.
    pub escaped: bool,
}

impl<'a> Name<'a> {
    /// Creates a name in Windows-1252.
    pub fn windows_1252(raw: &'a [u8]) -> Self {
        Self {
            text: windows_1252(raw),
            raw,
            escaped: false,
        }
    }

    /// Creates a name of the host: UTF-8, with `%XX` for other bytes.
    pub fn host(name: &'a OsStr) -> Self {
        let raw = name.as_encoded_bytes();
        let (text, escaped) = match name.to_str() {
            Some(text) => (Cow::Borrowed(text), false),
            None => (Cow::Owned(escape_invalid(raw)), true),
        };
        Self { text, raw, escaped }
    }

    /// Creates a name in one of the character sets of containers.
    pub fn in_charset(raw: &'a [u8], charset: Charset) -> Self {
        Self {
            text: charset.decode(raw),
            raw,
            escaped: false,
        }
    }

    /// Creates a name that is UTF-8.
    pub fn utf_8(text: &'a str) -> Self {
        Self {
            text: Cow::Borrowed(text),
            raw: text.as_bytes(),
            escaped: false,
        }
    }
}

impl<'a> From<&'a [u8]> for Name<'a> {
    fn from(raw: &'a [u8]) -> Self {
        Self::windows_1252(raw)
    }
}

/// Returns the bytes as UTF-8, with `%XX` for invalid ones, and `%25` for `%`.
fn escape_invalid(raw: &[u8]) -> String {
    let mut escaped = String::with_capacity(raw.len());
    for chunk in raw.utf8_chunks() {
        escaped += &chunk.valid().replace('%', "%25");
        for byte in chunk.invalid() {
            escaped += &format!("%{byte:02X}");
        }
    }
    escaped
}

/// Returns the name under which an entry is shown.
///
/// * `/` and control bytes become `%XX`, as do the names ``, `.` and `..` as
///   a whole (the empty one becomes `%00`); in such a name `%` becomes `%25`.
/// * A result longer than 255 bytes is truncated and marked with `~` and a hash
///   of the raw name; the extension is kept.
pub fn file_name(name: Name<'_>) -> Cow<'_, str> {
    let text = if name.escaped {
        name.text
    } else {
        escape(name.text)
    };
    shorten(text, name.raw)
}

/// Truncates a name that is too long, as [`file_name`].
pub(super) fn shorten<'a>(name: Cow<'a, str>, raw: &[u8]) -> Cow<'a, str> {
    if name.len() <= MAX_LENGTH {
        return name;
    }
    let mark = format!("~{:08x}", hash(raw));
    let (stem, extension) = split_extension(&name);
    let extension = if extension.len() <= MAX_EXTENSION {
        extension
    } else {
        ""
    };
    let room = MAX_LENGTH - mark.len() - extension.len();
    Cow::Owned(format!("{}{mark}{extension}", cut(stem, room)))
}

/// Returns the name for a duplicate: ` (number)` before the extension.
pub fn numbered(name: &str, number: usize) -> String {
    let mark = format!(" ({number})");
    let (stem, extension) = split_extension(name);
    let room = MAX_LENGTH.saturating_sub(mark.len() + extension.len());
    format!("{}{mark}{extension}", cut(stem, room))
}

fn escape(name: Cow<'_, str>) -> Cow<'_, str> {
    let reserved = matches!(&*name, "" | "." | "..");
    // Bytes of non-ASCII characters are never among these.
    let is_special = |byte: u8| byte == b'/' || byte.is_ascii_control();
    // Looking at all bytes is faster than stopping at the first special one, because
    // several are compared at once.
    let has_special = name.bytes().fold(false, |has, byte| has | is_special(byte));
    if !reserved && !has_special {
        return name;
    }
    if name.is_empty() {
        return Cow::Borrowed("%00");
    }
    let mut escaped = String::with_capacity(name.len() + 8);
    for c in name.chars() {
        let is_special = c == '/' || c.is_ascii_control();
        if c == '%' || is_special || (reserved && c == '.') {
            write!(escaped, "%{:02X}", u32::from(c)).expect("writing to a String cannot fail");
        } else {
            escaped.push(c);
        }
    }
    Cow::Owned(escaped)
}

/// Splits before the last dot; a leading dot does not begin an extension.
fn split_extension(name: &str) -> (&str, &str) {
    match name.rfind('.') {
        Some(dot) if dot > 0 => name.split_at(dot),
        _ => (name, ""),
    }
}

/// Returns at most `length` bytes from the start of `text`, in whole
/// characters.
fn cut(text: &str, length: usize) -> &str {
    &text[..text.floor_char_boundary(length)]
}

/// Returns the FNV-1a hash, which only has to distinguish names with equal
/// first 240 bytes.
fn hash(raw: &[u8]) -> u32 {
    raw.iter().fold(0x811C_9DC5, |hash, &byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn display_name(raw: &[u8]) -> Cow<'_, str> {
        file_name(Name::windows_1252(raw))
    }

    fn host_name(name: &OsStr) -> Cow<'_, str> {
        file_name(Name::host(name))
    }

    #[test]
    fn ordinary_names_are_unchanged() {
        for name in [
            "ARMPW.FBI",
            "100%.txt",
            "A Map.ota",
            "c\\d.txt",
            "..a",
            "a.",
        ] {
            assert_eq!(display_name(name.as_bytes()), name);
        }
    }

    #[test]
    fn windows_1252_becomes_utf_8_and_undefined_bytes_are_kept() {
        assert_eq!(display_name(b"caf\xe9.txt"), "café.txt");
        assert_eq!(display_name(b"\x93q\x94"), "“q”");
        assert_eq!(display_name(b"undef\x81\x8d.bin"), "undef\u{81}\u{8d}.bin");
    }

    #[test]
    fn names_that_no_file_can_have_are_escaped() {
        assert_eq!(display_name(b"a/b.txt"), "a%2Fb.txt");
        assert_eq!(display_name(b"100%/b"), "100%25%2Fb");
        assert_eq!(display_name(b"tab\t\n.x"), "tab%09%0A.x");
        assert_eq!(display_name(b"\x7f"), "%7F");
        assert_eq!(display_name(b""), "%00");
        assert_eq!(display_name(b"."), "%2E");
        assert_eq!(display_name(b".."), "%2E%2E");
    }

    #[test]
    fn long_names_are_truncated_keep_their_extension_and_stay_distinct() {
        let long = |end: &str| [&[b'n'; 300], end.as_bytes()].concat();
        let (first, second) = (long("1.txt"), long("2.txt"));
        let (first, second) = (display_name(&first), display_name(&second));
        assert_eq!(first.len(), 255);
        assert!(first.ends_with(".txt") && first.contains('~'));
        assert_ne!(first, second);
        assert_eq!(display_name(&[0xE9; 200]).len(), 255);
        assert_eq!(display_name(&[0x93; 300]).len(), 255);
    }

    #[test]
    fn names_on_disk_that_are_not_utf_8_are_escaped() {
        assert_eq!(host_name(OsStr::new("50%.txt")), "50%.txt");
        #[cfg(unix)]
        {
            let name: &OsStr = std::os::unix::ffi::OsStrExt::from_bytes(b"5%\xff.txt");
            assert_eq!(host_name(name), "5%25%FF.txt");
        }
    }

    #[test]
    fn numbers_come_before_the_extension() {
        assert_eq!(numbered("a.txt", 1), "a (1).txt");
        assert_eq!(numbered("dir", 2), "dir (2)");
        assert_eq!(numbered(".hidden", 1), ".hidden (1)");
        let long = format!("{}.txt", "n".repeat(251));
        assert_eq!(numbered(&long, 12).len(), 255);
        assert!(numbered(&format!(".{}", "é".repeat(127)), 1).len() <= 255);
    }
}
