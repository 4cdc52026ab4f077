//! The ground of maps and sections (FORMATS, TA).

pub mod parse;
pub mod view;

pub use self::parse::*;
