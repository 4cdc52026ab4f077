//! A block of records and names that point to each other by offset.

use zerocopy::{Immutable, IntoBytes};

use super::number;
use crate::write::Result;

/// Records and names under construction. Unknown values are zeros until they
/// are filled in.
#[derive(Default)]
pub(super) struct Block(Vec<u8>);

impl Block {
    /// Appends bytes and returns their offset.
    pub(super) fn append(&mut self, bytes: &[u8]) -> Result<u32> {
        let offset = number(self.0.len())?;
        self.0.extend_from_slice(bytes);
        Ok(offset)
    }

    /// Appends a name and a NUL, and returns its offset.
    pub(super) fn append_name(&mut self, name: &[u8]) -> Result<u32> {
        let offset = self.append(name)?;
        self.append(&[0])?;
        Ok(offset)
    }

    /// Appends room for `count` records and returns the offset of the first.
    pub(super) fn reserve<T>(&mut self, count: usize) -> Result<u32> {
        let offset = number(self.0.len())?;
        let end = number(self.0.len() + count * size_of::<T>())?;
        self.0.resize(end as usize, 0);
        Ok(offset)
    }

    /// Fills in a reserved record.
    pub(super) fn put<T: IntoBytes + Immutable>(&mut self, offset: u32, record: &T) {
        let start = offset as usize;
        self.0[start..start + size_of::<T>()].copy_from_slice(record.as_bytes());
    }

    /// Returns the length in bytes, which is the offset of the next record.
    pub(super) fn end(&self) -> Result<u32> {
        number(self.0.len())
    }

    /// Returns the bytes so far.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }
}

/// Returns the offset of record `index` if the first one is at `first`.
pub(super) fn nth<T>(first: u32, index: usize) -> u32 {
    first + (index * size_of::<T>()) as u32
}
