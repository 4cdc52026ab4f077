//! PBP, packages of the PlayStation Portable (little-endian), with a disc of the
//! PlayStation: raw sectors in blocks of 16, deflated or raw.

use std::sync::Arc;

use super::{BlockImage, ImageFormat, block_error, starts_with};
use crate::codec::{Wrapping, inflate};
use crate::io::{Cursor, Endian, Error, ReadAt, Result, read_vec};

/// The format of packages with a disc.
pub(super) const FORMAT: ImageFormat = ImageFormat {
    name: "PBP",
    extensions: &["pbp"],
    types: &[],
    matches: |source| Ok(package(source)?.is_some()),
    open,
};

/// First bytes of a package.
const MAGIC: &[u8] = b"\0PBP";

/// Position of the offset of the data in the package.
const DATA: u64 = 0x24;

/// First bytes of the data of one disc, and of several.
const DISC: &[u8] = b"PSISOIMG0000";
const DISCS: &[u8] = b"PSTITLEIMG000000";

/// Position in the data of the offsets of several discs.
const POSITIONS: u64 = 0x200;
const MAX_DISCS: u64 = 5;

/// Positions in the data of a disc: the number of the game or the start of
/// the encrypted part, the index, and the blocks.
const NUMBER: u64 = 0x400;
const INDEX: u64 = 0x4000;
const BLOCKS: u64 = 0x10_0000;

/// First bytes of encrypted data.
const ENCRYPTED: &[u8] = b"\0PGD";

/// Length of an entry of the index in bytes.
const ENTRY: usize = 32;

/// Length of a block in bytes: 16 sectors.
const BLOCK: u32 = 16 * 2352;

/// The offset of a package's data, and whether it has several discs.
struct Package {
    data: u64,
    has_several: bool,
}

struct Pbp {
    source: Arc<dyn ReadAt>,
    /// Absolute offset of the first block.
    blocks: u64,
    /// Offset and length of each block.
    index: Vec<(u32, u16)>,
    warnings: Vec<String>,
}

/// Returns where the disc of a package is; `None` if a source is no package.
fn package(source: &dyn ReadAt) -> Result<Option<Package>> {
    if !starts_with(source, MAGIC)? || source.len() < DATA + 4 {
        return Ok(None);
    }
    let data = u64::from(word(source, DATA)?);
    let length = source.len().saturating_sub(data).min(DISCS.len() as u64);
    let magic = read_vec(source, data.min(source.len()), length, "magic")?;
    let has_several = magic.starts_with(DISCS);
    let has_disc = has_several || magic.starts_with(DISC);
    Ok(has_disc.then_some(Package { data, has_several }))
}

fn word(source: &dyn ReadAt, offset: u64) -> Result<u32> {
    let bytes = read_vec(source, offset, 4, "offset")?;
    Cursor::new(&bytes, offset, Endian::Little).u32("offset")
}

fn open(source: Arc<dyn ReadAt>) -> Result<Box<dyn BlockImage>> {
    let package = package(&*source)?.ok_or(Error::UnknownFormat)?;
    let mut warnings = Vec::new();
    let disc = match package.has_several {
        true => first_disc(&*source, package.data, &mut warnings)?,
        false => package.data,
    };
    let start = |offset: u64, length: usize| read_vec(&*source, offset, length as u64, "disc");
    if start(disc, DISC.len())? != DISC {
        return Err(Error::damaged(
            disc,
            "disc",
            "does not begin with its magic",
        ));
    }
    if start(disc + NUMBER, ENCRYPTED.len())? == ENCRYPTED {
        let text = "is an encrypted disc of a PlayStation game, which is not supported";
        return Err(Error::Unsupported(text.into()));
    }
    let length = source.len().saturating_sub(disc + INDEX);
    let length = length.min(BLOCKS - INDEX);
    let bytes = read_vec(&*source, disc + INDEX, length, "index")?;
    let entries = bytes.as_chunks::<ENTRY>().0.iter();
    let entries = entries.map(|entry| {
        let [a, b, c, d, low, high, ..] = *entry;
        (
            u32::from_le_bytes([a, b, c, d]),
            u16::from_le_bytes([low, high]),
        )
    });
    let mut index: Vec<_> = entries.take_while(|&(_, length)| length > 0).collect();
    if index.is_empty() {
        return Err(Error::damaged(disc + INDEX, "index", "has no blocks"));
    }
    index.shrink_to_fit();
    Ok(Box::new(Pbp {
        blocks: disc + BLOCKS,
        index,
        warnings,
        source,
    }))
}

/// Returns the absolute offset of the first of several discs.
fn first_disc(source: &dyn ReadAt, data: u64, warnings: &mut Vec<String>) -> Result<u64> {
    let at = data + POSITIONS;
    let bytes = read_vec(source, at, MAX_DISCS * 4, "discs")?;
    let mut list = Cursor::new(&bytes, at, Endian::Little);
    let mut discs = Vec::new();
    for _ in 0..MAX_DISCS {
        discs.push(list.u32("disc")?);
    }
    discs.retain(|&disc| disc > 0);
    if discs.len() > 1 {
        warnings.push(format!("has {} discs, the first is shown", discs.len()));
    }
    let first = discs.first();
    let first = first.ok_or_else(|| Error::damaged(at, "discs", "are not there"))?;
    Ok(data + u64::from(*first))
}

impl BlockImage for Pbp {
    fn len(&self) -> u64 {
        self.index.len() as u64 * u64::from(BLOCK)
    }

    fn block_size(&self) -> u32 {
        BLOCK
    }

    fn decode(&self, block: u64) -> Result<Vec<u8>> {
        let entry = usize::try_from(block).ok();
        let Some(&(offset, length)) = entry.and_then(|entry| self.index.get(entry)) else {
            return Err(block_error(block, self.blocks, "is not in the index"));
        };
        let offset = self.blocks + u64::from(offset);
        let bytes = read_vec(&*self.source, offset, length.into(), "block")?;
        if u32::from(length) == BLOCK {
            return Ok(bytes);
        }
        let mut out = vec![0; BLOCK as usize];
        // Some programs write a header of zlib.
        let decoded = inflate(&bytes, &mut out, Wrapping::None)
            .or_else(|problem| inflate(&bytes, &mut out, Wrapping::Zlib).map_err(|_| problem))
            .map_err(|problem| block_error(block, offset, problem))?;
        if decoded < out.len() {
            let problem = format!("decodes to {decoded} bytes instead of {BLOCK}");
            return Err(block_error(block, offset, problem));
        }
        Ok(out)
    }

    fn memory(&self) -> usize {
        size_of::<Self>() + self.index.capacity() * size_of::<(u32, u16)>()
    }

    fn warnings(&self) -> &[String] {
        &self.warnings
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use libdeflater::{CompressionLvl, Compressor};

    fn deflated(bytes: &[u8], has_header: bool) -> Vec<u8> {
        let mut packed = vec![0; bytes.len()];
        let mut compressor = Compressor::new(CompressionLvl::default());
        let length = match has_header {
            true => compressor.zlib_compress(bytes, &mut packed),
            false => compressor.deflate_compress(bytes, &mut packed),
        };
        packed.truncate(length.unwrap());
        packed
    }

    /// Returns the data of a disc with these blocks.
    fn disc(blocks: &[Vec<u8>]) -> Vec<u8> {
        let mut disc = DISC.to_vec();
        disc.resize(INDEX as usize, 0);
        let mut at = 0_u32;
        for block in blocks {
            disc.extend(at.to_le_bytes());
            disc.extend((block.len() as u16).to_le_bytes());
            disc.resize(disc.len() + ENTRY - 6, 0);
            at += block.len() as u32;
        }
        disc.resize(BLOCKS as usize, 0);
        disc.extend(blocks.concat());
        disc
    }

    /// Returns a package with this data.
    fn package_of(data: &[u8]) -> Vec<u8> {
        let mut package = MAGIC.to_vec();
        package.resize(DATA as usize, 0);
        package.extend(0x28_u32.to_le_bytes());
        package.extend(data);
        package
    }

    fn block(byte: u8) -> Vec<u8> {
        vec![byte; BLOCK as usize]
    }

    #[test]
    fn blocks_are_deflated_or_raw() {
        let packed = [
            deflated(&block(1), false),
            block(2),
            deflated(&block(3), true),
        ];
        let bytes = package_of(&disc(&packed));
        assert!((FORMAT.matches)(&bytes).unwrap());
        let image = (FORMAT.open)(Arc::new(bytes)).unwrap();
        assert_eq!(image.len(), 3 * u64::from(BLOCK));
        for number in 0..3 {
            assert_eq!(image.decode(number).unwrap(), block(number as u8 + 1));
        }
        assert!(image.decode(3).is_err());
    }

    #[test]
    fn the_first_of_several_discs_is_shown_with_a_warning() {
        let mut data = DISCS.to_vec();
        data.resize(POSITIONS as usize, 0);
        let discs = [block(1), block(2)].map(|block| disc(&[block]));
        let second = 0x300 + discs[0].len() as u32;
        data.extend([0x300, second, 0, 0, 0].map(u32::to_le_bytes).concat());
        data.resize(0x300, 0);
        data.extend(discs.concat());
        let image = (FORMAT.open)(Arc::new(package_of(&data))).unwrap();
        assert_eq!(image.decode(0).unwrap(), block(1));
        assert_eq!(image.warnings(), ["has 2 discs, the first is shown"]);
    }

    #[test]
    fn packages_without_a_disc_that_can_be_read_are_refused() {
        let error = |data: &[u8]| match (FORMAT.open)(Arc::new(package_of(data))) {
            Ok(_) => panic!("is opened"),
            Err(error) => error.to_string(),
        };
        let program = package_of(b"\x7FELF and more");
        assert!(!(FORMAT.matches)(&program).unwrap());
        assert!(!(FORMAT.matches)(&MAGIC.to_vec()).unwrap());
        let mut encrypted = disc(&[block(1)]);
        encrypted[NUMBER as usize..][..4].copy_from_slice(ENCRYPTED);
        assert!(error(&encrypted).contains("encrypted"));
        assert!(error(&disc(&[])).contains("no blocks"));
        assert!((FORMAT.open)(Arc::new(package_of(DISC))).is_err(), "cut");
        let mut none = DISCS.to_vec();
        none.resize(0x300, 0);
        assert!(error(&none).contains("are not there"));
        let noise = package_of(&disc(&[vec![0xFF; 100]]));
        assert!((FORMAT.open)(Arc::new(noise)).unwrap().decode(0).is_err());
    }
}
