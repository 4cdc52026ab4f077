//! A tree that follows its folder of edits (DIR): what it shows at a time, and its files by
//! numbers that stay the same when DIR changes.

use std::collections::BTreeSet;
use std::sync::Arc;

use bytes::Bytes;

use super::nodes::Nodes;
pub(super) use crate::edit::Beside;
use crate::edit::{self, Attributes, EditedMount, Snapshot, error_of};
use crate::mount::{Attr, Extent, Ino, Result, Vfs};

/// A tree that follows DIR.
pub struct Followed(Arc<EditedMount>);

/// What it shows at a time.
pub(super) struct Shown(Snapshot);

impl Followed {
    /// Serves a mount, which need not be mounted.
    pub fn new(mount: Arc<EditedMount>) -> Self {
        Self(mount)
    }

    /// Returns what is shown now.
    pub(super) fn now(&self) -> Shown {
        Shown(self.0.snapshot())
    }
}

impl Drop for Followed {
    fn drop(&mut self) {
        self.0.close();
    }
}

impl Shown {
    /// Returns the tree.
    pub(super) fn vfs(&self) -> &Arc<Vfs> {
        self.0.vfs()
    }

    /// Returns a number that changes with DIR.
    pub(super) fn of_folder(&self) -> u64 {
        self.0.of_folder()
    }

    /// Returns the file at a path that is shown instead of that of the tree.
    pub(super) fn beside(&self, path: &str) -> Option<Beside> {
        self.0.beside(path)
    }

    /// Returns the names of these files in a directory.
    pub(super) fn names_beside(&self, directory: &str) -> BTreeSet<String> {
        self.0.names_beside(directory)
    }

    /// Returns the paths of all files of DIR that are shown.
    pub(super) fn paths(&self) -> BTreeSet<String> {
        self.0.paths()
    }
}

/// Returns attributes as they are of a tree that is only read.
fn attr(attributes: Attributes) -> Attr {
    let since = attributes.modified.duration_since(std::time::UNIX_EPOCH);
    Attr {
        ino: Ino(attributes.number),
        kind: attributes.kind,
        size: attributes.size,
        mode: attributes.mode & !0o222,
        modified: since.map_or(0, |since| since.as_secs() as i64),
        nlink: attributes.nlink,
        lasting: attributes.is_lasting,
    }
}

impl Nodes for Followed {
    fn version(&self) -> u64 {
        self.now().of_folder()
    }

    fn is_case_sensitive(&self) -> bool {
        self.now().vfs().options().case_sensitive
    }

    fn extent(&self) -> Extent {
        self.now().vfs().extent()
    }

    fn trim(&self) {
        self.now().vfs().trim_numbers();
    }

    fn attr(&self, ino: Ino) -> Result<Attr> {
        self.0.getattr(ino.0).map(attr).map_err(error_of)
    }

    fn lookup(&self, directory: Ino, name: &str) -> Result<Attr> {
        self.0.lookup(directory.0, name).map(attr).map_err(error_of)
    }

    fn lookup_again(&self, ino: Ino) -> Result<Attr> {
        let attr = self.attr(ino)?;
        self.0.looked(ino.0);
        Ok(attr)
    }

    fn parent(&self, directory: Ino) -> Result<Ino> {
        self.0.parent(directory.0).map(Ino).map_err(error_of)
    }

    fn link(&self, ino: Ino) -> Result<Vec<u8>> {
        self.0.readlink(ino.0).map_err(error_of)
    }

    fn read(&self, ino: Ino, offset: u64, size: u32) -> Result<Bytes> {
        let read = self.0.read_now(ino.0, offset, size).map_err(error_of);
        read.map(Bytes::from_owner)
    }

    fn list(
        &self,
        directory: Ino,
        start: u64,
        emit: &mut dyn FnMut(&str, Attr, u64) -> bool,
    ) -> Result<()> {
        let handle = self.0.opendir(directory.0).map_err(error_of)?;
        let mut each =
            |entry: edit::Entry<'_>| emit(entry.name, attr(entry.attributes), entry.next);
        let listed = self.0.readdir(directory.0, handle, start, &mut each);
        self.0.release(handle);
        listed.map_err(error_of)
    }

    fn forget(&self, ino: Ino) {
        self.0.forget(ino.0, 1);
    }
}
