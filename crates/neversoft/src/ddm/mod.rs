//! DDM and DDX: models of THPS2X's levels, and their textures (FORMATS,
//! Neversoft 12).
//!
//! [`parse`](mod@parse) reads the models, [`export`] turns them into scenes, and
//! [`view`] declares the format and writes the files of `X.meta`. [`ddx`] does all
//! this for lists of textures.

pub mod ddx;
pub mod export;
pub mod parse;
pub mod view;

pub use self::ddx::DDX_FORMAT;
pub use self::parse::*;
pub use self::view::FORMAT;
