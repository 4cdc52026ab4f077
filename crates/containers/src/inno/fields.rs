//! Reading the fields of a decoded block.

use encoding_rs::{Encoding, UTF_16LE, WINDOWS_1252};

use super::version::Version;
use crate::io::{Cursor, Endian, Error, Result};

/// The fields of a block.
pub(super) struct Fields<'a> {
    cursor: Cursor<'a>,
    version: Version,
    /// The character set of strings, unless they are UTF-16.
    encoding: &'static Encoding,
}

impl<'a> Fields<'a> {
    /// Begins to read a block; offsets in errors are relative to it.
    pub(super) fn new(bytes: &'a [u8], version: Version) -> Self {
        Self {
            cursor: Cursor::new(bytes, 0, Endian::Little),
            version,
            encoding: WINDOWS_1252,
        }
    }

    /// Sets the character set of the strings that are not UTF-16.
    pub(super) fn set_encoding(&mut self, encoding: &'static Encoding) {
        self.encoding = encoding;
    }

    pub(super) fn version(&self) -> Version {
        self.version
    }

    pub(super) fn cursor(&mut self) -> &mut Cursor<'a> {
        &mut self.cursor
    }

    pub(super) fn u8(&mut self, field: &'static str) -> Result<u8> {
        self.cursor.u8(field)
    }

    pub(super) fn u32(&mut self, field: &'static str) -> Result<u32> {
        self.cursor.u32(field)
    }

    pub(super) fn u64(&mut self, field: &'static str) -> Result<u64> {
        self.cursor.u64(field)
    }

    /// Reads a byte that is at most `largest`. Other values show that the header has
    /// another layout.
    pub(super) fn choice(&mut self, largest: u8, field: &'static str) -> Result<u8> {
        let offset = self.cursor.offset();
        match self.u8(field)? {
            value if value <= largest => Ok(value),
            value => {
                let problem = format!("is {value}; at most {largest} is known");
                Err(Error::damaged(offset, field, problem))
            }
        }
    }

    pub(super) fn skip(&mut self, length: usize, field: &'static str) -> Result<()> {
        self.cursor.take(length, field).map(drop)
    }

    /// Reads the bytes of a string.
    pub(super) fn bytes(&mut self, field: &'static str) -> Result<&'a [u8]> {
        let length = self.u32(field)?;
        self.cursor.take(length as usize, field)
    }

    pub(super) fn skip_strings(&mut self, count: usize, field: &'static str) -> Result<()> {
        (0..count).try_for_each(|_| self.bytes(field).map(drop))
    }

    /// Reads a string.
    pub(super) fn string(&mut self, field: &'static str) -> Result<String> {
        let bytes = self.bytes(field)?;
        Ok(self.text(bytes))
    }

    /// Returns the text of a string.
    pub(super) fn text(&self, bytes: &[u8]) -> String {
        let encoding = match self.version.is_unicode() {
            true => UTF_16LE,
            false => self.encoding,
        };
        encoding.decode_without_bom_handling(bytes).0.into_owned()
    }

    /// Reads a set of `count` flags, one bit each.
    pub(super) fn flags(&mut self, count: usize, field: &'static str) -> Result<u64> {
        let length = match count.div_ceil(8) {
            3 => 4,
            length => length,
        };
        let bytes = self.cursor.take(length, field)?;
        let flags = bytes.iter().rev();
        Ok(flags.fold(0, |flags, &byte| flags << 8 | u64::from(byte)))
    }

    /// Reads `count` entries.
    pub(super) fn entries<T>(
        &mut self,
        count: u32,
        field: &'static str,
        mut read: impl FnMut(&mut Self) -> Result<T>,
    ) -> Result<Vec<T>> {
        // Each has a string, or is longer.
        self.cursor.check_count(count.into(), 4, field)?;
        (0..count).map(|_| read(self)).collect()
    }
}
