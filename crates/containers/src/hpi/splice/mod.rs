//! Replacing files of an HPI archive.
//!
//! The directory of version 1 precedes all data and keeps its length. The
//! directory of version 2 is written again after the data.

mod copy;

use std::io::{Seek, Write};
use std::ops::Range;

use zerocopy::{FromBytes, IntoBytes};

pub use self::copy::Original;
use self::copy::Splice;
use super::chunk::{MARKER, Method};
use super::record::{File2, Header1, Header2};
use super::write::output::Output;
use super::write::{ChunkPacker, Input, number, pack, v1, v2};
use super::{Directory, Hpi, Packing, Version};
use crate::format::Options;
use crate::io;
use crate::volume::{FileId, Sink};
use crate::write::{File, Result};

/// An archive whose files can be replaced.
pub struct Archive {
    original: Original,
    hpi: Hpi,
    directory: Directory,
}

impl Archive {
    /// Reads the directory of an archive of either version, and declares its files.
    ///
    /// # Errors
    /// Returns an error if the source cannot be read, is not an HPI archive, or
    /// is damaged.
    pub fn read(original: Original, sink: &mut dyn Sink) -> io::Result<Self> {
        let (hpi, directory) = super::read(original.bytes.clone(), sink, Options::default())?;
        Ok(Self {
            original,
            hpi,
            directory,
        })
    }

    /// Returns how a file is packed: a method of version 1, or [`Method::Zlib`]
    /// for a packed file of version 2.
    fn method(&self, file: FileId) -> io::Result<Method> {
        Ok(match self.hpi.record(file)?.packing {
            Packing::Stored => Method::Stored,
            Packing::Run { .. } => Method::Zlib,
            // In some archives the record differs from the chunks.
            Packing::Table { compression } => {
                let of_chunks = io::undamaged(self.hpi.method(file))?;
                let mut methods = of_chunks
                    .into_iter()
                    .chain(Method::from_number(compression));
                let packed = methods.find(|&method| method != Method::Stored);
                packed.unwrap_or(Method::Zlib)
            }
        })
    }

    /// Returns the lowest possible offset of file data.
    fn data_start(&self) -> u64 {
        match self.directory.version {
            Version::One { end } => end.max(size_of::<Header1>() as u64),
            Version::Two { .. } => size_of::<Header2>() as u64,
        }
    }

    /// Returns the offset of each file's data, and the position of its record.
    fn starts(&self) -> impl Iterator<Item = (u64, u32)> {
        let files = self.hpi.files.iter().zip(&self.directory.records);
        files.map(|(file, &record)| (file.data_offset.into(), record))
    }
}

/// A file of an archive, and its new contents.
#[derive(Debug)]
pub struct Replacement {
    /// The file in the archive.
    pub id: FileId,
    /// Its path in the archive, which errors name.
    pub path: String,
    /// The new contents.
    pub file: File,
    /// Length of the new contents in bytes.
    pub size: u64,
}

/// An archive with replaced files, ready to be written.
pub struct Plan {
    archive: Archive,
    changes: Vec<Change>,
    /// The old directory block of version 2, if it can be removed.
    old_directory: Option<Range<u64>>,
    bytes: u64,
}

/// A replaced file.
struct Change {
    replacement: Replacement,
    method: Method,
    /// The removed range of the archive; empty at the end of all data if others
    /// share the bytes.
    old: Range<u64>,
}

impl Plan {
    /// Plans to replace files of an archive.
    ///
    /// # Errors
    /// Returns [`Error::Original`](crate::write::Error::Original) if the
    /// archive cannot be read, or if a replaced file shares its record with
    /// others.
    ///
    /// # Panics
    /// Panics if the archive has no file with the number of a replacement.
    pub fn new(archive: Archive, replacements: Vec<Replacement>) -> Result<Self> {
        let Archive {
            original,
            hpi,
            directory,
        } = &archive;
        let failed = |error: io::Error| original.error(error);
        let all = hpi.all_data().map_err(failed)?;
        // No file can be inside of these.
        let blocks: Vec<Range<u64>> = match &directory.version {
            Version::One { .. } => Vec::new(),
            Version::Two { header, .. } => header.blocks().into(),
        };
        let mut bytes = original.len();
        let mut changes = Vec::with_capacity(replacements.len());
        for replacement in replacements {
            let id = replacement.id;
            let record = directory.records[id.0 as usize];
            let same = directory.records.iter().filter(|&&other| other == record);
            if same.count() > 1 {
                let path = &replacement.path;
                let problem = format!("{path}: shares its record with other files");
                return Err(original.error(problem));
            }
            let mut old = all[id.0 as usize].clone();
            let others = all.iter().enumerate();
            let mut others = others.filter(|&(number, _)| number != id.0 as usize);
            let is_free = old.start >= archive.data_start()
                && old.end <= directory.end
                && !others.any(|(_, other)| overlap(other, &old))
                && !blocks.iter().any(|block| overlap(block, &old));
            if !is_free {
                old = directory.end..directory.end;
            }
            bytes = bytes + replacement.size - (old.end - old.start);
            changes.push(Change {
                replacement,
                method: archive.method(id).map_err(failed)?,
                old,
            });
        }
        changes.sort_by_key(|change| (change.old.start, change.old.end));
        let old_directory = match &blocks[..] {
            [old, names]
                if old.start >= archive.data_start()
                    && old.end <= directory.end
                    && !overlap(names, old)
                    && !all.iter().any(|other| overlap(other, old)) =>
            {
                Some(old.clone())
            }
            _ => None,
        };
        let unread = old_directory.clone().unwrap_or_default();
        Ok(Self {
            archive,
            changes,
            old_directory,
            bytes: bytes - (unread.end - unread.start),
        })
    }

    /// Returns the number of bytes that will be read.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Writes the archive to `out`, from the current position on.
    ///
    /// `packer` packs the chunks of all replaced files. `progress` is called
    /// with the number of bytes that have been read since it was last called.
    ///
    /// # Errors
    /// Returns an error if the archive or a file cannot be read, if a size does
    /// not fit into the format, or if writing fails. The contents of `out` are
    /// then incomplete.
    pub fn write(
        &self,
        out: impl Write + Seek,
        packer: &mut dyn ChunkPacker,
        progress: &mut dyn FnMut(u64),
    ) -> Result<()> {
        let Archive {
            original,
            hpi,
            directory,
        } = &self.archive;
        let enciphered = size_of::<Header1>() as u64..directory.end;
        let out = Output::new(out, hpi.cipher);
        let mut splice = Splice::new(original, out, enciphered, progress);
        match &directory.version {
            Version::One { .. } => self.write_version_1(splice, packer),
            Version::Two { header, bytes } => {
                self.write_version_2(&mut splice, packer, *header, bytes.clone())?;
                splice.out.finish()
            }
        }
    }

    fn write_version_1<W: Write + Seek>(
        &self,
        mut splice: Splice<'_, W>,
        packer: &mut dyn ChunkPacker,
    ) -> Result<()> {
        let mut records = Vec::with_capacity(self.changes.len());
        for change in &self.changes {
            splice.copy_to(change.old.start)?;
            let input = change.input();
            splice.write(|out, progress| {
                let mut placed = |record| records.push(record);
                v1::write_files(out, &[&input], change.method, packer, progress, &mut placed)
            })?;
            splice.go_on_at(change.old.end);
        }
        splice.copy_to(self.archive.original.len())?;
        for (old, record) in self.archive.starts() {
            let new = splice.moved(old);
            if new != old {
                let new = number(new)?.to_le_bytes();
                splice.out.overwrite(record, new.to_vec())?;
            }
        }
        for (change, record) in self.changes.iter().zip(records) {
            let place = self.place(change);
            splice.out.overwrite(place, record.as_bytes().to_vec())?;
        }
        splice.out.finish()
    }

    fn write_version_2<W: Write + Seek>(
        &self,
        splice: &mut Splice<'_, W>,
        packer: &mut dyn ChunkPacker,
        mut header: Header2,
        mut directory: Vec<u8>,
    ) -> Result<()> {
        let mut records = Vec::with_capacity(self.changes.len());
        let mut old_directory = self.old_directory.clone();
        for change in &self.changes {
            let before = old_directory.take_if(|old| old.start < change.old.start);
            if let Some(old) = before {
                splice.copy_to(old.start)?;
                splice.go_on_at(old.end);
            }
            splice.copy_to(change.old.start)?;
            let input = change.input();
            splice.write(|out, progress| {
                let mut placed = |record| records.push(record);
                let packed = change.method != Method::Stored;
                v2::write_files(out, &[&input], packed, packer, progress, &mut placed)
            })?;
            splice.go_on_at(change.old.end);
        }
        if let Some(old) = old_directory {
            splice.copy_to(old.start)?;
            splice.go_on_at(old.end);
        }
        let end = self.archive.directory.end;
        splice.copy_to(end)?;
        for (old, place) in self.archive.starts() {
            record(&mut directory, place).start = number(splice.moved(old))?.into();
        }
        for (change, new) in self.changes.iter().zip(records) {
            let old = record(&mut directory, self.place(change));
            *old = File2 {
                name: old.name,
                date: change.replacement.file.modified.into(),
                ..new
            };
        }
        let block = match self.directory_is_packed(header)? {
            true => pack::chunk(&directory, Method::Zlib, true),
            false => directory,
        };
        header.name_block = number(splice.moved(header.name_block.get().into()))?.into();
        header.dir_block = splice.out.end().into();
        header.dir_size = number(block.len())?.into();
        splice.out.append(block)?;
        splice.go_on_at(end);
        splice.copy_to(self.archive.original.len())?;
        splice.out.overwrite_plain(0, header.as_bytes())
    }

    fn directory_is_packed(&self, header: Header2) -> Result<bool> {
        let mut marker = [0; MARKER.len()];
        if (header.dir_size.get() as usize) < marker.len() {
            return Ok(false);
        }
        let offset = header.dir_block.get().into();
        let original = &self.archive.original;
        let read = original.bytes.read_exact_at(&mut marker, offset);
        read.map_err(|cause| original.error(cause))?;
        Ok(marker == MARKER)
    }

    /// Returns the position of the record of a replaced file.
    fn place(&self, change: &Change) -> u32 {
        self.archive.directory.records[change.replacement.id.0 as usize]
    }
}

impl Change {
    fn input(&self) -> Input<'_> {
        Input {
            file: &self.replacement.file,
            path: self.replacement.path.clone(),
        }
    }
}

/// Returns whether two ranges overlap, or an empty `place` is inside the other.
fn overlap(other: &Range<u64>, place: &Range<u64>) -> bool {
    match place.is_empty() {
        true => other.start < place.start && place.start < other.end,
        false => other.start.max(place.start) < other.end.min(place.end),
    }
}

/// Returns the record at this offset of a decoded directory block.
fn record(directory: &mut [u8], offset: u32) -> &mut File2 {
    let record = directory.get_mut(offset as usize..);
    let record = record.and_then(|bytes| File2::mut_from_prefix(bytes).ok());
    record.expect("the record was read from there").0
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;
    use std::sync::Arc;

    use super::*;
    use crate::extract::Listing;
    use crate::hpi::FORMAT;
    use crate::hpi::write::Serial;
    use crate::io::ReadAt;
    use crate::listing::{open, read};
    use crate::write::{self, Node, Source};

    fn file(byte: u8, size: usize) -> File {
        File {
            source: Source::Bytes(vec![byte; size]),
            modified: 0,
        }
    }

    /// Returns an archive of the files `a` and `b`.
    fn archive(version: u32) -> Vec<u8> {
        let entries = [("a", file(1, 9)), ("b", file(2, 200_000))];
        let entries = entries.map(|(name, file)| (name.to_owned(), Node::File(file)));
        let root = write::Directory {
            entries: entries.into(),
        };
        let mut out = Cursor::new(Vec::new());
        let packer = &mut Serial::default();
        if version == 1 {
            let options = v1::Options {
                method: Method::Lz77,
                key: 0x7D,
            };
            v1::write(&root, options, &mut out, packer, &mut |_| {}).unwrap();
        } else {
            let options = v2::Options { packed: true };
            v2::write(&root, options, &mut out, packer, &mut |_| {}).unwrap();
        }
        out.into_inner()
    }

    #[test]
    fn one_packer_packs_all_replaced_files() {
        for version in [1, 2] {
            let bytes: Arc<dyn ReadAt> = Arc::new(archive(version));
            let mut listing = Listing::default();
            let original = Original {
                bytes,
                path: "test.hpi".into(),
            };
            let archive = Archive::read(original, &mut listing).unwrap();
            let sizes = [70_000, 5];
            let replacements = listing.files().zip(sizes).map(|((path, entry), size)| {
                let new = file(3 + entry.file.0 as u8, size);
                Replacement {
                    id: entry.file,
                    path: path.to_owned(),
                    file: new,
                    size: size as u64,
                }
            });
            let plan = Plan::new(archive, replacements.collect()).unwrap();
            let (mut out, mut done) = (Cursor::new(Vec::new()), 0);
            let mut progress = |bytes| done += bytes;
            plan.write(&mut out, &mut Serial::default(), &mut progress)
                .unwrap();
            assert_eq!(done, plan.bytes());

            let (listing, volume) = open(&FORMAT, "test.hpi", out.into_inner(), None).unwrap();
            assert_eq!(listing.paths(), ["a", "b"]);
            for ((_, entry), size) in listing.files().zip(sizes) {
                let expected = vec![3 + entry.file.0 as u8; size];
                assert_eq!(read(&*volume, entry).unwrap(), expected);
            }
        }
    }
}
