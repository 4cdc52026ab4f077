//! A tree that follows a folder of edits (DIR): its current version, and its inodes, whose
//! numbers stay the same while DIR changes.

use std::collections::BTreeSet;
use std::sync::Arc;

use bytes::Bytes;

use super::live::{LiveTree, Snapshot};
use super::nodes::Nodes;
use crate::content::OverlayFile;
use crate::edit::{self, Attributes, EditedMount, error_of};
use crate::mount::{Attr, Extent, Ino, Result, Vfs};

/// A tree that follows DIR.
pub struct EditedTree(Arc<EditedMount>);

impl EditedTree {
    /// Creates it from a mount that nothing mounts.
    pub fn new(mount: Arc<EditedMount>) -> Self {
        Self(mount)
    }
}

impl LiveTree for EditedTree {
    fn now(&self) -> Arc<dyn Snapshot> {
        Arc::new(self.0.snapshot())
    }
}

impl Snapshot for edit::Snapshot {
    fn vfs(&self) -> &Arc<Vfs> {
        self.vfs()
    }

    fn folder_version(&self) -> u64 {
        self.folder_version()
    }

    fn overlay(&self, path: &str) -> Option<OverlayFile> {
        self.overlay(path)
    }

    fn overlay_names(&self, directory: &str) -> BTreeSet<String> {
        self.overlay_names(directory)
    }

    fn paths(&self) -> BTreeSet<String> {
        self.paths()
    }
}

impl Drop for EditedTree {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// Returns the attributes of a tree that is only read.
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

impl Nodes for EditedTree {
    fn version(&self) -> u64 {
        self.0.snapshot().folder_version()
    }

    fn is_case_sensitive(&self) -> bool {
        self.0.snapshot().vfs().options().case_sensitive
    }

    fn extent(&self) -> Extent {
        self.0.snapshot().vfs().extent()
    }

    fn trim(&self) {
        self.0.snapshot().vfs().trim_numbers();
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
