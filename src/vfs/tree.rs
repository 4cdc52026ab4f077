//! The tree of a mount: inodes and directory entries, packed.
//!
//! A tree is built once, by a [`TreeBuilder`] that archives announce their
//! entries to, and does not change afterwards. An inode takes 40 bytes, a
//! directory entry 16 and its name; an archive adds at most 20 for a file.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;

use super::companion::{Companions, Shows};
use super::names;
use super::{FileKind, Ino};
use crate::archive::{Entry, FileId, MAX_ENTRIES, NodeId, Sink};
use crate::io;

/// Number of an inode in its [`Tree`]; the root has 0.
pub(super) type Index = u32;

/// The root of every tree.
pub(super) const ROOT: Index = 0;

/// Size of a generated text that nobody has asked for yet.
const NOT_MADE: u64 = u64::MAX;

/// What an inode is.
#[derive(Debug, Clone, Copy)]
pub(super) enum Kind {
    /// A directory whose entries stand together.
    Dir {
        /// First of them in `Tree::dentries`.
        first: u32,
        /// Their number.
        count: u32,
    },
    /// A file of one of the tree's archives.
    File {
        /// The archive's number in the tree.
        archive: u32,
        /// The file's number in the archive.
        file: FileId,
    },
    /// A symbolic link to another inode of the tree.
    Symlink {
        /// What it leads to.
        target: Index,
    },
    /// A symbolic link whose text is given.
    Verbatim {
        /// Where the text begins in `Tree::names`.
        start: u32,
        /// Bytes of the text.
        length: u32,
    },
    /// A directory of a folder on disk, listed when somebody enters it.
    HostDir {
        /// The folder's number in the tree.
        archive: u32,
        /// The directory's number in the folder.
        file: FileId,
    },
    /// A directory that shows what is inside a file, made when somebody
    /// enters it.
    Companion {
        /// The file.
        of: Index,
        /// What of it is shown.
        shows: Shows,
    },
}

impl Kind {
    /// The kind that users see.
    pub(super) fn file_kind(self) -> FileKind {
        match self {
            Self::Dir { .. } | Self::HostDir { .. } | Self::Companion { .. } => FileKind::Directory,
            Self::File { .. } => FileKind::File,
            Self::Symlink { .. } | Self::Verbatim { .. } => FileKind::Symlink,
        }
    }
}

/// A directory before its entries are counted.
const EMPTY_DIR: Kind = Kind::Dir { first: 0, count: 0 };

/// An inode.
#[derive(Debug, Clone)]
pub(super) struct Inode {
    size: u64,
    /// Modification time in seconds since 1970 UTC.
    pub(super) modified: i64,
    /// What it is.
    pub(super) kind: Kind,
    /// The directory of its first entry; the root's is the root.
    pub(super) parent: Index,
    /// Its first entry in `Tree::dentries`; the root has none.
    dentry: u32,
    /// Number of its entries (for a directory: 2 and its subdirectories).
    pub(super) nlink: u32,
}

impl Inode {
    /// Decoded size in bytes; `None` for a text that is yet to be made.
    pub(super) fn size(&self) -> Option<u64> {
        (self.size != NOT_MADE).then_some(self.size)
    }
}

/// A directory entry.
#[derive(Debug, Clone)]
struct Dentry {
    /// Where the name begins in `Tree::names`.
    name: u32,
    /// Bytes of the name.
    length: u8,
    inode: Index,
    /// Place `n` of a directory holds the number of the entry that is `n`th
    /// by name.
    by_name: u32,
}

/// An immutable tree.
#[derive(Debug)]
pub(super) struct Tree {
    inodes: Vec<Inode>,
    dentries: Vec<Dentry>,
    names: String,
    /// Raw names of the inodes that are not shown under them, letter for
    /// letter.
    raw_names: HashMap<Index, Box<[u8]>>,
    /// Decoded bytes of all files.
    total_size: u64,
    /// The directory in another tree as which this tree's root is seen.
    pub(super) origin: Option<Ino>,
    /// The mount's number of the tree's archive number 0.
    pub(super) first_volume: u32,
}

impl Tree {
    /// The inode with number `index`.
    pub(super) fn inode(&self, index: Index) -> Option<&Inode> {
        self.inodes.get(index as usize)
    }

    /// Number of inodes.
    pub(super) fn len(&self) -> u32 {
        self.inodes.len() as u32
    }

    /// Decoded bytes of all files together.
    pub(super) fn total_size(&self) -> u64 {
        self.total_size
    }

    /// Memory that the tree takes, in bytes.
    pub(super) fn memory(&self) -> usize {
        self.inodes.capacity() * size_of::<Inode>()
            + self.dentries.capacity() * size_of::<Dentry>()
            + self.names.capacity()
    }

    /// Name of the inode's first entry; empty for the root.
    pub(super) fn name(&self, index: Index) -> &str {
        self.inode(index)
            .and_then(|inode| self.dentries.get(inode.dentry as usize))
            .map_or("", |dentry| self.dentry_name(dentry))
    }

    /// The bytes that the archive has for the name of the inode.
    pub(super) fn raw_name(&self, index: Index) -> &[u8] {
        match self.raw_names.get(&index) {
            Some(raw) => raw,
            None => self.name(index).as_bytes(),
        }
    }

    /// Path from the root, without a leading slash.
    pub(super) fn path(&self, index: Index) -> String {
        let mut names = Vec::new();
        let mut at = index;
        while at != ROOT {
            let Some(inode) = self.inode(at) else { break };
            names.push(self.name(at));
            at = inode.parent;
        }
        names.reverse();
        names.join("/")
    }

    /// Text of a symbolic link from the directory of `link` to `target`.
    fn link_text(&self, link: Index, target: Index) -> String {
        let directory = self.inode(link).map_or(ROOT, |inode| inode.parent);
        let (from, to) = (self.path(directory), self.path(target));
        let mut from: Vec<&str> = from.split('/').filter(|name| !name.is_empty()).collect();
        let mut to: Vec<&str> = to.split('/').collect();
        let common = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
        from.drain(..common);
        to.drain(..common);
        let mut text = "../".repeat(from.len());
        text.push_str(&to.join("/"));
        text
    }

    /// Text of a symbolic link, `None` for another inode.
    pub(super) fn link(&self, index: Index) -> Option<Cow<'_, str>> {
        match self.inode(index)?.kind {
            Kind::Symlink { target } => Some(self.link_text(index, target).into()),
            Kind::Verbatim { start, length } => {
                let (start, length) = (start as usize, length as usize);
                Some(self.names.get(start..start + length)?.into())
            }
            _ => None,
        }
    }

    /// The entries of a directory from number `start` on: names and inodes.
    pub(super) fn entries(
        &self,
        directory: Index,
        start: usize,
    ) -> impl Iterator<Item = (&str, Index)> {
        let mut range = self.range(directory);
        range.start = range.start.saturating_add(start).min(range.end);
        self.dentries[range]
            .iter()
            .map(|dentry| (self.dentry_name(dentry), dentry.inode))
    }

    /// Finds an entry by its name: the exact spelling first, then, if `fold`,
    /// the last entry that differs from it in the case of ASCII letters.
    pub(super) fn find(&self, directory: Index, name: &str, fold: bool) -> Option<(&str, Index)> {
        let dentries = &self.dentries[self.range(directory)];
        let nth = |place: &Dentry| &dentries[place.by_name as usize];
        let folded = |dentry: &Dentry| compare_folded(self.dentry_name(dentry), name);
        let lower = dentries.partition_point(|place| folded(nth(place)).is_lt());
        let same = &dentries[lower..];
        let same = &same[..same.partition_point(|place| folded(nth(place)).is_eq())];
        let found = same
            .binary_search_by(|place| self.dentry_name(nth(place)).cmp(name))
            .ok()
            .map(|exact| nth(&same[exact]));
        let found = found.or_else(|| {
            let last = same.iter().map(|place| place.by_name).max();
            last.filter(|_| fold).map(|last| &dentries[last as usize])
        });
        found.map(|dentry| (self.dentry_name(dentry), dentry.inode))
    }

    fn range(&self, directory: Index) -> Range<usize> {
        match self.inode(directory).map(|inode| inode.kind) {
            Some(Kind::Dir { first, count }) => first as usize..(first + count) as usize,
            _ => 0..0,
        }
    }

    fn dentry_name(&self, dentry: &Dentry) -> &str {
        let start = dentry.name as usize;
        &self.names[start..start + usize::from(dentry.length)]
    }

    /// Order of the names in a directory: by folded name, then by spelling.
    fn compare(&self, a: &Dentry, b: &Dentry) -> Ordering {
        let (a, b) = (self.dentry_name(a), self.dentry_name(b));
        compare_folded(a, b).then_with(|| a.cmp(b))
    }
}

/// Compares two names without regard to the case of ASCII letters.
fn compare_folded(a: &str, b: &str) -> Ordering {
    let fold = u8::to_ascii_lowercase;
    let (a, b) = (a.as_bytes().iter(), b.as_bytes().iter());
    a.map(fold).cmp(b.map(fold))
}

/// Takes in entries and makes a [`Tree`] of them.
pub(super) struct TreeBuilder {
    tree: Tree,
    /// Which files have companions.
    companions: Companions,
    /// Entries and their directories; while they come, those of `tree` are
    /// empty.
    entries: Vec<(Index, Dentry)>,
    /// The archive whose entries are announced.
    archive: u32,
    /// The directory that stands for it.
    root: Index,
    /// Modification time of what has none of its own.
    modified: i64,
}

impl TreeBuilder {
    /// A builder with an empty root directory.
    pub(super) fn new(modified: i64, companions: Companions) -> Self {
        let root = Inode {
            size: 0,
            modified,
            kind: EMPTY_DIR,
            parent: ROOT,
            dentry: u32::MAX,
            nlink: 2,
        };
        Self {
            tree: Tree {
                inodes: vec![root],
                dentries: Vec::new(),
                names: String::new(),
                raw_names: HashMap::new(),
                total_size: 0,
                origin: None,
                first_volume: 0,
            },
            companions,
            entries: Vec::new(),
            archive: 0,
            root: ROOT,
            modified,
        }
    }

    /// Adds a directory to the root that stands for a source called `name`.
    pub(super) fn source_dir(&mut self, name: &OsStr) -> io::Result<NodeId> {
        self.root = ROOT;
        self.host_entry(name, 0, EMPTY_DIR)
    }

    /// Adds a generated text whose name is not an archive's raw one.
    pub(super) fn text(&mut self, parent: NodeId, name: &str, file: FileId) -> io::Result<()> {
        let archive = self.archive;
        let node = self.add_inode(parent, NOT_MADE, Kind::File { archive, file });
        let shown = names::host_name(OsStr::new(name));
        self.add_dentry(parent, &shown, name.as_bytes(), node)
    }

    /// Gives companions to files without a known extension as well.
    pub(super) fn show_others(&mut self, shows: Option<Shows>) {
        self.companions.others = shows;
    }

    /// Adds a directory of the folder on disk that is announced.
    pub(super) fn host_subdir(
        &mut self,
        name: &OsStr,
        modified: i64,
        file: FileId,
    ) -> io::Result<()> {
        let archive = self.archive;
        let node = self.host_entry(name, 0, Kind::HostDir { archive, file })?;
        self.tree.inodes[node.0 as usize].modified = modified;
        Ok(())
    }

    /// Adds a file of the folder on disk that is announced.
    pub(super) fn host_file(
        &mut self,
        name: &OsStr,
        modified: i64,
        size: u64,
        file: FileId,
    ) -> io::Result<()> {
        let archive = self.archive;
        let node = self.host_entry(name, size, Kind::File { archive, file })?;
        self.tree.inodes[node.0 as usize].modified = modified;
        self.tree.total_size = self.tree.total_size.saturating_add(size);
        Ok(())
    }

    /// Adds a symbolic link that stands on disk.
    pub(super) fn host_link(&mut self, name: &OsStr, modified: i64, text: &str) -> io::Result<()> {
        let start = self.tree.names.len() as u32;
        self.tree.names.push_str(text);
        let length = text.len() as u32;
        let node = self.host_entry(name, 0, Kind::Verbatim { start, length })?;
        self.tree.inodes[node.0 as usize].modified = modified;
        Ok(())
    }

    fn host_entry(&mut self, name: &OsStr, size: u64, kind: Kind) -> io::Result<NodeId> {
        let parent = NodeId(self.root);
        let node = self.add_inode(parent, size, kind);
        let shown = names::host_name(name);
        self.add_dentry(parent, &shown, name.as_bytes(), node)?;
        Ok(node)
    }

    /// What is announced from now on belongs to `archive` and stands below
    /// the directory `root`; it is as old as `modified` where it does not say
    /// otherwise.
    pub(super) fn begin(&mut self, archive: u32, root: NodeId, modified: i64) {
        self.archive = archive;
        self.root = root.0;
        self.modified = modified;
        self.tree.inodes[root.0 as usize].modified = modified;
    }

    /// Sorts the entries by directory, gives every one a name of its own, and
    /// adds the companions.
    pub(super) fn finish(mut self) -> Tree {
        self.group_by_directory();
        self.name_entries();
        if self.add_companions() {
            self.group_by_directory();
            self.name_entries();
        }
        let tree = &mut self.tree;
        tree.inodes.shrink_to_fit();
        tree.dentries.shrink_to_fit();
        tree.names.shrink_to_fit();
        self.tree
    }

    /// Brings the entries of each directory together, in the order in which
    /// they came.
    fn group_by_directory(&mut self) {
        // Stable, and linear where one directory came after the other.
        self.entries.sort_by_key(|&(directory, _)| directory);
        let inodes = &mut self.tree.inodes;
        for (place, (directory, _)) in self.entries.iter().enumerate() {
            if let Kind::Dir { first, count } = &mut inodes[*directory as usize].kind {
                if *count == 0 {
                    *first = place as u32;
                }
                *count += 1;
            }
        }
        for (place, (directory, dentry)) in self.entries.iter().enumerate().rev() {
            let inode = &mut inodes[dentry.inode as usize];
            if inode.parent == *directory {
                inode.dentry = place as u32;
            }
        }
        let entries = std::mem::take(&mut self.entries);
        self.tree.dentries = entries.into_iter().map(|(_, dentry)| dentry).collect();
    }

    fn name_entries(&mut self) {
        for directory in 0..self.tree.inodes.len() {
            let range = self.tree.range(directory as Index);
            if range.is_empty() {
                continue;
            }
            sort_by_name(&mut self.tree, range.clone());
            if number_duplicates(&mut self.tree, range.clone()) {
                sort_by_name(&mut self.tree, range);
            }
        }
    }

    /// Adds `X.d` and `X.meta` beside the files `X` that have them, unless
    /// there is a real entry of that name. Says whether there were any; then
    /// the entries have to be grouped again.
    fn add_companions(&mut self) -> bool {
        let tree = &self.tree;
        let mut found = Vec::new();
        for directory in 0..tree.len() {
            for (name, file) in tree.entries(directory, 0) {
                let is_file = matches!(tree.inodes[file as usize].kind, Kind::File { .. });
                let Some(shows) = self.companions.of(name).filter(|_| is_file) else {
                    continue;
                };
                let companion = names::host_name(OsStr::new(&shows.name_beside(name))).into_owned();
                if tree.find(directory, &companion, false).is_none() {
                    found.push((directory, companion, Kind::Companion { of: file, shows }));
                }
            }
        }
        if found.is_empty() {
            return false;
        }
        self.ungroup();
        for (directory, name, kind) in found {
            let node = self.add_inode(NodeId(directory), 0, kind);
            // Too many entries: the real ones come first.
            let _ = self.add_dentry(NodeId(directory), &name, name.as_bytes(), node);
        }
        true
    }

    /// Undoes [`Self::group_by_directory`].
    fn ungroup(&mut self) {
        let tree = &mut self.tree;
        let ranges: Vec<_> = (0..tree.len()).map(|index| tree.range(index)).collect();
        for (directory, range) in ranges.into_iter().enumerate() {
            let dentries = tree.dentries[range].iter().cloned();
            self.entries
                .extend(dentries.map(|dentry| (directory as Index, dentry)));
            if let Kind::Dir { count, .. } = &mut tree.inodes[directory].kind {
                *count = 0;
            }
        }
        tree.dentries.clear();
    }

    fn add(&mut self, parent: NodeId, raw: &[u8], size: u64, kind: Kind) -> io::Result<NodeId> {
        let node = self.add_inode(parent, size, kind);
        self.add_dentry(parent, &names::display_name(raw), raw, node)?;
        Ok(node)
    }

    fn add_inode(&mut self, parent: NodeId, size: u64, kind: Kind) -> NodeId {
        let node = self.tree.inodes.len();
        let is_dir = kind.file_kind() == FileKind::Directory;
        self.tree.inodes.push(Inode {
            size,
            modified: self.modified,
            kind,
            parent: parent.0,
            dentry: u32::MAX,
            // A directory is linked by its own `.` as well, and each of its
            // subdirectories links to it.
            nlink: is_dir.into(),
        });
        if is_dir {
            self.tree.inodes[parent.0 as usize].nlink += 1;
        }
        NodeId(node as u32)
    }

    fn add_dentry(
        &mut self,
        parent: NodeId,
        name: &str,
        raw: &[u8],
        node: NodeId,
    ) -> io::Result<()> {
        let tree = &mut self.tree;
        let start = u32::try_from(tree.names.len());
        let (Ok(start), true) = (start, self.entries.len() < MAX_ENTRIES) else {
            return Err(io::Error::Unsupported(format!(
                "has more than {MAX_ENTRIES} entries"
            )));
        };
        tree.names.push_str(name);
        let dentry = Dentry {
            name: start,
            length: u8::try_from(name.len()).unwrap_or(u8::MAX),
            inode: node.0,
            by_name: 0,
        };
        self.entries.push((parent.0, dentry));
        tree.inodes[node.0 as usize].nlink += 1;
        if name.as_bytes() != raw {
            tree.raw_names.entry(node.0).or_insert_with(|| raw.into());
        }
        Ok(())
    }
}

impl Sink for TreeBuilder {
    fn root(&self) -> NodeId {
        NodeId(self.root)
    }

    fn dir(&mut self, parent: NodeId, name: &[u8]) -> io::Result<NodeId> {
        self.add(parent, name, 0, EMPTY_DIR)
    }

    fn file(&mut self, parent: NodeId, name: &[u8], entry: Entry) -> io::Result<NodeId> {
        let kind = Kind::File {
            archive: self.archive,
            file: entry.file,
        };
        let node = self.add(parent, name, entry.size.unwrap_or(NOT_MADE), kind)?;
        let size = entry.size.unwrap_or(0);
        self.tree.total_size = self.tree.total_size.saturating_add(size);
        if let Some(modified) = entry.modified {
            self.tree.inodes[node.0 as usize].modified = modified;
        }
        Ok(node)
    }

    fn link(&mut self, parent: NodeId, name: &[u8], file: NodeId) -> io::Result<()> {
        self.add_dentry(parent, &names::display_name(name), name, file)
    }

    fn symlink(&mut self, parent: NodeId, name: &[u8], target: NodeId) -> io::Result<()> {
        self.add(parent, name, 0, Kind::Symlink { target: target.0 })?;
        Ok(())
    }
}

/// Fills the `by_name` order of one directory.
fn sort_by_name(tree: &mut Tree, range: Range<usize>) {
    let mut order: Vec<u32> = (0..range.len() as u32).collect();
    let dentries = &tree.dentries[range.clone()];
    order.sort_by(|&a, &b| {
        let (first, second) = (&dentries[a as usize], &dentries[b as usize]);
        tree.compare(first, second).then(a.cmp(&b))
    });
    for (dentry, place) in tree.dentries[range].iter_mut().zip(order) {
        dentry.by_name = place;
    }
}

/// Numbers the entries of a sorted directory that have the same name, all but
/// the last one: the games find the last. Says whether there were any.
fn number_duplicates(tree: &mut Tree, range: Range<usize>) -> bool {
    let entry = |tree: &Tree, place: usize| range.start + tree.dentries[place].by_name as usize;
    let renamed: Vec<usize> = range
        .clone()
        .skip(1)
        .map(|place| (entry(tree, place - 1), entry(tree, place)))
        .filter(|&(a, b)| {
            tree.dentry_name(&tree.dentries[a]) == tree.dentry_name(&tree.dentries[b])
        })
        .map(|(earlier, _)| earlier)
        .collect();
    if renamed.is_empty() {
        return false;
    }
    let mut taken: HashSet<String> = tree.dentries[range]
        .iter()
        .map(|dentry| tree.dentry_name(dentry).to_owned())
        .collect();
    let mut numbers: HashMap<String, usize> = HashMap::new();
    for place in renamed {
        let name = tree.dentry_name(&tree.dentries[place]).to_owned();
        let number = numbers.entry(name.clone()).or_default();
        let unique = loop {
            *number += 1;
            let candidate = names::numbered(&name, *number);
            if taken.insert(candidate.clone()) {
                break candidate;
            }
        };
        let inode = tree.dentries[place].inode;
        tree.raw_names
            .entry(inode)
            .or_insert_with(|| name.into_bytes().into());
        tree.dentries[place].name = tree.names.len() as u32;
        tree.dentries[place].length = unique.len() as u8;
        tree.names.push_str(&unique);
    }
    true
}
