//! The state of an edited mount at one time.

use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;

use super::names::{CONTROL, MESSAGE, join};
use super::report::{CHANGES, INFO};
use super::version::{State, Version};
use super::{EditedMount, look};
use crate::content::Bytes;
use crate::mount::Vfs;
use hpimount_containers::changes::{Change, NewFile};
use hpimount_containers::io::ReadAt;

/// A version, which stays as it is while it is looked at.
pub struct Snapshot {
    mount: Arc<EditedMount>,
    version: Arc<Version>,
}

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

    /// Returns its size in bytes.
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

    /// Reads bytes of it; fewer than wanted at its end.
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

impl EditedMount {
    /// Returns the version after all changes so far.
    pub fn snapshot(self: &Arc<Self>) -> Snapshot {
        Snapshot {
            mount: self.clone(),
            version: self.newest(),
        }
    }
}

impl Snapshot {
    /// Returns the tree of the sources with the changes.
    pub fn vfs(&self) -> &Arc<Vfs> {
        &self.version.vfs
    }

    /// Returns a number that changes with DIR.
    pub fn folder_version(&self) -> u64 {
        self.version.folder_version
    }

    /// Returns the file of the overlay at a path.
    pub fn overlay(&self, path: &str) -> Option<OverlayFile> {
        let text = |text: String| Some(OverlayFile::Text(Arc::new(text.into_bytes())));
        match path.split_once('/') {
            Some((CONTROL, CHANGES)) => return text(self.mount.changes(&self.version)),
            Some((CONTROL, INFO)) => return self.mount.info(&self.version).and_then(text),
            _ => {}
        }
        if let Some(kept) = self.version.kept.get(path) {
            return Some(OverlayFile::Saved(kept.file.clone()));
        }
        let about = path.strip_suffix(MESSAGE)?;
        match &self.version.kept.get(about)?.state {
            State::Refused(reason) => text(look::message(about, reason)),
            State::Edited | State::Empty => None,
        }
    }

    /// Returns the names of the overlay's files in a directory.
    pub fn overlay_names(&self, directory: &str) -> BTreeSet<String> {
        self.version.overlay_names(directory)
    }

    /// Returns the paths of all files of DIR that are shown.
    pub fn paths(&self) -> BTreeSet<String> {
        let mut paths: BTreeSet<String> = self.version.kept.keys().cloned().collect();
        self.version.edits.each(&mut |path, change| {
            if matches!(change, Change::File(_)) {
                paths.insert(path.to_owned());
            }
        });
        paths
    }
}

impl Version {
    /// Returns the names of the overlay's files in a directory.
    pub(super) fn overlay_names(&self, directory: &str) -> BTreeSet<String> {
        let prefix = match directory {
            "" => String::new(),
            directory => join(directory, ""),
        };
        let mut names = BTreeSet::new();
        let kept = self.kept.range(prefix.clone()..);
        for (path, kept) in kept.take_while(|(path, _)| path.starts_with(&prefix)) {
            let name = &path[prefix.len()..];
            if name.contains('/') {
                continue;
            }
            names.insert(name.to_owned());
            if matches!(kept.state, State::Refused(_)) {
                names.insert(format!("{name}{MESSAGE}"));
            }
        }
        if directory == CONTROL {
            names.extend([CHANGES, INFO].map(str::to_owned));
        }
        names
    }
}
