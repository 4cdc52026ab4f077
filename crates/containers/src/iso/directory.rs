//! The walk over all directories.

use std::borrow::Cow;
use std::collections::HashSet;

use encoding_rs::UTF_16BE;

use super::record::{DIRECTORY, MORE_EXTENTS, RECORD, Record, records};
use super::rock_ridge::{Attributes, Kind};
use super::susp::SystemUse;
use super::zisofs::Packing;
use crate::disc::{Extent, SECTOR, Sectors, read_user};
use crate::io::{Error, ReadAt, Result, Warnings, undamaged};
use crate::text::Charset;
use crate::volume::{MAX_DEPTH, MAX_LINK, Name, NodeId};

/// Number of bytes of directories read at once; records do not cross sectors.
const PIECE: u64 = 32 * SECTOR;

/// Maximum number of bytes of directories in total: overlapping directories
/// could otherwise be read endlessly.
const MAX_BYTES: u64 = 256 << 20;

/// The usual name of the directory for directories that are shown elsewhere.
const RELOCATED: &[u8] = b"RR_MOVED";

/// A file in a directory.
pub(super) struct DirectoryFile<'a> {
    /// Its directory, and the path of that, for warnings.
    pub(super) parent: NodeId,
    pub(super) directory: &'a str,
    pub(super) name: Name<'a>,
    pub(super) modified: Option<i64>,
    pub(super) extents: &'a [Extent],
    /// True if it has sectors of Form 2, according to its record.
    pub(super) is_form_2: bool,
    /// True if the extent is an audio track.
    pub(super) is_audio: bool,
    /// The permission bits, if known.
    pub(super) permissions: Option<u16>,
    /// Packing of its data, if it is packed.
    pub(super) packing: Option<Packing>,
}

/// A symbolic link in a directory.
pub(super) struct FoundLink<'a> {
    pub(super) parent: NodeId,
    pub(super) name: Name<'a>,
    pub(super) modified: Option<i64>,
    pub(super) target: &'a [u8],
}

/// A receiver of the results of the walk.
pub(super) trait Visit {
    fn directory(
        &mut self,
        parent: NodeId,
        name: Name<'_>,
        modified: Option<i64>,
    ) -> Result<NodeId>;
    fn file(&mut self, file: DirectoryFile<'_>, warnings: &mut Warnings) -> Result<()>;
    fn link(&mut self, link: FoundLink<'_>) -> Result<()>;
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
    /// The name in its records.
    name: Vec<u8>,
    modified: Option<i64>,
    extents: Vec<Extent>,
    is_form_2: bool,
    is_audio: bool,
    attributes: Attributes,
}

/// A walk over the directories of a volume.
pub(super) struct Walk<'a> {
    pub(super) sectors: &'a Sectors,
    /// Bytes of a logical block.
    pub(super) block: u64,
    /// True if names are UTF-16.
    pub(super) is_joliet: bool,
    /// The fields of the records, if they have any.
    pub(super) system_use: Option<SystemUse<'a>>,
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
        sector: &[u8],
        offset: u64,
        directory: &Pending,
        unfinished: &mut Option<Unfinished>,
        visit: &mut dyn Visit,
        pending: &mut Vec<Pending>,
    ) -> Result<()> {
        let path = &directory.path;
        for (at, record) in records(sector) {
            let at = offset + at as u64;
            let record = match record {
                Ok(record) => record,
                Err(length) => {
                    let text = format!("/{path}: record of {length} bytes at {at:#x}");
                    self.warnings.push(text);
                    break;
                }
            };
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
            self.warn(directory, &self.text(record.name), text);
        }
        let is_more = unfinished
            .as_ref()
            .is_some_and(|file| file.name == record.name);
        let mut attributes = Attributes::default();
        if !is_more {
            self.finish(unfinished.take(), directory, visit)?;
            attributes = self.attributes(record, directory)?;
        }
        if attributes.is_relocated {
            return Ok(());
        }
        if record.flags & DIRECTORY != 0 || attributes.child.is_some() {
            return self.directory(record, &attributes, directory, visit, pending);
        }
        match attributes.kind() {
            Kind::File => {}
            Kind::Link => return self.link(record, &attributes, directory, visit),
            Kind::Special => {
                let name = self.name(record.name, &attributes).text.into_owned();
                self.warn(
                    directory,
                    &name,
                    "is a device or a FIFO, which is not shown",
                );
                return Ok(());
            }
        }
        let extent = Extent {
            at: Some(record.block * self.block),
            length: record.size,
        };
        let has_more = record.flags & MORE_EXTENTS != 0;
        let file = unfinished.get_or_insert_with(|| Unfinished {
            name: record.name.to_vec(),
            modified: attributes.modified.or(record.modified),
            extents: Vec::with_capacity(if has_more { 2 } else { 1 }),
            is_form_2: record.is_form_2(),
            is_audio: record.is_audio(),
            attributes,
        });
        file.extents.push(extent);
        match has_more {
            true => Ok(()),
            false => self.finish(unfinished.take(), directory, visit),
        }
    }

    /// Returns what the fields of a record say.
    fn attributes(&mut self, record: &Record<'_>, directory: &Pending) -> Result<Attributes> {
        let Some(fields) = &mut self.system_use else {
            return Ok(Attributes::default());
        };
        let (attributes, damage) = Attributes::read(fields, record.system_use)?;
        if let Some(damage) = damage {
            self.warn(directory, &self.text(record.name), &damage.to_string());
        }
        if attributes.is_sparse {
            let name = self.name(record.name, &attributes).text.into_owned();
            let text = "has holes, which are not supported: its bytes are wrong";
            self.warn(directory, &name, text);
        }
        Ok(attributes)
    }

    /// Adds a directory to the ones to be listed.
    fn directory(
        &mut self,
        record: &Record<'_>,
        attributes: &Attributes,
        directory: &Pending,
        visit: &mut dyn Visit,
        pending: &mut Vec<Pending>,
    ) -> Result<()> {
        let name = self.name(record.name, attributes);
        let path = format!("{}{}/", directory.path, name.text);
        let extent = match attributes.child {
            None => Some((record.block * self.block, record.size)),
            Some(block) => self.at_block(block)?,
        };
        let Some(extent) = extent else {
            let text = format!("/{path}: its records are not where it is said to be");
            self.warnings.push(text);
            return Ok(());
        };
        if directory.depth == 0 && self.is_for_relocated(record, extent)? {
            return Ok(());
        }
        let modified = attributes.modified.or(record.modified);
        let node = visit.directory(directory.node, name, modified)?;
        pending.push(Pending {
            node,
            path,
            extent,
            depth: directory.depth + 1,
        });
        Ok(())
    }

    /// Returns the extent of the directory at a block, according to its own
    /// record; `None` if there is none.
    fn at_block(&self, block: u32) -> Result<Option<(u64, u64)>> {
        let start = u64::from(block) * self.block;
        let mut own = [0; RECORD + 1];
        if start + own.len() as u64 > self.sectors.len() {
            return Ok(None);
        }
        let read = undamaged(read_user(self.sectors, start, &mut own))?;
        let own = read
            .and_then(|()| Record::parse(&own, &mut |_| {}).ok())
            .filter(|record| record.is_dot() && record.block == u64::from(block));
        Ok(own.map(|record| (start, record.size)))
    }

    /// Returns whether a directory of the root has only directories that are
    /// shown elsewhere, or is empty and named as writers name it.
    fn is_for_relocated(&mut self, record: &Record<'_>, (start, size): (u64, u64)) -> Result<bool> {
        let Some(fields) = &mut self.system_use else {
            return Ok(false);
        };
        let mut is_for_relocated = record.name.eq_ignore_ascii_case(RELOCATED);
        if start.saturating_add(size.next_multiple_of(SECTOR)) > self.sectors.len() {
            return Ok(false);
        }
        let mut sector = vec![0; SECTOR as usize];
        for offset in (0..size.min(PIECE)).step_by(SECTOR as usize) {
            if undamaged(read_user(self.sectors, start + offset, &mut sector))?.is_none() {
                return Ok(false);
            }
            for (_, record) in records(&sector) {
                let record = record.ok();
                let record = record.and_then(|record| Record::parse(record, &mut |_| {}).ok());
                let Some(record) = record else {
                    return Ok(false);
                };
                if record.is_dot() {
                    continue;
                }
                match Attributes::read(fields, record.system_use)? {
                    (attributes, None) if attributes.is_relocated => is_for_relocated = true,
                    _ => return Ok(false),
                }
            }
        }
        Ok(is_for_relocated && size <= PIECE)
    }

    fn link(
        &mut self,
        record: &Record<'_>,
        attributes: &Attributes,
        directory: &Pending,
        visit: &mut dyn Visit,
    ) -> Result<()> {
        let name = self.name(record.name, attributes);
        let target = attributes.target();
        if target.is_empty() || target.len() as u64 > MAX_LINK {
            let name = name.text.into_owned();
            self.warn(
                directory,
                &name,
                "is a symbolic link without a valid target",
            );
            return Ok(());
        }
        visit.link(FoundLink {
            parent: directory.node,
            name,
            modified: attributes.modified.or(record.modified),
            target: &target,
        })
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
        let found = DirectoryFile {
            parent: directory.node,
            directory: &directory.path,
            name: self.name(&file.name, &file.attributes),
            modified: file.modified,
            extents: &file.extents,
            is_form_2: file.is_form_2,
            is_audio: file.is_audio,
            permissions: file.attributes.permissions(),
            packing: file.attributes.packing,
        };
        visit.file(found, self.warnings)
    }

    fn warn(&mut self, directory: &Pending, name: &str, text: &str) {
        let path = &directory.path;
        self.warnings.push(format!("/{path}{name}: {text}"));
    }

    /// Returns the name of an entry: from Rock Ridge, or else from its record.
    fn name<'n>(&self, raw: &'n [u8], attributes: &'n Attributes) -> Name<'n> {
        match &attributes.name {
            Some(name) => Name {
                text: Charset::Utf8.decode(name),
                raw: name,
                escaped: false,
            },
            None => Name {
                text: self.text(raw),
                raw,
                escaped: false,
            },
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
    fn names_are_shown_without_their_version() {
        let sectors = super::super::tests::no_sectors();
        let mut walk = Walk {
            sectors: &sectors,
            block: 2048,
            is_joliet: false,
            system_use: None,
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
