//! The fixed-size records of both versions. All numbers are little-endian,
//! nothing is aligned.

use std::ops::Range;

use zerocopy::little_endian::U32;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// `HAPI`, the first four bytes of every archive.
pub const MAGIC: [u8; 4] = *b"HAPI";

/// Version number of Total Annihilation's archives.
pub const VERSION_1: u32 = 0x0001_0000;

/// Version number of Kingdoms' archives.
pub const VERSION_2: u32 = 0x0002_0000;

/// Set in [`Entry1::flags`] of a directory; the games ignore the other bits.
pub const IS_DIRECTORY: u8 = 1;

macro_rules! records {
    ($($(#[$about:meta])* $name:ident { $($(#[$what:meta])* $field:ident: $type:ty),* $(,)? })*) => {$(
        $(#[$about])*
        #[derive(Debug, Default, Clone, Copy, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
        #[repr(C)]
        pub struct $name {
            $($(#[$what])* pub $field: $type,)*
        }
    )*};
}

records! {
    /// Header of version 1 (FORMATS, HPI 1). Never enciphered.
    Header1 {
        /// [`MAGIC`].
        magic: [u8; 4],
        /// [`VERSION_1`].
        version: U32,
        /// Absolute offset of the end of the directory. Other descriptions
        /// treat it as the length.
        dir_end: U32,
        /// Cipher key. The games ignore all but its first byte.
        key: [u8; 4],
        /// Absolute offset of the root's node.
        dir_start: U32,
    }

    /// A directory of version 1 (FORMATS, HPI 3).
    Node1 {
        /// Number of entries.
        count: U32,
        /// Absolute offset of the entries.
        entry_list_offset: U32,
    }

    /// An entry of a directory of version 1 (FORMATS, HPI 3).
    Entry1 {
        /// Absolute offset of the name, which ends with a NUL.
        name_offset: U32,
        /// Absolute offset of the [`Node1`] or the [`File1`].
        data_offset: U32,
        /// [`IS_DIRECTORY`], or bits that the games ignore.
        flags: u8,
    }

    /// A file of version 1 (FORMATS, HPI 4).
    File1 {
        /// Absolute offset of the file's data.
        data_offset: U32,
        /// Decoded size in bytes.
        size: U32,
        /// 0 for stored data, otherwise chunks.
        compression: u8,
    }

    /// Header of version 2 (FORMATS, HPI 7).
    Header2 {
        /// [`MAGIC`].
        magic: [u8; 4],
        /// [`VERSION_2`].
        version: U32,
        /// Absolute offset of the directory block.
        dir_block: U32,
        /// Length of the directory block as stored, in bytes.
        dir_size: U32,
        /// Absolute offset of the name block.
        name_block: U32,
        /// Length of the name block as stored, in bytes.
        name_size: U32,
        /// Absolute offset of the files' data. In some archives the data
        /// follows this field; in others, the absolute offset of a signature,
        /// or 0, precedes it.
        data_start: U32,
    }

    /// A directory of version 2 (FORMATS, HPI 7). The offsets are relative to
    /// the decoded directory and name blocks.
    Dir2 {
        /// Offset of the name in the name block.
        name: U32,
        /// Offset of the records of its subdirectories.
        first_subdirectory: U32,
        /// Number of its subdirectories.
        subdirectories: U32,
        /// Offset of the records of its files.
        first_file: U32,
        /// Number of its files.
        files: U32,
    }

    /// A file of version 2 (FORMATS, HPI 7).
    File2 {
        /// Offset of the name in the name block.
        name: U32,
        /// Absolute offset of the file's data.
        start: U32,
        /// Decoded size in bytes.
        size: U32,
        /// Length of the file's chunks with their headers, in bytes; 0 for
        /// stored data.
        stored_size: U32,
        /// Modification time, in seconds since 1970 UTC.
        date: U32,
        /// [`FileSum`](super::file_sum::FileSum) of the decoded data.
        checksum: U32,
    }
}

impl Header2 {
    /// Returns the ranges of the directory block and of the name block.
    pub(super) fn blocks(&self) -> [Range<u64>; 2] {
        [
            (self.dir_block, self.dir_size),
            (self.name_block, self.name_size),
        ]
        .map(|(start, size)| start.get().into()..u64::from(start.get()) + u64::from(size.get()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_packed() {
        assert_eq!(size_of::<Header1>(), 20);
        assert_eq!(size_of::<Node1>(), 8);
        assert_eq!(size_of::<Entry1>(), 9);
        assert_eq!(size_of::<File1>(), 9);
        assert_eq!(size_of::<Header2>(), 28);
        assert_eq!(size_of::<Dir2>(), 20);
        assert_eq!(size_of::<File2>(), 24);
    }
}
