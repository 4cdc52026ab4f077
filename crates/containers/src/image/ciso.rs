//! CISO, a GameCube or Wii disc without its empty blocks.
//!
//! `"CISO"`, the block size (u32, little-endian) and a map of 0x7FF8 bytes, 1
//! for each block that is present. Those blocks follow in order. The compressed
//! CSO of other consoles has the same magic (see [`super::cso`]).

use std::sync::Arc;

use super::{BlockImage, GAMECUBE, ImageFormat, block_error, block_length, head};
use crate::file_type::{FileType, Magic};
use crate::io::{Error, ReadAt, Result, read_error, read_vec};

/// The format of CISO images.
pub(super) const FORMAT: ImageFormat = ImageFormat {
    name: "CISO",
    extensions: &["ciso"],
    types: &[FileType {
        // In a PSP disc with the same magic, a size follows instead.
        magic: &[Magic {
            and: &[
                Magic::at(4, &0x0020_0000_u32.to_le_bytes()),
                Magic::at(4, &0x8000_u32.to_le_bytes()),
            ],
            ..Magic::at(0, MAGIC)
        }],
        patterns: &["*.ciso"],
        ..GAMECUBE
    }],
    matches,
    open,
};

const MAGIC: &[u8; 4] = b"CISO";

/// Offset of the map, and of the first block.
const MAP: usize = 8;
const DATA: u64 = 0x8000;

/// Block sizes in bytes; powers of two.
const BLOCK_SIZES: std::ops::RangeInclusive<u32> = 0x8000..=1 << 27;

/// Number of bytes read at once: nothing is compressed, so blocks can be read
/// in parts.
const PIECE: u32 = 0x1_0000;

/// Size of a GameCube disc in bytes.
const DISC: u64 = 0x5705_8000;

/// The number of an absent block.
const ABSENT: u16 = u16::MAX;

struct Ciso {
    source: Arc<dyn ReadAt>,
    /// Length of the image in bytes.
    len: u64,
    /// Bytes in a block.
    unit: u32,
    /// The index of each block among those present, or [`ABSENT`].
    numbers: Vec<u16>,
    /// Number of blocks that are present.
    present: u16,
}

/// Returns the block size, if the source is not a CSO.
fn block_size(head: &[u8]) -> Option<u32> {
    let size = head.strip_prefix(MAGIC)?.first_chunk()?;
    let size = u32::from_le_bytes(*size);
    (size.is_power_of_two() && BLOCK_SIZES.contains(&size)).then_some(size)
}

fn matches(source: &dyn ReadAt) -> Result<bool> {
    Ok(block_size(&head(source, MAP as u64)?).is_some())
}

fn open(source: Arc<dyn ReadAt>) -> Result<Box<dyn BlockImage>> {
    let head = read_vec(&*source, 0, DATA, "map")?;
    let unit = block_size(&head).ok_or(Error::UnknownFormat)?;
    let mut numbers = Vec::with_capacity(head.len() - MAP);
    let mut present = 0;
    for (offset, &byte) in head.iter().enumerate().skip(MAP) {
        numbers.push(match byte {
            0 => ABSENT,
            1 => {
                present += 1;
                present - 1
            }
            _ => {
                let problem = format!("is {byte}, should be 0 or 1");
                return Err(Error::damaged(offset as u64, "map", problem));
            }
        });
    }
    let used = numbers.iter().rposition(|&number| number != ABSENT);
    numbers.truncate(used.map_or(0, |last| last + 1));
    numbers.shrink_to_fit();
    // The true length is not recorded, and the last blocks of a disc may be
    // absent.
    let mapped = DATA - MAP as u64;
    let len = DISC.min(mapped * u64::from(unit));
    let len = len.max(numbers.len() as u64 * u64::from(unit));
    Ok(Box::new(Ciso {
        source,
        len,
        unit,
        numbers,
        present,
    }))
}

impl BlockImage for Ciso {
    fn len(&self) -> u64 {
        self.len
    }

    fn block_size(&self) -> u32 {
        PIECE.min(self.unit)
    }

    fn decode(&self, block: u64) -> Result<Vec<u8>> {
        let mut bytes = vec![0; block_length(self.len(), self.block_size(), block)];
        let start = block * u64::from(self.block_size());
        let unit = u64::from(self.unit);
        let number = self.numbers.get((start / unit) as usize);
        let number = match number {
            Some(&number) if number != ABSENT => number,
            _ => return Ok(bytes),
        };
        let offset = DATA + u64::from(number) * unit + start % unit;
        let left = self.source.len().saturating_sub(offset);
        let length = left.min(bytes.len() as u64);
        // Writers truncate the last block at the end of the disc.
        if length < bytes.len() as u64 && number + 1 != self.present {
            return Err(block_error(
                u64::from(number),
                offset,
                "extends past the end of the file",
            ));
        }
        if length == 0 {
            return Ok(bytes);
        }
        self.source
            .read_exact_at(&mut bytes[..length as usize], offset)
            .map_err(|cause| read_error(offset, length, cause))?;
        Ok(bytes)
    }

    fn memory(&self) -> usize {
        size_of::<Self>() + self.numbers.capacity() * size_of::<u16>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns an image with blocks of 32 KiB; `map` marks those that are
    /// present.
    fn image(map: &[u8], blocks: &[&[u8]]) -> Vec<u8> {
        let mut bytes = [MAGIC.as_slice(), &0x8000_u32.to_le_bytes(), map].concat();
        bytes.resize(DATA as usize, 0);
        bytes.extend(blocks.concat());
        bytes
    }

    fn opened(bytes: Vec<u8>) -> Result<Box<dyn BlockImage>> {
        assert!(matches(&bytes).unwrap());
        open(Arc::new(bytes))
    }

    #[test]
    fn absent_blocks_are_zeros_and_the_last_one_may_be_cut() {
        let first = [1; 0x8000];
        let image = opened(image(&[0, 1, 0, 1], &[&first, &[2; 100]])).unwrap();
        assert_eq!(image.len(), 0x7FF8 * 0x8000);
        assert_eq!(image.decode(0).unwrap(), [0; 0x8000]);
        assert_eq!(image.decode(1).unwrap(), first);
        let last = image.decode(3).unwrap();
        assert_eq!((last[99], last[100], last.len()), (2, 0, 0x8000));
    }

    #[test]
    fn absent_blocks_at_the_end_of_a_disc_are_zeros() {
        let mut bytes = image(&[1, 0, 0], &[&[1; 0x8000]]);
        bytes[4..8].copy_from_slice(&0x20_0000_u32.to_le_bytes());
        let disc = opened(bytes).unwrap();
        assert_eq!(disc.len(), 1_459_978_240);
        let last = (disc.len() - 1) / u64::from(disc.block_size());
        assert_eq!(disc.decode(last).unwrap(), [0; 0x8000]);
        assert_eq!(disc.decode(1).unwrap().len(), PIECE as usize);
    }

    #[test]
    fn a_block_before_the_last_one_is_not_cut() {
        let image = opened(image(&[1, 1], &[&[1; 100]])).unwrap();
        let error = image.decode(0).unwrap_err().to_string();
        assert_eq!(error, "block 0 at 0x8000: extends past the end of the file");
    }

    #[test]
    fn other_values_than_0_and_1_in_a_map_are_refused() {
        let error = opened(image(&[0, 2], &[])).err().unwrap().to_string();
        assert_eq!(error, "map at 0x9: is 2, should be 0 or 1");
        let mut none = image(&[], &[]);
        none[4..8].fill(0);
        assert!(!matches(&none).unwrap());
    }
}
