//! Listing directories.

use crate::mount::tree::plain;
use crate::mount::tree::subtree::Node;
use crate::mount::{Attr, Error, FileKind, Ino, Meta, Result, Vfs};
use crate::namespace::tree::{InodeKind, ROOT};

/// The listing of a directory.
pub(crate) struct Listing<'v> {
    vfs: &'v Vfs,
    /// The directory as it was requested, which may be an alias.
    ino: Ino,
    /// The node that holds its entries.
    node: Node<'v>,
    /// The root of its plain files, if these are listed.
    plain: Option<Node<'v>>,
    /// True if it was reached by another spelling.
    is_aliased: bool,
    /// Number of the first entry to list.
    start: usize,
}

impl<'v> Listing<'v> {
    /// Returns the listing of a directory from entry number `offset` on.
    ///
    /// # Errors
    /// Returns [`Error::NotADirectory`] or [`Error::NotFound`].
    pub(crate) fn new(vfs: &'v Vfs, ino: Ino, offset: u64) -> Result<Self> {
        let (node, is_aliased) = vfs.mount.directory(ino)?;
        let plain = match vfs.mount.options.meta {
            Meta::Visible => plain::files(&vfs.mount, &node).ok(),
            _ => None,
        };
        Ok(Self {
            vfs,
            ino,
            plain,
            node,
            is_aliased,
            start: usize::try_from(offset).map_err(|_| Error::NotFound)?,
        })
    }

    /// Returns the number of entries.
    pub(super) fn count(&self) -> u64 {
        match &self.plain {
            Some(_) => self.entries().count() as u64,
            None => {
                let count = self.node.tree().count(self.node.index);
                count.saturating_sub(self.start) as u64
            }
        }
    }

    /// Passes name, inode, kind and the offset of the next entry to `emit`,
    /// until it returns that its buffer is full.
    pub(crate) fn plain(&self, emit: &mut dyn FnMut(&str, Ino, FileKind, u64) -> bool) {
        for (next, name, node) in self.entries() {
            self.vfs.reader().stats.count(|stats| &stats.entries);
            let kind = node.kind().map_or(FileKind::File, InodeKind::file_kind);
            if emit(name, node.ino(), kind, next) {
                break;
            }
        }
    }

    /// Passes name, attributes and the offset of the next entry to `emit`, until
    /// it returns that its buffer is full. Each entry that `emit` accepts counts
    /// as one lookup.
    ///
    /// # Errors
    /// Returns the error of the first entry. A later one ends the listing, since
    /// the kernel would not learn of the lookups before it.
    pub(crate) fn with_attributes(
        &self,
        emit: &mut dyn FnMut(&str, Attr, u64) -> bool,
    ) -> Result<()> {
        for (number, (next, name, child)) in self.entries().enumerate() {
            self.vfs.reader().stats.count(|stats| &stats.entries);
            let attr = match Attr::of_unknown_size(self.vfs, &child) {
                Some(attr) => {
                    self.vfs.look(attr.ino);
                    Ok(attr)
                }
                None => Attr::of_entry(self.vfs, self.ino, name, &child, self.is_aliased),
            };
            let attr = match attr {
                Err(_) if number > 0 => break,
                attr => attr?,
            };
            if emit(name, attr, next) {
                self.vfs.forget(attr.ino, 1);
                break;
            }
        }
        Ok(())
    }

    /// Returns the entries: the offset after each, its name, and its inode.
    fn entries(&self) -> impl Iterator<Item = (u64, &str, Node<'v>)> {
        let tree = self.node.tree();
        // A caller may start at any offset, even after the last entry.
        let own = (1..).zip(tree.entries(self.node.index, self.start));
        let own = own.map(|(number, (name, index))| {
            let next = (self.start as u64).saturating_add(number);
            (next, name, self.node.other(index))
        });
        let plain = self.plain.iter().flat_map(move |plain| {
            let count = tree.count(self.node.index);
            let files = plain.tree().entries(ROOT, self.start.saturating_sub(count));
            let before = count.max(self.start) as u64;
            let files = (1..).zip(files);
            files.filter_map(move |(number, (name, index))| {
                // An entry of the disc with this name wins.
                let is_hidden = tree
                    .find(self.node.index, name, self.vfs.mount.folds())
                    .is_some();
                let next = before.saturating_add(number);
                (!is_hidden).then(|| (next, name, plain.other(index)))
            })
        });
        own.chain(plain)
    }
}
