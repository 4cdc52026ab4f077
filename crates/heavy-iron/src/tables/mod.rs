//! Tables: lists of assets, animations, curves (FORMATS, HIP assets).

pub mod parse;

pub use self::parse::*;
