//! Storage for sections that were decoded once.

use std::io;
use std::sync::{PoisonError, RwLock};

use hpimount_containers::io::{Error, ReadAt};

/// Storage for the compressed sections of a patch, which are decoded once when it is
/// opened. Appended bytes can be read.
pub trait Spool: ReadAt {
    /// Appends bytes.
    ///
    /// # Errors
    /// Returns an error if there is no space for them.
    fn append(&self, bytes: &[u8]) -> io::Result<()>;
}

/// Storage in memory.
#[derive(Debug)]
pub(crate) struct Memory {
    bytes: RwLock<Vec<u8>>,
    limit: usize,
}

impl Memory {
    /// Creates storage for `limit` bytes.
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            bytes: RwLock::default(),
            limit,
        }
    }
}

impl Spool for Memory {
    fn append(&self, new: &[u8]) -> io::Result<()> {
        let mut bytes = self.bytes.write().unwrap_or_else(PoisonError::into_inner);
        let needed = bytes.len() + new.len();
        if needed > self.limit {
            let error = Error::no_memory("decoding the sections", needed, self.limit);
            return Err(io::Error::other(error));
        }
        bytes.extend_from_slice(new);
        Ok(())
    }
}

impl ReadAt for Memory {
    fn len(&self) -> u64 {
        let bytes = self.bytes.read().unwrap_or_else(PoisonError::into_inner);
        bytes.len() as u64
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        let bytes = self.bytes.read().unwrap_or_else(PoisonError::into_inner);
        bytes.read_exact_at(buf, offset)
    }
}
