//! Version 1: a longer directory moves the data by a multiple of 256. The cipher
//! uses only the lowest byte of an offset, so that nothing is enciphered anew, and a
//! source of many files is enciphered in 256 ways at most.

use std::collections::HashMap;
use std::sync::Arc;

use zerocopy::{FromBytes, IntoBytes};

use super::{Places, number, raw_name};
use crate::changes::{Job, Kind, NewFile, Patch, Spliced, Tree, Written};
use crate::hpi::Offsets;
use crate::hpi::cipher::{Cipher, deciphered, enciphered_at};
use crate::hpi::record::{Entry1, File1, Header1, IS_DIRECTORY, Node1};
use crate::io::{Error, ReadAt, Result, read_vec};
use crate::volume::{FileId, NodeId};

/// By multiples of this, data moves without being enciphered anew.
const PERIOD: u64 = 256;

/// Writes an archive whose directory ends at `old_end`.
pub(super) fn apply(job: &mut Job<'_>, offsets: &Offsets, old_end: u64) -> Result<Written> {
    let source = job.input.source.clone();
    let cipher = offsets.cipher();
    let mut places = Places::new(&source, offsets, &[])?;
    let data_end = places.end;
    // New data, and the records of all files by their nodes, in the original's offsets.
    let mut puts = Vec::new();
    let mut records = vec![File1::default(); job.tree.nodes().count()];
    let plain = deciphered(&source, cipher);
    for (file, &offset) in (0..).map(FileId).zip(&offsets.records) {
        let Some(node) = job.tree.node_of(file) else {
            continue;
        };
        let bytes = read_vec(
            &*plain,
            offset.into(),
            size_of::<File1>() as u64,
            "file record",
        )?;
        let mut record = File1::read_from_bytes(&bytes).unwrap_or_default();
        if let Some(new) = job.tree.new_of(file).cloned() {
            let at = places.place(job, Some(file), node, &new)?;
            record = stored(at, &new)?;
            puts.push((at, new));
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
        records[node.0 as usize] = stored(at, &new)?;
        puts.push((at, new));
    }
    let (base, shift) = match job.tree.is_restructured() {
        true => restructured(job, &records, cipher, old_end, data_end)?,
        false => (in_place(job, offsets, &records, cipher, data_end), 0),
    };
    number(places.end + shift)?;
    let mut patch = Patch::new(base);
    let mut enciphered = Enciphered::new(cipher);
    for (at, new) in puts {
        enciphered.put(&mut patch, at + shift, &new);
    }
    let mut spliced = patch.finish();
    spliced.append(&source, data_end..source.len());
    Ok(Written::alone(spliced))
}

/// Returns the record of new data at `at`.
fn stored(at: u64, new: &NewFile) -> Result<File1> {
    Ok(File1 {
        data_offset: number(at)?.into(),
        size: number(new.len())?.into(),
        compression: 0,
    })
}

/// The sources of new data, enciphered.
struct Enciphered {
    cipher: Cipher,
    /// By their addresses and the lowest byte of the offset of their first byte.
    known: HashMap<(usize, u8), Arc<dyn ReadAt>>,
}

impl Enciphered {
    fn new(cipher: Cipher) -> Self {
        let known = HashMap::new();
        Self { cipher, known }
    }

    /// Puts new data at `at`.
    fn put(&mut self, patch: &mut Patch, at: u64, new: &NewFile) {
        let (source, range) = new.place();
        let start = at.wrapping_sub(range.start) as u8;
        let key = (Arc::as_ptr(source).addr(), start);
        let enciphered = || enciphered_at(source, self.cipher, start.into());
        let source = self.known.entry(key).or_insert_with(enciphered);
        patch.put_range(at, source, range);
    }
}

/// Returns the archive up to the end of its data with the records of replaced
/// files.
fn in_place(
    job: &Job<'_>,
    offsets: &Offsets,
    records: &[File1],
    cipher: Cipher,
    data_end: u64,
) -> Arc<dyn ReadAt> {
    let mut base = Spliced::default();
    base.append(&job.input.source, 0..data_end);
    let mut patch = Patch::new(Arc::new(base));
    for (file, &offset) in (0..).map(FileId).zip(&offsets.records) {
        if let (Some(node), Some(_)) = (job.tree.node_of(file), job.tree.new_of(file)) {
            let record = records[node.0 as usize];
            let mut bytes = record.as_bytes().to_vec();
            cipher.apply(offset.into(), &mut bytes);
            patch.put(offset.into(), bytes);
        }
    }
    Arc::new(patch.finish())
}

/// Returns the archive up to the end of its data with a new directory, and by how
/// much the data has moved.
fn restructured(
    job: &Job<'_>,
    records: &[File1],
    cipher: Cipher,
    old_end: u64,
    data_end: u64,
) -> Result<(Arc<dyn ReadAt>, u64)> {
    let source = &job.input.source;
    let is_before =
        |record: &File1| record.size.get() > 0 && u64::from(record.data_offset.get()) < old_end;
    if records.iter().any(is_before) {
        let text = "has data before the end of its directory, which cannot grow";
        return Err(Error::Unsupported(text.to_owned()));
    }
    let start = size_of::<Header1>() as u64;
    let mut layout = Layout {
        tree: &job.tree,
        records,
        bytes: Vec::new(),
        start: start as u32,
        shift: 0,
    };
    let needed = start + layout.length(NodeId(0)) as u64;
    let shift = needed.saturating_sub(old_end).next_multiple_of(PERIOD);
    layout.shift = number(shift)?;
    layout.directory(NodeId(0))?;
    let mut directory = layout.bytes;
    directory.resize((old_end + shift - start) as usize, 0);
    cipher.apply(start, &mut directory);
    let header = read_vec(&**source, 0, start, "header")?;
    let mut header = Header1::read_from_bytes(&header).unwrap_or_default();
    header.dir_end = number(old_end + shift)?.into();
    header.dir_start = (start as u32).into();
    let mut base = Spliced::default();
    base.append_bytes(header.as_bytes().to_vec());
    base.append_bytes(directory);
    base.append(source, old_end..data_end);
    Ok((Arc::new(base), shift))
}

/// A directory that is being laid out.
struct Layout<'a> {
    tree: &'a Tree,
    records: &'a [File1],
    bytes: Vec<u8>,
    /// Absolute offset of the first byte.
    start: u32,
    /// By how much the data moves.
    shift: u32,
}

impl Layout<'_> {
    /// Returns the length of a directory with everything in it.
    fn length(&self, directory: NodeId) -> usize {
        let children = self.tree.children(directory);
        let lengths = children.map(|child| {
            let inner = match self.tree.node(child).kind {
                Kind::Directory => self.length(child),
                _ => size_of::<File1>(),
            };
            size_of::<Entry1>() + raw_name(self.tree, child).len() + 1 + inner
        });
        size_of::<Node1>() + lengths.sum::<usize>()
    }

    /// Appends a directory with everything in it, and returns its offset.
    fn directory(&mut self, directory: NodeId) -> Result<u32> {
        let children: Vec<NodeId> = self.tree.children(directory).collect();
        let node = self.reserve(size_of::<Node1>());
        let list = self.reserve(children.len() * size_of::<Entry1>());
        let record = Node1 {
            count: (children.len() as u32).into(),
            entry_list_offset: (self.start + list as u32).into(),
        };
        self.put(node, record.as_bytes());
        for (number, child) in children.into_iter().enumerate() {
            let name_offset = self.start + self.bytes.len() as u32;
            self.bytes.extend(raw_name(self.tree, child));
            self.bytes.push(0);
            let is_directory = matches!(self.tree.node(child).kind, Kind::Directory);
            let data_offset = match is_directory {
                true => self.directory(child)?,
                false => self.file(child)?,
            };
            let entry = Entry1 {
                name_offset: name_offset.into(),
                data_offset: data_offset.into(),
                flags: if is_directory { IS_DIRECTORY } else { 0 },
            };
            self.put(list + number * size_of::<Entry1>(), entry.as_bytes());
        }
        Ok(self.start + node as u32)
    }

    fn file(&mut self, file: NodeId) -> Result<u32> {
        let mut record = self.records[file.0 as usize];
        if record.size.get() > 0 {
            let moved = u64::from(record.data_offset.get()) + u64::from(self.shift);
            record.data_offset = number(moved)?.into();
        }
        let at = self.reserve(size_of::<File1>());
        self.put(at, record.as_bytes());
        Ok(self.start + at as u32)
    }

    fn reserve(&mut self, length: usize) -> usize {
        let at = self.bytes.len();
        self.bytes.resize(at + length, 0);
        at
    }

    fn put(&mut self, at: usize, bytes: &[u8]) {
        self.bytes[at..at + bytes.len()].copy_from_slice(bytes);
    }
}
