//! How a view requests other files of the mount.

use std::any::Any;
use std::io;
use std::sync::Arc;

use bytes::Bytes;

use super::View;
use crate::asset::ta::pal::Palette;
use crate::io::budget::Reservation;
use crate::volume::AssetType;

/// A file of the mount that a view has found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct AssetRef(pub u64);

/// The name of an asset, by the archive that it was found in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedAsset {
    /// The name.
    pub name: String,
    /// The archive, where it is another one than that of the asset that asks.
    pub archive: Option<String>,
}

/// How a view names a file that it looks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted<'a> {
    /// By its name, in the directory of the asset.
    Sibling(&'a str),
    /// By its path from the root of the archive, the merged game or the folder
    /// that the asset is in.
    Path(&'a str),
    /// By its id: in the archive that the asset is in, then in the archives
    /// beside it (SEMANTICS, Names from other archives).
    Id(u32),
}

/// A palette that the user has chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChosenPalette {
    /// The colours.
    pub palette: Palette,
    /// Name of the file that it is from.
    pub file: String,
}

/// A value that views make once for a whole archive, game or folder, such as
/// an index of its textures.
pub trait Shared: Any + Send + Sync {
    /// Returns the memory that it takes, in bytes.
    fn memory(&self) -> usize;
}

/// Makes a [`Shared`] value.
pub type MakeShared<'a> = &'a dyn Fn(&dyn AssetContext) -> Box<dyn Shared>;

/// The surroundings of an asset: the files that its view may request.
///
/// Names and paths are compared without regard to ASCII case. Nothing is given
/// for a file that does not exist, that is too large, or that cannot be read;
/// if the last is a fault that may pass, what is made meanwhile is not kept.
pub trait AssetContext {
    /// Returns the name of the asset itself; empty if it is not known.
    fn name(&self) -> &str;

    /// Returns what the volume of the asset knows about it.
    fn asset(&self) -> Option<AssetType> {
        None
    }

    /// Finds a file.
    fn find(&self, wanted: Wanted<'_>) -> Option<AssetRef>;

    /// Returns the files in the directory at a path, which is meant as in
    /// [`Wanted::Path`], in their order.
    fn list(&self, directory: &str) -> Vec<AssetRef> {
        let _ = directory;
        Vec::new()
    }

    /// Returns the name that an archive has for the asset with this id, which
    /// is looked for as by [`Wanted::Id`]. The file may be called otherwise.
    fn asset_name(&self, id: u32) -> Option<NamedAsset> {
        let _ = id;
        None
    }

    /// Returns the assets of the archive that the asset is in, in its order:
    /// the files of which it knows a type.
    fn assets(&self) -> Vec<AssetRef> {
        Vec::new()
    }

    /// Returns what the archive of a file knows about it.
    fn asset_of(&self, file: AssetRef) -> Option<AssetType> {
        let _ = file;
        None
    }

    /// Returns the name that the archive of a file has for it, as
    /// [`AssetContext::asset_name`].
    fn name_of(&self, file: AssetRef) -> Option<String> {
        let _ = file;
        None
    }

    /// Returns the files of a type in the archive that the asset is in, by the
    /// four letters of [`AssetType::code`].
    fn find_type(&self, code: [u8; 4]) -> Vec<AssetRef> {
        let _ = code;
        Vec::new()
    }

    /// Returns the files of a type in the archives beside the one that the
    /// asset is in, in the order in which [`Wanted::Id`] looks into them.
    fn find_type_beside(&self, code: [u8; 4]) -> Vec<AssetRef> {
        let _ = code;
        Vec::new()
    }

    /// Returns the files whose names end in one of these extensions (lower
    /// case, without the dot), in the order of their paths: those in the
    /// directories whose names begin with `folder`, of the root of the archive,
    /// merged game or folder that the asset is in, and in all directories below
    /// them. An empty name means all files from the root on. What is inside
    /// archives there is none of them.
    fn find_extensions(&self, folder: &str, extensions: &[&str]) -> Vec<AssetRef> {
        let _ = (folder, extensions);
        Vec::new()
    }

    /// Returns the palette that the user has chosen for all pictures that do
    /// not have one of their own.
    fn palette(&self) -> Option<&ChosenPalette> {
        None
    }

    /// Returns the path of a file in the mount.
    fn path_of(&self, file: AssetRef) -> String {
        let _ = file;
        String::new()
    }

    /// Returns the name of the archive that a file is in.
    fn archive_of(&self, file: AssetRef) -> String {
        let _ = file;
        String::new()
    }

    /// Returns the number of bytes that [`AssetContext::read`] gives; nothing
    /// for a file that is too large.
    fn size_of(&self, file: AssetRef) -> Option<u64> {
        Some(self.read(file)?.len() as u64)
    }

    /// Returns the bytes of a file.
    fn read(&self, file: AssetRef) -> Option<Bytes>;

    /// Accounts for memory that a rendering needs for a moment.
    ///
    /// # Errors
    /// Returns an error if the memory budget has no room for it.
    fn reserve(&self, bytes: usize) -> io::Result<Option<Reservation>> {
        let _ = bytes;
        Ok(None)
    }

    /// Returns the parsed model of an asset. Nothing for an asset whose model
    /// is being made of this one.
    fn model(&self, file: AssetRef) -> Option<Arc<dyn View>> {
        let _ = file;
        None
    }

    /// Returns the value that is shared under `name`, made by `make` if there
    /// is none.
    fn shared(&self, name: &'static str, make: MakeShared<'_>) -> Option<Arc<dyn Shared>> {
        let _ = name;
        Some(make(self.as_dyn()).into())
    }

    /// Returns the context itself, for [`AssetContext::shared`].
    fn as_dyn(&self) -> &dyn AssetContext;

    /// Returns the bytes of the file with this name beside the asset.
    fn read_sibling(&self, name: &str) -> Option<Bytes> {
        self.read(self.find(Wanted::Sibling(name))?)
    }
}

/// Returns the value that is shared under `name`, made by `make` if there is
/// none.
pub(super) fn shared<T: Shared>(
    context: &dyn AssetContext,
    name: &'static str,
    make: fn(&dyn AssetContext) -> T,
) -> Option<Arc<T>> {
    let boxed = |context: &dyn AssetContext| Box::new(make(context)) as Box<dyn Shared>;
    let shared: Arc<dyn Any + Send + Sync> = context.shared(name, &boxed)?;
    shared.downcast().ok()
}

/// No files around the asset.
pub struct Alone;

impl AssetContext for Alone {
    fn name(&self) -> &str {
        ""
    }

    fn find(&self, _wanted: Wanted<'_>) -> Option<AssetRef> {
        None
    }

    fn read(&self, _file: AssetRef) -> Option<Bytes> {
        None
    }

    fn as_dyn(&self) -> &dyn AssetContext {
        self
    }
}
