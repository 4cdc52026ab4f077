//! A mount assembled from sources, with the operations of a file system but
//! independent of FUSE.
//!
//! A [`Vfs`] is shared by several threads. It never writes, and its contents
//! change only with the sources.
//!
//! # Parts
//!
//! Opening: [`Sources`] names the sources, and `open` opens them. `partner`
//! finds the other files that a source consists of, `image` removes the block
//! images around a volume, and `order` decides which archive of a game wins.
//! `source_trees` makes one tree of all sources, and `merge` the tree of a
//! merged game. `volume` opens a file as a volume, both for a source and for an
//! archive inside another one.
//!
//! Subtrees: a mount consists of trees of inodes (`namespace`), each with the
//! volumes of its files (`subtree`). `grafts` keeps them and finds them by inode
//! numbers. The trees of the sources are permanent. The others are built on
//! demand by `build`: directories of folders, archives (`X.d`), and assets
//! (`X.meta`); `converted` builds the directories of converted trees, and `plain` the
//! plain files of discs. Those
//! trees count towards the memory budget and are evicted when memory is short.
//! A tree that is built again gets the same inode numbers, so that users do not
//! notice.
//!
//! Answers: `attributes`, `listing`, `xattr` and `read` answer requests about an
//! inode; `hidden` finds companions that are not listed; `place` knows paths and
//! parents; `control` is the directory `.hpimount`; `render` makes the files
//! that are generated, and `context`, `find`, `game` and `beside` give them access
//! to other files; `edited` turns them back into assets. Inodes that exist only while the kernel remembers them are in
//! `namespace::transient`; `invalidate` makes the kernel forget entries.
//!
//! [`Vfs`] itself holds these together: it turns the number of an inode into a
//! node of a subtree, and passes each request to the part that answers it.
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
//!    the stream between them that the block is decoded from. A thread that holds
//!    a stream may wait for memory that decoders of volumes at the same depth or
//!    further out use;
//! 5. all others: shards of the caches, the budget, the lists of numbers,
//!    transient inodes, open files, errors, and the state of the prefetch. They
//!    are held for a few instructions, the last one also while the next files
//!    of a reader are determined in its tree.
//!
//! No lock is held while replies or page cache data are sent to the kernel.

mod attributes;
mod beside;
mod build;
mod changes;
mod checks;
mod compare;
mod context;
mod control;
mod converted;
mod edited;
mod error;
mod find;
mod folder_ids;
mod game;
mod grafts;
mod hidden;
mod invalidate;
mod listing;
mod local_time;
mod merge;
mod open;
mod options;
mod order;
mod partner;
mod picture;
mod place;
mod plain;
mod read;
mod render;
mod source_trees;
mod sources;
mod subtree;
mod volume;
mod xattr;

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::sync::{Arc, Mutex, OnceLock};

pub use self::attributes::{Attr, Extent};
use self::changes::AppliedPaths;
pub(crate) use self::context::Context;
use self::control::ControlInodes;
pub(crate) use self::edited::{Converter, ForAsset};
pub use self::error::{Error, OpenCause, OpenError};
use self::grafts::{Grafts, Numbered};
use self::hidden::HiddenCompanions;
pub use self::invalidate::Invalidations;
use self::listing::Listing;
pub use self::options::Options;
pub use self::order::Order;
pub(crate) use self::picture::{MAX_PICTURES, arranged, format_of};
pub use self::sources::{Prepared, Sources};
pub use self::subtree::Node;
use self::subtree::Subtree;
use self::xattr::Xattrs;
pub(crate) use self::xattr::{MAX_PREVIEW, PREVIEW};
use crate::content::Reader;
pub use crate::content::{Access, Bytes};
use crate::memory::budget::Budget;
use crate::namespace::companion::Companions;
pub use crate::namespace::companion::Meta;
use crate::namespace::numbers::Origin;
use crate::namespace::transient::{TransientKind, Transients};
use crate::namespace::tree::{InodeKind, TreeBuilder};
pub use crate::namespace::{FileKind, Ino};
use crate::source::remote::Remote;
use crate::sync::lock;
use crate::sync::tally::Tally;
pub use hpimount_assets::total_annihilation::context::ChosenPalette;
use hpimount_containers::io;

/// Result of an operation on an inode.
pub type Result<T> = std::result::Result<T, Error>;

/// The mounted file system.
pub struct Vfs {
    grafts: Grafts,
    /// The inodes of `.hpimount`, which is missing if the sources use up all
    /// inode numbers.
    control: Option<ControlInodes>,
    transients: Mutex<Transients>,
    pub(crate) reader: Arc<Reader>,
    /// The sources on servers.
    remote: OnceLock<Arc<Remote>>,
    invalidations: Arc<Invalidations>,
    /// What the mount shows of folders of changes.
    applied: AppliedPaths,
    pub(crate) options: Options,
}

/// The operations of a file system, as `fuse.rs` calls them.
impl Vfs {
    /// Finds the entry `name` of a directory, and counts one lookup of the
    /// result (see [`Vfs::forget`]).
    ///
    /// # Errors
    /// Returns [`Error::NotFound`], or [`Error::NotADirectory`] if the parent
    /// is not a directory.
    pub fn lookup(&self, parent: Ino, name: &str) -> Result<Attr> {
        self.reader.stats.count(|stats| &stats.lookups);
        let (node, is_aliased) = self.directory(parent)?;
        if let Some((true_name, index)) = node.tree().find(node.index, name, self.folds()) {
            let is_aliased = is_aliased || true_name != name;
            return self.entry(parent, name, &node.other(index), is_aliased);
        }
        if let Some(control) = self
            .control
            .as_ref()
            .and_then(|control| control.find(parent, name))
        {
            return self.getattr(control);
        }
        match plain::find(self, &node, name) {
            Err(Error::NotFound) => {}
            file => return Attr::of_node(self, &file?),
        }
        let found = HiddenCompanions::in_directory(self, &node)?.find(name)?;
        let is_aliased = is_aliased || found.name != name;
        self.entry(parent, name, &found.root, is_aliased)
    }

    /// Returns an inode that the kernel has forgotten, and counts one lookup of
    /// it (see [`Vfs::forget`]). NFS exports need this: clients remember numbers
    /// for longer than the local kernel does.
    ///
    /// # Errors
    /// Returns [`Error::NotFound`], also for inodes that exist only while the
    /// kernel remembers them, such as another spelling of a directory.
    pub fn lookup_again(&self, ino: Ino) -> Result<Attr> {
        if self.grafts.find(ino).is_none() {
            lock(&self.transients).look_again(ino);
        }
        self.getattr(ino)
    }

    /// Returns the parent of a directory, and counts one lookup of it.
    ///
    /// # Errors
    /// Returns an error under the same conditions as [`Vfs::parent`].
    pub fn lookup_parent(&self, ino: Ino) -> Result<Attr> {
        self.lookup_again(self.parent(ino)?)
    }

    /// Drops `lookups` of the lookups of an inode, which the kernel has
    /// forgotten.
    pub fn forget(&self, ino: Ino, lookups: u64) {
        // Numbers of subtrees are permanent; only transient inodes are counted.
        if self.grafts.find(ino).is_none() {
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
            node => return Attr::of_node(self, &node?),
        }
        match ino.shortcut_target() {
            Some(directory) => Attr::of_shortcut(self, directory),
            None => Attr::of_transient(self, ino),
        }
    }

    /// Returns the text of a symbolic link.
    ///
    /// # Errors
    /// Returns [`Error::NotALink`] or [`Error::NotFound`]; or, if the text is the
    /// data of a file, the errors of reading that.
    pub fn readlink(&self, ino: Ino) -> Result<Vec<u8>> {
        if let Some(directory) = ino.shortcut_target() {
            return Ok(place::link_text(self, &self.node(directory)?)?.into_bytes());
        }
        let node = self.node(ino)?;
        if let (Some(file), Some(size)) = (node.stored_link(), node.size()) {
            let text = self.reader.read(file, 0..size, Access::Unknown);
            let text = text.map_err(|error| self.failed(&node, &error))?;
            return Ok(text.to_vec());
        }
        let text = place::text_of(self, &node)?;
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
        place::parent(self, &self.node(ino)?)
    }

    /// Lists the entries of a directory from `offset` on, with name, inode,
    /// kind and the offset of the next entry, until `emit` returns that its
    /// buffer is full. Lookups are not counted.
    ///
    /// # Errors
    /// Returns [`Error::NotADirectory`] or [`Error::NotFound`].
    pub fn readdir(
        &self,
        ino: Ino,
        offset: u64,
        emit: &mut dyn FnMut(&str, Ino, FileKind, u64) -> bool,
    ) -> Result<()> {
        self.reader.stats.count(|stats| &stats.readdirs);
        Listing::new(self, ino, offset)?.plain(emit);
        Ok(())
    }

    /// Like [`Vfs::readdir`], with the attributes of the entries. Each entry
    /// that `emit` accepts counts as one lookup.
    ///
    /// Listing renders nothing: a generated file of unknown size is listed with
    /// size 0 and with attributes that are not cached, so that it is looked up
    /// when it is used.
    ///
    /// # Errors
    /// Returns [`Error::NotADirectory`] or [`Error::NotFound`]; none once
    /// `emit` has accepted an entry, since the kernel would not learn of its
    /// lookup.
    pub fn readdir_plus(
        &self,
        ino: Ino,
        offset: u64,
        emit: &mut dyn FnMut(&str, Attr, u64) -> bool,
    ) -> Result<()> {
        self.reader.stats.count(|stats| &stats.readdirs);
        Listing::new(self, ino, offset)?.with_attributes(emit)
    }

    /// Returns the names of the extended attributes of an inode.
    pub fn xattr_names(&self, ino: Ino) -> Vec<&'static str> {
        Xattrs::of(self, ino).map_or_else(|_| Vec::new(), |attributes| attributes.names())
    }

    /// Returns the value of an extended attribute.
    ///
    /// # Errors
    /// Returns [`Error::NoAttribute`], [`Error::AttributeKind`] for names
    /// outside `user.`, or [`Error::NotFound`]; [`Error::Io`] if the archive
    /// must be read but cannot be.
    pub fn xattr(&self, ino: Ino, name: &str) -> Result<Vec<u8>> {
        if !name.starts_with("user.") {
            // "Not supported" instead of "no such attribute": `ls` then asks
            // once for the whole mount, and not for every file.
            return Err(Error::AttributeKind);
        }
        Xattrs::of(self, ino)?.value(name)
    }

    /// Returns the queue of entries that the kernel must forget.
    pub fn invalidations(&self) -> &Arc<Invalidations> {
        &self.invalidations
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
        self.grafts.extent()
    }
}

/// Inodes, as the parts of a mount request them from each other.
impl Vfs {
    /// Creates a mount without subtrees.
    fn empty(options: Options) -> Self {
        let budget = Budget::new(options.cache_size);
        Self::within(&budget, options)
    }

    /// Like [`Vfs::empty`], with a memory budget that others use as well.
    fn within(budget: &Arc<Budget>, options: Options) -> Self {
        let spool = crate::content::Spool::new(options.spool.clone(), options.spool_size);
        Self {
            grafts: Grafts::new(budget),
            control: None,
            transients: Mutex::new(Transients::default()),
            reader: Reader::new(budget, spool),
            remote: OnceLock::new(),
            invalidations: Arc::default(),
            applied: AppliedPaths::default(),
            options,
        }
    }

    /// Returns the name of an entry as it is listed, which may differ from the
    /// one it was looked up by in upper and lower case.
    ///
    /// # Errors
    /// Returns an error if there is no such entry.
    pub fn spelling(&self, directory: Ino, name: &str) -> Result<String> {
        let (node, _) = self.directory(directory)?;
        if let Some((spelling, _)) = node.tree().find(node.index, name, self.folds()) {
            return Ok(spelling.to_owned());
        }
        let hidden = HiddenCompanions::in_directory(self, &node);
        match hidden.and_then(|hidden| hidden.find(name)) {
            Ok(found) => Ok(found.name),
            // It is generated, and has only this name.
            Err(Error::NotFound) => Ok(name.to_owned()),
            Err(error) => Err(error),
        }
    }

    fn folds(&self) -> bool {
        !self.options.case_sensitive
    }

    /// Returns the inode with this number, and builds its subtree unless that is
    /// cached.
    ///
    /// # Errors
    /// Returns [`Error::NotFound`] for other numbers, also for those of transient
    /// inodes; [`Error::Stale`] if its source has changed; or an error if its
    /// directory cannot be built again.
    pub fn node(&self, ino: Ino) -> Result<Node<'_>> {
        match self.grafts.find(ino).ok_or(Error::NotFound)? {
            Numbered::Permanent(node) => Ok(node),
            Numbered::Entered(range, index) => {
                let subtree = self.subtree(range.origin)?;
                if subtree.range.first != range.first {
                    // The subtree was built again after its source had changed,
                    // or the number was in use when the kernel was to forget it.
                    self.invalidate(range.origin);
                    return Err(Error::Stale);
                }
                Ok(Node::entered(subtree, index))
            }
        }
    }

    /// Returns the subtree at `origin`, and builds it unless it is cached.
    fn subtree(&self, origin: Origin) -> Result<Arc<Subtree>> {
        self.grafts.entered(origin, || build::subtree(self, origin))
    }

    /// Creates a builder whose tree counts towards the memory budget.
    fn new_builder(&self, modified: i64, companions: Companions) -> TreeBuilder {
        let mut builder = TreeBuilder::new(0, modified, companions);
        builder.charge(self.reader.budget().empty_charge("the directory"));
        builder
    }

    /// Returns the node that holds the entries of a directory: itself, or the
    /// root of the subtree grafted at it.
    fn enter<'a>(&'a self, node: Node<'a>) -> Result<Node<'a>> {
        match node.kind().ok_or(Error::NotFound)? {
            InodeKind::Dir { .. } => Ok(node),
            InodeKind::Deferred { .. }
            | InodeKind::Companion { .. }
            | InodeKind::ForeignCompanion { .. } => {
                let subtree = self.subtree(Origin::Directory(node.ino()))?;
                Ok(Node::entered_root(subtree))
            }
            InodeKind::Grafted => {
                let root = self.grafts.permanent_at(Origin::Directory(node.ino()));
                root.ok_or(Error::NotFound)
            }
            InodeKind::File { .. }
            | InodeKind::AssetLink { .. }
            | InodeKind::Verbatim { .. }
            | InodeKind::StoredLink { .. } => Err(Error::NotADirectory),
        }
    }

    /// Returns the node that holds the entries of a directory, and whether it
    /// was reached by another spelling, which then applies to its children.
    pub(crate) fn directory(&self, ino: Ino) -> Result<(Node<'_>, bool)> {
        let (node, is_aliased) = match self.node(ino) {
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
        Ok((self.enter(node)?, is_aliased))
    }

    /// Returns the attributes of an entry that the kernel will remember.
    fn entry(&self, parent: Ino, name: &str, node: &Node<'_>, is_aliased: bool) -> Result<Attr> {
        if self
            .control
            .as_ref()
            .is_some_and(|control| control.is_stats(node))
        {
            let snapshot = control::stats_snapshot(self).ok_or(Error::NoNumbers)?;
            return Attr::of_transient(self, snapshot);
        }
        let attr = Attr::of_node(self, node)?;
        match is_aliased && attr.kind == FileKind::Directory {
            true => attr.aliased(self, parent, name),
            false => Ok(attr),
        }
    }

    /// Discards the subtree of a node whose source has changed: the next lookup
    /// builds it with new numbers.
    fn give_up(&self, node: &Node<'_>) {
        let origin = node.subtree().range.origin;
        self.grafts.discard(origin);
        self.invalidate(origin);
    }

    /// Makes the kernel forget the entry of the subtree at `origin`, and with it
    /// the old numbers in the subtree. It keeps those that are in use at the
    /// moment.
    fn invalidate(&self, origin: Origin) {
        if let Some((parent, name)) = place::entry_of(self, origin) {
            self.invalidations.push(parent, name);
        }
    }

    /// Logs why a file cannot be read.
    fn failed(&self, node: &Node<'_>, error: &io::Error) -> Error {
        let path = place::path(self, node).unwrap_or_default();
        let volume = node.volume().map_or("", |volume| &volume.name);
        self.reader
            .stats
            .failed(format!("{volume}: {path}: {error}"));
        Error::from(error)
    }
}
