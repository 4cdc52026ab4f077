//! What the views of these assets need of their game: its directories, and the
//! palette that the user has chosen.

use super::pal::Palette;
use crate::view::AssetRef;

/// A palette chosen by the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChosenPalette {
    /// The colors.
    pub palette: Palette,
    /// Name of its file.
    pub file: String,
}

/// The archive, merged game or folder of an asset.
pub trait GameContext {
    /// Returns the files in the directory at a path as in [`Wanted::Path`](crate::view::Wanted::Path), in
    /// order.
    fn list(&self, directory: &str) -> Vec<AssetRef> {
        let _ = directory;
        Vec::new()
    }

    /// Returns the palette chosen by the user for all pictures without one of
    /// their own.
    fn palette(&self) -> Option<&ChosenPalette> {
        None
    }
}
