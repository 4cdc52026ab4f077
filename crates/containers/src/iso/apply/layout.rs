//! Placing directories, path tables and descriptors.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use super::disc::{Directory, DirectoryId, Disc, both};
use super::frames::Frames;
use super::path_tables::{rows, set_size, tables_of};
use super::room::Room;
use crate::changes::{Composed, Job, NewFile, Patch, Weight};
use crate::disc::sector::{Kind, SECTOR, Sectors, read_user};
use crate::io::{Error, ReadAt, Result, undamaged};
use crate::iso::descriptors::ROOT_RECORD;
use crate::iso::record::{Extent, is_in_other_track, le32};

/// Offset of the number of blocks in a volume descriptor.
const BLOCKS: usize = 80;

/// Identifiers of UDF behind the volume descriptors, and number of sectors in which
/// they are.
const UDF: [&[u8]; 2] = [b"NSR02", b"NSR03"];
const UDF_SECTORS: u64 = 8;

/// Number of sectors that xorriso reads at once.
const READ_AT_ONCE: u64 = 32;

/// The tag of an anchor, and the offset of the number of its own sector.
const ANCHOR: u16 = 2;
const TAG_LOCATION: usize = 12;

/// An image that is being written.
pub(super) struct Image {
    frames: Frames,
    patch: Patch,
    room: Room,
    /// The sector after the volume descriptors.
    descriptors_end: u64,
    is_changed: bool,
    /// The new descriptors, by the number of their trees.
    descriptors: Vec<Vec<u8>>,
}

impl Image {
    /// Begins with an unchanged image that has this room for new data.
    pub(super) fn new(frames: Frames, disc: &Disc, room: Room) -> Self {
        Self {
            patch: Patch::new(frames.source.clone()),
            room,
            frames,
            descriptors_end: disc.descriptors_end,
            is_changed: false,
            descriptors: disc
                .trees
                .iter()
                .map(|tree| tree.descriptor.clone())
                .collect(),
        }
    }

    /// Returns whether sectors may be of Form 2.
    pub(super) fn has_mode_2(&self) -> bool {
        self.frames.form.kind != Kind::Cooked
    }

    /// Returns the room for new data.
    pub(super) fn room(&mut self) -> &mut Room {
        &mut self.room
    }

    /// Puts data from a block on: user data, or the whole contents of sectors of
    /// Mode 2.
    pub(super) fn put(&mut self, start: u64, data: &NewFile, is_raw: bool) -> Result<()> {
        self.is_changed = true;
        let step = self.frames.step();
        let at = start * step;
        if is_raw {
            let frames = self.frames.of_mode_2(start, Arc::new(data.clone()));
            self.patch.put_source(at, &frames);
        } else if step == SECTOR {
            self.patch.put_file(at, data);
            let end = at + data.len();
            self.patch.fill(end, 0, end.next_multiple_of(SECTOR) - end);
        } else {
            let frames = self.frames.of_user(start, Arc::new(data.clone()))?;
            self.patch.put_source(at, &frames);
        }
        Ok(())
    }

    fn put_bytes(&mut self, start: u64, bytes: Vec<u8>) -> Result<()> {
        self.put(start, &NewFile::new("", Arc::new(bytes)), false)
    }

    /// Places and writes the changed directories.
    pub(super) fn directories(&mut self, disc: &mut Disc, job: &mut Job<'_>) -> Result<()> {
        for tree in 0..disc.trees.len() {
            let all = disc.trees[tree].directories.clone();
            let all: Vec<_> = all
                .into_iter()
                .filter(|&id| !disc.dir(id).is_deleted)
                .collect();
            for &id in &all {
                if disc.dir(id).is_changed {
                    self.place(disc, id, job)?;
                }
            }
            for &id in &all {
                if disc.dir(id).is_changed {
                    let bytes = encode(disc, id);
                    self.put_bytes(disc.dir(id).place.block.into(), bytes)?;
                }
            }
        }
        Ok(())
    }

    /// Places a directory. If it moves, its parent and its subdirectories, which
    /// say where it is, change too.
    fn place(&mut self, disc: &mut Disc, id: DirectoryId, job: &mut Job<'_>) -> Result<()> {
        let directory = disc.dir(id);
        let parent = directory.parent;
        let needed = records(disc, id).len() as u64;
        let needed = needed.max(SECTOR);
        let old = directory.old;
        let old_place = directory.place;
        let room = u64::from(directory.place.size).next_multiple_of(SECTOR);
        // Some readers want a directory behind its parent.
        let moved = |directory: &Directory| {
            directory.old.map(|old| old.block) != Some(directory.place.block)
        };
        let is_before_parent = parent.is_some_and(|parent| {
            let parent = disc.dir(parent);
            moved(parent) && parent.place.block > old_place.block
        });
        let has_room = needed <= room && self.room.can_write(old_place);
        let stays = old.is_some() && has_room && !is_before_parent;
        let size = match old {
            Some(old) if needed <= u64::from(old.size) => u64::from(old.size),
            _ => needed,
        };
        let block = match stays {
            true => u64::from(old_place.block),
            false => self.room.append(size.div_ceil(SECTOR))?,
        };
        let (Ok(block), Ok(size)) = (u32::try_from(block), u32::try_from(size)) else {
            return Err(Error::Unsupported(
                "would have a directory of 4 GiB".to_owned(),
            ));
        };
        if let Some(old) = old.filter(|old| old.block != block) {
            if disc.has_relocated() {
                let text = "has directories of Rock Ridge that stand elsewhere than they are \
                            shown, and one of its directories would have to be moved";
                return Err(Error::Unsupported(text.to_owned()));
            }
            let path = disc.dir(id).path.clone();
            let text = format!("directory moved from block {} to {block}", old.block);
            job.report.note(Weight::Information, path, text);
        }
        let place = Extent { block, size };
        if place != old_place {
            disc.dir_mut(id).place = place;
            if let Some(parent) = parent {
                disc.dir_mut(parent).is_changed = true;
            }
            let inner = disc.dir(id).records.clone().into_iter();
            let inner: Vec<_> = inner
                .filter_map(|entry| disc.record(entry).directory)
                .collect();
            for id in inner {
                disc.dir_mut(id).is_changed = true;
            }
        }
        Ok(())
    }

    /// Writes the path tables of trees whose directories have moved.
    pub(super) fn path_tables(&mut self, disc: &mut Disc) -> Result<()> {
        for number in 0..disc.trees.len() {
            let tree = &disc.trees[number];
            let directories = tree.directories.iter().map(|&id| disc.dir(id));
            let moved = directories.filter_map(|directory| {
                let old = directory.old?.block;
                (old != directory.place.block).then_some((old, directory.place.block))
            });
            let moved: HashMap<u32, u32> = moved.collect();
            if tree.is_restructured {
                self.new_tables(disc, number)?;
            } else if !moved.is_empty() {
                self.patch_tables(disc, number, &moved)?;
            }
        }
        Ok(())
    }

    /// Changes the places of directories in the path tables.
    fn patch_tables(
        &mut self,
        disc: &Disc,
        number: usize,
        moved: &HashMap<u32, u32>,
    ) -> Result<()> {
        let sectors = self.frames.sectors();
        for (table, place) in tables_of(&disc.trees[number].descriptor) {
            if u64::from(place.size) > sectors.len() {
                continue;
            }
            let mut bytes = vec![0; place.size as usize];
            read_user(&sectors, u64::from(place.block) * SECTOR, &mut bytes)?;
            table.update(&mut bytes, moved);
            self.put_bytes(place.block.into(), bytes)?;
        }
        Ok(())
    }

    /// Writes path tables anew.
    fn new_tables(&mut self, disc: &Disc, number: usize) -> Result<()> {
        let tree = &disc.trees[number];
        let rows = rows(disc, tree.root);
        for (table, old) in tables_of(&tree.descriptor) {
            let bytes = table.encode(disc, &rows)?;
            let count = (bytes.len() as u64).div_ceil(SECTOR);
            let start = match self.room.fits(old, count) {
                Some(start) => start,
                None => self.room.append(count)?,
            };
            let descriptor = &mut self.descriptors[number];
            table.set_place(descriptor, start as u32);
            set_size(descriptor, bytes.len() as u32);
            self.put_bytes(start, bytes)?;
        }
        Ok(())
    }

    /// Adds an empty sector where a directory is the last one of a multiple of 32: what
    /// xorriso 1.5.4 reads at once would have to go on behind it.
    pub(super) fn pad(&mut self, disc: &Disc) -> Result<()> {
        let end = self.room.end();
        let directories = disc.trees.iter().flat_map(|tree| &tree.directories);
        let mut ends = directories.map(|&id| disc.dir(id).place.blocks().end);
        if end > self.frames.count
            && end.is_multiple_of(READ_AT_ONCE)
            && ends.any(|last| last == end)
        {
            let block = self.room.append(1)?;
            self.put_bytes(block, vec![0; SECTOR as usize])?;
        }
        Ok(())
    }

    /// Returns the number of blocks that the track had.
    pub(super) fn blocks(&self) -> u64 {
        self.frames.count - self.frames.first
    }

    /// Moves the extents of files in tracks behind that with the file system with
    /// these tracks.
    pub(super) fn move_other_tracks(&mut self, disc: &mut Disc) -> Result<()> {
        let grown = self.grown();
        let behind = self.blocks();
        let mut changed = BTreeSet::new();
        for record in disc.records.iter_mut().filter(|_| grown > 0) {
            if !is_in_other_track(&record.raw, behind) {
                continue;
            }
            for extent in &mut record.extents {
                if u64::from(extent.block) >= behind {
                    let moved = u64::from(extent.block) + grown;
                    extent.block = u32::try_from(moved).unwrap_or(u32::MAX);
                    changed.insert(record.parent.0);
                }
            }
        }
        for id in changed.into_iter().map(DirectoryId) {
            if !disc.dir(id).is_deleted {
                self.put_bytes(disc.dir(id).place.block.into(), encode(disc, id))?;
            }
        }
        Ok(())
    }

    /// Returns by how many sectors the image is longer than the original.
    fn grown(&self) -> u64 {
        self.room.end().saturating_sub(self.frames.count)
    }

    /// Writes the volume descriptors.
    pub(super) fn descriptors(&mut self, disc: &Disc) -> Result<()> {
        for (number, tree) in disc.trees.iter().enumerate() {
            let place = disc.dir(tree.root).place;
            let mut descriptor = self.descriptors[number].clone();
            let root = &mut descriptor[ROOT_RECORD..];
            root[1] = 0;
            root[2..10].copy_from_slice(&both(place.block));
            root[10..18].copy_from_slice(&both(place.size));
            if self.room.end() > self.frames.count {
                let old = u64::from(le32(&tree.descriptor, BLOCKS));
                // Some volumes include the audio tracks.
                let grown = match old > self.blocks() {
                    true => self.grown(),
                    false => 0,
                };
                let blocks = (self.room.end() - self.frames.first).max(old + grown);
                let blocks = u32::try_from(blocks).unwrap_or(u32::MAX);
                descriptor[BLOCKS..][..8].copy_from_slice(&both(blocks));
            }
            if descriptor != tree.descriptor {
                self.put_bytes(tree.sector, descriptor)?;
            }
        }
        Ok(())
    }

    /// Overwrites what makes the image UDF, which would show the old files, if
    /// anything was changed. Returns whether there is anything.
    pub(super) fn switch_off_udf(&mut self, sectors: &Sectors) -> Result<bool> {
        let read = |sector: u64| -> Result<Vec<u8>> {
            let mut bytes = vec![0; SECTOR as usize];
            let read = undamaged(read_user(sectors, sector * SECTOR, &mut bytes))?;
            // A damaged sector, or one of another track, has nothing of UDF.
            Ok(read.map_or(vec![0; SECTOR as usize], |()| bytes))
        };
        let count = self.frames.count;
        let behind = self.descriptors_end..(self.descriptors_end + UDF_SECTORS).min(count);
        let mut found = Vec::new();
        for sector in behind {
            if UDF.contains(&&read(sector)?[1..6]) {
                found.push(sector);
            }
        }
        if found.is_empty() || !self.is_changed {
            return Ok(false);
        }
        let anchors = [
            self.frames.first + 256,
            self.frames.first + 512,
            count.wrapping_sub(257),
            count.wrapping_sub(256),
            count - 1,
        ];
        for sector in BTreeSet::from(anchors)
            .into_iter()
            .filter(|sector| (19..count).contains(sector))
        {
            if is_anchor(&read(sector)?, sector) {
                found.push(sector);
            }
        }
        for sector in found {
            self.put_bytes(sector, vec![0; SECTOR as usize])?;
        }
        Ok(true)
    }

    /// Returns the image.
    pub(super) fn finish(mut self) -> Composed {
        if self.room.end() > self.frames.count {
            self.patch.grow(self.room.end() * self.frames.step());
        }
        self.patch.finish()
    }
}

/// Returns the records of a directory, none across a sector.
fn records(disc: &Disc, id: DirectoryId) -> Vec<u8> {
    let directory = disc.dir(id);
    let above = directory
        .parent
        .map_or(directory, |parent| disc.dir(parent));
    let mut bytes = Vec::new();
    for (own, of) in directory.own.iter().zip([directory, above]) {
        let mut record = own.clone();
        record[2..10].copy_from_slice(&both(of.place.block));
        record[10..18].copy_from_slice(&both(of.place.size));
        push(&mut bytes, record);
    }
    for &entry in &directory.records {
        let record = disc.record(entry);
        if let Some(inner) = record.directory {
            push(&mut bytes, record.bytes(disc.dir(inner).place, false));
            continue;
        }
        let (last, first) = match record.extents.split_last() {
            Some(split) => split,
            None => continue,
        };
        for &extent in first {
            push(&mut bytes, record.bytes(extent, true));
        }
        push(&mut bytes, record.bytes(*last, false));
    }
    bytes.resize(bytes.len().next_multiple_of(SECTOR as usize), 0);
    bytes
}

/// Adds a record to those of a directory.
fn push(bytes: &mut Vec<u8>, record: Vec<u8>) {
    let sector = SECTOR as usize;
    if bytes.len() % sector + record.len() > sector {
        bytes.resize(bytes.len().next_multiple_of(sector), 0);
    }
    bytes.extend(record);
}

/// Returns the bytes of a directory.
fn encode(disc: &Disc, id: DirectoryId) -> Vec<u8> {
    let mut bytes = records(disc, id);
    let size = disc.dir(id).place.size as usize;
    bytes.resize(bytes.len().max(size), 0);
    bytes
}

/// Returns whether a sector has an anchor of UDF: a tag with its own number and a
/// right sum.
fn is_anchor(bytes: &[u8], sector: u64) -> bool {
    let sum = bytes[..4].iter().chain(&bytes[5..16]);
    let sum = sum.fold(0_u8, |sum, byte| sum.wrapping_add(*byte));
    u16::from_le_bytes([bytes[0], bytes[1]]) == ANCHOR
        && u64::from(le32(bytes, TAG_LOCATION)) == sector
        && sum == bytes[4]
}
