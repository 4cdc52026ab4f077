//! Names of files that are stored as hashes (FORMATS, HED/WAD 3).

use std::collections::HashMap;
use std::sync::LazyLock;

/// Number of bytes that determine a file's extension.
pub(super) const HEAD: u64 = 4;

/// Known names of files in WADs, one per line.
const LIST: &str = include_str!("names.txt");

/// The known names by hash.
static NAMES: LazyLock<HashMap<u32, &str>> =
    LazyLock::new(|| LIST.lines().map(|name| (hash(name), name)).collect());

/// First bytes of file types, and their extensions.
const EXTENSIONS: [([u8; 4], &str); 6] = [
    ([3, 0, 2, 0], "psx"),
    ([4, 0, 2, 0], "psx"),
    ([6, 0, 2, 0], "psx"),
    (*b"pBAV", "vab"),
    (*b"VAGp", "vag"),
    ([0x60, 0x01, 0x01, 0x80], "str"),
];

/// Returns the name with this hash, if known.
pub(super) fn find(hash: u32) -> Option<&'static str> {
    NAMES.get(&hash).copied()
}

/// Returns the extension for a file with these first bytes.
pub(super) fn extension(head: &[u8]) -> &'static str {
    let known = EXTENSIONS.iter().find(|(magic, _)| head == magic);
    known.map_or("bin", |(_, extension)| extension)
}

/// Returns the hash of a lower-case name: a CRC-32 with a register that is
/// rotated instead of shifted, eight times for each byte.
pub(super) fn hash(name: &str) -> u32 {
    name.bytes().fold(u32::MAX, |register, byte| {
        let mut bits = (register ^ u32::from(byte)) & 0xFF;
        (0..8).fold(register, |register, _| {
            let turned = register.rotate_left(1);
            let odd = bits & 1 != 0;
            bits >>= 1;
            if odd { turned ^ 0xEDB8_8320 } else { turned }
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_match_the_games() {
        for (name, value) in [
            ("bits.psx", 0x31A1_EA54),
            ("b1.vab", 0x7B88_F05C),
            ("barrel.psx", 0x2B5F_66FC),
            ("carsel.pre", 0xBC01_B1DE),
            ("bullring.sfx", 0x5728_C790),
        ] {
            assert_eq!(hash(name), value, "{name}");
            assert_eq!(find(value), Some(name));
        }
        assert_eq!(find(0), None);
    }

    #[test]
    fn the_list_is_sorted_in_lower_case_and_without_collisions() {
        assert!(LIST.lines().is_sorted());
        assert!(LIST.lines().all(|name| name == name.to_ascii_lowercase()));
        assert_eq!(NAMES.len(), LIST.lines().count());
    }

    #[test]
    fn unknown_files_are_named_by_their_first_bytes() {
        assert_eq!(extension(&[6, 0, 2, 0]), "psx");
        assert_eq!(extension(b"pBAV"), "vab");
        assert_eq!(extension(b""), "bin");
    }
}
