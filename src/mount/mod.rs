//! What is mounted, without FUSE: the tree of inodes, lookups by name, and
//! the bytes of files.
//!
//! A [`Vfs`] answers questions in the terms of a file system and is used by
//! several threads at once. It never writes and, but for the guests (inodes
//! for other spellings of directories), never changes.

mod again;
pub mod companion;
mod control;
mod enter;
pub mod error;
mod game;
mod merge;
mod open;
mod prefetch;
pub mod stats;
mod volumes;
mod xattr;

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, Weak};

use self::enter::Entrance;
pub use self::error::{Error, OpenCause, OpenError};
pub use self::game::Order;
pub use self::open::Sources;
pub use self::prefetch::Prefetch;
use self::stats::Stats;
use self::volumes::{Content, Volume};
use crate::content::cache::lock;
pub use crate::content::read::Bytes;
use crate::content::read::{Reader, Source};
use crate::io;
use crate::namespace::aliases::{GuestKind, Guests};
use crate::namespace::table::{Forest, Node};
use crate::namespace::tree::{self, Inode, Kind, Tree};
use crate::view::json;
use crate::volume;

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

/// What is shown of the directories `X.meta` beside assets, and of the
/// converted trees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Meta {
    /// By the kind of container.
    #[default]
    Default,
    /// They are listed everywhere.
    Visible,
    /// They are listed nowhere, and found by name.
    Hidden,
    /// There are none.
    Off,
}

impl Meta {
    /// Whether there are such directories, listed or not.
    pub fn is_on(self) -> bool {
        self != Self::Off
    }
}

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
    /// Whether assets have directories `X.meta` beside them.
    pub meta: Meta,
    /// Whether archives have directories `X.d` beside them.
    pub companions: bool,
    /// Most bytes of temporary file that hold generated files for which
    /// `cache_size` is too small.
    pub spool_size: u64,
    /// Refuse to mount where one of several sources cannot be.
    pub strict: bool,
    /// Where it will be mounted, as an absolute path without symbolic links:
    /// a folder that it lies in does not show it.
    pub mount_point: Option<PathBuf>,
}

impl Options {
    /// What the archive called `name` is told.
    fn archive_options(&self, name: &str) -> volume::Options {
        volume::Options {
            name: name.to_owned(),
            force: self.force,
            verify: self.verify,
        }
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            case_sensitive: false,
            cache_size: 64 << 20,
            force: false,
            verify: false,
            meta: Meta::Default,
            companions: true,
            spool_size: 1 << 30,
            strict: false,
            mount_point: None,
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
    volumes: boxcar::Vec<Volume>,
    /// Held while a tree and its volumes are added.
    planting: Mutex<()>,
    /// The directories that were entered, if they are not plain ones.
    entrances: Mutex<HashMap<Ino, Entrance>>,
    control: OnceLock<ControlInodes>,
    guests: Mutex<Guests>,
    /// Sizes of the generated texts that were made, for good.
    text_sizes: Mutex<HashMap<Ino, u64>>,
    reader: Reader,
    stats: Stats,
    options: Options,
    /// For the archives inside archives, which read through the mount.
    me: Weak<Self>,
}

/// The inodes of `.hpimount`.
#[derive(Debug, Clone, Copy)]
struct ControlInodes {
    root: Ino,
    /// `stats.json` in listings; a lookup gives a snapshot instead.
    stats: Ino,
}

/// A directory that was looked up by its number.
struct Directory<'a> {
    /// What holds its entries.
    node: Node<'a>,
    /// Whether it was reached by another spelling, so that its children must
    /// be too.
    alias: bool,
}

impl Vfs {
    /// A mount without trees.
    fn empty(options: Options) -> Arc<Self> {
        Arc::new_cyclic(|me| Self {
            forest: Forest::new(),
            volumes: boxcar::Vec::new(),
            planting: Mutex::default(),
            entrances: Mutex::default(),
            control: OnceLock::new(),
            guests: Mutex::new(Guests::new()),
            text_sizes: Mutex::default(),
            reader: Reader::new(options.cache_size),
            stats: Stats::default(),
            options,
            me: me.clone(),
        })
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
            return match self.control.get() {
                Some(control) if parent == Ino::ROOT && name == control::NAME => {
                    self.getattr(control.root)
                }
                _ => Err(Error::NotFound),
            };
        };
        self.entry(parent, name, node.other(index), alias || true_name != name)
    }

    /// The attributes of an entry that is going to be told to the kernel.
    fn entry(&self, parent: Ino, name: &str, node: Node<'_>, aliased: bool) -> Result<Attr> {
        let ino = node.ino();
        if self
            .control
            .get()
            .is_some_and(|control| ino == control.stats)
        {
            let mut guests = lock(&self.guests);
            let guest_count = guests.len();
            let text = || json::pretty(&self.stats_json(guest_count));
            let guest = guests.snapshot(&self.forest, text);
            drop(guests);
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
    pub fn readlink(&self, ino: Ino) -> Result<Vec<u8>> {
        if let Some(directory) = shortcut_target(ino) {
            let node = self.forest.get(directory).ok_or(Error::NotFound)?;
            return Ok(self.way_around(node).into_bytes());
        }
        let node = self.forest.get(ino).ok_or(Error::NotFound)?;
        let text = node.tree.link(node.index);
        text.map(Cow::into_owned).ok_or(Error::NotALink)
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
            let kind = child.kind().map_or(FileKind::File, Kind::file_kind);
            if emit(name, child.ino(), kind, next) {
                break;
            }
        }
        Ok(())
    }

    /// As [`Vfs::readdir`], with the attributes of the entries. Each entry
    /// that `emit` takes counts as one lookup.
    ///
    /// Listing makes no texts: one that nobody has asked for has the size 0
    /// here, and attributes that do not last, so that whoever wants to know
    /// more looks it up.
    ///
    /// # Errors
    /// [`Error::NotADirectory`], [`Error::NotFound`].
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
            let child = node.other(index);
            let attr = match self.unmade_attr(child) {
                Some(attr) => attr,
                None => self.entry(ino, name, child, alias)?,
            };
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
        let node = self.forest.get(ino).ok_or(Error::NotFound)?;
        let inode = node.tree.inode(node.index).ok_or(Error::NotFound)?;
        if node.index == tree::ROOT {
            return Ok(Ino::ROOT);
        }
        // The root of a planted tree is seen as the directory it is for.
        match node.tree.origin.filter(|_| inode.parent == tree::ROOT) {
            Some(origin) => Ok(origin),
            None => Ok(node.ino_of(inode.parent)),
        }
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
            None => {
                let text = lock(&self.guests).read(ino).ok_or(Error::NotFound)?;
                Bytes::part_of(text, offset..offset.saturating_add(size.into()))
            }
        };
        let length = bytes.len() as u64;
        self.stats.bytes_read.add(length);
        Ok(bytes)
    }

    /// As [`Vfs::read`], of a file of the trees, for an archive in that file:
    /// an error says what is behind it, and is not logged.
    fn read_inner(&self, ino: Ino, offset: u64, size: u32) -> std::io::Result<Bytes> {
        let node = self.forest.get(ino).ok_or(std::io::ErrorKind::NotFound)?;
        let attr = self.node_attr(node).map_err(std::io::Error::other)?;
        let end = attr.size.min(offset.saturating_add(size.into()));
        self.bytes_of(node, offset..end)
            .map_err(std::io::Error::other)
    }

    fn read_node(&self, node: Node<'_>, offset: u64, size: u32) -> Result<Bytes> {
        let file_size = self.node_attr(node)?.size;
        let end = file_size.min(offset.saturating_add(size.into()));
        if !matches!(node.kind(), Some(Kind::File { .. })) {
            return Err(Error::IsADirectory);
        }
        self.bytes_of(node, offset..end)
            .map_err(|error| self.failed(node, &error))
    }

    /// The bytes of a file, of which there are some up to the end of `range`.
    fn bytes_of(&self, node: Node<'_>, range: Range<u64>) -> io::Result<Bytes> {
        if range.start >= range.end {
            return Ok(Bytes::Owned(Vec::new()));
        }
        match self.source(node) {
            Some(source) => self.reader.read(source, range, &self.stats),
            None => self.text(node).map(|text| Bytes::part_of(text, range)),
        }
    }

    /// What the bytes of a file are read from; `None` where they are made
    /// from a view.
    fn source(&self, node: Node<'_>) -> Option<Source<'_>> {
        let archive = self.volume(node)?.archive()?;
        let Some(Kind::File { file, .. }) = node.kind() else {
            return None;
        };
        let ino = node.ino();
        Some(Source { ino, archive, file })
    }

    /// The text of a generated file.
    fn text(&self, node: Node<'_>) -> io::Result<Arc<Vec<u8>>> {
        let (Some(volume), Some(Kind::File { file, .. })) = (self.volume(node), node.kind()) else {
            return Ok(Arc::default());
        };
        self.reader.text(node.ino(), || match &volume.content {
            Content::Meta { asset, format } => match self.forest.get(*asset) {
                Some(asset) => Ok(self.model(asset, format)?.render(file.0 as usize)),
                None => Ok(Vec::new()),
            },
            Content::Archive(archive) => archive.generate(file),
            Content::Folder(_) => Ok(Vec::new()),
        })
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
        let node = self.enter(node)?;
        Ok(Directory { node, alias })
    }

    fn node_attr(&self, node: Node<'_>) -> Result<Attr> {
        let inode = node.tree.inode(node.index).ok_or(Error::NotFound)?;
        let size = match (node.tree.link(node.index), inode.size()) {
            (Some(text), _) => text.len() as u64,
            (None, Some(size)) => size,
            (None, None) => self.text_size(node)?,
        };
        Ok(attr_of(node, inode, size))
    }

    /// The attributes of a generated text that was never made, as a listing
    /// shows them.
    fn unmade_attr(&self, node: Node<'_>) -> Option<Attr> {
        let inode = node.tree.inode(node.index)?;
        let is_text = inode.kind.file_kind() == FileKind::File && inode.size().is_none();
        if !is_text || lock(&self.text_sizes).contains_key(&node.ino()) {
            return None;
        }
        Some(Attr {
            lasting: false,
            ..attr_of(node, inode, 0)
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
            size: self.way_around(node).len() as u64,
            nlink: 1,
            ..self.node_attr(node)?
        })
    }

    /// Size of a generated text, which is made for it the first time.
    fn text_size(&self, node: Node<'_>) -> Result<u64> {
        if let Some(&size) = lock(&self.text_sizes).get(&node.ino()) {
            return Ok(size);
        }
        let text = self.text(node).map_err(|error| self.failed(node, &error))?;
        let size = text.len() as u64;
        lock(&self.text_sizes).insert(node.ino(), size);
        Ok(size)
    }

    /// What a file, or a directory of a folder, is read from.
    fn volume(&self, node: Node<'_>) -> Option<&Volume> {
        match node.kind()? {
            Kind::File { archive, .. } | Kind::HostDir { archive, .. } => self
                .volumes
                .get((node.tree.first_volume + archive) as usize),
            _ => None,
        }
    }

    /// Path of an inode from the mount point on.
    fn path(&self, node: Node<'_>) -> String {
        let mut path = node.tree.path(node.index);
        let mut tree = node.tree;
        while let Some(outer) = tree.origin.and_then(|origin| self.forest.get(origin)) {
            path = format!("{}/{path}", outer.tree.path(outer.index));
            tree = outer.tree;
        }
        path
    }

    /// Text of a symbolic link that leads to a directory from beside it. It
    /// holds also where the directories above are spelt in another way: it
    /// goes up to the mount point, and down by the right names.
    fn way_around(&self, directory: Node<'_>) -> String {
        let path = self.path(directory);
        "../".repeat(path.matches('/').count()) + &path
    }

    /// Logs why a file cannot be read.
    fn failed(&self, node: Node<'_>, error: &io::Error) -> Error {
        let path = self.path(node);
        let archive = self.volume(node).map_or("", |volume| &volume.name);
        self.stats.failed(format!("{archive}: {path}: {error}"));
        Error::Io
    }

    fn stats_json(&self, guests: usize) -> serde_json::Value {
        let (hits, misses, used) = self.reader.cache_state();
        let mut stats = self.stats.to_json();
        stats["cache"] = serde_json::json!({
            "hits": hits,
            "misses": misses,
            "bytes": used,
            "budget": self.options.cache_size,
        });
        stats["tree_bytes"] = self.forest.trees().map(Tree::memory).sum::<usize>().into();
        stats["guests"] = guests.into();
        stats
    }
}

/// The attributes of an inode of a tree.
fn attr_of(node: Node<'_>, inode: &Inode, size: u64) -> Attr {
    Attr {
        ino: node.ino(),
        kind: inode.kind.file_kind(),
        size,
        modified: inode.modified,
        nlink: inode.nlink,
        lasting: true,
    }
}

/// The directory that a shortcut leads to.
fn shortcut_target(ino: Ino) -> Option<Ino> {
    (ino.0 & Ino::SHORTCUT != 0).then_some(Ino(ino.0 & !Ino::SHORTCUT))
}
