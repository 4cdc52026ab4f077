#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod bps;
mod detect;
mod error;
mod extents;
mod format;
mod ips;
mod limits;
mod number;
mod parts;
mod patch;
mod patched;
mod ppf;
mod records;
pub mod riivolution;
mod spool;
mod stream;
mod ups;
mod vcdiff;
pub mod write;

pub use self::error::{Error, Mismatch, Result, Sums};
pub use self::extents::Extents;
pub use self::format::Format;
pub use self::patch::{Check, Options, Patch};
pub use self::patched::{Metadata, Patched};
pub use self::spool::Spool;
