//! Names in asset formats: single-byte text, often in a field of fixed size and
//! terminated by a NUL.

use hpimount_containers::text::windows_1252;

/// Returns the text of `bytes` up to the first NUL, or all of it without a NUL.
///
/// The bytes are treated as Windows-1252, where every byte is a character.
pub fn until_nul(bytes: &[u8]) -> String {
    let end = nul(bytes).unwrap_or(bytes.len());
    windows_1252(&bytes[..end]).into_owned()
}

/// Returns the number of bytes after the first NUL that are not NUL: leftovers of the
/// tool that wrote the name, which games ignore.
pub fn junk_after_nul(bytes: &[u8]) -> usize {
    let tail = nul(bytes).map_or(&[][..], |end| &bytes[end..]);
    tail.iter().filter(|&&byte| byte != 0).count()
}

fn nul(bytes: &[u8]) -> Option<usize> {
    bytes.iter().position(|&byte| byte == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_ends_at_its_first_nul_and_later_bytes_are_counted() {
        let field = b"abseil\0\0=C:\0x";
        assert_eq!(until_nul(field), "abseil");
        assert_eq!(junk_after_nul(field), 4);
        assert_eq!(until_nul(b"full"), "full");
        assert_eq!(junk_after_nul(b"full"), 0);
    }

    #[test]
    fn every_byte_is_a_character() {
        assert_eq!(until_nul(b"caf\xe9 \x80"), "caf\u{e9} \u{20ac}");
        assert_eq!(until_nul(b"\xef\xbb\xbf"), "\u{ef}\u{bb}\u{bf}");
    }
}
