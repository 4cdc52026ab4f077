//! TNT: maps (FORMATS, TA).

mod models;
pub(crate) mod ota;
pub mod parse;
mod scenery;
pub mod view;

pub use self::parse::*;
pub use self::view::FORMAT;
