//! The directory trees of a disc: the primary one and Joliet's, with every record.

use std::collections::{HashMap, HashSet};

use super::LONGEST;
use crate::changes::Tree as Nodes;
use crate::disc::sector::SECTOR;
use crate::iso::record::{Extent, MORE_EXTENTS, id_of, order, start_of};
use crate::iso::rock_ridge::Attributes;
use crate::iso::{RAW_SUFFIX, SECTOR_SUFFIXES, susp};
use crate::volume::NodeId;

/// The number of a record of the disc.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Entry(pub(super) usize);

/// The number of a directory of the disc.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct DirectoryId(pub(super) usize);

/// A record, with those of its further extents.
pub(super) struct Record {
    /// The bytes, of the first extent.
    pub(super) raw: Vec<u8>,
    /// Its extents; of a directory one.
    pub(super) extents: Vec<Extent>,
    /// The directory that it is of.
    pub(super) directory: Option<DirectoryId>,
    /// The directory that it is in.
    pub(super) parent: DirectoryId,
    /// Its node in the tree of the mount.
    pub(super) node: Option<NodeId>,
    /// Attributes from the fields of Rock Ridge and zisofs.
    pub(super) attributes: Attributes,
    /// The directory that is shown here and stands elsewhere.
    pub(super) child: Option<DirectoryId>,
}

impl Record {
    /// Creates a record in a directory.
    pub(super) fn new(raw: Vec<u8>, extents: Vec<Extent>, parent: DirectoryId) -> Self {
        Self {
            raw,
            extents,
            directory: None,
            parent,
            node: None,
            attributes: Attributes::default(),
            child: None,
        }
    }

    /// Returns the identifier.
    pub(super) fn id(&self) -> &[u8] {
        id_of(&self.raw)
    }

    /// Returns its name in the mount.
    pub(super) fn shown(&self) -> &[u8] {
        self.attributes.name.as_deref().unwrap_or(self.id())
    }

    /// Returns the directory that the mount shows for it.
    pub(super) fn shown_directory(&self) -> Option<DirectoryId> {
        match self.attributes.is_relocated {
            true => None,
            false => self.child.or(self.directory),
        }
    }

    /// Returns where the record says that its data is packed; `None` if it says
    /// so in a continuation.
    fn packing(&self, skip: usize) -> Option<std::ops::Range<usize>> {
        let start = start_of(&self.raw) + skip;
        let field = susp::find(self.raw.get(start..)?, *b"ZF")?;
        Some(start + field.start..start + field.end)
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
#[derive(Default)]
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
    /// The records, in order; removed ones until [`Disc::settle`].
    pub(super) records: Vec<Entry>,
    /// Records that [`Disc::settle`] puts among the others.
    pub(super) added: Vec<Entry>,
    pub(super) node: Option<NodeId>,
    /// The record of a directory that is shown elsewhere.
    pub(super) relocated_by: Option<Entry>,
    /// True if it must be written.
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
    /// True if directories were added or deleted.
    pub(super) is_restructured: bool,
}

/// All trees of a disc.
#[derive(Default)]
pub(super) struct Disc {
    pub(super) records: Vec<Record>,
    pub(super) directories: Vec<Directory>,
    pub(super) trees: Vec<Tree>,
    /// The sector where the volume begins, and the one after its descriptors.
    pub(super) first: u64,
    pub(super) descriptors_end: u64,
    pub(super) is_xa: bool,
    /// The offset of fields in the system use areas of the primary tree; `None`
    /// if it has none.
    pub(super) system_use: Option<usize>,
    /// True if the mount shows the names of Rock Ridge.
    pub(super) is_rock_ridge: bool,
    /// The records of nodes of the mount.
    pub(super) by_node: HashMap<NodeId, Entry>,
    /// The directories of nodes of the mount.
    pub(super) directory_by_node: HashMap<NodeId, DirectoryId>,
    /// The same files and directories in other trees.
    pub(super) partners: HashMap<Entry, Vec<Entry>>,
    /// Number of files of the shown tree that have an extent.
    pub(super) owners: HashMap<Extent, usize>,
    /// Records that are not in their directories any more.
    pub(super) removed: HashSet<Entry>,
}

impl Disc {
    /// Returns a record.
    pub(super) fn record(&self, entry: Entry) -> &Record {
        &self.records[entry.0]
    }

    /// Adds a record, which is not in its directory yet.
    pub(super) fn push(&mut self, record: Record) -> Entry {
        self.records.push(record);
        Entry(self.records.len() - 1)
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
        let name = &nodes.node(node).name;
        let mut suffixes = SECTOR_SUFFIXES.iter();
        let stem = suffixes.find_map(|suffix| name.strip_suffix(suffix))?;
        self.entry_of(named(nodes, nodes.parent(node), stem)?)
    }

    /// Returns whether the mount shows the whole contents of a file's sectors
    /// beside it.
    pub(super) fn has_raw(&self, nodes: &Nodes, node: NodeId) -> bool {
        let wanted = format!("{}{RAW_SUFFIX}", nodes.node(node).name);
        let beside = named(nodes, nodes.parent(node), &wanted);
        beside.is_some_and(|beside| !self.by_node.contains_key(&beside))
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

    /// Has a record say that its data, which is replaced, is not packed. Returns
    /// false if another part of the disc says that it is.
    #[must_use]
    pub(super) fn set_unpacked(&mut self, entry: Entry) -> bool {
        let record = &mut self.records[entry.0];
        if record.attributes.packing.is_none() {
            return true;
        }
        let Some(field) = record.packing(self.system_use.unwrap_or_default()) else {
            return false;
        };
        // Padding of the same length.
        record.raw[field.start..field.start + 2].copy_from_slice(b"PD");
        true
    }

    /// Deletes a record, and everything in the directory that it is of.
    pub(super) fn delete(&mut self, entry: Entry) {
        self.remove(entry);
        let directory = self.records[entry.0].shown_directory();
        let mut pending: Vec<DirectoryId> = directory.into_iter().collect();
        while let Some(id) = pending.pop() {
            let directory = &mut self.directories[id.0];
            directory.is_deleted = true;
            self.trees[directory.tree].is_restructured = true;
            if let Some(entry) = directory.relocated_by {
                self.remove(entry);
            }
            let inner = self.directories[id.0].records.iter();
            pending.extend(inner.filter_map(|&entry| self.record(entry).shown_directory()));
        }
    }

    /// Removes a record from its directory.
    fn remove(&mut self, entry: Entry) {
        let parent = self.records[entry.0].parent;
        self.directories[parent.0].is_changed = true;
        self.removed.insert(entry);
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
            .map(|entry| self.record(entry).shown_directory());
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
            let entry = self.push(Record::new(raw, extents.clone(), parent));
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
            let directory = &mut self.directories[parent.0];
            directory.added.push(entry);
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

    /// Leaves removed records out of their directories, and puts added ones where they
    /// belong.
    pub(super) fn settle(&mut self) {
        for number in 0..self.directories.len() {
            let directory = &self.directories[number];
            if !directory.is_changed {
                continue;
            }
            let added = directory.added.clone();
            let mut records = directory.records.clone();
            records.retain(|entry| !self.removed.contains(entry));
            let id = |entry: Entry| self.record(entry).id();
            let records = match self.is_joliet(DirectoryId(number)) {
                true => merged(records, added, id),
                false => merged(records, added, |entry| order(id(entry))),
            };
            let directory = &mut self.directories[number];
            directory.added.clear();
            directory.records = records;
        }
    }

    /// Returns whether a directory is of Joliet's tree.
    pub(super) fn is_joliet(&self, id: DirectoryId) -> bool {
        self.trees[self.directories[id.0].tree].is_joliet
    }

    /// Returns the records of a tree, without removed ones.
    pub(super) fn records_of(&self, tree: usize) -> impl Iterator<Item = &Record> {
        let entries = self.entries_of(tree).into_iter();
        let entries = entries.filter(|entry| !self.removed.contains(entry));
        entries.map(|entry| self.record(entry))
    }

    /// Returns the numbers of the records of a tree.
    pub(super) fn entries_of(&self, tree: usize) -> Vec<Entry> {
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

    /// Returns whether directories are shown elsewhere than they stand.
    pub(super) fn has_relocated(&self) -> bool {
        let mut directories = self.directories.iter();
        directories.any(|directory| directory.relocated_by.is_some())
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

/// Returns records with added ones, each before the first one whose key is larger.
fn merged<K: Ord>(
    records: Vec<Entry>,
    mut added: Vec<Entry>,
    key: impl Fn(Entry) -> K,
) -> Vec<Entry> {
    added.sort_by_cached_key(|&entry| key(entry));
    let mut added = added.into_iter().peekable();
    let mut all = Vec::with_capacity(records.len() + added.len());
    for entry in records {
        if added.peek().is_some() {
            let own = key(entry);
            while let Some(before) = added.next_if(|&new| key(new) < own) {
                all.push(before);
            }
        }
        all.push(entry);
    }
    all.extend(added);
    all
}

/// Returns the node in a directory whose name is spelled exactly like this.
fn named(nodes: &Nodes, directory: NodeId, name: &str) -> Option<NodeId> {
    let found = nodes.find(directory, name).ok()??;
    (*nodes.node(found).name == *name).then_some(found)
}

const _: () = assert!(LONGEST.is_multiple_of(SECTOR));
