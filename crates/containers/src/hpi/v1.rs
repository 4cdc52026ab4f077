//! Version 1 directories and chunk tables (HPI 3 and 4).

use std::mem::offset_of;
use std::sync::Arc;

use serde_json::json;

use super::chunk::{CHUNK_SIZE, ChunkHeader};
use super::cipher::{Cipher, deciphered};
use super::record::{Entry1, File1, Header1, IS_DIRECTORY, Node1, VERSION_1};
use super::walk::{Pending, Walk};
use super::{
    Directory, FileRecord, Hpi, MAX_DIRECTORY, Packing, Version, announce_trailer, has_trailer,
};
use crate::format::Options;
use crate::io::{self, Compact, Cursor, Endian, Error, ReadAt, Result};
use crate::volume::{ChunkTable, Sink};

/// Reads the directory of a version 1 archive.
pub(super) fn read(
    source: Arc<dyn ReadAt>,
    sink: &mut dyn Sink,
    options: Options,
) -> Result<(Hpi, Directory)> {
    let header = io::read_vec(&*source, 0, size_of::<Header1>() as u64, "header")?;
    let header: &Header1 = Cursor::new(&header, 0, Endian::Little).record("header")?;
    let (start, end) = (header.dir_start.get(), header.dir_end.get());
    if u64::from(start) < size_of::<Header1>() as u64 || start > end {
        return Err(Error::damaged(
            16,
            "dir_start",
            format!("is {start:#x}, outside the directory that ends at {end:#x}"),
        ));
    }
    if u64::from(end) > source.len() || u64::from(end - start) > MAX_DIRECTORY {
        return Err(Error::damaged(
            8,
            "dir_end",
            format!("is {end:#x}, the file has {:#x} bytes", source.len()),
        ));
    }
    announce_trailer(&*source);
    let stored = io::read_vec(&*source, start.into(), (end - start).into(), "directory")?;
    let (cipher, bytes) = decipher(header.key[0], start, stored);

    let room = bytes.len() / size_of::<Entry1>();
    let mut walk = Walk::new(sink, options.force, start, room, bytes.len());
    let cursor = Cursor::new(&bytes, start.into(), Endian::Little);
    while let Some(pending) = walk.next() {
        let read = read_node(&mut walk, &cursor, &pending);
        walk.tolerate(read)?;
    }
    let Walk {
        mut files,
        records,
        directories,
        warnings,
        ..
    } = walk;
    files.compact();

    let mounts_in_game = has_trailer(&*source)?;
    let version = Version::One { end: end.into() };
    let directory = Directory::new(&*source, mounts_in_game, records, version);
    let info = json!({
        "format": "HPI",
        "version": format!("{VERSION_1:#010x}"),
        "game": "Total Annihilation",
        "key": header.key[0],
        "encrypted": !cipher.is_plain(),
        "dir_start": start,
        "dir_end": end,
        "files": files.len(),
        "directories": directories,
        "mounts_in_game": mounts_in_game,
    });
    let hpi = Hpi {
        plain: deciphered(&source, cipher),
        source,
        options,
        cipher,
        files,
        file_sums: Vec::new(),
        found_sums: Vec::new(),
        info: info.into(),
        warnings: warnings.texts(),
    };
    Ok((hpi, directory))
}

/// Deciphers the directory. Key 0xFF is ambiguous: the game treats it as "not
/// enciphered", other writers encipher with it; the variant with a valid root
/// node is used (HPI 2).
fn decipher(key: u8, start: u32, stored: Vec<u8>) -> (Cipher, Vec<u8>) {
    if key == 0xFF && root_is_sound(&stored, start) {
        return (Cipher::PLAIN, stored);
    }
    let cipher = Cipher::from_header(key);
    let mut directory = stored;
    cipher.apply(start.into(), &mut directory);
    (cipher, directory)
}

/// Returns whether the root node and the names of its entries are inside the
/// directory.
fn root_is_sound(directory: &[u8], start: u32) -> bool {
    let mut cursor = Cursor::new(directory, start.into(), Endian::Little);
    let Ok(root) = cursor.record::<Node1>("root") else {
        return false;
    };
    let count = root.count.get();
    if cursor
        .seek(root.entry_list_offset.get().into(), "root")
        .is_err()
        || cursor
            .check_count(count.into(), size_of::<Entry1>(), "root")
            .is_err()
    {
        return false;
    }
    let names = cursor.clone();
    (0..count).all(|_| {
        cursor.record::<Entry1>("root").is_ok_and(|entry| {
            let mut names = names.clone();
            names.seek(entry.name_offset.get().into(), "root").is_ok()
                && names.c_string("root").is_ok()
        })
    })
}

/// Reads the entries of one directory.
fn read_node(walk: &mut Walk, directory: &Cursor, pending: &Pending) -> Result<()> {
    let mut cursor = directory.clone();
    cursor.seek(pending.offset.into(), "directory node")?;
    let node: &Node1 = cursor.record("directory node")?;
    let count = node.count.get();
    if count == 0 {
        return Ok(());
    }
    if count > i32::MAX as u32 {
        // The game reads the count as signed and finds no entries.
        walk.warnings.push(format!(
            "directory node at {:#x}: count is {}, treated as an empty directory",
            pending.offset, count as i32
        ));
        return Ok(());
    }
    let list_offset = node.entry_list_offset.get().into();
    let stored_at = u64::from(pending.offset) + offset_of!(Node1, entry_list_offset) as u64;
    let mut cursor = directory.follow(list_offset, stored_at, "entry list")?;
    let count = cursor.check_count(count.into(), size_of::<Entry1>(), "entry list")?;
    walk.enter(pending, count)?;
    for _ in 0..count {
        let entry_offset = cursor.offset();
        let entry: &Entry1 = cursor.record("entry")?;
        let read = read_entry(walk, directory, pending, entry, entry_offset);
        walk.tolerate(read)?;
    }
    Ok(())
}

/// Reads one entry of a list, which is at `entry_offset`.
fn read_entry(
    walk: &mut Walk,
    directory: &Cursor,
    parent: &Pending,
    entry: &Entry1,
    entry_offset: u64,
) -> Result<()> {
    let stored_at = entry_offset + offset_of!(Entry1, name_offset) as u64;
    let mut name = directory.follow(entry.name_offset.get().into(), stored_at, "entry name")?;
    let name = name.c_string("entry name")?;
    let data_offset = entry.data_offset.get();
    let stored_at = entry_offset + offset_of!(Entry1, data_offset) as u64;
    if entry.flags & IS_DIRECTORY != 0 {
        directory.follow(data_offset.into(), stored_at, "directory node")?;
        return walk.dir(parent, name, data_offset);
    }
    let mut cursor = directory.follow(data_offset.into(), stored_at, "file record")?;
    let record: &File1 = cursor.record("file record")?;
    let record = FileRecord {
        data_offset: record.data_offset.get(),
        size: record.size.get(),
        packing: match record.compression {
            0 => Packing::Stored,
            compression => Packing::Table { compression },
        },
    };
    walk.file(parent, name, data_offset, record, None)
}

/// Reads the table of chunk sizes before a file's chunks (HPI 4).
///
/// # Errors
/// Returns an error if the table itself cannot be read. The table ends at a
/// chunk with an impossible size.
pub(super) fn chunk_table(
    source: &dyn ReadAt,
    cipher: Cipher,
    record: FileRecord,
) -> Result<ChunkTable> {
    let count = record.size.div_ceil(CHUNK_SIZE as u32);
    let table_offset = u64::from(record.data_offset);
    let mut bytes = io::read_vec(source, table_offset, 4 * u64::from(count), "chunk table")?;
    cipher.apply(table_offset, &mut bytes);
    let first = table_offset + bytes.len() as u64;
    let mut table = ChunkTable::starting_at(first);
    let mut left = record.size;
    let mut cursor = Cursor::new(&bytes, table_offset, Endian::Little);
    for index in 0..count {
        let offset = cursor.offset();
        let stored = cursor.u32("chunk table")?;
        let length = left.min(CHUNK_SIZE as u32);
        let end = table.end().0 + u64::from(stored);
        if (stored as usize) < size_of::<ChunkHeader>()
            || end > source.len()
            || !table.push(stored, length)
        {
            table.break_off(Error::damaged(
                offset,
                "chunk table",
                format!(
                    "gives chunk {index} {stored} bytes from {:#x} on; the file ends at {:#x}",
                    table.end().0,
                    source.len()
                ),
            ));
            break;
        }
        left -= length;
    }
    Ok(table)
}
