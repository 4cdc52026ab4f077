//! Stored bytes.

use super::{Codec, Packed};
use crate::io::Result;

/// Copies the stored bytes; used to verify their checksum.
#[derive(Clone)]
pub(crate) struct Copy;

impl Codec for Copy {
    const RUNS_ON: bool = false;

    fn decode(&mut self, packed: &mut Packed, out: &mut [u8]) -> Result<usize> {
        let stored = packed.fill()?;
        let length = stored.len().min(out.len());
        out[..length].copy_from_slice(&stored[..length]);
        packed.consume(length);
        Ok(length)
    }

    fn fork(&self, packed: &Packed) -> (Self, u64) {
        (self.clone(), packed.position())
    }

    fn memory(&self) -> usize {
        0
    }
}
