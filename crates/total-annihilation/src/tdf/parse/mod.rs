//! TDF: the text of units, weapons, features, maps and menus
//! (FORMATS, TA 9).
//!
//! The tree is a flat list of entries, each with the number of its descendants, so
//! nesting needs no recursion. Names and values are slices of the text.

mod comments;
mod reader;

use std::borrow::Cow;
use std::ops::Range;

use bytes::Bytes;
use get_size2::GetSize;

use hpimount_assets::parse::{Incomplete, finish};
use hpimount_containers::io::Warnings;
use hpimount_containers::text::windows_1252;

/// Extensions of files in this format. GUI files of TA: Kingdoms have another
/// one.
pub const EXTENSIONS: &[&str] = &["tdf", "fbi", "ota", "gui", "tsf"];

/// Maximum number of bytes before a section whose line is counted.
const MAX_COUNTED: usize = 1 << 20;

/// The parsed contents of a TDF file.
#[derive(Debug, Clone, Default, GetSize)]
pub struct Tdf {
    /// True if there are comments of the form `/* */`.
    pub has_block_comments: bool,
    /// Number of non-ASCII bytes. They are treated as Windows-1252.
    pub non_ascii: usize,
    /// Maximum nesting depth of the sections.
    pub depth: usize,
    /// Warnings.
    pub warnings: Warnings,
    /// The text, with spaces in place of comments. A text with comments is a copy, and
    /// charged as one.
    #[get_size(size_fn = text_size)]
    text: Bytes,
    /// The sections and keys. Sections are followed by their contents.
    entries: Vec<Entry>,
}

/// Returns the memory of a text in bytes.
fn text_size(text: &Bytes) -> usize {
    text.len()
}

/// A part of the text.
#[derive(Debug, Clone, Copy, Default, GetSize)]
struct Span {
    start: u32,
    length: u32,
}

impl Span {
    fn range(self) -> Range<usize> {
        let start = self.start as usize;
        start..start + self.length as usize
    }
}

/// A section or a key.
#[derive(Debug, Clone, Copy, GetSize)]
struct Entry {
    name: Span,
    content: Content,
}

#[derive(Debug, Clone, Copy, GetSize)]
enum Content {
    /// Contains the entries up to this index.
    Section {
        end: u32,
    },
    Key {
        value: Span,
    },
}

/// Parses a TDF file.
///
/// # Errors
/// Returns [`Incomplete`] with the entries so far if the text is in another
/// format, or is larger or more deeply nested than any real one. Invalid syntax
/// is a warning.
pub fn parse(bytes: &Bytes) -> std::result::Result<Tdf, Box<Incomplete<Tdf>>> {
    let mut tdf = Tdf::default();
    let result = reader::read(bytes, &mut tdf);
    finish(tdf, result)
}

/// A section, or the whole file.
#[derive(Debug, Clone, Copy)]
pub struct Section<'a> {
    tdf: &'a Tdf,
    name: Span,
    start: usize,
    end: usize,
}

/// A key and its value.
#[derive(Debug, Clone, Copy)]
pub struct Key<'a> {
    tdf: &'a Tdf,
    position: usize,
    name: Span,
    value: Span,
}

/// The contents of a section.
#[derive(Debug, Clone, Copy)]
pub enum Item<'a> {
    /// A section in it.
    Section(Section<'a>),
    /// A key in it.
    Key(Key<'a>),
}

impl Tdf {
    /// Returns the file as a section without a name.
    pub fn root(&self) -> Section<'_> {
        Section {
            tdf: self,
            name: Span::default(),
            start: 0,
            end: self.entries.len(),
        }
    }

    /// Returns the section whose contents begin at this position
    /// ([`Section::position`]), or an empty section at a wrong position.
    pub fn section_at(&self, position: usize) -> Section<'_> {
        let entry = position.checked_sub(1).and_then(|at| self.entries.get(at));
        let (name, end) = match entry {
            Some(&Entry {
                name,
                content: Content::Section { end },
            }) => (name, end as usize),
            _ => (Span::default(), position),
        };
        Section {
            tdf: self,
            name,
            start: position,
            end,
        }
    }

    /// Returns the line with the name of the section at a position, counted from 1;
    /// `None` in a long text.
    pub fn line_of(&self, position: usize) -> Option<u32> {
        let entry = self.entries.get(position.checked_sub(1)?)?;
        let before = self.text.get(..entry.name.start as usize)?;
        let is_short = before.len() <= MAX_COUNTED;
        let ends = is_short.then(|| before.iter().filter(|&&byte| byte == b'\n'));
        Some(ends?.count() as u32 + 1)
    }

    /// Returns the number of sections and keys.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the text, with spaces in place of comments.
    pub(in crate::tdf) fn text(&self) -> &[u8] {
        &self.text
    }

    /// Returns the bytes of the name and of the value of the key at a position
    /// ([`Key::position`]), if there is a key.
    pub(in crate::tdf) fn key_at(&self, position: usize) -> Option<(Range<usize>, Range<usize>)> {
        let entry = self.entries.get(position)?;
        match entry.content {
            Content::Key { value } => Some((entry.name.range(), value.range())),
            Content::Section { .. } => None,
        }
    }

    fn bytes(&self, span: Span) -> &[u8] {
        self.text.get(span.range()).unwrap_or_default()
    }
}

impl<'a> Section<'a> {
    /// Returns the range of its name in the text; empty for the whole file.
    pub(in crate::tdf) fn name_range(&self) -> Range<usize> {
        self.name.range()
    }

    /// Returns its name. Games compare it ignoring case.
    pub fn name(&self) -> Cow<'a, str> {
        windows_1252(self.tdf.bytes(self.name))
    }

    /// Returns whether it has this name, ignoring ASCII case.
    pub fn is_named(&self, name: &str) -> bool {
        self.name().eq_ignore_ascii_case(name)
    }

    /// Returns the position of its contents in the file, for
    /// [`Tdf::section_at`].
    pub fn position(&self) -> usize {
        self.start
    }

    /// Returns its direct contents in file order.
    pub fn items(&self) -> Items<'a> {
        Items {
            tdf: self.tdf,
            at: self.start,
            end: self.end,
        }
    }

    /// Returns its keys in file order, including duplicates.
    pub fn keys(&self) -> impl Iterator<Item = Key<'a>> + use<'a> {
        self.items().filter_map(|item| match item {
            Item::Key(key) => Some(key),
            Item::Section(_) => None,
        })
    }

    /// Returns its sections in file order. Several may have the same name and form a
    /// list.
    pub fn sections(&self) -> impl Iterator<Item = Section<'a>> + use<'a> {
        self.items().filter_map(|item| match item {
            Item::Section(section) => Some(section),
            Item::Key(_) => None,
        })
    }

    /// Returns the value of a key, ignoring ASCII case. The last of several keys wins.
    pub fn get(&self, key: &str) -> Option<Cow<'a, str>> {
        let found = self.keys().filter(|found| found.is_named(key)).last();
        found.map(|key| key.value())
    }

    /// Returns the first section in it with this name, ignoring ASCII case.
    pub fn section(&self, name: &str) -> Option<Section<'a>> {
        self.sections().find(|section| section.is_named(name))
    }
}

impl<'a> Key<'a> {
    /// Returns its position in the file, for edits.
    pub fn position(&self) -> usize {
        self.position
    }

    /// Returns its name. Games compare it ignoring case.
    pub fn name(&self) -> Cow<'a, str> {
        windows_1252(self.tdf.bytes(self.name))
    }

    /// Returns whether it has this name, ignoring ASCII case.
    pub fn is_named(&self, name: &str) -> bool {
        self.name().eq_ignore_ascii_case(name)
    }

    /// Returns its value, trimmed. It may have several lines.
    pub fn value(&self) -> Cow<'a, str> {
        windows_1252(self.tdf.bytes(self.value))
    }
}

/// The contents of a section, in order.
#[derive(Debug, Clone)]
pub struct Items<'a> {
    tdf: &'a Tdf,
    at: usize,
    end: usize,
}

impl<'a> Iterator for Items<'a> {
    type Item = Item<'a>;

    fn next(&mut self) -> Option<Item<'a>> {
        if self.at >= self.end {
            return None;
        }
        let (tdf, start) = (self.tdf, self.at + 1);
        let entry = tdf.entries.get(self.at)?;
        let name = entry.name;
        Some(match entry.content {
            Content::Section { end } => {
                let end = (end as usize).clamp(start, self.end);
                self.at = end;
                Item::Section(Section {
                    tdf,
                    name,
                    start,
                    end,
                })
            }
            Content::Key { value } => {
                self.at = start;
                Item::Key(Key {
                    tdf,
                    position: start - 1,
                    name,
                    value,
                })
            }
        })
    }
}

#[cfg(test)]
mod tests;
