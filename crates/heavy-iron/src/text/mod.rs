//! Texts and credits (FORMATS, HIP assets).

pub mod credits;
mod import;
pub mod parse;
pub mod view;

pub use self::parse::*;
pub use self::view::FORMAT;
