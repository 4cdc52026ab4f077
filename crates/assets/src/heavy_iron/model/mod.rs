//! Models and levels (FORMATS, HIP assets).

pub mod export;
pub mod level;
pub mod parse;
mod prelight;
pub mod view;

pub use self::parse::*;
pub use self::view::FORMAT;
