//! TXD: texture dictionaries (FORMATS, GTA 2).

mod import;
pub mod parse;
pub mod view;

pub use self::parse::*;
pub use self::view::FORMAT;
