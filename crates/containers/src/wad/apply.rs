//! Writing a HED/WAD pair with changes. The directory is written again; new data
//! is where the old data was if it fits, else at the end.

use super::directory::{Directory, ELSEWHERE, FileName, Form, Record, SECTOR, SECTOR_BITS};
use super::{SEPARATORS, Wad, names};
use crate::changes::{Composed, Job, NewFile, Occupied, Patch, Weight, Written};
use crate::io::Result;
use crate::volume::{FileId, NodeId};

/// The area of the disc in the upper bits of an offset in sectors.
const AREA: u32 = !SECTOR_BITS;

/// Writes the pair.
pub(super) fn apply(wad: &Wad, old: Directory, job: &mut Job<'_>) -> Result<Written> {
    let spans = wad.files.iter();
    let mut data = Data {
        end: wad.bytes.len().next_multiple_of(SECTOR),
        patch: Patch::new(wad.bytes.clone()),
        occupied: Occupied::new(spans.map(|span| span.offset..span.offset + span.size)),
        in_sectors: old.in_sectors,
    };
    let mut rows = Vec::with_capacity(old.records.len());
    let (added, by_hash) = added(job, &old);
    let mut file = 0;
    for mut row in old.records {
        if !row.is_elsewhere {
            let id = FileId(file);
            file += 1;
            if job.tree.is_file_deleted(id) {
                continue;
            }
            let named = by_hash
                .iter()
                .find(|(hash, ..)| row.name == FileName::Hash(*hash));
            let new = named.map(|(_, new)| new.clone());
            let new = new.or_else(|| job.tree.new_of(id).cloned());
            if let (Some(new), Some(node)) = (new, job.tree.node_of(id)) {
                let span = wad.files[id.0 as usize];
                let own = span.offset..span.offset + span.size;
                data.replace(job, node, &mut row, own, &new);
            }
        }
        rows.push(row);
    }
    for (node, name, new) in added {
        let mut row = Record {
            name,
            offset: 0,
            size: 0,
            is_elsewhere: false,
        };
        data.append(job, node, &mut row, &new);
        rows.push(row);
    }
    if rows.is_empty() {
        job.refuse_to_empty();
    }
    let directory = [encode(&rows, old.form), old.terminator].concat();
    Ok(Written {
        data: data.patch.finish(),
        directory: Some(Composed::of_bytes(directory)),
        files: Vec::new(),
    })
}

/// An added file: its node, the name in its record, and its contents.
type Added = (NodeId, FileName, NewFile);

/// Returns the added files, and the new contents of files that are given by their
/// hashes.
fn added(job: &mut Job<'_>, old: &Directory) -> (Vec<Added>, Vec<(u32, NewFile)>) {
    let (mut added, mut by_hash) = (Vec::new(), Vec::new());
    let plain = old.records.iter().filter_map(|record| match &record.name {
        FileName::Plain(name) => Some(&name[..]),
        FileName::Hash(_) => None,
    });
    let mut bytes = plain.flatten().copied();
    let separator = bytes.find(|byte| SEPARATORS.contains(byte));
    for (node, new) in job.added_files() {
        let path = job.tree.path(node);
        if old.form == Form::Hashed {
            let hash = stated_hash(&path).unwrap_or_else(|| names::hash(&path.to_lowercase()));
            let is_known = old
                .records
                .iter()
                .any(|record| record.name == FileName::Hash(hash));
            match is_known {
                true => by_hash.push((hash, new)),
                false if names::find(hash).is_some() => {
                    added.push((node, FileName::Hash(hash), new));
                }
                false => {
                    let reason = "the directory has hashes of names, and this name is not known";
                    job.refuse(node, reason);
                }
            }
            continue;
        }
        if !path.bytes().all(|byte| (0x20..0x7F).contains(&byte)) {
            job.refuse(node, "no name for a WAD (ASCII)");
        } else if path.contains('/') && separator.is_none() {
            job.refuse(node, "this archive has no directories");
        } else {
            let separator = separator.unwrap_or(b'\\');
            let name = path.bytes();
            let name = name.map(|byte| if byte == b'/' { separator } else { byte });
            added.push((node, FileName::Plain(name.collect()), new));
        }
    }
    (added, by_hash)
}

/// Returns the hash that a name consists of, which may have an extension.
fn stated_hash(name: &str) -> Option<u32> {
    let stem = name.split_once('.').map_or(name, |(stem, _)| stem);
    (stem.len() == 8).then(|| u32::from_str_radix(stem, 16).ok())?
}

/// The file with the data.
struct Data {
    patch: Patch,
    /// The end of all data.
    end: u64,
    occupied: Occupied,
    in_sectors: bool,
}

impl Data {
    /// Places the new contents of the file at `own`.
    fn replace(
        &mut self,
        job: &mut Job<'_>,
        node: NodeId,
        row: &mut Record,
        own: std::ops::Range<u64>,
        new: &NewFile,
    ) {
        // The last file may grow up to the end of its sector.
        let room = self.occupied.room(&own).min(self.end);
        if !own.is_empty() && !new.is_empty() && own.start + new.len() <= room {
            self.put(own.start, new, room);
            row.size = new.len() as u32;
            self.occupied.remove(&own);
            self.occupied.add(own.start..own.start + new.len());
            return;
        }
        if !own.is_empty() && !new.is_empty() {
            let text = format!("moved from {:#x} to {:#x}", own.start, self.end);
            job.note(Weight::Information, node, text);
        }
        self.append(job, node, row, new);
    }

    /// Places data at the end.
    fn append(&mut self, job: &mut Job<'_>, node: NodeId, row: &mut Record, new: &NewFile) {
        row.size = new.len() as u32;
        if new.is_empty() {
            return;
        }
        let start = self.end;
        let is_large = match self.in_sectors {
            true => start / SECTOR > SECTOR_BITS.into() || new.len() >= ELSEWHERE.into(),
            false => start + new.len() > u32::MAX.into() || new.len() >= ELSEWHERE.into(),
        };
        if is_large {
            job.refuse(node, "ends past what the directory can address");
            return;
        }
        row.offset = match self.in_sectors {
            true => (start / SECTOR) as u32 | row.offset & AREA,
            false => start as u32,
        };
        self.put(start, new, u64::MAX);
        self.occupied.add(start..start + new.len());
        self.end = (start + new.len()).next_multiple_of(SECTOR);
    }

    /// Puts data, with zeros up to the end of its sector or `room`.
    fn put(&mut self, start: u64, new: &NewFile, room: u64) {
        let end = start + new.len();
        self.patch.put_file(start, new);
        let padding = end.next_multiple_of(SECTOR).min(room) - end;
        self.patch.fill(end, 0, padding);
    }
}

/// Returns the records of a directory, without what marks its end.
fn encode(rows: &[Record], form: Form) -> Vec<u8> {
    let mut bytes = Vec::new();
    for row in rows {
        let elsewhere = if row.is_elsewhere { ELSEWHERE } else { 0 };
        let numbers = [row.offset, row.size | elsewhere]
            .map(u32::to_le_bytes)
            .concat();
        match &row.name {
            FileName::Hash(hash) => bytes.extend([&hash.to_le_bytes()[..], &numbers].concat()),
            FileName::Plain(name) if form == Form::Names => {
                push_name(&mut bytes, name);
                bytes.extend(numbers);
            }
            FileName::Plain(name) => {
                bytes.extend(numbers);
                push_name(&mut bytes, name);
            }
        }
    }
    bytes
}

/// Adds a name with its NUL and the padding to a multiple of four.
fn push_name(bytes: &mut Vec<u8>, name: &[u8]) {
    bytes.extend_from_slice(name);
    bytes.push(0);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
}
