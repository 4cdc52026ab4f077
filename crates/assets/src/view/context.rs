//! Access of views to other files of the mount.

use std::any::Any;
use std::io;
use std::sync::Arc;

use bytes::Bytes;

use super::View;
use super::asset_key::{AssetKey, AssetRef};
use crate::model::{CORNER_BYTES, Reservation};
use hpimount_containers::volume::AssetType;

/// The name of an asset, and the archive where it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedAsset {
    /// The name.
    pub name: String,
    /// The archive, if it differs from the archive of the requesting asset.
    pub archive: Option<String>,
    /// The four letters of its type; `None` if it is unknown.
    pub code: Option<[u8; 4]>,
}

/// A palette chosen by the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChosenPalette {
    /// The colors: red, green, blue.
    pub colors: [[u8; 3]; 256],
    /// Name of its file.
    pub file: String,
}

/// A value that views compute once for an archive, game or folder, such as an index of
/// its textures.
pub trait Shared: Any + Send + Sync {
    /// Returns its memory, in bytes.
    fn memory(&self) -> usize;
}

/// Creates a [`Shared`] value.
pub type MakeShared<'a> = &'a dyn Fn(&dyn AssetContext) -> Box<dyn Shared>;

/// The environment of an asset: the files that its view may read.
///
/// Names and paths ignore ASCII case. Methods return `None` for a file that does not
/// exist, is too large, or cannot be read. If a read error may be temporary, results
/// that depend on it are not cached.
pub trait AssetContext {
    /// Returns the name of the asset itself, or an empty one if it is unknown.
    fn name(&self) -> &str;

    /// Finds a file.
    fn find(&self, key: AssetKey<'_>) -> Option<AssetRef>;

    /// Returns the files with one of these extensions (lower case, without the dot),
    /// sorted by path, below the directories whose names begin with `folder` in the
    /// root of the asset's archive, merged game or folder. An empty name searches all
    /// files. Does not search nested archives.
    fn find_extensions(&self, folder: &str, extensions: &[&str]) -> Vec<AssetRef> {
        let _ = (folder, extensions);
        Vec::new()
    }

    /// Returns the path of a file in the mount.
    fn path_of(&self, file: AssetRef) -> String {
        let _ = file;
        String::new()
    }

    /// Returns the name of a file's archive.
    fn archive_of(&self, file: AssetRef) -> String {
        let _ = file;
        String::new()
    }

    /// Returns the bytes of a file.
    fn read(&self, file: AssetRef) -> Option<Bytes>;

    /// Reserves temporary memory for a rendering.
    ///
    /// # Errors
    /// Returns an error if the memory budget is exhausted.
    fn reserve(&self, bytes: usize) -> io::Result<Option<Reservation>> {
        let _ = bytes;
        Ok(None)
    }

    /// Returns the parsed model of an asset, or `None` during the construction of a
    /// model that this one depends on.
    fn model(&self, file: AssetRef) -> Option<Arc<dyn View>> {
        let _ = file;
        None
    }

    /// Returns the value shared under `name`. `make` creates it on the first call.
    fn shared(&self, name: &'static str, make: MakeShared<'_>) -> Option<Arc<dyn Shared>>;

    /// Returns the number of bytes that [`AssetContext::read`] returns; `None`
    /// for a file that is too large.
    fn size_of(&self, file: AssetRef) -> Option<u64> {
        let _ = file;
        None
    }

    /// Returns the files in a directory, given by a path as in [`AssetKey::Path`], in
    /// order.
    fn list(&self, directory: &str) -> Vec<AssetRef> {
        let _ = directory;
        Vec::new()
    }

    /// Returns the files with one of these extensions (lower case, without the dot),
    /// sorted by path, from the folder, disc or archive that contains the asset's
    /// archive. Does not search nested archives.
    fn find_outside(&self, extensions: &[&str]) -> Vec<AssetRef> {
        let _ = extensions;
        Vec::new()
    }

    /// Returns the palette that the user chose for pictures without a palette.
    fn palette(&self) -> Option<&ChosenPalette> {
        None
    }

    /// Returns the type of the asset, if its volume has one.
    fn asset(&self) -> Option<AssetType> {
        None
    }

    /// Returns the type of a file, if its volume has one.
    fn asset_of(&self, file: AssetRef) -> Option<AssetType> {
        let _ = file;
        None
    }

    /// Returns the assets of the asset's archive, in order: the files with a
    /// known type.
    fn assets(&self) -> Vec<AssetRef> {
        Vec::new()
    }

    /// Returns the files of a type in the asset's archive, by the four letters
    /// of [`AssetType::code`].
    fn find_type(&self, code: [u8; 4]) -> Vec<AssetRef> {
        let _ = code;
        Vec::new()
    }

    /// Returns the files of a type in the archives beside the asset's, in the
    /// order of [`AssetKey::Id`].
    fn find_type_beside(&self, code: [u8; 4]) -> Vec<AssetRef> {
        let _ = code;
        Vec::new()
    }

    /// Returns the name of a file in its archive, as in
    /// [`AssetContext::asset_name`].
    fn name_of(&self, file: AssetRef) -> Option<String> {
        let _ = file;
        None
    }

    /// Returns the name of the asset with this id in its archive, looked up like
    /// [`AssetKey::Id`]. The file name may differ.
    fn asset_name(&self, id: u32) -> Option<NamedAsset> {
        let _ = id;
        None
    }

    /// Returns the name of the asset with this id in any archive of the folder or disc
    /// around the asset's archive, nearest first. Only links refer to such distant
    /// assets.
    fn asset_name_anywhere(&self, id: u32) -> Option<NamedAsset> {
        self.asset_name(id)
    }
}

impl dyn AssetContext + '_ {
    /// Returns the bytes of the file with this name beside the asset.
    pub fn read_sibling(&self, name: &str) -> Option<Bytes> {
        self.read(self.find(AssetKey::Sibling(name))?)
    }

    /// Reserves memory for a scene with this number of face corners before it is built.
    pub fn reserve_scene(&self, corners: usize) -> io::Result<Option<Reservation>> {
        self.reserve(corners * CORNER_BYTES)
    }
}

/// Returns the value shared under `name`. `make` creates it on the first call.
pub fn shared<T: Shared>(
    context: &dyn AssetContext,
    name: &'static str,
    make: fn(&dyn AssetContext) -> T,
) -> Option<Arc<T>> {
    let boxed = |context: &dyn AssetContext| Box::new(make(context)) as Box<dyn Shared>;
    let shared: Arc<dyn Any + Send + Sync> = context.shared(name, &boxed)?;
    shared.downcast().ok()
}

/// A context without other files.
pub struct Alone;

impl AssetContext for Alone {
    fn name(&self) -> &str {
        ""
    }

    fn find(&self, _: AssetKey<'_>) -> Option<AssetRef> {
        None
    }

    fn read(&self, _file: AssetRef) -> Option<Bytes> {
        None
    }

    fn shared(&self, _name: &'static str, make: MakeShared<'_>) -> Option<Arc<dyn Shared>> {
        Some(make(self).into())
    }
}
