//! Builds ISO 9660 discs, plain and as raw CD images.

use std::collections::BTreeMap;

use crc::{CRC_32_CD_ROM_EDC, Crc};

/// Bytes of user data in a sector.
const SECTOR: usize = 2048;

/// Bytes of a sector of Mode 2 after its sync and address: subheader, data and
/// EDC.
pub const MODE_2: usize = 2336;

/// Number of the sector with the primary volume descriptor.
const DESCRIPTOR: usize = 16;

/// The checksum of a sector.
pub const EDC: Crc<u32> = Crc::<u32>::new(&CRC_32_CD_ROM_EDC);

/// Submodes of a sector of either form.
const DATA: u8 = 0x08;
const FORM_2: u8 = 0x20;

/// A disc to be built: its files by their paths, whose components are
/// separated by `/`.
#[derive(Default)]
pub struct Disc {
    files: BTreeMap<String, File>,
    /// The system use fields of files and directories, by their paths; those of
    /// the root by an empty one.
    fields: BTreeMap<String, Vec<u8>>,
}

struct File {
    bytes: Vec<u8>,
    is_form_2: bool,
}

/// A directory of the disc.
#[derive(Default)]
struct Directory<'a> {
    directories: BTreeMap<&'a str, Directory<'a>>,
    files: BTreeMap<&'a str, &'a File>,
    /// The fields of the entries, by their names, and those of its own record.
    fields: BTreeMap<&'a str, &'a [u8]>,
    own_fields: &'a [u8],
    extent: usize,
}

/// A sector before it is framed.
enum Sector {
    User(Box<[u8; SECTOR]>),
    /// Subheader and data of Mode 2 Form 2.
    Form2(Box<[u8; MODE_2]>),
}

impl Disc {
    /// Adds a file.
    pub fn file(&mut self, path: &str, bytes: &[u8]) -> &mut Self {
        self.add(path, bytes, false)
    }

    /// Adds a file whose sectors are of Form 2, such as a movie: `bytes` has
    /// [`MODE_2`] for each.
    pub fn form_2_file(&mut self, path: &str, bytes: &[u8]) -> &mut Self {
        assert!(bytes.len().is_multiple_of(MODE_2));
        self.add(path, bytes, true)
    }

    /// Adds system use fields to the record of a file or directory, or to the
    /// root's own record if the path is empty.
    pub fn fields(&mut self, path: &str, fields: &[u8]) -> &mut Self {
        self.fields.insert(path.to_owned(), fields.to_vec());
        self
    }

    fn add(&mut self, path: &str, bytes: &[u8], is_form_2: bool) -> &mut Self {
        let bytes = bytes.to_vec();
        self.files
            .insert(path.to_owned(), File { bytes, is_form_2 });
        self
    }

    /// Returns the disc as an image of 2048 bytes per sector. Sectors of Form 2
    /// are truncated to the first 2048 bytes of their data.
    pub fn iso(&self) -> Vec<u8> {
        let sectors = self.sectors();
        let user = sectors.iter().flat_map(|sector| match sector {
            Sector::User(bytes) => &bytes[..],
            Sector::Form2(bytes) => &bytes[8..8 + SECTOR],
        });
        user.copied().collect()
    }

    /// Returns the disc as an image of raw sectors in Mode 2.
    pub fn raw(&self) -> Vec<u8> {
        raw(self.sectors())
    }

    fn sectors(&self) -> Vec<Sector> {
        let mut root = Directory::default();
        for (path, file) in &self.files {
            let mut components: Vec<&str> = path.split('/').collect();
            let name = components.pop().expect("a path has a component");
            let directory = components.into_iter().fold(&mut root, |directory, name| {
                directory.directories.entry(name).or_default()
            });
            directory.files.insert(name, file);
        }
        for (path, fields) in &self.fields {
            let mut directory = &mut root;
            let mut name = path.as_str();
            while let Some((first, rest)) = name.split_once('/') {
                directory = directory.directories.entry(first).or_default();
                name = rest;
            }
            match name {
                "" => directory.own_fields = fields,
                name => drop(directory.fields.insert(name, fields)),
            }
        }
        let mut next = DESCRIPTOR + 2;
        root.index(&mut next);
        let mut sectors: Vec<Sector> = (0..next).map(|_| user(&[])).collect();
        let record = record(&[0], root.extent, root.size(), true, &[]);
        root.write(root.extent, root.size(), &mut sectors);
        sectors[DESCRIPTOR] = user(&descriptor(&record, sectors.len()));
        sectors[DESCRIPTOR + 1] = user(b"\xFFCD001\x01");
        sectors
    }
}

impl Directory<'_> {
    /// Assigns sectors to this directory and those below it.
    fn index(&mut self, next: &mut usize) {
        self.extent = *next;
        *next += self.size() / SECTOR;
        for directory in self.directories.values_mut() {
            directory.index(next);
        }
    }

    /// Returns the length of the directory in bytes, whole sectors.
    fn size(&self) -> usize {
        let index = |_: &File| 0;
        self.table(self.extent, 0, index).len()
    }

    /// Returns the records; no record may cross a sector.
    fn table(
        &self,
        parent: usize,
        parent_size: usize,
        mut index: impl FnMut(&File) -> usize,
    ) -> Vec<u8> {
        let mut records = vec![
            record(&[0], self.extent, 0, true, self.own_fields),
            record(&[1], parent, parent_size, true, &[]),
        ];
        let fields = |name: &str| self.fields.get(name).copied().unwrap_or_default();
        for (name, directory) in &self.directories {
            let size = match directory.extent {
                // No sectors are assigned yet. The length is the same.
                0 => 0,
                _ => directory.size(),
            };
            let fields = fields(name);
            records.push(record(
                name.as_bytes(),
                directory.extent,
                size,
                true,
                fields,
            ));
        }
        for (name, file) in &self.files {
            let size = match file.is_form_2 {
                true => file.bytes.len() / MODE_2 * SECTOR,
                false => file.bytes.len(),
            };
            let fields = match file.is_form_2 {
                true => FORM_2_FIELDS,
                false => fields(name),
            };
            let name = format!("{name};1");
            let index = index(file);
            records.push(record(name.as_bytes(), index, size, false, fields));
        }
        let mut table: Vec<u8> = Vec::new();
        for record in records {
            if table.len() % SECTOR + record.len() > SECTOR {
                table.resize(table.len().next_multiple_of(SECTOR), 0);
            }
            table.extend(record);
        }
        table.resize(table.len().next_multiple_of(SECTOR), 0);
        // Its own size, in the first record.
        let size = both(table.len());
        table[10..18].copy_from_slice(&size);
        table
    }

    /// Writes the directory, and appends the files in it.
    fn write(&self, parent: usize, parent_size: usize, sectors: &mut Vec<Sector>) {
        let table = self.table(parent, parent_size, |file| {
            let index = sectors.len();
            match file.is_form_2 {
                true => sectors.extend(file.bytes.chunks(MODE_2).map(form_2)),
                false => sectors.extend(file.bytes.chunks(SECTOR).map(user)),
            }
            index
        });
        for (number, bytes) in table.chunks(SECTOR).enumerate() {
            sectors[self.extent + number] = user(bytes);
        }
        for directory in self.directories.values() {
            directory.write(self.extent, table.len(), sectors);
        }
    }
}

/// Returns the sectors of an image of 2048 bytes for each as raw sectors in Mode 2.
pub fn raw_sectors(image: &[u8]) -> Vec<u8> {
    raw(image.chunks(SECTOR).map(user))
}

fn raw(sectors: impl IntoIterator<Item = Sector>) -> Vec<u8> {
    let mut image = Vec::new();
    for (number, sector) in sectors.into_iter().enumerate() {
        image.extend([0, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 0]);
        let address = number + 150;
        let parts = [address / 75 / 60, address / 75 % 60, address % 75];
        image.extend(parts.map(|part| (part / 10 * 16 + part % 10) as u8));
        image.push(2);
        match sector {
            Sector::User(bytes) => {
                let subheader = [0, 0, DATA, 0, 0, 0, DATA, 0];
                let data = [&subheader[..], &bytes[..]].concat();
                image.extend(&data);
                image.extend(EDC.checksum(&data).to_le_bytes());
                // The error correction, which hpimount does not read.
                image.extend([0; 276]);
            }
            Sector::Form2(bytes) => image.extend(&bytes[..]),
        }
    }
    image
}

fn user(bytes: &[u8]) -> Sector {
    let mut sector = Box::new([0; SECTOR]);
    sector[..bytes.len()].copy_from_slice(bytes);
    Sector::User(sector)
}

fn form_2(bytes: &[u8]) -> Sector {
    let sector: [u8; MODE_2] = bytes.try_into().expect("a whole sector");
    Sector::Form2(Box::new(sector))
}

/// Returns a number in both byte orders.
fn both(number: usize) -> [u8; 8] {
    let number = u32::try_from(number).expect("a disc is smaller");
    let mut bytes = [0; 8];
    bytes[..4].copy_from_slice(&number.to_le_bytes());
    bytes[4..].copy_from_slice(&number.to_be_bytes());
    bytes
}

/// Attributes of CD-ROM XA of a file with sectors of Form 2.
const FORM_2_FIELDS: &[u8] = &[0, 0, 0, 0, 0x15, 0x55, b'X', b'A', 1, 0, 0, 0, 0, 0];

/// Returns a record of a directory.
fn record(
    name: &[u8],
    extent: usize,
    size: usize,
    is_directory: bool,
    system_use: &[u8],
) -> Vec<u8> {
    let date = [99, 5, 14, 12, 30, 0, 0];
    let parts = [
        &[0, 0][..],
        &both(extent),
        &both(size),
        &date,
        &[if is_directory { 2 } else { 0 }, 0, 0, 1, 0, 0, 1],
        &[name.len() as u8],
        name,
    ];
    let mut record = parts.concat();
    record.resize(record.len().next_multiple_of(2), 0);
    record.extend(system_use);
    record.resize(record.len().next_multiple_of(2), 0);
    record[0] = u8::try_from(record.len()).expect("a name is short");
    record
}

/// Returns the primary volume descriptor of a disc of that many sectors.
fn descriptor(root: &[u8], sectors: usize) -> Vec<u8> {
    let mut bytes = vec![0; SECTOR];
    bytes[..7].copy_from_slice(b"\x01CD001\x01");
    bytes[8..72].fill(b' ');
    bytes[8..19].copy_from_slice(b"PLAYSTATION");
    bytes[40..44].copy_from_slice(b"DISC");
    bytes[80..88].copy_from_slice(&both(sectors));
    bytes[128..132].copy_from_slice(&[0, 8, 8, 0]);
    bytes[156..156 + root.len()].copy_from_slice(root);
    bytes[1024..1032].copy_from_slice(b"CD-XA001");
    bytes
}
