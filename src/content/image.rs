//! Block images as sources, with decoded blocks cached within the memory
//! budget.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Arc, Mutex, Weak};

use super::block::ImageBlock;
use super::{Key, Reader};
use crate::sync::lock;
use hpimount_containers::image::{BlockImage, block_length};
use hpimount_containers::io::{Error, ReadAt, Result};
use hpimount_containers::volume::FileId;

/// Bytes of blocks that are decoded until one that was read in part is dropped:
/// its readers have gone on by then.
const RECENT: usize = 4 << 20;

/// Minimum and maximum number of these blocks: images have blocks of 512 bytes to
/// 64 MiB.
const MIN_RECENT: usize = 8;
const MAX_RECENT: usize = 256;

/// Memory of an entry in the list of recent blocks, in bytes: the entry, and
/// the rest of a dropped block that the entry keeps.
const RECENT_ENTRY: usize = size_of::<(u64, Weak<ImageBlock>)>() + size_of::<ImageBlock>();

/// The contents of a block image, as a source.
pub struct Image {
    reader: Arc<Reader>,
    image: Box<dyn BlockImage>,
    key: Key,
    /// The cached blocks that were decoded last.
    recent: Mutex<VecDeque<(u64, Weak<ImageBlock>)>>,
}

impl Image {
    /// Creates a source whose decoded blocks `reader` caches.
    pub fn new(reader: &Arc<Reader>, image: Box<dyn BlockImage>) -> Self {
        Self {
            reader: reader.clone(),
            image,
            key: Key {
                volume: reader.next_image(),
                file: FileId(0),
            },
            recent: Mutex::default(),
        }
    }

    /// Returns the memory of the tables and of the list of recent blocks, in
    /// bytes.
    pub fn memory(&self) -> usize {
        self.image.memory() + self.max_recent() * RECENT_ENTRY
    }

    /// Returns the number of blocks that are decoded until one that was read in
    /// part is dropped.
    fn max_recent(&self) -> usize {
        (RECENT / self.image.block_size() as usize).clamp(MIN_RECENT, MAX_RECENT)
    }

    /// Returns a decoded block, which is cached if `keep` is set.
    fn block(&self, number: u64, keep: bool) -> Result<Arc<ImageBlock>> {
        let mut is_new = false;
        let length = block_length(self.image.len(), self.image.block_size(), number);
        let block = self
            .reader
            .caches
            .images
            .get_and_keep(&(self.key, number), keep, || {
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
                is_new = true;
                Ok(Arc::new(ImageBlock::new(bytes)))
            })?;
        if is_new && keep {
            self.note_cached(number, &block);
        }
        Ok(block)
    }

    /// Notes that a block was added to the cache, and drops those that readers have
    /// passed: the bytes are in the kernel's page cache by then, or decoded in
    /// a cache above this one.
    fn note_cached(&self, number: u64, block: &Arc<ImageBlock>) {
        let mut recent = lock(&self.recent);
        recent.push_back((number, Arc::downgrade(block)));
        while recent.len() > self.max_recent()
            && let Some((number, block)) = recent.pop_front()
        {
            if block.upgrade().is_some_and(|block| block.is_read()) {
                self.reader.caches.images.remove(&(self.key, number));
            }
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
            buf[filled..filled + wanted].copy_from_slice(&block.bytes[skip..skip + wanted]);
            if block.note_read(wanted) {
                self.reader.caches.images.remove(&(self.key, number));
            }
            filled += wanted;
        }
        Ok(())
    }

    fn unit_at(&self, offset: u64) -> Option<Range<u64>> {
        let unit = u64::from(self.image.block_size());
        let start = offset - offset % unit;
        Some(start..(start + unit).min(self.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::content::Spool;
    use crate::memory::budget::Budget;
    use std::sync::atomic::{AtomicU64, Ordering};

    /// Blocks filled with their numbers; counts the decoded ones.
    struct Numbers {
        unit: u32,
        len: u64,
        decoded: Arc<AtomicU64>,
    }

    impl BlockImage for Numbers {
        fn len(&self) -> u64 {
            self.len
        }

        fn block_size(&self) -> u32 {
            self.unit
        }

        fn decode(&self, block: u64) -> Result<Vec<u8>> {
            self.decoded.fetch_add(1, Ordering::Relaxed);
            if block == 3 {
                return Err(Error::damaged(9, "block 3", "is damaged"));
            }
            Ok(vec![block as u8; block_length(self.len, self.unit, block)])
        }

        fn memory(&self) -> usize {
            0
        }
    }

    fn numbers(len: u64) -> (Image, Arc<AtomicU64>) {
        numbers_of(16, len)
    }

    fn numbers_of(unit: u32, len: u64) -> (Image, Arc<AtomicU64>) {
        let reader = Reader::new(&Budget::new(64 << 20), Spool::new(None, 0));
        let decoded = Arc::new(AtomicU64::new(0));
        let image = Numbers {
            unit,
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
    fn a_block_that_was_read_in_parts_to_its_end_is_dropped() {
        let (image, decoded) = numbers(40);
        let mut bytes = [0; 8];
        for (offset, count) in [(16, 1), (24, 1), (24, 2), (24, 2)] {
            image.read_exact_at(&mut bytes, offset).unwrap();
            assert_eq!(decoded.load(Ordering::Relaxed), count, "{offset}");
        }
    }

    #[test]
    fn blocks_that_readers_have_passed_are_dropped_unless_little_was_read_of_them() {
        const UNIT: u64 = 1 << 20;
        let (image, decoded) = numbers_of(UNIT as u32, 20 * UNIT);
        let read = |block: u64, length: usize| {
            let before = decoded.load(Ordering::Relaxed);
            let mut bytes = vec![0; length];
            image.read_exact_at(&mut bytes, block * UNIT).unwrap();
            decoded.load(Ordering::Relaxed) - before
        };
        read(4, 100);
        for block in 5..5 + MIN_RECENT as u64 {
            assert_eq!(read(block, 100_000), 1);
        }
        assert_eq!(read(5, 100), 0, "a reader may still be there");
        read(19, 100);
        assert_eq!([read(4, 100), read(6, 100), read(5, 100)], [0, 0, 1]);
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
            Image::new(
                &reader,
                Box::new(Numbers {
                    unit: 16,
                    len,
                    decoded,
                }),
            )
        };
        let (long, short) = (image(100), image(20));
        let mut bytes = [0; 2];
        long.read_exact_at(&mut bytes, 18).unwrap();
        short.read_exact_at(&mut bytes, 18).unwrap();
        assert!(short.read_exact_at(&mut bytes, 20).is_err());
    }
}
