//! How the views of assets ask for other files of the mount.

use std::cell::RefCell;
use std::sync::Arc;

use bytes::Bytes;

use super::subtree::Node;
use super::{Error, Ino, Vfs};
use crate::content::{Asked, MAX_ASSET, Shelf};
use crate::io;
use crate::namespace::companion;
use crate::namespace::numbers::Origin;
use crate::namespace::tree::{Kind, ROOT};
use crate::view::{AssetContext, AssetRef, MakeShared, Shared, VIEW_FORMATS, View, Wanted};
use crate::volume::AssetType;

/// The surroundings of an asset.
pub(super) struct Context<'a> {
    vfs: &'a Vfs,
    asset: &'a Node<'a>,
    /// That of the asset whose view asks for this one's model.
    outer: Option<&'a Context<'a>>,
    /// Why something could not be read, where that may pass.
    fault: RefCell<Option<io::Error>>,
}

impl<'a> Context<'a> {
    /// The surroundings of `asset`.
    pub(super) fn new(vfs: &'a Vfs, asset: &'a Node<'a>) -> Self {
        Self {
            vfs,
            asset,
            outer: None,
            fault: RefCell::default(),
        }
    }

    /// The surroundings of `asset`, whose model another view asks for.
    pub(super) fn within(outer: &'a Context<'a>, asset: &'a Node<'a>) -> Self {
        Self {
            outer: Some(outer),
            ..Self::new(outer.vfs, asset)
        }
    }

    /// The asset.
    pub(super) fn node_of_asset(&self) -> &'a Node<'a> {
        self.asset
    }

    /// Why something that was asked for could not be read.
    pub(super) fn fault(&self) -> Option<io::Error> {
        self.fault.borrow().clone()
    }

    /// Whether the model of this asset is being made.
    fn is_making(&self, asset: Ino) -> bool {
        self.asset.ino() == asset || self.outer.is_some_and(|outer| outer.is_making(asset))
    }

    /// What `read` gives; a fault is remembered.
    fn noting<T>(&self, read: io::Result<T>) -> Option<T> {
        read.inspect_err(|error| {
            if error.is_fault() {
                self.fault.replace(Some(error.clone()));
            }
        })
        .ok()
    }

    fn node(&self, file: AssetRef) -> Option<Node<'a>> {
        let ino = u32::try_from(file.0).ok()?;
        self.vfs.node(Ino(ino)).ok()
    }

    /// The directory from which paths are meant.
    fn root(&self) -> Result<Node<'a>, Error> {
        let mut root = self.asset.other(ROOT);
        while let Origin::Directory(directory) = root.subtree().range.origin {
            let directory = self.vfs.node(directory)?;
            if !matches!(directory.kind(), Some(Kind::Deferred { .. })) {
                break;
            }
            root = directory.other(ROOT);
        }
        Ok(root)
    }

    fn at(&self, path: &str) -> Option<Node<'a>> {
        let names = path.split('/').filter(|name| !name.is_empty());
        let mut node = self.root().ok()?;
        for name in names {
            // A companion is none of the files that an asset is made of.
            if matches!(node.kind(), Some(Kind::Companion { .. })) {
                return None;
            }
            node = self.vfs.enter(node).ok()?;
            let (_, index) = node.tree().find(node.index, name, true)?;
            node = node.other(index);
        }
        Some(node)
    }

    fn directory_of_asset(&self) -> Option<Node<'a>> {
        let inode = self.asset.tree().inode(self.asset.index)?;
        Some(self.asset.other(inode.parent))
    }
}

fn file_ref(node: &Node<'_>) -> Option<AssetRef> {
    let is_file = matches!(node.kind(), Some(Kind::File { .. }));
    is_file.then(|| AssetRef(node.ino().0.into()))
}

impl AssetContext for Context<'_> {
    fn name(&self) -> &str {
        self.asset.tree().name(self.asset.index)
    }

    fn asset(&self) -> Option<AssetType> {
        let file = self.asset.file()?;
        file.volume.volume.asset(file.file)
    }

    fn find(&self, wanted: Wanted<'_>) -> Option<AssetRef> {
        match wanted {
            Wanted::Sibling(name) => {
                let directory = self.directory_of_asset()?;
                let (_, index) = directory.tree().find(directory.index, name, true)?;
                file_ref(&directory.other(index))
            }
            Wanted::Path(path) => file_ref(&self.at(path)?),
            Wanted::Id(id) => {
                let file = self.asset.file()?;
                let found = file.volume.volume.find_id(id)?;
                let index = self.asset.tree().file(found)?;
                file_ref(&self.asset.other(index))
            }
        }
    }

    fn list(&self, directory: &str) -> Vec<AssetRef> {
        let found = self
            .at(directory)
            .and_then(|node| self.vfs.enter(node).ok());
        let Some(node) = found else {
            return Vec::new();
        };
        let entries = node.tree().entries(node.index, 0);
        entries
            .filter_map(|(_, index)| file_ref(&node.other(index)))
            .collect()
    }

    fn asset_name(&self, id: u32) -> Option<String> {
        let volume = &self.asset.file()?.volume.volume;
        volume.asset_name(volume.find_id(id)?)
    }

    fn find_type(&self, code: [u8; 4]) -> Vec<AssetRef> {
        let Some(file) = self.asset.file() else {
            return Vec::new();
        };
        let found = file.volume.volume.find_type(code).into_iter();
        let node = |file| Some(self.asset.other(self.asset.tree().file(file)?));
        found.filter_map(|file| file_ref(&node(file)?)).collect()
    }

    fn path_of(&self, file: AssetRef) -> String {
        let node = self.node(file);
        let path = node.and_then(|node| self.vfs.path(&node).ok());
        path.unwrap_or_default()
    }

    fn archive_of(&self, file: AssetRef) -> String {
        let node = self.node(file);
        let volume = node.and_then(|node| node.volume().cloned());
        volume.map_or_else(String::new, |volume| volume.name.clone())
    }

    fn read(&self, file: AssetRef) -> Option<Bytes> {
        let node = self.node(file)?;
        let size = node.tree().inode(node.index)?.size()?;
        if size > MAX_ASSET || !self.vfs.reader.may_parse(size) {
            return None;
        }
        let bytes = self.noting(self.vfs.reader.all_bytes(node.file()?, size))?;
        Some(bytes.into())
    }

    fn model(&self, file: AssetRef) -> Option<Arc<dyn View>> {
        let node = self.node(file)?;
        if self.is_making(node.ino()) {
            return None;
        }
        let name = node.tree().name(node.index);
        let asset = node.file()?.volume.volume.asset(node.file()?.file);
        let format = VIEW_FORMATS.get(companion::view_format(name, asset)? as usize)?;
        let context = Context::within(self, &node);
        let model = self.vfs.model_in(&context, format, Asked::ByParser);
        Some(self.noting(model)?.view.clone())
    }

    fn shared(&self, name: &'static str, make: MakeShared<'_>) -> Option<Arc<dyn Shared>> {
        let root = self.root().ok()?;
        let shelf = Shelf {
            name,
            root: root.subtree().range.first,
        };
        let shared = self.vfs.reader.shared(shelf, || {
            let context = Context::within(self, self.asset);
            let made = make(&context);
            context.fault().map_or(Ok(made), Err)
        });
        self.noting(shared)
    }

    fn as_dyn(&self) -> &dyn AssetContext {
        self
    }
}
