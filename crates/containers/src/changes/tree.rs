//! The entries of an original, and what becomes of each.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hasher};

use super::new_file::NewFile;
use crate::io::{Error, Result};
use crate::text::{Name, file_name, numbered};
use crate::volume::{Entry, FileId, MAX_ENTRIES, NodeId, Sink, no_such_file};

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

/// What becomes of a node.
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
pub struct Node {
    parent: u32,
    /// Its name in the mount.
    pub name: Box<str>,
    /// Its name in the original, if that is not the bytes of its name in the mount.
    raw: Option<Box<[u8]>>,
    /// Its kind.
    pub kind: Kind,
    /// What becomes of it.
    pub fate: Fate,
    /// Whether it is not in the original.
    pub is_added: bool,
    /// The added node before it with the same hash; 0 if there is none.
    before: u32,
    children: Vec<u32>,
}

impl Node {
    /// Returns its name in the original; empty for an added one.
    pub fn raw(&self) -> &[u8] {
        match &self.raw {
            Some(raw) => raw,
            None if self.is_added => &[],
            None => self.name.as_bytes(),
        }
    }
}

/// The entries of an original in the order of its directory, then the added
/// ones. Node 0 is the root.
pub struct Tree {
    nodes: Vec<Node>,
    /// The node of each file, by its number.
    files: HashMap<FileId, u32>,
    /// The nodes of the original, by their directories and names without case.
    by_name: Vec<u32>,
    /// The last one of the added nodes, by the hash of their directories and names
    /// without case.
    added_by_name: HashMap<u64, u32>,
}

impl Default for Tree {
    fn default() -> Self {
        let root = Node {
            parent: 0,
            name: "".into(),
            raw: None,
            kind: Kind::Directory,
            fate: Fate::Kept,
            is_added: false,
            before: 0,
            children: Vec::new(),
        };
        Self {
            nodes: vec![root],
            files: HashMap::new(),
            by_name: Vec::new(),
            added_by_name: HashMap::new(),
        }
    }
}

impl Tree {
    /// Returns a node.
    ///
    /// # Panics
    /// Panics if the node is not of this tree.
    pub fn node(&self, node: NodeId) -> &Node {
        &self.nodes[node.0 as usize]
    }

    /// Returns all nodes, deleted ones included; each after its parent.
    pub fn nodes(&self) -> impl Iterator<Item = (NodeId, &Node)> {
        (0..).map(NodeId).zip(&self.nodes)
    }

    /// Returns the entries of a directory that are not deleted, in order.
    pub fn children(&self, node: NodeId) -> impl Iterator<Item = NodeId> {
        let children = self.node(node).children.iter().copied().map(NodeId);
        children.filter(|&child| !self.is_deleted(child))
    }

    /// Returns the directory of a node.
    pub fn parent(&self, node: NodeId) -> NodeId {
        NodeId(self.node(node).parent)
    }

    /// Returns the path of a node, without a slash at either end.
    pub fn path(&self, node: NodeId) -> String {
        let mut parts = Vec::new();
        let mut at = node;
        while at.0 != 0 {
            parts.push(&*self.node(at).name);
            at = self.parent(at);
        }
        parts.reverse();
        parts.join("/")
    }

    /// Returns whether a node is deleted.
    pub fn is_deleted(&self, node: NodeId) -> bool {
        matches!(self.node(node).fate, Fate::Deleted)
    }

    /// Returns the node of a file of the original.
    pub fn node_of(&self, file: FileId) -> Option<NodeId> {
        self.files.get(&file).copied().map(NodeId)
    }

    /// Returns the new contents of a file of the original, if it is replaced.
    pub fn new_of(&self, file: FileId) -> Option<&NewFile> {
        self.new_at(self.node_of(file)?)
    }

    /// Returns the new contents of a node, if it has any.
    pub fn new_at(&self, node: NodeId) -> Option<&NewFile> {
        match &self.node(node).fate {
            Fate::New(new) => Some(new),
            _ => None,
        }
    }

    /// Returns whether a file of the original is deleted.
    pub fn is_file_deleted(&self, file: FileId) -> bool {
        self.node_of(file).is_some_and(|node| self.is_deleted(node))
    }

    /// Returns the added nodes, each after its parent.
    pub fn added(&self) -> impl Iterator<Item = (NodeId, &Node)> {
        let nodes = self.nodes();
        nodes.filter(|(_, node)| node.is_added && !matches!(node.fate, Fate::Deleted))
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
    pub fn deleted(&self) -> impl Iterator<Item = (NodeId, &Node)> {
        let nodes = self.nodes();
        nodes.filter(|(_, node)| !node.is_added && matches!(node.fate, Fate::Deleted))
    }

    /// Returns whether an entry is added or deleted.
    pub fn is_restructured(&self) -> bool {
        self.added().next().is_some() || self.deleted().next().is_some()
    }

    /// Returns whether an entry of a directory is added or deleted.
    pub fn is_restructured_in(&self, directory: NodeId) -> bool {
        let mut children = self.node(directory).children.iter().copied().map(NodeId);
        children.any(|child| self.node(child).is_added != self.is_deleted(child))
    }

    /// Returns whether anything becomes of an entry.
    pub(crate) fn is_changed(&self) -> bool {
        self.nodes
            .iter()
            .any(|node| !matches!(node.fate, Fate::Kept) || node.is_added)
    }

    /// Ends the declaration of the original: its entries have the names of the mount
    /// from now on, and are found by these.
    pub(crate) fn complete(&mut self) {
        self.number_duplicates();
        self.by_name = (1..self.nodes.len() as u32).collect();
        let nodes = &self.nodes;
        let key = |&node: &u32| {
            (
                nodes[node as usize].parent,
                folded(&nodes[node as usize].name),
            )
        };
        self.by_name.sort_by(|one, other| {
            let ((parent, name), (other_parent, other_name)) = (key(one), key(other));
            parent.cmp(&other_parent).then_with(|| name.cmp(other_name))
        });
    }

    /// Numbers the entries of a directory that have equal names, except for the
    /// last one of each, as the mount does.
    fn number_duplicates(&mut self) {
        for directory in 0..self.nodes.len() {
            let children = self.nodes[directory].children.clone();
            let name = |tree: &Self, child: u32| tree.nodes[child as usize].name.clone();
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
                let node = &mut self.nodes[child as usize];
                node.raw.get_or_insert_with(|| plain.into());
                node.name = unique;
            }
        }
    }

    /// Sets what becomes of a node.
    pub(crate) fn set(&mut self, node: NodeId, fate: Fate) {
        self.nodes[node.0 as usize].fate = fate;
    }

    /// Deletes a node and everything in it, and returns the number of nodes.
    pub(super) fn delete(&mut self, node: NodeId) -> usize {
        let mut pending = vec![node.0];
        let mut count = 0;
        while let Some(at) = pending.pop() {
            let node = &mut self.nodes[at as usize];
            count += usize::from(!matches!(node.fate, Fate::Deleted));
            node.fate = Fate::Deleted;
            pending.extend(&node.children);
        }
        count
    }

    /// Adds an entry that is not in the original.
    pub(super) fn add(&mut self, parent: NodeId, name: &str, kind: Kind, fate: Fate) -> NodeId {
        let number = self.nodes.len() as u32;
        let before = self.added_by_name.insert(hash(parent, name), number);
        self.push(Node {
            parent: parent.0,
            name: name.into(),
            raw: None,
            kind,
            fate,
            is_added: true,
            before: before.unwrap_or(0),
            children: Vec::new(),
        })
    }

    /// Declares a symbolic link. A file that replaces it is its own, and not that of
    /// its target.
    ///
    /// # Errors
    /// Returns an error if there are too many entries.
    pub fn symbolic_link(&mut self, parent: NodeId, name: Name<'_>) -> Result<NodeId> {
        let own = NodeId(self.nodes.len() as u32);
        self.declare(parent, name, Kind::Link(own))
    }

    /// Returns the file that a link refers to, or the node itself.
    pub(crate) fn resolve(&self, node: NodeId) -> NodeId {
        match self.node(node).kind {
            Kind::Link(file) => file,
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
            let node = &self.nodes[node as usize];
            let parent = node.parent.cmp(&directory.0);
            parent.then_with(|| folded(&node.name).cmp(folded(name)))
        };
        let first = self.by_name.partition_point(|node| place(node).is_lt());
        let own = self.by_name[first..].iter();
        let own = own.take_while(|node| place(node).is_eq());
        let alike: Vec<u32> = own.copied().chain(self.added_as(directory, name)).collect();
        let mut exact = alike.iter();
        if let Some(&exact) = exact.find(|&&node| &*self.nodes[node as usize].name == name) {
            return Ok(Some(NodeId(exact)));
        }
        match alike[..] {
            [] => Ok(None),
            [only] => Ok(Some(NodeId(only))),
            _ => {
                let names = alike.iter().map(|&child| &*self.nodes[child as usize].name);
                Err(names.collect())
            }
        }
    }

    /// Returns the added entries of a directory with a name, without case.
    fn added_as(&self, directory: NodeId, name: &str) -> impl Iterator<Item = u32> {
        let last = self.added_by_name.get(&hash(directory, name)).copied();
        let all = std::iter::successors(last, |&node| match self.nodes[node as usize].before {
            0 => None,
            before => Some(before),
        });
        all.filter(move |&node| {
            let node = &self.nodes[node as usize];
            node.parent == directory.0 && node.name.eq_ignore_ascii_case(name)
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

    fn push(&mut self, node: Node) -> NodeId {
        let id = self.nodes.len() as u32;
        self.nodes[node.parent as usize].children.push(id);
        self.nodes.push(node);
        NodeId(id)
    }

    fn declare(&mut self, parent: NodeId, name: Name<'_>, kind: Kind) -> Result<NodeId> {
        if self.nodes.len() > MAX_ENTRIES {
            let text = format!("has more than {MAX_ENTRIES} entries");
            return Err(Error::Unsupported(text));
        }
        let raw = name.raw;
        let name: Box<str> = file_name(name).into();
        let node = Node {
            parent: parent.0,
            raw: (*raw != *name.as_bytes()).then(|| raw.into()),
            name,
            kind,
            fate: Fate::Kept,
            is_added: false,
            before: 0,
            children: Vec::new(),
        };
        Ok(self.push(node))
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
        self.declare(parent, name, Kind::Directory)
    }

    fn file(&mut self, parent: NodeId, name: Name<'_>, entry: Entry) -> Result<NodeId> {
        let node = self.declare(parent, name, Kind::File(Some(entry)))?;
        self.files.insert(entry.file, node.0);
        Ok(node)
    }

    fn link(&mut self, parent: NodeId, name: Name<'_>, file: NodeId) -> Result<()> {
        let file = self.resolve(file);
        self.declare(parent, name, Kind::Link(file)).map(|_| ())
    }

    fn symlink(&mut self, parent: NodeId, name: Name<'_>, asset: Entry) -> Result<()> {
        let file = self.node_of(asset.file);
        self.link(parent, name, file.ok_or_else(|| no_such_file(asset.file))?)
    }
}
