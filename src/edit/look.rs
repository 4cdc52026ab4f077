//! Finding inodes and their attributes.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use rustix::io::Errno;

use super::inode::{Body, Directory, Inode, Own, Place};
use super::inodes::{Inodes, ROOT};
use super::names::{CONTROL, MESSAGE, is_converted, is_derived};
use super::report::{CHANGES, INFO};
use super::version::Version;
use super::{EditedMount, Result, errno, errno_of};
use crate::mount::{Attr, FileKind, Ino};
use crate::namespace::joined;
use crate::sync::lock;

/// Permission bits of writing for the owner.
const WRITABLE: u16 = 0o200;

/// Attributes of an inode.
#[derive(Debug, Clone, Copy)]
pub struct Attributes {
    /// Its number.
    pub number: u64,
    /// Its kind.
    pub kind: FileKind,
    /// Size in bytes.
    pub size: u64,
    /// Permission bits.
    pub mode: u16,
    /// Modification time.
    pub modified: SystemTime,
    /// Number of its links.
    pub nlink: u32,
    /// True if they change only by requests of the kernel.
    pub is_lasting: bool,
}

/// Entry of a version at a name.
pub(super) enum VersionEntry {
    Kept(String),
    Tree(Attr),
}

fn time(seconds: i64) -> SystemTime {
    let distance = Duration::from_secs(seconds.unsigned_abs());
    let time = match seconds < 0 {
        true => SystemTime::UNIX_EPOCH.checked_sub(distance),
        false => SystemTime::UNIX_EPOCH.checked_add(distance),
    };
    time.unwrap_or(SystemTime::UNIX_EPOCH)
}

/// Returns the attributes of a file whose bytes are in DIR.
pub(super) fn of_own(number: u64, own: &Own) -> Result<Attributes> {
    let (size, modified) = own.bytes.attributes().map_err(|error| errno(&error))?;
    Ok(Attributes {
        number,
        kind: FileKind::File,
        size,
        mode: 0o644,
        modified,
        nlink: 1,
        is_lasting: false,
    })
}

impl EditedMount {
    /// Finds an entry of a directory, without counting a lookup.
    pub(super) fn find(&self, parent: u64, name: &str) -> Result<Attributes> {
        let found = self.lookup(parent, name)?;
        self.forget(found.number, 1);
        Ok(found)
    }

    /// Finds an entry of a directory, and counts one lookup of it.
    ///
    /// # Errors
    /// Returns `NOENT`, `NOTDIR`, or the errors of reading the sources.
    pub fn lookup(&self, parent: u64, name: &str) -> Result<Attributes> {
        let version = self.current();
        let (path, own) = {
            let mut inodes = lock(&self.inodes);
            let directory = inodes.path(parent).ok_or(Errno::STALE)?;
            if !matches!(
                inodes.get(parent).map(|inode| &inode.body),
                Some(Body::Directory(_))
            ) {
                return Err(Errno::NOTDIR);
            }
            let path = joined(&directory, name);
            let own = self.own_entry(&inodes, inodes.exact(parent), name);
            if own.is_none() && inodes.is_missing(&path) {
                return Err(Errno::NOENT);
            }
            if let Some(inode) = own.and_then(|number| inodes.get_mut(number)) {
                inode.lookups += 1;
            }
            (path, own)
        };
        if let Some(number) = own {
            let found = self.attributes_now(number);
            return self.unless_failed(number, found);
        }
        if let Some(text) = self.text_at(&path) {
            return Ok(self.show_text(parent, name, text));
        }
        let version = match self.must_wait(&version, &path) {
            true => self.newest(),
            false => version,
        };
        let found = self.find_in(&version, parent, name);
        match found {
            // Another name of an asset goes with it.
            Ok(link) if link.kind == FileKind::Symlink && !self.planner.is_newest(&version) => {
                self.forget(link.number, 1);
                self.find_in(&self.newest(), parent, name)
            }
            found => found,
        }
    }

    /// Takes back the lookup of an inode that is not answered.
    pub(super) fn unless_failed(
        &self,
        number: u64,
        found: Result<Attributes>,
    ) -> Result<Attributes> {
        if found.is_err() {
            self.forget(number, 1);
        }
        found
    }

    /// Returns whether what `version` shows at a path may be older than the last change.
    fn must_wait(&self, version: &Version, path: &str) -> bool {
        is_derived(path) || lock(&self.inodes).is_behind(version.number, path)
    }

    /// Returns the entry of a directory with this name or another spelling of it, if its
    /// bytes are in DIR or it is new.
    fn own_entry(&self, inodes: &Inodes, parent: u64, name: &str) -> Option<u64> {
        let is_own = |number: &u64| match inodes.get(*number).map(|inode| &inode.body) {
            Some(Body::Own(_)) => true,
            Some(Body::Directory(directory)) => directory.is_new || directory.is_emptied,
            _ => false,
        };
        if let Some(exact) = inodes.entry(parent, name) {
            return Some(exact).filter(is_own);
        }
        if self.planner.recipe.options.case_sensitive {
            return None;
        }
        inodes.spellings(parent, name).find(is_own)
    }

    /// Finds an entry of a directory in a version, and counts one lookup of it.
    fn find_in(&self, version: &Arc<Version>, parent: u64, name: &str) -> Result<Attributes> {
        let directory = self.directory_in(version, parent)?;
        let (spelling, shown) = self.shown(version, parent, directory, name)?;
        let (attr, kind) = match &shown {
            VersionEntry::Kept(_) => (None, FileKind::File),
            VersionEntry::Tree(attr) => (Some(*attr), attr.kind),
        };
        let number = match kind {
            FileKind::Directory => {
                let attr = attr.ok_or(Errno::IO)?;
                return Ok(self.show_directory(version, parent, name, &spelling, attr));
            }
            kind => self.show_file(version, parent, &spelling, kind)?,
        };
        let attributes = self.attributes_of(version, number, &shown);
        if let Some(attr) = attr {
            version.vfs.forget(attr.ino, 1);
        }
        self.unless_failed(number, attributes)
    }

    /// Returns what a version shows at a name, and how the name is spelled there.
    pub(super) fn shown(
        &self,
        version: &Arc<Version>,
        parent: u64,
        directory: Ino,
        name: &str,
    ) -> Result<(String, VersionEntry)> {
        let path = lock(&self.inodes).path(parent).ok_or(Errno::STALE)?;
        let kept = joined(&path, name);
        if version.kept.contains_key(&kept) {
            return Ok((name.to_owned(), VersionEntry::Kept(kept)));
        }
        let vfs = &version.vfs;
        let spelling = vfs.spelling(directory, name).unwrap_or(name.to_owned());
        let kept = joined(&path, &spelling);
        if version.kept.contains_key(&kept) {
            return Ok((spelling, VersionEntry::Kept(kept)));
        }
        let attr = vfs.lookup(directory, &spelling).map_err(errno_of)?;
        Ok((spelling, VersionEntry::Tree(attr)))
    }

    /// Returns the number of a directory in a version.
    pub(super) fn directory_in(&self, version: &Arc<Version>, number: u64) -> Result<Ino> {
        let (parent, name) = {
            let inodes = lock(&self.inodes);
            let number = inodes.exact(number);
            if number == ROOT {
                return Ok(Ino::ROOT);
            }
            let inode = inodes.get(number).ok_or(Errno::STALE)?;
            let Body::Directory(directory) = &inode.body else {
                return Err(Errno::NOTDIR);
            };
            if let Some((of, ino)) = &directory.found
                && std::ptr::eq(of.as_ptr(), Arc::as_ptr(version))
            {
                return Ok(*ino);
            }
            if version.number < directory.needs {
                return Err(Errno::NOENT);
            }
            (inode.parent, inode.name.clone())
        };
        let above = self.directory_in(version, parent)?;
        let attr = version.vfs.lookup(above, &name).map_err(errno_of)?;
        if attr.kind != FileKind::Directory {
            version.vfs.forget(attr.ino, 1);
            return Err(Errno::NOTDIR);
        }
        self.found_directory(version, number, attr.ino);
        Ok(attr.ino)
    }

    /// Remembers the number of a directory in a version, which has counted one lookup of it.
    fn found_directory(&self, version: &Arc<Version>, number: u64, ino: Ino) {
        let mut inodes = lock(&self.inodes);
        let number = inodes.exact(number);
        let Some(Body::Directory(directory)) = inodes.get_mut(number).map(|inode| &mut inode.body)
        else {
            return version.vfs.forget(ino, 1);
        };
        let before = directory.found.replace((Arc::downgrade(version), ino));
        drop(inodes);
        if let Some((of, ino)) = before
            && let Some(of) = of.upgrade()
        {
            of.vfs.forget(ino, 1);
        }
    }

    /// Returns the directory at a name, and counts one lookup of its inode. The version has
    /// counted one as well.
    pub(super) fn show_directory(
        &self,
        version: &Arc<Version>,
        parent: u64,
        name: &str,
        spelling: &str,
        attr: Attr,
    ) -> Attributes {
        let mut inodes = lock(&self.inodes);
        let exact_parent = inodes.exact(parent);
        let directory = |inodes: &mut Inodes, parent, name: &str, spelled| {
            let known = inodes.entry(parent, name).filter(|&number| {
                matches!(
                    inodes.get(number).map(|inode| &inode.body),
                    Some(Body::Directory(_))
                )
            });
            known.unwrap_or_else(|| {
                let body = Body::Directory(Directory {
                    spelled,
                    ..Directory::default()
                });
                inodes.add(Inode::new(parent, name, body, version.number))
            })
        };
        let exact = directory(&mut inodes, exact_parent, spelling, None);
        // A directory has one name in the kernel: another spelling is another inode.
        let number = match parent == exact_parent && name == spelling {
            true => exact,
            false => directory(&mut inodes, parent, name, Some(exact)),
        };
        if let Some(inode) = inodes.get_mut(number) {
            inode.lookups += 1;
        }
        drop(inodes);
        self.found_directory(version, exact, attr.ino);
        self.of_directory(number, Some(attr))
    }

    fn of_directory(&self, number: u64, attr: Option<Attr>) -> Attributes {
        let set = {
            let inodes = lock(&self.inodes);
            let exact = inodes.get(inodes.exact(number));
            exact.and_then(|inode| inode.modified)
        };
        let found = attr.map(|attr| time(attr.modified));
        Attributes {
            number,
            kind: FileKind::Directory,
            size: 0,
            mode: 0o755,
            modified: set.or(found).unwrap_or(SystemTime::UNIX_EPOCH),
            // The number of directories in it is unknown.
            nlink: 1,
            is_lasting: false,
        }
    }

    /// Returns the number of the file or link at a name of a version, and counts one
    /// lookup of it.
    pub(super) fn show_file(
        &self,
        version: &Arc<Version>,
        parent: u64,
        spelling: &str,
        kind: FileKind,
    ) -> Result<u64> {
        let mut inodes = lock(&self.inodes);
        let parent = inodes.exact(parent);
        let path = joined(&inodes.path(parent).ok_or(Errno::STALE)?, spelling);
        if let Some(number) = inodes.entry(parent, spelling)
            && let Some(inode) = inodes.get(number)
            && matches!(inode.body, Body::Shown(of) if of == kind)
            && (inode.writers > 0 || !inodes.has_changed(&path, inode.since, version.number))
        {
            if let Some(inode) = inodes.get_mut(number) {
                if inode.writers == 0 {
                    inode.since = inode.since.max(version.number);
                }
                inode.lookups += 1;
            }
            return Ok(number);
        }
        let mut inode = Inode::new(parent, spelling, Body::Shown(kind), version.number);
        inode.lookups = 1;
        if inodes.is_changed(&path, version.number) {
            inode.modified = Some(version.edit_time(&path).unwrap_or(version.modified));
        }
        Ok(inodes.add(inode))
    }

    pub(super) fn attributes_of(
        &self,
        version: &Arc<Version>,
        number: u64,
        shown: &VersionEntry,
    ) -> Result<Attributes> {
        let inodes = lock(&self.inodes);
        let path = inodes.path(number).ok_or(Errno::STALE)?;
        let modified = inodes.get(number).and_then(|inode| inode.modified);
        drop(inodes);
        let mut attributes = match shown {
            VersionEntry::Kept(path) => Attributes {
                number,
                kind: FileKind::File,
                size: version.kept.get(path).map_or(0, |kept| kept.file.len()),
                mode: 0o644,
                modified: version.kept_time(path).unwrap_or(SystemTime::UNIX_EPOCH),
                nlink: 1,
                is_lasting: false,
            },
            VersionEntry::Tree(attr) => {
                let is_fixed = attr.kind == FileKind::Symlink
                    || is_derived(&path) && !version.vfs.is_edited_in_meta(attr.ino);
                Attributes {
                    number,
                    kind: attr.kind,
                    size: attr.size,
                    mode: match is_fixed && !is_converted(&path) {
                        true => attr.mode,
                        false => attr.mode | WRITABLE,
                    },
                    modified: version.edit_time(&path).unwrap_or(time(attr.modified)),
                    nlink: attr.nlink,
                    is_lasting: attr.lasting && !is_derived(&path),
                }
            }
        };
        attributes.modified = modified.unwrap_or(attributes.modified);
        Ok(attributes)
    }

    /// Returns the attributes of an inode.
    ///
    /// # Errors
    /// Returns `STALE` for a file that has changed and is not open.
    pub fn getattr(&self, number: u64) -> Result<Attributes> {
        self.current();
        self.attributes_now(number)
    }

    pub(super) fn attributes_now(&self, number: u64) -> Result<Attributes> {
        let (body, parent, name, pinned, is_gone, path) = {
            let inodes = lock(&self.inodes);
            let inode = inodes.get(number).ok_or(Errno::STALE)?;
            let (name, pinned) = (inode.name.clone(), inode.pinned.clone());
            let path = inodes.path(number).unwrap_or_default();
            (
                inode.body.clone(),
                inode.parent,
                name,
                pinned,
                inode.is_gone,
                path,
            )
        };
        match body {
            Body::Own(own) => {
                let set = lock(&self.inodes)
                    .get(number)
                    .and_then(|inode| inode.modified);
                let attributes = of_own(number, &own)?;
                Ok(Attributes {
                    modified: set.unwrap_or(attributes.modified),
                    nlink: u32::from(!is_gone),
                    ..attributes
                })
            }
            Body::Text(text) => Ok(of_text(number, &text)),
            Body::Directory(_) => {
                let version = self.current();
                let attr = self.directory_in(&version, number);
                let attr = attr.ok().and_then(|ino| version.vfs.getattr(ino).ok());
                Ok(self.of_directory(number, attr))
            }
            Body::Shown(_) => {
                if let Some(found) = pinned {
                    let shown = match &found.place {
                        Place::Tree(ino) => {
                            VersionEntry::Tree(found.version.vfs.getattr(*ino).map_err(errno_of)?)
                        }
                        Place::Kept(path) => VersionEntry::Kept(path.clone()),
                    };
                    return self.attributes_of(&found.version, number, &shown);
                }
                if is_gone {
                    return Err(Errno::STALE);
                }
                let version = match is_derived(&path) {
                    true => self.newest(),
                    false => self.current(),
                };
                let found = self.find_in(&version, parent, &name)?;
                self.forget(found.number, 1);
                match found.number == number {
                    true => Ok(found),
                    false => Err(Errno::STALE),
                }
            }
        }
    }

    /// Counts lookups that the kernel has forgotten.
    pub fn forget(&self, number: u64, lookups: u64) {
        lock(&self.inodes).forget(number, lookups);
    }

    /// Returns the parent of a directory.
    ///
    /// # Errors
    /// Returns `STALE` if there is no such inode.
    pub fn parent(&self, number: u64) -> Result<u64> {
        let inodes = lock(&self.inodes);
        Ok(inodes.get(number).ok_or(Errno::STALE)?.parent)
    }

    /// Returns a text about the mount at a path, if there is one.
    fn text_at(&self, path: &str) -> Option<String> {
        match path.split_once('/') {
            Some((CONTROL, CHANGES)) => return Some(self.changes(&self.newest())),
            Some((CONTROL, INFO)) => return self.info(&self.newest()),
            _ => {}
        }
        let about = path.strip_suffix(MESSAGE)?;
        let reason = self.refusal(about)?;
        Some(message(about, &reason))
    }

    fn show_text(&self, parent: u64, name: &str, text: String) -> Attributes {
        let text = Arc::new(text.into_bytes());
        let mut inodes = lock(&self.inodes);
        let parent = inodes.exact(parent);
        // Those who look it up again and again have one text in memory.
        if let Some(number) = inodes.entry(parent, name)
            && let Some(inode) = inodes.get_mut(number)
            && matches!(&inode.body, Body::Text(known) if *known == text)
        {
            inode.lookups += 1;
            return of_text(number, &text);
        }
        let mut inode = Inode::new(parent, name, Body::Text(text.clone()), 0);
        inode.lookups = 1;
        of_text(inodes.add(inode), &text)
    }
}

/// Returns the text that says why the file at `path` is refused.
pub(super) fn message(path: &str, reason: &str) -> String {
    format!("{path}: {reason}\n")
}

fn of_text(number: u64, text: &[u8]) -> Attributes {
    Attributes {
        number,
        kind: FileKind::File,
        size: text.len() as u64,
        mode: 0o444,
        modified: SystemTime::now(),
        nlink: 1,
        is_lasting: false,
    }
}
