//! `/zip`: a directory as a zip archive, which is written while it is read. Files are stored,
//! since most are compressed already, and have their checksums behind their data.

use std::sync::Arc;

use bytes::Bytes;
use crc32fast::Hasher;

use super::answer::{Answer, Broken, Pieces, Policy, Refusal};
use super::file::disposition;
use super::site::{Place, Site, streamed};
use crate::content::{Access, BLOCK_SIZE};
use crate::inspect::Role;
use crate::inspect::bounds::{Bounds, EXPANSION};
use crate::inspect::walk::Walk;
use crate::memory::budget::Charge;
use crate::mount::{Error, FileKind, HeldIno, Vfs};

/// The first number that needs the larger fields of Zip64.
const LARGE: u64 = u32::MAX as u64;

/// The first number of entries that does.
const MANY: usize = u16::MAX as usize;

/// Flags: UTF-8 names, and checksums behind the data.
const FLAGS: u16 = 1 << 11 | 1 << 3;

/// Versions of the format: with large fields, and on Unix.
const VERSION: u16 = 45;
const MADE_BY: u16 = 3 << 8 | VERSION;

/// Answers with everything in a directory.
///
/// # Errors
/// Returns an error if it is none, or cannot be listed.
pub(super) fn answer(site: &Arc<Site>, path: &str) -> Result<Answer, Refusal> {
    let place = Place::find(site, path)?;
    if place.found.attr.kind != FileKind::Directory {
        return Err(Refusal::at(path, Error::NotADirectory));
    }
    let vfs = site.vfs().clone();
    let name = match place.found.path.rsplit('/').next() {
        None | Some("") => "files",
        Some(name) => name,
    };
    let answer = Answer::text(Policy::Contents, "application/zip", Bytes::new())
        .with("content-disposition", disposition(&format!("{name}.zip")));
    let ino = place.found.attr.ino;
    let mut walk = Walk::new(HeldIno::kept(ino), String::new());
    walk.shows_archives = false;
    let zip = Zip {
        bounds: Bounds::of(&vfs, ino, EXPANSION),
        walk,
        charge: vfs
            .reader()
            .budget()
            .empty_charge("the directory of a zip archive"),
        vfs,
        entries: Vec::new(),
        offset: 0,
        state: State::Between,
        _place: place,
    };
    streamed(answer, None, Box::new(zip)).map_err(|Broken| Refusal::Internal)
}

/// An archive that is being written.
struct Zip {
    vfs: Arc<Vfs>,
    walk: Walk,
    bounds: Arc<Bounds>,
    /// The entries that were written.
    entries: Vec<Entry>,
    /// Accounts for their memory.
    charge: Charge,
    /// Number of bytes so far.
    offset: u64,
    state: State,
    /// Keeps the directory.
    _place: Place,
}

/// The part of the archive that comes next.
enum State {
    /// The next entry.
    Between,
    /// The rest of a file.
    In(Open),
    /// The directory, from this entry on.
    Directory(usize),
    Ended,
}

/// A file that is being written.
struct Open {
    entry: Entry,
    ino: HeldIno,
    next: u64,
    crc: Hasher,
}

/// An entry for the directory at the end.
struct Entry {
    /// Its path; the path of a directory ends with a slash.
    name: Box<str>,
    modified: i64,
    /// Type and permissions as on Unix.
    mode: u32,
    size: u64,
    crc: u32,
    offset: u64,
}

impl Zip {
    /// Writes the start of the next entry.
    fn begin(&mut self, out: &mut Vec<u8>) -> Result<(), Broken> {
        let Some(step) = self.walk.next(&self.vfs) else {
            self.state = State::Directory(0);
            return Ok(());
        };
        let step = step.map_err(|missed| {
            let (path, cause) = missed.explained();
            Broken::because(&path, cause)
        })?;
        let path = step.path.clone();
        let failed = |error| Broken::because(&path, error);
        // Companions are not part of it, as for `hpi extract`.
        if step.entry.role == Role::AssetDirectory && !self.vfs.is_generated(*step.entry.ino) {
            return Ok(());
        }
        let attr = self.vfs.getattr(*step.entry.ino).map_err(failed)?;
        // Files of a folder on disk have no bound; generated ones have, which the walk does
        // not know.
        let made = usize::from(self.vfs.is_generated(*step.entry.ino));
        let counted = self.bounds.read(self.walk.archives() + made, attr.size);
        counted.map_err(|error| Broken::because(&path, error))?;
        let (kind, name) = match attr.kind {
            FileKind::Directory => (0o040_000, format!("{path}/")),
            FileKind::File => (0o100_000, path.clone()),
            FileKind::Symlink => (0o120_000, path.clone()),
        };
        let mut entry = Entry {
            name: name.into(),
            modified: attr.modified,
            mode: kind | u32::from(attr.mode) | 0o200,
            size: attr.size,
            crc: 0,
            offset: self.offset + out.len() as u64,
        };
        if entry.name.len() > MANY {
            return Err(Broken::because(&path, "its path is too long"));
        }
        match attr.kind {
            FileKind::Directory => {
                entry.size = 0;
                entry.start(out);
                entry.end(out);
                self.add(entry)?;
                self.walk.enter(&self.vfs, step);
            }
            FileKind::Symlink => {
                let target = self.vfs.readlink(*step.entry.ino).map_err(failed)?;
                entry.size = target.len() as u64;
                entry.crc = crc32fast::hash(&target);
                entry.start(out);
                out.extend_from_slice(&target);
                entry.end(out);
                self.add(entry)?;
            }
            FileKind::File => {
                entry.start(out);
                self.state = State::In(Open {
                    entry,
                    ino: step.entry.ino,
                    next: 0,
                    crc: Hasher::new(),
                });
            }
        }
        Ok(())
    }

    /// Keeps an entry for the directory.
    fn add(&mut self, entry: Entry) -> Result<(), Broken> {
        let memory = self.charge.bytes() + 2 * size_of::<Entry>() + entry.name.len();
        let charged = self.charge.grow_to(memory);
        charged.map_err(|error| Broken::because(&entry.name, error))?;
        self.entries.push(entry);
        Ok(())
    }

    /// Writes more of a file.
    fn go_on(&mut self, mut open: Open, out: &mut Vec<u8>) -> Result<(), Broken> {
        let size = u64::from(BLOCK_SIZE).min(open.entry.size - open.next) as u32;
        if size == 0 {
            open.entry.crc = open.crc.finalize();
            open.entry.end(out);
            return self.add(open.entry);
        }
        let node = self.vfs.node(*open.ino);
        let node = node.map_err(|error| Broken::because(&open.entry.name, error))?;
        let access = match open.next {
            0 => Access::Unknown,
            _ => Access::Sequential,
        };
        let bytes = self.vfs.read_node(&node, open.next, size, access);
        let bytes = bytes.map_err(|_| Broken)?;
        if bytes.len() != size as usize {
            return Err(Broken::because(&open.entry.name, "is shorter than before"));
        }
        open.crc.update(&bytes);
        open.next += u64::from(size);
        out.extend_from_slice(&bytes);
        drop(node);
        self.state = State::In(open);
        Ok(())
    }

    /// Writes the end of the directory.
    fn finish(&self, start: u64, out: &mut Vec<u8>) {
        let size = self.offset + out.len() as u64 - start;
        let count = self.entries.len();
        let is_large = count >= MANY || size >= LARGE || start >= LARGE;
        if is_large {
            let end = start + size;
            put(
                out,
                &[&0x0606_4b50_u32.to_le_bytes(), &44_u64.to_le_bytes()],
            );
            put(
                out,
                &[&MADE_BY.to_le_bytes(), &VERSION.to_le_bytes(), &[0; 8]],
            );
            let count = (count as u64).to_le_bytes();
            put(
                out,
                &[&count, &count, &size.to_le_bytes(), &start.to_le_bytes()],
            );
            put(out, &[&0x0706_4b50_u32.to_le_bytes(), &[0; 4]]);
            put(out, &[&end.to_le_bytes(), &1_u32.to_le_bytes()]);
        }
        let count = (count.min(MANY) as u16).to_le_bytes();
        let short = |number: u64| (number.min(LARGE) as u32).to_le_bytes();
        put(
            out,
            &[&0x0605_4b50_u32.to_le_bytes(), &[0; 4], &count, &count],
        );
        put(out, &[&short(size), &short(start), &[0; 2]]);
    }
}

impl Pieces for Zip {
    fn read(&mut self, wanted: usize) -> Result<Bytes, Broken> {
        let mut out = Vec::new();
        while out.len() < wanted {
            match std::mem::replace(&mut self.state, State::Between) {
                State::Between => self.begin(&mut out)?,
                State::In(open) => self.go_on(open, &mut out)?,
                State::Directory(number) => match self.entries.get(number) {
                    Some(entry) => {
                        entry.list(&mut out);
                        self.state = State::Directory(number + 1);
                    }
                    None => {
                        let listed: u64 = self.entries.iter().map(Entry::listed_size).sum();
                        let start = self.offset + out.len() as u64 - listed;
                        self.finish(start, &mut out);
                        self.state = State::Ended;
                    }
                },
                State::Ended => {
                    self.state = State::Ended;
                    break;
                }
            }
        }
        self.offset += out.len() as u64;
        Ok(out.into())
    }
}

impl Entry {
    fn is_large(&self) -> bool {
        self.size >= LARGE
    }

    /// Writes its header.
    fn start(&self, out: &mut Vec<u8>) {
        let extra = self.extra(false);
        put(out, &[&0x0403_4b50_u32.to_le_bytes()]);
        put(
            out,
            &[&VERSION.to_le_bytes(), &FLAGS.to_le_bytes(), &[0; 2]],
        );
        put(out, &[&self.dos_time(), &[0; 12]]);
        put(out, &[&(self.name.len() as u16).to_le_bytes()]);
        put(out, &[&(extra.len() as u16).to_le_bytes()]);
        put(out, &[self.name.as_bytes(), &extra]);
    }

    /// Writes its checksum and its sizes.
    fn end(&self, out: &mut Vec<u8>) {
        put(
            out,
            &[&0x0807_4b50_u32.to_le_bytes(), &self.crc.to_le_bytes()],
        );
        match self.is_large() {
            true => put(out, &[&self.size.to_le_bytes(), &self.size.to_le_bytes()]),
            false => {
                let size = (self.size as u32).to_le_bytes();
                put(out, &[&size, &size]);
            }
        }
    }

    /// Writes its entry of the directory.
    fn list(&self, out: &mut Vec<u8>) {
        let extra = self.extra(true);
        let size = (self.size.min(LARGE) as u32).to_le_bytes();
        put(
            out,
            &[&0x0201_4b50_u32.to_le_bytes(), &MADE_BY.to_le_bytes()],
        );
        put(
            out,
            &[&VERSION.to_le_bytes(), &FLAGS.to_le_bytes(), &[0; 2]],
        );
        put(
            out,
            &[&self.dos_time(), &self.crc.to_le_bytes(), &size, &size],
        );
        put(out, &[&(self.name.len() as u16).to_le_bytes()]);
        put(out, &[&(extra.len() as u16).to_le_bytes(), &[0; 6]]);
        put(out, &[&(self.mode << 16).to_le_bytes()]);
        put(out, &[&(self.offset.min(LARGE) as u32).to_le_bytes()]);
        put(out, &[self.name.as_bytes(), &extra]);
    }

    fn listed_size(&self) -> u64 {
        (46 + self.name.len() + self.extra(true).len()) as u64
    }

    /// Returns the fields for large numbers, and for the exact time. Before the data the sizes
    /// are zero, and there only to say that those behind it are large.
    fn extra(&self, is_listed: bool) -> Vec<u8> {
        let mut numbers = Vec::new();
        if self.is_large() {
            let size = if is_listed { self.size } else { 0 };
            put(&mut numbers, &[&size.to_le_bytes(), &size.to_le_bytes()]);
        }
        if is_listed && self.offset >= LARGE {
            put(&mut numbers, &[&self.offset.to_le_bytes()]);
        }
        let mut extra = Vec::new();
        if !numbers.is_empty() {
            put(
                &mut extra,
                &[&1_u16.to_le_bytes(), &(numbers.len() as u16).to_le_bytes()],
            );
            put(&mut extra, &[&numbers]);
        }
        if let Ok(time) = i32::try_from(self.modified) {
            put(
                &mut extra,
                &[&0x5455_u16.to_le_bytes(), &5_u16.to_le_bytes(), &[1]],
            );
            put(&mut extra, &[&time.to_le_bytes()]);
        }
        extra
    }

    /// Returns its time as DOS has it, in UTC, in steps of two seconds and from 1980 on.
    fn dos_time(&self) -> [u8; 4] {
        let time = jiff::Timestamp::from_second(self.modified).unwrap_or_default();
        let time = time.to_zoned(jiff::tz::TimeZone::UTC);
        let years = i32::from(time.year()) - 1980;
        if !(0..128).contains(&years) {
            return [0, 0, 0x21, 0];
        }
        let date = years as u16 * 512 + time.month() as u16 * 32 + time.day() as u16;
        let seconds = time.second() as u16 / 2;
        let hours = time.hour() as u16 * 2048 + time.minute() as u16 * 32 + seconds;
        let ([a, b], [c, d]) = (hours.to_le_bytes(), date.to_le_bytes());
        [a, b, c, d]
    }
}

fn put(out: &mut Vec<u8>, parts: &[&[u8]]) {
    for part in parts {
        out.extend_from_slice(part);
    }
}
