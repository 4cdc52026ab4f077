//! The walk over all directories of a tree.
//!
//! It has two visitors. Opening declares entries where they are shown, and continues after
//! damage. Applying changes keeps each record where it stands, because directories are
//! written from their records, and fails at damage, because records that were skipped would
//! be lost.

use std::borrow::Cow;
use std::collections::HashSet;

use encoding_rs::UTF_16BE;

use super::record::{DIRECTORY, Extent, MORE_EXTENTS, area_of, extent_of, id_of, records};
use super::rock_ridge::Attributes;
use super::susp::SystemUse;
use crate::disc::{SECTOR, Sectors, read_user};
use crate::io::{Error, ReadAt, Result};
use crate::text::Charset;
use crate::volume::{MAX_DEPTH, Name};

/// Number of bytes of directories read at once; records do not cross sectors.
pub(super) const PIECE: u64 = 32 * SECTOR;

/// Maximum number of bytes of directories in total: overlapping directories
/// could otherwise be read endlessly.
pub(super) const MAX_BYTES: u64 = 256 << 20;

/// The problem of a directory that is too deep, or was listed before.
pub(super) const NESTED: &str = "is nested too deep or in itself";

/// A directory to list.
pub(super) struct Directory<I> {
    /// Its number for the visitor.
    pub(super) id: I,
    /// Its path, for messages.
    pub(super) path: String,
    pub(super) place: Extent,
    pub(super) depth: usize,
}

impl<I> Directory<I> {
    /// Returns the error of damage in it.
    pub(super) fn damaged(&self, offset: u64, problem: impl Into<String>) -> Error {
        Error::damaged(offset, format!("directory /{}", self.path), problem)
    }

    /// Returns a directory in it.
    pub(super) fn inner<J>(&self, id: J, path: String, place: Extent) -> Directory<J> {
        Directory {
            id,
            path,
            place,
            depth: self.depth + 1,
        }
    }
}

/// An entry of a directory.
pub(super) struct Entry {
    /// The record of its first extent.
    pub(super) raw: Vec<u8>,
    /// Its extents; of a directory one.
    pub(super) extents: Vec<Extent>,
    /// What its fields say, up to the damage in them.
    pub(super) attributes: Attributes,
    pub(super) damage: Option<Error>,
}

impl Entry {
    fn new(raw: &[u8]) -> Self {
        Self {
            raw: raw.to_vec(),
            extents: Vec::with_capacity(1),
            attributes: Attributes::default(),
            damage: None,
        }
    }

    /// Returns whether a record describes its next extent, if more extents follow.
    fn continues_in(&self, raw: &[u8]) -> bool {
        id_of(&self.raw) == id_of(raw) && raw[25] & DIRECTORY == 0
    }

    /// Returns its name: from Rock Ridge, or else from its record.
    pub(super) fn name(&self, is_joliet: bool) -> Name<'_> {
        let name = self.attributes.name.as_deref();
        let raw = name.unwrap_or_else(|| id_of(&self.raw));
        let text = match name {
            Some(name) => Charset::Utf8.decode(name),
            None => decode_id(raw, is_joliet),
        };
        Name {
            text,
            raw,
            escaped: false,
        }
    }
}

/// A receiver of the records and entries of a walk.
pub(super) trait Visit {
    /// The number of a directory.
    type Id;

    /// Checks the record at an offset; `Err` has the length of an invalid record. Returns
    /// the record if it describes an entry.
    fn record<'r>(
        &mut self,
        directory: &Directory<Self::Id>,
        offset: u64,
        record: std::result::Result<&'r [u8], usize>,
    ) -> Result<Option<&'r [u8]>>;

    /// Takes an entry. Returns the directory to list for it.
    fn entry(
        &mut self,
        walk: &mut Walk<'_>,
        parent: &Directory<Self::Id>,
        entry: Entry,
    ) -> Result<Option<Directory<Self::Id>>>;

    /// Ends a directory, whose subdirectories are listed next.
    fn listed(&mut self, directory: &Directory<Self::Id>) -> Result<()> {
        let _ = directory;
        Ok(())
    }

    /// Takes the damage of a directory that cannot be listed, or only in part. An error
    /// ends the walk; `warning` is the message if the walk continues.
    fn damage(
        &mut self,
        directory: &Directory<Self::Id>,
        warning: String,
        error: Error,
    ) -> Result<()>;
}

/// A walk over the directories of a volume.
pub(super) struct Walk<'a> {
    pub(super) sectors: &'a Sectors,
    /// Bytes of a logical block.
    pub(super) block: u64,
    /// The fields of the records, if they have any.
    pub(super) system_use: Option<SystemUse<'a>>,
    /// Number of bytes of directories that may still be read, see [`MAX_BYTES`].
    pub(super) left: u64,
}

impl Walk<'_> {
    /// Visits everything in and below the directory at `root`, each directory before its
    /// subdirectories.
    ///
    /// # Errors
    /// Returns the errors of the visitor, or of reading the fields of records.
    pub(super) fn all<V: Visit>(&mut self, root: Extent, id: V::Id, visit: &mut V) -> Result<()> {
        let mut seen = HashSet::from([root]);
        let mut pending = vec![Directory {
            id,
            path: String::new(),
            place: root,
            depth: 0,
        }];
        while let Some(directory) = pending.pop() {
            let (start, size) = self.bytes(directory.place);
            let is_inside = start.saturating_add(size) <= self.sectors.len();
            let left = self.left.checked_sub(size).filter(|_| is_inside);
            let Some(left) = left else {
                let problem = match is_inside {
                    true => format!("directories have more than {MAX_BYTES} bytes"),
                    false => "extends past the end of the image".to_owned(),
                };
                let error = directory.damaged(start, problem);
                visit.damage(&directory, error.to_string(), error)?;
                continue;
            };
            self.left = left;
            let first = pending.len();
            self.list(&directory, visit, &mut pending)?;
            let is_refused =
                |inner: &mut Directory<V::Id>| inner.depth > MAX_DEPTH || !seen.insert(inner.place);
            for inner in pending.extract_if(first.., is_refused) {
                let path = &inner.path;
                let warning = match inner.depth > MAX_DEPTH {
                    true => format!("/{path}: is deeper than {MAX_DEPTH}"),
                    false => format!("/{path}: was shown before and is left empty"),
                };
                let (start, _) = self.bytes(inner.place);
                visit.damage(&inner, warning, inner.damaged(start, NESTED))?;
            }
            // The first one is read next.
            pending[first..].reverse();
        }
        Ok(())
    }

    /// Returns the offset and the length of an extent.
    pub(super) fn bytes(&self, extent: Extent) -> (u64, u64) {
        (u64::from(extent.block) * self.block, extent.size.into())
    }

    /// Lists one directory, and adds its subdirectories to `pending`.
    fn list<V: Visit>(
        &mut self,
        directory: &Directory<V::Id>,
        visit: &mut V,
        pending: &mut Vec<Directory<V::Id>>,
    ) -> Result<()> {
        let (start, size) = self.bytes(directory.place);
        // An entry with more extents to come.
        let mut unfinished: Option<Entry> = None;
        for offset in (start..start + size).step_by(PIECE as usize) {
            let mut piece = vec![0; (start + size - offset).min(PIECE) as usize];
            if let Err(error) = read_user(self.sectors, offset, &mut piece) {
                let warning = format!("/{}: {error}", directory.path);
                visit.damage(directory, warning, error)?;
                break;
            }
            for (offset, record) in records_of(&piece, offset) {
                let Some(raw) = visit.record(directory, offset, record)? else {
                    continue;
                };
                if let Some(last) = unfinished.take_if(|last| !last.continues_in(raw)) {
                    pending.extend(self.finish(last, directory, visit)?);
                }
                let mut entry = unfinished.take().unwrap_or_else(|| Entry::new(raw));
                entry.extents.push(extent_of(raw));
                match raw[25] & (MORE_EXTENTS | DIRECTORY) {
                    MORE_EXTENTS => unfinished = Some(entry),
                    _ => pending.extend(self.finish(entry, directory, visit)?),
                }
            }
        }
        if let Some(last) = unfinished {
            pending.extend(self.finish(last, directory, visit)?);
        }
        visit.listed(directory)
    }

    /// Passes an entry on with its attributes.
    fn finish<V: Visit>(
        &mut self,
        mut entry: Entry,
        directory: &Directory<V::Id>,
        visit: &mut V,
    ) -> Result<Option<Directory<V::Id>>> {
        if let Some(fields) = &mut self.system_use {
            (entry.attributes, entry.damage) = Attributes::read(fields, area_of(&entry.raw))?;
        }
        visit.entry(self, directory, entry)
    }
}

/// Returns the records of the sectors in `bytes`, which are at `start`, with their offsets.
fn records_of(
    bytes: &[u8],
    start: u64,
) -> impl Iterator<Item = (u64, std::result::Result<&[u8], usize>)> {
    let sectors = (start..).step_by(SECTOR as usize);
    let sectors = sectors.zip(bytes.chunks(SECTOR as usize));
    sectors.flat_map(|(start, sector)| {
        records(sector).map(move |(at, record)| (start + at as u64, record))
    })
}

/// Returns an identifier without its version and, in the primary tree, without the dot
/// of an empty extension.
pub(super) fn decode_id(raw: &[u8], is_joliet: bool) -> Cow<'_, str> {
    let text = match is_joliet {
        true => utf_16(raw),
        false => crate::text::windows_1252(raw),
    };
    let is_version =
        |version: &str| !version.is_empty() && version.bytes().all(|byte| byte.is_ascii_digit());
    let stem = match text.rsplit_once(';') {
        Some((stem, version)) if is_version(version) => stem,
        _ => &text,
    };
    let stem = match stem.strip_suffix('.') {
        Some(bare) if !is_joliet => bare,
        _ => stem,
    };
    let length = stem.len();
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(&text[..length]),
        Cow::Owned(mut text) => {
            text.truncate(length);
            Cow::Owned(text)
        }
    }
}

/// Decodes a name in UTF-16; most names are ASCII.
fn utf_16(raw: &[u8]) -> Cow<'_, str> {
    let (units, _) = raw.as_chunks::<2>();
    let is_ascii = |unit: &[u8; 2]| unit[0] == 0 && unit[1].is_ascii();
    match units.iter().all(is_ascii) {
        true => units.iter().map(|unit| char::from(unit[1])).collect(),
        false => UTF_16BE.decode_without_bom_handling(units.as_flattened()).0,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::disc::Form;

    /// A visitor that counts the extents of each entry.
    #[derive(Default)]
    struct Extents(Vec<(u8, usize)>);

    impl Visit for Extents {
        type Id = ();

        fn record<'r>(
            &mut self,
            _: &Directory<()>,
            _: u64,
            record: std::result::Result<&'r [u8], usize>,
        ) -> Result<Option<&'r [u8]>> {
            Ok(record.ok())
        }

        fn entry(
            &mut self,
            _: &mut Walk<'_>,
            _: &Directory<()>,
            entry: Entry,
        ) -> Result<Option<Directory<()>>> {
            self.0.push((id_of(&entry.raw)[0], entry.extents.len()));
            Ok(None)
        }

        fn damage(&mut self, _: &Directory<()>, _: String, error: Error) -> Result<()> {
            Err(error)
        }
    }

    #[test]
    fn records_of_one_file_are_one_entry_and_those_of_directories_are_not() {
        let records = [
            (b'A', MORE_EXTENTS),
            (b'A', MORE_EXTENTS),
            (b'A', 0),
            (b'A', 0),
            (b'B', MORE_EXTENTS),
            (b'C', MORE_EXTENTS | DIRECTORY),
            (b'C', DIRECTORY),
            (b'D', MORE_EXTENTS),
            (b'D', DIRECTORY),
            (b'E', MORE_EXTENTS),
        ];
        let mut bytes = Vec::new();
        for (name, flags) in records {
            let mut record = [0; 34];
            (record[0], record[25], record[32], record[33]) = (34, flags, 1, name);
            bytes.extend(record);
        }
        bytes.resize(SECTOR as usize, 0);
        let sectors = Sectors::new(Arc::new(bytes), Form::of_step(SECTOR), (0, SECTOR), false);
        let mut walk = Walk {
            sectors: &sectors,
            block: SECTOR,
            system_use: None,
            left: SECTOR,
        };
        let root = Extent {
            block: 0,
            size: SECTOR as u32,
        };
        let mut found = Extents::default();
        walk.all(root, (), &mut found).unwrap();
        let expected = [
            (b'A', 3),
            (b'A', 1),
            (b'B', 1),
            (b'C', 1),
            (b'C', 1),
            (b'D', 1),
            (b'D', 1),
            (b'E', 1),
        ];
        assert_eq!(found.0, expected);
        // No more bytes of directories are left.
        assert!(walk.all(root, (), &mut Extents::default()).is_err());
    }

    #[test]
    fn names_are_shown_without_their_version() {
        assert_eq!(decode_id(b"README.TXT;1", false), "README.TXT");
        assert_eq!(decode_id(b"NOEXT.;1", false), "NOEXT");
        assert_eq!(decode_id(b"A;B", false), "A;B");
        assert_eq!(decode_id(b"A;", false), "A;");
        assert_eq!(decode_id(b"\0A\0.\0;\x001\0", true), "A.");
    }
}
