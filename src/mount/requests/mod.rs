//! The operations of a file system, as the kernel, servers and the commands without a mount
//! use them.

pub(super) mod applied;
pub(super) mod attributes;
mod compare;
pub(super) mod describe;
pub(super) mod hidden;
mod identity;
mod kernel;
mod listing;
mod operations;
mod read;
mod stats;
pub(super) mod xattr;

use std::sync::Arc;

use self::applied::AppliedFiles;
use super::assets::Assets;
use super::error::OpenError;
use super::tree::MountTree;
use super::tree::control::ControlInodes;
use super::tree::grafts::Extent;
use super::tree::invalidate::Invalidations;
use super::tree::source_trees::SourceTrees;
use super::tree::subtree::Node;
use super::{Ino, Options, Result};
use crate::content::Reader;
use crate::namespace::numbers::Origin;
use crate::source::remote::Remote;
use crate::sync::tally::Tally;

/// The mounted file system.
pub struct Vfs {
    pub(super) mount: MountTree,
    /// The inodes of `.hpimount`, which is missing if there are too many entries for it.
    control: Option<ControlInodes>,
    /// Files of folders of changes that the mount shows.
    applied: AppliedFiles,
    /// The sources on servers.
    remote: Option<Arc<Remote>>,
}

impl Vfs {
    /// Creates a mount without sources, for tests.
    #[cfg(test)]
    pub(super) fn of(mount: MountTree) -> Self {
        Self {
            mount,
            control: None,
            applied: AppliedFiles::default(),
            remote: None,
        }
    }

    /// Creates a mount of sources, without those that were `skipped`; `remote` has those on
    /// servers.
    pub(super) fn with_sources(
        mount: MountTree,
        mut sources: SourceTrees,
        skipped: &[OpenError],
        remote: Option<Arc<Remote>>,
    ) -> Self {
        let applied = sources.applied.take();
        let info = applied.as_ref().map(applied::info);
        Self {
            control: sources.graft(&mount, skipped, info),
            applied: applied.map(AppliedFiles::of).unwrap_or_default(),
            mount,
            remote,
        }
    }

    /// Returns the inode with this number, for requests that resolve it once.
    ///
    /// # Errors
    /// Returns [`Error::NotFound`](super::Error::NotFound) for inodes that exist only while
    /// the kernel remembers them, [`Error::Stale`](super::Error::Stale) for numbers that may
    /// have been dropped, or an error if its directory cannot be built again.
    pub fn node(&self, ino: Ino) -> Result<Node<'_>> {
        self.mount.node(ino)
    }

    /// Returns the node that holds the entries of a directory, and whether it was reached by
    /// another spelling.
    ///
    /// # Errors
    /// Returns an error under the same conditions as [`MountTree::directory`].
    pub(crate) fn directory(&self, ino: Ino) -> Result<(Node<'_>, bool)> {
        self.mount.directory(ino)
    }

    /// Returns the directory with the files of the asset that a file is made from, as an
    /// entry of the directory around it; `None` if the file is in no such directory.
    pub(crate) fn directory_of_asset(&self, node: &Node<'_>) -> Option<Node<'_>> {
        match (node.viewed(), node.subtree().range.origin) {
            (Some(_), Origin::Directory(directory)) => self.node(directory).ok(),
            _ => None,
        }
    }

    /// Returns what assets show.
    pub(crate) fn assets(&self) -> Assets<'_> {
        Assets::of(&self.mount)
    }

    /// Returns the options of the mount.
    pub(crate) fn options(&self) -> &Options {
        &self.mount.options
    }

    /// Returns the queue of entries that the kernel must forget.
    pub fn invalidations(&self) -> &Arc<Invalidations> {
        &self.mount.invalidations
    }

    /// Returns the number of lookups, attribute requests, listings and reads so
    /// far; it grows with every use that reaches this process.
    pub fn uses(&self) -> u64 {
        let stats = &self.reader().stats;
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
        self.mount.grafts.extent()
    }

    /// Returns the reader of the bytes of files, for those who fill caches.
    pub(crate) fn reader(&self) -> &Arc<Reader> {
        &self.mount.reader
    }

    /// Returns the number of bytes that were decoded so far.
    pub(crate) fn decoded(&self) -> u64 {
        self.reader().stats.decoded()
    }

    /// Returns whether some sources are on servers.
    pub(crate) fn has_servers(&self) -> bool {
        self.remote.is_some()
    }
}
