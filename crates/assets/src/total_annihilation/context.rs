//! What the views of these assets need of their game: its directories, and the
//! palette that the user has chosen.

use super::pal::Palette;
use crate::view::AssetRef;

/// Directories in the root of a game or a mod.
pub const DIRECTORIES: [&str; 22] = [
    "ai",
    "anims",
    "bitmaps",
    "camps",
    "canbuild",
    "download",
    "features",
    "fonts",
    "gamedata",
    "guis",
    "maps",
    "objects3d",
    "palettes",
    "scripts",
    "sections",
    "sounds",
    "textures",
    "tilesets",
    "unitpics",
    "units",
    "unitscb",
    "weapons",
];

/// Number of [`DIRECTORIES`] that make a directory the root of a game or a mod.
pub const FEWEST_DIRECTORIES: usize = 2;

/// A palette chosen by the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChosenPalette {
    /// The colors.
    pub palette: Palette,
    /// Name of its file.
    pub file: String,
}

/// The game of an asset: the nearest directory around it that has two of the
/// [`DIRECTORIES`], or else its archive, merged game or folder.
pub trait GameContext {
    /// Returns the files in the directory at a path as in
    /// [`Wanted::Path`](crate::view::Wanted::Path), in order.
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
