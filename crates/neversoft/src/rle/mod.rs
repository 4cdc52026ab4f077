//! RLE, BMR and ZLB: pictures without a stored width (FORMATS, Neversoft 7).
//!
//! [`parse`](mod@parse) reads the pixels, and [`view`] declares the format and
//! writes the files of `X.meta`.

pub mod parse;
pub mod view;

pub use self::parse::*;
pub use self::view::FORMAT;
