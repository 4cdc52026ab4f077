//! Encodes pictures for graphics chips, the inverse of decoding. Pixels and blocks that
//! look the same keep their bytes.

pub mod block;
pub mod gx;
pub mod indexed;
pub mod mip;
pub mod xbox;

/// Alpha below which a pixel counts as transparent.
pub const OPAQUE: u8 = 128;
