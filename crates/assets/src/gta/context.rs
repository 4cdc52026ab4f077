//! What the views of these assets need of their game: files outside of the
//! archive that an asset is in.

use crate::view::AssetRef;

/// The game around the archive of an asset.
pub trait GtaContext {
    /// Returns the files with one of these extensions (lower case, without the
    /// dot), in the order of their paths, of the folder, disc or archive that
    /// contains the asset's archive, and of everything around it. The contents
    /// of nested archives are not searched. Empty if there is nothing around.
    fn find_outside(&self, extensions: &[&str]) -> Vec<AssetRef> {
        let _ = extensions;
        Vec::new()
    }
}
