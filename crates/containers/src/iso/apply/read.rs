//! Reading the directory trees of a disc, and finding the same entries in each.

use std::collections::{HashMap, HashSet};

use super::disc::{Directory, DirectoryId, Disc, Entry, Extent, Record, Tree, text};
use crate::changes::Tree as Nodes;
use crate::disc::sector::{DESCRIPTORS, SECTOR, Sectors, read_user};
use crate::io::{Error, ReadAt, Result};
use crate::iso::descriptors::{Descriptor, Descriptors, ROOT_RECORD};
use crate::iso::record::{DIRECTORY, MORE_EXTENTS, RECORD, area_of, id_of, le32, records};
use crate::iso::rock_ridge::Attributes;
use crate::iso::susp::SystemUse;
use crate::volume::{MAX_DEPTH, NodeId};

/// Maximum number of bytes of all directories.
const MAX_BYTES: u64 = 256 << 20;

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

    /// Reads the tree of a descriptor.
    fn tree(
        &mut self,
        sectors: &Sectors,
        descriptor: Descriptor<'_>,
        left: &mut u64,
    ) -> Result<()> {
        let Descriptor {
            sector, is_joliet, ..
        } = descriptor;
        if descriptor.block() != SECTOR {
            let text = "has blocks of another size than 2048 bytes and cannot be changed";
            return Err(Error::Unsupported(text.to_owned()));
        }
        let number = self.trees.len();
        let place = Extent {
            block: le32(&descriptor.bytes, ROOT_RECORD + 2),
            size: le32(&descriptor.bytes, ROOT_RECORD + 10),
        };
        if u64::from(place.block) < self.first {
            let text = "has positions that count from the start of its track and not of the \
                        disc, and cannot be changed";
            return Err(Error::Unsupported(text.to_owned()));
        }
        let mut seen = HashSet::from([place.block]);
        let mut fields = descriptor.system_use;
        if let Some(fields) = &fields {
            self.system_use = Some(fields.skip());
            self.is_rock_ridge = fields.is_rock_ridge;
        }
        let root = self.directory(number, None, String::new(), Some(place));
        let mut directories = Vec::new();
        let mut pending = vec![(root, 0)];
        while let Some((id, depth)) = pending.pop() {
            directories.push(id);
            let first = self.records.len();
            self.list(sectors, id, left)?;
            self.read_fields(first, fields.as_mut())?;
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
                let record = &mut self.records[entry.0];
                record.directory = Some(inner);
                if record.attributes.is_relocated {
                    self.directories[inner.0].relocated_by = Some(entry);
                }
                pending.push((inner, depth + 1));
            }
        }
        self.join_relocated(&directories);
        self.trees.push(Tree {
            sector,
            descriptor: descriptor.bytes,
            is_joliet,
            root,
            directories,
            is_restructured: false,
        });
        Ok(())
    }

    /// Reads the fields of the records from number `first` on.
    fn read_fields(&mut self, first: usize, fields: Option<&mut SystemUse<'_>>) -> Result<()> {
        let Some(fields) = fields else {
            return Ok(());
        };
        for record in &mut self.records[first..] {
            // The mount shows the fields before the damage, too.
            record.attributes = Attributes::read(fields, area_of(&record.raw))?.0;
        }
        Ok(())
    }

    /// Finds the directories that are shown elsewhere. Each is shown once.
    fn join_relocated(&mut self, directories: &[DirectoryId]) {
        let relocated = directories.iter().map(|&id| (id, self.dir(id)));
        let relocated = relocated.filter(|(_, directory)| directory.relocated_by.is_some());
        let mut by_block: HashMap<u32, DirectoryId> = relocated
            .map(|(id, directory)| (directory.place.block, id))
            .collect();
        let entries = directories
            .iter()
            .flat_map(|id| &self.directories[id.0].records);
        for entry in entries.copied().collect::<Vec<_>>() {
            let record = &mut self.records[entry.0];
            let block = record.attributes.child;
            record.child = block.and_then(|block| by_block.remove(&block));
        }
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
        let (mut own, mut has_more) = (0, false);
        let sectors = (start..)
            .step_by(SECTOR as usize)
            .zip(bytes.chunks(SECTOR as usize));
        let records = sectors.flat_map(|(start, sector)| {
            records(sector).map(move |(at, record)| (start + at as u64, record))
        });
        for (at, raw) in records {
            let fits = |raw: &&[u8]| id_of(raw).len() == usize::from(raw[RECORD - 1]);
            let raw = raw.ok().filter(fits);
            let raw = raw.ok_or_else(|| damaged(at, "has a damaged record"))?;
            if own < 2 && matches!(id_of(raw), [0 | 1]) {
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
            match last.filter(|last| last.id() == id_of(raw)) {
                Some(last) => last.extents.push(extent),
                None => {
                    let record = Record::new(raw.to_vec(), vec![extent], id);
                    let entry = self.push(record);
                    self.directories[id.0].records.push(entry);
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
