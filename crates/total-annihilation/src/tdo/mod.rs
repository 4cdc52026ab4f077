//! 3DO: models (FORMATS, TA).

mod drawn;
pub mod export;
pub mod parse;
pub mod textures;
mod unit;
pub mod view;

pub(crate) use self::drawn::{Drawn, Script};
pub use self::parse::*;
pub(crate) use self::unit::{of_unit, path_of};
pub use self::view::FORMAT;
