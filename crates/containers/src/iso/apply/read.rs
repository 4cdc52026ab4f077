//! Reading the directory trees of a disc, and finding the same entries in each.

use std::collections::HashMap;

use super::disc::{Directory, DirectoryId, Disc, Entry, Record, Tree};
use crate::changes::Tree as Nodes;
use crate::disc::sector::{DESCRIPTORS, SECTOR, Sectors};
use crate::io::{Error, Result};
use crate::iso::descriptors::{Descriptor, Descriptors, ROOT_RECORD};
use crate::iso::directory::{self, MAX_BYTES, NESTED, Visit, Walk, decode_id};
use crate::iso::record::{DIRECTORY, Extent, RECORD, extent_of, id_of};
use crate::volume::NodeId;

/// A directory of the walk, with its number.
type Found = directory::Directory<DirectoryId>;

impl Disc {
    /// Reads all trees of the volume from sector `first` on. `nodes` is the tree of the
    /// mount: the primary one with the names of Rock Ridge, else Joliet's, or else the
    /// primary one.
    pub(super) fn read(sectors: &Sectors, first: u64, nodes: &Nodes) -> Result<Self> {
        let descriptors = Descriptors::read(sectors, first + DESCRIPTORS)?;
        let shown = descriptors.shown;
        let mut disc = Self {
            first,
            descriptors_end: descriptors.end,
            is_xa: descriptors.trees.iter().any(Descriptor::is_xa),
            ..Self::default()
        };
        let mut left = MAX_BYTES;
        for descriptor in descriptors.trees {
            disc.tree(sectors, descriptor, &mut left)?;
        }
        disc.bind(shown, nodes);
        for other in (0..disc.trees.len()).filter(|&other| other != shown) {
            let (one, two) = (disc.trees[shown].root, disc.trees[other].root);
            disc.pair(one, two);
        }
        for entry in disc.entries_of(shown) {
            if disc.record(entry).shown_directory().is_none() {
                for extent in disc.record(entry).extents.clone() {
                    *disc.owners.entry(extent).or_default() += 1;
                }
            }
        }
        Ok(disc)
    }

    /// Reads the tree of a descriptor. Its directories may have at most `left` bytes.
    fn tree(
        &mut self,
        sectors: &Sectors,
        descriptor: Descriptor<'_>,
        left: &mut u64,
    ) -> Result<()> {
        if descriptor.block() != SECTOR {
            let text = "has blocks of another size than 2048 bytes and cannot be changed";
            return Err(Error::Unsupported(text.to_owned()));
        }
        let place = extent_of(&descriptor.bytes[ROOT_RECORD..]);
        if u64::from(place.block) < self.first {
            let text = "has positions that count from the start of its track and not of the \
                        disc, and cannot be changed";
            return Err(Error::Unsupported(text.to_owned()));
        }
        if let Some(fields) = &descriptor.system_use {
            self.system_use = Some(fields.skip());
            self.is_rock_ridge = fields.is_rock_ridge;
        }
        let number = self.trees.len();
        let root = self.directory(number, None, String::new(), Some(place));
        self.trees.push(Tree {
            sector: descriptor.sector,
            descriptor: descriptor.bytes,
            is_joliet: descriptor.is_joliet,
            root,
            directories: Vec::new(),
            is_restructured: false,
        });
        let mut walk = Walk {
            sectors,
            block: SECTOR,
            system_use: descriptor.system_use,
            left: *left,
        };
        let mut reader = Reader {
            disc: self,
            by_block: HashMap::new(),
        };
        walk.all(place, root, &mut reader)?;
        *left = walk.left;
        reader.join_relocated(number);
        Ok(())
    }

    /// Adds a directory; a new one without an old place is to be written.
    pub(super) fn directory(
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
            place: old.unwrap_or_default(),
            parent,
            is_changed: old.is_none(),
            ..Directory::default()
        });
        DirectoryId(self.directories.len() - 1)
    }

    /// Finds the nodes of the records of a tree.
    fn bind(&mut self, tree: usize, nodes: &Nodes) {
        let mut named: HashMap<(NodeId, &[u8]), NodeId> = HashMap::new();
        for (id, node) in nodes.nodes().skip(1).filter(|(_, node)| !node.is_added) {
            named.entry((nodes.parent(id), node.raw())).or_insert(id);
        }
        let root = self.trees[tree].root;
        self.directories[root.0].node = Some(NodeId(0));
        self.directory_by_node.insert(NodeId(0), root);
        let mut pending = vec![root];
        while let Some(id) = pending.pop() {
            let Some(parent) = self.directories[id.0].node else {
                continue;
            };
            for entry in self.directories[id.0].records.clone() {
                let Some(&node) = named.get(&(parent, self.record(entry).shown())) else {
                    continue;
                };
                self.records[entry.0].node = Some(node);
                self.by_node.insert(node, entry);
                if let Some(inner) = self.records[entry.0].shown_directory() {
                    self.directories[inner.0].node = Some(node);
                    self.directory_by_node.insert(node, inner);
                    pending.push(inner);
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
                let text = decode_id(record.id(), is_joliet).to_uppercase();
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
            let inner = |entry: Entry| self.record(entry).shown_directory();
            if let (Some(one), Some(two)) = (inner(entry), inner(partner)) {
                self.pair(one, two);
            }
        }
    }

    /// Returns what is equal in the records of one entry in all trees.
    fn key(&self, entry: Entry) -> Vec<Extent> {
        let record = self.record(entry);
        let Some(directory) = record.shown_directory() else {
            return record.extents.clone();
        };
        // The extents of everything in it, and one that no file can have.
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
}

/// A visitor that keeps all records of a tree in their directories.
struct Reader<'d> {
    disc: &'d mut Disc,
    /// The directories by their blocks. No two are in the same place.
    by_block: HashMap<u32, DirectoryId>,
}

impl Visit for Reader<'_> {
    type Id = DirectoryId;

    fn record<'r>(
        &mut self,
        directory: &Found,
        offset: u64,
        record: std::result::Result<&'r [u8], usize>,
    ) -> Result<Option<&'r [u8]>> {
        let fits = |raw: &&[u8]| id_of(raw).len() == usize::from(raw[RECORD - 1]);
        let raw = record.ok().filter(fits);
        let raw = raw.ok_or_else(|| directory.damaged(offset, "has a damaged record"))?;
        let own = &mut self.disc.dir_mut(directory.id).own;
        let own = own.iter_mut().find(|own| own.is_empty());
        Ok(match own.filter(|_| matches!(id_of(raw), [0 | 1])) {
            Some(own) => {
                *own = raw.to_vec();
                None
            }
            None => Some(raw),
        })
    }

    fn entry(
        &mut self,
        _: &mut Walk<'_>,
        parent: &Found,
        entry: directory::Entry,
    ) -> Result<Option<Found>> {
        let disc = &mut *self.disc;
        let mut record = Record::new(entry.raw, entry.extents, parent.id);
        // The mount shows the fields before damage, too.
        record.attributes = entry.attributes;
        let entry = Entry(disc.records.len());
        let mut inner = None;
        if record.raw[25] & DIRECTORY != 0 {
            let (tree, place) = (disc.dir(parent.id).tree, record.extents[0]);
            let name = decode_id(record.id(), disc.trees[tree].is_joliet);
            let path = format!("{}{name}/", parent.path);
            let id = disc.directory(tree, Some(parent.id), path.clone(), Some(place));
            record.directory = Some(id);
            if record.attributes.is_relocated {
                disc.dir_mut(id).relocated_by = Some(entry);
            }
            inner = Some(parent.inner(id, path, place));
        }
        disc.push(record);
        disc.dir_mut(parent.id).records.push(entry);
        Ok(inner)
    }

    fn listed(&mut self, directory: &Found) -> Result<()> {
        let found = self.disc.dir(directory.id);
        let offset = u64::from(directory.place.block) * SECTOR;
        if found.own.iter().any(Vec::is_empty) {
            let problem = "lacks its own record or that of its parent";
            return Err(directory.damaged(offset, problem));
        }
        let tree = found.tree;
        self.disc.trees[tree].directories.push(directory.id);
        let block = directory.place.block;
        match self.by_block.insert(block, directory.id) {
            None => Ok(()),
            Some(_) => Err(directory.damaged(offset, NESTED)),
        }
    }

    fn damage(&mut self, _: &Found, _: String, error: Error) -> Result<()> {
        Err(error)
    }
}

impl Reader<'_> {
    /// Finds the directories that are shown elsewhere. Each is shown once.
    fn join_relocated(mut self, tree: usize) {
        let entries = self.disc.entries_of(tree);
        let (records, directories) = (&mut self.disc.records, &self.disc.directories);
        for entry in entries {
            let record = &mut records[entry.0];
            let block = record.attributes.child;
            let found = block.and_then(|block| self.by_block.remove(&block));
            record.child = found.filter(|id| directories[id.0].relocated_by.is_some());
        }
    }
}
