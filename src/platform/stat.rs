//! Metadata of a file, known without reading it.

use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

/// Hashes what identifies a file or a version of it.
const HASHER: BuildHasherDefault<DefaultHasher> = BuildHasherDefault::new();

/// The identity of a file, independent of its name. It does not change when the
/// file is moved, written to or changes its mode. There may be millions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FileIdentity {
    inode: u64,
    /// A hash of its device and birth time. These distinguish an inode from others with
    /// the same number, now and earlier.
    origin: u64,
}

impl FileIdentity {
    /// Creates an identity. `born` is the birth time in nanoseconds since 1970 UTC, or 0 if
    /// the file system has none.
    pub(super) fn new(device: u64, inode: u64, born: i64) -> Self {
        let origin = HASHER.hash_one((device, born));
        Self { inode, origin }
    }

    /// Returns a number that other files are unlikely to have.
    pub fn number(self) -> u64 {
        HASHER.hash_one(self)
    }
}

/// The type of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Link,
    /// Marker of a deleted file in overlayfs: a character device with the number 0.
    Whiteout,
    /// A pipe, a socket or a device.
    Other,
}

/// The metadata of a file that is available without opening it.
#[derive(Debug, Clone, Copy)]
pub struct FileStat {
    /// Its identity.
    pub identity: FileIdentity,
    /// Its type.
    pub kind: FileKind,
    /// Its size in bytes.
    pub size: u64,
    /// Modification time in seconds since 1970 UTC.
    pub modified: i64,
    /// Modification time in nanoseconds, change time in seconds and
    /// nanoseconds.
    pub(super) times: (i64, i64, i64),
}

/// The size of a file in bytes, and its modification time: seconds since 1970 UTC, and
/// nanoseconds.
pub type Contents = (u64, i64, i64);

impl FileStat {
    /// Returns a number that changes whenever the contents of the file may have
    /// changed.
    pub fn version(&self) -> u64 {
        HASHER.hash_one((self.identity, self.size, self.modified, self.times))
    }

    /// Returns what changes with the contents of the file, but not with its names.
    pub fn contents(&self) -> Contents {
        (self.size, self.modified, self.times.0)
    }

    /// Returns when the file, its attributes or, of a directory, its entries last changed:
    /// seconds since 1970 UTC, and nanoseconds.
    pub fn changed(&self) -> (i64, i64) {
        (self.times.1, self.times.2)
    }
}
