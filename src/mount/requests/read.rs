//! Reading files.

use std::ops::Range;

use crate::mount::tree::place;
use crate::mount::tree::subtree::Node;
use crate::mount::{Access, Bytes, Error, Ino, Result, Vfs};
use crate::namespace::tree::InodeKind;
use crate::requester::Outcome;
use crate::sync::lock;
use hpimount_containers::io;

impl Vfs {
    /// Reads at most `size` bytes of a file from `offset` on; fewer only at its
    /// end.
    ///
    /// # Errors
    /// Returns the errors of [`Vfs::node`] and of [`Vfs::read_node`].
    pub fn read(&self, ino: Ino, offset: u64, size: u32) -> Result<Bytes> {
        match self.node(ino) {
            Ok(node) => self.read_node(&node, offset, size, Access::Unknown),
            Err(Error::NotFound) => self.read_snapshot(ino, offset, size),
            Err(error) => Err(error),
        }
    }

    /// Like [`Vfs::read`], for an inode that has been resolved, and a reader
    /// with a known access pattern.
    ///
    /// # Errors
    /// Returns [`Error::IsADirectory`]; [`Error::Io`] if a byte of the range is
    /// unavailable; [`Error::Stale`] if it is generated from a file that has
    /// changed.
    pub fn read_node(
        &self,
        node: &Node<'_>,
        offset: u64,
        size: u32,
        access: Access,
    ) -> Result<Bytes> {
        let read = self.read_explained(node, offset, size, access);
        read.map_err(|(error, _)| error)
    }

    /// Like [`Vfs::read_node`], with the message that is logged, or the text of the error.
    ///
    /// # Errors
    /// Returns an error under the same conditions as [`Vfs::read_node`].
    pub(crate) fn read_explained(
        &self,
        node: &Node<'_>,
        offset: u64,
        size: u32,
        access: Access,
    ) -> std::result::Result<Bytes, (Error, String)> {
        self.reader.stats.count(|stats| &stats.reads);
        let range = offset..offset.saturating_add(size.into());
        let bytes = self
            .node_bytes(node, range, access)
            .map_err(|error| (error, error.to_string()))?
            .map_err(|error| self.explained(node, &error))?;
        self.reader.stats.bytes_read.add(bytes.len() as u64);
        Ok(bytes)
    }

    /// Reads a snapshot of `stats.json`, which is in no subtree, as
    /// [`Vfs::read`] does.
    ///
    /// # Errors
    /// Returns [`Error::NotFound`] for other inodes.
    pub fn read_snapshot(&self, ino: Ino, offset: u64, size: u32) -> Result<Bytes> {
        self.reader.stats.count(|stats| &stats.reads);
        let text = lock(&self.transients).read(ino).ok_or(Error::NotFound)?;
        let bytes = Bytes::part_of(text, offset..offset.saturating_add(size.into()));
        self.reader.stats.bytes_read.add(bytes.len() as u64);
        Ok(bytes)
    }

    /// Returns the bytes of a file in the part of a range that is inside it; the
    /// inner error is about its data.
    pub(crate) fn node_bytes(
        &self,
        node: &Node<'_>,
        range: Range<u64>,
        access: Access,
    ) -> Result<io::Result<Bytes>> {
        if !matches!(node.kind(), Some(InodeKind::File { .. })) {
            return Err(Error::IsADirectory);
        }
        let size = match self.size_of(node) {
            Ok(size) => size,
            Err(error) => return Ok(Err(error)),
        };
        let range = range.start..range.end.min(size);
        if range.is_empty() {
            return Ok(Ok(Bytes::EMPTY));
        }
        Ok(match node.file() {
            Some(file) => self.reader.read(file, range, access),
            None => self.rendered_bytes(node, range),
        })
    }

    /// Logs why a file cannot be read.
    pub(crate) fn failed(&self, node: &Node<'_>, error: &io::Error) -> Error {
        self.explained(node, error).0
    }

    /// Like [`Vfs::failed`], with the message.
    fn explained(&self, node: &Node<'_>, error: &io::Error) -> (Error, String) {
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
