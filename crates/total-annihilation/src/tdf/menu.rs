//! Menus of TA: Kingdoms (FORMATS, TA 9). Menus of Total Annihilation have the same
//! extension, but are texts with sections.

use std::borrow::Cow;

use bytes::Bytes;
use get_size2::GetSize;

use hpimount_assets::view::View;
use hpimount_assets::view::page::Page;
use hpimount_containers::io::Warnings;
use hpimount_containers::text::windows_1252;

/// A text with sections has a bracket in this many bytes at its start.
const BEGINNING: usize = 64;

/// Returns whether a file is a menu of TA: Kingdoms: a text that begins with a number
/// instead of a section.
pub fn is_menu(file: &[u8]) -> bool {
    let first = file.iter().find(|byte| !byte.is_ascii_whitespace());
    let beginning = &file[..file.len().min(BEGINNING)];
    first.is_some_and(u8::is_ascii_digit) && !beginning.contains(&b'[')
}

/// Returns the strings of a menu in order: names of its parts, of pictures, and texts.
/// Each is stored as its length in bytes, a space, and the string.
pub fn strings(file: &[u8]) -> impl Iterator<Item = Cow<'_, str>> {
    let mut rest = file;
    std::iter::from_fn(move || {
        loop {
            rest = rest.trim_ascii_start();
            let end = rest.iter().position(u8::is_ascii_whitespace);
            let (word, after) = rest.split_at(end.unwrap_or(rest.len()));
            if word.is_empty() {
                return None;
            }
            if let Some(string) = string(word, after) {
                rest = &after[1 + string.len()..];
                return Some(windows_1252(string));
            }
            rest = after;
        }
    })
}

/// Returns the string after its length `word`, or `None` if the word is something else:
/// a string begins with a letter or a path, and is followed by a space.
fn string<'a>(word: &[u8], after: &'a [u8]) -> Option<&'a [u8]> {
    let length: usize = std::str::from_utf8(word).ok()?.parse().ok()?;
    let after = after.strip_prefix(b" ")?;
    let (string, next) = after.split_at_checked(length)?;
    let begins = string.first()?.is_ascii_alphabetic() || string.starts_with(b"\\");
    let ends = next.first().is_none_or(u8::is_ascii_whitespace);
    (begins && ends).then_some(string)
}

/// A menu.
#[derive(GetSize)]
struct Menu {
    #[get_size(ignore)]
    file: Bytes,
}

/// Returns the view of a file that [is a menu](is_menu): its strings. Its numbers have
/// no known meaning.
pub(super) fn view(file: &Bytes) -> Box<dyn View> {
    let heading = "Menu of TA: Kingdoms";
    let mut page = Page::new("TA: Kingdoms menu", heading, Warnings::default());
    page.list("strings", |menu: &Menu| {
        Box::new(strings(&menu.file).map(|string| string.into_owned().into()))
    });
    page.show(Menu { file: file.clone() }, None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_menu_begins_with_a_number() {
        assert!(is_menu(b" 2 1 \r\n2 0 0 640 480"));
        for other in [&b"[A]{}"[..], b"1 [A]{}", b"", b"a 1"] {
            assert!(!is_menu(other), "{}", other.escape_ascii());
        }
    }

    #[test]
    fn strings_have_their_length_in_front() {
        let menu = b"2 1 \r\n2 0 0 640 480 1\r\n10 BattleMenu 1 2\r\n9 Two words 4 Quit";
        let found: Vec<_> = strings(menu).collect();
        assert_eq!(found, ["BattleMenu", "Two words", "Quit"]);
        for wrong in [
            &b"99 Short"[..],
            b"3 Four",
            b"0 ",
            b"18446744073709551616 a",
        ] {
            assert_eq!(strings(wrong).count(), 0, "{}", wrong.escape_ascii());
        }
    }
}
