//! Chunks that are longer than a block, as streams.

use std::io::Read;
use std::sync::{Mutex, PoisonError};

use hpimount_containers::io::{Error, Result};
use hpimount_containers::volume::{Chunk, Decoder};

/// Memory of the decoder of a long chunk in bytes: its buffers and its window.
const CHUNK_MEMORY: usize = 80 << 10;

/// A long chunk as a decoder.
pub(super) struct LongChunk {
    // Never locked: the mutex only makes the decoder `Sync`.
    reader: Mutex<Box<dyn Read + Send>>,
    chunk: Chunk,
    left: u64,
}

impl LongChunk {
    /// Creates the decoder of a chunk that `reader` decodes from its start.
    pub(super) fn new(reader: Box<dyn Read + Send>, chunk: Chunk) -> Self {
        Self {
            reader: Mutex::new(reader),
            chunk,
            left: chunk.length.into(),
        }
    }
}

impl Decoder for LongChunk {
    fn left(&self) -> u64 {
        self.left
    }

    fn read(&mut self, out: &mut [u8]) -> Result<()> {
        let reader = self.reader.get_mut();
        let reader = reader.unwrap_or_else(PoisonError::into_inner);
        let mut read = reader.read_exact(out);
        self.left = self.left.saturating_sub(out.len() as u64);
        if self.left == 0 && read.is_ok() {
            // The reader fails if the chunk is longer.
            read = reader.read(&mut [0]).map(drop);
        }
        let chunk = self.chunk;
        read.map_err(|error| {
            Error::of_reader(&error, |text| {
                Error::damaged(chunk.offset, format!("chunk {}", chunk.index), text)
            })
        })
    }

    fn fork(&self) -> Option<Box<dyn Decoder>> {
        None
    }

    fn memory(&self) -> usize {
        CHUNK_MEMORY
    }
}
