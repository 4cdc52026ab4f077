//! HGO: models with their textures, skeletons and animations (FORMATS, HGO).

pub mod export;
pub mod parse;
pub mod view;

pub use self::parse::*;
pub use self::view::FORMAT;
pub use self::view::blk::FORMAT as BLK_FORMAT;
