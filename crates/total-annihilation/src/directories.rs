//! Detection of the root of a game or a mod.

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

/// Minimum number of [`DIRECTORIES`] in the root of a game or a mod.
pub const FEWEST_DIRECTORIES: usize = 2;
