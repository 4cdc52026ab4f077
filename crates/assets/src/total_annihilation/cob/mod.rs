//! COB: scripts of units (FORMATS, TA).

mod bos;
pub mod parse;
pub mod view;

pub use self::bos::{Lines, Place, Remark};
pub use self::parse::*;
pub use self::view::FORMAT;
