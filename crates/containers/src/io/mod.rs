//! Positioned reads, a bounded cursor, errors with offsets, and comparing checksums.
//!
//! Nothing here depends on a format.

mod block_buffer;
mod bounded;
mod compact;
mod composed;
mod cursor;
mod error;
mod source;
mod sources;
mod sum;
mod warnings;

pub use block_buffer::BlockBuffer;
pub use bounded::Bounded;
pub use compact::{Compact, LARGE_BLOCK};
pub use composed::{Composed, Patch};
pub use cursor::{Cursor, Endian};
pub use error::{Error, Result, undamaged};
pub use source::{Origin, ReadAt, SourceReader, layers_of, read_error, read_vec, unit_in};
pub(crate) use sum::check_sum;
pub use warnings::Warnings;
