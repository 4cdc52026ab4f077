//! A one-block cache over a source, for the short reads of parsers.

use std::io;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{Origin, ReadAt};

/// Length of a block in bytes.
const BLOCK: u64 = 4096;

/// Maximum length of a read that is served from a block, in bytes.
const MAX_SHORT: usize = 512;

/// A source with a cache of the last block.
///
/// Parsers read headers of 4 to 19 bytes sequentially. If the source is a
/// packed file of another archive, or on a server, each read costs more than
/// the block around it.
pub struct BlockBuffer {
    source: Arc<dyn ReadAt>,
    block: Mutex<Block>,
}

#[derive(Default)]
struct Block {
    start: u64,
    bytes: Vec<u8>,
}

impl BlockBuffer {
    /// Creates a buffer over `source`.
    pub fn new(source: Arc<dyn ReadAt>) -> Self {
        Self {
            source,
            block: Mutex::default(),
        }
    }

    /// Returns the memory of a buffer over a source of this length, in bytes.
    pub fn memory(len: u64) -> usize {
        size_of::<Self>() + len.min(BLOCK) as usize
    }

    /// Locks the block. A panic cannot leave it half-changed.
    fn block(&self) -> MutexGuard<'_, Block> {
        self.block.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the block that begins at `start`, if it can be read.
    fn read_block(&self, start: u64) -> io::Result<Block> {
        let length = BLOCK.min(self.source.len().saturating_sub(start));
        let mut bytes = vec![0; length as usize];
        self.source.read_exact_at(&mut bytes, start)?;
        Ok(Block { start, bytes })
    }
}

impl Block {
    /// Fills `buf` with the bytes at `offset`, if the block contains all of
    /// them.
    fn copy(&self, buf: &mut [u8], offset: u64) -> bool {
        let found = offset
            .checked_sub(self.start)
            .and_then(|from| usize::try_from(from).ok())
            .and_then(|from| self.bytes.get(from..from.checked_add(buf.len())?));
        found.map(|bytes| buf.copy_from_slice(bytes)).is_some()
    }
}

impl ReadAt for BlockBuffer {
    fn len(&self) -> u64 {
        self.source.len()
    }

    fn will_need(&self, offset: u64, length: u64) {
        self.source.will_need(offset, length);
    }

    fn unit_at(&self, offset: u64) -> Option<Range<u64>> {
        self.source.unit_at(offset)
    }

    fn beneath(&self, range: Range<u64>) -> Option<(&dyn ReadAt, u64)> {
        Some((&*self.source, range.start))
    }

    fn origin_at(&self, offset: u64) -> Origin<'_> {
        Origin::of(&*self.source, offset)
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        let start = offset - offset % BLOCK;
        let is_short = buf.len() <= MAX_SHORT && offset % BLOCK + buf.len() as u64 <= BLOCK;
        if !is_short {
            return self.source.read_exact_at(buf, offset);
        }
        if self.block().copy(buf, offset) {
            return Ok(());
        }
        // Read without the lock, so that other threads can use the block
        // meanwhile.
        match self.read_block(start) {
            Ok(block) if block.copy(buf, offset) => {
                *self.block() = block;
                Ok(())
            }
            // Faults elsewhere in the block do not matter.
            _ => self.source.read_exact_at(buf, offset),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Counts reads, and fails those that reach byte 5000.
    struct Counting(Vec<u8>, AtomicUsize);

    impl ReadAt for Counting {
        fn len(&self) -> u64 {
            self.0.len() as u64
        }

        fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
            self.1.fetch_add(1, Ordering::Relaxed);
            if (offset..offset + buf.len() as u64).contains(&5000) {
                return Err(io::ErrorKind::Other.into());
            }
            self.0.read_exact_at(buf, offset)
        }
    }

    #[test]
    fn short_reads_of_a_block_are_one_read_and_ignore_faults_elsewhere_in_it() {
        let bytes: Vec<u8> = (0..10_000_u32).map(|byte| byte as u8).collect();
        let counting = Arc::new(Counting(bytes.clone(), AtomicUsize::new(0)));
        let source = BlockBuffer::new(counting.clone());
        let read = |offset: usize, length: usize| {
            let mut buf = vec![0; length];
            let read = source.read_exact_at(&mut buf, offset as u64);
            read.map(|()| assert_eq!(buf, bytes[offset..offset + length]))
        };
        for offset in (0..4000).step_by(19) {
            read(offset, 19).unwrap();
        }
        assert_eq!(counting.1.load(Ordering::Relaxed), 1);
        read(4090, 12).unwrap();
        read(0, 4000).unwrap();
        assert_eq!(counting.1.load(Ordering::Relaxed), 3, "read separately");
        read(4200, 8).unwrap();
        assert!(read(4996, 8).is_err());
        read(9990, 10).unwrap();
        assert!(read(9999, 8).is_err());
    }
}
