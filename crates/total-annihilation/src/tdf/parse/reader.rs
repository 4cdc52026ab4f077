//! Parser of text into entries (FORMATS, TA 9).

use bytes::Bytes;

use super::comments::{Blanked, blank};
use super::{Content, Entry, Span, Tdf};
use crate::tdf::menu::is_menu;
use hpimount_containers::io::{Error, Result};
use hpimount_containers::text::windows_1252;

/// Maximum number of bytes of a file.
const MAX_SIZE: usize = 16 << 20;

/// Maximum nesting depth of sections.
const MAX_DEPTH: usize = 64;

/// Maximum number of sections and keys.
const MAX_ENTRIES: usize = 1 << 20;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Reads a text into `tdf`.
pub(super) fn read(bytes: &Bytes, tdf: &mut Tdf) -> Result<()> {
    if bytes.len() > MAX_SIZE {
        let problem = format!("has {} bytes, more than {MAX_SIZE}", bytes.len());
        return Err(Error::damaged(0, "text", problem));
    }
    if bytes.starts_with(b"\xFF\xFE") || bytes.starts_with(b"\xFE\xFF") {
        return Err(Error::damaged(0, "text", "is UTF-16"));
    }
    let mut start = 0;
    if bytes.starts_with(BYTE_ORDER_MARK) {
        tdf.warnings.push("the text begins with a byte order mark");
        start = BYTE_ORDER_MARK.len();
    }
    if is_menu(&bytes[start..]) {
        let text =
            "text at 0x0: begins with numbers, as the menus of TA: Kingdoms do, which are not TDF";
        return Err(Error::Unsupported(text.to_owned()));
    }
    tdf.non_ascii = bytes[start..]
        .iter()
        .filter(|byte| !byte.is_ascii())
        .count();
    let Blanked {
        text,
        has_blocks,
        endless,
    } = blank(bytes);
    tdf.has_block_comments = has_blocks;
    if let Some(at) = endless {
        let warning = format!("the comment at {at:#x} has no end");
        tdf.warnings.push(warning);
    }
    tdf.text = match text {
        std::borrow::Cow::Borrowed(_) => bytes.clone(),
        std::borrow::Cow::Owned(text) => text.into(),
    };
    let text = tdf.text.clone();
    let mut reader = Reader {
        text: &text,
        at: start,
        tdf,
        open: Vec::new(),
        announced: None,
    };
    let result = reader.entries();
    reader.end();
    check_duplicates(tdf);
    result
}

/// Parses a text without comments.
struct Reader<'a> {
    text: &'a [u8],
    at: usize,
    tdf: &'a mut Tdf,
    /// Indices of the sections that are open.
    open: Vec<usize>,
    /// Name and offset of a section whose `{` is expected next.
    announced: Option<(Span, usize)>,
}

impl Reader<'_> {
    fn entries(&mut self) -> Result<()> {
        while let Some(&byte) = self.text.get(self.at) {
            match byte {
                _ if is_blank(byte) => self.at += 1,
                b'[' => self.name()?,
                b'{' => self.begin()?,
                b'}' => self.close(),
                b';' => {
                    self.warn("a semicolon after nothing");
                    self.at += 1;
                }
                _ => self.key()?,
            }
        }
        Ok(())
    }

    /// Reads `[name]`.
    fn name(&mut self) -> Result<()> {
        let start = self.at + 1;
        let Some(length) = position(&self.text[start..], b"]") else {
            self.warn("a name without a closing bracket");
            self.at = self.text.len();
            return Ok(());
        };
        let name = self.trimmed(start, start + length);
        if has_line_end(&self.text[start..start + length]) {
            self.warn("a name with a line end");
        }
        self.bodiless()?;
        self.announced = Some((name, self.at));
        self.at = start + length + 1;
        Ok(())
    }

    /// Adds the announced section, which lacks its `{`, as an empty one.
    fn bodiless(&mut self) -> Result<()> {
        if let Some((name, at)) = self.announced.take() {
            self.warn_at(at, "a section without a brace");
            self.push(name, Content::Section { end: 0 })?;
            let end = self.tdf.entries.len() as u32;
            if let Some(entry) = self.tdf.entries.last_mut() {
                entry.content = Content::Section { end };
            }
        }
        Ok(())
    }

    /// Reads `{`.
    fn begin(&mut self) -> Result<()> {
        let name = match self.announced.take() {
            Some((name, _)) => name,
            None => {
                self.warn("a brace without a name");
                Span::default()
            }
        };
        self.open(name)?;
        self.at += 1;
        Ok(())
    }

    fn open(&mut self, name: Span) -> Result<()> {
        if self.open.len() == MAX_DEPTH {
            let problem = format!("is in more than {MAX_DEPTH} others");
            return Err(Error::damaged(self.at as u64, "section", problem));
        }
        self.open.push(self.tdf.entries.len());
        self.tdf.depth = self.tdf.depth.max(self.open.len());
        self.push(name, Content::Section { end: 0 })
    }

    /// Reads `}`.
    fn close(&mut self) {
        // An announced name before it has no body.
        if let Err(error) = self.bodiless() {
            self.tdf.warnings.push(error.to_string());
        }
        if self.open.is_empty() {
            self.warn("an extra closing brace");
        }
        self.end_section();
        self.at += 1;
    }

    fn end_section(&mut self) {
        let end = self.tdf.entries.len() as u32;
        let section = self.open.pop();
        if let Some(entry) = section.and_then(|section| self.tdf.entries.get_mut(section)) {
            entry.content = Content::Section { end };
        }
    }

    /// Reads `name=value;`.
    fn key(&mut self) -> Result<()> {
        let (start, rest) = (self.at, &self.text[self.at..]);
        let name_end = start + position(rest, b"=;{}[").unwrap_or(rest.len());
        if self.text.get(name_end) != Some(&b'=') {
            self.warn("text that is not a key");
            let has_semicolon = self.text.get(name_end) == Some(&b';');
            self.at = name_end + usize::from(has_semicolon);
            return Ok(());
        }
        let name = self.trimmed(start, name_end);
        if has_line_end(self.tdf.bytes(name)) {
            self.warn("a key with a line end");
        }
        let value_start = name_end + 1;
        let value_end = match position(&self.text[value_start..], b";") {
            Some(length) => value_start + length,
            None => {
                self.warn("a value without a semicolon at the end of the file");
                self.text.len()
            }
        };
        let value = self.trimmed(value_start, value_end);
        let text = self.tdf.bytes(value);
        if has_line_end(text) {
            match position(text, b"=}[") {
                Some(_) => self.warn("a value without its semicolon: it continues"),
                None => self.warn("a value of several lines"),
            }
        }
        if let Some((name, at)) = self.announced.take() {
            self.warn_at(at, "a section without a brace");
            self.open(name)?;
        }
        if self.open.is_empty() {
            self.warn("a key outside of all sections");
        }
        self.push(name, Content::Key { value })?;
        self.at = value_end + 1;
        Ok(())
    }

    /// Closes the sections that are still open.
    fn end(&mut self) {
        if let Err(error) = self.bodiless() {
            self.tdf.warnings.push(error.to_string());
        }
        if !self.open.is_empty() {
            let warning = format!("{} sections have no end", self.open.len());
            self.tdf.warnings.push(warning);
        }
        while !self.open.is_empty() {
            self.end_section();
        }
    }

    fn push(&mut self, name: Span, content: Content) -> Result<()> {
        if self.tdf.entries.len() == MAX_ENTRIES {
            let problem = format!("is one of more than {MAX_ENTRIES}");
            return Err(Error::damaged(self.at as u64, "entry", problem));
        }
        self.tdf.entries.push(Entry { name, content });
        Ok(())
    }

    /// Returns the part of the text without surrounding white space.
    fn trimmed(&self, start: usize, end: usize) -> Span {
        let is_text = |byte: &u8| !matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | 0x0B | 0x0C);
        let part = &self.text[start..end];
        let first = part.iter().position(is_text).unwrap_or(part.len());
        let last = part
            .iter()
            .rposition(is_text)
            .map_or(first, |last| last + 1);
        // A text has at most `MAX_SIZE` bytes.
        Span {
            start: (start + first) as u32,
            length: (last - first) as u32,
        }
    }

    /// Adds a warning about the next byte.
    fn warn(&mut self, problem: &str) {
        self.warn_at(self.at, problem);
    }

    fn warn_at(&mut self, at: usize, problem: &str) {
        let warning = format!("at {at:#x}: {problem}");
        self.tdf.warnings.push(warning);
    }
}

/// Returns whether a byte is white space, a NUL, or the end mark of old text
/// files.
fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r' | 0 | 0x1A)
}

/// Returns the position of the first of these bytes.
fn position<const N: usize>(text: &[u8], any_of: &[u8; N]) -> Option<usize> {
    text.iter()
        .position(|byte| any_of.iter().any(|one| one == byte))
}

fn has_line_end(text: &[u8]) -> bool {
    position(text, b"\r\n").is_some()
}

/// Returns the FNV-1a hash of a name. Collisions only cause more comparisons.
fn hash(name: impl Iterator<Item = u8>) -> u64 {
    name.fold(0xCBF2_9CE4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
    })
}

/// Warns about duplicate keys in a section.
fn check_duplicates(tdf: &mut Tdf) {
    let entries = &tdf.entries;
    let lower = |key: usize| {
        let name = tdf.bytes(entries[key].name);
        name.iter().map(u8::to_ascii_lowercase)
    };
    let mut repeated = Vec::new();
    let sections = entries.iter().enumerate().map(|(index, entry)| {
        let end = match entry.content {
            Content::Section { end } => end as usize,
            Content::Key { .. } => 0,
        };
        index + 1..end
    });
    for section in std::iter::once(0..entries.len()).chain(sections) {
        let mut keys = Vec::new();
        let mut at = section.start;
        while at < section.end {
            match entries[at].content {
                Content::Section { end } => at = (end as usize).max(at + 1),
                Content::Key { .. } => {
                    keys.push((hash(lower(at)), at));
                    at += 1;
                }
            }
        }
        // Most names have different hashes, which are compared first.
        keys.sort_unstable_by(|(hash, one), (other_hash, other)| {
            let names = || lower(*one).cmp(lower(*other));
            hash.cmp(other_hash).then_with(names).then(one.cmp(other))
        });
        let pairs = keys.windows(2).filter(|pair| {
            let [(hash, one), (other_hash, other)] = [pair[0], pair[1]];
            hash == other_hash && lower(one).eq(lower(other))
        });
        repeated.extend(pairs.map(|pair| pair[1].1));
    }
    repeated.sort_unstable();
    for key in repeated {
        let name = tdf.entries[key].name;
        let (text, at) = (windows_1252(tdf.bytes(name)), name.start);
        let warning = format!("the key \"{text}\" at {at:#x} occurs twice, the last one wins");
        tdf.warnings.push(warning);
    }
}
