//! PAL: palettes, and color blending tables (FORMATS, TA).

pub mod colors;
pub mod palette_file;
pub mod parse;
pub mod view;

pub use self::parse::*;
pub use self::view::{BLEND_FORMAT, FORMAT};
