//! Version 2 archives.

use hpimount_containers::hpi::chunk::Method;
use hpimount_containers::hpi::file_sum::FileSum;
use hpimount_containers::hpi::record::{Dir2, File2, Header2, MAGIC, VERSION_2};
use zerocopy::{Immutable, IntoBytes};

use super::{Built, Chunk, Content, Entry, File, FileOffsets};

/// Offset of the data: after the header and four bytes of 0.
const DATA_START: u32 = 32;

/// A version 2 archive to be built, which may be odd.
#[derive(Clone)]
pub struct V2 {
    pub entries: Vec<Entry>,
    /// Maximum number of bytes in a chunk; `None` for one chunk per file.
    pub chunk_size: Option<usize>,
    /// Whether directory and names are stored, not packed.
    pub raw_blocks: bool,
    /// Date of the first file; each of the others is a second later.
    pub date: u32,
    pub trailer: Vec<u8>,
}

impl V2 {
    /// Creates an archive that is not odd. Files with the method stored are not
    /// in chunks.
    pub fn new(entries: Vec<Entry>) -> Self {
        Self {
            entries,
            chunk_size: Some(65536),
            raw_blocks: false,
            date: 925_000_000,
            trailer: b"Copyright 1999 Cavedog Entertainment".to_vec(),
        }
    }

    pub fn build(&self) -> Built {
        let mut builder = Builder {
            archive: self,
            bytes: vec![0; DATA_START as usize],
            directories: vec![0; size_of::<Dir2>()],
            names: vec![0],
            files: Vec::new(),
        };
        builder.directory(&self.entries, 0, 0);
        let Builder {
            mut bytes,
            directories,
            names,
            mut files,
            ..
        } = builder;
        let mut block = |block: &[u8]| {
            let at = bytes.len();
            if self.raw_blocks {
                bytes.extend(block);
            } else {
                bytes.extend(Chunk::new(Method::Zlib).pack(block));
            }
            (at as u32, (bytes.len() - at) as u32)
        };
        let (name_offset, name_size) = block(&names);
        let (dir_offset, dir_size) = block(&directories);
        let header = Header2 {
            magic: MAGIC,
            version: VERSION_2.into(),
            dir_block: dir_offset.into(),
            dir_size: dir_size.into(),
            name_block: name_offset.into(),
            name_size: name_size.into(),
            data_start: DATA_START.into(),
        };
        bytes[..size_of::<Header2>()].copy_from_slice(header.as_bytes());
        bytes.extend(&self.trailer);
        for file in &mut files {
            file.record += dir_offset as usize;
        }
        Built { bytes, files }
    }
}

/// The parts of an archive under construction.
struct Builder<'a> {
    archive: &'a V2,
    bytes: Vec<u8>,
    directories: Vec<u8>,
    names: Vec<u8>,
    files: Vec<FileOffsets>,
}

impl Builder<'_> {
    fn room<T>(&mut self, count: usize) -> usize {
        let at = self.directories.len();
        self.directories.resize(at + count * size_of::<T>(), 0);
        at
    }

    fn put<T: IntoBytes + Immutable>(&mut self, at: usize, record: &T) {
        self.directories[at..at + size_of::<T>()].copy_from_slice(record.as_bytes());
    }

    fn name(&mut self, name: &[u8]) -> usize {
        let at = self.names.len();
        self.names.extend(name);
        self.names.push(0);
        at
    }

    /// Appends the entries of a directory, and writes its record to `at`.
    fn directory(&mut self, entries: &[Entry], name: usize, at: usize) {
        let mut directories = Vec::new();
        let mut files = Vec::new();
        for entry in entries {
            match &entry.content {
                Content::Directory(inner) => directories.push((&entry.name, inner)),
                Content::File(file) => files.push((&entry.name, file)),
            }
        }
        let first_directory = self.room::<Dir2>(directories.len());
        let first_file = self.room::<File2>(files.len());
        let record = Dir2 {
            name: (name as u32).into(),
            first_subdirectory: (first_directory as u32).into(),
            subdirectories: (directories.len() as u32).into(),
            first_file: (first_file as u32).into(),
            files: (files.len() as u32).into(),
        };
        self.put(at, &record);
        for (index, (name, file)) in files.into_iter().enumerate() {
            self.file(file, name, first_file + index * size_of::<File2>());
        }
        for (index, (name, inner)) in directories.into_iter().enumerate() {
            let name = self.name(name);
            self.directory(inner, name, first_directory + index * size_of::<Dir2>());
        }
    }

    /// Appends the data of a file, and writes its record to `at`.
    fn file(&mut self, file: &File, name: &[u8], at: usize) {
        let mut sum = FileSum::default();
        sum.update(&file.data);
        let data = self.bytes.len();
        let mut chunks = Vec::new();
        if file.method == 0 {
            self.bytes.extend(&file.data);
        } else {
            let whole = file.data.len().max(1);
            for plain in file.data.chunks(self.archive.chunk_size.unwrap_or(whole)) {
                chunks.push(self.bytes.len());
                let chunk = Chunk {
                    scrambled: false,
                    ..file.chunk.clone()
                };
                self.bytes.extend(chunk.pack(plain));
            }
        }
        let stored_size = match chunks.is_empty() {
            true => 0,
            false => self.bytes.len() - data,
        };
        let record = File2 {
            name: (self.name(name) as u32).into(),
            start: (data as u32).into(),
            size: (file.data.len() as u32).into(),
            stored_size: (stored_size as u32).into(),
            date: (self.archive.date + self.files.len() as u32).into(),
            checksum: sum.value().into(),
        };
        self.put(at, &record);
        self.files.push(FileOffsets {
            record: at,
            data,
            chunks,
        });
    }
}
