//! VAG: sounds of the PlayStation and PlayStation 2 (FORMATS, Neversoft 3).
//!
//! [`parse`](mod@parse) reads the header and finds the extent of the sound, and
//! [`view`] declares the format and writes the files of `X.meta`.

mod import;
pub mod parse;
pub mod view;

pub use self::parse::*;
pub use self::view::FORMAT;

/// The file of `X.meta` with the samples.
const SOUND: &str = "sound.wav";
