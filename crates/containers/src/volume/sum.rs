//! Checksums of assets that their volumes record.

use std::io::{self, Write};

use crc::{Crc, Digest, Table};

use crate::io::check_sum;

/// The checksum that an archive records of an asset, and the checksum of the bytes
/// of the asset so far.
pub struct RecordedSum {
    recorded: u32,
    found: Digest<'static, u32, Table<16>>,
}

impl RecordedSum {
    /// Begins to compare an asset with its recorded checksum, of this kind.
    pub(crate) fn new(recorded: u32, kind: &'static Crc<u32, Table<16>>) -> Self {
        Self {
            recorded,
            found: kind.digest(),
        }
    }

    /// Adds the next bytes of the asset.
    pub fn update(&mut self, bytes: &[u8]) {
        self.found.update(bytes);
    }

    /// Returns how the checksum of the asset differs from the recorded one, after its
    /// last byte.
    pub fn mismatch(self) -> Option<String> {
        check_sum("checksum", self.found.finalize(), self.recorded).err()
    }
}

impl Write for RecordedSum {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hip::CHECKSUM;

    #[test]
    fn a_wrong_sum_is_named_after_that_of_the_bytes() {
        let with = |recorded: u32| {
            let mut sum = RecordedSum::new(recorded, &CHECKSUM);
            sum.update(b"1234");
            sum.update(b"56789");
            sum.mismatch()
        };
        assert_eq!(with(0x0376_E6E7), None);
        let problem = "checksum is 0376e6e7, should be 12345678";
        assert_eq!(with(0x1234_5678).as_deref(), Some(problem));
    }
}
