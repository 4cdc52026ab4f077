//! GAF and TAF: sprites (FORMATS, TA).

pub mod export;
mod frames;
mod import;
mod names;
pub mod parse;
pub mod view;

pub use self::parse::*;
pub use self::view::FORMAT;
