//! Listing directories.

use super::subtree::Node;
use super::{Attr, Error, FileKind, Ino, Result, Vfs, attr_of};
use crate::namespace::tree::Kind;

impl Vfs {
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
        let (node, _) = self.directory(ino)?;
        let start = usize::try_from(offset).map_err(|_| Error::NotFound)?;
        let tree = node.tree();
        for (number, (name, index)) in tree.entries(node.index, start).enumerate() {
            let next = offset + number as u64 + 1;
            let kind = tree.inode(index).map(|inode| inode.kind);
            let kind = kind.map_or(FileKind::File, Kind::file_kind);
            if emit(name, node.ino_of(index), kind, next) {
                break;
            }
        }
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
        let (node, alias) = self.directory(ino)?;
        let start = usize::try_from(offset).map_err(|_| Error::NotFound)?;
        for (number, (name, index)) in node.tree().entries(node.index, start).enumerate() {
            let child = node.other(index);
            let attr = match self.unknown_size_attr(&child) {
                Some(attr) => Ok(attr),
                None => self.entry(ino, name, &child, alias),
            };
            let attr = match attr {
                Err(_) if number > 0 => break,
                attr => attr?,
            };
            if emit(name, attr, offset + number as u64 + 1) {
                self.forget(attr.ino, 1);
                break;
            }
        }
        Ok(())
    }

    /// Returns the attributes of a generated file of unknown size for a
    /// listing.
    fn unknown_size_attr(&self, node: &Node<'_>) -> Option<Attr> {
        let inode = node.tree().inode(node.index)?;
        let is_generated = inode.kind.file_kind() == FileKind::File && inode.size().is_none();
        if !is_generated || self.known_size(node).is_some() {
            return None;
        }
        Some(Attr {
            lasting: false,
            ..attr_of(node, inode, 0)
        })
    }
}
