//! Finding inodes by their numbers, entering directories, and discarding subtrees that
//! have changed.

use std::io::Write;
use std::sync::Arc;

use super::MountTree;
use super::grafts::Numbered;
use super::invalidate::StaleEntry;
use super::subtree::{Node, Subtree};
use super::{on_demand, place};
use crate::content::{File, Generated};
use crate::mount::{Error, Ino, Result};
use crate::namespace::numbers::Origin;
use crate::namespace::transient::TransientKind;
use crate::namespace::tree::InodeKind;
use crate::requester::Outcome;
use crate::sync::lock;
use hpimount_containers::io;
use hpimount_containers::volume::Content;

impl MountTree {
    /// Returns the inode with this number, and builds its subtree unless that is
    /// cached.
    ///
    /// # Errors
    /// Returns [`Error::NotFound`] for transient inodes; [`Error::Stale`] for other
    /// numbers, which may have been dropped, or if its source has changed; or an error
    /// if its directory cannot be built again.
    pub(crate) fn node(&self, ino: Ino) -> Result<Node<'_>> {
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

    /// Returns whether a directory is the root of an archive, of a merged game or of another
    /// source, or the control directory: those have a converted tree.
    pub(crate) fn is_container_root(&self, directory: &Node<'_>) -> bool {
        directory.origin().is_some_and(|origin| match origin {
            Origin::Root | Origin::Files | Origin::Control => true,
            Origin::Directory(seen) => self.node(seen).is_ok_and(|seen| {
                matches!(
                    seen.kind(),
                    Some(InodeKind::Companion { .. } | InodeKind::Grafted)
                )
            }),
            Origin::Hidden(..) | Origin::Plain(_) => false,
        })
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

    /// Returns the size of a file that was declared without one.
    pub(crate) fn decoded_size(&self, file: File<'_>) -> io::Result<u64> {
        match file.volume.volume.content(file.file)? {
            Content::Generated(volume) => {
                let render = |out: &mut dyn Write| volume.generate(file.file, out);
                self.reader
                    .rendered_size(Generated::once(file.key()), &render)
            }
            Content::Stream(volume) => self.reader.size(file.key(), || {
                let size = self.reader.stream_size(file, volume)?;
                // With `-o force`, what cannot be decoded.
                for warning in file.volume.warnings() {
                    log::warn!("{}: {warning}", file.volume.name);
                }
                Ok(size)
            }),
            _ => Err(io::Error::UnknownFormat),
        }
    }

    /// Logs why a file cannot be read.
    pub(crate) fn failed(&self, node: &Node<'_>, error: &io::Error) -> Error {
        self.explained(node, error).0
    }

    /// Like [`MountTree::failed`], with the message.
    pub(crate) fn explained(&self, node: &Node<'_>, error: &io::Error) -> (Error, String) {
        if error.is_killed() {
            return (Error::Interrupted, error.to_string());
        }
        let path = place::path(self, node).unwrap_or_default();
        let volume = node.volume().map_or("", |volume| &volume.name);
        let message = format!("{volume}: {path}: {error}");
        self.reader.stats.failed(message.clone());
        (Error::from(error), message)
    }
}
