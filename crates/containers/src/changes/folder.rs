//! What a folder of changes says.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::io::{ReadAt, Result, read_error};

/// Number of bytes that are read at a time.
const PIECE: usize = 64 << 10;

/// A file with the new contents of an entry.
#[derive(Clone)]
pub struct NewFile {
    /// Its bytes.
    pub bytes: Arc<dyn ReadAt>,
    /// Its path in the folder of changes, for messages.
    pub path: Arc<str>,
    /// Its modification time in seconds since 1970 UTC.
    pub modified: Option<i64>,
}

impl fmt::Debug for NewFile {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("NewFile").field(&self.path).finish()
    }
}

impl NewFile {
    /// Returns its length in bytes.
    pub fn len(&self) -> u64 {
        self.bytes.len()
    }

    /// Returns whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Calls `take` with all of its bytes, in order.
    ///
    /// # Errors
    /// Returns [`Error::Read`](crate::io::Error::Read) if it cannot be read.
    pub fn read(&self, take: &mut dyn FnMut(&[u8])) -> Result<()> {
        let mut piece = vec![0; self.len().min(PIECE as u64) as usize];
        let mut offset = 0;
        while offset < self.len() {
            let length = (self.len() - offset).min(PIECE as u64) as usize;
            let read = self.bytes.read_exact_at(&mut piece[..length], offset);
            read.map_err(|cause| read_error(offset, length as u64, cause))?;
            take(&piece[..length]);
            offset += length as u64;
        }
        Ok(())
    }

    /// Returns the CRC-32 of its bytes.
    ///
    /// # Errors
    /// Returns [`Error::Read`](crate::io::Error::Read) if it cannot be read.
    pub fn crc32(&self) -> Result<u32> {
        let mut sum = crc32fast::Hasher::new();
        self.read(&mut |bytes| sum.update(bytes))?;
        Ok(sum.finalize())
    }
}

/// What a folder of changes says about one name.
#[derive(Clone)]
pub enum Change {
    /// The file is replaced or added.
    File(NewFile),
    /// The directory is merged with the one of this name, or added.
    Directory(Folder),
    /// The entry is deleted.
    Deleted,
    /// A symbolic link, which is accepted where the original has one.
    Link,
    /// Something that cannot be applied, and why.
    Unusable(String),
}

/// A directory of changes.
#[derive(Clone, Default)]
pub struct Folder {
    /// The changes by name.
    pub entries: BTreeMap<String, Change>,
    /// Whether entries that it does not name are deleted.
    pub is_opaque: bool,
}

impl Folder {
    /// Applies a later folder on top: its files and deletions win.
    pub fn overlay(&mut self, later: Self) {
        self.is_opaque |= later.is_opaque;
        if later.is_opaque {
            self.entries.clear();
        }
        for (name, change) in later.entries {
            match (self.entries.get_mut(&name), change) {
                (Some(Change::Directory(earlier)), Change::Directory(later)) => {
                    earlier.overlay(later);
                }
                (_, change) => {
                    self.entries.insert(name, change);
                }
            }
        }
    }

    /// Adds the entries of another directory whose name differs only in case.
    /// Returns the names that are in both and are not directories.
    pub fn absorb(&mut self, other: Self) -> Vec<String> {
        let mut twice = Vec::new();
        self.is_opaque |= other.is_opaque;
        for (name, change) in other.entries {
            match (self.entries.get_mut(&name), change) {
                (None, change) => {
                    self.entries.insert(name, change);
                }
                (Some(Change::Directory(one)), Change::Directory(other)) => {
                    let inner = one.absorb(other).into_iter();
                    twice.extend(inner.map(|inner| format!("{name}/{inner}")));
                }
                _ => twice.push(name),
            }
        }
        twice
    }
}

/// Returns whether desktops and editors leave files of this name behind.
pub fn is_litter(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    let known = [".ds_store", "thumbs.db", "desktop.ini", ".directory"];
    known.contains(&lower.as_str())
        || lower.starts_with("._")
        || lower.starts_with(".trash-")
        || lower.ends_with('~')
        || lower.starts_with('.') && lower.ends_with(".swp")
}
