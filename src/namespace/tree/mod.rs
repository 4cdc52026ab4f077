//! The tree of a mount: inodes and directory entries in compact form.
//!
//! Volumes declare their entries to a [`TreeBuilder`], which builds the tree
//! once; a tree is immutable afterwards. An inode takes 40 bytes, a directory
//! entry 16 and its name. In addition the volume keeps the location of each
//! file's data: 16 bytes for HPI, about 60 for HIP.

mod builder;
mod raw_names;

use std::cmp::Ordering;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;

pub use self::builder::{Label, NewInode, TreeBuilder};
use self::raw_names::RawNames;
use super::companion::Shows;
use super::{FileKind, Ino};
use hpimount_containers::volume::FileId;

/// Number of an inode in its [`Tree`]; the root has 0.
pub type Index = u32;

/// The root of every tree.
pub const ROOT: Index = 0;

/// No inode: there are fewer.
const NO_INODE: Index = Index::MAX;

/// Size of a generated text before it is generated.
const NOT_MADE: u64 = u64::MAX;

/// Maximum size of a file that the kernel can represent.
const MAX_SIZE: u64 = i64::MAX as u64;

/// The kind of an inode.
#[derive(Debug, Clone, Copy, Hash)]
pub enum InodeKind {
    /// A directory with contiguous entries.
    Dir {
        /// First of them in `Tree::dentries`.
        first: u32,
        /// Their number.
        count: u32,
    },
    /// A file of one of the tree's volumes.
    File {
        /// The volume's number in the tree.
        volume: u32,
        /// The file's number in the volume.
        file: FileId,
    },
    /// A symbolic link to an asset of the tree's first volume, which has its file in
    /// the tree around the tree.
    AssetLink {
        /// The asset's number in the volume.
        asset: FileId,
    },
    /// A symbolic link with a given text.
    Verbatim {
        /// Offset of the text in `Tree::links`.
        start: u32,
        /// Bytes of the text.
        length: u32,
    },
    /// A symbolic link whose text is the data of a file of one of the tree's
    /// volumes.
    StoredLink {
        /// The volume's number in the tree.
        volume: u32,
        /// The file's number in the volume.
        file: FileId,
    },
    /// A directory that its volume lists on demand.
    Deferred {
        /// The volume's number in the tree.
        volume: u32,
        /// The directory's number in the volume.
        directory: FileId,
    },
    /// A directory whose entries are another tree, which is permanent.
    Grafted,
    /// A directory that shows the contents of a file, or the converted files of
    /// a directory. It is built on demand.
    Companion {
        /// The file or directory.
        of: Index,
        /// The contents: of an archive, of an asset, or converted files.
        shows: Shows,
    },
    /// Like [`InodeKind::Companion`], of an inode of another tree.
    ForeignCompanion {
        /// Its number in the mount.
        of: Ino,
        /// The contents: of an archive, of an asset, or converted files.
        shows: Shows,
    },
}

impl InodeKind {
    /// Returns the file type that users see.
    pub fn file_kind(self) -> FileKind {
        match self {
            Self::Dir { .. }
            | Self::Deferred { .. }
            | Self::Grafted
            | Self::Companion { .. }
            | Self::ForeignCompanion { .. } => FileKind::Directory,
            Self::File { .. } => FileKind::File,
            Self::AssetLink { .. } | Self::Verbatim { .. } | Self::StoredLink { .. } => {
                FileKind::Symlink
            }
        }
    }
}

/// A directory before its entries are counted.
const EMPTY_DIR: InodeKind = InodeKind::Dir { first: 0, count: 0 };

/// An inode.
#[derive(Debug, Clone)]
pub struct Inode {
    size: u64,
    /// Modification time in seconds since 1970 UTC.
    pub modified: i64,
    /// Its kind.
    pub kind: InodeKind,
    /// The directory of its first entry; the root itself for the root.
    pub parent: Index,
    /// Its first entry in `Tree::dentries`; unused for the root.
    dentry: u32,
    /// Number of its entries (for a directory: 2 plus its subdirectories).
    pub nlink: u32,
}

impl Inode {
    /// Returns the decoded size in bytes; `None` for a text that is not
    /// generated yet.
    pub fn size(&self) -> Option<u64> {
        (self.size != NOT_MADE).then_some(self.size)
    }
}

/// A directory entry.
#[derive(Debug, Clone)]
struct Dentry {
    /// Offset of the name in `Tree::names`.
    name: u32,
    /// Bytes of the name.
    length: u8,
    inode: Index,
    /// Element `n` of a directory is the number of its `n`th entry in name
    /// order.
    by_name: u32,
}

/// An immutable tree.
#[derive(Debug)]
pub struct Tree {
    inodes: Vec<Inode>,
    dentries: Vec<Dentry>,
    names: String,
    /// Texts of the symbolic links with given texts.
    links: Vec<u8>,
    /// Permission bits of the files that can be executed, in order.
    modes: Vec<(Index, u16)>,
    /// Raw names of the inodes whose shown name differs.
    raw_names: RawNames,
    /// Names of the numbered duplicates without their numbers.
    plain_names: HashMap<Index, Box<[u8]>>,
    /// The inodes of a merged tree that hide something, in order, each with the
    /// end of its archives in `hidden_volumes`.
    hiding: Vec<(Index, u32)>,
    /// Numbers of the archives whose files are hidden.
    hidden_volumes: Vec<u32>,
    /// The assets of the first volume by their numbers there, or [`NO_INODE`].
    assets: Vec<Index>,
    /// Decoded bytes of all files.
    total_size: u64,
}

impl Tree {
    /// Returns the inode with number `index`.
    pub fn inode(&self, index: Index) -> Option<&Inode> {
        self.inodes.get(index as usize)
    }

    /// Returns the number of inodes.
    pub fn inodes(&self) -> u32 {
        self.inodes.len() as u32
    }

    /// Returns the decoded bytes of all files together.
    pub fn total_size(&self) -> u64 {
        self.total_size
    }

    /// Returns the inode of an asset (see
    /// [`Entry::asset`](hpimount_containers::volume::Entry)) with this number in the tree's
    /// first volume.
    pub fn asset(&self, wanted: FileId) -> Option<Index> {
        let index = *self.assets.get(wanted.0 as usize)?;
        (index != NO_INODE).then_some(index)
    }

    /// Returns the memory of the tree, in bytes.
    pub fn memory(&self) -> usize {
        self.inodes.capacity() * size_of::<Inode>()
            + self.dentries.capacity() * size_of::<Dentry>()
            + self.names.capacity()
            + self.links.capacity()
            + self.modes.capacity() * size_of::<(Index, u16)>()
            + self.hiding.capacity() * size_of::<(Index, u32)>()
            + self.hidden_volumes.capacity() * size_of::<u32>()
            + self.assets.capacity() * size_of::<Index>()
            + self.raw_names.memory()
            + heap(&self.plain_names)
    }

    /// Returns a hash that shows whether another tree has the same inodes under
    /// the same names.
    pub fn fingerprint(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.names.hash(&mut hasher);
        for dentry in &self.dentries {
            (dentry.length, dentry.inode).hash(&mut hasher);
        }
        for inode in &self.inodes {
            (inode.kind, inode.parent).hash(&mut hasher);
        }
        self.links.hash(&mut hasher);
        hasher.finish()
    }

    /// Returns the permission bits of a file that can be executed.
    pub fn mode(&self, index: Index) -> Option<u16> {
        let found = self.modes.binary_search_by_key(&index, |&(inode, _)| inode);
        Some(self.modes[found.ok()?].1)
    }

    /// Returns the name of the inode's first entry; empty for the root.
    pub fn name(&self, index: Index) -> &str {
        self.inode(index)
            .and_then(|inode| self.dentries.get(inode.dentry as usize))
            .map_or("", |dentry| self.dentry_name(dentry))
    }

    /// Returns the original bytes of the name of the inode.
    pub fn raw_name(&self, index: Index) -> &[u8] {
        let raw = self.raw_names.get(index);
        raw.unwrap_or_else(|| self.name(index).as_bytes())
    }

    /// Returns the name that the inode would have without its duplicates.
    pub fn plain_name(&self, index: Index) -> &str {
        match self.plain_names.get(&index) {
            Some(name) => str::from_utf8(name).unwrap_or_default(),
            None => self.name(index),
        }
    }

    /// Returns the archives whose entry of the same name is hidden by the
    /// inode, highest first.
    pub fn hidden(&self, index: Index) -> &[u32] {
        let Ok(position) = self
            .hiding
            .binary_search_by_key(&index, |&(inode, _)| inode)
        else {
            return &[];
        };
        let end = |position: usize| self.hiding[position].1 as usize;
        let start = position.checked_sub(1).map_or(0, end);
        &self.hidden_volumes[start..end(position)]
    }

    /// Returns the directories on the path to an inode, from the root down.
    pub fn directories_to(&self, index: Index) -> Vec<Index> {
        let parent = |&at: &Index| self.inode(at).map(|inode| inode.parent);
        let up = std::iter::successors(parent(&index), parent);
        let mut directories: Vec<Index> = up.take_while(|&at| at != ROOT).collect();
        directories.reverse();
        directories
    }

    /// Returns the path from the root, without a leading slash.
    pub fn path(&self, index: Index) -> String {
        let directories = self.directories_to(index).into_iter();
        let names: Vec<&str> = directories.chain([index]).map(|at| self.name(at)).collect();
        names.join("/")
    }

    /// Returns the directory of the inode's first entry, and the number of the
    /// entry in it; `None` for the root.
    pub fn position(&self, index: Index) -> Option<(Index, usize)> {
        let inode = self.inode(index).filter(|_| index != ROOT)?;
        let first = self.range(inode.parent).start;
        Some((inode.parent, (inode.dentry as usize).checked_sub(first)?))
    }

    /// Returns the text of a symbolic link that is in the tree; `None` for all
    /// others.
    pub fn link(&self, index: Index) -> Option<&[u8]> {
        let InodeKind::Verbatim { start, length } = self.inode(index)?.kind else {
            return None;
        };
        let (start, length) = (start as usize, length as usize);
        self.links.get(start..start + length)
    }

    /// Returns the entries of a directory from number `start` on: names and
    /// inodes.
    pub fn entries(&self, directory: Index, start: usize) -> impl Iterator<Item = (&str, Index)> {
        let mut range = self.range(directory);
        range.start = range.start.saturating_add(start).min(range.end);
        self.dentries[range]
            .iter()
            .map(|dentry| (self.dentry_name(dentry), dentry.inode))
    }

    /// Returns the number of entries of a directory.
    pub fn count(&self, directory: Index) -> usize {
        self.range(directory).len()
    }

    /// Returns the entries of a directory in the order of their names, ignoring
    /// ASCII case.
    pub fn entries_by_name(&self, directory: Index) -> impl Iterator<Item = (&str, Index)> {
        let dentries = &self.dentries[self.range(directory)];
        dentries.iter().map(|position| {
            let dentry = &dentries[position.by_name as usize];
            (self.dentry_name(dentry), dentry.inode)
        })
    }

    /// Finds an entry by its name: the exact spelling first, then, if `fold`,
    /// the last entry that differs from it only in ASCII case.
    pub fn find(&self, directory: Index, name: &str, fold: bool) -> Option<(&str, Index)> {
        let dentries = &self.dentries[self.range(directory)];
        let nth = |position: &Dentry| &dentries[position.by_name as usize];
        let folded = |dentry: &Dentry| compare_folded(self.dentry_name(dentry), name);
        let lower = dentries.partition_point(|position| folded(nth(position)).is_lt());
        let same = &dentries[lower..];
        let same = &same[..same.partition_point(|position| folded(nth(position)).is_eq())];
        let found = same
            .binary_search_by(|position| self.dentry_name(nth(position)).cmp(name))
            .ok()
            .map(|exact| nth(&same[exact]));
        let found = found.or_else(|| {
            let last = same.iter().map(|position| position.by_name).max();
            last.filter(|_| fold).map(|last| &dentries[last as usize])
        });
        found.map(|dentry| (self.dentry_name(dentry), dentry.inode))
    }

    fn range(&self, directory: Index) -> Range<usize> {
        match self.inode(directory).map(|inode| inode.kind) {
            Some(InodeKind::Dir { first, count }) => first as usize..(first + count) as usize,
            _ => 0..0,
        }
    }

    fn dentry_name(&self, dentry: &Dentry) -> &str {
        let start = dentry.name as usize;
        &self.names[start..start + usize::from(dentry.length)]
    }

    /// Compares the names of a directory: by folded name, then by spelling.
    fn compare(&self, a: &Dentry, b: &Dentry) -> Ordering {
        let (a, b) = (self.dentry_name(a), self.dentry_name(b));
        compare_folded(a, b).then_with(|| a.cmp(b))
    }
}

/// Returns the memory of a map with slices on the heap, in bytes.
fn heap<T: AsRef<[u8]>>(map: &HashMap<Index, T>) -> usize {
    let values = map.values().map(|value| value.as_ref().len());
    // A table has at least an eighth of its slots free, and a byte for each.
    map.capacity() * (size_of::<(Index, T)>() + 1) * 8 / 7 + values.sum::<usize>()
}

/// Compares two names, ignoring ASCII case.
fn compare_folded(a: &str, b: &str) -> Ordering {
    let fold = u8::to_ascii_lowercase;
    let (a, b) = (a.as_bytes().iter(), b.as_bytes().iter());
    a.map(fold).cmp(b.map(fold))
}
