//! Formats inside archives: from bytes to a typed model and warnings.
//!
//! Models are independent of files, JSON and tables, and complete enough to
//! export geometry, textures and keyframes without reading the bytes again.
//! Broken structure is an error with an offset; an invalid value (such as a bad
//! index or a missing palette) is a warning, and parsing continues.

pub mod count;
pub mod name;
pub mod spu;

use hpimount_containers::io::Error;

/// An asset with broken structure.
#[derive(Debug)]
pub struct Incomplete<M> {
    /// The error, with its position.
    pub error: Error,
    /// Everything before the error; the part that was being read is included as
    /// far as it is known.
    pub model: M,
}
