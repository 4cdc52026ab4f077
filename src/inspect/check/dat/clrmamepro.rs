//! The text format of clrmamepro: keys with a value or a group in parentheses.
//! A group `game`, `machine` or `resource` is a title, a group `rom` in it one
//! of its files:
//!
//! ```text
//! game (
//!     name "A Game"
//!     rom ( name "A Game.iso" size 2048 crc 01234567 flags verified )
//! )
//! ```
//!
//! Values with spaces are in quotes, where `\"` is a quote and `\\` a
//! backslash.

use std::io::BufRead;

use super::list::{Dat, Rom};
use hpimount_containers::text::windows_1252;

/// Maximum length of a word or quoted value in bytes.
const MAX_WORD: usize = 64 << 10;

/// Maximum nesting of groups.
const MAX_DEPTH: usize = 16;

/// Adds the contents of a list to `dat`.
///
/// # Errors
/// Returns a message with the position and the cause.
pub(super) fn read(list: impl BufRead, dat: &mut Dat) -> Result<(), String> {
    let mut words = Words { list, at: 0 };
    let mut groups = Vec::new();
    read_groups(&mut words, &mut groups, dat)
        .map_err(|problem| format!("at byte {}: {problem}", words.at))
}

/// An open group.
enum Group {
    Title,
    Rom(Rom),
    Other,
}

fn read_groups(
    words: &mut Words<impl BufRead>,
    groups: &mut Vec<Group>,
    dat: &mut Dat,
) -> Result<(), String> {
    while let Some(word) = words.next()? {
        let key = match word {
            Word::Text(key) => key,
            Word::Close => {
                close(groups, dat)?;
                continue;
            }
            Word::Open => return Err("a group without a name".to_owned()),
        };
        match words.next()? {
            Some(Word::Open) if groups.len() == MAX_DEPTH => {
                return Err(format!("more than {MAX_DEPTH} nested groups"));
            }
            Some(Word::Open) => groups.push(open(&key, groups.last(), dat)?),
            Some(Word::Text(value)) => match groups.last_mut() {
                Some(Group::Title) => set_title(dat, &key, value),
                Some(Group::Rom(rom)) => set(rom, &key, value),
                Some(Group::Other) => {}
                None => {
                    return Err(format!("is not a list: no \"(\" after \"{key:.40}\""));
                }
            },
            // A key without a value.
            Some(Word::Close) => close(groups, dat)?,
            None => break,
        }
    }
    match groups.is_empty() {
        true => Ok(()),
        false => Err("the list ends inside of a group".to_owned()),
    }
}

/// Returns the group that `key` begins inside `outer`.
fn open(key: &str, outer: Option<&Group>, dat: &mut Dat) -> Result<Group, String> {
    Ok(match (outer, key) {
        (None, "game" | "machine" | "resource") => {
            dat.add_title(String::new())?;
            Group::Title
        }
        (Some(Group::Title), "rom") => Group::Rom(Rom::default()),
        _ => Group::Other,
    })
}

fn close(groups: &mut Vec<Group>, dat: &mut Dat) -> Result<(), String> {
    match groups.pop() {
        Some(Group::Rom(rom)) => dat.add(rom),
        Some(_) => Ok(()),
        None => Err("a \")\" that ends no group".to_owned()),
    }
}

fn set_title(dat: &mut Dat, key: &str, value: String) {
    if key == "name"
        && let Some(title) = dat.titles.last_mut()
    {
        *title = value.into();
    }
}

fn set(rom: &mut Rom, key: &str, value: String) {
    match key {
        "name" => rom.name = value,
        "size" => rom.size = Some(value),
        "crc" | "crc32" => rom.crc32 = Some(value),
        "md5" => rom.md5 = Some(value),
        "sha1" => rom.sha1 = Some(value),
        _ => {}
    }
}

/// A token of a list.
enum Word {
    Open,
    Close,
    Text(String),
}

/// Reads the words of a list.
struct Words<R> {
    list: R,
    /// Bytes that were read.
    at: u64,
}

impl<R: BufRead> Words<R> {
    /// Returns the next word; `None` at the end.
    fn next(&mut self) -> Result<Option<Word>, String> {
        loop {
            return match self.peek()? {
                None => Ok(None),
                Some(byte) if byte.is_ascii_whitespace() => {
                    self.skip();
                    continue;
                }
                Some(b'(') => {
                    self.skip();
                    Ok(Some(Word::Open))
                }
                Some(b')') => {
                    self.skip();
                    Ok(Some(Word::Close))
                }
                Some(b'"') => {
                    self.skip();
                    self.quoted().map(Some)
                }
                Some(_) => self.plain().map(Some),
            };
        }
    }

    fn plain(&mut self) -> Result<Word, String> {
        let mut bytes = Vec::new();
        while let Some(byte) = self.peek()? {
            if byte.is_ascii_whitespace() || matches!(byte, b'(' | b')' | b'"') {
                break;
            }
            self.take(&mut bytes, byte)?;
        }
        Ok(Word::Text(text(bytes)))
    }

    /// Reads the rest of a quoted value, after its first quote.
    fn quoted(&mut self) -> Result<Word, String> {
        let mut bytes = Vec::new();
        loop {
            match self.peek()? {
                None | Some(b'\n') => return Err("a quoted value has no end".to_owned()),
                Some(b'"') => {
                    self.skip();
                    return Ok(Word::Text(text(bytes)));
                }
                Some(b'\\') => {
                    self.skip();
                    match self.peek()? {
                        Some(byte @ (b'"' | b'\\')) => self.take(&mut bytes, byte)?,
                        _ => bytes.push(b'\\'),
                    }
                }
                Some(byte) => self.take(&mut bytes, byte)?,
            }
        }
    }

    fn take(&mut self, bytes: &mut Vec<u8>, byte: u8) -> Result<(), String> {
        if bytes.len() >= MAX_WORD {
            return Err(format!("a value of more than {MAX_WORD} bytes"));
        }
        bytes.push(byte);
        self.skip();
        Ok(())
    }

    fn peek(&mut self) -> Result<Option<u8>, String> {
        let buffer = self.list.fill_buf().map_err(|error| error.to_string())?;
        Ok(buffer.first().copied())
    }

    fn skip(&mut self) {
        self.list.consume(1);
        self.at += 1;
    }
}

/// Returns the text as UTF-8, or else as Windows-1252.
fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| windows_1252(error.as_bytes()).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "clrmamepro (\n\tname \"A list\"\n\tversion 20190101\n)\n\n";

    fn list(text: &str) -> Result<Dat, String> {
        Dat::read(format!("{HEADER}{text}").as_bytes())
    }

    /// Returns the files of a list: titles, names and sizes.
    fn files(dat: &Dat) -> Vec<(&str, &str, u64)> {
        let title = |number: u32| &*dat.titles[number as usize];
        let files = dat.files.iter();
        files
            .map(|file| (title(file.title), &*file.name, file.size))
            .collect()
    }

    #[test]
    fn titles_have_the_files_in_their_groups() {
        let text = "game (\r\n\tname \"Tom (World)\"\r\n\tdescription \"x\"\r\n\
                    \trom ( name \"Tom (World).iso\" size 7 crc 0102AbCd flags verified )\r\n\
                    \trom ( name b.bin size 8 nodump )\r\n)\r\n\
                    machine ( name tim release ( name Tim region EUR ) rom ( size 9 name t ) )\n";
        let dat = list(text).unwrap();
        let tom = "Tom (World)";
        let expected = [
            (tom, "Tom (World).iso", 7),
            (tom, "b.bin", 8),
            ("tim", "t", 9),
        ];
        assert_eq!(files(&dat), expected);
        assert_eq!(dat.files[0].crc32, Some(0x0102_ABCD));
        assert_eq!(dat.files[1].crc32, None);
    }

    #[test]
    fn quotes_hold_spaces_parentheses_and_escapes() {
        let dat = list(r#"game ( rom ( name "a \"b\" (c\\d) \e" size 1 ) )"#).unwrap();
        assert_eq!(files(&dat), [("", r#"a "b" (c\d) \e"#, 1)]);
        let latin = [&b"game ( name \"caf\xE9\" rom ( name a size 1 ) )"[..]].concat();
        let dat = Dat::read(&*latin).unwrap();
        assert_eq!(files(&dat), [("caf\u{e9}", "a", 1)]);
    }

    #[test]
    fn other_text_is_rejected_with_its_position() {
        let deep = "a ( ".repeat(MAX_DEPTH + 1);
        let long = format!("game ( name {} )", "x".repeat(MAX_WORD + 1));
        for (text, problem) in [
            (
                "game ( rom ( name a size x ) )",
                "the size of a file is not a number",
            ),
            (
                "game ( rom ( name a size 1 sha1 12 ) )",
                "does not have 40 digits",
            ),
            ("game ( name \"a\n )", "a quoted value has no end"),
            ("game ( name a", "ends inside of a group"),
            ("game ( name a ) )", "ends no group"),
            ("( )", "without a name"),
            ("a b", "is not a list"),
            (&deep, "more than 16 nested groups"),
            (&long, "more than 65536 bytes"),
        ] {
            let error = list(text).unwrap_err();
            assert!(error.starts_with("at byte "), "{text:.40}: {error}");
            assert!(error.contains(problem), "{text:.40}: {error}");
        }
    }
}
