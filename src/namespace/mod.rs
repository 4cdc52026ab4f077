//! Inodes, names and directories of a mount.
//!
//! Nothing here depends on the bytes of a file.

pub mod companion;
pub mod converted;
pub mod numbers;
pub mod transient;
pub mod tree;

/// Number of an inode in the mount.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ino(pub u32);

impl Ino {
    /// The root directory.
    pub const ROOT: Self = Self(1);

    /// Marks the number of a shortcut: a symbolic link to the directory with
    /// the number in the other bits. It replaces an alias when there are too
    /// many.
    pub const SHORTCUT: u32 = 1 << 31;
}

/// Kind of an inode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// A directory.
    Directory,
    /// A regular file.
    File,
    /// A symbolic link.
    Symlink,
}
