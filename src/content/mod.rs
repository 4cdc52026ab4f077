//! Bytes of files: the cache, decoding, models.

pub mod awaited;
pub mod cache;
pub mod read;
pub mod sync;
pub mod tally;
