//! Textures and models of Heavy Iron's games as pictures and scenes.

mod level;
mod model;
mod skin;

pub use level::{Level, Piece, memory as level_memory, object_transform};
pub use model::{ExportPlan, TextureState, TextureUse};

use std::fmt::Display;

use super::{Picture, Pixels, size_problem};
use crate::asset::heavy_iron::texture::Texture;

/// Returns the message for an item that is not shown, as in `info.json` and
/// `info.txt`.
pub fn not_shown(what: impl Display, why: impl Display) -> String {
    super::not_shown(what, why)
}

/// Returns why a texture cannot be shown, if so. Decodes nothing.
pub fn picture_problem(texture: &Texture) -> Option<String> {
    if texture.levels.is_empty() {
        return Some("it has no pixels".to_owned());
    }
    size_problem(texture.width.into(), texture.height.into())
}

/// Returns the largest level of a texture.
pub fn picture(texture: &Texture) -> Option<Picture> {
    if picture_problem(texture).is_some() {
        return None;
    }
    let level = texture.levels.first()?;
    Some(Picture {
        width: level.width,
        height: level.height,
        pixels: Pixels::Rgba(texture.rgba(0)?),
    })
}
