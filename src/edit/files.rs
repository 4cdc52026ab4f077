//! Opening and writing files.
//!
//! A file that is changed gets new bytes in an unfinished file of DIR, from the first
//! change until it is closed.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::SystemTime;

use rustix::fs::{FallocateFlags, OFlags, StatVfs};
use rustix::io::Errno;

use super::folder::{MAX_NAME, split};
use super::inode::{Body, Bytes, Handle, Inode, Own};
use super::look::{Attributes, of_own};
use super::names::is_derived;
use super::watch::Signal;
use super::{EditedMount, Result, errno};
use crate::mount::{self, FileKind};
use crate::namespace::joined;
use crate::platform::FileStat;
use crate::platform::unix::open_beneath;
use crate::source::WHITEOUT;
use crate::sync::lock;

/// Number of bytes that are copied at a time.
pub(super) const PIECE: u32 = 1 << 20;

/// A change of the attributes of an inode.
#[derive(Debug, Clone, Copy, Default)]
pub struct Change {
    /// The new size in bytes.
    pub size: Option<u64>,
    /// The new modification time.
    pub modified: Option<SystemTime>,
}

/// Checks the name of a new entry.
pub(super) fn check_name(name: &str) -> Result<()> {
    if name.len() > MAX_NAME {
        return Err(Errno::NAMETOOLONG);
    }
    match name.starts_with(WHITEOUT) {
        true => Err(Errno::INVAL),
        false => Ok(()),
    }
}

impl EditedMount {
    /// Opens a file with the flags of open(2).
    ///
    /// # Errors
    /// Returns `PERM` if it is to be written and cannot be edited, or the errors of
    /// reading the sources.
    pub fn open_file(&self, number: u64, flags: OFlags) -> Result<u64> {
        let is_writable = flags.intersects(OFlags::WRONLY | OFlags::RDWR);
        if is_writable {
            self.check_editable(number)?;
        }
        if matches!(
            lock(&self.inodes).get(number).ok_or(Errno::STALE)?.body,
            Body::Directory(_)
        ) {
            return Err(Errno::ISDIR);
        }
        let (found, mut inodes) = loop {
            let found = self.find_shown(number)?;
            let mut inodes = lock(&self.inodes);
            let inode = inodes.get_mut(number).ok_or(Errno::STALE)?;
            // A version may have shown it meanwhile.
            if found.is_none() && matches!(inode.body, Body::Shown(_)) {
                continue;
            }
            inode.pinned = found.clone();
            break (found, inodes);
        };
        let handle = inodes.open(Handle::File {
            inode: number,
            found,
            is_writable,
            is_refused: false,
        });
        drop(inodes);
        let opened = self.open_own(number);
        if opened.is_err() {
            self.release(handle);
        }
        if opened == Err(Errno::STALE) {
            // The kernel looks the name up again.
            let path = lock(&self.inodes).path(number).ok_or(Errno::STALE)?;
            self.changed_outside(BTreeSet::from([path]));
        }
        opened.map(|()| handle)
    }

    /// Opens the file of DIR with the bytes of an inode, if it is closed.
    fn open_own(&self, number: u64) -> Result<()> {
        let Some(file) = self.own_file(number)? else {
            return Ok(());
        };
        if let Some(inode) = lock(&self.inodes).get_mut(number)
            && let Body::Own(own) = &mut inode.body
            && matches!(own.bytes, Bytes::Closed { .. })
        {
            own.bytes = Bytes::Open(file);
        }
        Ok(())
    }

    /// Returns the file of DIR with the bytes of an inode, if it has any; `STALE` if another
    /// program has replaced or removed it.
    fn own_file(&self, number: u64) -> Result<Option<Arc<File>>> {
        let (path, bytes) = {
            let inodes = lock(&self.inodes);
            let inode = inodes.get(number).ok_or(Errno::STALE)?;
            let Some(own) = inode.own() else {
                return Ok(None);
            };
            let path = own.elsewhere.clone().or_else(|| inodes.path(number));
            (path.ok_or(Errno::STALE)?, own.bytes.clone())
        };
        let identity = match bytes {
            Bytes::Open(file) => return Ok(Some(file)),
            Bytes::Closed { identity, .. } => identity,
        };
        let flags = OFlags::RDONLY | OFlags::NONBLOCK;
        let file = match open_beneath(&self.folder, Path::new(&path), flags) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(Errno::STALE),
            file => file.map_err(|error| errno(&error))?,
        };
        let found = FileStat::of(&file).map_err(|error| errno(&error))?;
        match found.identity == identity {
            true => Ok(Some(Arc::new(file.into()))),
            false => Err(Errno::STALE),
        }
    }

    /// Checks that a file can be edited.
    pub(super) fn check_editable(&self, number: u64) -> Result<()> {
        let (path, body) = {
            let inodes = lock(&self.inodes);
            let inode = inodes.get(number).ok_or(Errno::STALE)?;
            let path = inodes.path(number).ok_or(Errno::STALE)?;
            (path, inode.body.clone())
        };
        match body {
            Body::Own(_) => return Ok(()),
            Body::Text(_) => return Err(Errno::PERM),
            Body::Directory(_) | Body::Shown(FileKind::Symlink | FileKind::Directory) => {
                return Err(Errno::ISDIR);
            }
            Body::Shown(FileKind::File) => {}
        }
        if !is_derived(&path) || self.newest().kept.contains_key(&path) {
            return Ok(());
        }
        let editable = self.in_tree(number, |version, ino| {
            !version.vfs.is_generated(ino) || version.vfs.is_editable(ino)
        });
        match editable? {
            Some(false) => Err(Errno::PERM),
            Some(true) | None => Ok(()),
        }
    }

    /// Creates a file, or opens the one that is there. Counts one lookup.
    ///
    /// # Errors
    /// Returns `EXIST` if it is there and `flags` have `EXCL`, or an error if the
    /// directory cannot have files.
    pub fn create(&self, parent: u64, name: &str, flags: OFlags) -> Result<(Attributes, u64)> {
        check_name(name)?;
        match self.lookup(parent, name) {
            Ok(found) => {
                let opened = self.open_existing(found, flags);
                if opened.is_err() {
                    self.forget(found.number, 1);
                }
                return opened;
            }
            Err(Errno::NOENT) => {}
            Err(error) => return Err(error),
        }
        let _turn = lock(&self.turn);
        let (parent, path) = self.new_entry(parent, name)?;
        let (file, unfinished) = self.writer.create().map_err(|error| errno(&error))?;
        let own = Own {
            bytes: Bytes::Open(Arc::new(file)),
            gate: Arc::default(),
            elsewhere: Some(unfinished),
            is_dirty: true,
            is_over: false,
            note: None,
        };
        let mut inodes = lock(&self.inodes);
        inodes.is_there(&path);
        let number = inodes.add(Inode::new(parent, name, Body::Own(own.clone()), 0));
        inodes.touch(parent);
        let handle = inodes.open(Handle::File {
            inode: number,
            found: None,
            is_writable: true,
            is_refused: false,
        });
        drop(inodes);
        self.looked(number);
        Ok((of_own(number, &own)?, handle))
    }

    /// Opens a file that was to be created.
    fn open_existing(&self, found: Attributes, flags: OFlags) -> Result<(Attributes, u64)> {
        if flags.contains(OFlags::EXCL) {
            return Err(Errno::EXIST);
        }
        let handle = self.open_file(found.number, flags)?;
        let truncated = match flags.contains(OFlags::TRUNC) && found.size > 0 {
            true => self.set_size(found.number, 0),
            false => Ok(()),
        };
        let attributes = truncated.and_then(|()| self.attributes_now(found.number));
        match attributes {
            Ok(attributes) => Ok((attributes, handle)),
            Err(error) => {
                self.release(handle);
                Err(error)
            }
        }
    }

    /// Returns the directory itself and the path of a new entry in it.
    pub(super) fn new_entry(&self, parent: u64, name: &str) -> Result<(u64, String)> {
        let inodes = lock(&self.inodes);
        let parent = inodes.exact(parent);
        let directory = inodes.path(parent).ok_or(Errno::STALE)?;
        drop(inodes);
        self.check_place(parent, &directory)?;
        Ok((parent, joined(&directory, name)))
    }

    /// Checks that there can be new entries in a directory, which is at `path`.
    pub(super) fn check_place(&self, directory: u64, path: &str) -> Result<()> {
        if !is_derived(path) || self.is_view(path) {
            return Ok(());
        }
        let version = self.newest();
        let is_generated = match self.directory_in(&version, directory) {
            Ok(ino) => version.vfs.is_generated(ino),
            Err(Errno::NOENT) => false,
            Err(error) => return Err(error),
        };
        match is_generated {
            true => Err(Errno::PERM),
            false => Ok(()),
        }
    }

    /// Counts a lookup of an inode.
    pub fn looked(&self, number: u64) {
        if let Some(inode) = lock(&self.inodes).get_mut(number) {
            inode.lookups += 1;
        }
    }

    /// Writes bytes to an open file. `is_late` is whether they come from a mapping of the
    /// file, which may be closed already.
    ///
    /// # Errors
    /// Returns the error of writing to DIR.
    pub fn write(&self, number: u64, offset: u64, bytes: &[u8], is_late: bool) -> Result<()> {
        self.with_file(number, true, |file| file.write_all_at(bytes, offset))?;
        if is_late {
            self.signal(Signal::Written(number));
        }
        Ok(())
    }

    /// Changes the new bytes of an inode, which begin with the old ones if `with_old`,
    /// while the file is not given its place.
    fn with_file(
        &self,
        number: u64,
        with_old: bool,
        change: impl Fn(&File) -> io::Result<()>,
    ) -> Result<()> {
        loop {
            if self.unfinished(number).is_none() {
                let _turn = lock(&self.turn);
                self.begin_in_turn(number, with_old)?;
            }
            let Some((_, gate)) = self.unfinished(number) else {
                continue;
            };
            let _open = gate.read().unwrap_or_else(PoisonError::into_inner);
            // It may have got its place meanwhile.
            if let Some((file, same)) = self.unfinished(number)
                && Arc::ptr_eq(&gate, &same)
            {
                return change(&file).map_err(|error| errno(&error));
            }
        }
    }

    /// Returns the unfinished file with the new bytes of an inode, which is changed now.
    fn unfinished(&self, number: u64) -> Option<(Arc<File>, Arc<RwLock<()>>)> {
        match &mut lock(&self.inodes).get_mut(number)?.body {
            Body::Own(own) if own.is_unfinished() => {
                own.is_dirty = true;
                match &own.bytes {
                    Bytes::Open(file) => Some((file.clone(), own.gate.clone())),
                    Bytes::Closed { .. } => None,
                }
            }
            _ => None,
        }
    }

    /// Begins the new bytes of an inode in an unfinished file, with the old ones if
    /// `with_old`, unless they have begun. Those who call it have the turn.
    pub(super) fn begin_in_turn(&self, number: u64, with_old: bool) -> Result<()> {
        let is_gone = {
            let mut inodes = lock(&self.inodes);
            let inode = inodes.get_mut(number).ok_or(Errno::STALE)?;
            match &mut inode.body {
                Body::Own(own) if own.is_unfinished() => {
                    own.is_dirty = true;
                    return Ok(());
                }
                Body::Own(_) | Body::Shown(FileKind::File) => {}
                _ => return Err(Errno::PERM),
            }
            inode.is_gone
        };
        let old = self.own_file(number)?;
        let (file, unfinished) = match is_gone {
            // It has no name any more.
            true => self.writer.nameless().map(|file| (file, String::new())),
            false => self.writer.create(),
        }
        .map_err(|error| errno(&error))?;
        if with_old {
            let copied = match old {
                Some(old) => copy(&file, |offset| {
                    let mut piece = vec![0; PIECE as usize];
                    let read = old.read_at(&mut piece, offset);
                    let length = read.map_err(|error| errno(&error))?;
                    piece.truncate(length);
                    Ok(mount::Bytes::Owned(piece))
                }),
                None => self.copy_shown(number, &file),
            };
            if let Err(error) = copied {
                let _ = self.writer.discard(unfinished);
                return Err(error);
            }
        }
        let mut inodes = lock(&self.inodes);
        let inode = inodes.get_mut(number).ok_or(Errno::STALE)?;
        inode.modified = None;
        inode.body = Body::Own(Own {
            bytes: Bytes::Open(Arc::new(file)),
            gate: Arc::default(),
            elsewhere: Some(unfinished),
            is_dirty: true,
            is_over: true,
            note: None,
        });
        Ok(())
    }

    /// Copies what an inode shows to a file.
    fn copy_shown(&self, number: u64, file: &File) -> Result<()> {
        let found = self.find_shown(number)?.ok_or(Errno::STALE)?;
        copy(file, |offset| Self::read_found(&found, offset, PIECE))
    }

    /// Changes the attributes of an inode.
    ///
    /// # Errors
    /// Returns `PERM` if it cannot be edited, or the error of writing to DIR.
    pub fn setattr(&self, number: u64, change: Change) -> Result<Attributes> {
        if let Some(size) = change.size {
            self.check_editable(number)?;
            self.set_size(number, size)?;
            let has_writer = lock(&self.inodes)
                .get(number)
                .is_some_and(|inode| inode.writers > 0);
            if !has_writer {
                self.commit(number)?;
            }
        }
        if let Some(modified) = change.modified {
            self.set_modified(number, modified)?;
        }
        self.getattr(number)
    }

    fn set_size(&self, number: u64, size: u64) -> Result<()> {
        self.with_file(number, size > 0, |file| file.set_len(size))
    }

    fn set_modified(&self, number: u64, modified: SystemTime) -> Result<()> {
        let _turn = lock(&self.turn);
        let (path, elsewhere) = {
            let mut inodes = lock(&self.inodes);
            let path = inodes.path(number).ok_or(Errno::STALE)?;
            let inode = inodes.get_mut(number).ok_or(Errno::STALE)?;
            inode.modified = Some(modified);
            if inode.is_gone {
                return Ok(());
            }
            (path, inode.own().and_then(|own| own.elsewhere.clone()))
        };
        if let Some(unfinished) = elsewhere {
            let set = self.writer.set_modified(unfinished, modified);
            return set.map_err(|error| errno(&error));
        }
        if !self.is_in_folder(&path) {
            return Ok(());
        }
        // Versions take a file with another time for another one.
        self.keep_before(&path)?;
        let set = self.writer.set_modified(path.clone(), modified);
        set.map_err(|error| errno(&error))?;
        self.publish(&[&path], |inodes, change| {
            if let Some(inode) = inodes.get_mut(number) {
                inode.since = change;
            }
        });
        Ok(())
    }

    /// Reserves room for bytes of a file.
    ///
    /// # Errors
    /// Returns `OPNOTSUPP` for other modes than 0 and `KEEP_SIZE`.
    pub fn fallocate(&self, number: u64, offset: u64, length: u64, mode: i32) -> Result<()> {
        let mode = FallocateFlags::from_bits_retain(mode as u32);
        if !FallocateFlags::KEEP_SIZE.contains(mode) {
            return Err(Errno::OPNOTSUPP);
        }
        let reserve = |file: &File| Ok(rustix::fs::fallocate(file, mode, offset, length)?);
        self.with_file(number, true, reserve)
    }

    /// Commits a file when one of its descriptors is closed. A child process may have
    /// inherited a descriptor, so every close returns the error.
    ///
    /// # Errors
    /// Returns `INVAL` if the bytes are refused, or the error of writing to DIR.
    pub fn flush(&self, number: u64, handle: u64) -> Result<()> {
        let Some(Handle::File {
            is_writable: true,
            is_refused,
            ..
        }) = lock(&self.inodes).handle(handle).cloned()
        else {
            return Ok(());
        };
        let committed = self.commit(number);
        match committed {
            Ok(false) if is_refused => return Err(Errno::INVAL),
            Ok(false) => {}
            Ok(true) => lock(&self.inodes).tell_writers(number, false),
            Err(error) => lock(&self.inodes).tell_writers(number, error == Errno::INVAL),
        }
        committed.map(drop)
    }

    /// Closes something that is open.
    pub fn release(&self, handle: u64) {
        let mut inodes = lock(&self.inodes);
        let (number, found) = inodes.close(handle);
        let own = number.and_then(|number| inodes.get(number)?.own());
        let is_unfinished = own.is_some_and(Own::is_unfinished);
        drop(inodes);
        // The resources of a version are dropped without the lock.
        drop(found);
        if let Some(number) = number.filter(|_| is_unfinished) {
            self.signal(Signal::Closed(number));
        }
    }

    /// Writes the entries of a directory to the disk.
    ///
    /// # Errors
    /// Returns the error of the operating system.
    pub fn fsync_directory(&self, number: u64) -> Result<()> {
        let path = lock(&self.inodes).path(number).ok_or(Errno::STALE)?;
        self.writer.sync(&path).map_err(|error| errno(&error))
    }

    /// Writes a file to the disk, at its place in DIR.
    ///
    /// # Errors
    /// Returns an error under the same conditions as [`EditedMount::flush`].
    pub fn fsync(&self, number: u64) -> Result<()> {
        self.commit(number)?;
        let path = lock(&self.inodes).path(number).ok_or(Errno::STALE)?;
        let file = match self.own_file(number)? {
            Some(file) => Some(file),
            // A version has it already.
            None if self.is_in_folder(&path) => {
                let file = open_beneath(&self.folder, Path::new(&path), OFlags::RDONLY);
                Some(Arc::new(file.map_err(|error| errno(&error))?.into()))
            }
            None => None,
        };
        let Some(file) = file else {
            return Ok(());
        };
        file.sync_all().map_err(|error| errno(&error))?;
        let synced = self.writer.sync(split(&path).0);
        synced.map_err(|error| errno(&error))
    }

    /// Returns the room in the file system of DIR.
    ///
    /// # Errors
    /// Returns the error of the operating system.
    pub fn statfs(&self) -> Result<StatVfs> {
        rustix::fs::fstatvfs(&self.folder)
    }
}

/// Copies to a file what `read` returns for each offset, until it returns nothing.
pub(super) fn copy(file: &File, read: impl Fn(u64) -> Result<mount::Bytes>) -> Result<()> {
    let mut offset = 0;
    loop {
        let piece = read(offset)?;
        if piece.is_empty() {
            return Ok(());
        }
        let written: io::Result<()> = file.write_all_at(&piece, offset);
        written.map_err(|error| errno(&error))?;
        offset += piece.len() as u64;
    }
}
