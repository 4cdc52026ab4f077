//! Writing an Xbox disc with changes. A file that needs no more sectors stays where
//! it is; new data is at the end. The table of a directory is written again, as a
//! balanced tree, if entries were added or deleted.

use super::table::{DIRECTORY, LINK_UNIT, NODE};
use super::{DESCRIPTOR, Disc, Extent, SECTOR, Slots};
use crate::changes::{Job, Kind, NewFile, Occupied, Patch, Weight, Written};
use crate::io::{Error, Result};
use crate::text::{to_windows_1252, windows_1252};
use crate::volume::NodeId;

/// Offset in the volume descriptor of the root's extent.
const ROOT: u64 = 20;

/// Offset in a node of its extent.
const EXTENT: u64 = 4;

/// The attribute of ordinary files.
const NORMAL: u8 = 0x80;

/// Images are multiples of this.
const UNIT: u64 = 0x1_0000;

/// The filler of a table.
const FILLER: u8 = 0xFF;

/// Bytes that no name has, besides control bytes.
const RESERVED: &[u8] = b"<>:\"/\\|?*";

/// Longest name in bytes.
const MAX_NAME: usize = 255;

/// Writes the disc.
pub(super) fn apply(old: &Disc, slots: Slots, job: &mut Job<'_>) -> Result<Written> {
    let (source, base) = (&old.source, old.base);
    let files = slots.files.iter().map(|slot| slot.extent.sectors());
    let tables = slots.directories.values().map(|slot| slot.extent.sectors());
    let mut disc = Writer {
        occupied: Occupied::new(files.chain(tables)),
        end: (source.len() - base).div_ceil(SECTOR),
        patch: Patch::new(source.clone()),
        base,
        slots,
    };
    disc.directory(job, NodeId(0))?;
    if disc.patch.len() > source.len() {
        let files = disc.slots.files.iter();
        let ends = files.map(|slot| match slot.extent.size {
            0 => 0,
            size => base + u64::from(slot.extent.sector) * SECTOR + u64::from(size),
        });
        let cut = job.cut(ends, source.len());
        job.refuse_to_extend(&cut);
        let length = (disc.patch.len() - base).next_multiple_of(UNIT);
        disc.patch.grow(base + length);
    }
    Ok(Written::alone(disc.patch.finish()))
}

impl Extent {
    fn sectors(self) -> std::ops::Range<u64> {
        let start = u64::from(self.sector);
        start..start + u64::from(self.size).div_ceil(SECTOR)
    }

    fn bytes(self) -> Vec<u8> {
        [self.sector, self.size].map(u32::to_le_bytes).concat()
    }
}

/// A disc that is being written.
struct Writer {
    base: u64,
    patch: Patch,
    occupied: Occupied,
    /// The sector after the last one.
    end: u64,
    slots: Slots,
}

/// A row of a new table.
struct Row {
    name: Vec<u8>,
    extent: Extent,
    attributes: u8,
}

impl Writer {
    /// Writes everything in a directory and then its table, and returns the
    /// table's extent.
    fn directory(&mut self, job: &mut Job<'_>, node: NodeId) -> Result<Extent> {
        let children: Vec<NodeId> = job.tree.children(node).collect();
        let is_new = job.tree.node(node).is_added;
        let is_changed = is_new || job.tree.is_restructured_in(node);
        let mut rows = Vec::with_capacity(children.len());
        for child in children {
            let (old, extent, attributes) = match job.tree.node(child).kind {
                Kind::Directory => {
                    let old = self.slots.directories.get(&child).copied();
                    (old, self.directory(job, child)?, DIRECTORY)
                }
                Kind::File(entry) => {
                    let old = entry.and_then(|entry| self.slots.file(entry.file));
                    (
                        old,
                        self.file(job, child, old.map(|slot| slot.extent))?,
                        NORMAL,
                    )
                }
                Kind::Link(_) => continue,
            };
            if let Some(old) = old.filter(|old| !is_changed && old.extent != extent) {
                self.patch.put(old.at + EXTENT, extent.bytes());
            }
            if is_changed {
                rows.push(Row {
                    name: raw_name(job, child),
                    extent,
                    attributes: old.map_or(attributes, |slot| slot.attributes),
                });
            }
        }
        let old = self.slots.directories.get(&node).map(|slot| slot.extent);
        let old = old.unwrap_or(Extent { sector: 0, size: 0 });
        if !is_changed {
            return Ok(old);
        }
        let extent = self.table(job, node, rows, old)?;
        if node == NodeId(0) {
            let at = self.base + DESCRIPTOR * SECTOR + ROOT;
            self.patch.put(at, extent.bytes());
        }
        Ok(extent)
    }

    /// Writes a table, and returns its extent.
    fn table(
        &mut self,
        job: &mut Job<'_>,
        node: NodeId,
        mut rows: Vec<Row>,
        old: Extent,
    ) -> Result<Extent> {
        rows.sort_by_cached_key(|row| row.name.to_ascii_uppercase());
        let is_same = |pair: &[Row]| pair[0].name.eq_ignore_ascii_case(&pair[1].name);
        if rows.windows(2).any(is_same) {
            job.refuse(node, "would have equal names");
        }
        let mut bytes = encode(&rows)?;
        let size = bytes.len() as u32;
        let room = u64::from(old.size).next_multiple_of(SECTOR);
        let sector = match old.sector > 0 && u64::from(size) <= room {
            true => {
                bytes.resize(room as usize, FILLER);
                old.sector.into()
            }
            false => {
                if old.sector > 0 {
                    let text = format!("table moved from sector {} to {}", old.sector, self.end);
                    job.note(Weight::Information, node, text);
                }
                self.append(size.into())
            }
        };
        self.patch.put(self.base + sector * SECTOR, bytes);
        let sector = u32::try_from(sector).map_err(|_| too_large())?;
        Ok(Extent { sector, size })
    }

    /// Places the new contents of a file, if it has any, and returns its extent.
    fn file(&mut self, job: &mut Job<'_>, node: NodeId, old: Option<Extent>) -> Result<Extent> {
        let old = old.unwrap_or(Extent { sector: 0, size: 0 });
        let Some(new) = job.tree.new_at(node).cloned() else {
            return Ok(old);
        };
        let Ok(size) = u32::try_from(new.len()) else {
            job.refuse(node, "is larger than 4 GiB");
            return Ok(old);
        };
        if new.is_empty() {
            let sector = old.sector;
            return Ok(Extent { sector, size });
        }
        let own = old.sectors();
        let sectors = new.len().div_ceil(SECTOR);
        let fits = sectors <= own.end - own.start
            && own.start <= self.end
            && self.occupied.room(&own) != own.start;
        let sector = match fits {
            true => own.start,
            false => {
                if !own.is_empty() {
                    let text = format!("moved from sector {} to {}", own.start, self.end);
                    job.note(Weight::Information, node, text);
                }
                self.append(new.len())
            }
        };
        self.put(sector, &new);
        let sector = u32::try_from(sector).map_err(|_| too_large())?;
        Ok(Extent { sector, size })
    }

    /// Returns the sector at the end for `length` bytes.
    fn append(&mut self, length: u64) -> u64 {
        let sector = self.end;
        self.end += length.div_ceil(SECTOR);
        sector
    }

    fn put(&mut self, sector: u64, new: &NewFile) {
        let start = self.base + sector * SECTOR;
        let end = start + new.len();
        self.patch.put_file(start, new);
        let padding = new.len().next_multiple_of(SECTOR) - new.len();
        self.patch.fill(end, 0, padding);
    }
}

/// Returns the name of a node in Windows-1252.
fn raw_name(job: &mut Job<'_>, node: NodeId) -> Vec<u8> {
    let entry = job.tree.node(node);
    if !entry.is_added {
        return entry.raw().to_vec();
    }
    let raw = to_windows_1252(entry.name).into_owned();
    let is_allowed = |byte: &u8| *byte >= b' ' && !RESERVED.contains(byte);
    let is_name = windows_1252(&raw) == *entry.name;
    if !is_name || raw.len() > MAX_NAME || !raw.iter().all(is_allowed) {
        job.refuse(node, "no name for an Xbox disc");
    }
    raw
}

/// Returns the table of rows that are sorted by their names: a balanced tree, the
/// root first, no node across a sector.
fn encode(rows: &[Row]) -> Result<Vec<u8>> {
    if rows.is_empty() {
        return Ok(vec![FILLER; SECTOR as usize]);
    }
    let mut order = Vec::with_capacity(rows.len());
    preorder(0..rows.len(), &mut order);
    let mut offsets = vec![0; rows.len()];
    let mut end = 0;
    for &(number, ..) in &order {
        let length = (NODE + rows[number].name.len()).next_multiple_of(LINK_UNIT);
        let left = SECTOR as usize - end % SECTOR as usize;
        end += if length > left { left } else { 0 };
        offsets[number] = end;
        end += length;
    }
    let mut table = vec![FILLER; end.next_multiple_of(SECTOR as usize)];
    for (number, left, right) in order {
        let link = |row: Option<usize>| {
            let link = row.map_or(0, |row| offsets[row] / LINK_UNIT);
            u16::try_from(link).ok().filter(|&link| link != u16::MAX)
        };
        let (Some(left), Some(right)) = (link(left), link(right)) else {
            let text = "has a directory whose table would be larger than 256 KiB";
            return Err(Error::Unsupported(text.to_owned()));
        };
        let row = &rows[number];
        let mut node = [left, right].map(u16::to_le_bytes).concat();
        node.extend(row.extent.bytes());
        node.extend([row.attributes, row.name.len() as u8]);
        node.extend(&row.name);
        table[offsets[number]..][..node.len()].copy_from_slice(&node);
    }
    Ok(table)
}

/// Adds the rows of a range, each with the rows that it links to, the root first.
fn preorder(range: std::ops::Range<usize>, order: &mut Vec<(usize, Option<usize>, Option<usize>)>) {
    let middle = |range: &std::ops::Range<usize>| {
        (!range.is_empty()).then(|| range.start + (range.end - range.start) / 2)
    };
    // The depth is the logarithm of the number of rows.
    if let Some(root) = middle(&range) {
        let (left, right) = (range.start..root, root + 1..range.end);
        order.push((root, middle(&left), middle(&right)));
        preorder(left, order);
        preorder(right, order);
    }
}

fn too_large() -> Error {
    Error::Unsupported("would have more sectors than can be addressed".to_owned())
}
