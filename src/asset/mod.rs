//! Formats inside archives: from bytes to a typed model and warnings.
//!
//! A model knows nothing of files, JSON or tables; it is complete enough to
//! export geometry, textures and keyframes from without reading the bytes
//! again. Lost structure is an error with an offset; an odd value (a bad index,
//! a missing palette) is a warning, and parsing continues.

pub mod count;
pub mod heavy_iron;
pub mod hgo;
pub mod ifp;
pub mod name;
pub mod psx;
pub mod ta;

use crate::io::Error;

/// An asset whose structure is lost somewhere.
#[derive(Debug)]
pub struct Incomplete<M> {
    /// What is wrong, and where.
    pub error: Error,
    /// What was read until then; the parts that were being read when the
    /// error struck are there as far as they were known.
    pub model: M,
}
