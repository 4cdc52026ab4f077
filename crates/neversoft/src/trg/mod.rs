//! TRG: nodes, rails and scripts of a level (FORMATS, Neversoft 6).
//!
//! [`parse`](mod@parse) reads the nodes, `level` shows them in the geometry of their
//! level, and [`view`] declares the format and writes the files of `X.meta`.

mod level;
pub mod parse;
pub mod view;

pub use self::parse::*;
pub use self::view::FORMAT;
