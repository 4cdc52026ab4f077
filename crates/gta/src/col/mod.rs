//! COL: collision models (FORMATS, GTA 3).

pub mod export;
pub mod parse;
pub mod view;

pub use self::parse::*;
pub use self::view::FORMAT;
