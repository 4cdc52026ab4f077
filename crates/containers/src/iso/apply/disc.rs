//! The directory trees of a disc: the primary one and Joliet's, with every record.

use std::collections::{HashMap, HashSet};

use super::names::order;
use super::{LONGEST, RAW_SUFFIX};
use crate::changes::Tree as Nodes;
use crate::disc::sector::{DESCRIPTORS, SECTOR, Sectors, read_user};
use crate::io::{Error, ReadAt, Result};
use crate::iso::directory::{DIRECTORY, MORE_EXTENTS, RECORD, le32};
use crate::iso::{JOLIET, MAX_DESCRIPTORS, PRIMARY, SUPPLEMENTARY, TERMINATOR};
use crate::volume::{MAX_DEPTH, NodeId};

/// Maximum number of bytes of all directories.
const MAX_BYTES: u64 = 256 << 20;

/// Offset of the root's record in a volume descriptor.
pub(super) const ROOT_RECORD: usize = 156;

/// A range of blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Extent {
    pub(super) block: u32,
    /// Length in bytes.
    pub(super) size: u32,
}

impl Extent {
    /// Returns the blocks.
    pub(super) fn blocks(self) -> std::ops::Range<u64> {
        let start = u64::from(self.block);
        start..start + u64::from(self.size).div_ceil(SECTOR)
    }
}

/// The number of a record of the disc.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Entry(usize);

/// The number of a directory of the disc.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct DirectoryId(usize);

/// A record, with those of its further extents.
pub(super) struct Record {
    /// The bytes, of the first extent.
    pub(super) raw: Vec<u8>,
    /// Its extents; of a directory one.
    pub(super) extents: Vec<Extent>,
    /// The directory that it is of.
    pub(super) directory: Option<DirectoryId>,
    /// The directory that it is in.
    parent: DirectoryId,
    /// Its node in the tree of the mount.
    pub(super) node: Option<NodeId>,
}

impl Record {
    /// Returns the identifier.
    pub(super) fn id(&self) -> &[u8] {
        let length = usize::from(self.raw[RECORD - 1]);
        self.raw.get(RECORD..RECORD + length).unwrap_or_default()
    }

    /// Returns the bytes for an extent.
    pub(super) fn bytes(&self, extent: Extent, has_more: bool) -> Vec<u8> {
        let flags = match has_more {
            true => self.raw[25] | MORE_EXTENTS,
            false => self.raw[25] & !MORE_EXTENTS,
        };
        let mut bytes = self.raw.clone();
        bytes[1] = 0;
        bytes[2..10].copy_from_slice(&both(extent.block));
        bytes[10..18].copy_from_slice(&both(extent.size));
        bytes[25] = flags;
        bytes
    }
}

/// Returns a number in both byte orders.
pub(super) fn both(number: u32) -> [u8; 8] {
    let mut bytes = [0; 8];
    bytes[..4].copy_from_slice(&number.to_le_bytes());
    bytes[4..].copy_from_slice(&number.to_be_bytes());
    bytes
}

/// A directory.
pub(super) struct Directory {
    pub(super) tree: usize,
    /// Its path, for notes.
    pub(super) path: String,
    /// Its place in the original; none for a new one.
    pub(super) old: Option<Extent>,
    /// Its place.
    pub(super) place: Extent,
    pub(super) parent: Option<DirectoryId>,
    /// Its own record and that of its parent.
    pub(super) own: [Vec<u8>; 2],
    /// The records, in order.
    pub(super) records: Vec<Entry>,
    pub(super) node: Option<NodeId>,
    /// Whether it must be written.
    pub(super) is_changed: bool,
    pub(super) is_deleted: bool,
}

/// A volume descriptor with its tree.
pub(super) struct Tree {
    /// Sector of the descriptor.
    pub(super) sector: u64,
    pub(super) descriptor: Vec<u8>,
    pub(super) is_joliet: bool,
    pub(super) root: DirectoryId,
    /// All directories, each after its parent.
    pub(super) directories: Vec<DirectoryId>,
    /// Whether directories were added or deleted.
    pub(super) is_restructured: bool,
}

/// All trees of a disc.
pub(super) struct Disc {
    pub(super) records: Vec<Record>,
    pub(super) directories: Vec<Directory>,
    pub(super) trees: Vec<Tree>,
    /// The sector after the volume descriptors.
    pub(super) descriptors_end: u64,
    pub(super) is_xa: bool,
    /// The records of nodes of the mount.
    by_node: HashMap<NodeId, Entry>,
    /// The directories of nodes of the mount.
    directory_by_node: HashMap<NodeId, DirectoryId>,
    /// The same files and directories in other trees.
    partners: HashMap<Entry, Vec<Entry>>,
    /// Number of files of the shown tree that have an extent.
    owners: HashMap<Extent, usize>,
}

impl Disc {
    /// Reads all trees. `nodes` is the tree of the mount: Joliet's, or else the
    /// primary one.
    pub(super) fn read(sectors: &Sectors, nodes: &Nodes) -> Result<Self> {
        let mut disc = Self {
            records: Vec::new(),
            directories: Vec::new(),
            trees: Vec::new(),
            descriptors_end: DESCRIPTORS,
            is_xa: false,
            by_node: HashMap::new(),
            directory_by_node: HashMap::new(),
            partners: HashMap::new(),
            owners: HashMap::new(),
        };
        let mut left = MAX_BYTES;
        for sector in DESCRIPTORS..DESCRIPTORS + MAX_DESCRIPTORS {
            let mut bytes = vec![0; SECTOR as usize];
            if read_user(sectors, sector * SECTOR, &mut bytes).is_err() || bytes[1..6] != *b"CD001"
            {
                break;
            }
            disc.descriptors_end = sector + 1;
            let kind = bytes[0];
            let is_joliet = kind == SUPPLEMENTARY && JOLIET.contains(&&bytes[88..91]);
            let is_known = disc.trees.iter().any(|tree| tree.is_joliet == is_joliet);
            if (kind == PRIMARY || is_joliet) && !is_known {
                disc.is_xa |= bytes[1024..].starts_with(b"CD-XA001");
                disc.tree(sectors, sector, bytes, is_joliet, &mut left)?;
            }
            if kind == TERMINATOR {
                break;
            }
        }
        let shown = disc.shown().ok_or_else(|| {
            Error::damaged(DESCRIPTORS * SECTOR, "volume descriptor", "is missing")
        })?;
        disc.bind(shown, nodes);
        for other in (0..disc.trees.len()).filter(|&other| other != shown) {
            let (one, two) = (disc.trees[shown].root, disc.trees[other].root);
            disc.pair(one, two);
        }
        for entry in disc.entries_of(shown) {
            if disc.record(entry).directory.is_none() {
                for extent in disc.record(entry).extents.clone() {
                    *disc.owners.entry(extent).or_default() += 1;
                }
            }
        }
        Ok(disc)
    }

    /// Returns the number of the tree that the mount shows.
    fn shown(&self) -> Option<usize> {
        let joliet = self.trees.iter().position(|tree| tree.is_joliet);
        joliet.or((!self.trees.is_empty()).then_some(0))
    }

    /// Reads the tree of a descriptor.
    fn tree(
        &mut self,
        sectors: &Sectors,
        sector: u64,
        descriptor: Vec<u8>,
        is_joliet: bool,
        left: &mut u64,
    ) -> Result<()> {
        if u16::from_le_bytes([descriptor[128], descriptor[129]]) != SECTOR as u16 {
            let text = "has blocks of another size than 2048 bytes and cannot be changed";
            return Err(Error::Unsupported(text.to_owned()));
        }
        let number = self.trees.len();
        let place = Extent {
            block: le32(&descriptor, ROOT_RECORD + 2),
            size: le32(&descriptor, ROOT_RECORD + 10),
        };
        let mut seen = HashSet::from([place.block]);
        let root = self.directory(number, None, String::new(), Some(place));
        let mut directories = Vec::new();
        let mut pending = vec![(root, 0)];
        while let Some((id, depth)) = pending.pop() {
            directories.push(id);
            let first = self.records.len();
            self.list(sectors, id, left)?;
            let inner: Vec<Entry> = (first..self.records.len()).map(Entry).collect();
            for entry in inner.into_iter().rev() {
                let record = self.record(entry);
                if record.raw[25] & DIRECTORY == 0 {
                    continue;
                }
                let place = record.extents[0];
                let name = text(record.id(), is_joliet);
                let path = format!("{}{name}/", self.directories[id.0].path);
                if depth >= MAX_DEPTH || !seen.insert(place.block) {
                    let problem = "is nested too deep or in itself";
                    let field = format!("directory /{path}");
                    let offset = u64::from(place.block) * SECTOR;
                    return Err(Error::damaged(offset, field, problem));
                }
                let inner = self.directory(number, Some(id), path, Some(place));
                self.records[entry.0].directory = Some(inner);
                pending.push((inner, depth + 1));
            }
        }
        self.trees.push(Tree {
            sector,
            descriptor,
            is_joliet,
            root,
            directories,
            is_restructured: false,
        });
        Ok(())
    }

    fn directory(
        &mut self,
        tree: usize,
        parent: Option<DirectoryId>,
        path: String,
        old: Option<Extent>,
    ) -> DirectoryId {
        self.directories.push(Directory {
            tree,
            path,
            old,
            place: old.unwrap_or(Extent { block: 0, size: 0 }),
            parent,
            own: [Vec::new(), Vec::new()],
            records: Vec::new(),
            node: None,
            is_changed: old.is_none(),
            is_deleted: false,
        });
        DirectoryId(self.directories.len() - 1)
    }

    /// Reads the records of a directory.
    fn list(&mut self, sectors: &Sectors, id: DirectoryId, left: &mut u64) -> Result<()> {
        let Extent { block, size } = self.directories[id.0].place;
        let start = u64::from(block) * SECTOR;
        let path = self.directories[id.0].path.clone();
        let damaged =
            |offset, problem: &str| Error::damaged(offset, format!("directory /{path}"), problem);
        let inside = start.saturating_add(size.into()) <= sectors.len();
        *left = match left.checked_sub(size.into()).filter(|_| inside) {
            Some(left) => left,
            None => return Err(damaged(start, "is too long or past the end of the image")),
        };
        let mut bytes = vec![0; size as usize];
        read_user(sectors, start, &mut bytes)?;
        let mut own = 0;
        let mut has_more = false;
        for (number, sector) in bytes.chunks(SECTOR as usize).enumerate() {
            let mut rest = sector;
            while let Some(&length @ 1..) = rest.first() {
                let at = start + number as u64 * SECTOR + (sector.len() - rest.len()) as u64;
                let length = usize::from(length);
                let name = rest.get(RECORD - 1).map_or(usize::MAX, |&name| name.into());
                if length <= RECORD || length > rest.len() || RECORD.saturating_add(name) > length {
                    return Err(damaged(at, "has a damaged record"));
                }
                let (raw, after) = rest.split_at(length);
                rest = after;
                if own < 2 && matches!(raw[RECORD..RECORD + name], [0 | 1]) {
                    self.directories[id.0].own[own] = raw.to_vec();
                    own += 1;
                    continue;
                }
                let extent = Extent {
                    block: le32(raw, 2).saturating_add(raw[1].into()),
                    size: le32(raw, 10),
                };
                let last = self.directories[id.0].records.last().copied();
                let last = last
                    .filter(|_| has_more)
                    .map(|last| &mut self.records[last.0]);
                has_more = raw[25] & MORE_EXTENTS != 0;
                match last.filter(|last| last.id() == &raw[RECORD..RECORD + name]) {
                    Some(last) => last.extents.push(extent),
                    None => {
                        self.records.push(Record {
                            raw: raw.to_vec(),
                            extents: vec![extent],
                            directory: None,
                            parent: id,
                            node: None,
                        });
                        let entry = Entry(self.records.len() - 1);
                        self.directories[id.0].records.push(entry);
                    }
                }
            }
        }
        match own {
            2 => Ok(()),
            _ => Err(damaged(start, "lacks its own record or that of its parent")),
        }
    }

    /// Finds the nodes of the records of a tree.
    fn bind(&mut self, tree: usize, nodes: &Nodes) {
        let mut named: HashMap<(NodeId, &[u8]), NodeId> = HashMap::new();
        for (id, node) in nodes.nodes().skip(1).filter(|(_, node)| !node.is_added) {
            named.entry((nodes.parent(id), &node.raw)).or_insert(id);
        }
        let root = self.trees[tree].root;
        self.directories[root.0].node = Some(NodeId(0));
        self.directory_by_node.insert(NodeId(0), root);
        for id in self.trees[tree].directories.clone() {
            let Some(parent) = self.directories[id.0].node else {
                continue;
            };
            for entry in self.directories[id.0].records.clone() {
                let Some(&node) = named.get(&(parent, self.record(entry).id())) else {
                    continue;
                };
                self.records[entry.0].node = Some(node);
                self.by_node.insert(node, entry);
                if let Some(inner) = self.records[entry.0].directory {
                    self.directories[inner.0].node = Some(node);
                    self.directory_by_node.insert(node, inner);
                }
            }
        }
    }

    /// Pairs the records of two directories of different trees: those with equal
    /// extents, of several those with the most similar names; directories by what
    /// is in them.
    fn pair(&mut self, one: DirectoryId, two: DirectoryId) {
        let mut left: HashMap<Vec<Extent>, Vec<Entry>> = HashMap::new();
        for &entry in &self.directories[two.0].records {
            left.entry(self.key(entry)).or_default().push(entry);
        }
        for entry in self.directories[one.0].records.clone() {
            let Some(alike) = left.get_mut(&self.key(entry)) else {
                continue;
            };
            let name = |disc: &Self, entry: Entry| {
                let record = disc.record(entry);
                let is_joliet = disc.is_joliet(record.parent);
                let text = text(record.id(), is_joliet).to_uppercase();
                text.replace(|c: char| !c.is_alphanumeric(), "_")
            };
            let wanted = name(self, entry);
            let common = |&other: &Entry| {
                let other = name(self, other);
                let pairs = wanted.chars().zip(other.chars());
                pairs.take_while(|(one, other)| one == other).count()
            };
            // Of equally similar ones the first.
            let scores: Vec<usize> = alike.iter().map(common).collect();
            let most = scores.iter().copied().max().unwrap_or_default();
            let Some(best) = scores.iter().position(|&score| score == most) else {
                continue;
            };
            let partner = alike.remove(best);
            self.partners.entry(entry).or_default().push(partner);
            let inner = |entry: Entry| self.records[entry.0].directory;
            if let (Some(one), Some(two)) = (inner(entry), inner(partner)) {
                self.pair(one, two);
            }
        }
    }

    /// Returns what is equal in the records of one entry in all trees.
    fn key(&self, entry: Entry) -> Vec<Extent> {
        let record = self.record(entry);
        let Some(directory) = record.directory else {
            return record.extents.clone();
        };
        // What cannot be the extent of a file, then everything in it.
        let mark = Extent {
            block: u32::MAX,
            size: u32::MAX,
        };
        let inner = self.directories[directory.0].records.iter();
        let mut extents: Vec<Extent> = inner.flat_map(|&entry| self.key(entry)).collect();
        extents.sort_unstable();
        extents.push(mark);
        extents
    }

    /// Returns a record.
    pub(super) fn record(&self, entry: Entry) -> &Record {
        &self.records[entry.0]
    }

    /// Returns a directory.
    pub(super) fn dir(&self, id: DirectoryId) -> &Directory {
        &self.directories[id.0]
    }

    /// Returns a directory, to be changed.
    pub(super) fn dir_mut(&mut self, id: DirectoryId) -> &mut Directory {
        &mut self.directories[id.0]
    }

    /// Returns the record of a node.
    pub(super) fn entry_of(&self, node: NodeId) -> Option<Entry> {
        self.by_node.get(&node).copied()
    }

    /// Returns the record of the file that a node shows with the whole contents of
    /// its sectors.
    pub(super) fn raw_of(&self, nodes: &Nodes, node: NodeId) -> Option<Entry> {
        if self.by_node.contains_key(&node) {
            return None;
        }
        let stem = nodes.node(node).name.strip_suffix(RAW_SUFFIX)?;
        let directory = self.directory_by_node.get(&nodes.parent(node))?;
        let mut records = self.directories[directory.0].records.iter().copied();
        records.find(|&entry| {
            let found = self.record(entry).node;
            found.is_some_and(|found| &*nodes.node(found).name == stem)
        })
    }

    /// Returns whether the mount shows the whole contents of a file's sectors
    /// beside it.
    pub(super) fn has_raw(&self, nodes: &Nodes, node: NodeId) -> bool {
        let wanted = format!("{}{RAW_SUFFIX}", nodes.node(node).name);
        let parent = nodes.parent(node);
        let mut beside = nodes.nodes().filter(|&(id, _)| nodes.parent(id) == parent);
        beside.any(|(id, beside)| *beside.name == wanted && !self.by_node.contains_key(&id))
    }

    /// Returns the same entry in the other trees.
    pub(super) fn partners(&self, entry: Entry) -> Vec<Entry> {
        self.partners.get(&entry).cloned().unwrap_or_default()
    }

    /// Returns whether only one file has an extent.
    pub(super) fn is_alone(&self, extent: Extent) -> bool {
        self.owners.get(&extent) == Some(&1)
    }

    /// Sets the extents of a file.
    pub(super) fn set_extents(&mut self, entry: Entry, extents: Vec<Extent>) {
        self.records[entry.0].extents = extents;
        let parent = self.records[entry.0].parent;
        self.directories[parent.0].is_changed = true;
    }

    /// Deletes a record, and everything in the directory that it is of.
    pub(super) fn delete(&mut self, entry: Entry) {
        let parent = self.records[entry.0].parent;
        let directory = &mut self.directories[parent.0];
        directory.records.retain(|&other| other != entry);
        directory.is_changed = true;
        let mut pending: Vec<DirectoryId> = self.records[entry.0].directory.into_iter().collect();
        while let Some(id) = pending.pop() {
            let directory = &mut self.directories[id.0];
            directory.is_deleted = true;
            self.trees[directory.tree].is_restructured = true;
            let inner = directory.records.iter();
            pending.extend(inner.filter_map(|&entry| self.records[entry.0].directory));
        }
    }

    /// Returns the directory of a node in all trees; `None` if one lacks it.
    pub(super) fn directories_of(&self, node: NodeId) -> Option<Vec<DirectoryId>> {
        let own = *self.directory_by_node.get(&node)?;
        if self.directories[own.0].parent.is_none() {
            let others = self.trees.iter().map(|tree| tree.root);
            return Some(
                [own]
                    .into_iter()
                    .chain(others.filter(|&root| root != own))
                    .collect(),
            );
        }
        let partners = self.partners(self.entry_of(node)?);
        let partners = partners
            .into_iter()
            .map(|entry| self.record(entry).directory);
        let all: Option<Vec<_>> = [Some(own)].into_iter().chain(partners).collect();
        all.filter(|all| all.len() == self.trees.len())
    }

    /// Adds an entry with these records to its directory in each tree, the shown
    /// one first. `directory` is its name if it is one.
    pub(super) fn insert(
        &mut self,
        node: NodeId,
        records: Vec<(DirectoryId, Vec<u8>)>,
        extents: Vec<Extent>,
        directory: Option<&str>,
    ) {
        let mut added = Vec::with_capacity(records.len());
        for (parent, raw) in records {
            let entry = Entry(self.records.len());
            self.records.push(Record {
                raw,
                extents: extents.clone(),
                directory: None,
                parent,
                node: None,
            });
            if let Some(name) = directory {
                let path = format!("{}{name}/", self.dir(parent).path);
                let tree = self.dir(parent).tree;
                let own = self.dir(parent).own.clone();
                let id = self.directory(tree, Some(parent), path, None);
                self.directories[id.0].own = own;
                self.records[entry.0].directory = Some(id);
                self.trees[tree].directories.push(id);
                self.trees[tree].is_restructured = true;
            }
            let at = self.position(parent, entry);
            let directory = &mut self.directories[parent.0];
            directory.records.insert(at, entry);
            directory.is_changed = true;
            added.push(entry);
        }
        let Some((&first, others)) = added.split_first() else {
            return;
        };
        self.records[first.0].node = Some(node);
        self.by_node.insert(node, first);
        self.partners.insert(first, others.to_vec());
        if let Some(id) = self.records[first.0].directory {
            self.directories[id.0].node = Some(node);
            self.directory_by_node.insert(node, id);
        }
    }

    /// Returns where a record belongs in a directory.
    fn position(&self, parent: DirectoryId, entry: Entry) -> usize {
        let records = &self.directories[parent.0].records;
        let id = self.record(entry).id();
        let is_behind = |&other: &Entry| match self.is_joliet(parent) {
            true => self.record(other).id() > id,
            false => order(self.record(other).id()) > order(id),
        };
        records.iter().position(is_behind).unwrap_or(records.len())
    }

    /// Returns whether a directory is of Joliet's tree.
    pub(super) fn is_joliet(&self, id: DirectoryId) -> bool {
        self.trees[self.directories[id.0].tree].is_joliet
    }

    /// Returns whether a directory has this identifier.
    pub(super) fn has_id(&self, parent: DirectoryId, id: &[u8]) -> bool {
        let mut records = self.directories[parent.0].records.iter();
        records.any(|&entry| self.record(entry).id() == id)
    }

    /// Returns the identifiers of the files of a tree.
    pub(super) fn file_ids(&self, tree: usize) -> impl Iterator<Item = &[u8]> {
        let files = self.entries_of(tree).into_iter();
        let files = files.filter(|&entry| self.record(entry).directory.is_none());
        files.map(|entry| self.record(entry).id())
    }

    /// Returns the records of a tree.
    fn entries_of(&self, tree: usize) -> Vec<Entry> {
        let directories = self.trees[tree].directories.iter();
        let entries = directories.flat_map(|id| &self.directories[id.0].records);
        entries.copied().collect()
    }

    /// Returns the date of the root.
    pub(super) fn date(&self) -> [u8; 7] {
        let own = &self.dir(self.trees[0].root).own[0];
        let date = own.get(18..).and_then(|bytes| bytes.first_chunk());
        date.copied().unwrap_or_default()
    }

    /// Returns whether the disc has Rock Ridge, by the first field of its root.
    pub(super) fn has_rock_ridge(&self) -> bool {
        let own = &self.dir(self.trees[0].root).own[0];
        let system_use = own.get(RECORD + 1..).unwrap_or_default();
        system_use.windows(2).take(7).any(|field| field == b"SP")
    }

    /// Returns all extents of files in all trees, and all directories.
    pub(super) fn extents(&self) -> impl Iterator<Item = Extent> {
        let files = self
            .records
            .iter()
            .filter(|record| record.directory.is_none());
        let directories = self.directories.iter().map(|directory| directory.place);
        files
            .flat_map(|record| record.extents.iter().copied())
            .chain(directories)
    }
}

/// Returns an identifier as text, for notes and for comparing trees.
fn text(id: &[u8], is_joliet: bool) -> String {
    let text = match is_joliet {
        true => encoding_rs::UTF_16BE.decode_without_bom_handling(id).0,
        false => crate::text::windows_1252(id),
    };
    let stem = text.split_once(';').map_or(&*text, |(stem, _)| stem);
    stem.trim_end_matches('.').to_owned()
}

const _: () = assert!(LONGEST.is_multiple_of(SECTOR));
