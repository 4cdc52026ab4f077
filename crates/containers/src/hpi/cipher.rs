//! The archive cipher of version 1: every byte is combined with its offset in
//! the file and a key (FORMATS, HPI 2).

use std::sync::Arc;

use crate::io::ReadAt;

/// The cipher of one archive. It is its own inverse.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cipher(Option<u8>);

impl Cipher {
    /// The cipher that leaves bytes unchanged.
    pub const PLAIN: Self = Self(None);

    /// Returns the cipher for byte 12 of the header; 0 means that the archive
    /// is not enciphered. The games ignore the other three bytes of the key
    /// field.
    pub fn from_header(key: u8) -> Self {
        Self((key != 0).then_some(key.rotate_left(2)))
    }

    /// Returns whether bytes are unchanged.
    pub fn is_plain(self) -> bool {
        self.0.is_none()
    }

    /// Enciphers or deciphers `bytes`, which begin at the absolute offset
    /// `offset` in the archive.
    pub fn apply(self, offset: u64, bytes: &mut [u8]) {
        let Some(key) = self.0 else { return };
        // With a wrapping counter of 8 bits, the compiler vectorizes the loop.
        let mut position = offset as u8;
        for byte in bytes {
            *byte ^= key ^ position;
            position = position.wrapping_add(1);
        }
    }
}

/// A source whose data is deciphered on the fly.
struct Deciphered {
    source: Arc<dyn ReadAt>,
    cipher: Cipher,
}

impl ReadAt for Deciphered {
    fn len(&self) -> u64 {
        self.source.len()
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> std::io::Result<()> {
        self.source.read_exact_at(buf, offset)?;
        self.cipher.apply(offset, buf);
        Ok(())
    }
}

/// Returns the deciphered contents of a source.
pub(super) fn deciphered(source: &Arc<dyn ReadAt>, cipher: Cipher) -> Arc<dyn ReadAt> {
    if cipher.is_plain() {
        return source.clone();
    }
    Arc::new(Deciphered {
        source: source.clone(),
        cipher,
    })
}

/// A source that is enciphered for its place in an archive.
struct Enciphered {
    source: Arc<dyn ReadAt>,
    cipher: Cipher,
    /// Absolute offset in the archive of its first byte.
    start: u64,
}

impl ReadAt for Enciphered {
    fn len(&self) -> u64 {
        self.source.len()
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> std::io::Result<()> {
        self.source.read_exact_at(buf, offset)?;
        self.cipher.apply(self.start + offset, buf);
        Ok(())
    }
}

/// Returns a source enciphered for the absolute offset `start`.
pub(super) fn enciphered_at(
    source: &Arc<dyn ReadAt>,
    cipher: Cipher,
    start: u64,
) -> Arc<dyn ReadAt> {
    if cipher.is_plain() {
        return source.clone();
    }
    Arc::new(Enciphered {
        source: source.clone(),
        cipher,
        start,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_is_combined_with_its_offset_and_the_rotated_key() {
        let mut bytes = [0, 0, 0];
        Cipher::from_header(0xBF).apply(0x1FF, &mut bytes);
        assert_eq!(bytes, [0xFE ^ 0xFF, 0xFE, 0xFE ^ 0x01]);
    }

    #[test]
    fn the_cipher_is_its_own_inverse_and_key_zero_is_none() {
        for key in [0, 1, 0x7D, 0xBF, 0xFF] {
            let cipher = Cipher::from_header(key);
            let mut bytes = *b"some bytes";
            cipher.apply(77, &mut bytes);
            assert_eq!(cipher.is_plain(), &bytes == b"some bytes");
            cipher.apply(77, &mut bytes);
            assert_eq!(&bytes, b"some bytes");
        }
    }
}
