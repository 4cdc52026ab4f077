//! DDM and DDX: models of THPS2X's levels, and their textures (FORMATS,
//! Neversoft 12).
//!
//! [`parse`](mod@parse) reads the models, [`ddx`] the list of textures, and
//! [`export`] turns models into scenes. [`view`] and `ddx_view` declare the
//! formats and write the files of `X.meta`.

pub mod ddx;
mod ddx_view;
pub mod export;
pub mod parse;
pub mod view;

pub use self::ddx_view::DDX_FORMAT;
pub use self::parse::*;
pub use self::view::FORMAT;
