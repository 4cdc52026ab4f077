//! Names of files as Windows can have them.

use std::borrow::Cow;
use std::fmt::Write;

use super::file_name::{numbered, shorten};

/// Maximum length of a name in units of UTF-16.
const MAX_LENGTH: usize = 255;

/// Names of devices, which with any extension are not those of files.
const DEVICES: [&str; 6] = ["con", "prn", "aux", "nul", "conin$", "conout$"];

/// Names of devices when a digit follows, which may be a superscript one.
const NUMBERED_DEVICES: [&str; 2] = ["com", "lpt"];

/// Returns the name that a file called `name` elsewhere gets on Windows, which would take
/// parts of it for something else, leave them out or refuse it.
///
/// * `< > : " | ? * \`, `/` and control characters become `%XX`, and so does a dot or a space
///   at the end.
/// * The first letter of a name of a device, such as `con` or `lpt1.txt`, becomes `%XX`.
/// * A result of more than 255 units of UTF-16 is truncated as by
///   [`file_name`](super::file_name()).
pub fn windows_name(name: &str) -> Cow<'_, str> {
    let last = name.len().saturating_sub(1);
    let is_special = |(at, c): (usize, char)| match c {
        '<' | '>' | ':' | '"' | '|' | '?' | '*' | '\\' | '/' => true,
        '.' | ' ' => at == last,
        _ => c.is_ascii_control() || (at == 0 && is_device(name)),
    };
    if !name.char_indices().any(is_special) && name.encode_utf16().count() <= MAX_LENGTH {
        return Cow::Borrowed(name);
    }
    let mut escaped = String::with_capacity(name.len() + 8);
    for (at, c) in name.char_indices() {
        match is_special((at, c)) {
            true => write!(escaped, "%{:02X}", u32::from(c)).expect("a String takes all"),
            false => escaped.push(c),
        }
    }
    match escaped.encode_utf16().count() <= MAX_LENGTH {
        true => Cow::Owned(escaped),
        // A unit has at most three bytes, so this is short enough.
        false => Cow::Owned(shorten(escaped.into(), name.as_bytes()).into_owned()),
    }
}

/// Returns whether Windows takes a name for that of a device.
fn is_device(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default();
    let stem = stem.trim_end_matches(' ').to_ascii_lowercase();
    let is_numbered = |device: &str| {
        let number = stem.strip_prefix(device).unwrap_or_default();
        let mut digits = number.chars();
        let is_digit = |c: char| c.is_ascii_digit() || "\u{b9}\u{b2}\u{b3}".contains(c);
        digits.next().is_some_and(is_digit) && digits.next().is_none()
    };
    DEVICES.contains(&&*stem) || NUMBERED_DEVICES.into_iter().any(is_numbered)
}

/// Returns the name of a file in a directory in which `is_taken` says that files of the same
/// name, ignoring case, exist: ` (2)` is added before the extension.
pub fn untaken_name(name: Cow<'_, str>, is_taken: impl Fn(&str) -> bool) -> Cow<'_, str> {
    let mut number = 1;
    let mut free = name.clone();
    while is_taken(&free) {
        number += 1;
        free = Cow::Owned(numbered(&name, number));
    }
    free
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_windows_refuses_or_changes_are_escaped() {
        for (name, expected) in [
            ("plain.txt", "plain.txt"),
            ("100%", "100%"),
            ("a b.c d", "a b.c d"),
            (".hidden", ".hidden"),
            ("\u{e9}\u{4e00}.txt", "\u{e9}\u{4e00}.txt"),
            // A colon would begin the name of a stream that nobody sees.
            ("a:b.txt", "a%3Ab.txt"),
            ("C:", "C%3A"),
            ("a\\b/c", "a%5Cb%2Fc"),
            ("<>\"|?*", "%3C%3E%22%7C%3F%2A"),
            ("a\tb\u{1}\u{7f}", "a%09b%01%7F"),
            ("end.", "end%2E"),
            ("end ", "end%20"),
            ("end. .", "end. %2E"),
            ("..", ".%2E"),
            ("...", "..%2E"),
            (" ", "%20"),
            ("con", "%63on"),
            ("CON", "%43ON"),
            ("Con.txt", "%43on.txt"),
            ("nul.tar.gz", "%6Eul.tar.gz"),
            ("aux .txt", "%61ux .txt"),
            ("prn", "%70rn"),
            ("com0", "%63om0"),
            ("COM9.x", "%43OM9.x"),
            ("com\u{b9}", "%63om\u{b9}"),
            ("lpt\u{b3}.txt", "%6Cpt\u{b3}.txt"),
            ("conin$", "%63onin$"),
            ("CONOUT$", "%43ONOUT$"),
            // Names of no device.
            ("com", "com"),
            ("com10", "com10"),
            ("console", "console"),
            ("a.con", "a.con"),
            ("", ""),
        ] {
            assert_eq!(windows_name(name), expected, "{name:?}");
        }
    }

    #[test]
    fn names_are_at_most_255_units_of_utf_16() {
        let units = |name: &str| windows_name(name).encode_utf16().count();
        let fits = "\u{4e00}".repeat(255);
        assert_eq!(windows_name(&fits), fits);
        assert!(units(&"\u{4e00}".repeat(256)) <= 255);
        assert!(units(&format!("{}.txt", ":".repeat(200))) <= 255);
        let name = format!("{}.txt", "\u{1f600}".repeat(128));
        assert!(units(&name) <= 255 && windows_name(&name).ends_with(".txt"));
        let [one, other] = ["a", "b"].map(|end| format!("{}{end}", ":".repeat(200)));
        assert_ne!(windows_name(&one), windows_name(&other));
    }

    #[test]
    fn a_taken_name_gets_a_number() {
        let taken = ["a.txt", "a (2).txt"];
        let is_taken = |name: &str| taken.contains(&&*name.to_lowercase());
        assert_eq!(untaken_name("A.txt".into(), is_taken), "A (3).txt");
        assert_eq!(untaken_name("b.txt".into(), is_taken), "b.txt");
    }
}
