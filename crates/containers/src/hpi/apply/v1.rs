//! Version 1: a longer directory moves the data by a multiple of 256. The cipher
//! uses only the lowest byte of an offset, so that nothing is enciphered anew, and a
//! source of many files is enciphered in 256 ways at most.

use std::collections::HashMap;
use std::slice;
use std::sync::Arc;

use zerocopy::{FromBytes, IntoBytes};

use super::{Packed, PackedFile, Places, number, place, raw_name};
use crate::changes::{Composed, Job, Kind, NewFile, Patch, Tree, Written};
use crate::hpi::chunk::Method;
use crate::hpi::cipher::{Cipher, enciphered_at};
use crate::hpi::record::{Entry1, File1, Header1, IS_DIRECTORY, Node1};
use crate::hpi::{Directory, FileRecord, Hpi, Packing};
use crate::io::{Error, ReadAt, Result, read_vec};
use crate::volume::{FileId, NodeId};

/// By multiples of this, data moves without being enciphered anew.
const PERIOD: u64 = 256;

/// Writes an archive whose directory ends at `old_end`.
pub(super) fn apply(
    hpi: &Hpi,
    directory: &Directory,
    old_end: u64,
    job: &mut Job<'_>,
    packed: &Packed,
) -> Result<Written> {
    let head = 0..old_end;
    let mut places = Places::new(hpi, directory.end, slice::from_ref(&head))?;
    let data_end = places.end;
    // In the original's offsets.
    let old = |_: &Job<'_>, file: FileId, _| record(hpi.files[file.0 as usize]);
    let new = |at, node, new: &NewFile, _: &File1| new_record(at, new, packed.files.get(&node));
    let (records, puts) = place(job, &mut places, old, new)?;
    let new_end = places.end;
    drop(places);
    let (base, shift) = match job.tree.is_restructured() || shares_records(directory, job) {
        true => restructured(hpi, job, &records, old_end, data_end)?,
        false => (in_place(hpi, directory, job, &records, data_end)?, 0),
    };
    number(new_end + shift)?;
    drop(records);
    let mut patch = Patch::new(base);
    let mut enciphered = Enciphered::new(hpi.cipher);
    for (at, node) in puts {
        if let Some(new) = job.tree.new_at(node) {
            enciphered.put(&mut patch, u64::from(at) + shift, new);
        }
    }
    let mut spliced = patch.finish();
    spliced.append(&hpi.source, data_end..hpi.source.len());
    Ok(Written::alone(spliced))
}

/// Returns the record of a file as it is.
fn record(file: FileRecord) -> File1 {
    File1 {
        data_offset: file.data_offset.into(),
        size: file.size.into(),
        compression: match file.packing {
            Packing::Table { compression } => compression,
            Packing::Stored | Packing::Run { .. } => 0,
        },
    }
}

/// Returns the record of a new file whose data at `at` is stored, unless it is packed.
fn new_record(at: u64, new: &NewFile, packed: Option<&PackedFile>) -> Result<File1> {
    let stored = (new.len(), Method::Stored);
    let (size, method) = packed.map_or(stored, |file| (file.plain.len(), file.method));
    Ok(File1 {
        data_offset: number(at)?.into(),
        size: number(size)?.into(),
        compression: method.number(),
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

/// Returns whether a replaced file has the record of another one, which stays.
fn shares_records(directory: &Directory, job: &Job<'_>) -> bool {
    let is_new = |file: usize| job.tree.new_of(FileId(file as u32)).is_some();
    let records = || directory.records.iter().enumerate();
    let replaced = records().filter(|&(file, _)| is_new(file));
    let replaced: HashMap<u32, usize> = replaced.map(|(file, &record)| (record, file)).collect();
    let known = |(file, record): (usize, &u32)| replaced.get(record).is_some_and(|&of| of != file);
    !replaced.is_empty() && records().any(known)
}

/// Returns the archive up to the end of its data with the records of replaced files. The
/// directory from the first one of them to the last one is one part of it: a part for each
/// record takes more memory.
fn in_place(
    hpi: &Hpi,
    directory: &Directory,
    job: &Job<'_>,
    records: &[File1],
    data_end: u64,
) -> Result<Arc<dyn ReadAt>> {
    let source = &hpi.source;
    let replaced = || {
        let files = (0..).map(FileId).zip(&directory.records);
        files.filter_map(|(file, &offset)| {
            job.tree.new_of(file)?;
            let node = job.tree.node_of(file)?;
            Some((u64::from(offset), &records[node.0 as usize]))
        })
    };
    let offsets = || replaced().map(|(offset, _)| offset);
    let (Some(start), Some(last)) = (offsets().min(), offsets().max()) else {
        return Ok(Arc::new(Composed::part(source, 0..data_end)));
    };
    let end = last + size_of::<File1>() as u64;
    let mut bytes = read_vec(&**source, start, end - start, "directory")?;
    for (offset, record) in replaced() {
        let at = (offset - start) as usize;
        let place = &mut bytes[at..at + size_of::<File1>()];
        place.copy_from_slice(record.as_bytes());
        hpi.cipher.apply(offset, place);
    }
    let mut base = Composed::part(source, 0..start);
    base.append_bytes(bytes);
    base.append(source, end..data_end);
    Ok(Arc::new(base))
}

/// Returns the archive up to the end of its data with a new directory, and by how
/// much the data has moved.
fn restructured(
    hpi: &Hpi,
    job: &Job<'_>,
    records: &[File1],
    old_end: u64,
    data_end: u64,
) -> Result<(Arc<dyn ReadAt>, u64)> {
    let source = &hpi.source;
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
    let length = (old_end + shift - start) as usize;
    layout.bytes = Vec::with_capacity(length);
    layout.directory(NodeId(0))?;
    let mut directory = layout.bytes;
    directory.resize(length, 0);
    hpi.cipher.apply(start, &mut directory);
    let header = read_vec(&**source, 0, start, "header")?;
    let mut header = Header1::read_from_bytes(&header).unwrap_or_default();
    header.dir_end = number(old_end + shift)?.into();
    header.dir_start = (start as u32).into();
    let mut base = Composed::default();
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
