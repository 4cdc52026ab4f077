//! The hash that scripts store in place of a name.

use crc32fast::Hasher;

/// Returns the hash of a name: CRC-32 without the final inversion, of the name in lower
/// case with backslashes.
pub fn hash(name: &[u8]) -> u32 {
    let same = |byte: &u8| match byte {
        b'/' => b'\\',
        byte => byte.to_ascii_lowercase(),
    };
    let mut hasher = Hasher::new();
    hasher.update(&name.iter().map(same).collect::<Vec<_>>());
    !hasher.finalize()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_ignores_case_and_the_kind_of_slash() {
        assert_eq!(hash(b""), 0xFFFF_FFFF);
        assert_eq!(hash(b"Levels/X.qb"), hash(b"levels\\x.QB"));
        assert_ne!(hash(b"a"), hash(b"b"));
    }
}
