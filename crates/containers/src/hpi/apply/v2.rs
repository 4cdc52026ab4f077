//! Version 2: the directory and the names are written again behind the data.

use std::collections::VecDeque;
use std::sync::Arc;

use zerocopy::IntoBytes;

use super::{Packed, PackedFile, Places, number, place, raw_name};
use crate::changes::{Checksum, Composed, Job, Kind, NewFile, Patch, Tree, Written};
use crate::hpi::chunk::Method;
use crate::hpi::file_sum::FileSum;
use crate::hpi::record::{Dir2, File2, Header2};
use crate::hpi::write::pack;
use crate::hpi::{FileRecord, Hpi, Packing};
use crate::io::Result;
use crate::volume::{FileId, NodeId};

/// Writes the archive.
pub(super) fn apply(
    hpi: &Hpi,
    mut header: Header2,
    end: u64,
    job: &mut Job<'_>,
    packed: &Packed,
) -> Result<Written> {
    let start = size_of::<Header2>() as u64;
    let [directory, names] = header.blocks();
    let mut places = Places::new(hpi, end, &[directory, names, 0..start])?;
    let line = places.end..hpi.source.len();
    places.end = data_end(header, &places);
    let base = Composed::part(&hpi.source, 0..places.end);
    let old = |job: &Job<'_>, file: FileId, node| record(hpi, file, &job.tree.node(node).kind);
    let new =
        |at, node, new: &NewFile, old: &File2| new_record(at, new, packed.files.get(&node), old);
    let (records, puts) = place(job, &mut places, old, new)?;
    let names = places.end;
    drop(places);
    let mut patch = Patch::new(Arc::new(base));
    for (at, node) in puts {
        if let Some(new) = job.tree.new_at(node) {
            patch.put_file(at.into(), new);
        }
    }
    let mut layout = Layout::new(&job.tree, &records)?;
    if packed.directory {
        for block in [&mut layout.names, &mut layout.directories] {
            *block = pack::chunk(block, Method::Zlib, true);
        }
    }
    let directory = names + layout.names.len() as u64;
    let end = directory + layout.directories.len() as u64;
    number(end)?;
    header.name_block = number(names)?.into();
    header.name_size = number(layout.names.len() as u64)?.into();
    header.dir_block = number(directory)?.into();
    header.dir_size = number(layout.directories.len() as u64)?.into();
    patch.put(0, header.as_bytes().to_vec());
    patch.put(names, layout.names);
    patch.put(directory, layout.directories);
    patch.put_range(end, &hpi.source, line);
    Ok(Written::alone(patch.finish()))
}

/// Returns the end of the data that stays: without the old directory and names if they are
/// the last data.
fn data_end(header: Header2, places: &Places) -> u64 {
    let mut blocks = header.blocks();
    blocks.sort_by_key(|block| block.start);
    let [first, last] = blocks;
    let files = places.old.iter().filter(|data| !data.is_empty());
    let is_behind = |end: u64| end <= first.start;
    let is_last = first.end == last.start && last.end == places.end;
    match is_last
        && is_behind(size_of::<Header2>() as u64)
        && files.map(|data| data.end).all(is_behind)
    {
        true => first.start,
        false => places.end,
    }
}

/// Returns the record of a file as it is, without its name.
fn record(hpi: &Hpi, file: FileId, kind: &Kind) -> File2 {
    let FileRecord {
        data_offset,
        size,
        packing,
    } = hpi.files[file.0 as usize];
    let modified = match kind {
        Kind::File(Some(entry)) => entry.modified.unwrap_or_default(),
        _ => 0,
    };
    File2 {
        start: data_offset.into(),
        size: size.into(),
        stored_size: match packing {
            Packing::Run { stored_size } => stored_size.into(),
            Packing::Stored | Packing::Table { .. } => 0.into(),
        },
        // It was made of such a number.
        date: (modified as u32).into(),
        checksum: hpi.file_sums[file.0 as usize].into(),
        ..File2::default()
    }
}

/// Returns the record of a new file whose data at `start` is stored, unless it is packed,
/// without its name.
fn new_record(
    start: u64,
    new: &NewFile,
    packed: Option<&PackedFile>,
    old: &File2,
) -> Result<File2> {
    let plain = packed.map_or(new, |file| &file.plain);
    let (stored_size, checksum) = match packed {
        Some(file) => (number(new.len())?, file.checksum),
        None => (0, checksum(new)?),
    };
    let modified = plain.modified().and_then(|time| u32::try_from(time).ok());
    Ok(File2 {
        start: number(start)?.into(),
        size: number(plain.len())?.into(),
        stored_size: stored_size.into(),
        date: modified.map_or(old.date, Into::into),
        checksum: checksum.into(),
        ..File2::default()
    })
}

fn checksum(new: &NewFile) -> Result<u32> {
    new.checksum(Checksum::Hpi2, || {
        let mut sum = FileSum::default();
        new.read(&mut |bytes| sum.update(bytes))?;
        Ok(sum.value())
    })
}

/// The directory and the names.
struct Layout {
    directories: Vec<u8>,
    names: Vec<u8>,
}

impl Layout {
    fn new(tree: &Tree, records: &[File2]) -> Result<Self> {
        let mut layout = Self {
            directories: vec![0; size_of::<Dir2>()],
            names: vec![0],
        };
        // Directories whose record has a place, and what is in them not yet.
        let mut pending = VecDeque::from([(NodeId(0), 0, 0)]);
        while let Some((directory, at, name)) = pending.pop_front() {
            let is_directory = |node: &NodeId| matches!(tree.node(*node).kind, Kind::Directory);
            let (inner, files): (Vec<_>, Vec<_>) = tree.children(directory).partition(is_directory);
            let first_subdirectory = layout.directories.len();
            let first_file = first_subdirectory + inner.len() * size_of::<Dir2>();
            let end = first_file + files.len() * size_of::<File2>();
            layout.directories.resize(end, 0);
            let record = Dir2 {
                name: number(name as u64)?.into(),
                first_subdirectory: number(first_subdirectory as u64)?.into(),
                subdirectories: number(inner.len() as u64)?.into(),
                first_file: number(first_file as u64)?.into(),
                files: number(files.len() as u64)?.into(),
            };
            layout.put(at, record.as_bytes());
            for (index, node) in inner.into_iter().enumerate() {
                let name = layout.name(tree, node);
                pending.push_back((node, first_subdirectory + index * size_of::<Dir2>(), name));
            }
            for (index, node) in files.into_iter().enumerate() {
                let name = layout.name(tree, node);
                let mut record = records[node.0 as usize];
                record.name = number(name as u64)?.into();
                layout.put(first_file + index * size_of::<File2>(), record.as_bytes());
            }
        }
        Ok(layout)
    }

    /// Appends the name of a node, and returns its offset.
    fn name(&mut self, tree: &Tree, node: NodeId) -> usize {
        let at = self.names.len();
        self.names.extend(raw_name(tree, node));
        self.names.push(0);
        at
    }

    fn put(&mut self, at: usize, bytes: &[u8]) {
        self.directories[at..at + bytes.len()].copy_from_slice(bytes);
    }
}
