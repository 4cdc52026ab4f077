//! What is mounted, without FUSE: the tree of inodes, lookups by name, and
//! the bytes of files.
//!
//! A [`Vfs`] answers questions in the terms of a file system and is used by
//! several threads at once. It never writes and, but for the guests (inodes
//! for other spellings of directories), never changes.

mod cache;
mod control;
mod error;
mod forest;
mod guests;
mod names;
mod open;
mod read;
mod stats;
mod tree;

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use serde_json::json;

use self::cache::lock;
use self::control::Control;
pub use self::error::{Error, OpenCause, OpenError};
use self::forest::{Forest, Node};
use self::guests::{GuestKind, Guests};
use self::open::Volume;
pub use self::read::Bytes;
use self::read::{Reader, Source};
use self::stats::Stats;
use self::tree::{Kind, Tree};
use crate::archive::Archive;

/// Number of an inode in the mount.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ino(pub u32);

impl Ino {
    /// The root directory.
    pub const ROOT: Self = Self(1);

    /// Marks the number of a shortcut: a symbolic link to the directory whose
    /// number the other bits are. It stands in for an alias when there are
    /// too many.
    const SHORTCUT: u32 = 1 << 31;
}

/// Result of an operation on an inode.
pub type Result<T> = std::result::Result<T, Error>;

/// How a mount behaves.
#[derive(Debug, Clone)]
pub struct Options {
    /// Names are found in their exact spelling only.
    pub case_sensitive: bool,
    /// Budget of the block cache in bytes.
    pub cache_size: usize,
    /// Mount and read past damage as far as possible.
    pub force: bool,
    /// Compute checksums for listings.
    pub verify: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            case_sensitive: false,
            cache_size: 64 << 20,
            force: false,
            verify: false,
        }
    }
}

/// Kind of an inode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// A directory.
    Directory,
    /// A regular file.
    File,
    /// A symbolic link.
    Symlink,
}

/// Attributes of an inode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attr {
    /// Its number.
    pub ino: Ino,
    /// Its kind.
    pub kind: FileKind,
    /// Decoded size in bytes.
    pub size: u64,
    /// Modification time in seconds since 1970 UTC.
    pub modified: i64,
    /// Number of its links.
    pub nlink: u32,
    /// Whether its name and attributes stay as they are while it is mounted.
    pub lasting: bool,
}

/// Size of the mount as `statfs` tells it.
#[derive(Debug, Clone, Copy)]
pub struct Extent {
    /// Decoded bytes of all files.
    pub bytes: u64,
    /// Number of inodes.
    pub inodes: u64,
}

/// The mounted file system.
pub struct Vfs {
    forest: Forest,
    volumes: Vec<Volume>,
    control: Control,
    control_root: Option<Ino>,
    /// The inode of `.hpimount/stats.json` in listings; a lookup gives a
    /// snapshot instead.
    stats_ino: Option<Ino>,
    guests: Mutex<Guests>,
    /// Sizes of the generated texts that were made, for good.
    text_sizes: Mutex<std::collections::HashMap<Ino, u64>>,
    reader: Reader,
    stats: Stats,
    options: Options,
}

/// A directory that was looked up by its number.
struct Directory<'a> {
    node: Node<'a>,
    /// Whether it was reached by another spelling, so that its children must
    /// be too.
    alias: bool,
}

impl Vfs {
    fn new(tree: Tree, volumes: Vec<Volume>, control: Control, options: Options) -> Self {
        let forest = Forest::new();
        let modified = tree.inode(tree::ROOT).map_or(0, |root| root.modified);
        forest.plant(tree);
        let (mut control_root, mut stats_ino) = (None, None);
        if let Ok((tree, stats)) = control.tree(volumes.len() as u32, modified)
            && let Some(root) = forest.plant(tree)
        {
            control_root = Some(root);
            stats_ino = Some(Ino(root.0 + stats));
        }
        Self {
            forest,
            volumes,
            control,
            control_root,
            stats_ino,
            guests: Mutex::new(Guests::new()),
            text_sizes: Mutex::default(),
            reader: Reader::new(options.cache_size),
            stats: Stats::default(),
            options,
        }
    }

    /// Finds the entry `name` of a directory, and counts one lookup of what
    /// it finds (see [`Vfs::forget`]).
    ///
    /// # Errors
    /// [`Error::NotFound`], and [`Error::NotADirectory`] for another parent.
    pub fn lookup(&self, parent: Ino, name: &str) -> Result<Attr> {
        self.stats.count(|stats| &stats.lookups);
        let directory = self.directory(parent)?;
        let Directory { node, alias } = directory;
        let Some((true_name, index)) = node.tree.find(node.index, name, self.folds()) else {
            return match self.control_root {
                Some(root) if parent == Ino::ROOT && name == control::NAME => self.getattr(root),
                _ => Err(Error::NotFound),
            };
        };
        self.entry(parent, name, node.other(index), alias || true_name != name)
    }

    /// The attributes of an entry that is going to be told to the kernel.
    fn entry(&self, parent: Ino, name: &str, node: Node<'_>, aliased: bool) -> Result<Attr> {
        let ino = node.ino();
        if Some(ino) == self.stats_ino {
            let text = Arc::new(control::pretty(&self.stats_json()));
            let guest = lock(&self.guests).snapshot(&self.forest, text);
            return self.guest_attr(guest.ok_or(Error::NoNumbers)?);
        }
        let mut attr = self.node_attr(node)?;
        if aliased && attr.kind == FileKind::Directory {
            let alias = lock(&self.guests).alias(&self.forest, parent, name, ino);
            match alias {
                Some(alias) => attr.ino = alias,
                None => return self.shortcut_attr(ino),
            }
        }
        Ok(attr)
    }

    /// The kernel forgets `lookups` of the lookups of an inode.
    pub fn forget(&self, ino: Ino, lookups: u64) {
        // Inodes of the trees stay; only guests are counted.
        if self.forest.get(ino).is_none() {
            lock(&self.guests).forget(ino, lookups);
        }
    }

    /// Attributes of an inode.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::Io`] where a text cannot be made.
    pub fn getattr(&self, ino: Ino) -> Result<Attr> {
        self.stats.count(|stats| &stats.getattrs);
        if let Some(node) = self.forest.get(ino) {
            return self.node_attr(node);
        }
        if let Some(directory) = shortcut_target(ino) {
            return self.shortcut_attr(directory);
        }
        self.guest_attr(ino)
    }

    /// Text of a symbolic link.
    ///
    /// # Errors
    /// [`Error::NotALink`], [`Error::NotFound`].
    pub fn readlink(&self, ino: Ino) -> Result<String> {
        if let Some(directory) = shortcut_target(ino) {
            let node = self.forest.get(directory).ok_or(Error::NotFound)?;
            return Ok(node.tree.name(node.index).to_owned());
        }
        let node = self.forest.get(ino).ok_or(Error::NotFound)?;
        match node.tree.inode(node.index).map(|inode| inode.kind) {
            Some(Kind::Symlink { target }) => Ok(node.tree.link_text(node.index, target)),
            _ => Err(Error::NotALink),
        }
    }

    /// Lists the entries of a directory from `offset` on: name, inode, kind
    /// and the offset of the entry after it, until `emit` says that it is
    /// full. Nothing is counted as a lookup.
    ///
    /// # Errors
    /// [`Error::NotADirectory`], [`Error::NotFound`].
    pub fn readdir(
        &self,
        ino: Ino,
        offset: u64,
        emit: &mut dyn FnMut(&str, Ino, FileKind, u64) -> bool,
    ) -> Result<()> {
        self.stats.count(|stats| &stats.readdirs);
        let Directory { node, .. } = self.directory(ino)?;
        let start = usize::try_from(offset).map_err(|_| Error::NotFound)?;
        let entries = node.tree.entries(node.index, start);
        for (place, (name, index)) in entries.enumerate() {
            let child = node.other(index);
            let next = offset + place as u64 + 1;
            if emit(name, child.ino(), kind_of(child), next) {
                break;
            }
        }
        Ok(())
    }

    /// As [`Vfs::readdir`], with the attributes of the entries. Each entry
    /// that `emit` takes counts as one lookup.
    ///
    /// # Errors
    /// [`Error::NotADirectory`], [`Error::NotFound`]; [`Error::Io`] where the
    /// text of the first entry cannot be made.
    pub fn readdir_plus(
        &self,
        ino: Ino,
        offset: u64,
        emit: &mut dyn FnMut(&str, Attr, u64) -> bool,
    ) -> Result<()> {
        self.stats.count(|stats| &stats.readdirs);
        let Directory { node, alias } = self.directory(ino)?;
        let start = usize::try_from(offset).map_err(|_| Error::NotFound)?;
        let entries = node.tree.entries(node.index, start);
        for (place, (name, index)) in entries.enumerate() {
            let attr = self.entry(ino, name, node.other(index), alias)?;
            if emit(name, attr, offset + place as u64 + 1) {
                self.forget(attr.ino, 1);
                break;
            }
        }
        Ok(())
    }

    /// The directory in which a directory stands.
    ///
    /// # Errors
    /// [`Error::NotADirectory`], [`Error::NotFound`].
    pub fn parent(&self, ino: Ino) -> Result<Ino> {
        if let Some(GuestKind::Alias { parent, .. }) = lock(&self.guests).get(ino) {
            return Ok(*parent);
        }
        let Directory { node, .. } = self.directory(ino)?;
        if node.index == tree::ROOT {
            return Ok(Ino::ROOT);
        }
        let inode = node.tree.inode(node.index).ok_or(Error::NotFound)?;
        Ok(node.ino_of(inode.parent))
    }

    /// Reads at most `size` bytes of a file from `offset` on; fewer only at
    /// its end.
    ///
    /// # Errors
    /// [`Error::IsADirectory`], [`Error::NotFound`]; [`Error::Io`] where one
    /// of the bytes cannot be had.
    pub fn read(&self, ino: Ino, offset: u64, size: u32) -> Result<Bytes> {
        self.stats.count(|stats| &stats.reads);
        let bytes = match self.forest.get(ino) {
            Some(node) => self.read_node(node, offset, size)?,
            None => match lock(&self.guests).get(ino) {
                Some(GuestKind::Snapshot(text)) => {
                    let end = text.len().min(offset as usize + size as usize);
                    Bytes::Shared(text.clone(), end.min(offset as usize)..end)
                }
                Some(GuestKind::Alias { .. }) => return Err(Error::IsADirectory),
                None => return Err(Error::NotFound),
            },
        };
        let length = bytes.len() as u64;
        self.stats.bytes_read.fetch_add(length, Ordering::Relaxed);
        Ok(bytes)
    }

    fn read_node(&self, node: Node<'_>, offset: u64, size: u32) -> Result<Bytes> {
        let source = self.source(node)?;
        let file_size = self.node_attr(node)?.size;
        let end = file_size.min(offset.saturating_add(size.into()));
        if offset >= end {
            return Ok(Bytes::Owned(Vec::new()));
        }
        self.reader
            .read(source, offset..end, &self.stats)
            .map_err(|error| self.failed(node, &error))
    }

    /// Names of the extended attributes of an inode.
    ///
    /// # Errors
    /// [`Error::NotFound`].
    pub fn xattr_names(&self, ino: Ino) -> Result<Vec<&'static str>> {
        let node = self.attribute_node(ino)?;
        let mut names = Vec::new();
        if node.index != tree::ROOT {
            names.push(RAW_NAME);
        }
        if let Ok(source) = self.source(node) {
            names.push(SOURCE);
            names.extend(source.archive.xattr_names(source.file));
        }
        Ok(names)
    }

    /// Value of an extended attribute.
    ///
    /// # Errors
    /// [`Error::NoAttribute`], [`Error::AttributeKind`] for names outside
    /// `user.`, [`Error::NotFound`]; [`Error::Io`] where the archive must be
    /// read for it and cannot be.
    pub fn xattr(&self, ino: Ino, name: &str) -> Result<Vec<u8>> {
        if !name.starts_with("user.") {
            // A kind that is not kept, rather than an absent attribute: `ls`
            // then asks once for the whole mount, and not for every file.
            return Err(Error::AttributeKind);
        }
        let node = self.attribute_node(ino)?;
        if name == RAW_NAME && node.index != tree::ROOT {
            return Ok(node.tree.raw_name(node.index).to_owned());
        }
        let source = self.source(node).map_err(|_| Error::NoAttribute)?;
        if name == SOURCE {
            return Ok(self.volume_name(node).as_bytes().to_owned());
        }
        match source.archive.xattr(source.file, name) {
            Ok(Some(value)) => Ok(value.into_bytes()),
            Ok(None) => Err(Error::NoAttribute),
            Err(error) => Err(self.failed(node, &error)),
        }
    }

    /// The inode whose attributes an inode has.
    fn attribute_node(&self, ino: Ino) -> Result<Node<'_>> {
        self.forest
            .get(ino)
            .or_else(|| Some(self.directory(ino).ok()?.node))
            .ok_or(Error::NoAttribute)
    }

    /// Size of the mount.
    pub fn extent(&self) -> Extent {
        let sum = |value: fn(&Tree) -> u64| self.forest.trees().map(value).sum();
        Extent {
            bytes: sum(Tree::total_size),
            inodes: sum(|tree| tree.len().into()),
        }
    }

    fn folds(&self) -> bool {
        !self.options.case_sensitive
    }

    fn directory(&self, ino: Ino) -> Result<Directory<'_>> {
        let (ino, alias) = match self.forest.get(ino) {
            Some(_) => (ino, false),
            None => match lock(&self.guests).get(ino) {
                Some(GuestKind::Alias { directory, .. }) => (*directory, true),
                Some(GuestKind::Snapshot(_)) => return Err(Error::NotADirectory),
                None => return Err(Error::NotFound),
            },
        };
        let node = self.forest.get(ino).ok_or(Error::NotFound)?;
        match kind_of(node) {
            FileKind::Directory => Ok(Directory { node, alias }),
            _ => Err(Error::NotADirectory),
        }
    }

    fn node_attr(&self, node: Node<'_>) -> Result<Attr> {
        let inode = node.tree.inode(node.index).ok_or(Error::NotFound)?;
        let size = match (inode.kind, inode.size()) {
            (Kind::Symlink { target }, _) => node.tree.link_text(node.index, target).len() as u64,
            (_, Some(size)) => size,
            (_, None) => self.text_size(node)?,
        };
        Ok(Attr {
            ino: node.ino(),
            kind: kind_of(node),
            size,
            modified: inode.modified,
            nlink: inode.nlink,
            lasting: true,
        })
    }

    fn guest_attr(&self, ino: Ino) -> Result<Attr> {
        let kind = lock(&self.guests).get(ino).cloned();
        match kind.ok_or(Error::NotFound)? {
            GuestKind::Alias { directory, .. } => {
                let node = self.forest.get(directory).ok_or(Error::NotFound)?;
                let attr = self.node_attr(node)?;
                Ok(Attr { ino, ..attr })
            }
            GuestKind::Snapshot(text) => Ok(Attr {
                ino,
                kind: FileKind::File,
                size: text.len() as u64,
                modified: self.getattr(Ino::ROOT)?.modified,
                nlink: 1,
                lasting: false,
            }),
        }
    }

    fn shortcut_attr(&self, directory: Ino) -> Result<Attr> {
        let node = self.forest.get(directory).ok_or(Error::NotFound)?;
        Ok(Attr {
            ino: Ino(directory.0 | Ino::SHORTCUT),
            kind: FileKind::Symlink,
            size: node.tree.name(node.index).len() as u64,
            nlink: 1,
            ..self.node_attr(node)?
        })
    }

    /// Size of a generated text, which is made for it the first time.
    fn text_size(&self, node: Node<'_>) -> Result<u64> {
        if let Some(&size) = lock(&self.text_sizes).get(&node.ino()) {
            return Ok(size);
        }
        let text = self
            .reader
            .text(self.source(node)?)
            .map_err(|error| self.failed(node, &error))?;
        let size = text.len() as u64;
        lock(&self.text_sizes).insert(node.ino(), size);
        Ok(size)
    }

    /// Where the bytes of a file come from.
    fn source(&self, node: Node<'_>) -> Result<Source<'_>> {
        let inode = node.tree.inode(node.index).ok_or(Error::NotFound)?;
        let Kind::File { archive, file } = inode.kind else {
            return Err(Error::IsADirectory);
        };
        let archive: &dyn Archive = match self.volumes.get(archive as usize) {
            Some(volume) => &*volume.archive,
            None => &self.control,
        };
        Ok(Source {
            ino: node.ino(),
            archive,
            file,
        })
    }

    /// File name of the archive that a file comes from.
    fn volume_name(&self, node: Node<'_>) -> &str {
        match node.tree.inode(node.index).map(|inode| inode.kind) {
            Some(Kind::File { archive, .. }) => self
                .volumes
                .get(archive as usize)
                .map_or(control::NAME, |volume| &volume.name),
            _ => "",
        }
    }

    fn failed(&self, node: Node<'_>, error: &crate::io::Error) -> Error {
        let path = node.tree.path(node.index);
        let archive = self.volume_name(node);
        self.stats.failed(format!("{archive}: {path}: {error}"));
        Error::Io
    }

    fn stats_json(&self) -> serde_json::Value {
        let (hits, misses, used) = self.reader.cache_state();
        let mut stats = self.stats.to_json();
        stats["cache"] = json!({
            "hits": hits,
            "misses": misses,
            "bytes": used,
            "budget": self.options.cache_size,
        });
        stats["tree_bytes"] = json!(self.forest.trees().map(Tree::memory).sum::<usize>());
        stats["guests"] = json!(lock(&self.guests).len());
        stats
    }
}

/// The bytes that the archive has for a name.
const RAW_NAME: &str = "user.hpimount.raw_name";

/// File name of the archive that a file comes from.
const SOURCE: &str = "user.hpimount.source";

fn kind_of(node: Node<'_>) -> FileKind {
    match node.tree.inode(node.index).map(|inode| inode.kind) {
        Some(Kind::Dir { .. }) => FileKind::Directory,
        Some(Kind::Symlink { .. }) => FileKind::Symlink,
        _ => FileKind::File,
    }
}

/// The directory that a shortcut leads to.
fn shortcut_target(ino: Ino) -> Option<Ino> {
    (ino.0 & Ino::SHORTCUT != 0).then_some(Ino(ino.0 & !Ino::SHORTCUT))
}
