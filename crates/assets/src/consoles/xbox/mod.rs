//! Pictures of Xbox games: title images in programs, and XPR files (FORMATS,
//! Consoles 2).
//!
//! [`xpr`] reads and encodes the pictures, `import` reads edited ones, and [`view`]
//! declares the formats and writes the files of `X.meta`.

mod import;
pub mod view;
pub mod xpr;

pub use self::view::{FORMAT, XPR_FORMAT};
