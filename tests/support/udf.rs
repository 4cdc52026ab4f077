//! Builds discs with UDF.

use std::collections::BTreeMap;

use crc::{CRC_16_XMODEM, Crc};

/// Bytes of a block.
pub const BLOCK: usize = 2048;

/// Number of the first block of the partition.
pub const PARTITION: usize = 288;

/// Number of the first block of the volume descriptors.
pub const MAIN: usize = 32;

/// Number of the first block of the copies of the volume descriptors.
const RESERVE: usize = 48;

/// Number of the block with the sparing table.
const SPARING: usize = 260;

/// Number of blocks in a packet.
const PACKET: usize = 32;

const CRC: Crc<u16> = Crc::<u16>::new(&CRC_16_XMODEM);

/// The time of all entries: 2000-02-29 02:00:01, two hours ahead of UTC.
const TIME: [u8; 12] = [120, 0x10, 0xD0, 7, 2, 29, 2, 0, 1, 0, 0, 0];

/// [`TIME`] in seconds since 1970 UTC.
pub const MODIFIED: i64 = 951_782_401;

/// How a file entry refers to the bytes of the file.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub enum Allocation {
    /// They are in the entry, if they fit.
    Embedded,
    #[default]
    Short,
    Long,
    /// By short descriptors for a block each, of which only the first is in the
    /// entry.
    Chained,
}

/// How the partition is mapped.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub enum Map {
    #[default]
    Physical,
    /// The first packet is defective and was moved.
    Sparable,
    /// With a virtual allocation table of UDF 1.50 or 2.00.
    Virtual {
        is_new: bool,
    },
    Metadata,
}

/// An entry of a directory.
enum What {
    File(Vec<u8>),
    Deleted,
    /// Another name of the file at a path.
    HardLink(String),
    /// With the components of its target.
    SymbolicLink(Vec<u8>),
}

/// A disc to be built.
#[derive(Default)]
pub struct Udf {
    pub allocation: Allocation,
    map: Map,
    /// Whether entries are extended ones.
    pub is_extended: bool,
    /// Whether entries were written twice, as on discs that are written once: with
    /// strategy 4096, where the older one is followed by the address of the other.
    pub is_rewritten: bool,
    entries: Vec<(String, What)>,
}

/// A directory of the disc.
#[derive(Default)]
struct Directory<'a> {
    directories: BTreeMap<&'a str, Directory<'a>>,
    entries: Vec<(&'a str, &'a str, &'a What)>,
}

/// The address of a block: number of the partition map, and block.
type Address = (u16, u32);

/// The blocks that are written.
struct Writer<'a> {
    disc: &'a Udf,
    /// The blocks of the partition.
    blocks: Vec<Vec<u8>>,
    /// Whether addresses are numbers in the virtual allocation table.
    is_virtual: bool,
    table: Vec<u32>,
    /// Addresses of the files that were written, by path.
    files: BTreeMap<&'a str, Address>,
}

impl Udf {
    /// Creates a disc without files whose partition is mapped like this.
    pub fn mapped(map: Map) -> Self {
        Self {
            map,
            ..Self::default()
        }
    }

    /// Adds a file. The components of its path are separated by `/`.
    pub fn file(&mut self, path: &str, bytes: &[u8]) -> &mut Self {
        self.add(path, What::File(bytes.to_vec()))
    }

    /// Adds a file that was deleted.
    pub fn deleted(&mut self, path: &str) -> &mut Self {
        self.add(path, What::Deleted)
    }

    /// Adds another name of a file that was added before.
    pub fn hard_link(&mut self, path: &str, file: &str) -> &mut Self {
        self.add(path, What::HardLink(file.to_owned()))
    }

    /// Adds a symbolic link with these components: the type of each, and the
    /// name if that is 5.
    pub fn symbolic_link(&mut self, path: &str, components: &[(u8, &str)]) -> &mut Self {
        let components = components.iter().flat_map(|(kind, name)| {
            let name = if *kind == 5 {
                compressed(name)
            } else {
                Vec::new()
            };
            [&[*kind, name.len() as u8, 0, 0], &name[..]].concat()
        });
        self.add(path, What::SymbolicLink(components.collect()))
    }

    fn add(&mut self, path: &str, what: What) -> &mut Self {
        self.entries.push((path.to_owned(), what));
        self
    }

    /// Returns the image.
    pub fn image(&self) -> Vec<u8> {
        let mut root = Directory::default();
        for (path, what) in &self.entries {
            let mut components: Vec<&str> = path.split('/').collect();
            let name = components.pop().expect("a path has a component");
            let directory = components.into_iter().fold(&mut root, |directory, name| {
                directory.directories.entry(name).or_default()
            });
            directory.entries.push((name, path, what));
        }
        let mut writer = Writer {
            disc: self,
            blocks: vec![Vec::new()],
            is_virtual: matches!(self.map, Map::Virtual { .. }),
            table: vec![0],
            files: BTreeMap::new(),
        };
        let root = writer.directory(&root);
        // The file set is in the first block.
        let mut file_set = vec![0; 512];
        file_set[400..416].copy_from_slice(&long(BLOCK as u32, root));
        writer.blocks[0] = tagged(256, 0, file_set);
        writer.finish()
    }
}

impl Writer<'_> {
    /// Appends blocks, and returns the number of the first.
    fn append(&mut self, bytes: &[u8]) -> u32 {
        let first = self.blocks.len() as u32;
        self.blocks.extend(bytes.chunks(BLOCK).map(<[u8]>::to_vec));
        first
    }

    fn directory(&mut self, directory: &Directory<'_>) -> Address {
        let mut identifiers = identifier("", 2 | 8, (0, 0));
        for (name, directory) in &directory.directories {
            let address = self.directory(directory);
            identifiers.extend(identifier(name, 2, address));
        }
        for (name, path, what) in &directory.entries {
            let address = match what {
                What::HardLink(path) => self.files[path.as_str()],
                What::File(bytes) => self.entry(5, bytes),
                What::SymbolicLink(bytes) => self.entry(12, bytes),
                What::Deleted => (0, u32::MAX),
            };
            if let Some((path, _)) = self.disc.entries.iter().find(|(known, _)| known == path) {
                self.files.entry(path).or_insert(address);
            }
            let deleted = if matches!(what, What::Deleted) { 4 } else { 0 };
            identifiers.extend(identifier(name, deleted, address));
        }
        self.entry(4, &identifiers)
    }

    /// Writes a file and its entry.
    fn entry(&mut self, kind: u8, bytes: &[u8]) -> Address {
        // The older entry of a file has no bytes.
        let older = (self.disc.is_rewritten).then(|| self.entry_of(kind, 0, (0, Vec::new())));
        let allocated = self.allocate(bytes, BLOCK - self.lengths() - 8);
        let block = self.entry_of(kind, bytes.len(), allocated);
        let Some(older) = older else {
            return self.address(block);
        };
        let mut indirect = vec![0; 52];
        indirect[36..52].copy_from_slice(&long(BLOCK as u32, (0, block)));
        self.blocks[older as usize + 1] = tagged(259, older + 1, indirect);
        self.address(older)
    }

    /// Returns the position of the lengths at the end of a file entry.
    fn lengths(&self) -> usize {
        if self.disc.is_extended { 208 } else { 168 }
    }

    /// Writes the entry of a file of `size` bytes: the method of allocation, and the
    /// descriptors. Returns its block. With strategy 4096 the block behind it is free.
    fn entry_of(&mut self, kind: u8, size: usize, (method, area): (u8, Vec<u8>)) -> u32 {
        let lengths = self.lengths();
        let (id, times) = match self.disc.is_extended {
            true => (266, 92),
            false => (261, 84),
        };
        let strategy = if self.disc.is_rewritten { 4096_u16 } else { 4 };
        let mut entry = vec![0; lengths + 8];
        entry[20..22].copy_from_slice(&strategy.to_le_bytes());
        entry[27] = kind;
        entry[34] = method;
        entry[48] = if kind == 5 { 2 } else { 1 };
        entry[56..64].copy_from_slice(&(size as u64).to_le_bytes());
        entry[times..times + 12].copy_from_slice(&TIME);
        entry[lengths + 4..lengths + 8].copy_from_slice(&(area.len() as u32).to_le_bytes());
        entry.extend(area);
        let block = self.append(&tagged(id, self.blocks.len() as u32, entry));
        if self.disc.is_rewritten {
            self.blocks.push(vec![0]);
        }
        block
    }

    /// Returns the address of a block for anything but long descriptors.
    fn address(&mut self, block: u32) -> Address {
        match self.is_virtual {
            true => {
                self.table.push(block);
                (1, self.table.len() as u32 - 1)
            }
            false => (0, block),
        }
    }

    /// Returns a short descriptor of the bytes from a block on.
    fn short(&mut self, length: u32, block: u32) -> Vec<u8> {
        let (_, block) = self.address(block);
        short(length, block)
    }

    /// Writes the bytes of a file. Returns the method of allocation, and the
    /// descriptors.
    fn allocate(&mut self, bytes: &[u8], room: usize) -> (u8, Vec<u8>) {
        let length = bytes.len() as u32;
        match self.disc.allocation {
            Allocation::Embedded if bytes.len() <= room => (3, bytes.to_vec()),
            _ if bytes.is_empty() => (0, Vec::new()),
            Allocation::Embedded | Allocation::Short => {
                let block = self.append(bytes);
                (0, self.short(length, block))
            }
            Allocation::Long => {
                let block = self.append(bytes);
                (1, long(length, (0, block)).to_vec())
            }
            Allocation::Chained => (0, self.chain(bytes)),
        }
    }

    fn chain(&mut self, bytes: &[u8]) -> Vec<u8> {
        const NEXT: u32 = 3 << 30;
        let pieces: Vec<&[u8]> = bytes.chunks(BLOCK).collect();
        // Backwards, so that they are not in order.
        let extents = pieces.iter().rev().map(|piece| {
            let block = self.append(piece);
            self.short(piece.len() as u32, block)
        });
        let mut extents: Vec<_> = extents.collect();
        let first = extents.pop().expect("it is not empty");
        extents.reverse();
        let rest = extents.concat();
        let mut extent = vec![0; 24];
        extent[20..24].copy_from_slice(&(rest.len() as u32).to_le_bytes());
        extent.extend(rest);
        let block = self.append(&tagged(258, self.blocks.len() as u32, extent));
        [first, self.short(BLOCK as u32 | NEXT, block)].concat()
    }

    /// Returns the whole disc.
    fn finish(mut self) -> Vec<u8> {
        let map = self.disc.map;
        if let Map::Virtual { is_new } = map {
            self.add_virtual_table(is_new);
        }
        let mut image = vec![0; PARTITION * BLOCK];
        let mut put = |block: usize, bytes: &[u8]| {
            image[block * BLOCK..][..bytes.len()].copy_from_slice(bytes);
        };
        for (number, id) in [b"BEA01", b"NSR02", b"TEA01"].into_iter().enumerate() {
            put(16 + number, &[&[0], &id[..], &[1]].concat());
        }
        let length = self.blocks.len() as u32;
        for first in [MAIN, RESERVE] {
            put(first, &partition(first as u32, length));
            put(first + 1, &logical_volume(first as u32 + 1, map));
            put(first + 2, &tagged(8, first as u32 + 2, vec![0; 512]));
        }
        let mut anchor = vec![0; 512];
        let extent = |block: usize| [16 * BLOCK as u32, block as u32].map(u32::to_le_bytes);
        anchor[16..24].copy_from_slice(extent(MAIN).as_flattened());
        anchor[24..32].copy_from_slice(extent(RESERVE).as_flattened());
        put(256, &tagged(2, 256, anchor));
        put(SPARING, &sparing_table(length));
        for (number, block) in self.blocks.iter().enumerate() {
            let mut block = block.clone();
            block.resize(BLOCK, 0);
            let is_moved = map == Map::Sparable && number < PACKET;
            image.extend(if is_moved { vec![0xEE; BLOCK] } else { block });
        }
        if map == Map::Sparable {
            for block in self.blocks.iter().take(PACKET) {
                image.extend(block);
                image.resize(image.len().next_multiple_of(BLOCK), 0);
            }
        }
        image
    }

    fn add_virtual_table(&mut self, is_new: bool) {
        const NEW_HEADER: usize = 152;
        let numbers = self.table.iter().flat_map(|block| block.to_le_bytes());
        let numbers: Vec<u8> = numbers.collect();
        let mut end = [0; 36];
        end[1..23].copy_from_slice(b"*UDF Virtual Alloc Tbl");
        let mut header = vec![0; NEW_HEADER];
        header[0] = NEW_HEADER as u8;
        let (kind, table) = match is_new {
            true => (248, [header, numbers].concat()),
            false => (0, [&numbers[..], &end].concat()),
        };
        // It is found without itself.
        self.is_virtual = false;
        self.entry(kind, &table);
    }
}

/// Returns a descriptor, given its bytes with room for the tag.
fn tagged(id: u16, location: u32, mut bytes: Vec<u8>) -> Vec<u8> {
    let length = bytes.len() as u16 - 16;
    let crc = CRC.checksum(&bytes[16..]);
    bytes[..2].copy_from_slice(&id.to_le_bytes());
    bytes[2] = 2;
    bytes[8..10].copy_from_slice(&crc.to_le_bytes());
    bytes[10..12].copy_from_slice(&length.to_le_bytes());
    bytes[12..16].copy_from_slice(&location.to_le_bytes());
    bytes[4] = 0;
    bytes[4] = sum(&bytes[..16]);
    bytes
}

/// Corrects the tags of all descriptors: first of the identifiers in
/// directories, which may be inside of others.
pub fn sign(image: &mut [u8]) {
    let end = image.len().saturating_sub(16);
    let id = |image: &[u8], at: usize| u16::from_le_bytes([image[at], image[at + 1]]);
    for at in (0..end).step_by(4) {
        if id(image, at) == 257 {
            sign_tag(&mut image[at..]);
        }
    }
    for at in (0..end).step_by(BLOCK) {
        if matches!(id(image, at), 1..=9 | 256 | 258..=266) {
            sign_tag(&mut image[at..]);
        }
    }
}

/// Corrects the tag at the start of `bytes`, if the length in it fits.
fn sign_tag(bytes: &mut [u8]) {
    let length = usize::from(u16::from_le_bytes([bytes[10], bytes[11]]));
    if let Some(covered) = bytes.get(16..16 + length) {
        let crc = CRC.checksum(covered);
        bytes[8..10].copy_from_slice(&crc.to_le_bytes());
        bytes[4] = 0;
        bytes[4] = sum(&bytes[..16]);
    }
}

/// Returns the checksum of a tag whose checksum is 0.
fn sum(tag: &[u8]) -> u8 {
    tag.iter().fold(0, |sum, byte| sum.wrapping_add(*byte))
}

fn short(length: u32, block: u32) -> Vec<u8> {
    [length, block].map(u32::to_le_bytes).concat()
}

fn long(length: u32, (partition, block): Address) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&short(length, block));
    bytes[8..10].copy_from_slice(&partition.to_le_bytes());
    bytes
}

/// Returns a text in compressed Unicode.
fn compressed(text: &str) -> Vec<u8> {
    let is_small = |character: char| u32::from(character) < 256;
    match text.chars().all(is_small) {
        _ if text.is_empty() => Vec::new(),
        true => std::iter::once(8)
            .chain(text.chars().map(|character| character as u8))
            .collect(),
        false => std::iter::once(16)
            .chain(text.encode_utf16().flat_map(u16::to_be_bytes))
            .collect(),
    }
}

/// Returns an identifier of a directory.
fn identifier(name: &str, characteristics: u8, address: Address) -> Vec<u8> {
    let name = compressed(name);
    let mut bytes = vec![0; 38];
    bytes[16] = 1;
    bytes[18] = characteristics;
    bytes[19] = name.len() as u8;
    bytes[20..36].copy_from_slice(&long(BLOCK as u32, address));
    bytes.extend(name);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    tagged(257, 0, bytes)
}

fn partition(location: u32, length: u32) -> Vec<u8> {
    let mut bytes = vec![0; 512];
    bytes[24..30].copy_from_slice(b"\0+NSR0");
    bytes[188..192].copy_from_slice(&(PARTITION as u32).to_le_bytes());
    bytes[192..196].copy_from_slice(&length.to_le_bytes());
    tagged(5, location, bytes)
}

fn logical_volume(location: u32, map: Map) -> Vec<u8> {
    let physical: [u8; 6] = [1, 6, 1, 0, 0, 0];
    let mut other = [0; 64];
    other[..2].copy_from_slice(&[2, 64]);
    let id: &[u8] = match map {
        Map::Sparable => b"*UDF Sparable Partition",
        Map::Virtual { .. } => b"*UDF Virtual Partition",
        _ => b"*UDF Metadata Partition",
    };
    other[5..5 + id.len()].copy_from_slice(id);
    other[40..48].copy_from_slice(&[PACKET as u8, 0, 1, 0, 64, 0, 0, 0]);
    other[48..52].copy_from_slice(&(SPARING as u32).to_le_bytes());
    let maps = match map {
        Map::Physical => physical.to_vec(),
        Map::Sparable => other.to_vec(),
        Map::Virtual { .. } | Map::Metadata => [&physical[..], &other].concat(),
    };
    let count = if maps.len() > 64 { 2 } else { 1 };
    let mut bytes = vec![0; 440];
    let name = compressed("Täst");
    bytes[84..84 + name.len()].copy_from_slice(&name);
    bytes[84 + 127] = name.len() as u8;
    bytes[212..216].copy_from_slice(&(BLOCK as u32).to_le_bytes());
    bytes[217..236].copy_from_slice(b"*OSTA UDF Compliant");
    bytes[240..242].copy_from_slice(&0x0150_u16.to_le_bytes());
    let file_set = if matches!(map, Map::Virtual { .. }) {
        (1, 0)
    } else {
        (0, 0)
    };
    bytes[248..264].copy_from_slice(&long(BLOCK as u32, file_set));
    bytes[264] = maps.len() as u8;
    bytes[268] = count;
    bytes.extend(maps);
    tagged(6, location, bytes)
}

/// Returns the table that moves the first packet behind the partition.
fn sparing_table(length: u32) -> Vec<u8> {
    let mut bytes = vec![0; 64];
    bytes[17..35].copy_from_slice(b"*UDF Sparing Table");
    bytes[48] = 1;
    let to = PARTITION as u32 + length;
    bytes[56..64].copy_from_slice(&short(0, to));
    tagged(0, SPARING as u32, bytes)
}
