//! A list in memory: its files by their sizes, and how images differ from them.

use std::collections::HashMap;
use std::fmt;

use serde::Serialize;

use crate::inspect::check::sums::Sums;
use crate::printable::printable;
use hpimount_containers::text::has_extension;

/// Maximum numbers of the titles and of the files of a list.
const MAX_TITLES: usize = 2_000_000;
const MAX_FILES: usize = 2_000_000;

/// A list.
#[derive(Debug, Default)]
pub struct Dat {
    /// Names of the titles.
    pub(super) titles: Vec<Box<str>>,
    pub(super) files: Vec<DatFile>,
    by_size: HashMap<u64, Vec<u32>>,
}

/// A file of a list.
#[derive(Debug)]
pub(super) struct DatFile {
    /// Number of its title.
    pub(super) title: u32,
    pub(super) name: Box<str>,
    pub(super) size: u64,
    pub(super) crc32: Option<u32>,
    md5: Option<[u8; 16]>,
    sha1: Option<[u8; 20]>,
}

/// An entry of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(in crate::inspect::check) struct Entry<'d> {
    /// The title, if the list has one for the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<&'d str>,
    file: &'d str,
}

impl fmt::Display for Entry<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&quoted(self.file))?;
        match self.title {
            Some(title) => write!(out, " of {}", quoted(title)),
            None => Ok(()),
        }
    }
}

/// Returns a name of a list for a line of text: a list may break lines in names.
fn quoted(name: &str) -> String {
    format!("\"{}\"", printable(name))
}

impl DatFile {
    /// Returns whether it describes other files of its title.
    fn is_sheet(&self) -> bool {
        has_extension(self.name.as_bytes(), "cue")
    }

    fn is(&self, sums: &Sums) -> bool {
        let fits = |given: bool, equal: bool| !given || equal;
        (self.crc32.is_some() || self.md5.is_some() || self.sha1.is_some())
            && fits(self.crc32.is_some(), self.crc32 == Some(sums.crc32))
            && fits(self.md5.is_some(), self.md5 == Some(sums.md5))
            && fits(self.sha1.is_some(), self.sha1 == Some(sums.sha1))
    }
}

/// A file as described in a list.
#[derive(Debug, Default)]
pub(super) struct Rom {
    pub(super) name: String,
    pub(super) size: Option<String>,
    pub(super) crc32: Option<String>,
    pub(super) md5: Option<String>,
    pub(super) sha1: Option<String>,
}

impl Dat {
    /// Adds a title.
    ///
    /// # Errors
    /// Returns a message if there are too many.
    pub(super) fn add_title(&mut self, name: String) -> Result<(), String> {
        if self.titles.len() == MAX_TITLES {
            return Err(format!("more than {MAX_TITLES} titles"));
        }
        self.titles.push(name.into());
        Ok(())
    }

    /// Adds a file of the title that was added last.
    ///
    /// # Errors
    /// Returns a message if there are too many, or if one of its fields is not a
    /// number.
    pub(super) fn add(&mut self, rom: Rom) -> Result<(), String> {
        // A file without a size cannot be compared.
        let Some(size) = rom.size else {
            return Ok(());
        };
        let size = size.trim().parse();
        let size = size.map_err(|_| "the size of a file is not a number".to_owned())?;
        if self.files.len() == MAX_FILES {
            return Err(format!("more than {MAX_FILES} files"));
        }
        let file = DatFile {
            title: self.titles.len().saturating_sub(1) as u32,
            name: rom.name.into(),
            size,
            crc32: digits("crc", rom.crc32.as_deref())?.map(u32::from_be_bytes),
            md5: digits("md5", rom.md5.as_deref())?,
            sha1: digits("sha1", rom.sha1.as_deref())?,
        };
        let number = self.files.len() as u32;
        self.by_size.entry(size).or_default().push(number);
        self.files.push(file);
        Ok(())
    }

    /// Returns the entry of the list for an image with these sums.
    pub(in crate::inspect::check) fn find(&self, size: u64, sums: &Sums) -> Option<Entry<'_>> {
        let file = self.listed(size, sums)?;
        Some(Entry {
            title: self.titles.get(file.title as usize).map(|title| &**title),
            file: &file.name,
        })
    }

    /// Returns the entry with this size and CRC-32, as text; without a CRC-32, the only
    /// one with this size.
    pub fn name_of(&self, size: u64, crc32: Option<u32>) -> Option<String> {
        let numbers = self.by_size.get(&size)?.iter();
        let files = numbers.filter_map(|&number| self.files.get(number as usize));
        let mut files = files.filter(|file| crc32.is_none() || file.crc32 == crc32);
        let file = files.next()?;
        let entry = Entry {
            title: self.titles.get(file.title as usize).map(|title| &**title),
            file: &file.name,
        };
        (crc32.is_some() || files.next().is_none()).then(|| entry.to_string())
    }

    fn listed(&self, size: u64, sums: &Sums) -> Option<&DatFile> {
        let mut numbers = self.by_size.get(&size)?.iter();
        numbers.find_map(|&number| {
            let file = self.files.get(number as usize)?;
            file.is(sums).then_some(file)
        })
    }

    /// Returns how an unlisted cue sheet differs from the listed one with the
    /// same name, if there is one.
    pub(in crate::inspect::check) fn other_sheet(
        &self,
        name: &str,
        size: u64,
        sums: &Sums,
    ) -> Option<String> {
        let mut files = self.files.iter();
        files
            .any(|file| file.name.eq_ignore_ascii_case(name))
            .then(|| self.difference(name, size, sums))
    }

    /// Returns the files that the title of these images has in addition, one
    /// sentence each; or that the images are of several titles.
    pub(in crate::inspect::check) fn incomplete(&self, images: &[(u64, &Sums)]) -> Vec<String> {
        let listed = images.iter();
        let listed = listed.filter_map(|(size, sums)| self.listed(*size, sums));
        let mut titles: Vec<u32> = listed.map(|file| file.title).collect();
        titles.sort_unstable();
        titles.dedup();
        let name = |title: u32| self.titles.get(title as usize).map_or("", |title| title);
        let &[title] = &titles[..] else {
            let names = titles.iter().map(|&title| quoted(name(title)));
            let names = names.collect::<Vec<_>>().join(", ");
            let is_mixed = titles.len() > 1;
            return Vec::from_iter(is_mixed.then(|| format!("is of several titles: {names}")));
        };
        let is_there = |file: &&DatFile| {
            let mut images = images.iter();
            images.any(|(size, sums)| file.size == *size && file.is(sums))
        };
        let files = self.files.iter().filter(|file| file.title == title);
        let missing = files.filter(|file| !is_there(file) && !file.is_sheet());
        missing
            .map(|file| format!("lacks {} of {}", quoted(&file.name), quoted(name(title))))
            .collect()
    }

    /// Returns how an unlisted image differs from the listed one with the same
    /// name, or else with the same name but for the extension, if there is one.
    pub(in crate::inspect::check) fn difference(
        &self,
        name: &str,
        size: u64,
        sums: &Sums,
    ) -> String {
        let stem = |name: &str| {
            let end = name.rfind('.').unwrap_or(name.len());
            name[..end].to_lowercase()
        };
        let wanted = stem(name);
        let find = |is_it: &dyn Fn(&str) -> bool| self.files.iter().find(|file| is_it(&file.name));
        let same = find(&|listed| listed.eq_ignore_ascii_case(name));
        let Some(file) = same.or_else(|| find(&|listed| stem(listed) == wanted)) else {
            return "is not in the list".to_owned();
        };
        let listed = quoted(&file.name);
        if file.size != size {
            return format!("has {size} bytes; {listed} of the list has {}", file.size);
        }
        let sum = match (file.sha1, file.md5, file.crc32) {
            (Some(sha1), ..) if sha1 != sums.sha1 => {
                format!("SHA-1 {}", hex::encode(sha1))
            }
            (_, Some(md5), _) if md5 != sums.md5 => {
                format!("MD5 {}", hex::encode(md5))
            }
            (_, _, Some(crc32)) => format!("CRC-32 {crc32:08x}"),
            _ => "no sums".to_owned(),
        };
        format!("is not as listed: {listed} of the list has {sum}")
    }
}

/// Parses a sum in hexadecimal digits; `None` if it is empty.
fn digits<const N: usize>(name: &str, text: Option<&str>) -> Result<Option<[u8; N]>, String> {
    let Some(text) = text.filter(|text| !text.is_empty()) else {
        return Ok(None);
    };
    let wrong = || {
        format!(
            "the {name} \"{text:.40}\" of a file does not have {} digits",
            2 * N
        )
    };
    if text.len() != 2 * N || !text.is_ascii() {
        return Err(wrong());
    }
    let mut bytes = [0; N];
    for (byte, at) in bytes.iter_mut().zip((0..).step_by(2)) {
        *byte = u8::from_str_radix(&text[at..at + 2], 16).map_err(|_| wrong())?;
    }
    Ok(Some(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_of_a_list_stays_on_its_line() {
        let entry = Entry {
            title: Some("a\x1b[31m"),
            file: "b\nfound: forged",
        };
        let shown = "\"b\\u{a}found: forged\" of \"a\\u{1b}[31m\"";
        assert_eq!(entry.to_string(), shown);
    }
}
