//! Reading files.

use std::ops::Range;

use super::subtree::Node;
use super::{Access, Attr, Bytes, Error, Ino, Result, Vfs};
use crate::namespace::tree::InodeKind;
use crate::sync::lock;
use hpimount_containers::io;

impl Vfs {
    /// Reads at most `size` bytes of a file from `offset` on; fewer only at its
    /// end.
    ///
    /// # Errors
    /// Returns [`Error::IsADirectory`] or [`Error::NotFound`]; [`Error::Io`] if
    /// a byte of the range is unavailable; [`Error::Stale`] if it is generated
    /// from a file that has changed.
    pub fn read(&self, ino: Ino, offset: u64, size: u32) -> Result<Bytes> {
        self.read_as(ino, offset, size, Access::Unknown)
    }

    /// Like [`Vfs::read`], for a reader of which something is known.
    ///
    /// # Errors
    /// Returns an error under the same conditions as [`Vfs::read`].
    pub fn read_as(&self, ino: Ino, offset: u64, size: u32, access: Access) -> Result<Bytes> {
        self.reader.stats.count(|stats| &stats.reads);
        let range = offset..offset.saturating_add(size.into());
        let bytes = match self.node(ino) {
            Ok(node) => self
                .read_node(&node, range, access)?
                .map_err(|error| self.failed(&node, &error))?,
            Err(Error::NotFound) => {
                let text = lock(&self.transients).read(ino).ok_or(Error::NotFound)?;
                Bytes::part_of(text, range)
            }
            Err(error) => return Err(error),
        };
        self.reader.stats.bytes_read.add(bytes.len() as u64);
        Ok(bytes)
    }

    /// Reads the part of a range that is inside a file; the inner error is
    /// about its data.
    pub(crate) fn read_node(
        &self,
        node: &Node<'_>,
        range: Range<u64>,
        access: Access,
    ) -> Result<io::Result<Bytes>> {
        if !matches!(node.kind(), Some(InodeKind::File { .. })) {
            return Err(Error::IsADirectory);
        }
        let range = range.start..range.end.min(Attr::of_node(self, node)?.size);
        if range.is_empty() {
            return Ok(Ok(Bytes::EMPTY));
        }
        Ok(match node.file() {
            Some(file) => self.reader.read(file, range, access),
            None => {
                self.with_rendering(node, |key, render| self.reader.rendered(key, range, render))
            }
        })
    }
}
