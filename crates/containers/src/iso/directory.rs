//! Directory records, and the walk over all directories.
//!
//! Numbers are stored in both byte orders; the little-endian ones are used.

use std::borrow::Cow;
use std::collections::HashSet;

use encoding_rs::UTF_16BE;

use crate::disc::{Extent, SECTOR, Sectors, read_user};
use crate::io::{Error, ReadAt, Result, Warnings};
use crate::time;
use crate::volume::{MAX_DEPTH, Name, NodeId};

/// Length of a record before its name.
pub(super) const RECORD: usize = 33;

/// Number of bytes of directories read at once; records do not cross sectors.
const PIECE: u64 = 32 * SECTOR;

/// Maximum number of bytes of directories in total: overlapping directories
/// could otherwise be read endlessly.
const MAX_BYTES: u64 = 256 << 20;

pub(super) const DIRECTORY: u8 = 2;
pub(super) const MORE_EXTENTS: u8 = 0x80;

/// Attributes of CD-ROM XA: all sectors are of Form 2, or some of them.
const XA_FORM_2: u16 = 0x3000;

/// A directory record.
pub(super) struct Record<'a> {
    /// Number of the first logical block, without extended attributes.
    pub(super) block: u64,
    pub(super) size: u64,
    flags: u8,
    is_interleaved: bool,
    modified: Option<i64>,
    name: &'a [u8],
    /// Attributes of CD-ROM XA, if any.
    xa: Option<u16>,
}

pub(super) fn le32(bytes: &[u8], at: usize) -> u32 {
    let word = bytes.get(at..).and_then(|bytes| bytes.first_chunk());
    word.map_or(0, |word| u32::from_le_bytes(*word))
}

pub(super) fn be32(bytes: &[u8], at: usize) -> u32 {
    le32(bytes, at).swap_bytes()
}

impl<'a> Record<'a> {
    /// Parses the record in `bytes`, including its length byte.
    ///
    /// # Errors
    /// Returns a message if the name does not fit.
    pub(super) fn parse(
        bytes: &'a [u8],
        odd: &mut dyn FnMut(String),
    ) -> std::result::Result<Self, String> {
        let length = usize::from(*bytes.get(32).ok_or("is too short")?);
        let name = bytes
            .get(RECORD..RECORD + length)
            .filter(|name| !name.is_empty());
        let name = name.ok_or_else(|| format!("has a name of {length} bytes"))?;
        for (at, field) in [(2, "extent"), (10, "length")] {
            let (little, big) = (le32(bytes, at), be32(bytes, at + 4));
            if little != big {
                odd(format!(
                    "its {field} is {little} little-endian and {big} big-endian"
                ));
            }
        }
        // The name is padded to an even length of the record.
        let system_use = bytes.get(RECORD + length + (1 - length % 2)..);
        let xa = system_use.unwrap_or_default();
        let xa = (xa.len() >= 14 && xa[6..8] == *b"XA").then(|| u16::from_be_bytes([xa[4], xa[5]]));
        Ok(Self {
            block: u64::from(le32(bytes, 2)) + u64::from(bytes[1]),
            size: le32(bytes, 10).into(),
            flags: bytes[25],
            is_interleaved: bytes[26] != 0 || bytes[27] != 0,
            modified: date(&bytes[18..25]),
            name,
            xa,
        })
    }

    /// Returns whether it is the entry for its own directory or the parent.
    fn is_dot(&self) -> bool {
        matches!(self.name, [0 | 1])
    }
}

/// Returns the seconds since 1970 UTC of a date: years since 1900, month, day,
/// hour, minute, second, and the offset from UTC in quarters of an hour. `None`
/// if it is not valid.
fn date(date: &[u8]) -> Option<i64> {
    let &[year, month, day, hour, minute, second, zone] = date else {
        return None;
    };
    let date = [1900 + u16::from(year), month.into(), day.into()];
    let local = time::seconds(date, [hour, minute, second])?;
    Some(local - i64::from(zone as i8) * 15 * 60)
}

/// A file in a directory.
pub(super) struct Found<'a> {
    pub(super) parent: NodeId,
    pub(super) name: Name<'a>,
    pub(super) modified: Option<i64>,
    pub(super) extents: &'a [Extent],
    /// Whether it has sectors of Form 2, according to its record.
    pub(super) is_form_2: bool,
}

/// A receiver of the results of the walk.
pub(super) trait Visit {
    fn directory(
        &mut self,
        parent: NodeId,
        name: Name<'_>,
        modified: Option<i64>,
    ) -> Result<NodeId>;
    fn file(&mut self, file: Found<'_>, warnings: &mut Warnings) -> Result<()>;
}

/// A directory that is still to be listed.
struct Pending {
    node: NodeId,
    /// Its path, for warnings.
    path: String,
    extent: (u64, u64),
    depth: usize,
}

/// A file that may have more extents.
struct Unfinished {
    name: Vec<u8>,
    modified: Option<i64>,
    extents: Vec<Extent>,
    is_form_2: bool,
}

/// A walk over the directories of a volume.
pub(super) struct Walk<'a> {
    pub(super) sectors: &'a Sectors,
    /// Bytes of a logical block.
    pub(super) block: u64,
    /// Whether names are UTF-16.
    pub(super) is_joliet: bool,
    pub(super) warnings: &'a mut Warnings,
}

impl Walk<'_> {
    /// Visits everything below the directory with the record `root`.
    ///
    /// # Errors
    /// Returns an error if the root cannot be read, or the errors of the
    /// visitor.
    pub(super) fn all(
        &mut self,
        root: &Record<'_>,
        node: NodeId,
        visit: &mut dyn Visit,
    ) -> Result<()> {
        let extent = (root.block * self.block, root.size);
        let mut seen = HashSet::from([extent]);
        let mut left = MAX_BYTES;
        let mut pending = vec![Pending {
            node,
            path: String::new(),
            extent,
            depth: 0,
        }];
        while let Some(directory) = pending.pop() {
            let (start, size) = directory.extent;
            let is_inside = start.saturating_add(size) <= self.sectors.len();
            if !is_inside || size > left {
                let problem = match is_inside {
                    true => format!("directories have more than {MAX_BYTES} bytes"),
                    false => "extends past the end of the image".to_owned(),
                };
                let field = format!("directory /{}", directory.path);
                let error = Error::damaged(start, field, problem);
                if directory.depth == 0 {
                    return Err(error);
                }
                self.warnings.push(error.to_string());
                continue;
            }
            left -= size;
            let first = pending.len();
            self.list(&directory, visit, &mut pending)?;
            let mut kept = first;
            for at in first..pending.len() {
                let found = &pending[at];
                if !seen.insert(found.extent) {
                    let text = format!("/{}: was shown before and is left empty", found.path);
                    self.warnings.push(text);
                } else if found.depth > MAX_DEPTH {
                    let text = format!("/{}: is deeper than {MAX_DEPTH}", found.path);
                    self.warnings.push(text);
                } else {
                    pending.swap(kept, at);
                    kept += 1;
                }
            }
            pending.truncate(kept);
            // The first one is read next.
            pending[first..].reverse();
        }
        Ok(())
    }

    /// Lists one directory, and adds its subdirectories to `pending`.
    fn list(
        &mut self,
        directory: &Pending,
        visit: &mut dyn Visit,
        pending: &mut Vec<Pending>,
    ) -> Result<()> {
        let (start, size) = directory.extent;
        let mut unfinished = None;
        let mut done = 0;
        while done < size {
            let length = (size - done).min(PIECE);
            let mut piece = vec![0; length as usize];
            if let Err(error) = read_user(self.sectors, start + done, &mut piece) {
                if error.is_fault() || directory.depth == 0 {
                    return Err(error);
                }
                self.warnings.push(format!("/{}: {error}", directory.path));
                break;
            }
            for (number, sector) in piece.chunks(SECTOR as usize).enumerate() {
                let at = start + done + number as u64 * SECTOR;
                self.sector(sector, at, directory, &mut unfinished, visit, pending)?;
            }
            done += length;
        }
        self.finish(unfinished, directory, visit)
    }

    /// Reads the records of a sector.
    fn sector(
        &mut self,
        mut rest: &[u8],
        offset: u64,
        directory: &Pending,
        unfinished: &mut Option<Unfinished>,
        visit: &mut dyn Visit,
        pending: &mut Vec<Pending>,
    ) -> Result<()> {
        let end = offset + rest.len() as u64;
        // A length of 0 ends the records of a sector.
        while let Some(&length @ 1..) = rest.first() {
            let at = end - rest.len() as u64;
            let length = usize::from(length);
            let path = &directory.path;
            if length <= RECORD || length > rest.len() {
                let text = format!("/{path}: record of {length} bytes at {at:#x}");
                self.warnings.push(text);
                break;
            }
            let (record, after) = rest.split_at(length);
            rest = after;
            let mut odd = |text| {
                self.warnings
                    .push(format!("/{path}: record at {at:#x}: {text}"))
            };
            match Record::parse(record, &mut odd) {
                Ok(record) if record.is_dot() => {}
                Ok(record) => self.record(&record, directory, unfinished, visit, pending)?,
                Err(problem) => odd(problem),
            }
        }
        Ok(())
    }

    fn record(
        &mut self,
        record: &Record<'_>,
        directory: &Pending,
        unfinished: &mut Option<Unfinished>,
        visit: &mut dyn Visit,
        pending: &mut Vec<Pending>,
    ) -> Result<()> {
        if record.is_interleaved {
            let text = "is interleaved, which is not supported: its bytes are wrong";
            let name = self.text(record.name);
            self.warnings
                .push(format!("/{}{name}: {text}", directory.path));
        }
        let extent = (record.block * self.block, record.size);
        let is_more = unfinished
            .as_ref()
            .is_some_and(|file| file.name == record.name);
        if !is_more {
            self.finish(unfinished.take(), directory, visit)?;
        }
        if record.flags & DIRECTORY != 0 {
            let node = visit.directory(directory.node, self.name(record.name), record.modified)?;
            pending.push(Pending {
                node,
                path: format!("{}{}/", directory.path, self.text(record.name)),
                extent,
                depth: directory.depth + 1,
            });
            return Ok(());
        }
        let extent = Extent {
            at: Some(extent.0),
            length: extent.1,
        };
        let is_form_2 = record.xa.is_some_and(|xa| xa & XA_FORM_2 != 0);
        let has_more = record.flags & MORE_EXTENTS != 0;
        if unfinished.is_none() && !has_more {
            let found = Found {
                parent: directory.node,
                name: self.name(record.name),
                modified: record.modified,
                extents: &[extent],
                is_form_2,
            };
            return self.file(found, directory, visit);
        }
        let file = unfinished.get_or_insert_with(|| Unfinished {
            name: record.name.to_vec(),
            modified: record.modified,
            extents: Vec::with_capacity(2),
            is_form_2,
        });
        file.extents.push(extent);
        match has_more {
            true => Ok(()),
            false => self.finish(unfinished.take(), directory, visit),
        }
    }

    fn finish(
        &mut self,
        file: Option<Unfinished>,
        directory: &Pending,
        visit: &mut dyn Visit,
    ) -> Result<()> {
        let Some(file) = file else {
            return Ok(());
        };
        let found = Found {
            parent: directory.node,
            name: self.name(&file.name),
            modified: file.modified,
            extents: &file.extents,
            is_form_2: file.is_form_2,
        };
        self.file(found, directory, visit)
    }

    fn file(&mut self, found: Found<'_>, directory: &Pending, visit: &mut dyn Visit) -> Result<()> {
        let end = self.sectors.len();
        if !found.extents.iter().all(|extent| extent.is_inside(end)) {
            let text = "extends past the end of the image";
            let path = &directory.path;
            self.warnings
                .push(format!("/{path}{}: {text}", found.name.text));
        }
        visit.file(found, self.warnings)
    }

    fn name<'n>(&self, raw: &'n [u8]) -> Name<'n> {
        Name {
            text: self.text(raw),
            raw,
            escaped: false,
        }
    }

    /// Returns a name without its version and, in the primary tree, without the
    /// dot of an empty extension.
    fn text<'n>(&self, raw: &'n [u8]) -> Cow<'n, str> {
        let text = match self.is_joliet {
            true => utf_16(raw),
            false => crate::text::windows_1252(raw),
        };
        let is_version = |version: &str| {
            !version.is_empty() && version.bytes().all(|byte| byte.is_ascii_digit())
        };
        let stem = match text.rsplit_once(';') {
            Some((stem, version)) if is_version(version) => stem,
            _ => &text,
        };
        let stem = match stem.strip_suffix('.') {
            Some(bare) if !self.is_joliet => bare,
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
    use super::*;

    #[test]
    fn dates_count_from_1970_utc() {
        assert_eq!(date(&[70, 1, 1, 0, 0, 0, 0]), Some(0));
        assert_eq!(date(&[99, 9, 29, 12, 0, 0, 0]), Some(938_606_400));
        // Local time is two hours ahead of UTC.
        assert_eq!(date(&[100, 2, 29, 2, 0, 1, 8]), Some(951_782_401));
        assert_eq!(date(&[69, 12, 31, 23, 59, 59, 0]), Some(-1));
        assert_eq!(date(&[0; 7]), None);
    }

    #[test]
    fn a_record_has_a_name_and_xa_attributes() {
        let mut bytes = vec![0; RECORD];
        bytes[2] = 7;
        bytes[9] = 7;
        bytes[32] = 4;
        bytes.extend(b"A.;1\0");
        bytes.extend([0, 0, 0, 0, 0x25, 0x55, b'X', b'A', 0, 0, 0, 0, 0, 0]);
        let mut odd = Vec::new();
        let record = Record::parse(&bytes, &mut |text| odd.push(text)).unwrap();
        assert_eq!((record.block, record.xa), (7, Some(0x2555)));
        assert!(odd.is_empty(), "{odd:?}");
        bytes[32] = 40;
        assert!(Record::parse(&bytes, &mut |_| {}).is_err());
        bytes[32] = 0;
        assert!(Record::parse(&bytes, &mut |_| {}).is_err());
        assert!(Record::parse(&bytes[..20], &mut |_| {}).is_err());
    }

    #[test]
    fn names_are_shown_without_their_version() {
        let sectors = super::super::tests::no_sectors();
        let mut walk = Walk {
            sectors: &sectors,
            block: 2048,
            is_joliet: false,
            warnings: &mut Warnings::default(),
        };
        assert_eq!(walk.text(b"README.TXT;1"), "README.TXT");
        assert_eq!(walk.text(b"NOEXT.;1"), "NOEXT");
        assert_eq!(walk.text(b"A;B"), "A;B");
        assert_eq!(walk.text(b"A;"), "A;");
        walk.is_joliet = true;
        assert_eq!(walk.text(b"\0A\0.\0;\x001\0"), "A.");
    }
}
