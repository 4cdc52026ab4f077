//! IFP: packages of animations (FORMATS, IFP).
//!
//! [`parse`](mod@parse) reads the bytes into a model, [`export`] writes packages
//! of one animation, and [`view`] declares the format and writes the files of
//! `X.meta`.

pub mod export;
pub mod parse;
pub mod view;

pub use self::parse::*;
pub use self::view::FORMAT;
