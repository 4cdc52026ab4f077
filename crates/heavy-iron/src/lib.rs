#![doc = include_str!("../README.md")]
//!
//! Assets in the HIP archives of Heavy Iron's games, as typed models.
//!
//! Each parser is `parse(bytes, facts)`. It keeps slices of the asset's bytes and
//! decodes pixels, samples and vertices on demand. An empty asset is an empty model,
//! not an error. References between assets are 32-bit ids, and materials refer to
//! textures by name; the layer above resolves both (FORMATS, HIP assets).
//!
//! Each kind of asset has a folder: `parse` reads the bytes, `export`, if present,
//! turns the model into pictures or scenes, and `view` declares the format and writes
//! the files of `X.meta`. [`view`] and [`names`] are shared by these views, [`record`]
//! by the objects and tables, and [`report`] writes the files about a whole archive.

#![forbid(unsafe_code)]

mod archive;
pub mod cutscene_view;
#[cfg(test)]
mod dumps;
mod edited_cells;
mod fields;
pub mod games;
pub mod model;
pub mod model_view;
pub mod names;
pub mod object;
mod origin;
pub mod parts;
pub mod record;
pub mod report;
pub mod sound;
pub mod table_view;
pub mod tables;
pub mod text;
pub mod texture;
pub mod view;
mod words;

use bytes::Bytes;
use hpimount_assets::parse::{Incomplete, floats, slice_of, take};
use hpimount_assets::view::ViewFormat;
pub use hpimount_containers::hip::{Game, Platform};
use hpimount_containers::io::{Cursor, Endian, Error, Result, Warnings};

/// The formats of this family. The first one that an asset belongs to shows it.
pub const FORMATS: &[ViewFormat] = &[
    texture::FORMAT,
    sound::FORMAT,
    sound::TABLE_FORMAT,
    text::FORMAT,
    text::credits::FORMAT,
    model_view::FORMAT,
    object::FORMAT,
    cutscene_view::FORMAT,
    table_view::FORMAT,
    table_view::ANIMATION,
];

/// The result of a parser: the model, or the incomplete model and the error.
pub type Parsed<M> = std::result::Result<M, Box<Incomplete<M>>>;

/// The properties shared by all assets of an archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Facts {
    /// The console.
    pub platform: Platform,
    /// Byte order of the assets. Some types have a fixed order, and types with a magic
    /// are read in the order of the magic.
    pub endian: Endian,
    /// The game.
    pub game: Game,
}

impl Facts {
    /// Returns the facts of an archive for this console and game: GameCube assets are
    /// big-endian, all others little-endian.
    pub fn new(platform: Platform, game: Game) -> Self {
        Self {
            platform,
            endian: platform.endian(),
            game,
        }
    }
}

/// Calls `read` to fill in `model`, unless the asset is empty.
fn read_into<M>(bytes: &Bytes, mut model: M, read: impl FnOnce(&mut M) -> Result<()>) -> Parsed<M> {
    if bytes.is_empty() {
        return Ok(model);
    }
    match read(&mut model) {
        Ok(()) => Ok(model),
        Err(error) => Err(Box::new(Incomplete { error, model })),
    }
}

/// Reads a magic, which is a number in the byte order of the asset, and returns a
/// cursor after it in that order. If the order differs from the archive's, adds a
/// warning.
fn after_magic<'a>(
    bytes: &'a [u8],
    facts: &Facts,
    magic: u32,
    warnings: &mut Warnings,
) -> Result<Cursor<'a>> {
    let mut cursor = Cursor::new(bytes, 0, facts.endian);
    let found = cursor.u32("magic")?;
    if found == magic {
        return Ok(cursor);
    }
    if found == magic.swap_bytes() {
        warnings.push("magic at 0x0: is in the other byte order than the archive");
        let mut cursor = Cursor::new(bytes, 0, other(facts.endian));
        cursor.u32("magic")?;
        return Ok(cursor);
    }
    Err(Error::damaged(
        0,
        "magic",
        format!("is {found:#010x}, should be {magic:#010x}"),
    ))
}

/// Returns the other byte order.
fn other(endian: Endian) -> Endian {
    match endian {
        Endian::Little => Endian::Big,
        Endian::Big => Endian::Little,
    }
}
