//! Version 2: the directory and the names are written again behind the data,
//! unpacked.

use std::collections::VecDeque;

use zerocopy::{FromBytes, IntoBytes};

use super::{Places, number, raw_name};
use crate::changes::{Checksum, Job, Kind, NewFile, Patch, Tree, Written};
use crate::hpi::file_sum::FileSum;
use crate::hpi::record::{Dir2, File2, Header2};
use crate::hpi::{Directory, Offsets};
use crate::io::{Error, Result, read_vec};
use crate::volume::{FileId, NodeId};

/// Writes the archive.
pub(super) fn apply(job: &mut Job<'_>, offsets: &Offsets) -> Result<Written> {
    let Directory::Version2 { header, bytes } = &offsets.directory else {
        return Err(Error::UnknownFormat);
    };
    let source = job.input.source.clone();
    let block = |start: u32, size: u32| u64::from(start)..u64::from(start) + u64::from(size);
    let blocks = [
        block(header.dir_block.get(), header.dir_size.get()),
        block(header.name_block.get(), header.name_size.get()),
        0..size_of::<Header2>() as u64,
    ];
    let mut places = Places::new(&source, offsets, &blocks)?;
    let data_end = places.end;
    let mut patch = Patch::new(source.clone());
    let mut records = vec![File2::default(); job.tree.nodes().count()];
    for (file, &offset) in (0..).map(FileId).zip(&offsets.records) {
        let Some(node) = job.tree.node_of(file) else {
            continue;
        };
        let found = bytes.get(offset as usize..);
        let found = found.and_then(|bytes| File2::read_from_prefix(bytes).ok());
        let mut record = found.map(|(record, _)| record).unwrap_or_default();
        if let Some(new) = job.tree.new_of(file).cloned() {
            let at = places.place(job, Some(file), node, &new)?;
            record = stored(&new, at, record.date.get())?;
            patch.put_file(at, &new);
        }
        records[node.0 as usize] = record;
    }
    for (node, new) in job
        .tree
        .added_files()
        .map(|(n, f)| (n, f.clone()))
        .collect::<Vec<_>>()
    {
        let at = places.place(job, None, node, &new)?;
        records[node.0 as usize] = stored(&new, at, 0)?;
        patch.put_file(at, &new);
    }
    let layout = Layout::new(&job.tree, &records)?;
    let names = places.end;
    let directory = names + layout.names.len() as u64;
    let end = directory + layout.directories.len() as u64;
    number(end)?;
    let old = read_vec(&*source, 0, size_of::<Header2>() as u64, "header")?;
    let mut header = Header2::read_from_bytes(&old).unwrap_or_default();
    header.name_block = number(names)?.into();
    header.name_size = number(layout.names.len() as u64)?.into();
    header.dir_block = number(directory)?.into();
    header.dir_size = number(layout.directories.len() as u64)?.into();
    patch.put(0, header.as_bytes().to_vec());
    patch.put(names, layout.names);
    patch.put(directory, layout.directories);
    patch.put_range(end, &source, data_end..source.len());
    Ok(Written::alone(patch.finish()))
}

/// Returns the record of stored data at `start`, without its name.
fn stored(new: &NewFile, start: u64, date: u32) -> Result<File2> {
    let checksum = new.checksum(Checksum::Hpi2, || {
        let mut sum = FileSum::default();
        new.read(&mut |bytes| sum.update(bytes))?;
        Ok(sum.value())
    })?;
    let modified = new.modified().and_then(|time| u32::try_from(time).ok());
    Ok(File2 {
        start: number(start)?.into(),
        size: number(new.len())?.into(),
        date: modified.unwrap_or(date).into(),
        checksum: checksum.into(),
        ..File2::default()
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
