//! Maps: definitions of models (IDE) and their placements (IPL) (FORMATS, GTA 6).

pub mod binary;
mod import;
pub mod instance;
mod objects;
mod scene;
mod scene_import;
mod view;

pub use view::{IDE_FORMAT, IPL_FORMAT, ZON_FORMAT};
