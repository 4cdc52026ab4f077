//! Block images as sources, with decoded blocks cached within the memory
//! budget.

use std::sync::Arc;

use super::reader::{Block, Part};
use super::{Key, Reader, VolumeId};
use crate::io::{Error, ReadAt, Result};
use crate::source::image::{BlockImage, block_length};
use crate::volume::FileId;

/// The contents of a block image, as a source.
pub struct Image {
    reader: Arc<Reader>,
    image: Box<dyn BlockImage>,
    key: Key,
}

impl Image {
    /// Creates a source whose decoded blocks `reader` caches.
    pub fn new(reader: &Arc<Reader>, image: Box<dyn BlockImage>) -> Self {
        // Volumes are numbered from 0 up, images from the maximum down.
        let number = u64::MAX - reader.next_image();
        Self {
            reader: reader.clone(),
            image,
            key: Key {
                volume: VolumeId(number),
                file: FileId(0),
            },
        }
    }

    /// Returns a decoded block, which is cached if `keep` is set.
    fn block(&self, number: u64, keep: bool) -> Result<Arc<Vec<u8>>> {
        let key = (self.key, Part::Block(number));
        let length = block_length(self.image.len(), self.image.block_size(), number);
        let block = self.reader.blocks.get_and_keep(&key, keep, || {
            let budget = self.reader.budget();
            if !budget.may_reserve(length) {
                let what = "a block of the disc image";
                return Err(Error::no_memory(what, length, budget.limit()));
            }
            let bytes = self.image.decode(number)?;
            if bytes.len() != length {
                let problem = format!("has {} bytes, should have {length}", bytes.len());
                return Err(Error::damaged(0, format!("block {number}"), problem));
            }
            self.reader.stats.add_decoded(length);
            Ok(Block::Bytes(Arc::new(bytes)))
        })?;
        match block {
            Block::Bytes(bytes) => Ok(bytes),
            _ => unreachable!("the key of a block has nothing else"),
        }
    }
}

impl ReadAt for Image {
    fn len(&self) -> u64 {
        self.image.len()
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> std::io::Result<()> {
        self.check_end(buf.len(), offset)?;
        let unit = u64::from(self.image.block_size());
        let mut filled = 0;
        while filled < buf.len() {
            let position = offset + filled as u64;
            let skip = (position % unit) as usize;
            let number = position / unit;
            let length = block_length(self.len(), self.image.block_size(), number);
            let wanted = (length - skip).min(buf.len() - filled);
            // Blocks that are read whole go into the kernel's page cache.
            let block = self.block(number, wanted < length);
            let block = block.map_err(std::io::Error::other)?;
            buf[filled..filled + wanted].copy_from_slice(&block[skip..skip + wanted]);
            filled += wanted;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::content::Spool;
    use crate::io::budget::Budget;
    use std::sync::atomic::{AtomicU64, Ordering};

    /// Blocks filled with their numbers; counts the decoded ones.
    struct Numbers {
        len: u64,
        decoded: Arc<AtomicU64>,
    }

    impl BlockImage for Numbers {
        fn len(&self) -> u64 {
            self.len
        }

        fn block_size(&self) -> u32 {
            16
        }

        fn decode(&self, block: u64) -> Result<Vec<u8>> {
            self.decoded.fetch_add(1, Ordering::Relaxed);
            if block == 3 {
                return Err(Error::damaged(9, "block 3", "is damaged"));
            }
            Ok(vec![block as u8; block_length(self.len, 16, block)])
        }

        fn memory(&self) -> usize {
            0
        }
    }

    fn numbers(len: u64) -> (Image, Arc<AtomicU64>) {
        let reader = Reader::new(&Budget::new(1 << 20), Spool::new(None, 0));
        let decoded = Arc::new(AtomicU64::new(0));
        let image = Numbers {
            len,
            decoded: decoded.clone(),
        };
        (Image::new(&reader, Box::new(image)), decoded)
    }

    #[test]
    fn reads_span_blocks_and_partly_read_blocks_are_cached() {
        let (image, decoded) = numbers(40);
        let mut bytes = [9; 30];
        image.read_exact_at(&mut bytes, 8).unwrap();
        assert_eq!(bytes[..8], [0; 8]);
        assert_eq!(bytes[8..24], [1; 16]);
        assert_eq!(bytes[24..], [2; 6]);
        image.read_exact_at(&mut bytes[..2], 38).unwrap();
        assert_eq!(decoded.load(Ordering::Relaxed), 3);
        // The block that was read whole is not cached.
        image.read_exact_at(&mut bytes[..2], 16).unwrap();
        assert_eq!(decoded.load(Ordering::Relaxed), 4);
    }

    #[test]
    fn nothing_is_read_past_the_end() {
        let (image, _) = numbers(40);
        let error = image.read_exact_at(&mut [0; 3], 38).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::UnexpectedEof);
        assert!(image.read_exact_at(&mut [0], u64::MAX).is_err());
    }

    #[test]
    fn a_damaged_block_affects_no_others() {
        let (image, _) = numbers(100);
        let error = image.read_exact_at(&mut [0; 2], 47).unwrap_err();
        assert_eq!(error.to_string(), "block 3 at 0x9: is damaged");
        image.read_exact_at(&mut [0; 2], 46).unwrap();
    }

    #[test]
    fn two_images_have_their_own_blocks() {
        let reader = Reader::new(&Budget::new(1 << 20), Spool::new(None, 0));
        let image = |len| {
            let decoded = Arc::default();
            Image::new(&reader, Box::new(Numbers { len, decoded }))
        };
        let (long, short) = (image(100), image(20));
        let mut bytes = [0; 2];
        long.read_exact_at(&mut bytes, 18).unwrap();
        short.read_exact_at(&mut bytes, 18).unwrap();
        assert!(short.read_exact_at(&mut bytes, 20).is_err());
    }
}
