//! The assets of old games: from bytes to typed models, and from models to files
//! in common formats.

pub mod crash;
pub mod formats;
pub mod gta;
pub mod heavy_iron;
pub mod model;
pub mod neversoft;
pub mod parse;
pub mod renderware;
pub mod total_annihilation;
pub mod view;
