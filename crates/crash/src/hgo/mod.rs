//! HGO: models with their textures, skeletons and animations (FORMATS, HGO).
//!
//! [`parse`](mod@parse) reads the bytes into a model, [`export`] turns it into
//! pictures and scenes, `import` encodes edited pictures, and [`view`] declares the
//! format and writes the files of `X.meta`.

pub mod export;
mod import;
pub mod parse;
pub mod view;

pub use self::parse::*;
pub use self::view::FORMAT;
pub use self::view::blk::FORMAT as BLK_FORMAT;
