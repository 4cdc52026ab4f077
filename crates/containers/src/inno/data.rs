//! The entries of data: where the bytes of a file are.

use super::fields::Fields;
use super::sum::Checksum;
use crate::io::Result;
use crate::time;

/// The bytes of a file. File entries with equal contents share them.
#[derive(Debug)]
pub(super) struct DataEntry {
    /// Numbers of the slices with the first and the last byte of the chunk.
    pub(super) first_slice: u32,
    pub(super) last_slice: u32,
    /// Offset of the chunk in its slice, or in the data.
    pub(super) chunk: u64,
    /// Offset of the file in the decoded chunk, and its size there.
    pub(super) start: u64,
    pub(super) size: u64,
    /// Number of stored bytes of the chunk.
    pub(super) stored: u64,
    pub(super) checksum: Checksum,
    /// Modification time in seconds since 1970.
    pub(super) modified: Option<i64>,
    /// Version of a program; `None` for other files.
    pub(super) version: Option<u64>,
    /// True if the filter of programs was applied.
    pub(super) is_filtered: bool,
    pub(super) is_encrypted: bool,
    pub(super) is_compressed: bool,
}

impl DataEntry {
    pub(super) fn read(fields: &mut Fields<'_>) -> Result<Self> {
        let version = fields.version();
        let first_slice = fields.u32("first slice")?;
        let last_slice = fields.u32("last slice")?;
        let chunk = match version.since(6, 5, 2) {
            true => fields.u64("chunk offset")?,
            false => fields.u32("chunk offset")?.into(),
        };
        let start = fields.u64("file offset")?;
        let size = fields.u64("file size")?;
        let stored = fields.u64("chunk size")?;
        let length = match () {
            () if version.since(6, 4, 0) => 32,
            () if version.since(5, 3, 9) => 20,
            () => 16,
        };
        let checksum = Checksum(fields.cursor().take(length, "checksum")?.into());
        let modified = time::filetime(fields.u64("time")?);
        let high = u64::from(fields.u32("file version")?);
        let file_version = high << 32 | u64::from(fields.u32("file version")?);
        // From 6.4.3 on only the flags that are used here.
        let (count, [filtered, encrypted, compressed]) = match () {
            () if version.since(6, 4, 3) => (5, [2, 3, 4]),
            () if version.since(6, 3, 0) => (9, [4, 6, 7]),
            () if version.since(5, 5, 7) => (11, [4, 6, 7]),
            () if version.since(5, 1, 13) => (9, [4, 6, 7]),
            () => (8, [4, 6, 7]),
        };
        let flags = fields.flags(count, "data flags")?;
        if version.since(6, 3, 0) && !version.since(6, 4, 3) {
            fields.choice(3, "signing")?;
        }
        let has = |bit: u32| flags >> bit & 1 != 0;
        Ok(Self {
            first_slice,
            last_slice,
            chunk,
            start,
            size,
            stored,
            checksum,
            modified,
            version: has(0).then_some(file_version),
            is_filtered: has(filtered),
            is_encrypted: has(encrypted),
            is_compressed: has(compressed),
        })
    }
}
