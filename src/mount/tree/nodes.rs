//! Finding inodes by their numbers, entering directories, and discarding subtrees that
//! have changed.

use std::sync::Arc;

use super::grafts::Numbered;
use super::invalidate::StaleEntry;
use super::subtree::{Node, RenderedFile, Subtree};
use super::{on_demand, place};
use crate::mount::{Error, Ino, Result, Vfs};
use crate::namespace::numbers::Origin;
use crate::namespace::transient::TransientKind;
use crate::namespace::tree::InodeKind;
use crate::sync::lock;

/// Something that files are in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Container {
    /// The name of its file.
    pub(crate) name: String,
    /// The name of its format.
    pub(crate) format: &'static str,
    /// Its path in the mount; `None` for a source.
    pub(crate) path: Option<String>,
}

impl Vfs {
    /// Returns the inode with this number, and builds its subtree unless that is
    /// cached.
    ///
    /// # Errors
    /// Returns [`Error::NotFound`] for transient inodes; [`Error::Stale`] for other
    /// numbers, which may have been dropped, or if its source has changed; or an error
    /// if its directory cannot be built again.
    pub fn node(&self, ino: Ino) -> Result<Node<'_>> {
        match self.grafts.find(ino) {
            None if self.is_transient(ino) => Err(Error::NotFound),
            None => Err(Error::Stale),
            Some(Numbered::Permanent(node)) => Ok(node),
            Some(Numbered::Entered(range, index)) => {
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

    fn is_transient(&self, ino: Ino) -> bool {
        ino.shortcut_target().is_some() || lock(&self.transients).get(ino).is_some()
    }

    /// Returns whether an inode follows from others: a file or directory of a converted
    /// tree, about an asset or about the mount, or a disc as a plain file.
    pub(crate) fn is_generated(&self, ino: Ino) -> bool {
        let entered = self.directory(ino).map(|(node, _)| node);
        let Ok(node) = entered.or_else(|_| self.node(ino)) else {
            return true;
        };
        let origin = node.subtree().range.origin;
        node.subtree().is_rendered() || matches!(origin, Origin::Control | Origin::Plain(_))
    }

    /// Returns whether an inode is a directory with the contents of an archive or an asset.
    pub(crate) fn is_companion(&self, ino: Ino) -> bool {
        let Ok(node) = self.node(ino) else {
            return false;
        };
        let is_hidden = matches!(node.origin(), Some(Origin::Hidden(..)));
        let kind = node.kind();
        is_hidden
            || matches!(
                kind,
                Some(InodeKind::Companion { .. } | InodeKind::ForeignCompanion { .. })
            )
    }

    /// Returns the asset that a generated file shows, if it shows one.
    pub(crate) fn asset_of_generated(&self, ino: Ino) -> Option<Ino> {
        match self.node(ino).ok()?.rendered()?.0 {
            RenderedFile::Report(..) => None,
            RenderedFile::OfView(viewed, _) => Some(viewed.asset),
            RenderedFile::OfAsset(file) => Some(file.asset),
        }
    }

    /// Returns the path of that asset.
    pub(crate) fn shown_asset(&self, ino: Ino) -> Option<String> {
        let asset = self.asset_of_generated(ino)?;
        place::path(self, &self.node(asset).ok()?).ok()
    }

    /// Returns what a file is in, from the source to the innermost archive or asset: the
    /// name and the format of each, and its path in the mount, which a source has not.
    pub(crate) fn containers(&self, ino: Ino) -> Result<Vec<Container>> {
        let mut around = Vec::new();
        let mut inner = self.node(ino)?;
        loop {
            if let Some(asset) = self.asset_of_generated(inner.ino()) {
                let asset = self.node(asset)?;
                let format = crate::mount::format_of(&asset).map_or("", |format| format.name);
                around.push(Container {
                    name: asset.tree().name(asset.index).to_owned(),
                    format,
                    path: Some(place::path(self, &asset)?),
                });
                inner = asset;
                continue;
            }
            let origin = inner.subtree().range.origin;
            let volume = inner.volume();
            let volume = volume.or_else(|| inner.subtree().volumes.first());
            let seen = match origin {
                Origin::Directory(seen) => Some(self.node(seen)?),
                Origin::Hidden(seen, _) | Origin::Plain(seen) => Some(self.node(seen)?),
                Origin::Root | Origin::Files | Origin::Control => None,
            };
            // A directory that is listed on demand is in the same container.
            let archive = seen.as_ref().and_then(|seen| match seen.kind() {
                Some(InodeKind::Companion { of, .. }) => Some(seen.other(of)),
                _ => None,
            });
            if let Some(volume) = volume.filter(|_| seen.is_none() || archive.is_some()) {
                let path = archive.map(|archive| place::path(self, &archive));
                around.push(Container {
                    name: volume.name.clone(),
                    format: volume.format,
                    path: path.transpose()?,
                });
            }
            match seen {
                Some(seen) => inner = seen,
                None => break,
            }
        }
        around.reverse();
        Ok(around)
    }

    /// Returns whether an inode is another name of an asset.
    pub(crate) fn is_asset_link(&self, ino: Ino) -> bool {
        let kind = self.node(ino).ok().and_then(|node| node.kind());
        matches!(kind, Some(InodeKind::AssetLink { .. }))
    }

    /// Returns the subtree at `origin`, and builds it unless it is cached.
    pub(crate) fn subtree(&self, origin: Origin) -> Result<Arc<Subtree>> {
        self.grafts
            .entered(origin, || on_demand::subtree(self, origin))
    }

    /// Returns the node that holds the entries of a directory: itself, or the
    /// root of the subtree grafted at it.
    pub(crate) fn enter<'a>(&'a self, node: Node<'a>) -> Result<Node<'a>> {
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

    /// Discards the subtree of a node whose source has changed: the next lookup
    /// builds it with new numbers.
    pub(crate) fn give_up(&self, node: &Node<'_>) {
        let origin = node.subtree().range.origin;
        self.grafts.discard(origin);
        self.invalidate(origin);
    }

    /// Makes the kernel forget the entry of the subtree at `origin`, and with it
    /// the old numbers in the subtree. It keeps those that are in use at the
    /// moment.
    pub(crate) fn invalidate(&self, origin: Origin) {
        self.invalidations.push(StaleEntry::Subtree(origin));
    }

    /// Waits for the next entry that the kernel must forget: its directory and its
    /// name; `None` when the mount ends.
    pub fn next_invalidation(&self) -> Option<(Ino, String)> {
        loop {
            let entry = match self.invalidations.next()? {
                StaleEntry::Subtree(origin) => place::entry_of(self, origin),
                StaleEntry::Alias(alias) => match lock(&self.transients).get(alias) {
                    Some(TransientKind::Alias {
                        parent, spelling, ..
                    }) => Some((*parent, spelling.to_string())),
                    _ => None,
                },
            };
            if entry.is_some() {
                return entry;
            }
        }
    }

    /// Counts a lookup of an inode by the kernel. The caller holds its subtree. A lookup
    /// of an alias is a lookup of its directory, too.
    pub(crate) fn look(&self, ino: Ino) {
        let ino = ino.shortcut_target().unwrap_or(ino);
        if self.grafts.look(ino) {
            return;
        }
        let directory = lock(&self.transients).directory(ino);
        if let Some(directory) = directory {
            self.grafts.look(directory);
        }
    }

    /// Drops `lookups` of the lookups of an inode, which the kernel has
    /// forgotten.
    pub fn forget(&self, ino: Ino, lookups: u64) {
        let ino = ino.shortcut_target().unwrap_or(ino);
        if self.grafts.forget(ino, lookups) {
            return;
        }
        let directory = {
            let mut transients = lock(&self.transients);
            let directory = transients.directory(ino);
            transients.forget(ino, lookups);
            directory
        };
        if let Some(directory) = directory {
            self.grafts.forget(directory, lookups);
        }
    }

    /// Drops numbers that take more than their share of memory, and makes the kernel
    /// forget directories that it has not used for the longest time, so that theirs
    /// can be dropped.
    pub fn trim_numbers(&self) {
        let numbers = self.grafts.numbers();
        if !numbers.exceed_their_share() {
            return;
        }
        for origin in numbers.trim() {
            self.invalidate(origin);
        }
        if let Some(alias) = lock(&self.transients).next_alias() {
            self.invalidations.push(StaleEntry::Alias(alias));
        }
    }
}
