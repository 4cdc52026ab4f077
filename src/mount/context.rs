//! How the views of assets ask for other files of the mount.

use std::cell::RefCell;

use bytes::Bytes;

use super::Vfs;
use super::subtree::Node;
use crate::content::MAX_ASSET;
use crate::io;
use crate::namespace::tree::Kind;
use crate::view::Siblings;

/// The surroundings of an asset.
pub(super) struct Context<'a> {
    vfs: &'a Vfs,
    asset: &'a Node<'a>,
    /// Why something could not be read, where that may pass.
    fault: RefCell<Option<io::Error>>,
}

impl<'a> Context<'a> {
    /// The surroundings of `asset`.
    pub(super) fn new(vfs: &'a Vfs, asset: &'a Node<'a>) -> Self {
        Self {
            vfs,
            asset,
            fault: RefCell::default(),
        }
    }

    /// Why something that was asked for could not be read.
    pub(super) fn fault(&self) -> Option<io::Error> {
        self.fault.borrow().clone()
    }
}

impl Siblings for Context<'_> {
    fn name(&self) -> &str {
        self.asset.tree().name(self.asset.index)
    }

    fn read(&self, name: &str) -> Option<Bytes> {
        let tree = self.asset.tree();
        let directory = tree.inode(self.asset.index)?.parent;
        let (_, index) = tree.find(directory, name, true)?;
        let sibling = self.asset.other(index);
        let Some(Kind::File { .. }) = sibling.kind() else {
            return None;
        };
        let size = self.vfs.node_attr(&sibling).ok()?.size;
        if size > MAX_ASSET || !self.vfs.reader.may_parse(size) {
            return None;
        }
        match self.vfs.reader.all_bytes(sibling.file()?, size) {
            Ok(bytes) => Some(bytes.into()),
            Err(error) => {
                if error.is_fault() {
                    self.fault.replace(Some(error));
                }
                None
            }
        }
    }
}
