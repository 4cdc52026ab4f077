//! WBFS, the used blocks of discs of the Wii and GameCube (big-endian).
//!
//! `"WBFS"`, the number of sectors (u32) and the logarithms of the sizes of a
//! sector and of a block (u8 each); in the first sector follows a byte for each
//! disc, which is not 0 if there is one. The next sector has the first 256 bytes
//! of the disc, and the number of each of its blocks (u16), 0 for one that is
//! absent.

use std::sync::Arc;

use super::{BlockImage, ImageFormat, block_length, starts_with};
use crate::io::{Cursor, Endian, Error, ReadAt, Result, read_error, read_vec};

/// The format of WBFS images.
pub(super) const FORMAT: ImageFormat = ImageFormat {
    name: "WBFS",
    extensions: &["wbfs"],
    types: &[],
    matches: |source| starts_with(source, MAGIC),
    open,
};

const MAGIC: &[u8] = b"WBFS";

/// Length of the header before the list of discs.
const HEADER: u64 = 12;

/// Logarithms of the size of a sector and of a block.
const SECTORS: std::ops::RangeInclusive<u8> = 9..=15;
const BLOCKS: std::ops::RangeInclusive<u8> = 15..=26;

/// Bytes of the disc before the numbers of its blocks.
const DISC_HEADER: u64 = 0x100;

/// Offset of the magic number of a GameCube disc, and the number.
const GAMECUBE_AT: usize = 0x1C;
const GAMECUBE_MAGIC: [u8; 4] = [0xC2, 0x33, 0x9F, 0x3D];

/// Sizes of discs in bytes: of the GameCube, and of the Wii with two layers.
const GAMECUBE_DISC: u64 = 0x5705_8000;
const WII_DISC: u64 = 2 * 143_432 * 0x8000;

/// Number of bytes read at once: nothing is compressed, so blocks can be read in
/// parts.
const PIECE: u32 = 0x8000;

struct Wbfs {
    source: Arc<dyn ReadAt>,
    /// Length of the disc in bytes.
    len: u64,
    /// Logarithm of the size of a block.
    shift: u8,
    /// The number of each block, 0 for one that is absent.
    numbers: Vec<u16>,
    warnings: Vec<String>,
}

fn open(source: Arc<dyn ReadAt>) -> Result<Box<dyn BlockImage>> {
    let head = read_vec(&*source, 0, HEADER, "header")?;
    let mut header = Cursor::new(&head, 0, Endian::Big);
    header.take(8, "magic and number of sectors")?;
    let (sector, shift) = (
        header.u8("size of a sector")?,
        header.u8("size of a block")?,
    );
    for (at, field, number, known) in [
        (8, "size of a sector", sector, SECTORS),
        (9, "size of a block", shift, BLOCKS),
    ] {
        if !known.contains(&number) {
            return Err(Error::damaged(
                at,
                field,
                format!("is 2 to the power of {number}"),
            ));
        }
    }
    let discs = read_vec(&*source, HEADER, (1 << sector) - HEADER, "list of discs")?;
    let used = discs.iter().filter(|&&byte| byte != 0).count();
    let Some(first) = discs.iter().position(|&byte| byte != 0) else {
        return Err(Error::damaged(HEADER, "list of discs", "has no disc"));
    };
    let count = WII_DISC >> shift;
    let size = (DISC_HEADER + count * 2).next_multiple_of(1 << sector);
    let at = (1 << sector) + first as u64 * size;
    let disc = read_vec(&*source, at, DISC_HEADER + count * 2, "disc")?;
    let (start, numbers) = disc.split_at(DISC_HEADER as usize);
    let numbers = numbers
        .as_chunks()
        .0
        .iter()
        .copied()
        .map(u16::from_be_bytes);
    let mut numbers: Vec<u16> = numbers.collect();
    let blocks = numbers.iter().rposition(|&number| number != 0);
    numbers.truncate(blocks.map_or(0, |last| last + 1));
    numbers.shrink_to_fit();
    // The true length is not recorded.
    let stored = (numbers.len() as u64) << shift;
    let is_gamecube = start[GAMECUBE_AT..].starts_with(&GAMECUBE_MAGIC);
    let len = match is_gamecube {
        true => GAMECUBE_DISC.max(stored),
        false => stored,
    };
    let warnings = match used {
        1 => Vec::new(),
        count => vec![format!("has {count} discs, of which the first is shown")],
    };
    Ok(Box::new(Wbfs {
        source,
        len,
        shift,
        numbers,
        warnings,
    }))
}

impl BlockImage for Wbfs {
    fn len(&self) -> u64 {
        self.len
    }

    fn block_size(&self) -> u32 {
        PIECE
    }

    fn decode(&self, block: u64) -> Result<Vec<u8>> {
        let mut bytes = vec![0; block_length(self.len, PIECE, block)];
        let start = block * u64::from(PIECE);
        let number = self.numbers.get((start >> self.shift) as usize);
        let Some(&number @ 1..) = number else {
            return Ok(bytes);
        };
        let within = start & ((1 << self.shift) - 1);
        let offset = (u64::from(number) << self.shift) + within;
        // Writers cut the last block off at the end of the disc.
        let left = self.source.len().saturating_sub(offset);
        let length = left.min(bytes.len() as u64);
        if length == 0 {
            let problem = "extends past the end of the file";
            return Err(super::block_error(number.into(), offset, problem));
        }
        self.source
            .read_exact_at(&mut bytes[..length as usize], offset)
            .map_err(|cause| read_error(offset, length, cause))?;
        Ok(bytes)
    }

    fn memory(&self) -> usize {
        size_of::<Self>() + self.numbers.capacity() * size_of::<u16>()
    }

    fn warnings(&self) -> &[String] {
        &self.warnings
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns an image with sectors of 512 bytes and blocks of 32 KiB. These
    /// blocks of the disc follow the tables.
    fn image(discs: &[u8], present: &[(usize, u8)]) -> Vec<u8> {
        let mut bytes = [MAGIC, &[0, 0, 0, 0, 9, 15, 0, 0], discs].concat();
        bytes.resize(512 + 0x100, 0);
        bytes[512 + GAMECUBE_AT..][..4].copy_from_slice(&GAMECUBE_MAGIC);
        let blocks = (WII_DISC >> 15) as usize;
        let table = bytes.len();
        // The tables need 18 blocks.
        bytes.resize(table + 2 * blocks, 0);
        bytes.resize(18 << 15, 0);
        for (number, (block, byte)) in present.iter().enumerate() {
            let number = 18 + number as u16;
            bytes[table + 2 * block..][..2].copy_from_slice(&number.to_be_bytes());
            bytes.extend(vec![*byte; 1 << 15]);
        }
        bytes
    }

    #[test]
    fn absent_blocks_are_zeros_and_the_disc_has_its_usual_length() {
        let image = open(Arc::new(image(&[1], &[(0, 7), (3, 8)]))).unwrap();
        assert_eq!(image.len(), GAMECUBE_DISC);
        let firsts = (0..5).map(|block| image.decode(block).unwrap()[0x7FFF]);
        assert_eq!(firsts.collect::<Vec<_>>(), [7, 0, 0, 8, 0]);
        assert!(image.warnings().is_empty());
    }

    #[test]
    fn of_several_discs_the_first_one_is_shown_with_a_warning() {
        let image = open(Arc::new(image(&[1, 0, 1], &[(0, 7)]))).unwrap();
        assert_eq!(
            image.warnings(),
            ["has 2 discs, of which the first is shown"]
        );
    }

    #[test]
    fn tables_that_are_empty_or_cut_are_damaged() {
        let refused = |bytes: Vec<u8>| open(Arc::new(bytes)).is_err();
        assert!(refused(image(&[0], &[])));
        let whole = image(&[1], &[(0, 7)]);
        assert!(refused(whole[..1000].to_vec()));
        for (at, byte) in [(8, 40), (9, 2), (9, 60)] {
            let mut bytes = whole.clone();
            bytes[at] = byte;
            assert!(refused(bytes), "{at}: {byte}");
        }
        let mut far = whole.clone();
        far[512 + 0x100..][..2].copy_from_slice(&[0xFF, 0xFF]);
        assert!(open(Arc::new(far)).unwrap().decode(0).is_err());
    }
}
