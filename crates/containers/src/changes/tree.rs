//! The entries of an original, and what becomes of each.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hasher};

use hashbrown::HashTable;

use super::new_file::NewFile;
use crate::io::{Compact, Error, Result};
use crate::text::{Name, file_name, numbered};
use crate::volume::{AssetType, Entry, FileId, MAX_ENTRIES, NodeId, Sink, no_such_file};

/// The kind of a node.
#[derive(Debug, Clone, Copy)]
pub enum Kind {
    /// A directory.
    Directory,
    /// A file of the original; `None` for an added one.
    File(Option<Entry>),
    /// Another name of a file; of itself for a symbolic link by a path.
    Link(NodeId),
}

/// The fate of a node.
#[derive(Clone)]
pub enum Fate {
    /// It stays as it is.
    Kept,
    /// It has these contents: a file that is replaced or added.
    New(NewFile),
    /// It is deleted.
    Deleted,
}

/// An entry of the original, or an added one.
#[derive(Clone, Copy)]
pub struct Node<'t> {
    /// Its name in the mount.
    pub name: &'t str,
    /// Its name in the original, if that is not the bytes of its name in the mount.
    raw: Option<&'t [u8]>,
    /// Its kind.
    pub kind: Kind,
    /// Its fate.
    pub fate: &'t Fate,
    /// True if it is not in the original.
    pub is_added: bool,
}

impl<'t> Node<'t> {
    /// Returns its name in the original; empty for an added one.
    pub fn raw(self) -> &'t [u8] {
        match self.raw {
            Some(raw) => raw,
            None if self.is_added => &[],
            None => self.name.as_bytes(),
        }
    }
}

/// A node as it is kept. There may be hundreds of thousands.
struct Row {
    parent: u32,
    /// Start of its name in all names; it ends where the next one begins.
    name: u32,
    /// The next node in its directory; 0 if it is the last one.
    next: u32,
    kind: PackedKind,
    fate: Fate,
}

#[derive(Clone, Copy)]
enum RowKind {
    /// A directory, by the number of its list.
    Directory(u32),
    /// An added file.
    Added,
    /// A file of the original, by the number of its entry.
    File(u32),
    /// A link to a node.
    Link(u32),
}

/// The kind of a node: a number below 2^30, and the variant in the lowest two bits.
#[derive(Clone, Copy)]
struct PackedKind(u32);

impl From<RowKind> for PackedKind {
    fn from(kind: RowKind) -> Self {
        Self(match kind {
            RowKind::Directory(list) => list << 2,
            RowKind::Added => 1,
            RowKind::File(entry) => entry << 2 | 2,
            RowKind::Link(node) => node << 2 | 3,
        })
    }
}

impl From<PackedKind> for RowKind {
    fn from(kind: PackedKind) -> Self {
        let number = kind.0 >> 2;
        match kind.0 & 3 {
            0 => Self::Directory(number),
            1 => Self::Added,
            2 => Self::File(number),
            _ => Self::Link(number),
        }
    }
}

/// A file of the original as it is kept.
struct FileRow {
    file: FileId,
    /// The number of its asset type; `u32::MAX` without one.
    asset: u32,
    /// In bytes; `u64::MAX` if it is not known.
    size: u64,
    /// In seconds since 1970 UTC; `i64::MIN` if it is not known.
    modified: i64,
}

/// The first and the last node of a directory; 0 without any.
#[derive(Clone, Copy, Default)]
struct List {
    first: u32,
    last: u32,
}

/// The entries of an original in the order of its directory, then the added
/// ones. Node 0 is the root.
pub struct Tree {
    rows: Vec<Row>,
    /// The contents of each directory.
    lists: Vec<List>,
    /// The names of all nodes. They have at most 255 bytes each, which is less than 4 GiB
    /// together.
    names: String,
    /// Other names of nodes, which were numbered.
    renamed: HashMap<u32, Box<str>>,
    /// Names in the original that are not the bytes of names in the mount.
    raw: HashMap<u32, Box<[u8]>>,
    /// The files of the original.
    entries: Vec<FileRow>,
    /// The types of those that are assets.
    assets: Vec<AssetType>,
    /// The node of each file, by its number; 0 if it has none.
    files: Vec<u32>,
    /// The nodes of the original, by their directories and names without case.
    by_name: Vec<u32>,
    /// The first added node.
    first_added: usize,
    /// The added nodes by the hashes of their directories and names without case.
    added_by_name: HashTable<u32>,
}

impl Default for Tree {
    fn default() -> Self {
        let root = Row {
            parent: 0,
            name: 0,
            next: 0,
            kind: RowKind::Directory(0).into(),
            fate: Fate::Kept,
        };
        Self {
            rows: vec![root],
            lists: vec![List::default()],
            names: String::new(),
            renamed: HashMap::new(),
            raw: HashMap::new(),
            entries: Vec::new(),
            assets: Vec::new(),
            files: Vec::new(),
            by_name: Vec::new(),
            first_added: usize::MAX,
            added_by_name: HashTable::new(),
        }
    }
}

impl Tree {
    fn row(&self, node: NodeId) -> &Row {
        &self.rows[node.0 as usize]
    }

    /// Returns a node.
    ///
    /// # Panics
    /// Panics if the node is not of this tree.
    pub fn node(&self, node: NodeId) -> Node<'_> {
        let row = self.row(node);
        Node {
            name: self.name(node.0),
            raw: self.raw.get(&node.0).map(|raw| &**raw),
            kind: match row.kind.into() {
                RowKind::Directory(_) => Kind::Directory,
                RowKind::Added => Kind::File(None),
                RowKind::File(entry) => Kind::File(Some(self.entry(entry))),
                RowKind::Link(file) => Kind::Link(NodeId(file)),
            },
            fate: &row.fate,
            is_added: node.0 as usize >= self.first_added,
        }
    }

    fn entry(&self, number: u32) -> Entry {
        let row = &self.entries[number as usize];
        Entry {
            file: row.file,
            size: (row.size != u64::MAX).then_some(row.size),
            modified: (row.modified != i64::MIN).then_some(row.modified),
            asset: self.assets.get(row.asset as usize).copied(),
        }
    }

    fn name(&self, node: u32) -> &str {
        if let Some(renamed) = self.renamed.get(&node) {
            return renamed;
        }
        let (own, next) = (&self.rows[node as usize], self.rows.get(node as usize + 1));
        let end = next.map_or(self.names.len(), |next| next.name as usize);
        &self.names[own.name as usize..end]
    }

    /// Returns all entries of a directory, in order.
    fn all_children(&self, directory: NodeId) -> impl Iterator<Item = NodeId> {
        let some = |node: u32| (node > 0).then_some(NodeId(node));
        let list = match self.row(directory).kind.into() {
            RowKind::Directory(list) => self.lists[list as usize],
            _ => List::default(),
        };
        let first = some(list.first);
        std::iter::successors(first, move |&node| some(self.row(node).next))
    }

    /// Returns all nodes, deleted ones included; each after its parent.
    pub fn nodes(&self) -> impl Iterator<Item = (NodeId, Node<'_>)> {
        let ids = (0..self.rows.len() as u32).map(NodeId);
        ids.map(|id| (id, self.node(id)))
    }

    /// Returns the number of nodes.
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns the entries of a directory that are not deleted, in order.
    pub fn children(&self, node: NodeId) -> impl Iterator<Item = NodeId> {
        let children = self.all_children(node);
        children.filter(|&child| !self.is_deleted(child))
    }

    /// Returns the directory of a node.
    pub fn parent(&self, node: NodeId) -> NodeId {
        NodeId(self.row(node).parent)
    }

    /// Returns the path of a node, without a slash at either end.
    pub fn path(&self, node: NodeId) -> String {
        let mut parts = Vec::new();
        let mut at = node;
        while at.0 != 0 {
            parts.push(self.name(at.0));
            at = self.parent(at);
        }
        parts.reverse();
        parts.join("/")
    }

    /// Returns whether a node is deleted.
    pub fn is_deleted(&self, node: NodeId) -> bool {
        matches!(self.row(node).fate, Fate::Deleted)
    }

    /// Returns the node of a file of the original.
    pub fn node_of(&self, file: FileId) -> Option<NodeId> {
        let node = self.files.get(file.0 as usize).copied();
        node.filter(|&node| node > 0).map(NodeId)
    }

    /// Returns the new contents of a file of the original, if it is replaced.
    pub fn new_of(&self, file: FileId) -> Option<&NewFile> {
        self.new_at(self.node_of(file)?)
    }

    /// Returns the new contents of a node, if it has any.
    pub fn new_at(&self, node: NodeId) -> Option<&NewFile> {
        match &self.row(node).fate {
            Fate::New(new) => Some(new),
            _ => None,
        }
    }

    /// Returns whether a file of the original is deleted.
    pub fn is_file_deleted(&self, file: FileId) -> bool {
        self.node_of(file).is_some_and(|node| self.is_deleted(node))
    }

    /// Returns the added nodes, each after its parent.
    pub fn added(&self) -> impl Iterator<Item = (NodeId, Node<'_>)> {
        let first = self.first_added.min(self.rows.len());
        let nodes = self.nodes().skip(first);
        nodes.filter(|(_, node)| !matches!(node.fate, Fate::Deleted))
    }

    /// Returns the added files with their contents.
    pub fn added_files(&self) -> impl Iterator<Item = (NodeId, &NewFile)> {
        self.added()
            .filter_map(|(id, _)| Some((id, self.new_at(id)?)))
    }

    /// Returns the added directories, each after its parent.
    pub fn added_directories(&self) -> impl Iterator<Item = NodeId> {
        let directories = self.added();
        let directories = directories.filter(|(_, node)| matches!(node.kind, Kind::Directory));
        directories.map(|(id, _)| id)
    }

    /// Returns the deleted nodes of the original, each after its parent.
    pub fn deleted(&self) -> impl Iterator<Item = (NodeId, Node<'_>)> {
        let nodes = self.nodes();
        nodes.filter(|(_, node)| !node.is_added && matches!(node.fate, Fate::Deleted))
    }

    /// Returns whether an entry is added or deleted.
    pub fn is_restructured(&self) -> bool {
        self.added().next().is_some() || self.deleted().next().is_some()
    }

    /// Returns whether an entry of a directory is added or deleted.
    pub fn is_restructured_in(&self, directory: NodeId) -> bool {
        let mut children = self.all_children(directory);
        children.any(|child| self.node(child).is_added != self.is_deleted(child))
    }

    /// Returns whether anything becomes of an entry.
    pub(crate) fn is_changed(&self) -> bool {
        let mut rows = self.rows.iter();
        self.rows.len() > self.first_added || rows.any(|row| !matches!(row.fate, Fate::Kept))
    }

    /// Ends the declaration of the original: its entries have the names of the mount
    /// from now on, and are found by these.
    pub(crate) fn complete(&mut self) {
        self.number_duplicates();
        self.first_added = self.rows.len();
        let mut by_name: Vec<u32> = (1..self.rows.len() as u32).collect();
        let key = |&node: &u32| (self.rows[node as usize].parent, folded(self.name(node)));
        by_name.sort_by(|one, other| {
            let ((parent, name), (other_parent, other_name)) = (key(one), key(other));
            parent.cmp(&other_parent).then_with(|| name.cmp(other_name))
        });
        self.by_name = by_name;
    }

    /// Numbers the entries of a directory that have equal names, except for the
    /// last one of each, as the mount does.
    fn number_duplicates(&mut self) {
        for directory in 0..self.rows.len() as u32 {
            let children = self.all_children(NodeId(directory));
            let children: Vec<u32> = children.map(|child| child.0).collect();
            let name = |tree: &Self, child: u32| -> Box<str> { tree.name(child).into() };
            let mut taken: HashSet<Box<str>> = HashSet::with_capacity(children.len());
            // From the last one on, which keeps its name.
            let mut equal: Vec<u32> = children.iter().rev().copied().collect();
            equal.retain(|&child| !taken.insert(name(self, child)));
            let mut numbers: HashMap<Box<str>, usize> = HashMap::new();
            for child in equal.into_iter().rev() {
                let plain = name(self, child);
                let number = numbers.entry(plain.clone()).or_default();
                let unique = loop {
                    *number += 1;
                    let candidate: Box<str> = numbered(&plain, *number).into();
                    if taken.insert(candidate.clone()) {
                        break candidate;
                    }
                };
                self.raw.entry(child).or_insert_with(|| plain.into());
                self.renamed.insert(child, unique);
            }
        }
    }

    /// Sets what becomes of a node.
    pub(crate) fn set(&mut self, node: NodeId, fate: Fate) {
        self.rows[node.0 as usize].fate = fate;
    }

    /// Deletes a node and everything in it, and returns the number of nodes.
    pub(super) fn delete(&mut self, node: NodeId) -> usize {
        let mut pending = vec![node];
        let mut count = 0;
        while let Some(at) = pending.pop() {
            count += usize::from(!self.is_deleted(at));
            self.set(at, Fate::Deleted);
            pending.extend(self.all_children(at));
        }
        count
    }

    /// Adds a directory that is not in the original.
    pub(super) fn add_directory(&mut self, parent: NodeId, name: &str) -> NodeId {
        let list = self.new_list();
        self.add(parent, name, list, Fate::Kept)
    }

    /// Adds a file that is not in the original.
    pub(super) fn add_file(&mut self, parent: NodeId, name: &str, new: NewFile) -> NodeId {
        self.add(parent, name, RowKind::Added, Fate::New(new))
    }

    fn add(&mut self, parent: NodeId, name: &str, kind: RowKind, fate: Fate) -> NodeId {
        self.first_added = self.first_added.min(self.rows.len());
        let node = self.push(parent, name, kind, fate);
        let mut added = std::mem::take(&mut self.added_by_name);
        let hash_of = |&node: &u32| hash(self.parent(NodeId(node)), self.name(node));
        added.insert_unique(hash_of(&node.0), node.0, hash_of);
        self.added_by_name = added;
        node
    }

    /// Declares a symbolic link. A file that replaces it is its own, and not that of
    /// its target.
    ///
    /// # Errors
    /// Returns an error if there are too many entries.
    pub fn symbolic_link(&mut self, parent: NodeId, name: Name<'_>) -> Result<NodeId> {
        let own = self.rows.len() as u32;
        self.declare(parent, name, RowKind::Link(own))
    }

    /// Returns the file that a link refers to, or the node itself.
    pub fn resolve(&self, node: NodeId) -> NodeId {
        match self.row(node).kind.into() {
            RowKind::Link(file) => NodeId(file),
            _ => node,
        }
    }

    /// Finds an entry of a directory: the one with this spelling, else the only
    /// one that differs in the case of ASCII letters.
    ///
    /// # Errors
    /// Returns the names of several that differ in case.
    pub(crate) fn find(
        &self,
        directory: NodeId,
        name: &str,
    ) -> std::result::Result<Option<NodeId>, Vec<&str>> {
        let place = |&node: &u32| {
            let parent = self.rows[node as usize].parent.cmp(&directory.0);
            parent.then_with(|| folded(self.name(node)).cmp(folded(name)))
        };
        let first = self.by_name.partition_point(|node| place(node).is_lt());
        let own = self.by_name[first..].iter();
        let own = own.take_while(|node| place(node).is_eq());
        let alike: Vec<u32> = own.copied().chain(self.added_as(directory, name)).collect();
        let mut exact = alike.iter();
        if let Some(&exact) = exact.find(|&&node| self.name(node) == name) {
            return Ok(Some(NodeId(exact)));
        }
        match alike[..] {
            [] => Ok(None),
            [only] => Ok(Some(NodeId(only))),
            _ => {
                let names = alike.iter().map(|&child| self.name(child));
                Err(names.collect())
            }
        }
    }

    /// Returns the added entries of a directory with a name, without case.
    fn added_as(&self, directory: NodeId, name: &str) -> impl Iterator<Item = u32> {
        let all = self.added_by_name.iter_hash(hash(directory, name)).copied();
        all.filter(move |&node| {
            let is_here = self.rows[node as usize].parent == directory.0;
            is_here && self.name(node).eq_ignore_ascii_case(name)
        })
    }

    /// Returns the file that a directory of this name would be a companion of.
    pub(super) fn companion(&self, parent: NodeId, name: &str, suffix: &str) -> Option<NodeId> {
        let split = name.len().checked_sub(suffix.len())?;
        let (stem, end) = (name.get(..split)?, name.get(split..)?);
        if !end.eq_ignore_ascii_case(suffix) {
            return None;
        }
        let node = self.resolve(self.find(parent, stem).ok()??);
        let is_file = matches!(self.node(node).kind, Kind::File(_));
        (is_file && !self.is_deleted(node)).then_some(node)
    }

    /// Returns the kind of a new directory.
    fn new_list(&mut self) -> RowKind {
        self.lists.push(List::default());
        RowKind::Directory(self.lists.len() as u32 - 1)
    }

    fn push(&mut self, parent: NodeId, name: &str, kind: RowKind, fate: Fate) -> NodeId {
        let id = self.rows.len() as u32;
        if let RowKind::Directory(list) = self.row(parent).kind.into() {
            let list = &mut self.lists[list as usize];
            match std::mem::replace(&mut list.last, id) {
                0 => list.first = id,
                before => self.rows[before as usize].next = id,
            }
        }
        self.rows.make_room(1);
        self.rows.push(Row {
            parent: parent.0,
            name: self.names.len() as u32,
            next: 0,
            kind: kind.into(),
            fate,
        });
        self.names.make_room(name.len());
        self.names.push_str(name);
        NodeId(id)
    }

    fn declare(&mut self, parent: NodeId, name: Name<'_>, kind: RowKind) -> Result<NodeId> {
        if self.rows.len() > MAX_ENTRIES {
            let text = format!("has more than {MAX_ENTRIES} entries");
            return Err(Error::Unsupported(text));
        }
        let raw = name.raw;
        let name = file_name(name);
        let node = self.push(parent, &name, kind, Fate::Kept);
        if *raw != *name.as_bytes() {
            self.raw.insert(node.0, raw.into());
        }
        Ok(node)
    }
}

/// Returns the bytes of a name with ASCII letters in lower case.
pub(super) fn folded(name: &str) -> impl Iterator<Item = u8> {
    name.bytes().map(|byte| byte.to_ascii_lowercase())
}

/// Returns a number of an entry of a directory, by its name without case.
fn hash(directory: NodeId, name: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write_u32(directory.0);
    folded(name).for_each(|byte| hasher.write_u8(byte));
    hasher.finish()
}

impl Sink for Tree {
    fn root(&self) -> NodeId {
        NodeId(0)
    }

    fn dir(&mut self, parent: NodeId, name: Name<'_>, _modified: Option<i64>) -> Result<NodeId> {
        let list = self.new_list();
        self.declare(parent, name, list)
    }

    fn file(&mut self, parent: NodeId, name: Name<'_>, entry: Entry) -> Result<NodeId> {
        let number = entry.file.0 as usize;
        if number > MAX_ENTRIES {
            return Err(no_such_file(entry.file));
        }
        let node = self.declare(parent, name, RowKind::File(self.entries.len() as u32))?;
        self.entries.make_room(1);
        let asset = match entry.asset {
            Some(_) => self.assets.len() as u32,
            None => u32::MAX,
        };
        self.assets.make_room(usize::from(entry.asset.is_some()));
        self.assets.extend(entry.asset);
        self.entries.push(FileRow {
            file: entry.file,
            asset,
            size: entry.size.unwrap_or(u64::MAX),
            modified: entry.modified.unwrap_or(i64::MIN),
        });
        if self.files.len() <= number {
            self.files.make_room(number + 1 - self.files.len());
            self.files.resize(number + 1, 0);
        }
        self.files[number] = node.0;
        Ok(node)
    }

    fn link(&mut self, parent: NodeId, name: Name<'_>, file: NodeId) -> Result<()> {
        let file = self.resolve(file);
        self.declare(parent, name, RowKind::Link(file.0))
            .map(|_| ())
    }

    fn symlink(&mut self, parent: NodeId, name: Name<'_>, asset: Entry) -> Result<()> {
        let file = self.node_of(asset.file);
        self.link(parent, name, file.ok_or_else(|| no_such_file(asset.file))?)
    }
}
