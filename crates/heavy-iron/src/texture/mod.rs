//! Textures (FORMATS, HIP assets 2).

mod import;
mod names;
pub mod parse;
pub mod view;

pub use self::parse::*;
pub use self::view::FORMAT;
