//! CSO and ZSO, compressed images of PlayStation discs (little-endian): blocks
//! of one size, raw, deflated or LZ4.

use std::sync::Arc;

use super::{BlockImage, ImageFormat, block_error, block_length, ciso, head};
use crate::codec::{Wrapping, inflate};
use crate::file_type::{FileType, Magic};
use crate::io::{Cursor, Endian, Error, ReadAt, Result, read_vec};

/// The format of CSO images.
pub(super) const CSO: ImageFormat = ImageFormat {
    name: "CSO",
    extensions: &["cso"],
    types: &[FileType {
        // The magic is followed by the length of the header, or 0.
        magic: &[Magic {
            and: &[Magic::at(4, &[24, 0, 0, 0]), Magic::at(4, &[0; 4])],
            ..Magic::at(0, b"CISO")
        }],
        patterns: &["*.cso"],
        ..COMPRESSED
    }],
    matches: |source| Ok(head(source, 4)? == b"CISO" && !(ciso::FORMAT.matches)(source)?),
    open: |source| open(source, false),
};

/// The format of ZSO images.
pub(super) const ZSO: ImageFormat = ImageFormat {
    name: "ZSO",
    extensions: &["zso"],
    types: &[FileType {
        magic: &[Magic::at(0, b"ZISO")],
        patterns: &["*.zso"],
        ..COMPRESSED
    }],
    matches: |source| Ok(head(source, 4)? == b"ZISO"),
    open: |source| open(source, true),
};

/// The type of both on desktops.
const COMPRESSED: FileType = FileType::new(
    "application/x-compressed-iso",
    Some("compressed disc image"),
);

/// Length of the header in bytes.
const HEADER: u64 = 24;

/// Block sizes in bytes; powers of two. Writers use 2 KiB and 16 KiB.
const BLOCK_SIZES: std::ops::RangeInclusive<u32> = 512..=1 << 20;

/// Maximum number of bytes that one byte of deflate or LZ4 can decode to.
const MAX_RATIO: u64 = 1032;

/// Set in the position of a block that does not use the default method.
const FLAG: u32 = 1 << 31;

struct Cso {
    source: Arc<dyn ReadAt>,
    len: u64,
    block_size: u32,
    /// True if blocks are LZ4 unless stored (ZSO).
    is_lz4: bool,
    version: u8,
    /// Positions are stored shifted right by this number of bits.
    shift: u8,
    /// Positions of the blocks and of the end, with [`FLAG`].
    index: Vec<u32>,
}

/// The storage method of a block.
#[derive(Clone, Copy)]
enum Method {
    Raw,
    Deflate,
    Lz4,
}

fn open(source: Arc<dyn ReadAt>, is_lz4: bool) -> Result<Box<dyn BlockImage>> {
    let bytes = read_vec(&*source, 0, HEADER, "header")?;
    let mut header = Cursor::new(&bytes, 0, Endian::Little);
    header.take(8, "magic")?;
    let low = header.u32("size")?;
    let len = u64::from(header.u32("size")?) << 32 | u64::from(low);
    let block_size = header.u32("block size")?;
    let (version, shift) = (header.u8("version")?, header.u8("index shift")?);
    if !block_size.is_power_of_two() || !BLOCK_SIZES.contains(&block_size) {
        return Err(Error::damaged(16, "block size", format!("is {block_size}")));
    }
    if version > 2 || shift > 31 {
        let problem = format!("is {version} with index shift {shift}");
        return Err(Error::damaged(20, "version", problem));
    }
    let blocks = len.div_ceil(block_size.into());
    let table = blocks.checked_add(1).and_then(|count| count.checked_mul(4));
    let room = source.len() - HEADER;
    let Some(table) = table.filter(|&table| table <= room) else {
        let problem = format!("is {len}, whose {blocks} blocks do not fit into the file");
        return Err(Error::damaged(8, "size", problem));
    };
    let index = read_vec(&*source, HEADER, table, "index")?;
    let index = index.as_chunks().0.iter().copied().map(u32::from_le_bytes);
    Ok(Box::new(Cso {
        len,
        block_size,
        is_lz4,
        version,
        shift,
        index: index.collect(),
        source,
    }))
}

impl Cso {
    fn method(&self, flagged: bool, stored: u64) -> Method {
        match (self.is_lz4, self.version) {
            (true, _) if flagged => Method::Raw,
            (true, _) => Method::Lz4,
            (false, 2) if stored >= self.block_size.into() => Method::Raw,
            (false, 2) if flagged => Method::Lz4,
            (false, 0 | 1) if flagged => Method::Raw,
            (false, _) => Method::Deflate,
        }
    }

    /// Returns the content of an LZ4 block of `stored` bytes if its size stands
    /// before it, as in images of Xbox discs.
    fn sized<'a>(&self, bytes: &'a [u8], stored: u64) -> Option<&'a [u8]> {
        if self.is_lz4 {
            return None;
        }
        let (size, bytes) = bytes.split_first_chunk()?;
        let size = u32::from_le_bytes(*size);
        // Padding follows up to the next position.
        let padding = stored.checked_sub(4 + u64::from(size))?;
        (padding < 1 << self.shift).then_some(())?;
        bytes.get(..size as usize)
    }
}

impl BlockImage for Cso {
    fn len(&self) -> u64 {
        self.len
    }

    fn block_size(&self) -> u32 {
        self.block_size
    }

    fn decode(&self, block: u64) -> Result<Vec<u8>> {
        let at = |number: u64| self.index.get(number as usize).copied();
        let (Some(here), Some(next)) = (at(block), at(block + 1)) else {
            return Err(block_error(block, HEADER, "is not in the index"));
        };
        let position = |entry: u32| u64::from(entry & !FLAG) << self.shift;
        let (offset, end) = (position(here), position(next).min(self.source.len()));
        let wanted = block_length(self.len, self.block_size, block);
        // With a shift there may be padding after a block.
        let most = 2 * u64::from(self.block_size) + (1 << self.shift);
        let stored = end.checked_sub(offset).filter(|&stored| stored <= most);
        let Some(stored) = stored else {
            let problem = format!("begins at {offset:#x} and ends at {end:#x}");
            return Err(block_error(block, offset, problem));
        };
        if stored.saturating_mul(MAX_RATIO) < wanted as u64 {
            let problem = format!("has {stored} bytes, too few for {wanted}");
            return Err(block_error(block, offset, problem));
        }
        // Anything beyond twice the block is padding, possibly a lot.
        let read = stored.min(2 * u64::from(self.block_size));
        let bytes = read_vec(&*self.source, offset, read, "block")?;
        let mut out = vec![0; self.block_size as usize];
        let length = match self.method(here & FLAG != 0, stored) {
            Method::Raw => {
                let length = bytes.len().min(out.len());
                out[..length].copy_from_slice(&bytes[..length]);
                Some(length)
            }
            // Anything after the stream is padding.
            Method::Deflate => inflate(&bytes, &mut out, Wrapping::None).ok(),
            Method::Lz4 => self
                .sized(&bytes, stored)
                .and_then(|bytes| lz4(bytes, &mut out).filter(|&length| length >= wanted))
                .or_else(|| lz4(&bytes, &mut out)),
        };
        if length.is_none_or(|length| length < wanted) {
            return Err(block_error(block, offset, "cannot be decoded"));
        }
        out.truncate(wanted);
        Ok(out)
    }

    fn memory(&self) -> usize {
        size_of::<Self>() + self.index.capacity() * size_of::<u32>()
    }
}

/// Decodes an LZ4 block until `out` is full or the block ends, and returns the
/// number of decoded bytes.
fn lz4(mut bytes: &[u8], out: &mut [u8]) -> Option<usize> {
    let mut filled = 0;
    while let Some((&token, rest)) = bytes.split_first() {
        bytes = rest;
        let literals = run(usize::from(token >> 4), &mut bytes)?;
        let (from, rest) = bytes.split_at_checked(literals)?;
        out.get_mut(filled..filled + literals)?
            .copy_from_slice(from);
        filled += literals;
        bytes = rest;
        if filled == out.len() {
            break;
        }
        // The last sequence has no match.
        let Some((distance, rest)) = bytes.split_first_chunk() else {
            break;
        };
        bytes = rest;
        let distance = usize::from(u16::from_le_bytes(*distance));
        let length = run(usize::from(token & 15), &mut bytes)? + 4;
        let start = filled.checked_sub(distance).filter(|_| distance > 0)?;
        if length > out.len() - filled {
            return None;
        }
        for i in 0..length {
            out[filled + i] = out[start + i];
        }
        filled += length;
    }
    Some(filled)
}

/// Reads a length of LZ4: after a 15, bytes are added up to the first that is
/// not 255.
fn run(first: usize, bytes: &mut &[u8]) -> Option<usize> {
    let mut length = first;
    if first == 15 {
        loop {
            let (&byte, rest) = bytes.split_first()?;
            *bytes = rest;
            length += usize::from(byte);
            if byte != 255 {
                break;
            }
        }
    }
    Some(length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use libdeflater::{CompressionLvl, Compressor};

    fn image(magic: &[u8; 4], len: u64, version: u8, blocks: &[(Vec<u8>, bool)]) -> Vec<u8> {
        let mut bytes = [magic.as_slice(), &[0; 4], &len.to_le_bytes()].concat();
        bytes.extend(2048_u32.to_le_bytes());
        bytes.extend([version, 0, 0, 0]);
        let mut at = (HEADER as usize + 4 * (blocks.len() + 1)) as u32;
        for (block, flagged) in blocks {
            bytes.extend((at | u32::from(*flagged) << 31).to_le_bytes());
            at += block.len() as u32;
        }
        bytes.extend(at.to_le_bytes());
        bytes.extend(blocks.iter().flat_map(|(block, _)| block.clone()));
        bytes
    }

    fn deflated(bytes: &[u8]) -> Vec<u8> {
        let mut packed = vec![0; 4096];
        let mut compressor = Compressor::new(CompressionLvl::default());
        let length = compressor.deflate_compress(bytes, &mut packed).unwrap();
        packed.truncate(length);
        packed
    }

    #[test]
    fn blocks_are_deflated_or_raw() {
        let blocks = [(deflated(&[5; 2048]), false), (vec![6; 2048], true)];
        let bytes = image(b"CISO", 2048 + 100, 1, &blocks);
        assert!((CSO.matches)(&bytes).unwrap());
        let image = (CSO.open)(Arc::new(bytes)).unwrap();
        assert_eq!(image.decode(0).unwrap(), [5; 2048]);
        assert_eq!(image.decode(1).unwrap(), [6; 100]);
    }

    #[test]
    fn padding_after_a_block_is_not_read() {
        /// A source that refuses long reads.
        struct Short(Vec<u8>);

        impl ReadAt for Short {
            fn len(&self) -> u64 {
                self.0.len() as u64
            }

            fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> std::io::Result<()> {
                assert!(buf.len() <= 4096, "{} bytes are read", buf.len());
                self.0.read_exact_at(buf, offset)
            }
        }

        let shift = 16;
        let at = |number: u32| (number << shift) as usize;
        for (block, flag) in [(deflated(&[5; 2048]), 0), (vec![5; 2048], FLAG)] {
            let mut bytes = image(b"CISO", 2048, 1, &[(Vec::new(), false)]);
            bytes[21] = shift;
            bytes[24..28].copy_from_slice(&(1 | flag).to_le_bytes());
            bytes[28..32].copy_from_slice(&2_u32.to_le_bytes());
            bytes.resize(at(1), 0);
            bytes.extend(block);
            bytes.resize(at(2), 0);
            let image = (CSO.open)(Arc::new(Short(bytes))).unwrap();
            assert_eq!(image.decode(0).unwrap(), [5; 2048]);
        }
    }

    #[test]
    fn lz4_matches_repeat_earlier_bytes() {
        // Two literals, then 2,046 bytes from two back.
        let mut block = vec![0x2F, b'a', b'b', 2, 0];
        block.extend([255; 7]);
        block.push((2046 - 4 - 15 - 7 * 255) as u8);
        let image = (ZSO.open)(Arc::new(image(b"ZISO", 2048, 1, &[(block, false)]))).unwrap();
        assert_eq!(image.decode(0).unwrap(), b"ab".repeat(1024));
    }

    #[test]
    fn blocks_of_version_2_are_lz4_raw_or_deflated() {
        // Five literals, then 2,043 bytes from five back.
        let mut packed = vec![0x5F, b'a', b'b', b'c', b'd', b'e', 5, 0];
        packed.extend([255; 7]);
        packed.push((2043 - 4 - 15 - 7 * 255) as u8);
        let mut text = b"abcde".repeat(410);
        text.truncate(2048);
        let blocks = [
            (packed, true),
            (vec![6; 2048], false),
            (deflated(&text), false),
        ];
        let image = (CSO.open)(Arc::new(image(b"CISO", 3 * 2048, 2, &blocks))).unwrap();
        assert_eq!(image.decode(0).unwrap(), text);
        assert_eq!(image.decode(1).unwrap(), [6; 2048]);
        assert_eq!(image.decode(2).unwrap(), text);
    }

    #[test]
    fn lz4_blocks_of_xbox_discs_have_their_size_before_them() {
        let mut packed = vec![0x2F, b'a', b'b', 2, 0];
        packed.extend([255; 7]);
        packed.push((2046 - 4 - 15 - 7 * 255) as u8);
        let size = (packed.len() as u32).to_le_bytes();
        let blocks = [
            ([&size, &packed[..]].concat(), true),
            (vec![6; 2048], false),
        ];
        let decoded = |shift: u8| {
            let align = |mut block: Vec<u8>| {
                block.resize(block.len().next_multiple_of(1 << shift), 0);
                block
            };
            let blocks = blocks.clone().map(|(block, flag)| (align(block), flag));
            let mut bytes = image(b"CISO", 2 * 2048, 2, &blocks);
            bytes[21] = shift;
            for position in bytes[24..36].as_chunks_mut().0 {
                let value = u32::from_le_bytes(*position);
                *position = (value & FLAG | (value & !FLAG) >> shift).to_le_bytes();
            }
            let image = (CSO.open)(Arc::new(bytes)).unwrap();
            [0, 1].map(|block| image.decode(block).unwrap())
        };
        for shift in [0, 2] {
            let [first, second] = decoded(shift);
            assert_eq!((first, second), (b"ab".repeat(1024), vec![6; 2048]));
        }
    }

    #[test]
    fn damaged_lz4_is_an_error() {
        let mut out = [0; 16];
        assert_eq!(lz4(&[0x10], &mut out), None, "no literal");
        assert_eq!(lz4(&[0x10, 1, 2, 0], &mut out), None, "before the start");
        assert_eq!(lz4(&[0x10, 1, 0, 0], &mut out), None, "no distance");
        assert_eq!(lz4(&[0x1F, 1, 1, 0, 255], &mut out), None, "cut length");
        assert_eq!(lz4(&[0x1F, 1, 1, 0, 9], &mut out), None, "too long");
    }

    #[test]
    fn numbers_beyond_the_file_are_refused() {
        let good = image(b"CISO", 2048, 1, &[(vec![6; 2048], true)]);
        let with = |offset: usize, value: &[u8]| {
            let mut bytes = good.clone();
            bytes[offset..offset + value.len()].copy_from_slice(value);
            (CSO.open)(Arc::new(bytes))
        };
        assert!(with(8, &u64::MAX.to_le_bytes()).is_err(), "size");
        assert!(with(16, &0_u32.to_le_bytes()).is_err(), "block size");
        assert!(with(20, &[3]).is_err(), "version");
        assert!(with(21, &[40]).is_err(), "shift");
        assert!(with(24, &[0xFF; 4]).unwrap().decode(0).is_err(), "position");
    }
}
