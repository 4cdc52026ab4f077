//! TDF, FBI, OTA, GUI: texts with sections, and menus of TA: Kingdoms, which have
//! the same extension as those (FORMATS, TA 9).

pub mod edit;
pub mod menu;
pub mod parse;
pub mod view;

pub use self::parse::*;
pub use self::view::FORMAT;
