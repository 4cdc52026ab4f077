//! Formats that are identified but not read (FORMATS, TA).

pub mod parse;
pub mod view;

pub use self::parse::*;
pub use self::view::FORMAT;
