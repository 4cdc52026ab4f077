//! Banners of GameCube discs, `opening.bnr` (FORMATS, Consoles 1).
//!
//! [`parse`](mod@parse) reads the texts and decodes the picture, `import` encodes an
//! edited one, and [`view`] declares the format and writes the files of `X.meta`.

mod import;
pub mod parse;
pub mod view;

pub use self::parse::*;
pub use self::view::FORMAT;
