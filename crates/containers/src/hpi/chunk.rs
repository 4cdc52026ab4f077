//! SQSH chunks: the unit of packing in both versions (FORMATS, HPI 5).

use zerocopy::little_endian::U32;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// Decoded length of every chunk of a version 1 file except for the last.
pub const CHUNK_SIZE: usize = 65536;

/// `SQSH`, the first four bytes of a chunk.
pub const MARKER: [u8; 4] = *b"SQSH";

/// The 19 bytes before a chunk's payload. All numbers are little-endian.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct ChunkHeader {
    /// [`MARKER`].
    pub marker: [u8; 4],
    /// 2 in every known archive; ignored by the games.
    pub version: u8,
    /// Packing method of the payload: see [`Method`].
    pub method: u8,
    /// Not 0: the payload is scrambled by [`scramble`].
    pub scrambled: u8,
    /// Length of the payload in bytes.
    pub compressed_size: U32,
    /// Decoded length in bytes.
    pub decompressed_size: U32,
    /// [`checksum`] of the payload as stored, scrambled.
    pub checksum: U32,
}

/// The packing method of a payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Uncompressed.
    Stored,
    /// The games' own LZ77.
    Lz77,
    /// RFC 1950.
    Zlib,
}

impl Method {
    /// Returns the method with this number in a chunk header.
    pub fn from_number(number: u8) -> Option<Self> {
        match number {
            0 => Some(Self::Stored),
            1 => Some(Self::Lz77),
            2 => Some(Self::Zlib),
            _ => None,
        }
    }

    /// Returns the number for a chunk header or a version 1 file record.
    pub fn number(self) -> u8 {
        match self {
            Self::Stored => 0,
            Self::Lz77 => 1,
            Self::Zlib => 2,
        }
    }

    /// Returns the name for users.
    pub fn name(self) -> &'static str {
        match self {
            Self::Stored => "stored",
            Self::Lz77 => "lz77",
            Self::Zlib => "zlib",
        }
    }
}

/// Returns the sum of the bytes of a payload, modulo 2^32.
pub fn checksum(payload: &[u8]) -> u32 {
    // Sums of 16 bits, of as many bytes as cannot overflow them: the compiler
    // vectorizes them into half as many instructions as sums of 32 bits.
    const LANES: usize = 16;
    const ROWS: usize = u16::MAX as usize / u8::MAX as usize;
    let mut sum = 0_u32;
    for part in payload.chunks(ROWS * LANES) {
        let (rows, rest) = part.as_chunks::<LANES>();
        let mut lanes = [0_u16; LANES];
        for row in rows {
            for (lane, &byte) in lanes.iter_mut().zip(row) {
                *lane += u16::from(byte);
            }
        }
        let rest = rest.iter().copied().map(u32::from);
        let sums = lanes.into_iter().map(u32::from).chain(rest);
        sum = sums.fold(sum, u32::wrapping_add);
    }
    sum
}

/// Scrambles the bytes of a payload that begin at `position` in it.
pub fn scramble(position: u64, bytes: &mut [u8]) {
    let mut index = position as u8;
    for byte in bytes {
        *byte = (*byte ^ index).wrapping_add(index);
        index = index.wrapping_add(1);
    }
}

/// Undoes [`scramble`].
pub fn unscramble(position: u64, bytes: &mut [u8]) {
    let mut index = position as u8;
    for byte in bytes {
        *byte = byte.wrapping_sub(index) ^ index;
        index = index.wrapping_add(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_is_nineteen_bytes() {
        assert_eq!(size_of::<ChunkHeader>(), 19);
    }

    #[test]
    fn the_checksum_is_the_sum_of_all_bytes() {
        for length in [0, 1, 15, 16, 17, 4111, 4112, 4113, 20_000] {
            let bytes = vec![0xFF; length];
            assert_eq!(checksum(&bytes), 0xFF * length as u32, "{length}");
            let counted: Vec<u8> = (0..length).map(|number| number as u8).collect();
            let sum = counted.iter().map(|&byte| u32::from(byte)).sum::<u32>();
            assert_eq!(checksum(&counted), sum, "{length}");
        }
    }

    #[test]
    fn unscramble_undoes_scramble_from_any_position() {
        let plain: Vec<u8> = (0..=250).cycle().take(700).collect();
        let mut bytes = plain.clone();
        scramble(0, &mut bytes);
        assert_ne!(bytes, plain);
        unscramble(0, &mut bytes[..300]);
        unscramble(300, &mut bytes[300..]);
        assert_eq!(bytes, plain);
    }
}
