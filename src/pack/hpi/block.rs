//! A block of records and names that point to each other by offset.

use zerocopy::{Immutable, IntoBytes};

use super::{Result, number};

/// Records and names in the making. What is not known yet is zeros, and put
/// in its place later.
#[derive(Default)]
pub(super) struct Block(Vec<u8>);

impl Block {
    /// Appends bytes; returns their offset.
    pub(super) fn append(&mut self, bytes: &[u8]) -> Result<u32> {
        let offset = number(self.0.len())?;
        self.0.extend_from_slice(bytes);
        Ok(offset)
    }

    /// Appends a name and the NUL after it; returns its offset.
    pub(super) fn append_name(&mut self, name: &[u8]) -> Result<u32> {
        let offset = self.append(name)?;
        self.append(&[0])?;
        Ok(offset)
    }

    /// Appends room for `count` records; returns the offset of the first.
    pub(super) fn reserve<T>(&mut self, count: usize) -> Result<u32> {
        let offset = number(self.0.len())?;
        let end = number(self.0.len() + count * size_of::<T>())?;
        self.0.resize(end as usize, 0);
        Ok(offset)
    }

    /// Puts a record where room was left for it.
    pub(super) fn put<T: IntoBytes + Immutable>(&mut self, offset: u32, record: &T) {
        let start = offset as usize;
        self.0[start..start + size_of::<T>()].copy_from_slice(record.as_bytes());
    }

    /// Returns the length in bytes, which is where the next record goes.
    pub(super) fn end(&self) -> Result<u32> {
        number(self.0.len())
    }

    /// Returns the bytes so far.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }
}

/// Offset of number `index` of the records of which the first is at `first`.
pub(super) fn nth<T>(first: u32, index: usize) -> u32 {
    first + (index * size_of::<T>()) as u32
}
