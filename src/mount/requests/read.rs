//! Reading files.

use crate::mount::tree::subtree::Node;
use crate::mount::{Access, Bytes, Error, Ino, Result, Vfs};
use crate::sync::lock;

/// Bytes, or an error with the message that is logged, or else its text.
type Explained = std::result::Result<Bytes, (Error, String)>;

impl Vfs {
    /// Reads at most `size` bytes of a file from `offset` on; fewer only at its
    /// end.
    ///
    /// # Errors
    /// Returns the errors of [`Vfs::node`] and of [`Vfs::read_node`].
    pub fn read(&self, ino: Ino, offset: u64, size: u32) -> Result<Bytes> {
        let read = self.read_explained(ino, offset, size, Access::Unknown);
        read.map_err(|(error, _)| error)
    }

    /// Like [`Vfs::read`], for a reader with a known access pattern.
    ///
    /// # Errors
    /// Returns an error under the same conditions as [`Vfs::read`].
    pub(crate) fn read_explained(
        &self,
        ino: Ino,
        offset: u64,
        size: u32,
        access: Access,
    ) -> Explained {
        let read = match self.node(ino) {
            Ok(node) => return self.read_file(&node, offset, size, access),
            Err(Error::NotFound) => self.read_snapshot(ino, offset, size),
            Err(error) => Err(error),
        };
        read.map_err(|error| (error, error.to_string()))
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
        let read = self.read_file(node, offset, size, access);
        read.map_err(|(error, _)| error)
    }

    fn read_file(&self, node: &Node<'_>, offset: u64, size: u32, access: Access) -> Explained {
        self.reader().stats.count(|stats| &stats.reads);
        let range = offset..offset.saturating_add(size.into());
        let bytes = self
            .assets()
            .bytes(node, range, access)
            .map_err(|error| (error, error.to_string()))?
            .map_err(|error| self.mount.explained(node, &error))?;
        self.reader().stats.bytes_read.add(bytes.len() as u64);
        Ok(bytes)
    }

    /// Reads a snapshot of `stats.json`, which is in no subtree, as
    /// [`Vfs::read`] does.
    ///
    /// # Errors
    /// Returns [`Error::NotFound`] for other inodes.
    pub fn read_snapshot(&self, ino: Ino, offset: u64, size: u32) -> Result<Bytes> {
        self.reader().stats.count(|stats| &stats.reads);
        let text = lock(&self.mount.transients)
            .read(ino)
            .ok_or(Error::NotFound)?;
        let bytes = Bytes::part_of(text, offset..offset.saturating_add(size.into()));
        self.reader().stats.bytes_read.add(bytes.len() as u64);
        Ok(bytes)
    }
}
