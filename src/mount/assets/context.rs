//! Access of views to other files of the mount.

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use bytes::Bytes;

use super::Assets;
use super::folder_ids::FolderIds;
use super::{beside, find, game};
use crate::content::{Caller, Kept, MAX_ASSET, SharedKey};
use crate::formats::VIEW_FORMATS;
use crate::mount::Ino;
use crate::mount::tree::place;
use crate::mount::tree::subtree::{HeldIno, Node};
use crate::namespace::companion;
use crate::namespace::numbers::Hold;
use crate::namespace::tree::InodeKind;
use hpimount_assets::model::Reservation;
use hpimount_assets::view::{
    AssetContext, AssetKey, AssetRef, ChosenPalette, MakeShared, NamedAsset, Shared, View,
    ViewFile, ViewFormat,
};
use hpimount_containers::io;
use hpimount_containers::volume::{AssetTable, AssetType, FileId};

/// A receiver of the bytes of an asset.
type See<'a> = dyn Fn(&[u8]) + 'a;

/// The environment of an asset: the files that its view may read.
pub(crate) struct Context<'a> {
    assets: Assets<'a>,
    asset: &'a Node<'a>,
    /// The context of the asset whose view requested the model of this one.
    outer: Option<&'a dyn Making>,
    /// The directory that paths are relative to, once requested.
    root: OnceCell<Option<Node<'a>>>,
    /// The roots of the archives beside the asset's own, once requested.
    beside: OnceCell<Vec<Node<'a>>>,
    /// The new bytes of assets that are edited, if this is the context of an edit.
    changed: Option<&'a HashMap<Ino, Bytes>>,
    /// Receives the bytes of the asset before they are parsed.
    see: Option<&'a See<'a>>,
    /// The last fault that made something unreadable.
    fault: RefCell<Option<io::Error>>,
    /// Keeps the numbers of the files that were found, by the first number of each range.
    holds: RefCell<BTreeMap<u64, Arc<Hold>>>,
}

impl<'a> Context<'a> {
    /// Creates the context of `asset`, which is a file, or for a report the
    /// directory that paths are relative to.
    pub(crate) fn new(assets: Assets<'a>, asset: &'a Node<'a>) -> Self {
        Self {
            assets,
            asset,
            outer: None,
            root: OnceCell::new(),
            beside: OnceCell::new(),
            changed: None,
            see: None,
            fault: RefCell::default(),
            holds: RefCell::default(),
        }
    }

    /// Creates the context of an asset that is edited together with others,
    /// which have the bytes in `changed`. Models, and values that views share, still
    /// show the original.
    pub(crate) fn with_changes(
        assets: Assets<'a>,
        asset: &'a Node<'a>,
        changed: &'a HashMap<Ino, Bytes>,
    ) -> Self {
        Self {
            changed: Some(changed),
            ..Self::new(assets, asset)
        }
    }

    /// Creates the context of `asset`, whose bytes are passed to `see` when they are
    /// parsed.
    pub(crate) fn seen_by(assets: Assets<'a>, asset: &'a Node<'a>, see: &'a See<'a>) -> Self {
        Self {
            see: Some(see),
            ..Self::new(assets, asset)
        }
    }

    /// Creates the context of `asset`, whose model is requested by another
    /// view.
    pub(crate) fn within(outer: &'a Context<'_>, asset: &'a Node<'a>) -> Self {
        Self {
            outer: Some(outer),
            ..Self::new(outer.assets, asset)
        }
    }

    /// Returns the asset.
    pub(crate) fn node_of_asset(&self) -> &'a Node<'a> {
        self.asset
    }

    /// Returns the file with this number of the asset's view.
    ///
    /// # Errors
    /// Returns an error if the asset cannot be read.
    pub(crate) fn part(
        &self,
        format: &'static ViewFormat,
        number: usize,
    ) -> io::Result<Option<ViewFile>> {
        let model = self.assets.model_in(self, format, Caller::Request)?;
        Ok(model.view.files().into_iter().nth(number))
    }

    /// Shows the bytes of the asset to whoever asked for them.
    pub(crate) fn show(&self, bytes: &[u8]) {
        if let Some(see) = self.see {
            see(bytes);
        }
    }

    /// Returns the last fault that made something unreadable.
    pub(crate) fn fault(&self) -> Option<io::Error> {
        self.fault.borrow().clone()
    }

    /// Returns the value of `read`; records its error if that is a fault.
    fn ok_or_record<T>(&self, read: io::Result<T>) -> Option<T> {
        read.inspect_err(|error| {
            if error.is_fault() {
                self.fault.replace(Some(error.clone()));
            }
        })
        .ok()
    }

    fn node(&self, file: AssetRef) -> Option<Node<'a>> {
        self.assets.mount.node(Ino(file.0)).ok()
    }

    /// Returns the directory that paths are relative to.
    fn root(&self) -> Option<&Node<'a>> {
        let root = self
            .root
            .get_or_init(|| game::root_around(self.assets.mount, self.asset).ok());
        root.as_ref()
    }

    fn at(&self, path: &str) -> Option<Node<'a>> {
        let names = path.split('/').filter(|name| !name.is_empty());
        let mut node = self.root()?.clone();
        for name in names {
            // Companions are not part of the files that assets refer to.
            if matches!(node.kind(), Some(InodeKind::Companion { .. })) {
                return None;
            }
            node = self.assets.mount.enter(node).ok()?;
            let (_, index) = node.tree().find(node.index, name, true)?;
            node = node.other(index);
        }
        Some(node)
    }

    /// Finds an asset by its id, in the archive of this one or in those beside
    /// it.
    fn find_asset(&self, id: u32) -> Option<(&Node<'a>, FileId)> {
        let find = |archive: &'_ Node<'a>| assets_of(archive)?.find_id(id);
        if let Some(file) = find(self.asset) {
            return Some((self.asset, file));
        }
        let mut others = self.beside().iter();
        others.find_map(|archive| Some((archive, find(archive)?)))
    }

    /// Returns the name of an asset of an archive.
    fn named(&self, archive: &Node<'_>, file: FileId) -> Option<NamedAsset> {
        let volume = archive.subtree().volumes.first()?;
        let is_own = archive.subtree().range.first == self.asset.subtree().range.first;
        Some(NamedAsset {
            name: volume.volume.assets()?.name(file)?,
            archive: (!is_own).then(|| volume.name.clone()),
            code: volume.volume.asset(file).map(|asset| asset.code),
        })
    }

    /// Returns the roots of the archives beside the asset's own.
    fn beside(&self) -> &[Node<'a>] {
        self.beside.get_or_init(|| {
            let found = beside::archives(self.assets.mount, self.asset);
            // Damaged archives are skipped; other errors are temporary faults.
            let fault = |error| io::Error::Listing(Arc::new(std::io::Error::other(error)));
            self.ok_or_record(found.map_err(fault)).unwrap_or_default()
        })
    }

    /// Returns files of the archive that a node is in, if it has typed assets.
    fn files_of(
        &self,
        archive: &Node<'_>,
        files: impl FnOnce(&dyn AssetTable) -> Vec<FileId>,
    ) -> Vec<AssetRef> {
        let Some(assets) = assets_of(archive) else {
            return Vec::new();
        };
        let found = files(assets).into_iter();
        let node = |file| Some(archive.other(archive.tree().asset(file)?));
        found
            .filter_map(|file| self.file_ref(&node(file)?))
            .collect()
    }

    /// Returns a reference to a file, which is valid for as long as this context and
    /// what is made with it.
    fn file_ref(&self, node: &Node<'_>) -> Option<AssetRef> {
        matches!(node.kind(), Some(InodeKind::File { .. })).then(|| self.lend(&node.held_ino()))
    }

    fn lend(&self, file: &HeldIno) -> AssetRef {
        self.hold(file.hold());
        AssetRef(file.0)
    }

    /// Keeps ranges of numbers.
    fn hold<'h>(&self, holds: impl IntoIterator<Item = &'h Arc<Hold>>) {
        let mut kept = self.holds.borrow_mut();
        for hold in holds {
            kept.entry(hold.first()).or_insert_with(|| hold.clone());
        }
    }

    /// Returns what keeps the numbers of the files that were found.
    pub(crate) fn kept(&self) -> Kept {
        self.holds.borrow().values().cloned().collect()
    }

    fn directory_of_asset(&self) -> Option<Node<'a>> {
        self.asset.file()?;
        let inode = self.asset.tree().inode(self.asset.index)?;
        Some(self.asset.other(inode.parent))
    }
}

/// Returns the assets of the archive that a node is in, if they have ids.
fn assets_of<'n>(archive: &'n Node<'_>) -> Option<&'n dyn AssetTable> {
    archive.subtree().volumes.first()?.volume.assets()
}

/// A chain of models that are being built, each for another one.
trait Making {
    /// Returns whether the model of this asset is being built.
    fn is_making(&self, asset: Ino) -> bool;
}

impl Making for Context<'_> {
    fn is_making(&self, asset: Ino) -> bool {
        self.asset.ino() == asset || self.outer.is_some_and(|outer| outer.is_making(asset))
    }
}

impl AssetContext for Context<'_> {
    fn name(&self) -> &str {
        self.asset.tree().name(self.asset.index)
    }

    fn find(&self, key: AssetKey<'_>) -> Option<AssetRef> {
        match key {
            AssetKey::Sibling(name) => {
                let directory = self.directory_of_asset()?;
                let (_, index) = directory.tree().find(directory.index, name, true)?;
                self.file_ref(&directory.other(index))
            }
            AssetKey::Path(path) => self.file_ref(&self.at(path)?),
            AssetKey::Id(id) => {
                let (archive, file) = self.find_asset(id)?;
                self.file_ref(&archive.other(archive.tree().asset(file)?))
            }
        }
    }

    fn find_extensions(&self, folder: &str, extensions: &[&str]) -> Vec<AssetRef> {
        let Some(root) = self.root() else {
            return Vec::new();
        };
        let found = find::files_below(self.assets.mount, root, folder, extensions);
        found.iter().map(|file| self.lend(file)).collect()
    }

    fn path_of(&self, file: AssetRef) -> String {
        let node = self.node(file);
        let path = node.and_then(|node| place::path(self.assets.mount, &node).ok());
        path.unwrap_or_default()
    }

    fn archive_of(&self, file: AssetRef) -> String {
        let node = self.node(file);
        let volume = node.and_then(|node| node.volume().cloned());
        volume.map_or_else(String::new, |volume| volume.name.clone())
    }

    fn read(&self, file: AssetRef) -> Option<Bytes> {
        let node = self.node(file)?;
        let changed = self.changed.and_then(|changed| changed.get(&node.ino()));
        if let Some(changed) = changed {
            return Some(changed.clone());
        }
        let size = self.size_of(file)?;
        let bytes = self.ok_or_record(self.assets.mount.reader.all_bytes(node.file()?, size))?;
        Some(bytes.into())
    }

    fn reserve(&self, bytes: usize) -> std::io::Result<Option<Reservation>> {
        let what = match self.changed {
            Some(_) => "encoding an edited file",
            None => "rendering it",
        };
        let reserved = self.assets.mount.reader.reserve(what, bytes);
        // Less can be rendered then, but an edited file is not refused for it.
        if let (Some(_), Err(fault)) = (self.changed, &reserved) {
            self.fault.replace(Some(fault.clone()));
        }
        let reserved = reserved.map_err(std::io::Error::other)?;
        Ok(Some(Box::new(reserved)))
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
        let model = self.assets.model_in(&context, format, Caller::Parser);
        let model = self.ok_or_record(model)?;
        self.hold(&model.kept);
        Some(model.view.clone())
    }

    fn shared(&self, name: &'static str, make: MakeShared<'_>) -> Option<Arc<dyn Shared>> {
        let key = SharedKey {
            name,
            root: self.root()?.ino().0,
        };
        let shared = self.assets.mount.reader.shared(key, || {
            let context = Context::within(self, self.asset);
            let made = make(&context);
            context.fault().map_or(Ok((made, context.kept())), Err)
        });
        self.ok_or_record(shared)
    }

    fn find_outside(&self, extensions: &[&str]) -> Vec<AssetRef> {
        let outermost = game::outermost(self.assets.mount, self.asset).ok();
        let Some((root, outermost)) = self.root().zip(outermost) else {
            return Vec::new();
        };
        if root.ino() == outermost.ino() {
            return Vec::new();
        }
        let found = find::files_below(self.assets.mount, &outermost, "", extensions);
        found.iter().map(|file| self.lend(file)).collect()
    }

    fn asset(&self) -> Option<AssetType> {
        let file = self.asset.file()?;
        file.volume.volume.asset(file.file)
    }

    fn asset_name(&self, id: u32) -> Option<NamedAsset> {
        let (archive, file) = self.find_asset(id)?;
        self.named(archive, file)
    }

    fn asset_name_anywhere(&self, id: u32) -> Option<NamedAsset> {
        self.asset_name(id).or_else(|| {
            let ids = self.ok_or_record(FolderIds::around(self.assets.mount, self.asset))??;
            let archive = self.assets.mount.node(ids.archive_of(id)?).ok()?;
            let archive = self.assets.mount.enter(archive).ok()?;
            let file = assets_of(&archive)?.find_id(id)?;
            self.named(&archive, file)
        })
    }

    fn assets(&self) -> Vec<AssetRef> {
        self.files_of(self.asset, |assets| assets.files())
    }

    fn asset_of(&self, file: AssetRef) -> Option<AssetType> {
        let node = self.node(file)?;
        let file = node.file()?;
        file.volume.volume.asset(file.file)
    }

    fn name_of(&self, file: AssetRef) -> Option<String> {
        let node = self.node(file)?;
        let file = node.file()?;
        file.volume.volume.assets()?.name(file.file)
    }

    fn find_type(&self, code: [u8; 4]) -> Vec<AssetRef> {
        self.files_of(self.asset, |assets| assets.files_of_type(code))
    }

    fn find_type_beside(&self, code: [u8; 4]) -> Vec<AssetRef> {
        let archives = self.beside().iter();
        archives
            .flat_map(|archive| self.files_of(archive, |assets| assets.files_of_type(code)))
            .collect()
    }

    fn size_of(&self, file: AssetRef) -> Option<u64> {
        let node = self.node(file)?;
        let size = self.ok_or_record(self.assets.size_of(&node))?;
        (size <= MAX_ASSET && self.assets.mount.reader.may_parse(size)).then_some(size)
    }

    fn list(&self, directory: &str) -> Vec<AssetRef> {
        let found = self
            .at(directory)
            .and_then(|node| self.assets.mount.enter(node).ok());
        let Some(node) = found else {
            return Vec::new();
        };
        let entries = node.tree().entries(node.index, 0);
        entries
            .filter_map(|(_, index)| self.file_ref(&node.other(index)))
            .collect()
    }

    fn palette(&self) -> Option<&ChosenPalette> {
        self.assets.mount.options.palette.as_deref()
    }
}
