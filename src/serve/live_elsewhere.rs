//! Systems where no tree follows a folder of edits.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::io;
use std::sync::Arc;

use bytes::Bytes;

use super::nodes::Nodes;
use crate::content;
use crate::mount::{Attr, Extent, Ino, Result, Vfs};

/// A tree that follows a folder of edits; none can be made.
pub struct LiveTree(Infallible);

/// A version of such a tree.
pub(super) struct Snapshot(Infallible);

/// A file of DIR that a version shows in place of its tree's.
#[derive(Clone)]
pub(super) struct OverlayFile(Infallible);

impl LiveTree {
    pub(super) fn now(&self) -> Snapshot {
        match self.0 {}
    }
}

impl Snapshot {
    pub(super) fn vfs(&self) -> &Arc<Vfs> {
        match self.0 {}
    }

    pub(super) fn folder_version(&self) -> u64 {
        match self.0 {}
    }

    pub(super) fn overlay(&self, _path: &str) -> Option<OverlayFile> {
        match self.0 {}
    }

    pub(super) fn overlay_names(&self, _directory: &str) -> BTreeSet<String> {
        match self.0 {}
    }

    pub(super) fn paths(&self) -> BTreeSet<String> {
        match self.0 {}
    }
}

impl OverlayFile {
    pub(super) fn is_saved(&self) -> bool {
        match self.0 {}
    }

    pub(super) fn size(&self) -> u64 {
        match self.0 {}
    }

    pub(super) fn modified(&self) -> i64 {
        match self.0 {}
    }

    pub(super) fn read(&self, _offset: u64, _size: u32) -> io::Result<content::Bytes> {
        match self.0 {}
    }
}

impl Nodes for LiveTree {
    fn version(&self) -> u64 {
        match self.0 {}
    }

    fn is_case_sensitive(&self) -> bool {
        match self.0 {}
    }

    fn extent(&self) -> Extent {
        match self.0 {}
    }

    fn trim(&self) {
        match self.0 {}
    }

    fn attr(&self, _ino: Ino) -> Result<Attr> {
        match self.0 {}
    }

    fn lookup(&self, _directory: Ino, _name: &str) -> Result<Attr> {
        match self.0 {}
    }

    fn lookup_again(&self, _ino: Ino) -> Result<Attr> {
        match self.0 {}
    }

    fn parent(&self, _directory: Ino) -> Result<Ino> {
        match self.0 {}
    }

    fn link(&self, _ino: Ino) -> Result<Vec<u8>> {
        match self.0 {}
    }

    fn read(&self, _ino: Ino, _offset: u64, _size: u32) -> Result<Bytes> {
        match self.0 {}
    }

    fn list(
        &self,
        _directory: Ino,
        _start: u64,
        _emit: &mut dyn FnMut(&str, Attr, u64) -> bool,
    ) -> Result<()> {
        match self.0 {}
    }

    fn forget(&self, _ino: Ino) {
        match self.0 {}
    }
}
