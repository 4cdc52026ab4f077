//! The ground floor: positioned reads, a bounded cursor, and errors that say
//! where in the source something is wrong.
//!
//! Nothing here knows a format. The floors above never touch a `File`, and
//! never index a slice with a number that came out of an archive.

mod cursor;
mod error;
mod source;
mod warnings;

pub use cursor::{Cursor, Endian};
pub use error::{Error, Result};
pub(crate) use source::read_error;
pub use source::{ReadAt, SourceReader, read_vec};
pub use warnings::Warnings;
