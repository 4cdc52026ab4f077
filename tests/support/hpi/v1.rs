//! Version 1 archives.

use hpimount_containers::hpi::cipher::Cipher;
use hpimount_containers::hpi::record::{Entry1, File1, Header1, MAGIC, Node1, VERSION_1};
use zerocopy::{Immutable, IntoBytes};

use super::{Built, Content, Entry, File, FileOffsets, TRAILER};

/// A version 1 archive to be built, which may be odd.
#[derive(Clone)]
pub struct V1 {
    pub entries: Vec<Entry>,
    /// The four bytes of the key in the header.
    pub key: u32,
    /// The cipher that the archive is really enciphered with.
    pub cipher: Cipher,
    /// Offset of the root's node.
    pub root: usize,
    /// Whether there are other bytes between a node and its entries.
    pub lists_elsewhere: bool,
    /// Bytes between the directory and the data.
    pub gap: usize,
    pub trailer: Vec<u8>,
}

impl V1 {
    /// Creates an archive that is not odd.
    pub fn new(entries: Vec<Entry>) -> Self {
        Self {
            entries,
            key: 0,
            cipher: Cipher::PLAIN,
            root: size_of::<Header1>(),
            lists_elsewhere: false,
            gap: 0,
            trailer: TRAILER.to_vec(),
        }
    }

    /// Returns the archive enciphered with a key.
    pub fn keyed(self, key: u8) -> Self {
        Self {
            key: key.into(),
            cipher: Cipher::from_header(key),
            ..self
        }
    }

    pub fn build(&self) -> Built {
        let mut builder = Builder {
            bytes: vec![0; self.root],
            lists_elsewhere: self.lists_elsewhere,
            files: Vec::new(),
        };
        builder.directory(&self.entries);
        let dir_end = builder.bytes.len();
        builder.bytes.resize(dir_end + self.gap, 0xAA);
        let files = builder.data();
        let mut bytes = builder.bytes;
        let header = Header1 {
            magic: MAGIC,
            version: VERSION_1.into(),
            dir_end: (dir_end as u32).into(),
            key: self.key.to_le_bytes(),
            dir_start: (self.root as u32).into(),
        };
        bytes[..size_of::<Header1>()].copy_from_slice(header.as_bytes());
        self.cipher.apply(self.root as u64, &mut bytes[self.root..]);
        bytes.extend(&self.trailer);
        Built { bytes, files }
    }
}

/// The bytes of an archive before they are enciphered.
struct Builder<'a> {
    bytes: Vec<u8>,
    lists_elsewhere: bool,
    /// The offsets of records, and their files.
    files: Vec<(usize, &'a File)>,
}

impl<'a> Builder<'a> {
    /// Appends room for a number of bytes, and returns its offset.
    fn room(&mut self, length: usize) -> usize {
        let at = self.bytes.len();
        self.bytes.resize(at + length, 0);
        at
    }

    fn put<T: IntoBytes + Immutable>(&mut self, at: usize, record: &T) {
        self.bytes[at..at + size_of::<T>()].copy_from_slice(record.as_bytes());
    }

    fn directory(&mut self, entries: &'a [Entry]) -> usize {
        let node = self.room(size_of::<Node1>());
        if self.lists_elsewhere {
            self.bytes.extend(b"PAD!");
        }
        let list = self.room(entries.len() * size_of::<Entry1>());
        let record = Node1 {
            count: (entries.len() as u32).into(),
            entry_list_offset: (list as u32).into(),
        };
        self.put(node, &record);
        for (index, entry) in entries.iter().enumerate() {
            let name = self.bytes.len();
            self.bytes.extend(&entry.name);
            self.bytes.push(0);
            let (data, flags) = match &entry.content {
                Content::Directory(inner) => (self.directory(inner), 1),
                Content::File(file) => {
                    let record = self.room(size_of::<File1>());
                    self.files.push((record, file));
                    (record, 0)
                }
            };
            let record = Entry1 {
                name_offset: (name as u32).into(),
                data_offset: (data as u32).into(),
                flags,
            };
            self.put(list + index * size_of::<Entry1>(), &record);
        }
        node
    }

    /// Appends the data of all files.
    fn data(&mut self) -> Vec<FileOffsets> {
        let mut all_offsets = Vec::new();
        for (record, file) in std::mem::take(&mut self.files) {
            let data = self.bytes.len();
            let contents = File1 {
                data_offset: (data as u32).into(),
                size: (file.data.len() as u32).into(),
                compression: file.method,
            };
            self.put(record, &contents);
            let mut chunks = Vec::new();
            if file.method == 0 {
                self.bytes.extend(&file.data);
            } else {
                let packed = file.data.chunks(65536).map(|plain| file.chunk.pack(plain));
                let packed: Vec<_> = packed.collect();
                for chunk in &packed {
                    self.bytes.extend((chunk.len() as u32).to_le_bytes());
                }
                for chunk in packed {
                    chunks.push(self.bytes.len());
                    self.bytes.extend(chunk);
                }
            }
            all_offsets.push(FileOffsets {
                record,
                data,
                chunks,
            });
        }
        all_offsets
    }
}
