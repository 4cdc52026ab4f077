//! Positioned reads, a bounded cursor, errors with offsets, and the memory
//! budget.
//!
//! Nothing here depends on a format.

pub mod awaited;
mod block_buffer;
pub mod budget;
pub mod cache;
mod compact;
mod cursor;
mod error;
pub mod flights;
mod source;
pub(crate) mod sync;
pub mod tally;
mod warnings;

pub use block_buffer::BlockBuffer;
pub use compact::{Compact, LARGE_BLOCK};
pub use cursor::{Cursor, Endian};
pub use error::{Error, Result};
pub use source::{ReadAt, SourceReader, read_vec};
pub(crate) use source::{read_error, unit_in};
pub use warnings::Warnings;
