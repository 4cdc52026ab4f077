//! Writing an ISO 9660 disc with changes, also one in raw sectors. A file that
//! needs no more sectors stays where it is; everything else is at the end, because
//! gaps between files may have data that no directory names. Only on a disc that is
//! full are gaps used, and only sectors of zeros in them.

mod disc;
mod frames;
mod layout;
mod names;
mod path_tables;
mod read;
mod room;

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use self::disc::{Disc, Entry};
use self::frames::Frames;
use self::layout::Image;
use self::names::Namer;
use self::room::Room;
use crate::changes::{Composed, Job, Kind, NewFile, Weight, Written};
use crate::disc::data_form;
use crate::disc::sector::{DESCRIPTORS, Form, MODE_2, RAW, SECTOR};
use crate::format::Input;
use crate::io::{Error, ReadAt, Result};
use crate::iso::RAW_SUFFIX;
use crate::iso::record::{Extent, is_in_other_track};
use crate::volume::NodeId;

/// Longest extent: longer files have several.
const LONGEST: u64 = 0xFFFF_F800;

/// Writes the disc.
pub(super) fn apply(input: &Input<'_>, job: &mut Job<'_>) -> Result<Written> {
    let form = data_form(input)?.filter(|form| form.step <= RAW);
    let Some(form) = form else {
        let text = "a CD in frames of 2448 bytes cannot be changed: extract its .bin first";
        return Err(Error::Unsupported(text.to_owned()));
    };
    let space = Space::whole(input.source.clone(), form);
    splice(job, space).map(Written::alone)
}

/// The sectors that a file system is in, by their numbers from 0 on.
pub(crate) struct Space {
    pub(crate) source: Arc<dyn ReadAt>,
    pub(crate) form: Form,
    /// Number of the sector where the volume begins: its descriptors are behind 16 others.
    pub(crate) first: u64,
    /// Sectors that cannot be written.
    pub(crate) gaps: Vec<Range<u64>>,
    /// The sector after the last one of the medium; `None` if that has no end.
    pub(crate) limit: Option<u64>,
}

impl Space {
    /// Returns all sectors of a source, which may become longer.
    pub(crate) fn whole(source: Arc<dyn ReadAt>, form: Form) -> Self {
        Self {
            source,
            form,
            first: 0,
            gaps: Vec::new(),
            limit: None,
        }
    }
}

/// Returns the sectors of a disc, or of its data track, with changes.
///
/// # Errors
/// Returns an error under the same conditions as
/// [`Write`](crate::changes::Write).
pub(crate) fn splice(job: &mut Job<'_>, space: Space) -> Result<Composed> {
    let frames = Frames::new(space.source, space.form, space.first);
    let sectors = frames.sectors();
    let disc = Disc::read(&sectors, space.first, &job.tree)?;
    let room = Room::new(&frames, &disc, space.gaps, space.limit);
    let mut writer = Writer {
        image: Image::new(frames, &disc, room),
        disc,
    };
    writer.replace(job)?;
    writer.delete(job);
    writer.add(job)?;
    writer.disc.settle();
    writer.image.directories(&mut writer.disc, job)?;
    writer.image.path_tables(&mut writer.disc)?;
    writer.image.pad(&writer.disc)?;
    writer.image.move_other_tracks(&mut writer.disc)?;
    writer.image.descriptors(&writer.disc)?;
    if writer.image.switch_off_udf(&sectors)? {
        let text = "the disc also has UDF, which is switched off";
        job.report.note(Weight::Warning, "", text);
    }
    Ok(writer.image.finish())
}

/// A disc that is being written.
struct Writer {
    disc: Disc,
    image: Image,
}

impl Writer {
    /// Places the new contents of files.
    fn replace(&mut self, job: &mut Job<'_>) -> Result<()> {
        let replaced = job.tree.nodes().filter(|(_, node)| !node.is_added);
        let replaced = replaced.filter_map(|(id, _)| Some((id, job.tree.new_at(id)?.clone())));
        let mut whole = HashSet::new();
        for (node, new) in replaced.collect::<Vec<_>>() {
            let raw_of = self.disc.raw_of(&job.tree, node);
            let Some(entry) = raw_of.or_else(|| self.disc.entry_of(node)) else {
                job.refuse(node, "is generated");
                continue;
            };
            if is_in_other_track(&self.disc.record(entry).raw, self.image.blocks()) {
                job.refuse(node, "is in another track, which is not changed");
                continue;
            }
            let name = job.tree.node(node).name.to_owned();
            if raw_of.is_none() && self.disc.has_raw(&job.tree, node) {
                let reason = format!("is in Form 2 sectors: change {name}{RAW_SUFFIX}");
                job.refuse(node, reason);
                continue;
            }
            if raw_of.is_some_and(|file| !whole.insert(file)) {
                job.refuse(node, "is changed in another form as well");
                continue;
            }
            self.replace_one(job, node, entry, &new, raw_of.is_some())?;
        }
        Ok(())
    }

    /// Places the new contents of a file: user data, or the whole contents of its
    /// sectors.
    fn replace_one(
        &mut self,
        job: &mut Job<'_>,
        node: NodeId,
        entry: Entry,
        new: &NewFile,
        is_raw: bool,
    ) -> Result<()> {
        let new = match is_raw {
            true => frames::mode_2_of(new)?,
            false => Some(new.clone()),
        };
        let Some(new) = new else {
            job.refuse(node, "no whole sectors of 2336 bytes");
            return Ok(());
        };
        if !self.disc.set_unpacked(entry) {
            let reason = "is packed by zisofs, as a continuation of its record says, \
                          which is not changed";
            job.refuse(node, reason);
            return Ok(());
        }
        let Some(extents) = self.place(job, node, &new, Some(entry), is_raw)? else {
            return Ok(());
        };
        let partners = self.disc.partners(entry);
        if partners.len() + 1 < self.disc.trees.len() {
            let text = "has no partner in the other directory tree, which shows it as it was";
            job.note(Weight::Warning, node, text);
        }
        for entry in partners.into_iter().chain([entry]) {
            self.disc.set_extents(entry, extents.clone());
        }
        Ok(())
    }

    /// Returns the extents of new data: where the old data was if it fits and no
    /// other file has it, else at the end; `None` if there is no room, which is
    /// refused.
    fn place(
        &mut self,
        job: &mut Job<'_>,
        node: NodeId,
        new: &NewFile,
        old: Option<Entry>,
        is_raw: bool,
    ) -> Result<Option<Vec<Extent>>> {
        let old = old.map(|entry| self.disc.record(entry).extents.clone());
        let old = old.unwrap_or_default();
        let first = old.first().map_or(0, |extent| extent.block);
        let (count, length) = match is_raw {
            true => (new.len() / MODE_2, new.len() / MODE_2 * SECTOR),
            false => (new.len().div_ceil(SECTOR), new.len()),
        };
        if count == 0 {
            return Ok(Some(vec![Extent {
                block: first,
                size: 0,
            }]));
        }
        let alone = match old[..] {
            [extent] if self.disc.is_alone(extent) => self.image.room().fits(extent, count),
            _ => None,
        };
        let start = match alone {
            Some(start) => start,
            None => {
                let start = match self.image.room().append(count) {
                    Err(Error::Unsupported(reason)) => {
                        job.refuse(node, reason);
                        return Ok(None);
                    }
                    start => start?,
                };
                if old.iter().any(|extent| extent.size > 0) {
                    let text = format!(
                        "moved from block {first} to {start}; a game that does not look it up \
                         reads the old one"
                    );
                    job.note(Weight::Risk, node, text);
                }
                start
            }
        };
        self.image.put(start, new, is_raw)?;
        let mut extents = Vec::new();
        let mut done = 0;
        while done < length {
            let size = (length - done).min(LONGEST);
            extents.push(Extent {
                // All blocks are below the end, which is a `u32`.
                block: (start + done / SECTOR) as u32,
                size: size as u32,
            });
            done += size;
        }
        Ok(Some(extents))
    }

    /// Deletes the records of deleted entries, in all trees.
    fn delete(&mut self, job: &mut Job<'_>) {
        let deleted: Vec<NodeId> = job.tree.deleted().map(|(node, _)| node).collect();
        for node in deleted {
            if let Some(entry) = self.disc.entry_of(node) {
                for partner in self.disc.partners(entry) {
                    self.disc.delete(partner);
                }
                self.disc.delete(entry);
                continue;
            }
            let of = self.disc.raw_of(&job.tree, node);
            let is_with_file = of.is_some_and(|entry| {
                let file = self.disc.record(entry).node;
                file.is_some_and(|file| job.tree.is_deleted(file))
            });
            if !is_with_file {
                job.refuse(node, "is generated");
            }
        }
    }

    /// Adds directories and files, in all trees.
    fn add(&mut self, job: &mut Job<'_>) -> Result<()> {
        let added = job.added();
        if added.is_empty() {
            return Ok(());
        }
        if self.disc.system_use.is_some() {
            for node in added {
                let reason =
                    "the disc has Rock Ridge: files can be replaced and deleted, not added";
                job.refuse(node, reason);
            }
            return Ok(());
        }
        let mut namer = Namer::of(&self.disc);
        for node in added {
            let is_directory = matches!(job.tree.node(node).kind, Kind::Directory);
            let name = job.tree.node(node).name.to_string();
            let is_raw = name.to_ascii_lowercase().ends_with(RAW_SUFFIX);
            if is_raw && self.image.has_mode_2() {
                job.refuse(node, "new files in Form 2 sectors are not supported");
                continue;
            }
            // Nothing can be in a directory that was refused.
            let Some(parents) = self.disc.directories_of(job.tree.parent(node)) else {
                job.refuse(
                    node,
                    "its directory has no partner in the other directory tree",
                );
                continue;
            };
            let mut ids = Vec::with_capacity(parents.len());
            for &parent in &parents {
                match namer.id(&self.disc, parent, &name, is_directory) {
                    Ok(id) => ids.push(id),
                    Err(reason) => {
                        job.refuse(node, reason);
                        break;
                    }
                }
            }
            if ids.len() < parents.len() {
                continue;
            }
            let extents = match job.tree.new_at(node).cloned() {
                Some(new) => self.place(job, node, &new, None, false)?,
                None => Some(Vec::new()),
            };
            let Some(extents) = extents else {
                continue;
            };
            let added = parents.into_iter().zip(ids);
            let added = added
                .map(|(parent, id)| (parent, namer.record(&self.disc, parent, &id, is_directory)));
            let added: Vec<_> = added.collect();
            let directory = is_directory.then_some(&*name);
            self.disc.insert(node, added, extents, directory);
        }
        Ok(())
    }
}
