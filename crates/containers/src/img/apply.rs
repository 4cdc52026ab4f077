//! Writing an IMG archive with changes. New data is where the old data was if it
//! fits, else at the end; the table of version 2 may grow over the files that
//! stand first, which move to the end.

use super::directory::{NAME, RECORD};
use super::{HEADER, Img, SECTOR, VERSION_2};
use crate::changes::{Composed, Job, NewFile, Occupied, Patch, Weight, Written};
use crate::io::Result;
use crate::paths::Span;
use crate::text::to_windows_1252;
use crate::volume::{FileId, NodeId};

/// Maximum number of sectors of a file, by version.
const MOST_1: u64 = u32::MAX as u64;
const MOST_2: u64 = 0xFFFF;

/// A record of the new directory.
struct Row {
    node: Option<NodeId>,
    sector: u64,
    sectors: u64,
    /// The old record, or that of an added file.
    record: [u8; RECORD],
    new: Option<NewFile>,
}

/// Writes the archive, given the bytes of its directory.
pub(super) fn apply(old: &Img, directory: Vec<u8>, job: &mut Job<'_>) -> Result<Written> {
    for node in job.tree.added_directories().collect::<Vec<_>>() {
        job.refuse(node, "an IMG archive has no directories");
    }
    let is_version_2 = old.version == 2;
    let (records, rest) = directory.as_chunks();
    let mut image = Image {
        occupied: Occupied::new(std::iter::empty()),
        end: old.source.len().div_ceil(SECTOR),
        patch: Patch::new(old.source.clone()),
        old,
        is_version_2,
        table_end: 0,
    };
    let rows = image.rows(job, records);
    let mut table: Vec<u8> = rows.iter().flat_map(|row| row.record).collect();
    if !is_version_2 {
        if rows.is_empty() {
            job.refuse_to_empty();
        }
        table.extend_from_slice(rest);
        return Ok(Written {
            data: image.patch.finish(),
            directory: Some(Composed::of_bytes(table)),
            files: Vec::new(),
        });
    }
    let count = (rows.len() as u32).to_le_bytes();
    let mut header = [&VERSION_2[..], &count, &table].concat();
    let old_end = HEADER as usize + directory.len();
    if header.len() < old_end {
        // The rest of a shorter table, up to the data.
        let data = rows.iter().filter(|row| row.sectors > 0);
        let data = data.map(|row| row.sector * SECTOR).min();
        let end = data.map_or(old_end, |data| old_end.min(data as usize));
        header.resize(end.max(header.len()), 0);
    }
    image.patch.put(0, header);
    Ok(Written::alone(image.patch.finish()))
}

/// The file with the data.
struct Image<'a> {
    old: &'a Img,
    patch: Patch,
    /// The sectors that are in use.
    occupied: Occupied,
    /// The sector after the last one.
    end: u64,
    is_version_2: bool,
    /// The sector after the new directory in version 2; otherwise 0.
    table_end: u64,
}

impl Image<'_> {
    /// Places all data, and returns the new records.
    fn rows(&mut self, job: &mut Job<'_>, records: &[[u8; RECORD]]) -> Vec<Row> {
        let mut rows = Vec::with_capacity(records.len());
        for (number, record) in records.iter().enumerate() {
            let file = FileId(number as u32);
            if !job.tree.is_file_deleted(file) {
                let (sector, sectors) = place_of(&self.old.files[number]);
                rows.push(Row {
                    node: job.tree.node_of(file),
                    sector,
                    sectors,
                    record: *record,
                    new: job.tree.new_of(file).cloned(),
                });
            }
        }
        self.occupied = Occupied::new(self.old.files.iter().map(|file| {
            let (sector, sectors) = place_of(file);
            sector..sector + sectors
        }));
        let added = job.added_files();
        let length = |count: usize| HEADER + (count * RECORD) as u64;
        let old_end = length(records.len());
        let count = rows.len() + added.len();
        if self.is_version_2 {
            // Whatever is in the last sector of the old directory stays there.
            self.table_end = match count > records.len() {
                true => length(count).div_ceil(SECTOR),
                false => old_end / SECTOR,
            };
            // A short image may end before its new table.
            self.end = self.end.max(self.table_end);
        }
        for row in &mut rows {
            if let Some(new) = row.new.clone() {
                self.replace(job, row, &new, old_end);
            } else if row.sectors > 0 && row.sector < self.table_end && count > records.len() {
                self.move_away(job, row);
            }
        }
        for (node, new) in added {
            rows.extend(self.added(job, node, &new));
        }
        let length = self.old.source.len().div_ceil(SECTOR);
        if self.end > length {
            let ends = self.old.files.iter().map(|file| {
                let (sector, sectors) = place_of(file);
                if sectors > 0 { sector + sectors } else { 0 }
            });
            let cut = job.cut(ends, length);
            job.refuse_to_extend(&cut);
        }
        rows
    }

    /// Places the new contents of a file.
    fn replace(&mut self, job: &mut Job<'_>, row: &mut Row, new: &NewFile, old_end: u64) {
        let sectors = new.len().div_ceil(SECTOR);
        let own = row.sector..row.sector + row.sectors;
        let is_in_table =
            self.is_version_2 && (row.sector < self.table_end || row.sector * SECTOR < old_end);
        let fits = row.sectors > 0
            && sectors > 0
            && !is_in_table
            && row.sector <= self.end
            && row.sector + sectors <= self.occupied.room(&own);
        if fits {
            self.occupied.remove(&own);
            self.occupied.add(row.sector..row.sector + sectors);
            self.put(row.sector, new);
        } else if sectors > 0 {
            let sector = self.append(new);
            note_move(job, row, sector);
            row.sector = sector;
        }
        row.sectors = sectors;
        self.check(job, row);
        row.record[..4].copy_from_slice(&(row.sector as u32).to_le_bytes());
        let size = (sectors as u32).to_le_bytes();
        let uses_archive = row.record[6..8] != [0; 2];
        match self.is_version_2 {
            true if uses_archive => row.record[4..8].copy_from_slice(&[0, 0, size[0], size[1]]),
            true => row.record[4..8].copy_from_slice(&[size[0], size[1], 0, 0]),
            false => row.record[4..8].copy_from_slice(&size),
        }
    }

    /// Moves the unchanged data of a file to the end.
    fn move_away(&mut self, job: &mut Job<'_>, row: &mut Row) {
        let start = row.sector * SECTOR;
        let end = (start + row.sectors * SECTOR).min(self.old.source.len());
        let sector = self.end;
        self.patch
            .put_range(sector * SECTOR, &self.old.source, start..end);
        self.end += row.sectors;
        self.occupied.add(sector..self.end);
        self.patch.grow(self.end * SECTOR);
        note_move(job, row, sector);
        row.sector = sector;
        row.record[..4].copy_from_slice(&(sector as u32).to_le_bytes());
    }

    /// Returns the record of an added file, whose data is at the end.
    fn added(&mut self, job: &mut Job<'_>, node: NodeId, new: &NewFile) -> Option<Row> {
        let name = job.tree.node(node).name.to_owned();
        let raw = to_windows_1252(&name);
        let is_name = (1..NAME).contains(&raw.len())
            && raw.contains(&b'.')
            && crate::text::windows_1252(&raw) == *name;
        if !is_name {
            let reason = "a name in an IMG archive has a dot and at most 23 bytes";
            job.refuse(node, reason);
            return None;
        }
        let mut record = [0; RECORD];
        record[RECORD - NAME..][..raw.len()].copy_from_slice(&raw);
        let mut row = Row {
            node: Some(node),
            sector: 0,
            sectors: new.len().div_ceil(SECTOR),
            record,
            new: None,
        };
        if row.sectors > 0 {
            row.sector = self.append(new);
        }
        self.check(job, &row);
        row.record[..4].copy_from_slice(&(row.sector as u32).to_le_bytes());
        row.record[4..8].copy_from_slice(&(row.sectors as u32).to_le_bytes());
        Some(row)
    }

    /// Refuses a file that a record cannot describe.
    fn check(&self, job: &mut Job<'_>, row: &Row) {
        let most = if self.is_version_2 { MOST_2 } else { MOST_1 };
        let Some(node) = row.node else {
            return;
        };
        if row.sectors > most {
            job.refuse(node, format!("has more than {most} sectors"));
        } else if row.sector + row.sectors > u32::MAX.into() {
            job.refuse(node, "ends past 8 TiB");
        }
    }

    /// Puts data at the end, and returns its sector.
    fn append(&mut self, new: &NewFile) -> u64 {
        let sector = self.end;
        self.put(sector, new);
        self.occupied.add(sector..self.end);
        sector
    }

    fn put(&mut self, sector: u64, new: &NewFile) {
        let start = sector * SECTOR;
        let end = (start + new.len()).next_multiple_of(SECTOR);
        self.patch.put_file(start, new);
        self.patch
            .fill(start + new.len(), 0, end - start - new.len());
        self.end = self.end.max(end / SECTOR);
    }
}

/// Returns the first sector and the number of sectors of a file.
fn place_of(file: &Span) -> (u64, u64) {
    (file.offset / SECTOR, file.size.div_ceil(SECTOR))
}

fn note_move(job: &mut Job<'_>, row: &Row, sector: u64) {
    if let Some(node) = row.node.filter(|_| row.sectors > 0) {
        let text = format!("moved from sector {} to {sector}", row.sector);
        job.note(Weight::Information, node, text);
    }
}
