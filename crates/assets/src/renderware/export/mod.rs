//! Clumps as scenes: the steps that the families share.

mod mesh;
pub mod skeleton;
mod textures;

pub(crate) use mesh::{has_normals, problem, scene_mesh, sizes};
pub use textures::{TextureState, TextureUse};
