//! Building of trees from the entries of archives or of a merge.

mod by_name;
mod companions;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use self::by_name::{equal_names, number_duplicates, sort_by_name};
use super::{
    Dentry, EMPTY_DIR, Index, Inode, InodeKind, MAX_SIZE, NO_INODE, NOT_MADE, ROOT, RawNames, Tree,
};
use crate::memory::budget::Charge;
use crate::namespace::companion::{self, Companions, Shows};
use crate::namespace::{FileKind, Ino};
use hpimount_containers::format::Ambiguous;
use hpimount_containers::io::{self, Compact};
use hpimount_containers::text::file_name;
use hpimount_containers::volume::{AssetType, Entry, FileId, MAX_ENTRIES, Name, NodeId, Sink};

/// Number of inodes after which the memory of a tree is accounted for again.
const CHARGED_AT_ONCE: usize = 4096;

/// Returns whether a file of a size, which has some ambiguous extensions, is an archive.
type IsArchive<'a> = &'a dyn Fn(FileId, u64, &mut dyn Iterator<Item = &Ambiguous>) -> bool;

/// A sink of entries that builds a [`Tree`] from them.
pub struct TreeBuilder {
    tree: Tree,
    /// Companions of the files.
    companions: Companions,
    /// Asset types given by volumes, if they affect companions.
    assets: HashMap<Index, AssetType>,
    /// Files that are recognized as archives by their first bytes.
    by_head: HashSet<Index>,
    /// Entries and their directories; until they are grouped, those of `tree`
    /// are empty.
    entries: Vec<(Index, Dentry)>,
    /// The volume whose entries are added.
    volume: u32,
    /// Default modification time.
    modified: i64,
    /// Accounts for the memory of the tree.
    charge: Option<Charge>,
    /// Bytes that the caller needs in addition while it builds the tree.
    temporary: usize,
}

/// A name: as it is shown, and as it is in the source.
pub struct Label<'a> {
    shown: Cow<'a, str>,
    raw: &'a [u8],
}

impl<'a> Label<'a> {
    /// Returns the name of an entry.
    pub fn new(name: Name<'a>) -> Self {
        let raw = name.raw;
        let shown = file_name(name);
        Self { shown, raw }
    }

    /// Returns the name of an inode of another tree.
    pub fn of(tree: &'a Tree, index: Index) -> Self {
        Self {
            shown: tree.plain_name(index).into(),
            raw: tree.raw_name(index),
        }
    }
}

/// An inode to be added.
#[derive(Debug, Clone, Copy)]
pub struct NewInode {
    /// Its kind.
    pub kind: InodeKind,
    /// Decoded size in bytes; `None` for a text that is not generated yet.
    pub size: Option<u64>,
    /// Modification time in seconds since 1970 UTC; `None` for that of the
    /// archive.
    pub modified: Option<i64>,
}

impl NewInode {
    /// A directory.
    pub const DIR: Self = Self {
        kind: EMPTY_DIR,
        size: Some(0),
        modified: None,
    };
}

impl TreeBuilder {
    /// Creates a builder with an empty root directory, for the entries of the
    /// tree's volume number `volume`. `modified` is their default time.
    pub fn new(volume: u32, modified: i64, companions: Companions) -> Self {
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
                links: Vec::new(),
                modes: Vec::new(),
                raw_names: RawNames::default(),
                plain_names: HashMap::new(),
                hiding: Vec::new(),
                hidden_volumes: Vec::new(),
                assets: Vec::new(),
                total_size: 0,
            },
            companions,
            assets: HashMap::new(),
            by_head: HashSet::new(),
            entries: Vec::new(),
            volume,
            modified,
            charge: None,
            temporary: 0,
        }
    }

    /// Sets the charge that accounts for the memory of the tree as it grows.
    pub fn charge(&mut self, charge: Charge) {
        self.charge = Some(charge);
    }

    /// Accounts for `bytes` that are needed in addition to the tree while it is
    /// built.
    ///
    /// # Errors
    /// Returns an error if the budget does not have enough memory.
    pub fn needs_temporarily(&mut self, bytes: usize) -> io::Result<()> {
        self.temporary = bytes;
        self.account()
    }

    /// Gives companions to files without a known extension as well.
    pub fn show_others(&mut self, shows: Option<Shows>) {
        self.companions.others = shows;
    }

    /// Lists `converted` in the root.
    pub fn list_converted(&mut self) {
        self.companions.converted = true;
    }

    /// Makes the root, which has no entries, show an inode of another tree.
    pub fn root_shows(&mut self, of: Ino, shows: Shows) {
        self.tree.inodes[ROOT as usize].kind = InodeKind::ForeignCompanion { of, shows };
        self.tree.inodes[ROOT as usize].nlink = 1;
    }

    /// Treats all files with ambiguous extensions as archives, except for those
    /// with extensions that hardly ever belong to one.
    pub fn trust_extensions(&mut self) {
        self.note_archives(false, &|_, _, known| known.next().is_some());
    }

    /// Examines the files with ambiguous extensions. `is_archive` returns whether a file
    /// of a size that has some of them is an archive. `in_blocks` is set if every read
    /// decodes a block.
    pub fn probe(&mut self, in_blocks: bool, is_archive: IsArchive<'_>) {
        self.note_archives(!in_blocks, is_archive);
    }

    fn note_archives(&mut self, tests_all: bool, is_archive: IsArchive<'_>) {
        if !self.companions.inside {
            return;
        }
        for (_, dentry) in &self.entries {
            let inode = &self.tree.inodes[dentry.inode as usize];
            let InodeKind::File { file, .. } = inode.kind else {
                continue;
            };
            let name = self.tree.dentry_name(dentry);
            let mut known = companion::ambiguous(name, inode.size, tests_all);
            if is_archive(file, inode.size, &mut known) {
                self.by_head.insert(dentry.inode);
            }
        }
    }

    /// Returns the kind of a file of the volume whose entries are added.
    pub fn file_kind(&self, file: FileId) -> InodeKind {
        let volume = self.volume;
        InodeKind::File { volume, file }
    }

    /// Returns the kind of a symbolic link with this text.
    ///
    /// # Errors
    /// Returns an error if the texts of all links are too long together.
    pub fn link_kind(&mut self, text: &[u8]) -> io::Result<InodeKind> {
        let links = &mut self.tree.links;
        let (start, length) = (links.len(), text.len());
        let end = u32::try_from(start + length);
        end.map_err(|_| too_many("bytes in the texts of symbolic links", u32::MAX as usize))?;
        links.extend_from_slice(text);
        Ok(InodeKind::Verbatim {
            start: start as u32,
            length: length as u32,
        })
    }

    /// Omits the companions.
    pub fn without_companions(self) -> Self {
        Self {
            companions: Companions::NONE,
            ..self
        }
    }

    /// Records the volumes where `node`, the last one added, hides something.
    pub fn hides(&mut self, node: NodeId, volumes: impl Iterator<Item = u32>) {
        let tree = &mut self.tree;
        let before = tree.hidden_volumes.len();
        tree.hidden_volumes.extend(volumes);
        if tree.hidden_volumes.len() > before {
            let end = tree.hidden_volumes.len() as u32;
            tree.hiding.push((node.0, end));
        }
    }

    /// Adds an inode and its first entry.
    ///
    /// # Errors
    /// Returns an error if there are too many entries.
    pub fn add(
        &mut self,
        parent: NodeId,
        label: &Label<'_>,
        inode: NewInode,
    ) -> io::Result<NodeId> {
        let node = NodeId(self.tree.inodes.len() as u32);
        if self.tree.inodes.len().is_multiple_of(CHARGED_AT_ONCE) {
            self.account()?;
        }
        let is_dir = inode.kind.file_kind() == FileKind::Directory;
        let size = inode.size.unwrap_or(0);
        self.tree.total_size = self.tree.total_size.saturating_add(size);
        self.tree.inodes.push(Inode {
            // A larger size is damage, which reading the file reports.
            size: inode.size.map_or(NOT_MADE, |size| size.min(MAX_SIZE)),
            modified: inode.modified.unwrap_or(self.modified),
            kind: inode.kind,
            parent: parent.0,
            dentry: u32::MAX,
            // A directory is linked by its own `.` as well, and by each of its
            // subdirectories. Those of a directory that is built on demand are
            // unknown: it has 1 link, as `find` expects.
            nlink: matches!(inode.kind, InodeKind::Dir { .. }).into(),
        });
        if is_dir {
            self.tree.inodes[parent.0 as usize].nlink += 1;
        }
        self.add_dentry(parent, label, node)?;
        Ok(node)
    }

    fn add_dentry(&mut self, parent: NodeId, label: &Label<'_>, node: NodeId) -> io::Result<()> {
        let tree = &mut self.tree;
        let start = u32::try_from(tree.names.len());
        let (Ok(name), true) = (start, self.entries.len() < MAX_ENTRIES) else {
            return Err(too_many("entries", MAX_ENTRIES));
        };
        tree.names.push_str(&label.shown);
        let dentry = Dentry {
            name,
            length: u8::try_from(label.shown.len()).unwrap_or(u8::MAX),
            inode: node.0,
            by_name: 0,
        };
        self.entries.push((parent.0, dentry));
        tree.inodes[node.0 as usize].nlink += 1;
        if label.shown.as_bytes() != label.raw {
            tree.raw_names.add(node.0, label.raw);
        }
        Ok(())
    }

    /// Records the inode of an asset of the first volume. Volumes number their assets
    /// from 0, without large gaps.
    fn add_asset(&mut self, file: FileId, index: Index) {
        let (assets, number) = (&mut self.tree.assets, file.0 as usize);
        if number >= assets.len() && number < MAX_ENTRIES {
            assets.resize(number + 1, NO_INODE);
        }
        if let Some(asset) = assets.get_mut(number) {
            *asset = index;
        }
    }

    /// Accounts for the memory that the tree has grown to.
    fn account(&mut self) -> io::Result<()> {
        let memory = self.tree.memory()
            + self.temporary
            + self.entries.capacity() * (size_of::<(Index, Dentry)>() + size_of::<Dentry>());
        match &mut self.charge {
            Some(charge) => charge.grow_beyond(memory),
            None => Ok(()),
        }
    }

    /// Sorts the entries by directory, makes their names unique, and adds the
    /// companions.
    ///
    /// # Errors
    /// Returns an error if the budget does not have enough memory.
    pub fn finish_charged(mut self) -> io::Result<(Tree, Option<Charge>)> {
        self.account()?;
        let mut charge = self.charge.take();
        let tree = self.finish();
        if let Some(charge) = &mut charge {
            charge.grow_beyond(tree.memory())?;
        }
        Ok((tree, charge))
    }

    /// Like [`TreeBuilder::finish_charged`], for a tree that is not accounted
    /// for.
    pub fn finish(mut self) -> Tree {
        let real = self.tree.inodes.len();
        let mut has_companions = self.add_companions_by_extension();
        self.group_by_directory();
        let mut is_unique = self.sort_entries();
        if has_companions && !is_unique {
            // The companions are named after the numbered entries.
            has_companions = false;
            self.ungroup();
            self.remove_companions_from(real);
            self.group_by_directory();
            is_unique = self.sort_entries();
        }
        if !is_unique {
            self.number_entries();
        }
        if !has_companions && self.add_companions() {
            self.group_by_directory();
            if !self.sort_entries() {
                self.number_entries();
            }
        }
        let tree = &mut self.tree;
        tree.assets.compact();
        tree.inodes.compact();
        tree.dentries.compact();
        tree.names.compact();
        tree.raw_names.compact();
        tree.links.compact();
        tree.modes.compact();
        tree.hiding.compact();
        tree.hidden_volumes.compact();
        self.tree
    }

    /// Groups the entries by directory, in order of insertion.
    fn group_by_directory(&mut self) {
        // Stable, and linear if the directories came one after the other.
        self.entries.sort_by_key(|&(directory, _)| directory);
        let inodes = &mut self.tree.inodes;
        for (position, (directory, _)) in self.entries.iter().enumerate() {
            if let InodeKind::Dir { first, count } = &mut inodes[*directory as usize].kind {
                if *count == 0 {
                    *first = position as u32;
                }
                *count += 1;
            }
        }
        for (position, (directory, dentry)) in self.entries.iter().enumerate().rev() {
            let inode = &mut inodes[dentry.inode as usize];
            if inode.parent == *directory {
                inode.dentry = position as u32;
            }
        }
        let entries = std::mem::take(&mut self.entries);
        self.tree.dentries = entries.into_iter().map(|(_, dentry)| dentry).collect();
    }

    /// Sorts the entries of every directory by name; returns whether all names
    /// in each directory differ.
    fn sort_entries(&mut self) -> bool {
        let mut is_unique = true;
        for directory in 0..self.tree.inodes.len() {
            let range = self.tree.range(directory as Index);
            if !range.is_empty() {
                sort_by_name(&mut self.tree, range.clone());
                is_unique &= equal_names(&self.tree, range).next().is_none();
            }
        }
        is_unique
    }

    /// Makes the names of all sorted entries unique.
    fn number_entries(&mut self) {
        for directory in 0..self.tree.inodes.len() {
            let range = self.tree.range(directory as Index);
            if number_duplicates(&mut self.tree, range.clone()) {
                sort_by_name(&mut self.tree, range);
            }
        }
    }

    /// Undoes [`Self::group_by_directory`].
    fn ungroup(&mut self) {
        let tree = &mut self.tree;
        let ranges: Vec<_> = (0..tree.inodes()).map(|index| tree.range(index)).collect();
        for (directory, range) in ranges.into_iter().enumerate() {
            let dentries = tree.dentries[range].iter().cloned();
            self.entries
                .extend(dentries.map(|dentry| (directory as Index, dentry)));
            if let InodeKind::Dir { count, .. } = &mut tree.inodes[directory].kind {
                *count = 0;
            }
        }
        tree.dentries.clear();
    }
}

impl Sink for TreeBuilder {
    fn root(&self) -> NodeId {
        NodeId(ROOT)
    }

    fn expect(&mut self, entries: usize) {
        let entries = entries.min(MAX_ENTRIES);
        // Companions are added once, after all files, and are no more than
        // these.
        self.tree.inodes.reserve_exact(entries);
        self.entries.reserve_exact(entries);
    }

    fn dir(&mut self, parent: NodeId, name: Name<'_>, modified: Option<i64>) -> io::Result<NodeId> {
        let inode = NewInode {
            modified,
            ..NewInode::DIR
        };
        self.add(parent, &Label::new(name), inode)
    }

    fn lists_later(&self) -> bool {
        true
    }

    fn deferred_dir(
        &mut self,
        parent: NodeId,
        name: Name<'_>,
        directory: FileId,
        modified: Option<i64>,
    ) -> io::Result<NodeId> {
        let volume = self.volume;
        let inode = NewInode {
            kind: InodeKind::Deferred { volume, directory },
            modified,
            ..NewInode::DIR
        };
        self.add(parent, &Label::new(name), inode)
    }

    fn file(&mut self, parent: NodeId, name: Name<'_>, entry: Entry) -> io::Result<NodeId> {
        let inode = NewInode {
            kind: self.file_kind(entry.file),
            size: entry.size,
            modified: entry.modified,
        };
        let node = self.add(parent, &Label::new(name), inode)?;
        if let Some(asset) = entry.asset {
            if self.volume == 0 {
                self.add_asset(entry.file, node.0);
            }
            if self.companions.meta {
                self.assets.insert(node.0, asset);
            }
        }
        Ok(node)
    }

    fn link(&mut self, parent: NodeId, name: Name<'_>, file: NodeId) -> io::Result<()> {
        self.add_dentry(parent, &Label::new(name), file)
    }

    fn symlink(&mut self, parent: NodeId, name: Name<'_>, asset: Entry) -> io::Result<()> {
        let inode = NewInode {
            kind: InodeKind::AssetLink { asset: asset.file },
            size: Some(0),
            modified: None,
        };
        self.add(parent, &Label::new(name), inode)?;
        Ok(())
    }

    fn text_link(
        &mut self,
        parent: NodeId,
        name: Name<'_>,
        text: &[u8],
        modified: Option<i64>,
    ) -> io::Result<()> {
        let inode = NewInode {
            kind: self.link_kind(text)?,
            size: Some(0),
            modified,
        };
        self.add(parent, &Label::new(name), inode)?;
        Ok(())
    }

    fn stored_link(&mut self, parent: NodeId, name: Name<'_>, entry: Entry) -> io::Result<NodeId> {
        let inode = NewInode {
            kind: InodeKind::StoredLink {
                volume: self.volume,
                file: entry.file,
            },
            size: entry.size,
            modified: entry.modified,
        };
        self.add(parent, &Label::new(name), inode)
    }

    /// Records the bits of files that can be executed; all else has the usual
    /// ones.
    fn permissions(&mut self, node: NodeId, mode: u16) {
        if mode & 0o111 == 0 {
            return;
        }
        let modes = &mut self.tree.modes;
        let position = modes.partition_point(|&(inode, _)| inode < node.0);
        match modes.get_mut(position) {
            Some((inode, known)) if *inode == node.0 => *known = mode,
            _ => modes.insert(position, (node.0, mode)),
        }
    }
}

fn too_many(what: &str, most: usize) -> io::Error {
    io::Error::Unsupported(format!("has more than {most} {what}"))
}
