//! Lookup of inodes by number alone, as for NFS exports: clients remember
//! numbers for longer than the local kernel does.

use super::{Attr, Ino, Result, Vfs};
use crate::sync::lock;

impl Vfs {
    /// Returns an inode that the kernel has forgotten, and counts one lookup of
    /// it (see [`Vfs::forget`]).
    ///
    /// # Errors
    /// Returns [`super::Error::NotFound`], also for inodes that exist only
    /// while the kernel remembers them, such as another spelling of a
    /// directory.
    pub fn lookup_again(&self, ino: Ino) -> Result<Attr> {
        if self.numbers.find(ino).is_none() {
            lock(&self.transients).look_again(ino);
        }
        self.getattr(ino)
    }

    /// Returns the parent of a directory, and counts one lookup of it.
    ///
    /// # Errors
    /// Returns an error under the same conditions as [`Vfs::parent`].
    pub fn lookup_parent(&self, ino: Ino) -> Result<Attr> {
        self.lookup_again(self.parent(ino)?)
    }
}
