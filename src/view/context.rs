//! How a view asks for other files of the mount.

use std::any::Any;
use std::sync::Arc;

use bytes::Bytes;

use super::View;
use crate::volume::AssetType;

/// A file of the mount that a view has found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct AssetRef(pub u64);

/// How a view names a file that it looks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted<'a> {
    /// By its name, in the directory of the asset.
    Sibling(&'a str),
    /// By its path from the root of the archive, the merged game or the folder
    /// that the asset is in.
    Path(&'a str),
    /// By its id in the archive that the asset is in.
    Id(u32),
}

/// A value that views make once for a whole archive, game or folder, such as
/// an index of its textures.
pub trait Shared: Any + Send + Sync {
    /// Memory that it takes, in bytes.
    fn memory(&self) -> usize;
}

/// Makes a [`Shared`] value.
pub type MakeShared<'a> = &'a dyn Fn(&dyn AssetContext) -> Box<dyn Shared>;

/// The surroundings of an asset: the files that its view may ask for.
///
/// Names and paths are compared without regard to ASCII case. Nothing is given
/// for a file that does not exist, that is too large, or that cannot be read;
/// if the last is a fault that may pass, what is made meanwhile is not kept.
pub trait AssetContext {
    /// Name of the asset itself; empty where it is not known.
    fn name(&self) -> &str;

    /// What the volume of the asset knows about it.
    fn asset(&self) -> Option<AssetType> {
        None
    }

    /// Finds a file.
    fn find(&self, wanted: Wanted<'_>) -> Option<AssetRef>;

    /// The files in the directory at a path, which is meant as in
    /// [`Wanted::Path`], in their order.
    fn list(&self, directory: &str) -> Vec<AssetRef> {
        let _ = directory;
        Vec::new()
    }

    /// The name that the archive of the asset has for the asset with this id.
    /// The file may be called otherwise.
    fn asset_name(&self, id: u32) -> Option<String> {
        let _ = id;
        None
    }

    /// The files of a type in the archive that the asset is in, by the four
    /// letters of [`AssetType::code`].
    fn find_type(&self, code: [u8; 4]) -> Vec<AssetRef> {
        let _ = code;
        Vec::new()
    }

    /// Path of a file in the mount.
    fn path_of(&self, file: AssetRef) -> String {
        let _ = file;
        String::new()
    }

    /// Name of the archive that a file is in.
    fn archive_of(&self, file: AssetRef) -> String {
        let _ = file;
        String::new()
    }

    /// The bytes of a file.
    fn read(&self, file: AssetRef) -> Option<Bytes>;

    /// The parsed model of an asset. Nothing for an asset whose model is being
    /// made of this one.
    fn model(&self, file: AssetRef) -> Option<Arc<dyn View>> {
        let _ = file;
        None
    }

    /// The value that is shared under `name`, made by `make` where there is
    /// none.
    fn shared(&self, name: &'static str, make: MakeShared<'_>) -> Option<Arc<dyn Shared>> {
        let _ = name;
        Some(make(self.as_dyn()).into())
    }

    /// The context itself, for [`AssetContext::shared`].
    fn as_dyn(&self) -> &dyn AssetContext;

    /// The bytes of the file with this name beside the asset.
    fn read_sibling(&self, name: &str) -> Option<Bytes> {
        self.read(self.find(Wanted::Sibling(name))?)
    }
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
