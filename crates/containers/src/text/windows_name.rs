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
/// * So does the `%` of what would otherwise be taken for such a `%XX`; any other stays.
/// * A result of more than 255 units of UTF-16 is truncated as by
///   [`file_name`](super::file_name()).
///
/// [`plain_name`] is the way back, unless the name was truncated.
pub fn windows_name(name: &str) -> Cow<'_, str> {
    let is_escaped =
        |(at, c): (usize, char)| is_refused(name, at, c) || meaning(&name[at..], at == 0).is_some();
    if !name.char_indices().any(is_escaped) && is_short(name) {
        return Cow::Borrowed(name);
    }
    let mut escaped = String::with_capacity(name.len() + 8);
    for (at, c) in name.char_indices() {
        match is_escaped((at, c)) {
            true => write!(escaped, "%{:02X}", u32::from(c)).expect("a String takes all"),
            false => escaped.push(c),
        }
    }
    match is_short(&escaped) {
        true => Cow::Owned(escaped),
        // A unit has at most three bytes, so this is short enough.
        false => Cow::Owned(shorten(escaped.into(), name.as_bytes()).into_owned()),
    }
}

/// Returns the name that [`windows_name`] has made `name` of, or `name` itself if it has made
/// it of no other one. Different names stay different.
pub fn plain_name(name: &str) -> Cow<'_, str> {
    if !name.contains('%') {
        return Cow::Borrowed(name);
    }
    // Only the whole name tells whether it names a device.
    let first = escaped_char(name).filter(char::is_ascii_alphabetic);
    let mut rest = &name[if first.is_some() { ESCAPE } else { 0 }..];
    let mut plain = String::with_capacity(name.len());
    while let Some(at) = rest.find('%') {
        let (before, escape) = rest.split_at(at);
        plain += before;
        let meaning = meaning(escape, false);
        plain.push(meaning.unwrap_or('%'));
        rest = &escape[if meaning.is_some() { ESCAPE } else { 1 }..];
    }
    plain += rest;
    if let Some(first) = first {
        let device = format!("{first}{plain}");
        plain = match is_device(&device) {
            true => device,
            false => format!("{}{plain}", &name[..ESCAPE]),
        };
    }
    match windows_name(&plain) == name {
        true => Cow::Owned(plain),
        false => Cow::Borrowed(name),
    }
}

/// Returns whether a file on Windows can have a name as it is.
pub fn is_windows_name(name: &str) -> bool {
    is_short(name) && !name.char_indices().any(|(at, c)| is_refused(name, at, c))
}

fn is_short(name: &str) -> bool {
    name.encode_utf16().count() <= MAX_LENGTH
}

/// Returns whether Windows refuses a character at its place in a name, or changes it.
fn is_refused(name: &str, at: usize, c: char) -> bool {
    match c {
        '.' | ' ' => at + 1 == name.len(),
        _ => is_always_refused(c) || (at == 0 && is_device(name)),
    }
}

fn is_always_refused(c: char) -> bool {
    c.is_ascii_control() || r#"<>:"|?*\/"#.contains(c)
}

/// Length of an escaped character.
const ESCAPE: usize = "%XX".len();

/// Returns the character that `%XX` at the start of a text would be.
fn escaped_char(text: &str) -> Option<char> {
    let digits = text.strip_prefix('%')?.get(..2)?;
    let is_digit = |c: char| c.is_ascii_digit() || ('A'..='F').contains(&c);
    let number = u8::from_str_radix(digits, 16).ok()?;
    (digits.chars().all(is_digit) && number.is_ascii()).then_some(number.into())
}

/// Returns the character that `%XX` at the start of a text escapes, if the name that ends
/// with this text, or is the text if it `is_first`, needs the escape. No name has a slash or a
/// NUL.
fn meaning(text: &str, is_first: bool) -> Option<char> {
    let c = escaped_char(text)?;
    let rest = &text[ESCAPE..];
    let is_meant = match c {
        '/' | '\0' => false,
        '%' => true,
        '.' | ' ' => rest.is_empty(),
        _ => is_always_refused(c) || (is_first && is_device(&format!("{c}{rest}"))),
    };
    is_meant.then_some(c)
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
    use proptest::prelude::*;

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
            // Text that would be taken for an escape.
            ("a%3Ab", "a%253Ab"),
            ("a%25", "a%2525"),
            ("end%2E", "end%252E"),
            ("%63on", "%2563on"),
            // Text that would not.
            ("a%20b.c%2Ed", "a%20b.c%2Ed"),
            ("a%3a%3", "a%3a%3"),
            ("%63one%", "%63one%"),
            ("%41b:", "%41b%3A"),
            ("a%2F%00%41", "a%2F%00%41"),
            // Names of no device.
            ("com", "com"),
            ("com10", "com10"),
            ("console", "console"),
            ("a.con", "a.con"),
            ("", ""),
        ] {
            assert_eq!(windows_name(name), expected, "{name:?}");
            assert!(is_windows_name(expected), "{expected:?}");
            if !name.contains('/') {
                assert_eq!(plain_name(expected), name);
            }
        }
    }

    #[test]
    fn an_escaped_name_is_one_that_windows_can_have() {
        for name in [
            "a:b", "con.txt", "NUL", "end.", "end ", "q?", "a\\b", "\u{1}",
        ] {
            assert!(!is_windows_name(name), "{name:?}");
        }
        for name in ["a%3Ab", "%63on.txt", "100%", "a.b", ""] {
            assert!(is_windows_name(name), "{name:?}");
        }
    }

    #[test]
    fn names_that_were_never_escaped_stay() {
        for name in [
            "100%25.txt",
            "a%3Ab%25c",
            "%41.txt",
            "a%2Fb",
            "a%00",
            "%C3%A9",
            "%",
        ] {
            assert_eq!(plain_name(name), name);
        }
    }

    proptest! {
        #[test]
        fn every_name_comes_back_and_is_one_that_windows_can_have(
            name in "([a%.:\u{e9} ]|%[0-9A-F]{2}|con|nul|com1|[^/\0]){1,20}",
        ) {
            let escaped = windows_name(&name);
            prop_assert!(is_windows_name(&escaped), "{}", escaped);
            prop_assert_eq!(plain_name(&escaped), &*name);
        }

        #[test]
        fn different_files_get_different_names(
            name in "([a%.: ]|%[0-9A-F]{2}|con|nul){1,12}",
        ) {
            // As it was, or the only one that is escaped in this way.
            let plain = plain_name(&name);
            prop_assert!(plain == name || windows_name(&plain) == name);
            prop_assert!(!plain.contains(['/', '\0']) || name.contains(['/', '\0']));
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
