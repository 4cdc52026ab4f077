//! Archives of Total Annihilation.

use std::io::{Seek, Write};

use zerocopy::IntoBytes;
use zerocopy::little_endian::U32;

use super::block::{Block, nth};
use super::number;
use super::output::Output;
use super::pipeline::{self, ChunkPacker, Packing, Step};
use super::prepare::{Content, Entry, Input, prepare};
use crate::hpi::chunk::{CHUNK_SIZE, Method};
use crate::hpi::cipher::Cipher;
use crate::hpi::record::{Entry1, File1, Header1, MAGIC, Node1, VERSION_1};
use crate::write::{Directory, Result};

/// The last bytes of an archive. The game rejects archives without them.
const TRAILER: &[u8] = b"Copyright 1997 Cavedog Entertainment";

/// Options for a version 1 archive.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Packing method of files. [`Method::Stored`] writes their bytes without chunks,
    /// because the game rejects stored chunks.
    pub method: Method,
    /// Key of the cipher; 0 for none. The game and other readers disagree
    /// about 0xFF, which should not be used.
    pub key: u8,
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
    let mut layout = Layout::default();
    layout.block.reserve::<Header1>(1)?;
    let dir_start = layout.directory(&root)?;
    let dir_end = layout.block.end()?;
    let header = Header1 {
        magic: MAGIC,
        version: VERSION_1.into(),
        dir_end: dir_end.into(),
        key: [options.key, 0, 0, 0],
        dir_start: dir_start.into(),
    };
    layout.block.put(0, &header);

    // Reserve space for the directory. It is filled in after the files have
    // been written, because it contains their offsets.
    let mut out = Output::new(out, Cipher::from_header(options.key));
    out.append_plain(layout.block.bytes())?;
    let mut offsets = layout.records.iter();
    let block = &mut layout.block;
    let mut placed = |record: File1| {
        let offset = offsets.next().expect("every file has a record");
        block.put(*offset, &record);
    };
    let mut files = Files {
        out: &mut out,
        placed: &mut placed,
        method: options.method,
        table_offset: 0,
        table: Vec::new(),
    };
    let packing = Packing {
        method: options.method,
        scrambled: true,
    };
    pipeline::run(&layout.inputs, packing, packer, progress, &mut |step| {
        files.take(step)
    })?;
    let directory = &layout.block.bytes()[dir_start as usize..];
    out.overwrite(dir_start, directory.to_vec())?;
    out.append_plain(TRAILER)?;
    out.finish()
}

/// The directory of an archive under construction. Offsets in the block are
/// absolute, because it includes the header.
#[derive(Default)]
struct Layout<'a> {
    block: Block,
    /// All files, in the order of the archive.
    inputs: Vec<&'a Input<'a>>,
    /// Offset of the record of each.
    records: Vec<u32>,
}

impl<'a> Layout<'a> {
    /// Appends a directory with its contents, and returns its offset.
    fn directory(&mut self, entries: &'a [Entry<'a>]) -> Result<u32> {
        let node = self.block.reserve::<Node1>(1)?;
        let list = self.block.reserve::<Entry1>(entries.len())?;
        let record = Node1 {
            count: number(entries.len())?.into(),
            entry_list_offset: list.into(),
        };
        self.block.put(node, &record);
        for (index, entry) in entries.iter().enumerate() {
            let name_offset = self.block.append_name(&entry.name)?;
            let (data_offset, flags) = match &entry.content {
                Content::Directory(inner) => (self.directory(inner)?, 1),
                Content::File(input) => (self.file(input)?, 0),
            };
            let record = Entry1 {
                name_offset: name_offset.into(),
                data_offset: data_offset.into(),
                flags,
            };
            self.block.put(nth::<Entry1>(list, index), &record);
        }
        Ok(node)
    }

    /// Appends room for the record of a file, and returns its offset.
    fn file(&mut self, input: &'a Input<'a>) -> Result<u32> {
        let record = self.block.reserve::<File1>(1)?;
        self.inputs.push(input);
        self.records.push(record);
        Ok(record)
    }
}

/// Writes the data of the files, and creates their records.
struct Files<'a, W> {
    out: &'a mut Output<W>,
    placed: &'a mut dyn FnMut(File1),
    method: Method,
    /// Absolute offset of the current file's chunk table.
    table_offset: u32,
    /// Lengths of the current file's chunks.
    table: Vec<U32>,
}

impl<W: Write + Seek> Files<'_, W> {
    fn take(&mut self, step: Step) -> Result<()> {
        match step {
            Step::Begin { size } => self.begin(size),
            Step::Data(bytes) => {
                if self.method != Method::Stored {
                    self.table.push(number(bytes.len())?.into());
                }
                self.out.append(bytes)
            }
            Step::End { .. } => self.end(),
        }
    }

    fn begin(&mut self, size: u32) -> Result<()> {
        (self.placed)(File1 {
            data_offset: self.out.end().into(),
            size: size.into(),
            compression: self.method.number(),
        });
        self.table_offset = self.out.end();
        self.table.clear();
        if self.method == Method::Stored {
            return Ok(());
        }
        let chunks = size.div_ceil(CHUNK_SIZE as u32) as usize;
        self.out.append(vec![0; chunks * size_of::<U32>()])
    }

    fn end(&mut self) -> Result<()> {
        if self.table.is_empty() {
            return Ok(());
        }
        let table = self.table.as_bytes().to_vec();
        self.out.overwrite(self.table_offset, table)
    }
}
