//! Writing an HPI archive with changes. New data is put where the old data was if it fits,
//! else before the line at the end, which must stay the last one.

mod v1;
mod v2;

use std::collections::HashMap;
use std::ops::Range;

use super::chunk::Method;
use super::{Directory, Hpi, Version};
use crate::changes::{Composed, Job, NewFile, Occupied, Tree, Weight, Written};
use crate::io::{Compact, Error, Result};
use crate::text::{to_windows_1252, windows_1252};
use crate::volume::{FileId, NodeId};

/// Longest name in bytes.
const MAX_NAME: usize = 255;

/// The packed parts of a changed archive.
#[derive(Default)]
pub(super) struct Packed {
    /// The packed ones of the new files by their nodes, whose new contents are the packed
    /// bytes.
    pub(super) files: HashMap<NodeId, PackedFile>,
    /// True if the directory is packed, which only version 2 does.
    pub(super) directory: bool,
}

/// A new file that is packed.
pub(super) struct PackedFile {
    /// The file as it was before.
    pub(super) plain: NewFile,
    /// The method of its chunks.
    pub(super) method: Method,
    /// The checksum of its bytes, for version 2.
    pub(super) checksum: u32,
}

/// Writes an archive of either version whose new files are stored.
pub(super) fn apply_stored(hpi: &Hpi, directory: Directory, job: &mut Job<'_>) -> Result<Written> {
    apply(hpi, directory, job, &Packed::default())
}

/// Writes an archive of either version.
pub(super) fn apply(
    hpi: &Hpi,
    directory: Directory,
    job: &mut Job<'_>,
    packed: &Packed,
) -> Result<Written> {
    check_names(job);
    if !job.report.refusals.is_empty() {
        return Ok(Written::alone(Composed::whole(&hpi.source)));
    }
    match directory.version {
        Version::One { end } => v1::apply(hpi, &directory, end, job, packed),
        Version::Two { header, .. } => v2::apply(hpi, header, directory.end, job, packed),
    }
}

/// Refuses added entries whose names the format has no place for.
fn check_names(job: &mut Job<'_>) {
    for node in job.added() {
        let name = job.tree.node(node).name;
        let raw = to_windows_1252(name);
        if windows_1252(&raw) != name || raw.contains(&b'\\') || raw.contains(&0) {
            job.refuse(node, "no name for an HPI archive (Windows-1252)");
        } else if raw.len() > MAX_NAME {
            job.refuse(node, "no name for an HPI archive (at most 255 bytes)");
        }
    }
}

/// Returns the name of a node as the archive stores it.
fn raw_name(tree: &Tree, node: NodeId) -> Vec<u8> {
    let node = tree.node(node);
    match node.is_added {
        true => to_windows_1252(node.name).into_owned(),
        false => node.raw().to_vec(),
    }
}

/// The positions of the new data of files.
struct Places {
    /// The ranges of all files of the original.
    old: Vec<Range<u64>>,
    occupied: Occupied,
    /// The end of all data so far, in the original's offsets.
    end: u64,
}

impl Places {
    /// Creates the places of an original. `blocks` hold other data than files; `end` is the
    /// offset of the line at the end.
    fn new(hpi: &Hpi, end: u64, blocks: &[Range<u64>]) -> Result<Self> {
        let old = hpi.all_data()?;
        let is_behind = old.iter().any(|data| data.end > end);
        Ok(Self {
            occupied: Occupied::new(old.iter().chain(blocks).cloned()),
            // A line that a file contains is not the last one.
            end: if is_behind { hpi.source.len() } else { end },
            old,
        })
    }

    /// Returns the offset for new data: of a file of the original if it has a
    /// number.
    fn place(
        &mut self,
        job: &mut Job<'_>,
        file: Option<FileId>,
        node: NodeId,
        new: &NewFile,
    ) -> Result<u64> {
        if new.is_empty() {
            return Ok(0);
        }
        if let Some(file) = file {
            let own = self.old[file.0 as usize].clone();
            let is_alone = !own.is_empty() && self.occupied.room(&own) != own.start;
            if is_alone && new.len() <= own.end - own.start {
                return Ok(own.start);
            }
            let text = format!("moved from {:#x} to {:#x}", own.start, self.end);
            job.note(Weight::Information, node, text);
        }
        let start = self.end;
        self.end += new.len();
        match self.end <= u32::MAX.into() {
            true => Ok(start),
            false => Err(too_large()),
        }
    }
}

/// The records of all files by their nodes, and the offsets of new data with their files.
type Placed<R> = (Vec<R>, Vec<(u32, NodeId)>);

/// Places the new data of all files. `record` returns the record of a file of the original,
/// and `new_record` the record of a new one with data at an offset, given the
/// old record.
fn place<R: Clone + Default>(
    job: &mut Job<'_>,
    places: &mut Places,
    record: impl Fn(&Job<'_>, FileId, NodeId) -> R,
    new_record: impl Fn(u64, NodeId, &NewFile, &R) -> Result<R>,
) -> Result<Placed<R>> {
    let mut records = vec![R::default(); job.tree.len()];
    let mut puts = Vec::new();
    for file in (0..places.old.len() as u32).map(FileId) {
        let Some(node) = job.tree.node_of(file) else {
            continue;
        };
        let mut record = record(job, file, node);
        if let Some((_, new)) = job.replaced(file) {
            let at = places.place(job, Some(file), node, &new)?;
            record = new_record(at, node, &new, &record)?;
            puts.make_room(1);
            puts.push((number(at)?, node));
        }
        records[node.0 as usize] = record;
    }
    for node in job.added() {
        let Some(new) = job.tree.new_at(node).cloned() else {
            continue;
        };
        let at = places.place(job, None, node, &new)?;
        records[node.0 as usize] = new_record(at, node, &new, &R::default())?;
        puts.make_room(1);
        puts.push((number(at)?, node));
    }
    Ok((records, puts))
}

fn too_large() -> Error {
    Error::Unsupported("would be larger than 4 GiB".to_owned())
}

fn number(value: u64) -> Result<u32> {
    u32::try_from(value).map_err(|_| too_large())
}
