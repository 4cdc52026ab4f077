//! Volumes: what the files of a tree are read from.

use std::path::PathBuf;
use std::sync::{Arc, Weak};

use super::{Ino, Vfs};
use crate::io::{self, ReadAt};
use crate::view::ViewFormat;
use crate::volume::folder::Folder;
use crate::volume::{Archive, FileId, Storage};

/// What some of the files of a tree are read from.
pub(super) struct Volume {
    /// Name of the archive's file, as users know it.
    pub(super) name: String,
    /// Where it is on disk; empty for what is inside another volume.
    pub(super) path: PathBuf,
    /// Name of its format.
    pub(super) format: &'static str,
    /// What reads it.
    pub(super) content: Content,
    /// Number of archives around it.
    pub(super) nesting: u8,
}

/// What reads a volume.
pub(super) enum Content {
    /// An archive.
    Archive(Box<dyn Archive>),
    /// A directory on disk.
    Folder(Folder),
    /// What an asset's view shows; a file's number is its place there.
    Meta {
        /// The file that holds the asset.
        asset: Ino,
        /// The format that shows it.
        format: &'static ViewFormat,
    },
}

impl Volume {
    /// What reads the volume's bytes; `None` where they are made from a view.
    pub(super) fn archive(&self) -> Option<&dyn Archive> {
        match &self.content {
            Content::Archive(archive) => Some(&**archive),
            Content::Folder(folder) => Some(folder),
            Content::Meta { .. } => None,
        }
    }

    /// What is odd about it, a sentence each.
    pub(super) fn warnings(&self) -> &[String] {
        self.archive().map_or(&[], Archive::warnings)
    }
}

/// A text in the place of an archive that cannot be opened.
pub(super) struct Problem(pub(super) String);

impl Archive for Problem {
    fn storage(&self, _file: FileId) -> Storage {
        Storage::Generated
    }

    fn generate(&self, _file: FileId) -> io::Result<Vec<u8>> {
        Ok(self.0.clone().into_bytes())
    }
}

/// A file of the mount as the source of an archive inside it.
pub(super) struct Inner {
    /// The mount.
    pub(super) vfs: Weak<Vfs>,
    /// The file.
    pub(super) ino: Ino,
    /// Its size in bytes.
    pub(super) len: u64,
}

impl ReadAt for Inner {
    fn len(&self) -> u64 {
        self.len
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> std::io::Result<()> {
        let vfs: Arc<Vfs> = self.vfs.upgrade().ok_or(std::io::ErrorKind::NotConnected)?;
        let mut filled = 0;
        while filled < buf.len() {
            let wanted = u32::try_from(buf.len() - filled).unwrap_or(u32::MAX);
            let bytes = vfs.read_inner(self.ino, offset + filled as u64, wanted)?;
            if bytes.is_empty() {
                return Err(std::io::ErrorKind::UnexpectedEof.into());
            }
            buf[filled..filled + bytes.len()].copy_from_slice(&bytes);
            filled += bytes.len();
        }
        Ok(())
    }
}
