//! Edits values of a text in place. Comments, spaces, the case of names, the order, and
//! the other line ends are preserved (FORMATS, TA 9).

mod lines;
#[cfg(test)]
mod tests;

use std::ops::Range;

use bytes::Bytes;

use self::lines::{behind, with_lines};
use super::parse::{self, Item, Section, Tdf};
use hpimount_containers::text::windows_1252_byte;

/// Forbidden in values, because it would end the value or begin a comment.
const NOT_IN_VALUES: &[&str] = &[";", "}", "\n", "\r", "//", "/*"];

/// Forbidden in the names of keys.
const NOT_IN_NAMES: &[&str] = &["=", "{", "[", "]", ";", "}", "\n", "\r", "//", "/*"];

/// A new value of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyEdit<'a> {
    /// The edited key.
    pub target: Target<'a>,
    /// Value. A key that already has this text or number keeps its bytes. An empty
    /// value deletes the key, with its line if nothing else is on it.
    pub value: &'a str,
}

/// The key that an edit changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target<'a> {
    /// The key at this position ([`Key::position`](super::Key::position)).
    At(usize),
    /// The last key with this name, ignoring ASCII case, in the section whose contents
    /// are at a position ([`Section::position`]). Names of nested sections come first:
    /// `DAMAGE.default`. A missing key is added in a line after the last key of its
    /// section.
    Named(usize, &'a str),
}

/// The refusal of the edit with this number, without the place: `";" cannot be in a
/// value`.
pub type Problem = (usize, String);

/// Returns a text with these edits.
///
/// # Errors
/// Returns the problems of all edits that are refused.
pub fn edit(text: &[u8], edits: &[KeyEdit<'_>]) -> Result<Vec<u8>, Vec<Problem>> {
    let tdf = parse::parse(&Bytes::copy_from_slice(text))
        .map_err(|lost| vec![(0, lost.error.to_string())])?;
    let editor = Editor { text, tdf: &tdf };
    let (mut patches, mut problems) = (Vec::new(), Vec::new());
    for (edit, KeyEdit { target, value }) in edits.iter().enumerate() {
        match editor.patch(target, value) {
            Ok(patch) => patches.extend(patch.map(|patch| (edit, patch))),
            Err(text) => problems.push((edit, text)),
        }
    }
    patches.sort_by_key(|(_, patch)| patch.order());
    patches
        .dedup_by(|(_, one), (_, other)| one.order() == other.order() && one.value == other.value);
    for pair in patches.windows(2) {
        if pair[0].1.order() == pair[1].1.order() {
            problems.push((pair[1].0, "has two new values".to_owned()));
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    // New keys at one place keep the order of their edits.
    patches.sort_by_key(|(edit, patch)| (patch.entry, patch.is_new, *edit));
    let edited = editor.edited(patches.iter().map(|(_, patch)| patch));
    let shown = parse::parse(&Bytes::copy_from_slice(&edited));
    match (shown, patches.first()) {
        (Ok(shown), _) if contents(&shown) == editor.expected(&patches) => Ok(edited),
        (_, first) => {
            let edit = first.map_or(0, |(edit, _)| *edit);
            Err(vec![(edit, "was not stored as written".to_owned())])
        }
    }
}

/// New bytes of a text.
struct Patch {
    range: Range<usize>,
    new: Vec<u8>,
    /// The position of the key that it changes, or after which it adds one.
    entry: usize,
    is_new: bool,
    name: Vec<u8>,
    /// The new value; empty to delete the key.
    value: Vec<u8>,
}

impl Patch {
    /// Returns the identity of the changed key, in text order.
    fn order(&self) -> (usize, bool, Vec<u8>) {
        let name = match self.is_new {
            true => self.name.to_ascii_lowercase(),
            false => Vec::new(),
        };
        (self.entry, self.is_new, name)
    }
}

/// Locates edits in a text.
struct Editor<'a> {
    text: &'a [u8],
    tdf: &'a Tdf,
}

impl Editor<'_> {
    /// Returns the patch of an edit, or `None` if it changes nothing.
    fn patch(&self, target: &Target<'_>, value: &str) -> Result<Option<Patch>, String> {
        let value = stored(value, "a value", NOT_IN_VALUES)?;
        let (section, name) = match *target {
            Target::At(key) => return self.change(key, value),
            Target::Named(section, name) => (self.tdf.section_at(section), name),
        };
        if let Some(key) = last_key(section, name) {
            return self.change(key, value);
        }
        if value.is_empty() {
            return Ok(None);
        }
        let (section, name) = innermost(section, name);
        if let Some((missing, _)) = name.split_once('.') {
            return Err(format!("the section {missing} for it is missing"));
        }
        let name = stored(name, "the name of a key", NOT_IN_NAMES)?;
        self.add(section, name, value).map(Some)
    }

    /// Changes the value of a key, or deletes it.
    fn change(&self, key: usize, value: Vec<u8>) -> Result<Option<Patch>, String> {
        let (name, range) = self.tdf.key_at(key).ok_or("is no key of the text")?;
        let old = &self.tdf.text()[range.clone()];
        if is_same(old, &value) {
            return Ok(None);
        }
        if value.is_empty() {
            let end = self.behind_semicolon(range.end).unwrap_or(self.text.len());
            return Ok(Some(Patch {
                range: with_lines(self.text, name.start..end),
                new: Vec::new(),
                entry: key,
                is_new: false,
                name: Vec::new(),
                value,
            }));
        }
        if self.text[range.clone()] != *old {
            return Err("has a comment in its value".to_owned());
        }
        Ok(Some(Patch {
            range,
            new: value.clone(),
            entry: key,
            is_new: false,
            name: self.tdf.text()[name].to_vec(),
            value,
        }))
    }

    /// Adds a key at the end of a section.
    fn add(&self, section: Section<'_>, name: Vec<u8>, value: Vec<u8>) -> Result<Patch, String> {
        let new = [&*name, b"=", &value, b";"].concat();
        let last = section.keys().last().map(|key| key.position());
        let (entry, (range, new)) = match last.and_then(|key| Some((key, self.tdf.key_at(key)?))) {
            Some((key, (name, value))) => {
                let end = self.behind_semicolon(value.end);
                let end = end.ok_or("the key before it has no semicolon")?;
                (key, behind(self.text, name.start..end, b"", new))
            }
            None => {
                let brace = self
                    .brace_of(section)
                    .ok_or("the section for it is missing")?;
                let position = section.position() - 1;
                (position, behind(self.text, brace..brace + 1, b"\t", new))
            }
        };
        Ok(Patch {
            range,
            new,
            entry,
            is_new: true,
            name,
            value,
        })
    }

    /// Returns the offset after the semicolon of a value.
    fn behind_semicolon(&self, value_end: usize) -> Option<usize> {
        let rest = &self.tdf.text()[value_end..];
        let length = rest.iter().position(|&byte| byte == b';')?;
        Some(value_end + length + 1)
    }

    /// Returns the offset of a section's opening brace.
    fn brace_of(&self, section: Section<'_>) -> Option<usize> {
        let name_end = section.name_range().end;
        let rest = &self.tdf.text()[name_end..];
        let between = rest.iter().position(|&byte| byte == b'{')?;
        let has_name = rest[..between].trim_ascii() == b"]";
        has_name.then_some(name_end + between)
    }

    fn edited<'p>(&self, patches: impl Iterator<Item = &'p Patch>) -> Vec<u8> {
        let mut edited = Vec::with_capacity(self.text.len());
        let mut at = 0;
        for patch in patches {
            let kept = self.text.get(at..patch.range.start);
            edited.extend(kept.unwrap_or_default());
            edited.extend(&patch.new);
            at = patch.range.end;
        }
        edited.extend(&self.text[at..]);
        edited
    }

    /// Returns the expected contents of the edited text.
    fn expected(&self, patches: &[(usize, Patch)]) -> Vec<Content> {
        let mut expected = Vec::new();
        let mut patches = patches.iter().map(|(_, patch)| patch).peekable();
        for (entry, content) in contents(self.tdf).into_iter().enumerate() {
            let new = |patch: &Patch| (patch.name.clone(), Some(patch.value.clone()));
            match patches.next_if(|patch| patch.entry == entry && !patch.is_new) {
                Some(patch) if patch.value.is_empty() => {}
                Some(patch) => expected.push(new(patch)),
                None => expected.push(content),
            }
            while let Some(patch) = patches.next_if(|patch| patch.entry == entry) {
                expected.push(new(patch));
            }
        }
        expected
    }
}

/// The name of a section, or the name and the value of a key.
type Content = (Vec<u8>, Option<Vec<u8>>);

/// Returns the sections and keys of a text in their order.
fn contents(tdf: &Tdf) -> Vec<Content> {
    let bytes = |range: Range<usize>| tdf.text()[range].to_vec();
    let content = |entry| match tdf.key_at(entry) {
        Some((name, value)) => (bytes(name), Some(bytes(value))),
        None => (bytes(tdf.section_at(entry + 1).name_range()), None),
    };
    (0..tdf.len()).map(content).collect()
}

/// Returns the position of the last key with this name in a section, and in the
/// sections that it names.
fn last_key(section: Section<'_>, name: &str) -> Option<usize> {
    let found = section.items().filter_map(|item| match item {
        Item::Key(key) => key.is_named(name).then_some(key.position()),
        Item::Section(inner) => last_key(inner, within(inner, name)?),
    });
    found.last()
}

/// Returns the last section for a missing key, and the name of the key in it.
fn innermost<'a, 'n>(section: Section<'a>, name: &'n str) -> (Section<'a>, &'n str) {
    let inner = section
        .sections()
        .filter_map(|inner| Some((inner, within(inner, name)?)));
    match inner.last() {
        Some((inner, name)) => innermost(inner, name),
        None => (section, name),
    }
}

/// Removes the name of a section from the start of a name.
fn within<'n>(section: Section<'_>, name: &'n str) -> Option<&'n str> {
    let start = section.name();
    let (head, rest) = name.split_at_checked(start.len())?;
    rest.strip_prefix('.')
        .filter(|_| head.eq_ignore_ascii_case(&start))
}

/// Returns a text as it is stored.
fn stored(text: &str, what: &str, refused: &[&str]) -> Result<Vec<u8>, String> {
    if let Some(found) = refused.iter().find(|found| text.contains(**found)) {
        return Err(format!("{found:?} cannot be in {what}"));
    }
    let bytes = text.trim_ascii().chars().map(|letter| {
        let byte = windows_1252_byte(letter);
        byte.ok_or_else(|| format!("the letter \"{letter}\" is not in Windows-1252"))
    });
    bytes.collect()
}

/// Returns whether two values are the same text or number.
fn is_same(one: &[u8], other: &[u8]) -> bool {
    one == other || decimal(one).is_some_and(|number| Some(number) == decimal(other))
}

/// Returns the sign and the digits of a decimal number, without leading and trailing
/// zeros.
fn decimal(text: &[u8]) -> Option<(bool, &[u8], &[u8])> {
    let digits = text.strip_prefix(b"-");
    let is_negative = digits.is_some();
    let digits = digits.unwrap_or(text);
    let dot = digits.iter().position(|&byte| byte == b'.');
    let (whole, part) = digits.split_at(dot.unwrap_or(digits.len()));
    let part = part.strip_prefix(b".").unwrap_or_default();
    let is_number = [whole, part].concat().iter().all(u8::is_ascii_digit);
    let first = whole.iter().position(|&byte| byte != b'0');
    let last = part.iter().rposition(|&byte| byte != b'0');
    let (whole, part) = (
        &whole[first.unwrap_or(whole.len())..],
        &part[..last.map_or(0, |last| last + 1)],
    );
    let is_zero = whole.is_empty() && part.is_empty();
    (is_number && digits.iter().any(u8::is_ascii_digit)).then_some((
        is_negative && !is_zero,
        whole,
        part,
    ))
}
