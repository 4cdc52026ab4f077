//! Saves of the PlayStation: single ones, and memory cards (FORMATS, Consoles 3).
//!
//! [`parse`](mod@parse) reads the titles and decodes the icons, and [`view`]
//! declares the format and writes the files of `X.meta`.

pub mod parse;
pub mod view;

pub use self::parse::*;
pub use self::view::FORMAT;
