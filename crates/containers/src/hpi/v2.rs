//! Version 2 directories and chunk runs (HPI 7).

use std::sync::{Arc, OnceLock};

use serde_json::json;
use zerocopy::little_endian::U32;

use super::chunk::{ChunkHeader, MARKER};
use super::cipher::Cipher;
use super::record::{Dir2, File2, Header2, VERSION_2};
use super::walk::{Pending, Walk};
use super::{Directory, FileRecord, Hpi, Packing, Version, announce_trailer, decode, has_trailer};
use crate::format::Options;
use crate::io::{self, Compact, Cursor, Endian, Error, ReadAt, Result};
use crate::volume::{ChunkTable, Sink};

/// Maximum decoded length of the directory or name block: enough for the
/// maximum number of entries. A packed block can have a thousandth of that
/// size, so a higher limit would let a small archive use much memory.
const MAX_BLOCK: u64 = 64 << 20;

/// Reads the directory of a version 2 archive.
pub(super) fn read(
    source: Arc<dyn ReadAt>,
    sink: &mut dyn Sink,
    options: Options,
) -> Result<(Hpi, Directory)> {
    let bytes = io::read_vec(&*source, 0, size_of::<Header2>() as u64, "header")?;
    let header: &Header2 = Cursor::new(&bytes, 0, Endian::Little).record("header")?;
    source.will_need(
        header.name_block.get().into(),
        header.name_size.get().into(),
    );
    announce_trailer(&*source);
    let (directory, is_packed) = block(
        &source,
        header.dir_block,
        header.dir_size,
        "directory block",
    )?;
    let (names, _) = block(&source, header.name_block, header.name_size, "name block")?;

    let room = directory.len() / size_of::<Dir2>();
    let name_room = directory.len() + names.len();
    let mut reader = Reader {
        directory: Cursor::new(&directory, 0, Endian::Little),
        names: Cursor::new(&names, 0, Endian::Little),
        walk: Walk::new(sink, options.force, 0, room, name_room),
        file_sums: Vec::new(),
    };
    while let Some(pending) = reader.walk.next() {
        let read = reader.directory_record(&pending);
        reader.walk.tolerate(read)?;
    }
    let mut file_sums = reader.file_sums;
    let Walk {
        mut files,
        records,
        directories,
        warnings,
        ..
    } = reader.walk;
    files.compact();
    file_sums.compact();
    let mounts_in_game = has_trailer(&*source)?;
    let version = Version::Two {
        header: *header,
        is_packed,
    };
    let directory = Directory::new(&*source, mounts_in_game, records, version);

    let info = json!({
        "format": "HPI",
        "version": format!("{VERSION_2:#010x}"),
        "game": "Total Annihilation: Kingdoms",
        "dir_block": header.dir_block.get(),
        "name_block": header.name_block.get(),
        "data_start": header.data_start.get(),
        "files": files.len(),
        "directories": directories,
        "mounts_in_game": mounts_in_game,
    });
    let hpi = Hpi {
        plain: source.clone(),
        source,
        cipher: Cipher::PLAIN,
        files,
        found_sums: match options.verify {
            true => vec![OnceLock::new(); file_sums.len()],
            false => Vec::new(),
        },
        file_sums,
        options,
        info: info.into(),
        warnings: warnings.texts(),
    };
    Ok((hpi, directory))
}

/// Reads the directory block or the name block: one chunk, or plain bytes. Returns whether
/// it is a chunk as well.
fn block(
    source: &Arc<dyn ReadAt>,
    offset: U32,
    size: U32,
    field: &'static str,
) -> Result<(Vec<u8>, bool)> {
    let (offset, size) = (u64::from(offset.get()), u64::from(size.get()));
    if size > MAX_BLOCK {
        return Err(Error::damaged(offset, field, format!("has {size} bytes")));
    }
    let bytes = io::read_vec(&**source, offset, size, field)?;
    if bytes.starts_with(&MARKER) {
        let block = decode::block(source, offset, size, MAX_BLOCK);
        Ok((block.map_err(|error| error.within(field))?, true))
    } else {
        Ok((bytes, false))
    }
}

/// The directory while it is read.
struct Reader<'a> {
    directory: Cursor<'a>,
    names: Cursor<'a>,
    walk: Walk<'a>,
    /// The checksum of every file, in the order of the walk's files.
    file_sums: Vec<u32>,
}

impl<'a> Reader<'a> {
    /// Reads the subdirectories and files of one directory.
    fn directory_record(&mut self, pending: &Pending) -> Result<()> {
        let mut subdirectories = self.directory.clone();
        subdirectories.seek(pending.offset.into(), "directory record")?;
        let record: &Dir2 = subdirectories.record("directory record")?;
        let mut files = subdirectories.clone();
        let subdirectory_count = list::<Dir2>(
            &mut subdirectories,
            record.first_subdirectory,
            record.subdirectories,
            "subdirectories",
        )?;
        let file_count = list::<File2>(&mut files, record.first_file, record.files, "files")?;
        self.walk.enter(pending, subdirectory_count + file_count)?;
        for _ in 0..subdirectory_count {
            let offset = subdirectories.offset() as u32;
            let subdirectory: &Dir2 = subdirectories.record("subdirectory")?;
            let read = self
                .name(subdirectory.name)
                .and_then(|name| self.walk.dir(pending, name, offset));
            self.walk.tolerate(read)?;
        }
        for _ in 0..file_count {
            let record_offset = files.offset() as u32;
            let file: &File2 = files.record("file record")?;
            let read = self.file(pending, record_offset, file);
            self.walk.tolerate(read)?;
        }
        Ok(())
    }

    fn file(&mut self, parent: &Pending, record_offset: u32, record: &File2) -> Result<()> {
        let name = self.name(record.name)?;
        let checksum = record.checksum.get();
        let date = record.date.get();
        let record = FileRecord {
            data_offset: record.start.get(),
            size: record.size.get(),
            packing: match record.stored_size.get() {
                0 => Packing::Stored,
                stored_size => Packing::Run { stored_size },
            },
        };
        self.walk
            .file(parent, name, record_offset, record, Some(date.into()))?;
        self.file_sums.push(checksum);
        Ok(())
    }

    fn name(&self, offset: U32) -> Result<&'a [u8]> {
        let mut names = self.names.clone();
        names.seek(offset.get().into(), "name")?;
        names.c_string("name")
    }
}

/// Moves to a list of `count` records and checks that they exist. The offset of
/// an empty list is not checked.
fn list<T>(cursor: &mut Cursor, first: U32, count: U32, field: &'static str) -> Result<usize> {
    if count.get() == 0 {
        return Ok(0);
    }
    cursor.seek(first.get().into(), field)?;
    cursor.check_count(count.get().into(), size_of::<T>(), field)
}

/// Finds the chunks of a file by following their headers.
///
/// The table ends at a chunk with an impossible header; if a header cannot be
/// read, no table is returned, since it would be cached.
pub(super) fn chunk_table(
    source: &dyn ReadAt,
    record: FileRecord,
    stored_size: u32,
) -> Result<ChunkTable> {
    let mut table = ChunkTable::starting_at(record.data_offset.into());
    let run_end = u64::from(record.data_offset) + u64::from(stored_size);
    // A chunk past the end of the source is impossible too.
    let run_end = run_end.min(source.len());
    while table.end().1 < record.size.into() {
        match next_chunk(source, &mut table, run_end, record.size) {
            Ok(()) => {}
            Err(error) if error.is_fault() => return Err(error),
            Err(error) => {
                table.break_off(error);
                break;
            }
        }
    }
    Ok(table)
}

/// Adds the chunk that follows the last one of the table.
fn next_chunk(source: &dyn ReadAt, table: &mut ChunkTable, run_end: u64, size: u32) -> Result<()> {
    let (offset, start) = table.end();
    let name = format!("chunk {}", table.len());
    let header = decode::header(source, Cipher::PLAIN, offset, || name.clone())?;
    let stored = (size_of::<ChunkHeader>() as u32).checked_add(header.compressed_size.get());
    let length = header.decompressed_size.get();
    let left = u64::from(size) - start;
    let problem = match stored {
        Some(stored) if offset + u64::from(stored) > run_end => {
            format!("its {stored} bytes extend past the file's data at {run_end:#x}")
        }
        _ if u64::from(length) > left => {
            format!("decodes to {length} bytes, {left} are left of the file")
        }
        Some(stored) if table.push(stored, length) => return Ok(()),
        _ => format!("decodes to {length} bytes"),
    };
    Err(Error::damaged(offset, name, problem))
}
