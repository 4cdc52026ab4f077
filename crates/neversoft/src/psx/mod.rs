//! PSX: models, levels and their textures (FORMATS, PSX).
//!
//! [`parse`](mod@parse) reads the bytes into a model, [`export`] turns it into
//! pictures and scenes, `import` encodes edited pictures, and [`view`] declares the
//! format and writes the files of `X.meta`.

pub mod export;
mod import;
mod neighbors;
pub mod parse;
pub mod view;

pub use self::parse::*;
pub use self::view::FORMAT;
