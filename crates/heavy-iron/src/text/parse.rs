//! Texts: TEXT, which consists of a length, Windows-1252 text and a NUL (FORMATS, HIP
//! assets 3).

use bytes::Bytes;
use get_size2::GetSize;

use crate::{Facts, Parsed, read_into};
use hpimount_containers::io::{Cursor, Result, Warnings};
use hpimount_containers::text::windows_1252;

/// A text.
#[derive(Debug, Default, GetSize)]
pub struct Text {
    /// Length in bytes, as stored.
    pub declared: Option<u32>,
    /// The text, tags included.
    pub text: String,
    /// Warnings.
    pub warnings: Warnings,
}

/// A part of a text in braces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tag<'a> {
    /// The text between the braces.
    pub body: &'a str,
}

impl<'a> Tag<'a> {
    /// Returns whether it ends or resets the effect of another tag.
    pub fn is_closing(self) -> bool {
        self.body.starts_with(['~', '/'])
    }

    /// Returns its name.
    pub fn name(self) -> &'a str {
        let body = self.body.trim_start_matches(['~', '/']);
        body.split([':', '=', '*']).next().unwrap_or_default()
    }

    /// Returns the name of the referenced asset: a sound, another text, or a texture.
    pub fn reference(self) -> Option<(Reference, &'a str)> {
        let (name, value) = self.body.split_once(':')?;
        let kind = match name {
            "sound" => Reference::Sound,
            "insert" => Reference::Text,
            "tex" => Reference::Texture,
            _ => return None,
        };
        Some((kind, value.split(';').next().unwrap_or_default()))
    }
}

/// The kind of asset that a tag refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reference {
    /// `{sound:NAME...}`.
    Sound,
    /// `{insert:NAME}`.
    Text,
    /// `{tex:NAME}`.
    Texture,
}

impl Text {
    /// Returns the tags. An opening brace is text if it is not closed before the next
    /// one.
    pub fn tags(&self) -> impl Iterator<Item = Tag<'_>> {
        let parts = self.text.split('}');
        let ends = parts.clone().count() - 1;
        let closed = parts.take(ends);
        closed.filter_map(|part| {
            let (_, body) = part.rsplit_once('{')?;
            Some(Tag { body })
        })
    }
}

/// Parses a TEXT asset.
///
/// # Errors
/// Never fails; invalid data is a warning.
pub fn parse(bytes: &Bytes, facts: &Facts) -> Parsed<Text> {
    read_into(bytes, Text::default(), |text| read(bytes, facts, text))
}

fn read(bytes: &[u8], facts: &Facts, model: &mut Text) -> Result<()> {
    let mut cursor = Cursor::new(bytes, 0, facts.endian);
    let Ok(declared) = cursor.u32("text length") else {
        let length = bytes.len();
        let text = format!("text length at 0x0: needs 4 bytes, {length} are left");
        model.warnings.push(text);
        return Ok(());
    };
    model.declared = Some(declared);
    let left = cursor.remaining();
    let length = usize::try_from(declared).unwrap_or(usize::MAX).min(left);
    if length < declared as usize {
        let text = format!("text length at 0x0: is {declared}, {left} bytes are left");
        model.warnings.push(text);
    }
    let stored = cursor.take(length, "text")?;
    let tail = cursor.take(cursor.remaining(), "text")?;
    if tail.is_empty() {
        model
            .warnings
            .push(format!("text at 0x4: has no NUL after its {length} bytes"));
    } else if tail.iter().any(|&byte| byte != 0) || tail.len() > 4 {
        let count = tail.len();
        model
            .warnings
            .push(format!("text at 0x4: {count} bytes follow its {length}"));
    }
    let nul = stored.iter().position(|&byte| byte == 0);
    if let Some(at) = nul {
        model.warnings.push(format!(
            "text at 0x4: has a NUL after {at} of its {length} bytes"
        ));
    }
    model.text = windows_1252(&stored[..nul.unwrap_or(length)]).into_owned();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Game, Platform};

    fn read(bytes: &'static [u8]) -> Text {
        let facts = Facts::new(Platform::GameCube, Game::Bfbb);
        parse(&Bytes::from_static(bytes), &facts).unwrap()
    }

    #[test]
    fn the_length_excludes_the_nul() {
        let text = read(b"\0\0\0\x04caf\xE9\0\0\0\0");
        assert_eq!((&*text.text, text.warnings.len()), ("café", 0));
        assert_eq!(read(b"").warnings.len(), 0);
    }

    #[test]
    fn odd_lengths_are_warnings() {
        for (bytes, shown) in [
            (&b"\0\0\x01\0ab\0"[..], "ab"),
            (b"\0\0\0\x02ab", "ab"),
            (b"\0\0\0\x02abcd", "ab"),
            (b"\0\0\0\x03a\0b\0", "a"),
            (b"\0\0", ""),
            (b"\0\0\0\0\0\0\0\0\0", ""),
        ] {
            let text = read(bytes);
            assert_eq!(text.text, shown);
            assert!(!text.warnings.is_empty(), "{shown}");
        }
    }

    #[test]
    fn tags_are_in_braces() {
        let text = Text {
            text: "{c:red}Stop{~:c} {a {sound:hi;speaker} } {insert:x}{/pulse} {open".to_owned(),
            ..Text::default()
        };
        let names: Vec<_> = text
            .tags()
            .map(|tag| (tag.name(), tag.is_closing()))
            .collect();
        let expected = [
            ("c", false),
            ("", true),
            ("sound", false),
            ("insert", false),
            ("pulse", true),
        ];
        assert_eq!(names, expected);
        let references: Vec<_> = text.tags().filter_map(Tag::reference).collect();
        let expected = [(Reference::Sound, "hi"), (Reference::Text, "x")];
        assert_eq!(references, expected);
    }
}
