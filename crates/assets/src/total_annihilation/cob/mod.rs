//! COB: scripts of units (FORMATS, TA).

mod bos;
pub mod parse;
pub mod view;

pub use self::parse::*;
pub use self::view::FORMAT;
