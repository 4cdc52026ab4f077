//! Names of new entries.

use std::collections::{HashMap, HashSet};

use encoding_rs::UTF_16BE;

use super::disc::{DirectoryId, Disc, Record};
use crate::iso::record::DIRECTORY;

/// Marks that names have besides letters, digits and the underscore.
const MARKS: &[u8] = b"_.-!#$%&()@^`{}~+=,'";

/// Longest name in the primary tree and in Joliet's, in bytes.
const LONGEST: usize = 30;
const LONGEST_JOLIET: usize = 206;

/// Characters that no name in Joliet has.
const RESERVED_JOLIET: &[char] = &['*', '/', ':', ';', '?', '\\'];

/// Attributes of CD-ROM XA of files and directories.
const XA_FILE: u16 = 0x0D55;
const XA_DIRECTORY: u16 = 0x8D55;

/// The naming scheme of a disc.
pub(super) struct Namer {
    /// True if files have versions: in the primary tree, and in Joliet's.
    has_versions: [bool; 2],
    has_joliet: bool,
    is_xa: bool,
    /// The date of the root, which new entries get.
    date: [u8; 7],
    /// The identifiers in the primary tree beside Joliet's, by their directories.
    taken: HashSet<(DirectoryId, Vec<u8>)>,
    /// The next number for a short name, by directory and name.
    next: HashMap<(DirectoryId, String), u64>,
}

impl Namer {
    /// Finds out how a disc names its entries.
    pub(super) fn of(disc: &Disc) -> Self {
        let records = |is_joliet: bool| {
            let trees = disc.trees.iter().enumerate();
            let of_kind = trees.filter(move |(_, tree)| tree.is_joliet == is_joliet);
            of_kind.flat_map(|(number, _)| disc.records_of(number))
        };
        let ids = |is_joliet: bool| {
            let files = records(is_joliet).filter(|record| record.directory.is_none());
            files.map(Record::id)
        };
        let has_joliet = disc.trees.iter().any(|tree| tree.is_joliet);
        let taken = records(false).filter(|_| has_joliet);
        let taken = taken.map(|record| (record.parent, record.id().to_vec()));
        Self {
            has_versions: [
                has_joliet || ids(false).any(|id| id.contains(&b';')),
                ids(true).any(|id| id.ends_with(&[0, b';', 0, b'1'])),
            ],
            has_joliet,
            is_xa: disc.is_xa,
            date: disc.date(),
            taken: taken.collect(),
            next: HashMap::new(),
        }
    }

    /// Returns the identifier of a new entry of a directory.
    ///
    /// # Errors
    /// Returns a message if the format has no place for the name.
    pub(super) fn id(
        &mut self,
        disc: &Disc,
        parent: DirectoryId,
        name: &str,
        is_directory: bool,
    ) -> Result<Vec<u8>, String> {
        if disc.is_joliet(parent) {
            return self.joliet(name, is_directory);
        }
        let upper = name.to_uppercase();
        let dots = upper.matches('.').count();
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || MARKS.contains(&byte);
        let fits = upper.bytes().all(is_plain)
            && dots <= usize::from(!is_directory)
            && upper.len() <= LONGEST;
        if fits {
            let id = self.with_version(upper.clone().into_bytes(), is_directory);
            // It may be the short name of another file.
            if !self.has_joliet || self.take(parent, &id) {
                return Ok(id);
            }
        } else if !self.has_joliet {
            let text = "no name for ISO 9660 (letters, digits, _ and one dot, at most 30)";
            return Err(text.to_owned());
        }
        // The full name is in the other tree.
        let (stem, extension) = upper.rsplit_once('.').unwrap_or((&upper, ""));
        let extension = match extension {
            extension if is_directory || extension.is_empty() => String::new(),
            extension => format!(".{}", short(extension, 3)),
        };
        let key = (parent, format!("{}{extension}", short(stem, 8)));
        let mut number = self.next.get(&key).copied().unwrap_or_default();
        loop {
            let digits = match number {
                0 => String::new(),
                number => number.to_string(),
            };
            number += 1;
            let stem = short(stem, 8 - digits.len().min(8));
            let id = format!("{stem}{digits}{extension}").into_bytes();
            let id = self.with_version(id, is_directory);
            if self.take(parent, &id) {
                self.next.insert(key, number);
                return Ok(id);
            }
        }
    }

    /// Takes an identifier, unless the directory has it already.
    fn take(&mut self, parent: DirectoryId, id: &[u8]) -> bool {
        self.taken.insert((parent, id.to_vec()))
    }

    fn with_version(&self, mut id: Vec<u8>, is_directory: bool) -> Vec<u8> {
        if !is_directory && self.has_versions[0] {
            if !id.contains(&b'.') {
                id.push(b'.');
            }
            id.extend(b";1");
        }
        id
    }

    fn joliet(&self, name: &str, is_directory: bool) -> Result<Vec<u8>, String> {
        let mut id: Vec<u8> = name.encode_utf16().flat_map(u16::to_be_bytes).collect();
        let is_same = UTF_16BE.decode_without_bom_handling(&id).0 == name;
        if id.len() > LONGEST_JOLIET || name.contains(RESERVED_JOLIET) || !is_same {
            return Err(
                "no name for Joliet (at most 103 characters, none of * / : ; ? \\)".to_owned(),
            );
        }
        if self.has_versions[1] && !is_directory {
            id.extend([0, b';', 0, b'1']);
        }
        Ok(id)
    }

    /// Returns the record of a new entry, without its place.
    pub(super) fn record(
        &self,
        disc: &Disc,
        parent: DirectoryId,
        id: &[u8],
        is_directory: bool,
    ) -> Vec<u8> {
        let flags = if is_directory { DIRECTORY } else { 0 };
        let mut record = vec![0; 18];
        record.extend(self.date);
        // The first disc of a set.
        record.extend([flags, 0, 0, 1, 0, 0, 1, id.len() as u8]);
        record.extend(id);
        record.resize(record.len().next_multiple_of(2), 0);
        if self.is_xa && !disc.is_joliet(parent) {
            let attributes = if is_directory { XA_DIRECTORY } else { XA_FILE };
            record.extend([0; 4]);
            record.extend(attributes.to_be_bytes());
            record.extend(b"XA");
            record.extend([0; 6]);
        }
        record[0] = record.len() as u8;
        record
    }
}

/// Returns the first characters of a name, with an underscore for those that are
/// not letters or digits.
fn short(name: &str, count: usize) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    name.chars().take(count).map(plain).collect()
}
