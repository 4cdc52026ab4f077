//! Objects of a level (FORMATS, HIP assets).

#[cfg(test)]
mod edit_tests;
pub mod parse;
pub mod view;

pub use self::parse::*;
pub use self::view::FORMAT;
