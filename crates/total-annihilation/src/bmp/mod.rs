//! BMP: pictures (FORMATS, TA 8). [`hpimount_assets::parse::bmp`] reads them.

mod import;
pub mod view;

pub use self::view::FORMAT;

/// The file of `X.meta` with the picture.
const PICTURE: &str = "picture.png";
