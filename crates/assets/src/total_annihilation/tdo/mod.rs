//! 3DO: models (FORMATS, TA).

pub mod export;
pub mod parse;
pub mod textures;
pub mod view;

pub use self::parse::*;
pub use self::view::FORMAT;
