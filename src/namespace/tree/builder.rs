//! Building trees: what archives announce, or what merging chooses.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::{Dentry, EMPTY_DIR, Index, Inode, Kind, NOT_MADE, ROOT, Tree};
use crate::io;
use crate::io::budget::Charge;
use crate::namespace::FileKind;
use crate::namespace::companion::{self, Companions, Shows};
use crate::text::{file_name, numbered};
use crate::volume::{AssetType, Entry, FileId, MAX_ENTRIES, Name, NodeId, Sink};

/// Inodes that are added before the memory of a tree is accounted for anew.
const CHARGED_AT_ONCE: usize = 4096;

/// Takes in entries and makes a [`Tree`] of them.
pub struct TreeBuilder {
    tree: Tree,
    /// Which files have companions.
    companions: Companions,
    /// What volumes say of the content of files, where it decides about
    /// companions.
    assets: HashMap<Index, AssetType>,
    /// Files that are archives by their first bytes.
    by_head: HashSet<Index>,
    /// Entries and their directories; while they come, those of `tree` are
    /// empty.
    entries: Vec<(Index, Dentry)>,
    /// The volume whose entries are announced.
    volume: u32,
    /// Modification time of what has none of its own.
    modified: i64,
    /// What accounts for the tree's memory, if anything does.
    charge: Option<Charge>,
}

/// A name: as it is shown, and as it stands in the source.
pub struct Label<'a> {
    shown: Cow<'a, str>,
    raw: &'a [u8],
}

impl<'a> Label<'a> {
    /// The name of an entry.
    pub fn new(name: Name<'a>) -> Self {
        let raw = name.raw;
        let shown = file_name(name);
        Self { shown, raw }
    }

    /// The name of something that is in a tree already.
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
    /// What it is.
    pub kind: Kind,
    /// Decoded size in bytes; `None` for a text that is yet to be made.
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
    /// A builder with an empty root directory, for the entries of the tree's
    /// volume number `volume`. They are as old as `modified` where they do
    /// not say otherwise.
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
                raw_names: HashMap::new(),
                plain_names: HashMap::new(),
                hiding: Vec::new(),
                hidden_volumes: Vec::new(),
                total_size: 0,
            },
            companions,
            assets: HashMap::new(),
            by_head: HashSet::new(),
            entries: Vec::new(),
            volume,
            modified,
            charge: None,
        }
    }

    /// Has `charge` account for the memory of the tree while it grows.
    pub fn charge(&mut self, charge: Charge) {
        self.charge = Some(charge);
    }

    /// Gives companions to files without a known extension as well.
    pub fn show_others(&mut self, shows: Option<Shows>) {
        self.companions.others = shows;
    }

    /// Looks at the first bytes of the files whose extension does not tell
    /// whether they are archives. `head` gives those of a file of so many
    /// bytes, if it may be looked at.
    pub fn probe(&mut self, head: &dyn Fn(FileId, u64) -> Option<Vec<u8>>) {
        if !self.companions.inside {
            return;
        }
        for (_, dentry) in &self.entries {
            let inode = &self.tree.inodes[dentry.inode as usize];
            let Kind::File { file, .. } = inode.kind else {
                continue;
            };
            if let Some(test) = companion::test_of_head(self.tree.dentry_name(dentry))
                && head(file, inode.size).is_some_and(|head| test(&head))
            {
                self.by_head.insert(dentry.inode);
            }
        }
    }

    /// Whether a file with an ambiguous extension is an archive.
    fn is_archive(&self, directory: Index, name: &str, file: Index) -> bool {
        let has_partner = || {
            let partner = companion::partner(name);
            partner.is_some_and(|partner| self.tree.find(directory, &partner, true).is_some())
        };
        self.companions.inside && (self.by_head.contains(&file) || has_partner())
    }

    /// The kind of a file of the volume that is announced.
    pub fn file_kind(&self, file: FileId) -> Kind {
        let volume = self.volume;
        Kind::File { volume, file }
    }

    /// The kind of a symbolic link with this text.
    ///
    /// # Errors
    /// Where the texts of all links are too long together.
    pub fn link_kind(&mut self, text: &[u8]) -> io::Result<Kind> {
        let links = &mut self.tree.links;
        let (start, length) = (links.len(), text.len());
        let end = u32::try_from(start + length);
        end.map_err(|_| too_many("bytes in the texts of symbolic links", u32::MAX as usize))?;
        links.extend_from_slice(text);
        Ok(Kind::Verbatim {
            start: start as u32,
            length: length as u32,
        })
    }

    /// Leaves the companions out.
    pub fn without_companions(self) -> Self {
        Self {
            companions: Companions::NONE,
            ..self
        }
    }

    /// Notes in which volumes the node that was added last hides something.
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
    /// Where there are too many entries.
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
            size: inode.size.unwrap_or(NOT_MADE),
            modified: inode.modified.unwrap_or(self.modified),
            kind: inode.kind,
            parent: parent.0,
            dentry: u32::MAX,
            // A directory is linked by its own `.` as well, and each of its
            // subdirectories links to it. Those of one that is yet to be
            // entered are unknown: it has 1 link, as `find` expects then.
            nlink: matches!(inode.kind, Kind::Dir { .. }).into(),
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
            let raw = || label.raw.into();
            tree.raw_names.entry(node.0).or_insert_with(raw);
        }
        Ok(())
    }

    /// Accounts for the memory that the tree has grown to.
    fn account(&mut self) -> io::Result<()> {
        let memory = self.tree.memory()
            + self.entries.capacity() * (size_of::<(Index, Dentry)>() + size_of::<Dentry>());
        match &mut self.charge {
            Some(charge) => charge.grow_beyond(memory),
            None => Ok(()),
        }
    }

    /// Sorts the entries by directory, gives every one a name of its own, and
    /// adds the companions.
    ///
    /// # Errors
    /// Where the budget does not leave the memory for it.
    pub fn finish_charged(mut self) -> io::Result<(Tree, Option<Charge>)> {
        self.account()?;
        let mut charge = self.charge.take();
        let tree = self.finish();
        if let Some(charge) = &mut charge {
            charge.grow_beyond(tree.memory())?;
        }
        Ok((tree, charge))
    }

    /// As [`TreeBuilder::finish_charged`], of a tree that nobody accounts for.
    pub fn finish(mut self) -> Tree {
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
        tree.links.shrink_to_fit();
        tree.hiding.shrink_to_fit();
        tree.hidden_volumes.shrink_to_fit();
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
        for directory in 0..tree.inodes() {
            for (name, file) in tree.entries(directory, 0) {
                let is_file = matches!(tree.inodes[file as usize].kind, Kind::File { .. });
                let shows = || {
                    let inside = self.is_archive(directory, name, file);
                    inside.then_some(Shows::Inside)
                };
                let asset = self.assets.get(&file).copied();
                let shows = self.companions.of(name, asset).or_else(shows);
                let Some(shows) = shows.filter(|_| is_file) else {
                    continue;
                };
                let companion = shows.name_beside(name);
                let shown = file_name(Name::utf_8(&companion));
                if tree.find(directory, &shown, false).is_none() {
                    found.push((directory, companion, Kind::Companion { of: file, shows }));
                }
            }
        }
        if found.is_empty() {
            return false;
        }
        self.ungroup();
        for (directory, name, kind) in found {
            let inode = NewInode {
                kind,
                ..NewInode::DIR
            };
            // Too many entries: the real ones come first.
            let _ = self.add(NodeId(directory), &Label::new(Name::utf_8(&name)), inode);
        }
        true
    }

    /// Undoes [`Self::group_by_directory`].
    fn ungroup(&mut self) {
        let tree = &mut self.tree;
        let ranges: Vec<_> = (0..tree.inodes()).map(|index| tree.range(index)).collect();
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
}

impl Sink for TreeBuilder {
    fn root(&self) -> NodeId {
        NodeId(ROOT)
    }

    fn dir(&mut self, parent: NodeId, name: Name<'_>, modified: Option<i64>) -> io::Result<NodeId> {
        let inode = NewInode {
            modified,
            ..NewInode::DIR
        };
        self.add(parent, &Label::new(name), inode)
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
            kind: Kind::Deferred { volume, directory },
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
        if let Some(asset) = entry.asset.filter(|_| self.companions.meta) {
            self.assets.insert(node.0, asset);
        }
        Ok(node)
    }

    fn link(&mut self, parent: NodeId, name: Name<'_>, file: NodeId) -> io::Result<()> {
        self.add_dentry(parent, &Label::new(name), file)
    }

    fn symlink(&mut self, parent: NodeId, name: Name<'_>, target: NodeId) -> io::Result<()> {
        let inode = NewInode {
            kind: Kind::Symlink { target: target.0 },
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
}

fn too_many(what: &str, most: usize) -> io::Error {
    io::Error::Unsupported(format!("has more than {most} {what}"))
}

/// Fills the `by_name` order of one directory.
fn sort_by_name(tree: &mut Tree, range: Range<usize>) {
    let dentries = &tree.dentries[range.clone()];
    // Most names differ in their beginnings, which are compared without a
    // look at the names, all over the memory as they are.
    let beginnings = dentries
        .iter()
        .map(|dentry| beginning(tree.dentry_name(dentry)));
    let mut order: Vec<([u64; 2], u32)> = beginnings.zip(0..).collect();
    order.sort_unstable_by(|(a, first), (b, second)| {
        let names = || {
            let entry = |place: &u32| &dentries[*place as usize];
            tree.compare(entry(first), entry(second))
        };
        a.cmp(b).then_with(names).then(first.cmp(second))
    });
    for (dentry, (_, place)) in tree.dentries[range].iter_mut().zip(order) {
        dentry.by_name = place;
    }
}

/// The first sixteen bytes of a name in lower case, as numbers that are
/// ordered as the names are.
fn beginning(name: &str) -> [u64; 2] {
    let mut bytes = [0; 16];
    for (byte, letter) in bytes.iter_mut().zip(name.bytes()) {
        *byte = letter.to_ascii_lowercase();
    }
    let number = u128::from_be_bytes(bytes);
    [(number >> 64) as u64, number as u64]
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
            let candidate = numbered(&name, *number);
            if taken.insert(candidate.clone()) {
                break candidate;
            }
        };
        let inode = tree.dentries[place].inode;
        let raw = || name.as_bytes().into();
        tree.raw_names.entry(inode).or_insert_with(raw);
        tree.plain_names.insert(inode, name.as_bytes().into());
        tree.dentries[place].name = tree.names.len() as u32;
        tree.dentries[place].length = unique.len() as u8;
        tree.names.push_str(&unique);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::super::compare_folded;
    use super::*;

    #[test]
    fn beginnings_are_ordered_as_the_names_are() {
        let names = [
            "",
            "A",
            "ab",
            "AB ",
            "aB_",
            "b",
            "a234567",
            "a23456789012345",
            "A2345678901234567",
            "a2345678901234568",
            "\u{e9}",
            "Z",
            "~",
        ];
        for a in names {
            for b in names {
                let (by_name, by_beginning) =
                    (compare_folded(a, b), beginning(a).cmp(&beginning(b)));
                assert!(by_beginning == by_name || by_beginning.is_eq(), "{a} {b}");
                assert_eq!(
                    by_beginning.is_eq(),
                    by_name.is_eq() || a.len().min(b.len()) > 16
                );
            }
        }
    }
}
