//! Banners of GameCube discs, `opening.bnr` (FORMATS, Consoles 1).
//!
//! [`parse`](mod@parse) reads the texts and decodes the picture, and [`view`]
//! declares the format and writes the files of `X.meta`.

pub mod parse;
pub mod view;

pub use self::parse::*;
pub use self::view::FORMAT;
