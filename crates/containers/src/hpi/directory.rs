//! The positions of a directory's records.

use super::TRAILER;
use super::record::Header2;
use crate::io::ReadAt;

/// The directory of an archive.
pub(super) struct Directory {
    /// The position of each file's record: its absolute offset, or in version 2
    /// its offset in the decoded directory block.
    pub(super) records: Vec<u32>,
    /// Absolute offset of the line at the end, or of the end of the source.
    pub(super) end: u64,
    /// The version, with the fields that only it has.
    pub(super) version: Version,
}

/// The version of an archive, with the fields that only it has.
pub(super) enum Version {
    /// Of Total Annihilation.
    One {
        /// Absolute offset of the end of the directory.
        end: u64,
    },
    /// Of Kingdoms.
    Two {
        /// The header of the archive.
        header: Header2,
        /// True if its directory is packed.
        is_packed: bool,
    },
}

impl Directory {
    /// Creates the directory of an archive with or without the line at the end.
    pub(super) fn new(
        source: &dyn ReadAt,
        has_trailer: bool,
        records: Vec<u32>,
        version: Version,
    ) -> Self {
        let trailer = if has_trailer { TRAILER.len() } else { 0 };
        Self {
            records,
            end: source.len() - trailer as u64,
            version,
        }
    }
}
