//! Finding inodes by their numbers, entering directories, and discarding subtrees that
//! have changed.

use std::sync::Arc;

use super::grafts::Numbered;
use super::subtree::{Node, Subtree};
use super::{Error, Ino, Result, Vfs, build, place};
use crate::namespace::numbers::Origin;
use crate::namespace::transient::TransientKind;
use crate::namespace::tree::InodeKind;
use crate::sync::lock;

impl Vfs {
    /// Returns the inode with this number, and builds its subtree unless that is
    /// cached.
    ///
    /// # Errors
    /// Returns [`Error::NotFound`] for other numbers, also for transient
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
    pub(super) fn subtree(&self, origin: Origin) -> Result<Arc<Subtree>> {
        self.grafts.entered(origin, || build::subtree(self, origin))
    }

    /// Returns the node that holds the entries of a directory: itself, or the
    /// root of the subtree grafted at it.
    pub(super) fn enter<'a>(&'a self, node: Node<'a>) -> Result<Node<'a>> {
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
    pub(super) fn give_up(&self, node: &Node<'_>) {
        let origin = node.subtree().range.origin;
        self.grafts.discard(origin);
        self.invalidate(origin);
    }

    /// Makes the kernel forget the entry of the subtree at `origin`, and with it
    /// the old numbers in the subtree. It keeps those that are in use at the
    /// moment.
    pub(super) fn invalidate(&self, origin: Origin) {
        if let Some((parent, name)) = place::entry_of(self, origin) {
            self.invalidations.push(parent, name);
        }
    }
}
