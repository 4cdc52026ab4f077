//! Descriptors: the tag at the start of each, with its checksum and the CRC of
//! what follows.

use crc::{CRC_16_XMODEM, Crc, Table};

use crate::io::{Error, Result, check_sum};

/// Length of a tag in bytes.
pub(super) const TAG: usize = 16;

/// Tag identifiers.
pub(super) const ANCHOR: u16 = 2;
pub(super) const POINTER: u16 = 3;
pub(super) const PARTITION: u16 = 5;
pub(super) const LOGICAL_VOLUME: u16 = 6;
pub(super) const TERMINATOR: u16 = 8;
pub(super) const FILE_SET: u16 = 256;
pub(super) const FILE_IDENTIFIER: u16 = 257;
pub(super) const ALLOCATION_EXTENT: u16 = 258;
pub(super) const INDIRECT: u16 = 259;
pub(super) const FILE: u16 = 261;
pub(super) const EXTENDED_FILE: u16 = 266;

const CRC: Crc<u16, Table<16>> = Crc::<u16, Table<16>>::new(&CRC_16_XMODEM);

/// A descriptor with the rest of its block, or a part of a directory.
pub(super) struct Descriptor<'a> {
    pub(super) id: u16,
    /// Number of the block that it is in, according to its tag.
    pub(super) location: u32,
    bytes: &'a [u8],
}

impl<'a> Descriptor<'a> {
    /// Parses the descriptor at the start of `bytes`.
    ///
    /// # Errors
    /// Returns a message if its tag does not match its checksum or its bytes.
    pub(super) fn parse(bytes: &'a [u8]) -> std::result::Result<Self, String> {
        let descriptor = Self::unchecked(bytes);
        let tag = bytes.first_chunk::<TAG>().ok_or("has no tag")?;
        // The checksum is not part of itself.
        let others = tag[..4].iter().chain(&tag[5..]);
        let sum = others.fold(0_u8, |sum, byte| sum.wrapping_add(*byte));
        check_sum("checksum of its tag", sum, tag[4])?;
        if descriptor.id == 0 {
            return Err("has no tag".to_owned());
        }
        let (stored, length) = (descriptor.u16(8), usize::from(descriptor.u16(10)));
        let covered = bytes.get(TAG..TAG + length);
        let covered = covered.ok_or_else(|| format!("has {length} bytes, past its end"))?;
        check_sum("CRC", CRC.checksum(covered), stored)?;
        Ok(descriptor)
    }

    /// Returns the bytes as a descriptor without checking them.
    pub(super) fn unchecked(bytes: &'a [u8]) -> Self {
        let mut descriptor = Self {
            id: 0,
            location: 0,
            bytes,
        };
        descriptor.id = descriptor.u16(0);
        descriptor.location = descriptor.u32(12);
        descriptor
    }

    /// Returns the bytes from `at` on; fewer at the end, and zeros are added if
    /// there are not enough.
    pub(super) fn field<const N: usize>(&self, at: usize) -> [u8; N] {
        let found = self.bytes.get(at..).and_then(|bytes| bytes.first_chunk());
        found.copied().unwrap_or([0; N])
    }

    pub(super) fn u16(&self, at: usize) -> u16 {
        u16::from_le_bytes(self.field(at))
    }

    pub(super) fn u32(&self, at: usize) -> u32 {
        u32::from_le_bytes(self.field(at))
    }

    pub(super) fn u64(&self, at: usize) -> u64 {
        u64::from_le_bytes(self.field(at))
    }

    /// Returns `length` bytes from `at` on; `None` if there are not as many.
    pub(super) fn bytes(&self, at: usize, length: usize) -> Option<&'a [u8]> {
        self.bytes.get(at..at.checked_add(length)?)
    }
}

/// Parses the descriptor of a block at `offset`, which must be one of `wanted`.
///
/// # Errors
/// Returns an error with the name `field` if it is another one, or damaged.
pub(super) fn expect<'a>(
    bytes: &'a [u8],
    offset: u64,
    wanted: &[u16],
    field: &'static str,
) -> Result<Descriptor<'a>> {
    let damaged = |problem| Error::damaged(offset, field, problem);
    let descriptor = Descriptor::parse(bytes).map_err(damaged)?;
    match wanted.contains(&descriptor.id) {
        true => Ok(descriptor),
        false => Err(damaged(format!("is a descriptor {}", descriptor.id))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A descriptor of 20 bytes.
    fn descriptor() -> Vec<u8> {
        let mut bytes = vec![2, 0, 2, 0, 0, 0, 0, 0, 0, 0, 4, 0, 7, 0, 0, 0];
        bytes.extend(*b"body");
        let crc = CRC.checksum(b"body").to_le_bytes();
        bytes[8..10].copy_from_slice(&crc);
        bytes[4] = bytes[..16]
            .iter()
            .fold(0, |sum, byte| sum.wrapping_add(*byte));
        bytes
    }

    #[test]
    fn the_tag_and_the_bytes_after_it_are_checked() {
        let bytes = descriptor();
        let found = Descriptor::parse(&bytes).unwrap();
        assert_eq!((found.id, found.location), (ANCHOR, 7));
        assert_eq!(found.u32(TAG), u32::from_le_bytes(*b"body"));
        assert_eq!(found.u32(TAG + 1), 0);
        let of_damaged = |at: usize, by: u8| {
            let mut bytes = bytes.clone();
            bytes[at] ^= by;
            Descriptor::parse(&bytes).err().unwrap()
        };
        // The number of its block is 0 instead of 7.
        let (sum, crc) = (bytes[4], CRC.checksum(b"body"));
        let problem = format!("is {:02x}, should be {sum:02x}", sum.wrapping_sub(7));
        assert_eq!(of_damaged(12, 7), format!("checksum of its tag {problem}"));
        let problem = format!("is {:04x}, should be {crc:04x}", CRC.checksum(b"bndy"));
        assert_eq!(of_damaged(17, 1), format!("CRC {problem}"));
        assert!(Descriptor::parse(&bytes[..18]).is_err());
        assert!(Descriptor::parse(&[0; 512]).is_err());
    }
}
