//! Writing a GameCube disc with changes. Nothing moves but what must: new data is
//! where the old data was if it fits, else in the first free room, else at the
//! end.

use encoding_rs::SHIFT_JIS;

use super::fst::{DIRECTORY, ENTRY, FILE};
use super::{APPLOADER, APPLOADER_HEADER, BI2, BI2_FILE, BOOT, BOOT_FILE, DOL_HEADER, GAMECUBE};
use super::{Disc, Layout, OFFSETS, Tables, dol_length, numbers};
use crate::changes::{Job, Kind, NewFile, Occupied, Patch, Weight, Written};
use crate::io::{Error, Result, read_vec};
use crate::volume::{FileId, NodeId};

/// Alignment of files, which games need that stream audio, of the program and the
/// FST, and of what the console reads.
const FILE_ALIGNMENT: u64 = 0x8000;
const SYSTEM_ALIGNMENT: u64 = 0x100;
const READ_ALIGNMENT: u64 = 32;

/// Size of a disc in bytes.
const DISC: u64 = 1_459_978_240;

/// Writes the disc.
pub(super) fn apply(old: &Disc, tables: Tables, job: &mut Job<'_>) -> Result<Written> {
    if tables.layout.is_tgc {
        let text = "a TGC disc cannot be changed: change the disc that it was made of";
        return Err(Error::Unsupported(text.to_owned()));
    }
    check_places(job);
    let length = old.source.len();
    let mut disc = Writer {
        occupied: Occupied::new(std::iter::empty()),
        patch: Patch::new(old.source.clone()),
        end: length.next_multiple_of(FILE_ALIGNMENT),
        length,
        old,
        tables: &tables,
    };
    let mut boot = disc.check_system(job)?;
    disc.occupy(job);
    let dol = disc.program(job)?;
    let (fst, fst_size) = match job.tree.is_restructured() {
        true => disc.new_table(job)?,
        false => disc.old_table(job)?,
    };
    let offsets = OFFSETS as usize;
    let most = numbers(&boot, offsets + 12).unwrap_or([0])[0].max(fst_size);
    let words = [dol, fst, fst_size, most].map(u32::to_be_bytes).concat();
    boot[offsets..][..words.len()].copy_from_slice(&words);
    disc.patch.put(0, boot);
    if disc.patch.len() > disc.length {
        let ends = old.files.iter().map(|&(offset, size)| match size {
            0 => 0,
            size => offset + u64::from(size),
        });
        let cut = job.cut(ends, disc.length);
        job.refuse_to_extend(&cut);
        disc.patch
            .grow(disc.patch.len().next_multiple_of(FILE_ALIGNMENT));
    }
    let length = disc.patch.len();
    if length > DISC && length > disc.length {
        let text = format!(
            "the disc has {length} bytes, more than the {DISC} of a GameCube disc: it works in emulators only"
        );
        job.report.note(Weight::Warning, "", text);
    }
    Ok(Written::alone(disc.patch.finish()))
}

/// Refuses additions outside of `files`, and deletions there.
fn check_places(job: &mut Job<'_>) {
    let is_file = |path: &str| path.starts_with("files/");
    let added = job.added().into_iter();
    let added = added.map(|node| (node, "only sys/ and files/ are on the disc"));
    let deleted = job.tree.deleted();
    let deleted = deleted.map(|(node, _)| (node, "cannot be deleted"));
    for (node, reason) in added.chain(deleted).collect::<Vec<_>>() {
        if !is_file(&job.tree.path(node)) {
            job.refuse(node, reason);
        }
    }
}

/// A disc that is being written.
struct Writer<'a> {
    old: &'a Disc,
    tables: &'a Tables,
    occupied: Occupied,
    patch: Patch,
    /// Offset where data can be appended.
    end: u64,
    /// Length of the original in bytes.
    length: u64,
}

impl<'a> Writer<'a> {
    /// Checks the new parts that are not files, places those with fixed places, and
    /// returns `boot.bin`.
    fn check_system(&mut self, job: &mut Job<'_>) -> Result<Vec<u8>> {
        let new = |part: FileId| job.tree.new_of(part).cloned();
        let (boot, bi2, fst) = (new(BOOT_FILE), new(BI2_FILE), new(self.old.fst));
        let apploader = self.tables.apploader.and_then(new);
        let dol = self.tables.dol.and_then(new);
        let mut refuse = |new: &NewFile, reason: &str| job.report.refuse(new.path(), reason);
        let mut header = read_vec(&*self.old.source, 0, BOOT.into(), "boot.bin")?;
        if let Some(new) = boot {
            let bytes = match new.len() == u64::from(BOOT) {
                true => read_vec(&new, 0, BOOT.into(), "boot.bin")?,
                false => Vec::new(),
            };
            match numbers(&bytes, 0x1C) == Some([GAMECUBE]) {
                true => header = bytes,
                false => refuse(
                    &new,
                    "no header of a GameCube disc (0x440 bytes with its magic)",
                ),
            }
        }
        if let Some(new) = bi2 {
            match new.len() == u64::from(BI2) {
                true => self.patch.put_file(BOOT.into(), &new),
                false => refuse(&new, "has not 0x2000 bytes"),
            }
        }
        if let Some(new) = apploader {
            let head = new.len().min(APPLOADER_HEADER.into());
            let head = read_vec(&new, 0, head, "apploader.img")?;
            let [size, trailer] = numbers(&head, 0x14).unwrap_or_default();
            let stated = u64::from(APPLOADER_HEADER) + u64::from(size) + u64::from(trailer);
            match new.len() == stated {
                true => self.patch.put_file(APPLOADER.into(), &new),
                false => refuse(&new, "its length is not the one that it states"),
            }
        }
        if let Some(new) = fst {
            refuse(&new, "is generated");
        }
        if let Some(new) = dol {
            let head = read_vec(&new, 0, new.len().min(DOL_HEADER), "main.dol")?;
            if new.len() < DOL_HEADER || dol_length(&head) > new.len() {
                refuse(&new, "is cut: it is shorter than its sections");
            }
        }
        Ok(header)
    }

    /// Finds the ranges in use: of all that stays, as far as the disc has it.
    fn occupy(&mut self, job: &mut Job<'_>) {
        let all = (0..).map(FileId).zip(&self.old.files);
        let kept = all.filter(|&(file, _)| !job.tree.is_file_deleted(file));
        let length = self.length;
        let ranges = kept.map(|(_, &(offset, size))| offset..length.min(offset + u64::from(size)));
        self.occupied = Occupied::new(ranges);
        let Some(file) = self.tables.apploader else {
            return;
        };
        if let (Some(new), Some(own)) = (job.tree.new_of(file), self.old.range(file)) {
            let end = own.start + new.len();
            if end > self.occupied.room(&own) {
                let path = new.path().to_owned();
                job.report
                    .refuse(path, "does not fit before what follows it");
            }
            self.occupied.add(own.start..end);
        }
    }

    /// Places the program, and returns its offset.
    fn program(&mut self, job: &mut Job<'_>) -> Result<u32> {
        let file = self.tables.dol;
        let Some((node, new)) = file.and_then(|file| job.replaced(file)) else {
            return Ok(self.tables.layout.dol as u32);
        };
        let own = file.and_then(|file| self.old.range(file));
        self.file(job, node, &new, own, SYSTEM_ALIGNMENT)
    }

    /// Places new contents, and returns their offset.
    fn file(
        &mut self,
        job: &mut Job<'_>,
        node: NodeId,
        new: &NewFile,
        own: Option<std::ops::Range<u64>>,
        alignment: u64,
    ) -> Result<u32> {
        let old = own.clone().unwrap_or_default();
        if new.is_empty() {
            return Ok(old.start as u32);
        }
        let (at, limit) = self.place(new.len(), &old, alignment);
        if at != old.start && !old.is_empty() {
            let text = format!("moved from {:#x} to {at:#x}", old.start);
            job.note(Weight::Information, node, text);
        }
        let end = at + new.len();
        if end > u32::MAX.into() {
            job.refuse(node, "ends past 4 GiB");
            return Ok(0);
        }
        self.patch.put_file(at, new);
        // The console reads multiples of 32 bytes.
        let padded = end.next_multiple_of(READ_ALIGNMENT).min(limit);
        self.patch.fill(end, 0, padded - end);
        Ok(at as u32)
    }

    /// Returns an offset for `length` bytes, and the offset of what follows.
    fn place(&mut self, length: u64, old: &std::ops::Range<u64>, alignment: u64) -> (u64, u64) {
        let room = match old.is_empty() || old.end > self.length {
            true => 0,
            false => self.occupied.room(old),
        };
        if old.start + length <= room {
            self.occupied.remove(old);
            self.occupied.add(old.start..old.start + length);
            return (old.start, room);
        }
        let mut at = self.occupied.free(APPLOADER.into(), length, alignment);
        if at + length > self.length {
            at = at.max(self.end);
            self.end = (at + length).next_multiple_of(FILE_ALIGNMENT);
        }
        self.occupied.add(at..at + length);
        (at, self.occupied.next(at + length))
    }

    /// Changes the rows of replaced files in the FST.
    fn old_table(&mut self, job: &mut Job<'_>) -> Result<(u32, u32)> {
        let (fst, size) = (self.tables.layout.fst, self.tables.layout.fst_size);
        let (old, rows) = (self.old, &self.tables.rows[..]);
        let first = (old.files.len() - rows.len()) as u32;
        for (id, &number) in (first..).map(FileId).zip(rows) {
            if let Some((node, new)) = job.replaced(id) {
                let at = self.file(job, node, &new, old.range(id), FILE_ALIGNMENT)?;
                let words = [at, new.len() as u32].map(u32::to_be_bytes).concat();
                let row = u64::from(number) * ENTRY as u64;
                self.patch.put(fst + row + 4, words);
            }
        }
        Ok((fst as u32, size))
    }

    /// Writes the FST anew: old rows in their order, new ones at the end of their
    /// directories.
    fn new_table(&mut self, job: &mut Job<'_>) -> Result<(u32, u32)> {
        let mut table = Table::default();
        table.directory(job, self.tables.files, 0);
        let size = table.length();
        if size > super::MAX_FST.into() {
            let text = format!("would have an FST of more than {} bytes", super::MAX_FST);
            return Err(Error::Unsupported(text));
        }
        let layout: &'a Layout = &self.tables.layout;
        let old = layout.fst..layout.fst + u64::from(layout.fst_size);
        let (at, _) = self.place(size, &old, SYSTEM_ALIGNMENT);
        let mut rows = vec![[u32::from(DIRECTORY) << 24, 0, table.rows.len() as u32 + 1]];
        for row in &table.rows {
            let name = row.name as u32;
            rows.push(match row.place {
                Place::Directory { parent, end } => {
                    [u32::from(DIRECTORY) << 24 | name, parent as u32, end as u32]
                }
                Place::File(node) => {
                    let file = match job.tree.node(node).kind {
                        Kind::File(Some(entry)) => Some(entry.file),
                        _ => None,
                    };
                    let own = file.and_then(|file| self.old.range(file));
                    let [offset, size] = match job.tree.new_at(node).cloned() {
                        Some(new) => {
                            let at = self.file(job, node, &new, own, FILE_ALIGNMENT)?;
                            [at, new.len() as u32]
                        }
                        None => own.map_or([0; 2], |own| {
                            [own.start as u32, (own.end - own.start) as u32]
                        }),
                    };
                    [u32::from(FILE) << 24 | name, offset, size]
                }
            });
        }
        let words = rows.into_iter().flatten();
        let mut bytes: Vec<u8> = words.flat_map(u32::to_be_bytes).collect();
        bytes.extend(&table.names);
        let room = match at == layout.fst {
            true => u64::from(layout.fst_size),
            false => size.next_multiple_of(READ_ALIGNMENT),
        };
        bytes.resize((room.max(size)) as usize, 0);
        self.patch.put(at, bytes);
        Ok((at as u32, size as u32))
    }
}

/// The rows of a new FST, except for the root.
#[derive(Default)]
struct Table {
    rows: Vec<Row>,
    names: Vec<u8>,
}

struct Row {
    /// Offset of the name.
    name: usize,
    place: Place,
}

enum Place {
    File(NodeId),
    /// The numbers of the parent's row, and of the one after the last in it.
    Directory {
        parent: usize,
        end: usize,
    },
}

impl Table {
    /// Returns its length in bytes.
    fn length(&self) -> u64 {
        ((self.rows.len() + 1) * ENTRY + self.names.len()) as u64
    }

    /// Adds everything in a directory, whose row has the number `parent`.
    fn directory(&mut self, job: &mut Job<'_>, directory: NodeId, parent: usize) {
        let children: Vec<NodeId> = job.tree.children(directory).collect();
        for child in children {
            let name = self.names.len();
            self.names.extend(raw_name(job, child));
            self.names.push(0);
            let is_directory = matches!(job.tree.node(child).kind, Kind::Directory);
            let place = match is_directory {
                true => Place::Directory { parent, end: 0 },
                false => Place::File(child),
            };
            self.rows.push(Row { name, place });
            if is_directory {
                // The root is row 0.
                let number = self.rows.len();
                self.directory(job, child, number);
                let end = self.rows.len() + 1;
                self.rows[number - 1].place = Place::Directory { parent, end };
            }
        }
    }
}

/// Returns the name of a node in Shift-JIS.
fn raw_name(job: &mut Job<'_>, node: NodeId) -> Vec<u8> {
    let entry = job.tree.node(node);
    if !entry.is_added {
        return entry.raw().to_vec();
    }
    let (raw, _, _) = SHIFT_JIS.encode(entry.name);
    let is_name = SHIFT_JIS.decode_without_bom_handling(&raw).0 == *entry.name;
    let raw = raw.into_owned();
    if !is_name || raw.iter().any(|&byte| byte < b' ') {
        job.refuse(node, "no name for a GameCube disc (Shift-JIS)");
    }
    raw
}
