//! Writing an HPI archive with changes. New data is stored: where the old data
//! was if it fits, else before the line at the end, which must stay the last one.

mod v1;
mod v2;

use std::ops::Range;
use std::sync::Arc;

use super::{Directory, Offsets};
use crate::changes::{Job, NewFile, Occupied, Patch, Tree, Weight, Written};
use crate::io::{Error, ReadAt, Result};
use crate::text::{to_windows_1252, windows_1252};
use crate::volume::{FileId, NodeId};

/// Longest name in bytes.
const MAX_NAME: usize = 255;

/// Writes an archive of either version.
pub(super) fn apply(job: &mut Job<'_>) -> Result<Written> {
    let source = job.input.source.clone();
    let offsets = Offsets::read(&source, &mut Tree::default())?;
    check_names(job);
    if !job.report.refusals.is_empty() {
        return Ok(Written::alone(Patch::new(source).finish()));
    }
    match offsets.directory {
        Directory::Version1 { end } => v1::apply(job, &offsets, end),
        Directory::Version2 { .. } => v2::apply(job, &offsets),
    }
}

/// Refuses added entries whose names the format has no place for.
fn check_names(job: &mut Job<'_>) {
    for node in job.tree.added().map(|(node, _)| node).collect::<Vec<_>>() {
        let name = &*job.tree.node(node).name;
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
        true => to_windows_1252(&node.name).into_owned(),
        false => node.raw().to_vec(),
    }
}

/// Where the new data of files is.
struct Places {
    /// The ranges of all files of the original.
    old: Vec<Range<u64>>,
    occupied: Occupied,
    /// The end of all data so far, in the original's offsets.
    end: u64,
}

impl Places {
    /// Creates the places of an original, in which `blocks` are not file data.
    fn new(source: &Arc<dyn ReadAt>, offsets: &Offsets, blocks: &[Range<u64>]) -> Result<Self> {
        let files = (0..offsets.records.len() as u32).map(FileId);
        let old: Vec<Range<u64>> = files
            .map(|file| offsets.data(file))
            .collect::<Result<_>>()?;
        let is_behind = old.iter().any(|data| data.end > offsets.end);
        Ok(Self {
            occupied: Occupied::new(old.iter().chain(blocks).cloned()),
            // A line that a file contains is not the last one.
            end: if is_behind { source.len() } else { offsets.end },
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

fn too_large() -> Error {
    Error::Unsupported("would be larger than 4 GiB".to_owned())
}

fn number(value: u64) -> Result<u32> {
    u32::try_from(value).map_err(|_| too_large())
}
