//! Files by numbers, for clients that remember these (`nfs`).

use bytes::Bytes;

use crate::content::Access;
use crate::mount::{Attr, Extent, Ino, Result, Vfs};

/// A tree by the numbers of its inodes. Each lookup that is counted keeps a number until it is
/// forgotten.
pub(super) trait Nodes {
    /// Returns a number that changes when listings do.
    fn version(&self) -> u64;

    /// Returns whether upper and lower case differ in names.
    fn is_case_sensitive(&self) -> bool;

    /// Returns the size of the tree.
    fn extent(&self) -> Extent;

    /// Drops numbers that take too much memory.
    fn trim(&self);

    /// Returns the attributes of an inode.
    ///
    /// # Errors
    /// Returns an error for unknown numbers, as all methods do.
    fn attr(&self, ino: Ino) -> Result<Attr>;

    /// Finds an entry of a directory, and counts a lookup.
    fn lookup(&self, directory: Ino, name: &str) -> Result<Attr>;

    /// Counts a lookup of an inode.
    fn lookup_again(&self, ino: Ino) -> Result<Attr>;

    /// Returns the directory around one.
    fn parent(&self, directory: Ino) -> Result<Ino>;

    /// Returns the text of a symbolic link.
    fn link(&self, ino: Ino) -> Result<Vec<u8>>;

    /// Reads bytes of a file; fewer than wanted at its end.
    fn read(&self, ino: Ino, offset: u64, size: u32) -> Result<Bytes>;

    /// Passes the entries of a directory from number `start` on to `emit`: name, attributes
    /// and number of the next one, until it returns that it has enough. Counts a lookup of
    /// each that it takes.
    fn list(
        &self,
        directory: Ino,
        start: u64,
        emit: &mut dyn FnMut(&str, Attr, u64) -> bool,
    ) -> Result<()>;

    /// Takes back a lookup.
    fn forget(&self, ino: Ino);
}

impl Nodes for Vfs {
    fn version(&self) -> u64 {
        0
    }

    fn is_case_sensitive(&self) -> bool {
        self.options().case_sensitive
    }

    fn extent(&self) -> Extent {
        self.extent()
    }

    fn trim(&self) {
        self.trim_numbers();
    }

    fn attr(&self, ino: Ino) -> Result<Attr> {
        self.getattr(ino)
    }

    fn lookup(&self, directory: Ino, name: &str) -> Result<Attr> {
        // In another spelling, a directory would be an alias.
        let name = self.spelling(directory, name)?;
        self.lookup(directory, &name)
    }

    fn lookup_again(&self, ino: Ino) -> Result<Attr> {
        self.lookup_again(ino)
    }

    fn parent(&self, directory: Ino) -> Result<Ino> {
        self.parent(directory)
    }

    fn link(&self, ino: Ino) -> Result<Vec<u8>> {
        self.readlink(ino)
    }

    fn read(&self, ino: Ino, offset: u64, size: u32) -> Result<Bytes> {
        let access = match offset {
            0 => Access::Unknown,
            _ => Access::Sequential,
        };
        let bytes = self.read_explained(ino, offset, size, access);
        bytes.map(Bytes::from_owner).map_err(|(error, _)| error)
    }

    fn list(
        &self,
        directory: Ino,
        start: u64,
        emit: &mut dyn FnMut(&str, Attr, u64) -> bool,
    ) -> Result<()> {
        self.readdir_plus(directory, start, emit)
    }

    fn forget(&self, ino: Ino) {
        self.forget(ino, 1);
    }
}
