//! QB: compiled scripts of Tony Hawk's Pro Skater 3 to Underground 2 (FORMATS,
//! Neversoft 5).
//!
//! [`parse`](mod@parse) reads the tokens, [`names`] finds names for their
//! hashes ([`mod@hash`]), `text` writes the source text, and [`view`] declares the format and
//! writes the files of `X.meta`.

pub mod hash;
pub mod names;
pub mod parse;
mod text;
pub mod view;

pub use self::parse::*;
pub use self::view::FORMAT;
