//! BMP: pictures (FORMATS, TA 8). [`crate::parse::bmp`] reads them.

mod import;
pub mod view;

pub use self::view::FORMAT;
