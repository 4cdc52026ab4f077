//! Checksums of assets that their volumes record.

use crc::{Crc, Digest, Table};

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
        let (recorded, found) = (self.recorded, self.found.finalize());
        let problem = || format!("checksum is {recorded:08X}, should be {found:08X}");
        (found != recorded).then(problem)
    }
}
