//! Clumps as scenes: the steps shared by the families.

mod materials;
mod mesh;
mod motion;
pub mod skeleton;
mod textures;

pub use materials::{Surface, check, look_up, material_of, materials};
pub use mesh::{has_normals, problem, scene_mesh, sizes};
pub use motion::{Motions, unit_rotation};
pub use textures::{TextureState, TextureUse};
