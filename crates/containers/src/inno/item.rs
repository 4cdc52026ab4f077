//! The files that an installer writes. Most are entries; GOG splits a file into parts
//! that are entries, which calls of functions put together.

use std::collections::HashSet;

use super::file::{Architectures, FileEntry, Replacement};
use super::path::{expanded, relative};
use super::sum::Checksum;

/// A file that is written.
#[derive(Debug)]
pub(super) struct Item {
    /// Its components, separated by slashes.
    pub(super) path: String,
    pub(super) components: String,
    pub(super) languages: String,
    pub(super) architectures: Architectures,
    pub(super) replacement: Replacement,
    pub(super) bytes: Bytes,
}

/// The location of a file's bytes.
#[derive(Debug)]
pub(super) enum Bytes {
    /// In the data entry with this number.
    Entry(u32),
    /// In parts, each a zlib stream, one after the other.
    Parts {
        parts: Vec<Part>,
        /// Number of parts that the first one announces.
        announced: u64,
        sum: Option<Checksum>,
    },
}

/// A part of a file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Part {
    /// The number of its data entry.
    pub(super) location: u32,
    /// Number of inflated bytes.
    pub(super) size: u64,
}

impl Bytes {
    /// Returns the checksum of a file in parts.
    pub(super) fn sum(&self) -> Option<&Checksum> {
        match self {
            Self::Entry(_) => None,
            Self::Parts { sum, .. } => sum.as_ref(),
        }
    }
}

impl Item {
    /// Returns the number of the first data entry; `None` for a file without parts.
    pub(super) fn location(&self) -> Option<u32> {
        match &self.bytes {
            Bytes::Entry(location) => Some(*location),
            Bytes::Parts { parts, .. } => Some(parts.first()?.location),
        }
    }

    /// Returns its size in bytes; `of_entry` returns the size of a data entry.
    pub(super) fn size(&self, of_entry: impl Fn(u32) -> u64) -> u64 {
        match &self.bytes {
            Bytes::Entry(location) => of_entry(*location),
            Bytes::Parts { parts, .. } => parts
                .iter()
                .fold(0, |size, part| size.saturating_add(part.size)),
        }
    }
}

/// Returns the files that the entries describe, in their order.
pub(super) fn items(entries: &[FileEntry]) -> Vec<Item> {
    let all_languages = all_languages(entries);
    let mut items: Vec<Item> = Vec::new();
    // The number of the file whose parts follow.
    let mut open: Option<usize> = None;
    for entry in entries {
        let first = call(&entry.before_install, "before_install");
        if let Some(call) = &first {
            open = Some(items.len());
            items.push(split_file(entry, call, &all_languages));
        }
        let Some(location) = entry.location else {
            continue;
        };
        let part = call(&entry.after_install, "after_install");
        let size = part.and_then(|call| call.number(2));
        let part = size.map(|size| Part { location, size });
        if let (Some(part), Some(number)) = (part, open)
            && let Bytes::Parts {
                parts, announced, ..
            } = &mut items[number].bytes
        {
            parts.push(part);
            if parts.len() as u64 >= *announced {
                open = None;
            }
            continue;
        }
        let path = expanded(&entry.destination);
        if path.is_empty() || entry.is_uninstaller || first.is_some() {
            continue;
        }
        items.push(Item {
            path,
            components: entry.components.clone(),
            languages: entry.languages.clone(),
            architectures: entry.architectures,
            replacement: entry.replacement,
            bytes: Bytes::Entry(location),
        });
    }
    items
}

/// Returns the file that `call` of an entry begins.
fn split_file(entry: &FileEntry, call: &Call, all_languages: &HashSet<String>) -> Item {
    let below = if call.is_dependency { "" } else { "app" };
    let name = call.argument(1);
    let check = self::call(&entry.check, "check_if_install");
    let check = check.filter(|check| !check.is_dependency);
    let (languages, architectures) = match &check {
        Some(check) => (
            languages(check.argument(0), all_languages),
            architectures(check.argument(1)),
        ),
        None => (entry.languages.clone(), entry.architectures),
    };
    Item {
        path: relative(below, name),
        components: entry.components.clone(),
        languages,
        architectures,
        replacement: entry.replacement,
        bytes: Bytes::Parts {
            parts: Vec::new(),
            announced: call.number(2).unwrap_or(1).max(1),
            sum: Checksum::md5(call.argument(0)),
        },
    }
}

/// A call of a function with its arguments.
struct Call {
    /// True if the name of the function ends with `_dependency`.
    is_dependency: bool,
    arguments: Vec<String>,
}

impl Call {
    fn argument(&self, number: usize) -> &str {
        self.arguments.get(number).map_or("", String::as_str)
    }

    fn number(&self, number: usize) -> Option<u64> {
        self.argument(number).parse().ok()
    }
}

/// Parses a call of `function`, or of its form for dependencies.
fn call(code: &str, function: &str) -> Option<Call> {
    let (name, rest) = code.trim().split_once('(')?;
    let suffix = name.trim_end().strip_prefix(function)?;
    let is_dependency = match suffix {
        "" => false,
        "_dependency" => true,
        _ => return None,
    };
    let mut arguments = vec![String::new()];
    let (mut is_quoted, mut characters) = (false, rest.chars().peekable());
    while let Some(character) = characters.next() {
        let last = arguments.last_mut()?;
        match character {
            '\'' if is_quoted && characters.next_if_eq(&'\'').is_some() => last.push('\''),
            '\'' => is_quoted = !is_quoted,
            _ if is_quoted => last.push(character),
            ',' => arguments.push(String::new()),
            ')' => {
                return Some(Call {
                    is_dependency,
                    arguments,
                });
            }
            _ if character.is_whitespace() => {}
            _ => last.push(character),
        }
    }
    None
}

/// Returns the items of a list, which each end with a `#`.
fn listed(text: &str) -> impl Iterator<Item = &str> {
    text.split('#')
        .map(str::trim)
        .filter(|item| !item.is_empty())
}

/// Returns all languages that conditions of GOG name.
fn all_languages(entries: &[FileEntry]) -> HashSet<String> {
    let checks = entries.iter().filter_map(|entry| {
        let check = call(&entry.check, "check_if_install");
        check.filter(|check| !check.is_dependency)
    });
    let mut all = HashSet::new();
    for check in checks {
        let languages = listed(check.argument(0));
        all.extend(languages.map(|language| language.trim_start_matches('!').to_owned()));
    }
    all
}

/// Returns the condition for these languages: none if there is no choice.
fn languages(text: &str, all: &HashSet<String>) -> String {
    let own: HashSet<String> = listed(text).map(str::to_owned).collect();
    match all.len() > 1 && all.is_subset(&own) {
        true => String::new(),
        false => listed(text).collect::<Vec<_>>().join(" or "),
    }
}

/// Returns the architectures of a condition.
fn architectures(text: &str) -> Architectures {
    let is_for = |bits: &str, other: &str| {
        listed(text).any(|item| item == bits || item.strip_prefix('!') == Some(other))
    };
    Architectures {
        has_32_bits: is_for("32", "64"),
        has_64_bits: is_for("64", "32"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(location: u32, before: &str, after: &str) -> FileEntry {
        FileEntry {
            destination: format!("{{tmp}}\\{location}"),
            location: Some(location),
            before_install: before.to_owned(),
            after_install: after.to_owned(),
            ..FileEntry::default()
        }
    }

    #[test]
    fn parts_belong_to_the_last_file_that_was_begun() {
        let items = items(&[
            entry(0, "", ""),
            entry(
                1,
                "before_install('x', 'Data\\It''s.txt', 2)",
                "after_install('y', 5, 30)",
            ),
            entry(2, "", ""),
            entry(3, "", "after_install('y', 5, 12)"),
            entry(4, "", "after_install('y', 5, 12)"),
            entry(
                5,
                "before_install_dependency('x', '__redist\\a.exe', 1)",
                "after_install_dependency('y', 5, 7)",
            ),
        ]);
        let found: Vec<_> = items
            .iter()
            .map(|item| (&*item.path, item.size(|location| location.into())))
            .collect();
        let expected = [
            ("tmp/0", 0),
            ("app/Data/It's.txt", 42),
            ("tmp/2", 2),
            // No file expects it.
            ("tmp/4", 4),
            ("__redist/a.exe", 7),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn conditions_of_gog_name_languages_and_architectures() {
        let all = HashSet::from(["en-US".to_owned(), "de-DE".to_owned()]);
        assert_eq!(languages("en-US#", &all), "en-US");
        assert_eq!(languages("en-US#de-DE#", &all), "");
        assert_eq!(languages("", &all), "");
        let of = |text| {
            let found = architectures(text);
            (found.has_32_bits, found.has_64_bits)
        };
        assert_eq!(of("32#64#"), (true, true));
        assert_eq!(of("!64#"), (true, false));
        assert_eq!(of("64#"), (false, true));
    }
}
