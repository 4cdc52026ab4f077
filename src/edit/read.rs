//! Reading files, links and attributes.

use std::fs::File;
use std::io::ErrorKind;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use rustix::io::Errno;

use super::inode::{self, Body, Handle, Own, Place, VersionFile};
use super::inodes::ROOT;
use super::look::VersionEntry;
use super::names::is_derived;
use super::version::Version;
use super::{EditedMount, Result, errno, errno_of};
use crate::content::OverlayFile;
use crate::mount::{Bytes, Ino};
use crate::sync::lock;

/// The handle of nothing.
const NOT_OPEN: u64 = 0;

/// The attribute of the root with the path of DIR.
pub(crate) const EDIT: &str = "user.hpimount.edit";

impl EditedMount {
    /// Returns the file that an inode shows in the version that it is of; `None` if its bytes
    /// are in DIR.
    pub(super) fn find_shown(&self, number: u64) -> Result<Option<Arc<VersionFile>>> {
        let (parent, name, path, pinned) = {
            let inodes = lock(&self.inodes);
            let inode = inodes.get(number).ok_or(Errno::STALE)?;
            if !matches!(inode.body, Body::Shown(_)) {
                return Ok(None);
            }
            let path = inodes.path(number).ok_or(Errno::STALE)?;
            (inode.parent, inode.name.clone(), path, inode.pinned.clone())
        };
        if pinned.is_some() {
            return Ok(pinned);
        }
        let version = match is_derived(&path) {
            true => self.newest(),
            false => self.current(),
        };
        let directory = self.directory_in(&version, parent)?;
        let (_, shown) = self.shown(&version, parent, directory, &name)?;
        let place = match shown {
            VersionEntry::Kept(path) => Place::Kept(path),
            VersionEntry::Tree(attr) => Place::Tree(attr.ino),
        };
        let found = Arc::new(VersionFile { version, place });
        let inodes = lock(&self.inodes);
        let since = inodes.get(number).ok_or(Errno::STALE)?.since;
        let is_stale = inodes.has_changed(&path, since, found.version.number)
            || inodes.get(number).is_none_or(|inode| inode.is_gone);
        if is_stale {
            // The kernel looks the name up again.
            return Err(Errno::STALE);
        }
        Ok(Some(found))
    }

    /// Returns the text of a symbolic link.
    ///
    /// # Errors
    /// Returns `INVAL` for anything else.
    pub fn readlink(&self, number: u64) -> Result<Vec<u8>> {
        let found = self.find_shown(number)?.ok_or(Errno::INVAL)?;
        match found.place {
            Place::Tree(ino) => found.version.vfs.readlink(ino).map_err(errno_of),
            Place::Kept(_) => Err(Errno::INVAL),
        }
    }

    /// Reads bytes of an open file.
    ///
    /// # Errors
    /// Returns the errors of reading the sources or DIR.
    pub fn read(&self, number: u64, handle: u64, offset: u64, size: u32) -> Result<Bytes> {
        let (body, found) = {
            let inodes = lock(&self.inodes);
            let found = match inodes.handle(handle) {
                Some(Handle::File { found, .. }) => found.clone(),
                _ => None,
            };
            let inode = inodes.get(number).ok_or(Errno::STALE)?;
            (inode.body.clone(), found.or(inode.pinned.clone()))
        };
        match body {
            Body::Own(Own {
                bytes: inode::Bytes::Open(file),
                ..
            }) => read_file(&file, offset, size).map(Bytes::Owned),
            Body::Own(_) => Err(Errno::STALE),
            Body::Text(text) => {
                let range = offset..offset.saturating_add(size.into());
                Ok(Bytes::part_of(text, range))
            }
            Body::Directory(_) => Err(Errno::ISDIR),
            Body::Shown(_) => Self::read_found(&*found.ok_or(Errno::STALE)?, offset, size),
        }
    }

    /// Reads bytes of a file that is not open, as it is at the moment.
    ///
    /// # Errors
    /// Returns `STALE` if its name has another file by now, or the errors of reading.
    pub fn read_now(&self, number: u64, offset: u64, size: u32) -> Result<Bytes> {
        match self.find_shown(number)? {
            Some(found) => Self::read_found(&found, offset, size),
            None => self.read(number, NOT_OPEN, offset, size),
        }
    }

    /// Reads bytes of a file of a version.
    pub(super) fn read_found(found: &VersionFile, offset: u64, size: u32) -> Result<Bytes> {
        match &found.place {
            Place::Tree(ino) => {
                let read = found.version.vfs.read(*ino, offset, size);
                read.map_err(errno_of)
            }
            Place::Kept(path) => {
                let kept = found.version.kept.get(path).ok_or(Errno::STALE)?;
                let read = OverlayFile::Saved(kept.file.clone()).read(offset, size);
                read.map_err(|error| errno(&error))
            }
        }
    }

    /// Returns the names of the extended attributes of an inode.
    pub fn xattr_names(&self, number: u64) -> Vec<&'static str> {
        if number == ROOT {
            return vec![EDIT];
        }
        let of = |version: &Version, ino| version.vfs.xattr_names(ino);
        // Without them, programs go on.
        self.in_tree(number, of).ok().flatten().unwrap_or_default()
    }

    /// Returns the value of an extended attribute.
    ///
    /// # Errors
    /// Returns `NODATA`, or `OPNOTSUPP` for names outside `user.`.
    pub fn xattr(&self, number: u64, name: &str) -> Result<Vec<u8>> {
        if number == ROOT && name == EDIT {
            return Ok(self.path.as_os_str().as_encoded_bytes().to_vec());
        }
        if !name.starts_with("user.") {
            return Err(Errno::OPNOTSUPP);
        }
        let value = self.in_tree(number, |version, ino| version.vfs.xattr(ino, name));
        value?.ok_or(Errno::NODATA)?.map_err(errno_of)
    }

    /// Calls `of` with the entry that the latest version has at the path of an inode, if there
    /// is one.
    ///
    /// # Errors
    /// Returns the error of looking it up.
    pub(super) fn in_tree<T>(
        &self,
        number: u64,
        of: impl FnOnce(&Version, Ino) -> T,
    ) -> Result<Option<T>> {
        let (parent, name) = {
            let inodes = lock(&self.inodes);
            let inode = inodes.get(inodes.exact(number)).ok_or(Errno::STALE)?;
            (inode.parent, inode.name.clone())
        };
        let version = self.newest();
        let found = self
            .directory_in(&version, parent)
            .and_then(|directory| version.vfs.lookup(directory, &name).map_err(errno_of));
        let attr = match found {
            Err(Errno::NOENT | Errno::NOTDIR) => return Ok(None),
            found => found?,
        };
        let value = of(&version, attr.ino);
        version.vfs.forget(attr.ino, 1);
        Ok(Some(value))
    }
}

/// Reads bytes of a file, up to its end.
fn read_file(file: &File, offset: u64, size: u32) -> Result<Vec<u8>> {
    let mut bytes = vec![0; size as usize];
    let mut length = 0;
    while length < bytes.len() {
        match file.read_at(&mut bytes[length..], offset + length as u64) {
            Ok(0) => break,
            Ok(read) => length += read,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(errno(&error)),
        }
    }
    bytes.truncate(length);
    Ok(bytes)
}
