//! VAB: banks of sounds of the PlayStation (FORMATS, Neversoft 4).
//!
//! [`parse`](mod@parse) reads the programs and finds the sounds, and [`view`]
//! declares the format and writes the files of `X.meta`.

pub mod parse;
pub mod view;

pub use self::parse::*;
pub use self::view::FORMAT;
