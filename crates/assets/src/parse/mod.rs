//! Formats inside archives: from bytes to a typed model and warnings.
//!
//! Models are independent of files, JSON and tables, and complete enough to
//! export geometry, textures and keyframes without reading the bytes again.
//! Broken structure is an error with an offset; an invalid value (such as a bad
//! index or a missing palette) is a warning, and parsing continues.

pub mod bmp;
pub mod color;
pub mod count;
pub mod name;
pub mod pcx;
pub mod pixels;
pub mod short;
pub mod spu;

use bytes::Bytes;
use hpimount_containers::io::{Cursor, Error, Result};

/// An asset with broken structure.
#[derive(Debug)]
pub struct Incomplete<M> {
    /// The error, with its position.
    pub error: Error,
    /// Everything before the error, with the known fields of the part that was being
    /// read.
    pub model: M,
}

/// Returns the model of a parser, complete or not, and the error.
pub fn so_far<M>(result: std::result::Result<M, Box<Incomplete<M>>>) -> (M, Option<Error>) {
    match result {
        Ok(model) => (model, None),
        Err(incomplete) => (incomplete.model, Some(incomplete.error)),
    }
}

/// Returns the result of a parser: the model, or the incomplete model and the
/// error.
pub fn finish<M>(model: M, result: Result<()>) -> std::result::Result<M, Box<Incomplete<M>>> {
    match result {
        Ok(()) => Ok(model),
        Err(error) => Err(Box::new(Incomplete { error, model })),
    }
}

/// Returns `part`, which a cursor over `bytes` returned, as a slice of `bytes`.
pub fn slice_of(bytes: &Bytes, part: &[u8]) -> Bytes {
    bytes.slice_ref(part)
}

/// Takes `length` bytes from `cursor`, which reads `bytes`, as a slice of it.
pub fn take(
    cursor: &mut Cursor<'_>,
    bytes: &Bytes,
    length: usize,
    field: &'static str,
) -> Result<Bytes> {
    Ok(slice_of(bytes, cursor.take(length, field)?))
}

/// Reads `N` floats.
pub fn floats<const N: usize>(cursor: &mut Cursor<'_>, field: &'static str) -> Result<[f32; N]> {
    let mut values = [0.0; N];
    for value in &mut values {
        *value = cursor.f32(field)?;
    }
    Ok(values)
}
