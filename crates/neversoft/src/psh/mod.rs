//! PSH: names of the parts of a character, as a C header (FORMATS, Neversoft 9).
//!
//! [`parse`](mod@parse) reads the names, and [`view`] declares the format and
//! writes the files of `X.meta`. The skeletons of PSX files use them, too.

pub mod parse;
pub mod view;

pub use self::parse::*;
pub use self::view::FORMAT;
