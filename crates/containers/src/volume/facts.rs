//! Facts about the data of a file that need no decoding.

use crate::io::ReadAt;

/// Facts about the data of a file.
#[derive(Default)]
pub struct DataFacts<'a> {
    /// The CRC-32 of the decoded bytes, if reading them compares it.
    pub crc32: Option<u32>,
    /// The packed bytes, if the file is packed by itself.
    pub packed: Option<Packed<'a>>,
}

/// The packed bytes of a file. Files of the same size with the same method and
/// the same packed bytes have the same data, in whatever archives they are.
#[derive(Clone, Copy)]
pub struct Packed<'a> {
    /// The method: the name of a family of formats, and a number in it.
    pub method: (&'static str, u16),
    /// The source of the bytes, deciphered.
    pub source: &'a dyn ReadAt,
    /// Offset in it of the first byte.
    pub offset: u64,
    /// Number of packed bytes, including headers and tables of the file.
    pub length: u64,
}
