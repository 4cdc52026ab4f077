//! Archives of TA: Kingdoms.

use std::io::{Seek, Write};

use zerocopy::IntoBytes;

use super::block::{Block, nth};
use super::output::Output;
use super::pipeline::{self, ChunkPacker, Packing, Step};
use super::prepare::{Content, Entry, Input, prepare};
use super::{number, pack};
use crate::hpi::chunk::Method;
use crate::hpi::cipher::Cipher;
use crate::hpi::record::{Dir2, File2, Header2, MAGIC, VERSION_2};
use crate::write::{Directory, Result};

/// The last bytes of all known archives.
const TRAILER: &[u8] = b"Copyright 1999 Cavedog Entertainment";

/// Offset of the data in known archives: after the header and the offset of a
/// signature, which is 0 in unsigned archives.
const DATA_START: u32 = size_of::<Header2>() as u32 + 4;

/// Options for a version 2 archive.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// True if files and directory are packed with zlib, as in known archives; false if
    /// they are stored.
    pub packed: bool,
}

/// Writes an archive to `out`, from the current position on.
///
/// `progress` is called with the number of bytes of files that have been read
/// since it was last called.
///
/// # Errors
/// Returns [`Error`](crate::write::Error) if a name or a size does not fit into the format,
/// or if reading or writing fails. The contents of `out` are then incomplete.
pub fn write(
    root: &Directory,
    options: Options,
    out: impl Write + Seek,
    packer: &mut dyn ChunkPacker,
    progress: &mut dyn FnMut(u64),
) -> Result<()> {
    let root = prepare(root)?;
    let mut layout = Layout::new(&root)?;
    let mut out = Output::new(out, Cipher::PLAIN);
    out.append_plain(&[0; DATA_START as usize])?;
    let mut records = layout.records.into_iter();
    let directories = &mut layout.directories;
    let mut placed = |record: File2| {
        let (offset, begun) = records.next().expect("every file has a record");
        let record = File2 {
            name: begun.name,
            date: begun.date,
            ..record
        };
        directories.put(offset, &record);
    };
    let method = if options.packed {
        Method::Zlib
    } else {
        Method::Stored
    };
    let packing = Packing {
        method,
        scrambled: false,
    };
    let mut files = Files {
        out: &mut out,
        placed: &mut placed,
        current: File2::default(),
        packed: options.packed,
    };
    pipeline::run(&layout.inputs, packing, packer, progress, &mut |step| {
        files.take(step)
    })?;
    let mut block = |block: &Block| {
        let bytes = block.bytes();
        let offset = out.end();
        let stored = if options.packed {
            pack::chunk(bytes, Method::Zlib, true)
        } else {
            bytes.to_vec()
        };
        let size = number(stored.len())?;
        out.append(stored)?;
        Ok((offset.into(), size.into()))
    };
    let (name_block, name_size) = block(&layout.names)?;
    let (dir_block, dir_size) = block(&layout.directories)?;
    let header = Header2 {
        magic: MAGIC,
        version: VERSION_2.into(),
        dir_block,
        dir_size,
        name_block,
        name_size,
        data_start: DATA_START.into(),
    };
    out.overwrite_plain(0, header.as_bytes())?;
    out.append_plain(TRAILER)?;
    out.finish()
}

/// Directory and names of an archive under construction.
#[derive(Default)]
struct Layout<'a> {
    directories: Block,
    names: Block,
    /// All files, in the order of the archive.
    inputs: Vec<&'a Input<'a>>,
    /// The offset of each record, and the record. The position and sizes of its
    /// file are filled in when the file has been written.
    records: Vec<(u32, File2)>,
}

impl<'a> Layout<'a> {
    /// Lays out a tree. The root comes first, with an empty name.
    fn new(root: &'a [Entry<'a>]) -> Result<Self> {
        let mut layout = Self::default();
        let root_name = layout.names.append_name(b"")?;
        let offset = layout.directories.reserve::<Dir2>(1)?;
        layout.directory(root, root_name, offset)?;
        Ok(layout)
    }

    /// Appends the contents of a directory, and fills in its own record at
    /// `offset`.
    fn directory(&mut self, entries: &'a [Entry<'a>], name_offset: u32, offset: u32) -> Result<()> {
        let mut subdirectories = Vec::new();
        let mut files = Vec::new();
        for entry in entries {
            match &entry.content {
                Content::Directory(inner) => subdirectories.push((&entry.name, inner)),
                Content::File(input) => files.push((&entry.name, input)),
            }
        }
        let block = &mut self.directories;
        let first_subdirectory = block.reserve::<Dir2>(subdirectories.len())?;
        let first_file = block.reserve::<File2>(files.len())?;
        let record = Dir2 {
            name: name_offset.into(),
            first_subdirectory: first_subdirectory.into(),
            subdirectories: number(subdirectories.len())?.into(),
            first_file: first_file.into(),
            files: number(files.len())?.into(),
        };
        block.put(offset, &record);
        for (index, (name, input)) in files.into_iter().enumerate() {
            let record = File2 {
                name: self.names.append_name(name)?.into(),
                date: input.file.modified.into(),
                ..File2::default()
            };
            let at = nth::<File2>(first_file, index);
            self.inputs.push(input);
            self.records.push((at, record));
        }
        for (index, (name, inner)) in subdirectories.into_iter().enumerate() {
            let name_offset = self.names.append_name(name)?;
            let at = nth::<Dir2>(first_subdirectory, index);
            self.directory(inner, name_offset, at)?;
        }
        Ok(())
    }
}

/// Writes the data of the files, and creates their records.
struct Files<'a, W> {
    out: &'a mut Output<W>,
    placed: &'a mut dyn FnMut(File2),
    /// The record of the current file.
    current: File2,
    packed: bool,
}

impl<W: Write + Seek> Files<'_, W> {
    fn take(&mut self, step: Step) -> Result<()> {
        match step {
            Step::Begin { size } => {
                self.current = File2 {
                    start: self.out.end().into(),
                    size: size.into(),
                    ..File2::default()
                };
            }
            Step::Data(bytes) => {
                let length = number(bytes.len())?;
                self.out.append(bytes)?;
                if self.packed {
                    self.current.stored_size += length;
                }
            }
            Step::End { checksum } => {
                self.current.checksum = checksum.into();
                (self.placed)(self.current);
            }
        }
        Ok(())
    }
}
