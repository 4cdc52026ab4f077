//! The hash that turns names into ids, and the checksum of an asset's data
//! (FORMATS, HIP 8).

use crc::{CRC_32_MPEG_2, Crc, Table};

/// The checksum of ADBG, over the asset's bytes without padding: polynomial
/// 04C11DB7, initial value FFFFFFFF, not reflected, no final exclusive or.
pub static CHECKSUM: Crc<u32, Table<16>> = Crc::<u32, Table<16>>::new(&CRC_32_MPEG_2);

/// Returns the id for a name: `hash * 131 + byte`, modulo 2^32.
///
/// First 0x20 is subtracted from each byte with both bits of 0x60. That folds a
/// to z, and also `` ` { | } ~ `` DEL and the bytes from 0xE0 on.
pub const fn asset_id(name: &[u8]) -> u32 {
    let mut hash: u32 = 0;
    let mut index = 0;
    while index < name.len() {
        let byte = name[index];
        let folded = if byte & 0x60 == 0x60 {
            byte - 0x20
        } else {
            byte
        };
        hash = hash.wrapping_mul(131).wrapping_add(folded as u32);
        index += 1;
    }
    hash
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_match_real_assets() {
        let known: &[(&[u8], u32)] = &[
            (b"", 0),
            (b"a", 0x41),
            (b"SPONGEBOB", 0xBD70_97E3),
            (b"TIMER_01", 0x2164_1EA7),
            (b"sand_jfflds.RW3", 0xE348_8274),
            (b"LD ACCESS HARD DISK? TXT", 0x8D33_573D),
            // Folds `{` as well, which plain upper case does not.
            (b"{sound:sbhb01024;speaker", 0x37C3_ED46),
            (b"a`{|}~z", 0x0C38_AC11),
            (&[b'x'; 40], 0xE0F0_5580),
        ];
        for (name, id) in known {
            assert_eq!(asset_id(name), *id, "{name:?}");
        }
    }

    #[test]
    fn the_checksum_is_crc_32_mpeg_2() {
        assert_eq!(CHECKSUM.checksum(b"123456789"), 0x0376_E6E7);
        assert_eq!(CHECKSUM.checksum(b""), 0xFFFF_FFFF);
        assert_eq!(CHECKSUM.checksum(&[0]), 0x4E08_BFB4);
    }
}
