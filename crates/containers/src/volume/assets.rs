//! Types, ids and names of assets, which only volumes of typed assets have.

use super::{FileId, Game, Platform, RecordedSum};
use crate::io::Endian;

/// The type of an asset, if its volume records it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AssetType {
    /// Code of the type, four letters (HIP: from AHDR).
    pub code: [u8; 4],
    /// Platform that the archive was made for (HIP).
    pub platform: Platform,
    /// Byte order of the content.
    pub endian: Endian,
    /// Game that the archive was made for (HIP).
    pub game: Game,
    /// Refines the type (HIP: for a DYNA asset the hash of its type's name, for
    /// a JSP asset 1 if it is JSPINFO); otherwise 0.
    pub subtype: u32,
    /// Id of the file in its archive (HIP: from AHDR), see
    /// [`AssetTable::find_id`].
    pub id: u32,
}

/// The name of an asset's file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AssetName {
    /// A stem that is unique in the directory, ignoring ASCII case.
    pub stem: String,
    /// The extension with its dot, if there is one.
    pub extension: String,
}

/// A volume whose directory records the type and the id of its files. Its own
/// directories have no meaning for users.
pub trait AssetTable {
    /// Returns the type of `file`; `None` if it is not an asset.
    fn asset_type(&self, file: FileId) -> Option<AssetType>;

    /// Returns the file with this id (HIP: from AHDR).
    fn find_id(&self, id: u32) -> Option<FileId>;

    /// Returns the assets in the order of the volume.
    fn files(&self) -> Vec<FileId>;

    /// Returns the assets whose [`AssetType::code`] is `code`, in the order of
    /// the volume.
    fn files_of_type(&self, code: [u8; 4]) -> Vec<FileId>;

    /// Returns the volume's own name for `file`, if it records one (HIP: from
    /// ADBG, without an extension for the type).
    fn name(&self, file: FileId) -> Option<String>;

    /// Returns the names of `files` in a directory of only these assets, by the
    /// volume's own rules; `None` if one of them is not an asset.
    fn file_names(&self, files: &[FileId]) -> Option<Vec<AssetName>>;

    /// Returns the checksum that the volume records of `file` (HIP: from ADBG), to
    /// be compared with its bytes; `None` if it records none.
    fn recorded_sum(&self, file: FileId) -> Option<RecordedSum>;
}
