//! Sounds and tables of sounds (FORMATS, HIP assets).

mod encode;
mod import;
pub mod parse;
pub mod view;

pub use self::parse::*;
pub use self::view::{FORMAT, TABLE_FORMAT};
