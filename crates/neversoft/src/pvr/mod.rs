//! PVR: pictures of the Dreamcast (FORMATS, Neversoft 8).
//!
//! [`parse`](mod@parse) reads the header, `pixels` decodes the pixels, and
//! [`view`] declares the format and writes the files of `X.meta`.

pub mod parse;
pub(crate) mod pixels;
pub mod view;

pub use self::parse::*;
pub use self::view::FORMAT;
