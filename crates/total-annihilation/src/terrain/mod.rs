//! The ground of maps and sections (FORMATS, TA).

pub(crate) mod import;
pub mod parse;
pub mod view;

pub use self::parse::*;
