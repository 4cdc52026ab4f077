//! BON: characters in the ports of THPS2 for the Dreamcast and the Xbox (FORMATS,
//! Neversoft 13).
//!
//! [`parse`](mod@parse) reads the materials with their textures and the tree of
//! parts, and [`view`] declares the format and writes the files of `X.meta`.

pub mod parse;
pub mod view;

pub use self::parse::*;
pub use self::view::FORMAT;
