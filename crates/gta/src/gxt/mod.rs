//! GXT: texts of the games (FORMATS, GTA 4).

mod characters;
mod import;
pub mod parse;
pub mod view;

pub(crate) use self::import::{ALL, has_escape, lines};
pub use self::parse::*;
pub use self::view::FORMAT;
