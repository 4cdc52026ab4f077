//! Sprites and models of Total Annihilation as pictures and scenes.

mod model;
mod sprite;

pub use model::{Texture, corners, drawn_textures, scene};
pub use sprite::{extent, indexed, rgb, sprite};
