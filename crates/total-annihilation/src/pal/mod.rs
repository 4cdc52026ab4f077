//! PAL: palettes, and tables that blend colors (FORMATS, TA).

pub mod blend_view;
pub mod colors;
pub mod palette_file;
pub mod parse;
mod picture;
pub(crate) mod shown;
pub mod view;

pub use self::blend_view::FORMAT as BLEND_FORMAT;
pub use self::parse::*;
pub use self::view::FORMAT;
