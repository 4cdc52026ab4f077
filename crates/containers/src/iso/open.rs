//! Opening a disc: its entries are declared to a sink.

use std::fmt::Display;
use std::sync::Arc;

use serde_json::json;

use super::descriptors::{Descriptor, Descriptors, ROOT_RECORD};
use super::directory::{self, Entry, MAX_BYTES, PIECE, Visit, Walk, decode_id};
use super::record::{self, DIRECTORY, RECORD, Record, date, extent_of, id_of, le32, records};
use super::rock_ridge::{Attributes, Kind};
use super::zisofs::Unpacked;
use super::{MOVIE_SUFFIX, RAW_SUFFIX, SOUND_SUFFIX, VIDEO_CD_SUFFIX};
use crate::disc::{
    DESCRIPTORS, Disc, Extent, Mode2File, NewFile, SECTOR, Sectors, Wav, XaFile, file_in, read_user,
};
use crate::io::{Error, ReadAt, Result, Warnings, undamaged};
use crate::text::has_extension;
use crate::volume::{MAX_LINK, Name, NodeId, Sink};

/// The usual name of the directory for directories that are shown elsewhere.
const RELOCATED: &[u8] = b"RR_MOVED";

/// Reads the directories of a data track.
///
/// # Errors
/// Returns an error if the descriptors or the root directory are damaged, the
/// source cannot be read, or the sink fails.
pub(crate) fn read(
    disc: &mut Disc,
    sectors: &Arc<Sectors>,
    sink: &mut dyn Sink,
    warnings: &mut Warnings,
) -> Result<()> {
    let mut descriptors = Descriptors::read(sectors, DESCRIPTORS)?;
    if !descriptors.is_terminated {
        warnings.push("the volume descriptors have no terminator");
    }
    let mut primary = descriptors.trees.iter().filter(|tree| !tree.is_joliet);
    let is_xa = primary.any(Descriptor::is_xa);
    let descriptor = descriptors.trees.swap_remove(descriptors.shown);
    let block = descriptor.block();
    if !matches!(block, 512 | 1024 | 2048) {
        let offset = DESCRIPTORS * SECTOR + 128;
        return Err(Error::damaged(offset, "block size", format!("is {block}")));
    }
    let size = u64::from(le32(&descriptor.bytes, 80)) * block;
    if size > sectors.len() {
        warnings.push(format!(
            "the volume has {size} bytes, the image {}: it is cut",
            sectors.len()
        ));
    }
    disc.info = json!({
        "system": descriptor.text(8..40),
        "volume": descriptor.text(40..72),
        "joliet": descriptor.is_joliet,
        "rock_ridge": descriptor.is_rock_ridge(),
        "xa": is_xa,
        "size": size,
    });
    let mut odd = |text| warnings.push(format!("root: {text}"));
    let root = &descriptor.bytes[ROOT_RECORD..=ROOT_RECORD + RECORD];
    Record::parse(root, &mut odd).map_err(|problem| {
        let offset = DESCRIPTORS * SECTOR + ROOT_RECORD as u64;
        Error::damaged(offset, "root", problem)
    })?;
    let mut walk = Walk {
        sectors,
        block,
        system_use: descriptor.system_use,
        left: MAX_BYTES,
    };
    let node = sink.root();
    let mut adder = Adder {
        disc,
        sectors,
        sink,
        is_joliet: descriptor.is_joliet,
        warnings,
    };
    walk.all(extent_of(root), node, &mut adder)
}

/// A directory with its node.
type Directory = directory::Directory<NodeId>;

/// A visitor that adds the entries to a disc.
struct Adder<'a> {
    disc: &'a mut Disc,
    sectors: &'a Arc<Sectors>,
    sink: &'a mut dyn Sink,
    is_joliet: bool,
    warnings: &'a mut Warnings,
}

/// A file in a directory.
struct File<'a> {
    directory: &'a Directory,
    new: NewFile<'a>,
    extents: &'a [Extent],
    record: Record<'a>,
    attributes: &'a Attributes,
}

impl Visit for Adder<'_> {
    type Id = NodeId;

    fn record<'r>(
        &mut self,
        directory: &Directory,
        offset: u64,
        record: std::result::Result<&'r [u8], usize>,
    ) -> Result<Option<&'r [u8]>> {
        let path = &directory.path;
        let raw = match record {
            Ok(raw) => raw,
            Err(length) => {
                let text = format!("/{path}: record of {length} bytes at {offset:#x}");
                self.warnings.push(text);
                return Ok(None);
            }
        };
        let mut odd = |text| {
            let text = format!("/{path}: record at {offset:#x}: {text}");
            self.warnings.push(text);
        };
        let record = Record::parse(raw, &mut odd).map_err(odd).ok();
        let record = record.filter(|record| !record.is_dot());
        if let Some(record) = record.as_ref().filter(|record| record.is_interleaved) {
            let text = "is interleaved, which is not supported: its bytes are wrong";
            self.warn(directory, &decode_id(record.name, self.is_joliet), text);
        }
        Ok(record.map(|_| raw))
    }

    fn entry(
        &mut self,
        walk: &mut Walk<'_>,
        directory: &Directory,
        entry: Entry,
    ) -> Result<Option<Directory>> {
        let (record, attributes) = (Record::of(&entry.raw), &entry.attributes);
        let name = entry.name(self.is_joliet);
        if let Some(damage) = &entry.damage {
            self.warn(directory, &decode_id(record.name, self.is_joliet), damage);
        }
        if attributes.is_sparse {
            let text = "has holes, which are not supported: its bytes are wrong";
            self.warn(directory, &name.text, text);
        }
        let new = NewFile {
            parent: directory.id,
            name,
            modified: attributes.modified.or_else(|| date(record.date)),
        };
        if attributes.is_relocated {
            return Ok(None);
        }
        if record.flags & DIRECTORY != 0 || attributes.child.is_some() {
            return self.directory(walk, directory, &entry, new);
        }
        match attributes.kind() {
            Kind::File => {
                let extents = entry.extents.iter().map(|&extent| {
                    let (at, length) = walk.bytes(extent);
                    let at = Some(at);
                    Extent { at, length }
                });
                self.file(File {
                    directory,
                    new,
                    extents: &extents.collect::<Vec<_>>(),
                    record,
                    attributes,
                })?;
            }
            Kind::Link => self.link(directory, new, &attributes.target())?,
            Kind::Special => {
                let text = "is a device or a FIFO, which is not shown";
                self.warn(directory, &new.name.text, text);
            }
        }
        Ok(None)
    }

    fn damage(&mut self, directory: &Directory, warning: String, error: Error) -> Result<()> {
        if error.is_fault() || directory.depth == 0 {
            return Err(error);
        }
        self.warnings.push(warning);
        Ok(())
    }
}

impl Adder<'_> {
    fn warn(&mut self, directory: &Directory, name: &str, text: impl Display) {
        let path = &directory.path;
        self.warnings.push(format!("/{path}{name}: {text}"));
    }

    /// Adds a directory, unless all its entries are shown elsewhere.
    fn directory(
        &mut self,
        walk: &mut Walk<'_>,
        directory: &Directory,
        entry: &Entry,
        new: NewFile<'_>,
    ) -> Result<Option<Directory>> {
        let path = format!("{}{}/", directory.path, new.name.text);
        let place = match entry.attributes.child {
            None => entry.extents.first().copied(),
            Some(block) => at_block(walk, block)?,
        };
        let Some(place) = place else {
            let text = format!("/{path}: its records are not where it is said to be");
            self.warnings.push(text);
            return Ok(None);
        };
        if directory.depth == 0 && is_for_relocated(walk, entry, place)? {
            return Ok(None);
        }
        let node = self.sink.dir(new.parent, new.name, new.modified)?;
        Ok(Some(directory.inner(node, path, place)))
    }

    fn link(&mut self, directory: &Directory, new: NewFile<'_>, target: &[u8]) -> Result<()> {
        if target.is_empty() || target.len() as u64 > MAX_LINK {
            let text = "is a symbolic link without a valid target";
            self.warn(directory, &new.name.text, text);
            return Ok(());
        }
        self.sink
            .text_link(new.parent, new.name, target, new.modified)
    }

    fn file(&mut self, file: File<'_>) -> Result<()> {
        if let [Extent { at: Some(at), .. }] = *file.extents
            && file.record.is_audio()
            && let Some(track) = self.disc.audio_at(at / SECTOR)
        {
            let memory = size_of::<Wav>();
            self.disc
                .add_source(self.sink, file.new, Box::new(track), memory)?;
            return Ok(());
        }
        if let Some((sectors, extent)) = self.in_other_track(&file) {
            if let Some(raw) = raw(&sectors, &file, extent) {
                self.add_whole(&file, raw)?;
            }
            let bytes = file_in(&sectors, &[extent]);
            let memory = size_of::<Sectors>() + bytes.memory();
            self.disc
                .add_source(self.sink, file.new, Box::new(bytes), memory)?;
            return Ok(());
        }
        if !self.sectors.contain(file.extents) {
            let text = "extends past the end of the image";
            self.warn(file.directory, &file.new.name.text, text);
        }
        if let [extent] = *file.extents
            && let Some(raw) = raw(self.sectors, &file, extent)
        {
            self.add_whole(&file, raw)?;
        }
        let size = file.extents.iter().map(|extent| extent.length).sum();
        let node = match self.unpacked(&file) {
            Some(bytes) => {
                let memory = bytes.memory();
                let bytes = Box::new(bytes);
                self.disc.add_source(self.sink, file.new, bytes, memory)?
            }
            None => {
                let extents = (self.sectors, file.extents);
                self.disc.add_extents(self.sink, file.new, extents, size)?
            }
        };
        if let Some(mode) = file.attributes.permissions() {
            self.sink.permissions(node, mode);
        }
        Ok(())
    }

    /// Returns a packed file as it was before it was packed.
    fn unpacked(&mut self, file: &File<'_>) -> Option<Unpacked> {
        let packing = file.attributes.packing?;
        let unpacked = Unpacked::new(file_in(self.sectors, file.extents), packing);
        if unpacked.is_none() {
            let text = "is packed in an unknown way and shown as it is stored";
            self.warn(file.directory, &file.new.name.text, text);
        }
        unpacked
    }

    /// Returns the sectors and the extent of a file in a later data track, as the
    /// movies of Video CDs are.
    fn in_other_track(&self, file: &File<'_>) -> Option<(Arc<Sectors>, Extent)> {
        let [extent] = *file.extents else {
            return None;
        };
        let at = extent
            .at
            .filter(|_| !extent.is_inside(self.sectors.len()))?;
        let (frames, first) = self.disc.data_at(at / SECTOR)?;
        let sectors = Arc::new(self.sectors.of_track(frames));
        let extent = Extent {
            at: Some(at - first * SECTOR),
            ..extent
        };
        extent.is_inside(sectors.len()).then_some((sectors, extent))
    }

    /// Adds the files that show the whole sectors of a file: bare, and as
    /// players open them.
    fn add_whole(&mut self, file: &File<'_>, raw: Mode2File) -> Result<()> {
        if let Some(played) = XaFile::new(&raw) {
            // Players expect one of these extensions.
            let is_sound = has_extension(file.new.name.text.as_bytes(), "xa");
            let suffix = match is_sound {
                true => SOUND_SUFFIX,
                false if raw.begins_mpeg() => VIDEO_CD_SUFFIX,
                false => MOVIE_SUFFIX,
            };
            self.add_beside(file, suffix, Box::new(played))?;
        }
        self.add_beside(file, RAW_SUFFIX, Box::new(raw))
    }

    /// Adds a file beside another one, with this suffix.
    fn add_beside(&mut self, file: &File<'_>, suffix: &str, bytes: Box<dyn ReadAt>) -> Result<()> {
        let text = format!("{}{suffix}", file.new.name.text);
        let new = NewFile {
            parent: file.new.parent,
            name: Name {
                text: text.as_str().into(),
                raw: text.as_bytes(),
                escaped: file.new.name.escaped,
            },
            modified: file.new.modified,
        };
        let memory = size_of::<Mode2File>();
        self.disc.add_source(self.sink, new, bytes, memory)?;
        Ok(())
    }
}

/// Returns the whole sectors of a file of Form 2, if the image has them.
fn raw(sectors: &Arc<Sectors>, file: &File<'_>, extent: Extent) -> Option<Mode2File> {
    let is_whole = file.record.is_form_2() && sectors.has_mode_2();
    let at = extent.at.filter(|_| is_whole)?;
    Mode2File::new(sectors, at, extent.length)
}

/// Returns the place of the directory at a block, according to its own record; `None` if
/// no directory begins there.
fn at_block(walk: &Walk<'_>, block: u32) -> Result<Option<record::Extent>> {
    let start = u64::from(block) * walk.block;
    let mut bytes = [0; RECORD + 1];
    if start + bytes.len() as u64 > walk.sectors.len() {
        return Ok(None);
    }
    let read = undamaged(read_user(walk.sectors, start, &mut bytes))?;
    let is_own = |record: &Record<'_>| record.is_dot() && record.block == u64::from(block);
    let own = read.and_then(|()| Record::parse(&bytes, &mut |_| {}).ok().filter(is_own));
    Ok(own.map(|_| extent_of(&bytes)))
}

/// Returns whether a directory of the root has only directories that are shown elsewhere,
/// or is empty and named as writers name it.
fn is_for_relocated(walk: &mut Walk<'_>, entry: &Entry, place: record::Extent) -> Result<bool> {
    let (start, size) = walk.bytes(place);
    let Some(fields) = &mut walk.system_use else {
        return Ok(false);
    };
    let mut is_for_relocated = id_of(&entry.raw).eq_ignore_ascii_case(RELOCATED);
    if start.saturating_add(size.next_multiple_of(SECTOR)) > walk.sectors.len() {
        return Ok(false);
    }
    let mut sector = vec![0; SECTOR as usize];
    for offset in (0..size.min(PIECE)).step_by(SECTOR as usize) {
        if undamaged(read_user(walk.sectors, start + offset, &mut sector))?.is_none() {
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
