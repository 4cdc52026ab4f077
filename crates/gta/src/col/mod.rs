//! COL: collision models (FORMATS, GTA 3).

pub mod export;
mod import;
mod mesh_import;
pub mod parse;
pub mod view;

pub use self::parse::*;
pub use self::view::FORMAT;
