//! The bytes of records.

use hpimount_containers::io::Endian;

/// Bytes that records are written to.
#[derive(Debug)]
pub struct Writer {
    /// The bytes so far.
    pub bytes: Vec<u8>,
    /// The byte order of numbers.
    pub endian: Endian,
}

impl Writer {
    /// Creates a writer without bytes.
    pub fn new(endian: Endian) -> Self {
        Self {
            bytes: Vec::new(),
            endian,
        }
    }

    /// Appends bytes as they are.
    pub fn put(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Appends a number, given as little-endian bytes.
    pub fn number<const N: usize>(&mut self, mut little: [u8; N]) {
        if self.endian == Endian::Big {
            little.reverse();
        }
        self.put(&little);
    }
}
