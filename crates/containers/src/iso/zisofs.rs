//! Files that zisofs has packed: a header, the positions of the blocks, and the
//! blocks, each a zlib stream of its own.

use std::ops::Range;

use super::record::le32;
use crate::codec::{Wrapping, inflate};
use crate::io::{Composed, Error, ReadAt, Result, read_vec};

/// The algorithm in the field `ZF`.
const ALGORITHM: &[u8] = b"pz";

/// Length of the data of that field.
const FIELD: usize = 12;

/// Logarithms of the sizes of blocks. Writers use 15 to 17.
const SHIFTS: std::ops::RangeInclusive<u8> = 10..=20;

/// Length of a position in bytes. They follow the header, one for each block and
/// one for the end, counted from the header.
const POSITION: u64 = 4;

/// The packing of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Packing {
    /// As blocks of a size.
    Blocks {
        /// Length of the header in bytes.
        header: u64,
        /// Logarithm of the size of a block.
        shift: u8,
        /// Length of the file in bytes.
        size: u64,
    },
    /// By another algorithm, or with numbers that are not valid.
    Unknown,
}

impl Packing {
    /// Parses the data of a field.
    pub(super) fn parse(data: &[u8]) -> Self {
        if data.len() < FIELD || !data.starts_with(ALGORITHM) || !SHIFTS.contains(&data[3]) {
            return Self::Unknown;
        }
        Self::Blocks {
            header: u64::from(data[2]) * 4,
            shift: data[3],
            size: le32(data, 4).into(),
        }
    }
}

/// A packed file, read as it was before.
pub(super) struct Unpacked {
    packed: Composed,
    header: u64,
    shift: u8,
    size: u64,
}

impl Unpacked {
    /// Creates the file with this packed data; `None` if the packing is not
    /// supported, or the positions of the blocks do not fit.
    pub(super) fn new(packed: Composed, packing: Packing) -> Option<Self> {
        let Packing::Blocks {
            header,
            shift,
            size,
        } = packing
        else {
            return None;
        };
        let positions = (size.div_ceil(1 << shift) + 1) * POSITION;
        (header + positions <= packed.len()).then_some(Self {
            packed,
            header,
            shift,
            size,
        })
    }

    /// Returns the memory that it uses, in bytes.
    pub(super) fn memory(&self) -> usize {
        size_of::<Self>() + self.packed.memory()
    }

    fn read(&self, mut buf: &mut [u8], mut offset: u64) -> Result<()> {
        let unit = 1_u64 << self.shift;
        let end = offset + buf.len() as u64;
        let blocks = offset >> self.shift..end.div_ceil(unit);
        let start = self.header + blocks.start * POSITION;
        let length = (blocks.end - blocks.start + 1) * POSITION;
        let positions = read_vec(&self.packed, start, length, "block positions")?;
        let position = |number: u64| le32(&positions, (number * POSITION) as usize).into();
        for (number, block) in blocks.enumerate() {
            let first = block * unit;
            let whole = unit.min(self.size - first) as usize;
            let skip = (offset - first) as usize;
            let wanted = (whole - skip).min(buf.len());
            let (part, rest) = buf.split_at_mut(wanted);
            let number = number as u64;
            self.block(
                block,
                position(number)..position(number + 1),
                part,
                (skip, whole),
            )?;
            buf = rest;
            offset += wanted as u64;
        }
        Ok(())
    }

    /// Fills `part` with the bytes of a block from `skip` on, whose packed data is
    /// at `at` and decodes to `whole` bytes.
    fn block(
        &self,
        block: u64,
        at: Range<u64>,
        part: &mut [u8],
        (skip, whole): (usize, usize),
    ) -> Result<()> {
        if at.start == at.end {
            part.fill(0);
            return Ok(());
        }
        let damaged = |problem: String| Error::damaged(at.start, format!("block {block}"), problem);
        // Deflate adds a few bytes to what it cannot pack.
        let most = 2 * (whole as u64).max(1 << 10);
        if at.start > at.end || at.end > self.packed.len() || at.end - at.start > most {
            let (start, end) = (at.start, at.end);
            return Err(damaged(format!("is from {start:#x} to {end:#x}")));
        }
        let packed = read_vec(&self.packed, at.start, at.end - at.start, "block")?;
        let mut bytes = vec![0; whole];
        let length = inflate(&packed, &mut bytes, Wrapping::Zlib).map_err(damaged)?;
        if length != whole {
            return Err(damaged(format!("has {length} bytes, should have {whole}")));
        }
        part.copy_from_slice(&bytes[skip..skip + part.len()]);
        Ok(())
    }
}

impl ReadAt for Unpacked {
    fn len(&self) -> u64 {
        self.size
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> std::io::Result<()> {
        self.check_end(buf.len(), offset)?;
        if buf.is_empty() {
            return Ok(());
        }
        self.read(buf, offset).map_err(std::io::Error::other)
    }

    fn unit_at(&self, offset: u64) -> Option<Range<u64>> {
        let first = offset >> self.shift << self.shift;
        Some(first..first + (1 << self.shift))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::disc::{Extent, Form, SECTOR, Sectors, file_in};

    /// Returns a packed file with these blocks of 1 KiB.
    fn unpacked(blocks: &[Vec<u8>], size: u64) -> Option<Unpacked> {
        let mut bytes = b"\x37\xE4\x53\x96\xC9\xDB\xD6\x07".to_vec();
        bytes.extend((size as u32).to_le_bytes());
        bytes.extend([4, 10, 0, 0]);
        let mut at = 16 + 4 * (blocks.len() as u32 + 1);
        bytes.extend(at.to_le_bytes());
        for block in blocks {
            at += block.len() as u32;
            bytes.extend(at.to_le_bytes());
        }
        bytes.extend(blocks.concat());
        let extent = Extent {
            at: Some(0),
            length: bytes.len() as u64,
        };
        let end = bytes.len() as u64;
        let sectors = Sectors::new(Arc::new(bytes), Form::of_step(SECTOR), (0, end), false);
        let packed = file_in(&Arc::new(sectors), &[extent]);
        let packing = Packing::Blocks {
            header: 16,
            shift: 10,
            size,
        };
        Unpacked::new(packed, packing)
    }

    fn deflated(bytes: &[u8]) -> Vec<u8> {
        miniz_oxide::deflate::compress_to_vec_zlib(bytes, 6)
    }

    fn read(file: &Unpacked, range: Range<u64>) -> std::io::Result<Vec<u8>> {
        let mut bytes = vec![0; (range.end - range.start) as usize];
        file.read_exact_at(&mut bytes, range.start)?;
        Ok(bytes)
    }

    #[test]
    fn any_range_of_a_packed_file_is_read() {
        let bytes: Vec<u8> = (0..2500_u32).map(|number| (number / 7) as u8).collect();
        let mut whole = bytes[..1024].to_vec();
        whole.extend([0; 1024]);
        whole.extend(&bytes[1024..1524]);
        let blocks = [
            deflated(&bytes[..1024]),
            Vec::new(),
            deflated(&bytes[1024..1524]),
        ];
        let file = unpacked(&blocks, 2548).unwrap();
        for range in [0..2548, 0..1, 1000..2100, 1024..2048, 2547..2548, 5..5] {
            let expected = &whole[range.start as usize..range.end as usize];
            assert_eq!(read(&file, range.clone()).unwrap(), expected, "{range:?}");
        }
        assert!(read(&file, 2548..2549).is_err());
        assert_eq!(file.unit_at(1500), Some(1024..2048));
    }

    #[test]
    fn a_damaged_block_fails_and_the_others_are_read() {
        let blocks = [deflated(&[1; 1024]), vec![7; 20], deflated(&[2; 100])];
        let file = unpacked(&blocks, 3072).unwrap();
        assert_eq!(read(&file, 0..1024).unwrap(), [1; 1024]);
        assert!(read(&file, 1024..1025).is_err());
        let error = read(&file, 2048..3072).unwrap_err().to_string();
        assert!(error.contains("has 100 bytes, should have 1024"), "{error}");
    }

    #[test]
    fn a_file_too_short_for_its_positions_is_not_unpacked() {
        assert!(unpacked(&[], u32::MAX.into()).is_none());
        assert_eq!(
            Packing::parse(b"PZ\x04\x0F\0\0\0\0\0\0\0\0"),
            Packing::Unknown
        );
        assert_eq!(
            Packing::parse(b"pz\x04\x1F\0\0\0\0\0\0\0\0"),
            Packing::Unknown
        );
        assert_eq!(Packing::parse(b"pz"), Packing::Unknown);
    }
}
