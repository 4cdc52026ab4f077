//! PSX: models, levels and their textures (FORMATS, PSX).

pub mod export;
pub mod parse;
pub mod view;

pub use self::parse::*;
pub use self::view::FORMAT;
