//! References of views to other files of the mount.

use get_size2::GetSize;

/// A file of the mount found by a view.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, GetSize)]
pub struct AssetRef(pub u64);

/// The identification of a file by a view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AssetKey<'a> {
    /// By its name, in the directory of the asset.
    Sibling(&'a str),
    /// By its path from the root of its game, or else of the archive, merged game or
    /// folder of the asset (SEMANTICS, Meta).
    Path(&'a str),
    /// By its id: in the archive of the asset, then in the archives beside it
    /// (SEMANTICS, Names from other archives).
    Id(u32),
}
