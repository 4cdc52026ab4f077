//! What the views of these assets need of their archive: types, ids and names.

use hpimount_containers::volume::AssetType;

use crate::view::AssetRef;

/// The name of an asset, and the archive where it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedAsset {
    /// The name.
    pub name: String,
    /// The archive, if it is another one than the requesting asset's.
    pub archive: Option<String>,
    /// The four letters of its type; `None` if it is unknown.
    pub code: Option<[u8; 4]>,
}

/// The archive of an asset, and those beside it.
pub trait ArchiveContext {
    /// Returns the type of the asset, if its volume has one.
    fn asset(&self) -> Option<AssetType> {
        None
    }

    /// Returns the name of the asset with this id in its archive, looked up
    /// like [`Wanted::Id`](crate::view::Wanted::Id). The file may have another name.
    fn asset_name(&self, id: u32) -> Option<NamedAsset> {
        let _ = id;
        None
    }

    /// Returns the name of the asset with this id in any archive of the folder
    /// or disc around the asset's archive, nearest first. Only links refer to
    /// assets so far away.
    fn asset_name_anywhere(&self, id: u32) -> Option<NamedAsset> {
        self.asset_name(id)
    }

    /// Returns the assets of the asset's archive, in order: the files with a
    /// known type.
    fn assets(&self) -> Vec<AssetRef> {
        Vec::new()
    }

    /// Returns the type of a file, if its archive has one.
    fn asset_of(&self, file: AssetRef) -> Option<AssetType> {
        let _ = file;
        None
    }

    /// Returns the name of a file in its archive, as in
    /// [`ArchiveContext::asset_name`].
    fn name_of(&self, file: AssetRef) -> Option<String> {
        let _ = file;
        None
    }

    /// Returns the files of a type in the asset's archive, by the four letters
    /// of [`AssetType::code`].
    fn find_type(&self, code: [u8; 4]) -> Vec<AssetRef> {
        let _ = code;
        Vec::new()
    }

    /// Returns the files of a type in the archives beside the asset's, in the
    /// order of [`Wanted::Id`](crate::view::Wanted::Id).
    fn find_type_beside(&self, code: [u8; 4]) -> Vec<AssetRef> {
        let _ = code;
        Vec::new()
    }

    /// Returns the number of bytes that [`AssetContext::read`](crate::view::AssetContext::read) returns; `None`
    /// for a file that is too large.
    fn size_of(&self, file: AssetRef) -> Option<u64> {
        let _ = file;
        None
    }
}
