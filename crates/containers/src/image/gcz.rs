//! GCZ, Dolphin's older compressed disc image (little-endian): blocks of one
//! size, each deflated with a zlib header or stored, with the Adler-32 of its
//! packed bytes.

use std::sync::Arc;

use libdeflater::adler32;

use super::{BlockImage, GAMECUBE, ImageFormat, block_error, block_length, starts_with};
use crate::codec::{Wrapping, inflate};
use crate::file_type::{FileType, Magic};
use crate::io::{Cursor, Endian, Error, ReadAt, Result, check_sum, read_vec};

/// The format of GCZ images.
pub(super) const FORMAT: ImageFormat = ImageFormat {
    name: "GCZ",
    extensions: &["gcz"],
    types: &[FileType {
        magic: &[Magic::at(0, &MAGIC)],
        patterns: &["*.gcz"],
        ..GAMECUBE
    }],
    matches,
    open,
};

const MAGIC: [u8; 4] = 0xB10B_C001_u32.to_le_bytes();

/// Length of the header in bytes.
const HEADER: u64 = 32;

/// Bytes per block in the tables: its offset and its checksum.
const PER_BLOCK: u64 = 12;

/// Block sizes in bytes. Known writers use 16 KiB to 128 KiB.
const BLOCK_SIZES: std::ops::RangeInclusive<u32> = 512..=1 << 24;

/// Set in the offset of a stored block.
const STORED: u64 = 1 << 63;

/// Maximum number of bytes that one byte of deflate can decode to.
const MAX_RATIO: u64 = 1032;

struct Gcz {
    source: Arc<dyn ReadAt>,
    len: u64,
    block_size: u32,
    /// Absolute offset of the first block.
    data: u64,
    /// Length of all packed blocks.
    packed: u64,
    /// Offset of each block after `data`, with [`STORED`], and its checksum.
    blocks: Vec<(u64, u32)>,
}

fn matches(source: &dyn ReadAt) -> Result<bool> {
    starts_with(source, &MAGIC)
}

fn open(source: Arc<dyn ReadAt>) -> Result<Box<dyn BlockImage>> {
    let header = read_vec(&*source, 0, HEADER, "header")?;
    let mut header = Cursor::new(&header, 0, Endian::Little);
    header.u32("magic")?;
    header.u32("kind")?;
    let packed = header.u64("packed size")?;
    let len = header.u64("size")?;
    let block_size = header.u32("block size")?;
    if !BLOCK_SIZES.contains(&block_size) {
        let problem = format!("is {block_size}");
        return Err(Error::damaged(24, "block size", problem));
    }
    let count = header.u32("blocks")?;
    let tables = u64::from(count) * PER_BLOCK;
    if tables > source.len() - HEADER {
        let problem = format!("{count} blocks do not fit into the file");
        return Err(Error::damaged(28, "blocks", problem));
    }
    if len > u64::from(count) * u64::from(block_size) {
        let problem = format!("is {len}, more than {count} blocks of {block_size} bytes");
        return Err(Error::damaged(16, "size", problem));
    }
    let bytes = read_vec(&*source, HEADER, tables, "block table")?;
    let (offsets, sums) = bytes.split_at(count as usize * 8);
    let offsets = offsets
        .as_chunks()
        .0
        .iter()
        .copied()
        .map(u64::from_le_bytes);
    let sums = sums.as_chunks().0.iter().copied().map(u32::from_le_bytes);
    Ok(Box::new(Gcz {
        len,
        block_size,
        data: HEADER + tables,
        packed,
        blocks: offsets.zip(sums).collect(),
        source,
    }))
}

impl Gcz {
    /// Returns the packed bytes of a block.
    fn stored(&self, block: u64, offset: u64) -> Result<Vec<u8>> {
        let next = self.blocks.get(block as usize + 1);
        let end = next.map_or(self.packed, |&(next, _)| next & !STORED);
        let at = self.data.saturating_add(offset);
        let length = end.checked_sub(offset);
        let length = length.filter(|&length| length <= self.block_size.into());
        let Some(length) = length else {
            let problem = format!("begins at {offset:#x} of the data and ends at {end:#x}");
            return Err(block_error(block, at, problem));
        };
        read_vec(&*self.source, at, length, "block").map_err(|error| error.within(block))
    }
}

impl BlockImage for Gcz {
    fn len(&self) -> u64 {
        self.len
    }

    fn block_size(&self) -> u32 {
        self.block_size
    }

    fn decode(&self, block: u64) -> Result<Vec<u8>> {
        let entry = self.blocks.get(block as usize);
        let &(offset, sum) = entry.ok_or_else(|| block_error(block, 0, "is not in the table"))?;
        let at = self.data.saturating_add(offset & !STORED);
        let mut bytes = self.stored(block, offset & !STORED)?;
        check_sum("checksum", adler32(&bytes), sum)
            .map_err(|problem| block_error(block, at, problem))?;
        let unit = self.block_size as usize;
        if offset & STORED == 0 {
            if (bytes.len() as u64).saturating_mul(MAX_RATIO) < unit as u64 {
                let problem = format!("has {} bytes, too few for {unit}", bytes.len());
                return Err(block_error(block, at, problem));
            }
            let mut inflated = vec![0; unit];
            let length = inflate(&bytes, &mut inflated, Wrapping::Zlib)
                .map_err(|error| block_error(block, at, format!("cannot be inflated: {error}")))?;
            inflated.truncate(length);
            bytes = inflated;
        }
        // The last block is padded to a full one.
        let wanted = block_length(self.len, self.block_size, block);
        if bytes.len() < wanted {
            let problem = format!("has {} bytes, should have {wanted}", bytes.len());
            return Err(block_error(block, at, problem));
        }
        bytes.truncate(wanted);
        Ok(bytes)
    }

    fn memory(&self) -> usize {
        size_of::<Self>() + self.blocks.capacity() * size_of::<(u64, u32)>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use libdeflater::{CompressionLvl, Compressor};

    const UNIT: usize = 512;

    fn zlib(bytes: &[u8]) -> Vec<u8> {
        let mut compressor = Compressor::new(CompressionLvl::default());
        let mut packed = vec![0; compressor.zlib_compress_bound(bytes.len())];
        let length = compressor.zlib_compress(bytes, &mut packed).unwrap();
        packed.truncate(length);
        packed
    }

    /// Returns an image of `len` bytes with these blocks. The flag of a block
    /// says whether it is stored unpacked.
    fn image(len: u64, blocks: &[(Vec<u8>, bool)]) -> Vec<u8> {
        let data: Vec<u8> = blocks.iter().flat_map(|(block, _)| block.clone()).collect();
        let mut bytes = [MAGIC, [0; 4]].concat();
        bytes.extend((data.len() as u64).to_le_bytes());
        bytes.extend(len.to_le_bytes());
        bytes.extend((UNIT as u32).to_le_bytes());
        bytes.extend((blocks.len() as u32).to_le_bytes());
        let mut offset = 0;
        for (block, stored) in blocks {
            bytes.extend((offset | u64::from(*stored) << 63).to_le_bytes());
            offset += block.len() as u64;
        }
        for (block, _) in blocks {
            bytes.extend(adler32(block).to_le_bytes());
        }
        bytes.extend(data);
        bytes
    }

    #[test]
    fn blocks_are_inflated_or_stored_and_the_last_one_ends_with_the_disc() {
        let stored: Vec<u8> = (0..UNIT).map(|n| n as u8).collect();
        let blocks = [(zlib(&[7; UNIT]), false), (stored.clone(), true)];
        let image = open(Arc::new(image(UNIT as u64 + 100, &blocks))).unwrap();
        assert_eq!(image.decode(0).unwrap(), [7; UNIT]);
        assert_eq!(image.decode(1).unwrap(), stored[..100]);
        assert!(image.decode(2).is_err());
    }

    #[test]
    fn a_block_with_a_wrong_checksum_is_damaged() {
        let mut packed = zlib(&[7; UNIT]);
        let mut bytes = image(UNIT as u64, &[(packed.clone(), false)]);
        let recorded = adler32(&packed);
        *bytes.last_mut().unwrap() ^= 1;
        *packed.last_mut().unwrap() ^= 1;
        let found = adler32(&packed);
        let error = open(Arc::new(bytes)).unwrap().decode(0).unwrap_err();
        let problem = format!("checksum is {found:08x}, should be {recorded:08x}");
        assert_eq!(error.to_string(), format!("block 0 at 0x2c: {problem}"));
    }

    #[test]
    fn a_block_that_inflates_to_less_is_damaged() {
        let bytes = image(UNIT as u64, &[(zlib(&[7; 100]), false)]);
        let error = open(Arc::new(bytes)).unwrap().decode(0).unwrap_err();
        assert!(error.to_string().contains("has 100 bytes"), "{error}");
    }

    #[test]
    fn numbers_beyond_the_file_are_refused() {
        let good = image(UNIT as u64, &[(zlib(&[7; UNIT]), false)]);
        let with = |offset: usize, value: &[u8]| {
            let mut bytes = good.clone();
            bytes[offset..offset + value.len()].copy_from_slice(value);
            open(Arc::new(bytes))
        };
        assert!(with(24, &0_u32.to_le_bytes()).is_err(), "block size");
        assert!(with(24, &u32::MAX.to_le_bytes()).is_err(), "block size");
        assert!(with(28, &u32::MAX.to_le_bytes()).is_err(), "blocks");
        assert!(with(16, &(1_u64 << 60).to_le_bytes()).is_err(), "size");
        let far = with(32, &(1_u64 << 62).to_le_bytes()).unwrap();
        assert!(far.decode(0).is_err(), "offset");
    }
}
