//! Inodes, names and directories of a mount.
//!
//! Nothing here depends on the bytes of a file.

pub mod companion;
pub mod numbers;
pub mod transient;
pub mod tree;

/// Number of an inode in the mount. Numbers are never reused. The first 2^32 can be
/// used by 32-bit programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ino(pub u64);

impl Ino {
    /// The root directory.
    pub const ROOT: Self = Self(1);

    /// Marks the number of a shortcut: a symbolic link to the directory with
    /// the number in the other bits. It replaces an alias when there are too
    /// many.
    const SHORTCUT: u64 = 1 << 63;

    /// Returns the number of the shortcut to the directory with this number.
    #[must_use]
    pub fn shortcut(self) -> Self {
        Self(self.0 | Self::SHORTCUT)
    }

    /// Returns the directory that a shortcut refers to; `None` if this is the
    /// number of something else.
    pub fn shortcut_target(self) -> Option<Self> {
        (self.0 & Self::SHORTCUT != 0).then_some(Self(self.0 & !Self::SHORTCUT))
    }
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

/// Returns the path of an entry of a directory; the root has an empty path.
pub fn joined(directory: &str, name: &str) -> String {
    match directory {
        "" => name.to_owned(),
        directory => format!("{directory}/{name}"),
    }
}
