//! Listing directories.

use std::sync::Arc;

use rustix::io::Errno;

use super::inode::{Body, Handle, Listing};
use super::look::{Attributes, VersionEntry};
use super::names::MESSAGE;
use super::version::Version;
use super::{EditedMount, Result, errno_of};
use crate::mount::{Attr, FileKind};
use crate::sync::lock;

/// First offset of the entries that are not in the version.
const ADDED: u64 = 1 << 62;

/// An entry of a listing.
pub struct Entry<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its attributes.
    pub attributes: Attributes,
    /// The offset of the next entry.
    pub next: u64,
}

impl EditedMount {
    /// Opens a directory to list it.
    ///
    /// # Errors
    /// Returns `NOTDIR`, or the errors of reading the sources.
    pub fn opendir(&self, number: u64) -> Result<u64> {
        let version = self.newest();
        let directory = match self.directory_in(&version, number) {
            Ok(ino) => Some(ino),
            Err(Errno::NOENT) => None,
            Err(error) => return Err(error),
        };
        let mut inodes = lock(&self.inodes);
        let number = inodes.exact(number);
        let path = inodes.path(number).ok_or(Errno::STALE)?;
        let owned = inodes.entries(number);
        let mut added: Vec<String> = owned
            .filter(|(_, _, inode)| match &inode.body {
                Body::Own(_) => true,
                Body::Directory(directory) => directory.is_new,
                _ => false,
            })
            .map(|(name, ..)| name.to_owned())
            .collect();
        added.extend(version.overlay_names(&path));
        let refused = self.refused_in(&path);
        added.extend(refused.iter().map(|name| format!("{name}{MESSAGE}")));
        added.sort();
        added.dedup();
        let missing = inodes.missing_in(&path);
        let listing = Listing::new(&version, directory, added, missing);
        Ok(inodes.open(Handle::Directory(Arc::new(listing))))
    }

    /// Lists a directory from `offset` on, until `emit` returns that its buffer is full.
    /// Each entry that it accepts counts as one lookup.
    ///
    /// # Errors
    /// Returns `BADF` if the directory is not open.
    pub fn readdir(
        &self,
        number: u64,
        handle: u64,
        offset: u64,
        emit: &mut dyn FnMut(Entry<'_>) -> bool,
    ) -> Result<()> {
        let Some(Handle::Directory(listing)) = lock(&self.inodes).handle(handle).cloned() else {
            return Err(Errno::BADF);
        };
        let version = &listing.version;
        let mut is_full = false;
        if let Some(directory) = listing.directory
            && offset < ADDED
        {
            let mut each = |name: &str, attr: Attr, next: u64| {
                let folded = lock(&self.inodes).folded(name);
                let is_hidden = listing.missing.binary_search(&folded).is_ok()
                    || listing
                        .added
                        .binary_search_by(|one| (**one).cmp(name))
                        .is_ok();
                if is_hidden {
                    version.vfs.forget(attr.ino, 1);
                    return false;
                }
                is_full = !self.emit_shown(version, number, name, attr, next, emit);
                // Refused here: the entry is not counted.
                is_full
            };
            let listed = version.vfs.readdir_plus(directory, offset, &mut each);
            listed.map_err(errno_of)?;
        }
        let first = offset.saturating_sub(ADDED) as usize;
        for (at, name) in listing.added.iter().enumerate().skip(first) {
            if is_full {
                break;
            }
            // It may be gone by now.
            let Ok(attributes) = self.lookup(number, name) else {
                continue;
            };
            let entry = Entry {
                name,
                attributes,
                next: ADDED + at as u64 + 1,
            };
            is_full = emit(entry);
            if is_full {
                self.forget(attributes.number, 1);
            }
        }
        Ok(())
    }

    /// Emits an entry of a version, which has counted one lookup of it. Returns whether it
    /// was accepted.
    fn emit_shown(
        &self,
        version: &Arc<Version>,
        parent: u64,
        name: &str,
        attr: Attr,
        next: u64,
        emit: &mut dyn FnMut(Entry<'_>) -> bool,
    ) -> bool {
        let attributes = match attr.kind {
            FileKind::Directory => Ok(self.show_directory(version, parent, name, name, attr)),
            kind => self
                .show_file(version, parent, name, kind)
                .and_then(|number| {
                    let attributes = self.attributes_of(version, number, &VersionEntry::Tree(attr));
                    self.unless_failed(number, attributes)
                }),
        };
        let Ok(attributes) = attributes else {
            return true;
        };
        let is_full = emit(Entry {
            name,
            attributes,
            next,
        });
        if is_full {
            self.forget(attributes.number, 1);
            return false;
        }
        if attr.kind != FileKind::Directory {
            version.vfs.forget(attr.ino, 1);
        }
        true
    }
}
