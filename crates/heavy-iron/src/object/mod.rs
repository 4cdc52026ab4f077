//! Objects of a level (FORMATS, HIP assets).

pub(crate) mod cutscene;
pub mod parse;
pub mod view;

pub use self::parse::*;
pub use self::view::FORMAT;
