//! COB: scripts of units (FORMATS, TA).

mod bos;
pub mod parse;
mod unit;

pub use self::bos::{Lines, Place, Remark};
pub use self::parse::*;
pub(crate) use self::unit::{of_unit, path_of};
