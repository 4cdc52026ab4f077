//! TIM and TIM2: pictures of the PlayStation and PlayStation 2 (FORMATS,
//! Neversoft 2).
//!
//! [`parse`](mod@parse) reads the bytes into pictures that are decoded on
//! demand, and [`view`] declares the format and writes the files of `X.meta`.

pub mod parse;
pub mod view;

pub use self::parse::*;
pub use self::view::FORMAT;
