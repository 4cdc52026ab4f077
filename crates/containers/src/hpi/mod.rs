//! HPI, the container of Total Annihilation (version 1: `.hpi`, `.ufo`,
//! `.ccx`, `.gp3`, `.gpf`) and TA: Kingdoms (version 2: `.hpi`, `.kmp`).
//!
//! Section numbers in the comments of this module refer to
//! `docs/formats/hpi.md`.

mod apply;
pub mod chunk;
pub mod cipher;
mod decode;
mod directory;
pub mod file_sum;
pub mod lz77;
pub mod record;
pub mod replace;
mod v1;
mod v2;
mod walk;
pub mod write;

use std::io::Read;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use zerocopy::little_endian::U32;
use zerocopy::{FromBytes, Immutable, KnownLayout, Unaligned};

use self::cipher::Cipher;
use self::directory::{Directory, Version};
use self::file_sum::FileSum;
use self::record::{MAGIC, VERSION_1, VERSION_2};
use crate::changes::Changeable;
use crate::file_type::{FileType, Magic};
use crate::format::{Format, Options};
use crate::io::{self, Error, ReadAt, Result, check_sum, undamaged};
use crate::volume::{
    Chunk, ChunkTable, Chunks, Content, DataFacts, Description, FileId, Mountable, Packed, Sink,
    Volume, no_such_file,
};

/// The format of HPI archives.
pub const FORMAT: Format = Format {
    name: "HPI",
    extensions: &["hpi", "ufo", "ccx", "gp3", "gpf", "kmp"],
    types: &[FileType {
        magic: &[Magic {
            and: &[Magic::at(4, &[0, 0, 1, 0]), Magic::at(4, &[0, 0, 2, 0])],
            ..Magic::at(0, b"HAPI")
        }],
        patterns: &["*.hpi", "*.ufo", "*.ccx", "*.kmp"],
        // Tablatures and others have these extensions, too.
        shared_patterns: &["*.gp3", "*.gpf"],
        has_thumbnail: true,
        ..FileType::archive("application/x-hpi-archive", "Total Annihilation archive")
    }],
    matches: |input| Ok(input.bytes(0, MAGIC.len() as u64)? == MAGIC),
    open: |input, sink| Ok(Box::new(read(input.source, sink, input.options)?.0)),
    change: Some(|input, sink| {
        let read = read(input.source, sink, input.options)?;
        Ok(Changeable::new(read, apply::apply_stored))
    }),
    is_plain_folder: false,
    is_layered: true,
    ..Format::PLAIN
};

/// The attribute whose value is computed from all bytes of the file.
const CHECKSUM_OK: &str = "user.hpi.checksum_ok";

/// Number of bytes read at a time to compute a checksum.
const SUMMED_AT_ONCE: u64 = 64 << 10;

/// Maximum length of a directory. The largest of a game has 1 MiB.
const MAX_DIRECTORY: u64 = 128 << 20;

/// The first eight bytes of every version (HPI 1).
#[derive(FromBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
struct Preamble {
    magic: [u8; 4],
    version: U32,
}

/// The position of a file's data, and how it is packed.
#[derive(Debug, Clone, Copy)]
struct FileRecord {
    /// Absolute offset of the file's first byte in the archive.
    data_offset: u32,
    /// Decoded size in bytes.
    size: u32,
    packing: Packing,
}

/// The packing of a file, as the two versions store it.
#[derive(Debug, Clone, Copy)]
enum Packing {
    /// The bytes are stored unchanged.
    Stored,
    /// Version 1: a table of chunk sizes, then the chunks.
    Table {
        /// The method that the record states.
        compression: u8,
    },
    /// Version 2: consecutive chunks of this total size.
    Run { stored_size: u32 },
}

/// An HPI archive of either version.
struct Hpi {
    source: Arc<dyn ReadAt>,
    /// The source for stored files, deciphered.
    plain: Arc<dyn ReadAt>,
    options: Options,
    cipher: Cipher,
    files: Vec<FileRecord>,
    /// Version 2: the checksum of every file, in the order of `files`.
    file_sums: Vec<u32>,
    /// The checksums of their data, once computed, or `None` of a damaged file; empty if
    /// they are not compared.
    found_sums: Vec<OnceLock<Option<u32>>>,
    info: Description,
    warnings: Vec<String>,
}

/// Returns the version in the header of an archive; `None` if the source is not
/// one.
pub fn version(source: &dyn ReadAt) -> Option<u32> {
    let bytes = io::read_vec(source, 0, size_of::<Preamble>() as u64, "header").ok()?;
    let (preamble, _) = Preamble::ref_from_prefix(&bytes).ok()?;
    (preamble.magic == MAGIC).then_some(preamble.version.get())
}

/// Reads the directory of an archive of either version, and declares its files.
fn read(
    source: Arc<dyn ReadAt>,
    sink: &mut dyn Sink,
    options: Options,
) -> Result<(Hpi, Directory)> {
    let bytes = io::read_vec(&*source, 0, size_of::<Preamble>() as u64, "header")?;
    let preamble: &Preamble = io::Cursor::new(&bytes, 0, io::Endian::Little).record("header")?;
    match preamble.version.get() {
        VERSION_1 => v1::read(source, sink, options),
        VERSION_2 => v2::read(source, sink, options),
        version if version.to_le_bytes() == *b"BANK" => Err(Error::Unsupported(
            "is a saved game of Total Annihilation (HAPI BANK), which holds no files".to_owned(),
        )),
        version => Err(Error::Unsupported(format!(
            "is an HPI archive of version {version:#010x}; \
             known are 0x00010000 (Total Annihilation) and 0x00020000 (TA: Kingdoms)"
        ))),
    }
}

/// The line at the end of archives. Its year is not compared (HPI 6).
const TRAILER: &[u8; 36] = b"Copyright 0000 Cavedog Entertainment";

/// Returns whether the archive ends with the line that the games require.
fn has_trailer(source: &dyn ReadAt) -> Result<bool> {
    const YEAR: Range<usize> = 10..14;
    let length = TRAILER.len() as u64;
    let Some(start) = source.len().checked_sub(length) else {
        return Ok(false);
    };
    let found = io::read_vec(source, start, length, "trailer")?;
    Ok(found[..YEAR.start] == TRAILER[..YEAR.start] && found[YEAR.end..] == TRAILER[YEAR.end..])
}

/// Announces that the trailer will be read after the directory: a source on a
/// server fetches both at the same time.
fn announce_trailer(source: &dyn ReadAt) {
    let length = TRAILER.len() as u64;
    source.will_need(source.len().saturating_sub(length), length);
}

impl Hpi {
    fn record(&self, file: FileId) -> Result<FileRecord> {
        self.files
            .get(file.0 as usize)
            .copied()
            .ok_or_else(|| no_such_file(file))
    }

    /// Returns the size of the file in the archive, including headers and
    /// tables.
    fn stored_size(&self, file: FileId) -> Result<u64> {
        let record = self.record(file)?;
        Ok(match record.packing {
            Packing::Stored => record.size.into(),
            Packing::Run { stored_size } => stored_size.into(),
            Packing::Table { .. } => {
                let (end, _) = self.chunk_table(file)?.end();
                end.saturating_sub(record.data_offset.into())
            }
        })
    }

    /// Returns the range of a file's data, including its chunk table. It is empty if
    /// damage hides its end.
    fn data(&self, file: FileId) -> Result<Range<u64>> {
        let start = u64::from(self.record(file)?.data_offset);
        let size = undamaged(self.stored_size(file))?;
        Ok(start..start + size.unwrap_or_default())
    }

    /// Returns the ranges of the data of all files.
    fn all_data(&self) -> Result<Vec<Range<u64>>> {
        let files = (0..self.files.len() as u32).map(FileId);
        files.map(|file| self.data(file)).collect()
    }

    /// Returns the number of chunks of a file; `None` if damage of the first
    /// chunk hides it.
    fn chunk_count(&self, file: FileId) -> Result<Option<usize>> {
        let record = self.record(file)?;
        if matches!(record.packing, Packing::Stored) {
            return Ok(Some(0));
        }
        let count = self.chunk_table(file)?.len();
        Ok((count > 0 || record.size == 0).then_some(count))
    }

    /// Returns whether the checksum of a whole file matches its data; `None` if
    /// the archive has none. It does not match if a chunk cannot be decoded.
    fn sum_fits(&self, file: FileId) -> Result<Option<bool>> {
        let Some(&stored) = self.file_sums.get(file.0 as usize) else {
            return Ok(None);
        };
        let sum = undamaged(self.file_sum(file))?;
        Ok(Some(sum == Some(stored)))
    }

    /// Returns the checksum of the bytes of a file (HPI 7).
    fn file_sum(&self, file: FileId) -> Result<u32> {
        let record = self.record(file)?;
        let size = u64::from(record.size);
        let mut sum = FileSum::default();
        let mut position = 0;
        if matches!(record.packing, Packing::Stored) {
            while position < size {
                let length = (size - position).min(SUMMED_AT_ONCE);
                let offset = u64::from(record.data_offset) + position;
                let mut bytes = vec![0; length as usize];
                self.plain
                    .read_exact_at(&mut bytes, offset)
                    .map_err(|cause| io::read_error(offset, length, cause))?;
                sum.update(&bytes);
                position += length;
            }
            return Ok(sum.value());
        }
        let table = self.chunk_table(file)?;
        let mut bytes = vec![0; SUMMED_AT_ONCE.min(size) as usize];
        while position < size {
            let chunk = table.at(position)?;
            let mut reader = self.open_chunk(file, chunk)?;
            loop {
                let read = reader.read(&mut bytes).map_err(|error| {
                    Error::of_reader(&error, |text| Error::damaged(chunk.offset, "chunk", text))
                })?;
                if read == 0 {
                    break;
                }
                sum.update(&bytes[..read]);
            }
            position = chunk.start + u64::from(chunk.length);
        }
        Ok(sum.value())
    }

    /// Verifies the checksum of a whole file, when it is first needed.
    fn verify(&self, file: FileId) -> Result<()> {
        let number = file.0 as usize;
        let (Some(found), Some(&recorded)) =
            (self.found_sums.get(number), self.file_sums.get(number))
        else {
            return Ok(());
        };
        if found.get().is_none() {
            // Reads of a damaged chunk report it themselves.
            let sum = undamaged(self.file_sum(file))?;
            // Fails only if another thread has set the same result.
            let _ = found.set(sum);
        }
        let found = found.get().copied().flatten().unwrap_or(recorded);
        match check_sum("checksum", found, recorded) {
            Err(problem) if !self.options.force => {
                let offset = self.record(file)?.data_offset;
                Err(Error::damaged(offset.into(), "file", problem))
            }
            _ => Ok(()),
        }
    }

    /// Returns the method of the first chunk. In real archives all chunks have
    /// the same.
    fn method(&self, file: FileId) -> Result<chunk::Method> {
        let record = self.record(file)?;
        if matches!(record.packing, Packing::Stored) || record.size == 0 {
            return Ok(chunk::Method::Stored);
        }
        let first = self.chunk_table(file)?.at(0)?;
        decode::method_of(&*self.source, self.cipher, first)
    }
}

impl Chunks for Hpi {
    fn chunk_table(&self, file: FileId) -> Result<ChunkTable> {
        let record = self.record(file)?;
        match record.packing {
            Packing::Stored => Err(no_such_file(file)),
            Packing::Table { .. } => v1::chunk_table(&*self.source, self.cipher, record),
            Packing::Run { stored_size } => v2::chunk_table(&*self.source, record, stored_size),
        }
    }

    fn decode_chunk(&self, _file: FileId, chunk: Chunk, wanted: u32) -> Result<Vec<u8>> {
        let force = self.options.force;
        decode::chunk(&*self.source, self.cipher, chunk, wanted, force)
    }

    fn open_chunk(&self, _file: FileId, chunk: Chunk) -> Result<Box<dyn Read + Send>> {
        decode::open(&self.source, self.cipher, chunk, self.options.force)
    }
}

impl Volume for Hpi {
    fn content(&self, file: FileId) -> Result<Content<'_>> {
        let record = self.record(file)?;
        if self.options.verify {
            self.verify(file)?;
        }
        Ok(match record.packing {
            Packing::Stored => Content::Extent {
                source: &*self.plain,
                offset: record.data_offset.into(),
            },
            Packing::Table { .. } | Packing::Run { .. } => Content::Chunks(self),
        })
    }

    fn data_facts(&self, file: FileId) -> Result<DataFacts<'_>> {
        let record = self.record(file)?;
        let number = match record.packing {
            // The checksums of Kingdoms are not compared when files are read.
            Packing::Stored => return Ok(DataFacts::default()),
            Packing::Table { .. } => 1,
            Packing::Run { .. } => 2,
        };
        Ok(DataFacts {
            crc32: None,
            packed: Some(Packed {
                method: (FORMAT.name, number),
                source: &*self.plain,
                offset: record.data_offset.into(),
                length: self.stored_size(file)?,
            }),
        })
    }

    fn info(&self) -> serde_json::Value {
        self.info.value()
    }

    fn warnings(&self) -> &[String] {
        &self.warnings
    }
}

impl Mountable for Hpi {
    fn memory(&self) -> usize {
        size_of::<Self>()
            + self.files.capacity() * size_of::<FileRecord>()
            + self.file_sums.capacity() * size_of::<u32>()
            + self.found_sums.capacity() * size_of::<OnceLock<Option<u32>>>()
            + self.info.memory()
    }

    fn xattr_names(&self, file: FileId) -> Vec<&'static str> {
        let mut names = vec![
            "user.hpi.archive",
            "user.hpi.offset",
            "user.hpi.stored_size",
            "user.hpi.method",
            "user.hpi.encrypted",
        ];
        // It is listed after a fault, which may be temporary.
        if !matches!(self.chunk_count(file), Ok(None)) {
            names.push("user.hpi.chunks");
        }
        if !self.file_sums.is_empty() {
            names.extend(["user.hpi.checksum", CHECKSUM_OK]);
        }
        names
    }

    fn xattr(&self, file: FileId, name: &str) -> Result<Option<String>> {
        let record = self.record(file)?;
        Ok(Some(match name {
            "user.hpi.archive" => self.options.name.clone(),
            "user.hpi.offset" => record.data_offset.to_string(),
            "user.hpi.stored_size" => self.stored_size(file)?.to_string(),
            "user.hpi.method" => self.method(file)?.name().to_owned(),
            "user.hpi.encrypted" => u8::from(!self.cipher.is_plain()).to_string(),
            "user.hpi.chunks" => match self.chunk_count(file)? {
                Some(count) => count.to_string(),
                None => return Ok(None),
            },
            CHECKSUM_OK => match self.sum_fits(file)? {
                Some(fits) => fits.to_string(),
                None => return Ok(None),
            },
            "user.hpi.checksum" => match self.file_sums.get(file.0 as usize) {
                Some(sum) => format!("{sum:08X}"),
                None => return Ok(None),
            },
            _ => return Ok(None),
        }))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::sync::Mutex;

    use super::write as pack;
    use super::write::Serial;
    use super::*;
    use crate::extract::Listing;
    use crate::write::{Directory, File, Node, Source};

    type Read = fn(Arc<dyn ReadAt>, &mut dyn Sink, Options) -> Result<(Hpi, super::Directory)>;

    /// An archive that records the announced reads, and those that were not
    /// announced.
    struct Recording {
        bytes: Vec<u8>,
        announced: Mutex<HashSet<u64>>,
        unannounced: Mutex<Vec<u64>>,
    }

    impl ReadAt for Recording {
        fn len(&self) -> u64 {
            self.bytes.len() as u64
        }

        fn will_need(&self, offset: u64, _: u64) {
            self.announced.lock().unwrap().insert(offset);
        }

        fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> std::io::Result<()> {
            if !self.announced.lock().unwrap().contains(&offset) {
                self.unannounced.lock().unwrap().push(offset);
            }
            self.bytes.read_exact_at(buf, offset)
        }
    }

    /// Returns a directory with a file.
    fn one_file(bytes: Vec<u8>) -> Directory {
        let file = File {
            source: Source::Bytes(bytes),
            modified: 0,
        };
        Directory {
            entries: vec![("a.bin".into(), Node::File(file))],
        }
    }

    #[test]
    fn only_the_header_and_a_directory_are_read_unannounced() {
        let root = one_file(vec![7; 100_000]);
        let (mut first, mut second) = (
            std::io::Cursor::new(Vec::new()),
            std::io::Cursor::new(Vec::new()),
        );
        let method = chunk::Method::Zlib;
        pack::v1::write(
            &root,
            pack::v1::Options { method, key: 0 },
            &mut first,
            &mut Serial::default(),
            &mut |_| {},
        )
        .unwrap();
        pack::v2::write(
            &root,
            pack::v2::Options { packed: false },
            &mut second,
            &mut Serial::default(),
            &mut |_| {},
        )
        .unwrap();
        for (bytes, read) in [
            (first.into_inner(), v1::read as Read),
            (second.into_inner(), v2::read),
        ] {
            let source = Arc::new(Recording {
                bytes,
                announced: Mutex::default(),
                unannounced: Mutex::default(),
            });
            read(source.clone(), &mut Listing::default(), Options::default()).unwrap();
            let unannounced = source.unannounced.lock().unwrap();
            assert!(
                unannounced.len() == 2 && unannounced[0] == 0,
                "{unannounced:?}"
            );
        }
    }

    #[test]
    fn the_start_of_a_chunk_is_the_same_as_of_the_whole() {
        // Deflate does not pack every other 16 KiB.
        let byte = |i: u32| match i >> 14 & 1 {
            0 => i / 7,
            _ => i.wrapping_mul(0x9E37_79B9) >> 24,
        };
        let bytes = Vec::from_iter((0..65_536).map(|i| byte(i) as u8));
        for method in [chunk::Method::Lz77, chunk::Method::Zlib] {
            let mut archive = std::io::Cursor::new(Vec::new());
            let packing = pack::v1::Options { method, key: 0x55 };
            let root = one_file(bytes.clone());
            pack::v1::write(
                &root,
                packing,
                &mut archive,
                &mut Serial::default(),
                &mut |_| {},
            )
            .unwrap();
            let archive = Arc::new(archive.into_inner());
            let (hpi, _) = v1::read(archive, &mut Listing::default(), Options::default()).unwrap();
            let chunk = hpi.chunk_table(FileId(0)).unwrap().at(0).unwrap();
            let start = |wanted| hpi.decode_chunk(FileId(0), chunk, wanted).unwrap();
            for wanted in [1, 255, 4096, 16_384, 21_845, 21_846, 40_000, 65_535, 65_536] {
                let start = start(wanted);
                assert!(start.len() >= wanted as usize, "{method:?}: {wanted}");
                assert!(start == bytes[..start.len()], "{method:?}: {wanted}");
            }
            assert!(start(4096).len() < bytes.len(), "{method:?}");
        }
    }

    #[test]
    fn results_of_verification_are_counted_as_memory() {
        let root = one_file(vec![7; 1000]);
        let mut archive = std::io::Cursor::new(Vec::new());
        let packing = pack::v2::Options { packed: false };
        pack::v2::write(
            &root,
            packing,
            &mut archive,
            &mut Serial::default(),
            &mut |_| {},
        )
        .unwrap();
        let bytes = archive.into_inner();
        let memory = |verify| {
            let options = Options {
                verify,
                ..Options::default()
            };
            let read = v2::read(Arc::new(bytes.clone()), &mut Listing::default(), options);
            read.unwrap().0.memory()
        };
        assert!(memory(true) > memory(false));
    }
}
