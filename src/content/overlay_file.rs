//! Files that an edited mount shows in place of the files of its tree.

use std::io;
use std::sync::Arc;

use super::Bytes;
use hpimount_containers::changes::NewFile;
use hpimount_containers::io::ReadAt;

/// A file of the overlay, which hides the file of a version's tree at its path.
#[derive(Clone)]
pub enum OverlayFile {
    /// A file of DIR as it was saved.
    Saved(NewFile),
    /// A text about the changes.
    Text(Arc<Vec<u8>>),
}

impl OverlayFile {
    /// Returns whether it is a file of DIR.
    pub fn is_saved(&self) -> bool {
        matches!(self, Self::Saved(_))
    }

    /// Returns the size in bytes.
    pub fn size(&self) -> u64 {
        match self {
            Self::Saved(file) => file.len(),
            Self::Text(text) => text.len(),
        }
    }

    /// Returns when it was modified, in seconds since 1970; a text is made at the moment.
    pub fn modified(&self) -> i64 {
        match self {
            Self::Saved(file) => file.modified().unwrap_or_default(),
            Self::Text(_) => jiff::Timestamp::now().as_second(),
        }
    }

    /// Reads bytes; fewer than `size` at the end.
    ///
    /// # Errors
    /// Returns the error of reading DIR.
    pub fn read(&self, offset: u64, size: u32) -> io::Result<Bytes> {
        match self {
            Self::Saved(file) => {
                let left = file.len().saturating_sub(offset);
                let mut bytes = vec![0; left.min(size.into()) as usize];
                file.read_exact_at(&mut bytes, offset)?;
                Ok(Bytes::Owned(bytes))
            }
            Self::Text(text) => {
                let range = offset..offset.saturating_add(size.into());
                Ok(Bytes::part_of(text.clone(), range))
            }
        }
    }
}
