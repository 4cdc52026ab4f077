//! TDF, FBI, OTA, GUI: texts with sections, and menus of TA: Kingdoms with the same
//! extension (FORMATS, TA 9).

pub mod edit;
pub mod menu;
pub mod parse;
pub mod view;

pub use self::parse::*;
pub use self::view::FORMAT;
