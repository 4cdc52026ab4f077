//! How the root of a game or a mod is recognized.

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
