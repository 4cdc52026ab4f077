//! Simple readers of archives, written from `docs/formats` alone: they share no code
//! with the library, keep everything in memory, and trust the archive. If a format
//! cannot detect damage, the mount must have the same results.

use std::collections::HashSet;
use std::io::Read;

/// An entry of an HPI archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    /// The names from the root down, as in the archive.
    pub(crate) path: Vec<Vec<u8>>,
    /// `None` for a directory.
    pub(crate) file: Option<File>,
}

/// A file of an HPI archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct File {
    pub(crate) size: u64,
    /// `None` if a chunk is damaged, or bytes are missing.
    pub(crate) bytes: Option<Vec<u8>>,
}

/// Returns the entries of an HPI archive in the order of its directories, each
/// directory before its contents; `None` if the archive is inconsistent.
pub(crate) fn hpi(bytes: &[u8]) -> Option<Vec<Entry>> {
    match (bytes.get(..4)?, u32_at(bytes, 4)?) {
        (b"HAPI", 0x0001_0000) => version_1(bytes),
        (b"HAPI", 0x0002_0000) => version_2(bytes),
        _ => None,
    }
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    let four = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_le_bytes(four.try_into().unwrap()))
}

fn number(bytes: &[u8], at: usize) -> Option<usize> {
    u32_at(bytes, at).map(|number| number as usize)
}

fn c_string(bytes: &[u8], at: usize) -> Option<&[u8]> {
    let rest = bytes.get(at..)?;
    rest.iter()
        .position(|byte| *byte == 0)
        .map(|end| &rest[..end])
}

fn version_1(stored: &[u8]) -> Option<Vec<Entry>> {
    let key = *stored.get(12)?;
    // As in the game, nothing is enciphered with these keys.
    let plain = (key == 0 || key == 0xFF).then(|| V1::read(stored.to_vec()));
    plain.flatten().or_else(|| {
        let key = key.rotate_left(2);
        let decipher = |(at, byte): (usize, &u8)| match at {
            0..20 => *byte,
            _ => byte ^ key ^ at as u8,
        };
        V1::read(stored.iter().enumerate().map(decipher).collect())
    })
}

struct V1 {
    /// The archive, deciphered.
    bytes: Vec<u8>,
    /// The same up to the end of the directory.
    directory: Vec<u8>,
    start: usize,
    entered: HashSet<usize>,
    /// Entries that the directory has room for.
    room: usize,
    entries: Vec<Entry>,
}

impl V1 {
    fn read(bytes: Vec<u8>) -> Option<Vec<Entry>> {
        let (end, start) = (number(&bytes, 8)?, number(&bytes, 16)?);
        let directory = bytes.get(..end)?.to_vec();
        let room = end.checked_sub(start)? / 9;
        let mut reader = Self {
            bytes,
            directory,
            start,
            entered: HashSet::new(),
            room,
            entries: Vec::new(),
        };
        reader.node(start, &[])?;
        (start >= 20).then_some(reader.entries)
    }

    /// Returns a number in the directory.
    fn number(&self, at: usize) -> Option<usize> {
        (at >= self.start).then(|| number(&self.directory, at))?
    }

    fn node(&mut self, at: usize, path: &[Vec<u8>]) -> Option<()> {
        let count = self.number(at)?;
        if count == 0 || count > i32::MAX as usize {
            return self.number(at + 4).map(drop);
        }
        self.room = self.room.checked_sub(count)?;
        if !self.entered.insert(at) || path.len() >= 64 {
            return None;
        }
        let list = self.number(at + 4)?;
        for index in 0..count {
            let entry = list + 9 * index;
            let (name, content) = (self.number(entry)?, self.number(entry + 4)?);
            let is_directory = *self.directory.get(entry + 8)? & 1 == 1;
            let name = (name >= self.start).then(|| c_string(&self.directory, name))??;
            let path = [path, &[name.to_vec()]].concat();
            let file = match is_directory {
                true => None,
                false => Some(self.file(content)?),
            };
            self.entries.push(Entry {
                path: path.clone(),
                file,
            });
            if is_directory {
                self.node(content, &path)?;
            }
        }
        Some(())
    }

    fn file(&self, at: usize) -> Option<File> {
        let (data, size) = (self.number(at)?, self.number(at + 4)?);
        let compression = *self.directory.get(at + 8)?;
        let bytes = match compression {
            0 => part(&self.bytes, data, size),
            _ => self.chunks(data, size),
        };
        Some(File {
            size: size as u64,
            bytes,
        })
    }

    fn chunks(&self, table: usize, size: usize) -> Option<Vec<u8>> {
        let count = size.div_ceil(65_536);
        let mut at = table + 4 * count;
        let mut decoded = Vec::new();
        for index in 0..count {
            let length = number(&self.bytes, table + 4 * index)?;
            let stored = self.bytes.get(at..at.checked_add(length)?)?;
            let plain = chunk(stored)?;
            if plain.len() != (size - decoded.len()).min(65_536) {
                return None;
            }
            decoded.extend(plain);
            at += length;
        }
        Some(decoded)
    }
}

fn part(bytes: &[u8], start: usize, length: usize) -> Option<Vec<u8>> {
    // The position of an empty file does not matter.
    if length == 0 {
        return Some(Vec::new());
    }
    Some(bytes.get(start..start.checked_add(length)?)?.to_vec())
}

/// Decodes a chunk at the start of `stored`.
fn chunk(stored: &[u8]) -> Option<Vec<u8>> {
    let length = number(stored, 7)?;
    let size = number(stored, 11)?;
    let mut payload = stored.get(19..19_usize.checked_add(length)?)?.to_vec();
    let sum: u32 = payload.iter().map(|byte| u32::from(*byte)).sum();
    if &stored[..4] != b"SQSH" || u32_at(stored, 15)? != sum {
        return None;
    }
    if stored[6] != 0 {
        for (index, byte) in payload.iter_mut().enumerate() {
            *byte = byte.wrapping_sub(index as u8) ^ index as u8;
        }
    }
    let plain = match stored[5] {
        0 => payload,
        1 => lz77(&payload)?,
        2 => {
            let mut plain = Vec::new();
            let decoder = flate2::read::ZlibDecoder::new(&payload[..]);
            decoder.take(size as u64 + 1).read_to_end(&mut plain).ok()?;
            plain
        }
        _ => return None,
    };
    (plain.len() == size).then_some(plain)
}

fn lz77(packed: &[u8]) -> Option<Vec<u8>> {
    let mut window = [0_u8; 4096];
    let mut cursor = 1;
    let mut plain = Vec::new();
    let mut packed = packed.iter().copied();
    loop {
        let tag = packed.next()?;
        for bit in 0..8 {
            let (mut position, length) = match tag >> bit & 1 {
                0 => (cursor, 1),
                _ => {
                    let item = u16::from_le_bytes([packed.next()?, packed.next()?]);
                    (usize::from(item >> 4), usize::from(item & 15) + 2)
                }
            };
            if tag >> bit & 1 == 0 {
                window[cursor] = packed.next()?;
            } else if position == 0 {
                return Some(plain);
            }
            for _ in 0..length {
                let byte = window[position];
                window[cursor] = byte;
                plain.push(byte);
                position = (position + 1) % window.len();
                cursor = (cursor + 1) % window.len();
            }
        }
    }
}

fn version_2(bytes: &[u8]) -> Option<Vec<Entry>> {
    let block = |at: usize| {
        let stored = part(bytes, number(bytes, at)?, number(bytes, at + 4)?)?;
        match stored.starts_with(b"SQSH") {
            true => chunk(&stored),
            false => Some(stored),
        }
    };
    let mut reader = V2 {
        bytes,
        directory: block(8)?,
        names: block(16)?,
        entered: HashSet::new(),
        room: 0,
        entries: Vec::new(),
    };
    reader.room = reader.directory.len() / 20;
    reader.directory(0, &[])?;
    Some(reader.entries)
}

struct V2<'a> {
    bytes: &'a [u8],
    directory: Vec<u8>,
    names: Vec<u8>,
    entered: HashSet<usize>,
    room: usize,
    entries: Vec<Entry>,
}

impl V2<'_> {
    fn directory(&mut self, at: usize, path: &[Vec<u8>]) -> Option<()> {
        let field = |index: usize| number(&self.directory, at + 4 * index);
        let (first_directory, directories) = (field(1)?, field(2)?);
        let (first_file, files) = (field(3)?, field(4)?);
        self.room = self.room.checked_sub(directories)?.checked_sub(files)?;
        if !self.entered.insert(at) || path.len() >= 64 {
            return None;
        }
        let mut below = Vec::new();
        for index in 0..directories {
            let at = first_directory + 20 * index;
            below.push((self.path(path, at)?, at));
        }
        let mut inside = Vec::new();
        for index in 0..files {
            let at = first_file + 24 * index;
            let file = Some(self.file(at)?);
            inside.push(Entry {
                path: self.path(path, at)?,
                file,
            });
        }
        for (path, at) in below {
            self.entries.push(Entry {
                path: path.clone(),
                file: None,
            });
            self.directory(at, &path)?;
        }
        self.entries.extend(inside);
        Some(())
    }

    /// Returns the path of the entry with the record at `at`.
    fn path(&self, above: &[Vec<u8>], at: usize) -> Option<Vec<Vec<u8>>> {
        let name = c_string(&self.names, number(&self.directory, at)?)?;
        Some([above, &[name.to_vec()]].concat())
    }

    fn file(&self, at: usize) -> Option<File> {
        let field = |index: usize| number(&self.directory, at + 4 * index);
        let (start, size, stored_size) = (field(1)?, field(2)?, field(3)?);
        field(5)?;
        let bytes = match stored_size {
            0 => part(self.bytes, start, size),
            _ => self.run(start, size, stored_size),
        };
        Some(File {
            size: size as u64,
            bytes,
        })
    }

    fn run(&self, start: usize, size: usize, stored_size: usize) -> Option<Vec<u8>> {
        let mut decoded = Vec::new();
        let mut at = start;
        while decoded.len() < size {
            let run = self.bytes.get(at..)?;
            let end = at + 19 + number(run, 7)?;
            let plain = chunk(run)?;
            if end > start + stored_size || plain.is_empty() || plain.len() > size - decoded.len() {
                return None;
            }
            decoded.extend(plain);
            at = end;
        }
        Some(decoded)
    }
}

/// An asset of a HIP archive.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Asset {
    pub(crate) id: u32,
    pub(crate) offset: u32,
    pub(crate) size: u32,
    /// `None` without ADBG.
    pub(crate) name: Option<Vec<u8>>,
    /// `None` if the archive ends before them.
    pub(crate) bytes: Option<Vec<u8>>,
}

/// Returns the assets of a HIP archive, in its order; `None` if an AHDR or an
/// LHDR is too short.
pub(crate) fn hip(bytes: &[u8]) -> Option<Vec<Asset>> {
    let mut assets = Vec::new();
    let mut at = 0;
    while let Some((name, body, next)) = block(bytes, at) {
        if !name.iter().all(u8::is_ascii_uppercase) {
            break;
        }
        at = next;
        if name == b"DICT" {
            for (table, entry, body) in tables(body) {
                match (table, entry) {
                    (b"ATOC", b"AHDR") => assets.push(asset(bytes, body)?),
                    (b"LTOC", b"LHDR") if body.len() < 8 => return None,
                    _ => {}
                }
            }
        }
    }
    Some(assets)
}

/// Returns the block at `at`: its name, its body as far as it exists, and the
/// offset of the next one.
fn block(bytes: &[u8], at: usize) -> Option<(&[u8], &[u8], usize)> {
    let size = be_at(bytes, at.checked_add(4)?)? as usize;
    let body = &bytes[at + 8..];
    let end = at + 8 + size;
    Some((
        &bytes[at..at + 4],
        &body[..size.min(body.len())],
        end + size % 2,
    ))
}

fn blocks(bytes: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let (name, body, next) = block(bytes, at)?;
        at = next;
        Some((name, body))
    })
}

/// Returns the blocks in the tables of a dictionary.
fn tables(dictionary: &[u8]) -> impl Iterator<Item = (&[u8; 4], &[u8; 4], &[u8])> {
    blocks(dictionary).flat_map(|(table, body)| {
        blocks(body)
            .map(move |(entry, body)| (table.try_into().unwrap(), entry.try_into().unwrap(), body))
    })
}

fn be_at(bytes: &[u8], at: usize) -> Option<u32> {
    let four = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_be_bytes(four.try_into().unwrap()))
}

fn asset(archive: &[u8], header: &[u8]) -> Option<Asset> {
    let (offset, size) = (be_at(header, 8)?, be_at(header, 12)?);
    be_at(header, 20)?;
    let mut debugs = blocks(&header[24..]).filter(|(name, _)| *name == b"ADBG");
    let name = debugs.find_map(|(_, debug)| {
        let text = debug.get(4..)?;
        Some(c_string(text, 0).unwrap_or(text).to_vec())
    });
    Some(Asset {
        id: be_at(header, 0)?,
        offset,
        size,
        name,
        bytes: part(archive, offset as usize, size as usize),
    })
}
