//! The state of an edited mount at one time.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::names::{CONTROL, MESSAGE};
use super::report::{CHANGES, INFO};
use super::version::{State, Version};
use super::{EditedMount, look};
use crate::content::OverlayFile;
use crate::mount::Vfs;
use crate::namespace::joined;
use hpimount_containers::changes::Change;

/// A version, which stays as it is while it is looked at.
pub struct Snapshot {
    mount: Arc<EditedMount>,
    version: Arc<Version>,
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
            directory => joined(directory, ""),
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
