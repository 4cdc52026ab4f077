//! 3DO: models (FORMATS, TA).

mod drawn;
pub mod export;
pub mod parse;
pub mod textures;
pub mod view;

pub(in crate::total_annihilation) use self::drawn::{Drawn, Script};
pub use self::parse::*;
pub use self::view::FORMAT;
