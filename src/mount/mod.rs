//! A mount assembled from sources, with the operations of a file system but
//! independent of FUSE.
//!
//! A [`Vfs`] is shared by several threads. It never writes, and what it shows
//! changes only with the sources themselves. Its parts:
//!
//! * subtrees: the trees of inodes (`namespace`) with the volumes of their
//!   files. Those of the sources are permanent; those of folders below them, of
//!   companions (`X.d`, `X.meta`) and of the directories of converted trees are
//!   built on demand, count towards the memory budget, and are evicted when
//!   memory is short. They are rebuilt with the same inode numbers, so that
//!   eviction is invisible;
//! * the reader (`content`) for the data of their files;
//! * transient inodes, which exist while the kernel remembers them.
//!
//! # Lock order
//!
//! A thread that holds one of these may take only those that come later:
//!
//! 1. the flight of a subtree, while it is built: of an inner one, then of
//!    those around it;
//! 2. the flight of a rendering;
//! 3. the flight of a model. Models that depend on each other do not wait for
//!    each other (`Cache::get_without_waiting`), and memory is reserved before
//!    the flight is entered. While a model or a rendering is made, folders and
//!    archives (1) may be entered: building those takes no rendering and no
//!    model, and an `X.meta` is never entered from here;
//! 4. the flight of a block: of an inner volume, then of those around it, with
//!    the stream of a long chunk between them;
//! 5. all others: shards of the caches, the budget, the lists of numbers,
//!    transient inodes, open files, errors, and the state of the prefetch. They
//!    are held for a few instructions, the last one also while the next files
//!    of a reader are determined in its tree.
//!
//! No lock is held while replies or page cache data are sent to the kernel.

mod again;
mod beside;
mod context;
mod control;
mod converted;
mod enter;
mod error;
mod find;
mod image;
mod inspect;
mod invalidate;
mod layout;
mod listing;
mod merge;
mod open;
mod order;
mod partner;
mod prefetch;
mod read;
mod render;
mod sources;
mod subtree;
mod xattr;

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::fs::File as DiskFile;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock};

pub use self::error::{Error, OpenCause, OpenError};
pub use self::inspect::{Archive, Entry, Parsed, Role, Trouble};
pub use self::invalidate::Invalidations;
pub use self::order::Order;
pub use self::prefetch::{Noted, Prefetch};
pub use self::sources::{Prepared, Sources};
use self::subtree::{Node, Subtree};
use crate::content::Reader;
pub use crate::content::{Access, Bytes};
use crate::memory::budget::{Budget, Charge};
use crate::memory::cache::Cache;
pub use crate::namespace::companion::Meta;
use crate::namespace::companion::Shows;
use crate::namespace::numbers::{Numbers, Origin};
use crate::namespace::transient::{TransientKind, Transients};
use crate::namespace::tree::{Inode, ROOT};
pub use crate::namespace::{FileKind, Ino};
use crate::source::remote::{Network, Remote};
use crate::sync::lock;
use crate::sync::tally::Tally;
pub use hpimount_assets::total_annihilation::context::ChosenPalette;
use hpimount_assets::view::json;
use hpimount_containers::format;
use hpimount_containers::io;

/// Result of an operation on an inode.
pub type Result<T> = std::result::Result<T, Error>;

/// Number of shards of the cache of subtrees; with more, the oldest subtree
/// would be harder to find.
const SUBTREE_SHARDS: usize = 4;

/// Options of a mount.
#[derive(Debug, Clone)]
pub struct Options {
    /// Find names only in their exact spelling.
    pub case_sensitive: bool,
    /// Memory budget in bytes.
    pub cache_size: usize,
    /// Maximum size of the temporary file for generated files.
    pub spool_size: u64,
    /// The temporary file, opened before the process is confined; if `None`, it
    /// is opened on demand.
    pub spool: Option<Arc<DiskFile>>,
    /// Mount and read past damage as far as possible.
    pub force: bool,
    /// Compute checksums for listings.
    pub verify: bool,
    /// Show the contents of archives in directories beside them.
    pub companions: bool,
    /// Which companions of assets are listed, and whether `converted` is.
    pub meta: Meta,
    /// Use the converted tree as the root.
    pub converted: bool,
    /// The palette of all pictures that have none of their own.
    pub palette: Option<Arc<ChosenPalette>>,
    /// Mount nothing if one of several sources cannot be mounted.
    pub strict: bool,
    /// The threads that read sources on servers; if `None`, they are started on
    /// demand and not confined.
    pub network: Option<Arc<Network>>,
    /// The mount point, as an absolute path without symbolic links: a folder
    /// that contains it does not show it.
    pub mount_point: Option<PathBuf>,
}

impl Options {
    /// Returns the options for opening the volume called `name`.
    fn volume_options(&self, name: &str) -> format::Options {
        format::Options {
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
            spool_size: 1 << 30,
            spool: None,
            force: false,
            verify: false,
            companions: true,
            meta: Meta::Default,
            converted: false,
            palette: None,
            strict: false,
            network: None,
            mount_point: None,
        }
    }
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
    /// How many inodes had its number before.
    pub reuse: u32,
    /// Whether its name and attributes never change while mounted.
    pub lasting: bool,
}

/// Size of the mount as `statfs` reports it.
#[derive(Debug, Clone, Copy)]
pub struct Extent {
    /// Decoded bytes of all files.
    pub bytes: u64,
    /// Number of inodes.
    pub inodes: u64,
}

/// The mounted file system.
pub struct Vfs {
    numbers: Numbers,
    /// The charge for the memory of `numbers`, which are never evicted.
    numbers_charge: Mutex<Charge>,
    /// The permanent subtrees: those of the sources and of `.hpimount`. Their
    /// numbers precede all others.
    fixed: boxcar::Vec<Subtree>,
    /// The other subtrees, within the budget.
    subtrees: Arc<Cache<Origin, Arc<Subtree>, Error>>,
    control: OnceLock<ControlInodes>,
    transients: Mutex<Transients>,
    reader: Arc<Reader>,
    /// The sources on servers.
    remote: OnceLock<Arc<Remote>>,
    invalidations: Arc<Invalidations>,
    options: Options,
}

/// The inodes of `.hpimount`.
#[derive(Debug, Clone, Copy)]
struct ControlInodes {
    root: Ino,
    /// `stats.json` in listings; a lookup returns a snapshot instead.
    stats: Ino,
}

impl Vfs {
    /// Creates a mount without subtrees.
    fn empty(options: Options) -> Self {
        let budget = Budget::new(options.cache_size);
        let spool = crate::content::Spool::new(options.spool.clone(), options.spool_size);
        Self {
            numbers: Numbers::default(),
            numbers_charge: Mutex::new(budget.empty_charge("inode numbers")),
            fixed: boxcar::Vec::new(),
            subtrees: Cache::new(&budget, SUBTREE_SHARDS),
            control: OnceLock::new(),
            transients: Mutex::new(Transients::default()),
            reader: Reader::new(&budget, spool),
            remote: OnceLock::new(),
            invalidations: Arc::default(),
            options,
        }
    }

    /// Returns the queue of entries that the kernel must forget.
    pub fn invalidations(&self) -> &Arc<Invalidations> {
        &self.invalidations
    }

    /// Finds the entry `name` of a directory, and counts one lookup of the
    /// result (see [`Vfs::forget`]).
    ///
    /// # Errors
    /// Returns [`Error::NotFound`], or [`Error::NotADirectory`] if the parent
    /// is not a directory.
    pub fn lookup(&self, parent: Ino, name: &str) -> Result<Attr> {
        self.reader.stats.count(|stats| &stats.lookups);
        let (node, alias) = self.directory(parent)?;
        if let Some((true_name, index)) = node.tree().find(node.index, name, self.folds()) {
            let aliased = alias || true_name != name;
            return self.entry(parent, name, &node.other(index), aliased);
        }
        if let Some(control) = self.control.get()
            && parent == Ino::ROOT
            && name == control::NAME
        {
            return self.getattr(control.root);
        }
        let (companion, true_name) = self.hidden_companion(&node, name)?;
        let aliased = alias || true_name != name;
        self.entry(parent, name, &companion, aliased)
    }

    /// Returns the attributes of an entry that the kernel will remember.
    fn entry(&self, parent: Ino, name: &str, node: &Node<'_>, aliased: bool) -> Result<Attr> {
        let ino = node.ino();
        if self
            .control
            .get()
            .is_some_and(|control| ino == control.stats)
        {
            let mut transients = lock(&self.transients);
            let count = transients.count();
            let text = || json::pretty(&self.stats_json(count));
            let snapshot = transients.snapshot(&self.numbers, text);
            drop(transients);
            return self.transient_attr(snapshot.ok_or(Error::NoNumbers)?);
        }
        let attr = self.node_attr(node)?;
        if !aliased || attr.kind != FileKind::Directory {
            return Ok(attr);
        }
        let mut transients = lock(&self.transients);
        match transients.alias(&self.numbers, parent, name, ino) {
            Some(alias) => Ok(Attr {
                ino: alias,
                reuse: transients.reuse(alias),
                ..attr
            }),
            None => {
                drop(transients);
                self.shortcut_attr(ino)
            }
        }
    }

    /// Drops `lookups` of the lookups of an inode, which the kernel has
    /// forgotten.
    pub fn forget(&self, ino: Ino, lookups: u64) {
        // Numbers of subtrees are permanent; only transient inodes are counted.
        if self.numbers.find(ino).is_none() {
            lock(&self.transients).forget(ino, lookups);
        }
    }

    /// Returns the attributes of an inode.
    ///
    /// # Errors
    /// Returns [`Error::NotFound`], or [`Error::Io`] if a generated file cannot
    /// be rendered to determine its size.
    pub fn getattr(&self, ino: Ino) -> Result<Attr> {
        self.reader.stats.count(|stats| &stats.getattrs);
        match self.node(ino) {
            Err(Error::NotFound) => {}
            node => return self.node_attr(&node?),
        }
        match shortcut_target(ino) {
            Some(directory) => self.shortcut_attr(directory),
            None => self.transient_attr(ino),
        }
    }

    /// Returns the text of a symbolic link.
    ///
    /// # Errors
    /// Returns [`Error::NotALink`] or [`Error::NotFound`].
    pub fn readlink(&self, ino: Ino) -> Result<Vec<u8>> {
        if let Some(directory) = shortcut_target(ino) {
            return Ok(self.shortcut_text(&self.node(directory)?)?.into_bytes());
        }
        let node = self.node(ino)?;
        let text = node.tree().link(node.index);
        text.map(Cow::into_owned).ok_or(Error::NotALink)
    }

    /// Returns the parent of a directory.
    ///
    /// # Errors
    /// Returns [`Error::NotADirectory`] or [`Error::NotFound`].
    pub fn parent(&self, ino: Ino) -> Result<Ino> {
        if let Some(TransientKind::Alias { parent, .. }) = lock(&self.transients).get(ino) {
            return Ok(*parent);
        }
        let node = self.node(ino)?;
        if let Some(origin) = node.origin() {
            return self.parent_of_root(origin);
        }
        let inode = node.tree().inode(node.index).ok_or(Error::NotFound)?;
        // The root of a subtree is seen as the directory at which it is
        // grafted.
        match node.subtree().range.origin {
            Origin::Directory(directory) if inode.parent == ROOT => Ok(directory),
            _ => Ok(node.ino_of(inode.parent)),
        }
    }

    fn parent_of_root(&self, origin: Origin) -> Result<Ino> {
        match origin {
            Origin::Root | Origin::Files | Origin::Control => Ok(Ino::ROOT),
            Origin::Directory(directory) => self.parent(directory),
            Origin::Hidden(directory, Shows::Converted) => match self.node(directory)?.origin() {
                Some(Origin::Directory(seen)) => Ok(seen),
                _ => Ok(directory),
            },
            Origin::Hidden(asset, _) => {
                let asset = self.node(asset)?;
                let inode = asset.tree().inode(asset.index).ok_or(Error::NotFound)?;
                match asset.subtree().range.origin {
                    Origin::Directory(directory) if inode.parent == ROOT => Ok(directory),
                    _ => Ok(asset.ino_of(inode.parent)),
                }
            }
        }
    }

    /// Returns the number of lookups, attribute requests, listings and reads so
    /// far; it grows with every use that reaches this process.
    pub fn uses(&self) -> u64 {
        let stats = &self.reader.stats;
        let counters = [
            &stats.lookups,
            &stats.getattrs,
            &stats.readdirs,
            &stats.reads,
        ];
        counters.into_iter().map(Tally::get).sum()
    }

    /// Returns the size of the mount.
    pub fn extent(&self) -> Extent {
        let fixed = self.fixed.iter();
        Extent {
            bytes: fixed.map(|(_, subtree)| subtree.tree.total_size()).sum(),
            inodes: self.numbers.inodes(),
        }
    }

    fn folds(&self) -> bool {
        !self.options.case_sensitive
    }

    /// Returns the inode with this number.
    fn node(&self, ino: Ino) -> Result<Node<'_>> {
        let (range_number, range) = self.numbers.find(ino).ok_or(Error::NotFound)?;
        let index = ino.0 - range.first;
        if let Some(subtree) = self.fixed.get(range_number) {
            return Ok(Node::fixed(subtree, index));
        }
        let subtree = self.subtree(range.origin)?;
        if subtree.range.first != range.first {
            // The subtree was built again after its source had changed, or the
            // number was in use when the kernel was to forget it.
            self.invalidate(range.origin);
            return Err(Error::Stale);
        }
        Ok(Node::entered(subtree, index))
    }

    /// Returns the node that holds the entries of a directory, and whether it
    /// was reached by another spelling, which then applies to its children.
    fn directory(&self, ino: Ino) -> Result<(Node<'_>, bool)> {
        let (node, alias) = match self.node(ino) {
            Ok(node) => (node, false),
            Err(Error::NotFound) => {
                let directory = match lock(&self.transients).get(ino) {
                    Some(TransientKind::Alias { directory, .. }) => *directory,
                    Some(TransientKind::Snapshot(_)) => return Err(Error::NotADirectory),
                    None => return Err(Error::NotFound),
                };
                (self.node(directory)?, true)
            }
            Err(error) => return Err(error),
        };
        Ok((self.enter(node)?, alias))
    }

    fn node_attr(&self, node: &Node<'_>) -> Result<Attr> {
        let inode = node.tree().inode(node.index).ok_or(Error::NotFound)?;
        let size = match (node.tree().link(node.index), inode.size()) {
            (Some(text), _) => text.len() as u64,
            (None, Some(size)) => size,
            (None, None) => self
                .rendered_size(node)
                .map_err(|error| self.failed(node, &error))?,
        };
        Ok(attr_of(node, inode, size))
    }

    fn transient_attr(&self, ino: Ino) -> Result<Attr> {
        let (kind, reuse) = {
            let transients = lock(&self.transients);
            let kind = transients.get(ino).cloned();
            (kind.ok_or(Error::NotFound)?, transients.reuse(ino))
        };
        match kind {
            TransientKind::Alias { directory, .. } => {
                let attr = self.node_attr(&self.node(directory)?)?;
                Ok(Attr { ino, reuse, ..attr })
            }
            TransientKind::Snapshot(text) => Ok(Attr {
                ino,
                kind: FileKind::File,
                size: text.len() as u64,
                modified: self.getattr(Ino::ROOT)?.modified,
                nlink: 1,
                reuse,
                lasting: false,
            }),
        }
    }

    fn shortcut_attr(&self, directory: Ino) -> Result<Attr> {
        let node = self.node(directory)?;
        Ok(Attr {
            ino: Ino(directory.0 | Ino::SHORTCUT),
            kind: FileKind::Symlink,
            size: self.shortcut_text(&node)?.len() as u64,
            nlink: 1,
            ..self.node_attr(&node)?
        })
    }

    /// Returns the path of an inode relative to the mount point.
    fn path(&self, node: &Node<'_>) -> Result<String> {
        let path = node.tree().path(node.index);
        let outer = match node.subtree().range.origin {
            Origin::Root | Origin::Files => return Ok(path),
            Origin::Control => control::NAME.to_owned(),
            Origin::Directory(directory) => self.path(&self.node(directory)?)?,
            Origin::Hidden(directory, shows @ Shows::Converted) => {
                let directory = self.path(&self.node(directory)?)?;
                joined(directory, &shows.name_beside(""))
            }
            Origin::Hidden(asset, shows) => shows.name_beside(&self.path(&self.node(asset)?)?),
        };
        Ok(joined(outer, &path))
    }

    /// Returns the text of a shortcut to a directory, relative to its parent.
    /// It is also valid if the directories above are spelt differently, since
    /// it leads up to the mount point and down by the exact names.
    fn shortcut_text(&self, directory: &Node<'_>) -> Result<String> {
        let path = self.path(directory)?;
        Ok("../".repeat(path.matches('/').count()) + &path)
    }

    /// Logs why a file cannot be read.
    fn failed(&self, node: &Node<'_>, error: &io::Error) -> Error {
        let path = self.path(node).unwrap_or_default();
        let volume = node.volume().map_or("", |volume| &volume.name);
        self.reader
            .stats
            .failed(format!("{volume}: {path}: {error}"));
        Error::from(error)
    }

    fn stats_json(&self, transients: usize) -> serde_json::Value {
        let mut stats = self.reader.stats.to_json();
        stats["cache"] = self.reader.cache_json();
        if let Some(remote) = self.remote.get() {
            stats["remote"] = remote.to_json();
        }
        let fixed = self.fixed.iter();
        let memory = fixed.map(|(_, subtree)| subtree.tree.memory());
        stats["tree_bytes"] = memory.sum::<usize>().into();
        stats["transient_inodes"] = transients.into();
        stats
    }
}

/// Joins two paths.
fn joined(outer: String, path: &str) -> String {
    match (outer.is_empty(), path.is_empty()) {
        (_, true) => outer,
        (true, false) => path.to_owned(),
        (false, false) => format!("{outer}/{path}"),
    }
}

/// Returns the attributes of an inode of a tree.
fn attr_of(node: &Node<'_>, inode: &Inode, size: u64) -> Attr {
    Attr {
        ino: node.ino(),
        kind: inode.kind.file_kind(),
        size,
        modified: inode.modified,
        nlink: inode.nlink,
        reuse: 0,
        lasting: true,
    }
}

/// Returns the directory that a shortcut refers to.
fn shortcut_target(ino: Ino) -> Option<Ino> {
    (ino.0 & Ino::SHORTCUT != 0).then_some(Ino(ino.0 & !Ino::SHORTCUT))
}
