//! The checksums of a disc image.

/// The checksums of an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Sums {
    pub(super) crc32: u32,
    pub(super) md5: [u8; 16],
    pub(super) sha1: [u8; 20],
}

impl Sums {
    /// Returns the CRC-32 in hexadecimal digits.
    pub(super) fn crc32(&self) -> String {
        format!("{:08x}", self.crc32)
    }

    /// Returns the MD5 in hexadecimal digits.
    pub(super) fn md5(&self) -> String {
        hex::encode(self.md5)
    }

    /// Returns the SHA-1 in hexadecimal digits.
    pub(super) fn sha1(&self) -> String {
        hex::encode(self.sha1)
    }
}
