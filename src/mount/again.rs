//! Finding inodes again by their numbers alone, as servers do that export the
//! mount to other machines: their clients remember numbers for longer than
//! the kernel here does.

use super::{Attr, Ino, Result, Vfs};
use crate::io::sync::lock;

impl Vfs {
    /// Returns an inode that the kernel has forgotten, and one more lookup of
    /// it (see [`Vfs::forget`]).
    ///
    /// # Errors
    /// Returns [`super::Error::NotFound`], also for what exists only while the
    /// kernel knows it, such as another spelling of a directory.
    pub fn lookup_again(&self, ino: Ino) -> Result<Attr> {
        if self.numbers.find(ino).is_none() {
            lock(&self.transients).look_again(ino);
        }
        self.getattr(ino)
    }

    /// Returns the directory in which a directory stands, and one more lookup
    /// of it.
    ///
    /// # Errors
    /// Returns an error under the same conditions as [`Vfs::parent`].
    pub fn lookup_parent(&self, ino: Ino) -> Result<Attr> {
        self.lookup_again(self.parent(ino)?)
    }
}
