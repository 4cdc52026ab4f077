//! An inode of an edited mount.

use std::fs::File;
use std::io;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, RwLock, Weak};
use std::time::SystemTime;

use super::version::Version;
use crate::mount::{FileKind, Ino};
use crate::platform::{FileIdentity, FileStat};

/// An inode.
pub(super) struct Inode {
    /// Its directory.
    pub(super) parent: u64,
    /// Its name, as it is listed; for another spelling of a directory, that spelling.
    pub(super) name: String,
    /// Number of lookups that the kernel has not forgotten.
    pub(super) lookups: u64,
    /// Number of open files.
    pub(super) handles: u32,
    /// Number of those that can be written.
    pub(super) writers: u32,
    pub(super) body: Body,
    /// The number of the last change that is in it.
    pub(super) since: u64,
    /// True if its name leads elsewhere or nowhere.
    pub(super) is_gone: bool,
    /// A modification time that a program has set.
    pub(super) modified: Option<SystemTime>,
    /// Contents for those who have it open, once its name leads elsewhere.
    pub(super) pinned: Option<Arc<VersionFile>>,
}

/// Kind and contents of an inode.
#[derive(Clone)]
pub(super) enum Body {
    Directory(Directory),
    /// A file or a link of the versions.
    Shown(FileKind),
    /// A file with its bytes in DIR.
    Own(Own),
    /// A text about the mount.
    Text(Arc<Vec<u8>>),
}

/// A directory.
#[derive(Clone, Default)]
pub(super) struct Directory {
    /// Its number in a version.
    pub(super) found: Option<(Weak<Version>, Ino)>,
    /// The first version that has it under this name.
    pub(super) needs: u64,
    /// True if only the mount has added entries to it: no version has it yet.
    pub(super) is_new: bool,
    /// True if a program has removed files from it: then it stays, though the source may have no
    /// directories without files.
    pub(super) is_emptied: bool,
    /// The directory itself, if this is another spelling of it.
    pub(super) spelled: Option<u64>,
}

/// A file with its bytes in DIR.
#[derive(Clone)]
pub(super) struct Own {
    pub(super) bytes: Bytes,
    /// Held while the file is written, and while it is given its place.
    pub(super) gate: Arc<RwLock<()>>,
    /// The path in DIR of a file that is not at its own.
    pub(super) elsewhere: Option<String>,
    /// True if it was changed since it was closed.
    pub(super) is_dirty: bool,
    /// True if DIR or the source has another file at its path.
    pub(super) is_over: bool,
    /// The reason why it is in no image.
    pub(super) note: Option<Note>,
}

/// The bytes of a file in DIR.
#[derive(Clone)]
pub(super) enum Bytes {
    /// An open file.
    Open(Arc<File>),
    /// A file at its place in DIR that nobody has open, so that many of them take no
    /// descriptors.
    Closed {
        identity: FileIdentity,
        size: u64,
        modified: SystemTime,
    },
}

/// The reason why a file of DIR is in no image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Note {
    /// Its name is one that programs use for a moment.
    Scratch,
    /// It is being written.
    Empty,
    /// It was refused, for this reason.
    Refused(String),
}

/// A file in a version, which remembers it for as long as this lives.
pub(super) struct VersionFile {
    pub(super) version: Arc<Version>,
    pub(super) place: Place,
}

/// Location of the bytes of a version's file.
pub(super) enum Place {
    /// In the tree with the changes.
    Tree(Ino),
    /// In DIR, at this path.
    Kept(String),
}

impl Drop for VersionFile {
    fn drop(&mut self) {
        if let Place::Tree(ino) = self.place {
            self.version.vfs.forget(ino, 1);
        }
    }
}

/// Something that is open.
#[derive(Clone)]
pub(super) enum Handle {
    /// A file, with its contents in a version unless its bytes are in DIR.
    File {
        inode: u64,
        found: Option<Arc<VersionFile>>,
        is_writable: bool,
        /// True if the last bytes that were written to it are refused.
        is_refused: bool,
    },
    /// A directory, with the version that is listed.
    Directory(Arc<Listing>),
}

/// A directory that is being listed.
pub(super) struct Listing {
    pub(super) version: Arc<Version>,
    /// Its number there; `None` if it is only in DIR.
    pub(super) directory: Option<Ino>,
    /// Names of files that are not in the version.
    pub(super) added: Vec<String>,
    /// Names of the version that are deleted, as [folded](super::inodes::Inodes::folded).
    pub(super) missing: Vec<String>,
}

impl Listing {
    /// Creates the listing of a directory in a version. It reads no files: the version need
    /// not keep any for it.
    pub(super) fn new(
        version: &Arc<Version>,
        directory: Option<Ino>,
        added: Vec<String>,
        missing: Vec<String>,
    ) -> Self {
        version.listings.fetch_add(1, Relaxed);
        Self {
            version: version.clone(),
            directory,
            added,
            missing,
        }
    }
}

impl Drop for Listing {
    fn drop(&mut self) {
        self.version.listings.fetch_sub(1, Relaxed);
    }
}

impl Bytes {
    /// Returns the size and the modification time.
    pub(super) fn attributes(&self) -> io::Result<(u64, SystemTime)> {
        match self {
            Self::Open(file) => {
                let data = file.metadata()?;
                Ok((data.len(), data.modified()?))
            }
            Self::Closed { size, modified, .. } => Ok((*size, *modified)),
        }
    }
}

impl Own {
    /// Closes its file, unless it has no place in DIR or was not committed.
    pub(super) fn close(&mut self) {
        let is_placed = self.elsewhere.is_none() && !self.is_dirty && self.note.is_none();
        if let Bytes::Open(file) = &self.bytes
            && is_placed
            && let Ok(stat) = FileStat::of(file)
            && let Ok((size, modified)) = self.bytes.attributes()
        {
            self.bytes = Bytes::Closed {
                identity: stat.identity,
                size,
                modified,
            };
        }
    }

    /// Returns whether its file may be changed, since it has no place in DIR.
    pub(super) fn is_unfinished(&self) -> bool {
        self.elsewhere.is_some() && !matches!(self.note, Some(Note::Refused(_)))
    }
}

impl Inode {
    pub(super) fn new(parent: u64, name: &str, body: Body, since: u64) -> Self {
        Self {
            parent,
            name: name.to_owned(),
            lookups: 0,
            handles: 0,
            writers: 0,
            body,
            since,
            is_gone: false,
            modified: None,
            pinned: None,
        }
    }

    /// Returns its bytes in DIR.
    pub(super) fn own(&self) -> Option<&Own> {
        match &self.body {
            Body::Own(own) => Some(own),
            _ => None,
        }
    }

    /// Returns whether it must be kept when the kernel has forgotten it.
    pub(super) fn is_needed(&self) -> bool {
        self.handles > 0
            || !self.is_gone
                && match &self.body {
                    Body::Own(_) => true,
                    Body::Directory(directory) => directory.is_new,
                    Body::Shown(_) | Body::Text(_) => false,
                }
    }
}
