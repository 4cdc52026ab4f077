//! Textures as pictures.

use super::Texture;
use hpimount_assets::model::{Picture, Pixels, size_problem};

/// Returns the reason why a texture cannot be shown. Decodes nothing.
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
