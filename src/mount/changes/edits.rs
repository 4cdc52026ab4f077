//! A folder of changes that is edited while it is mounted (`--edit`).

use std::collections::BTreeSet;
use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Changes, Step};
use crate::mount::OpenError;
use crate::platform::FileStat;
use crate::source::{ChangesFolder, DiskNames, FilePool};
use hpimount_containers::changes::{Change, FileTable, Folder, NewFile, NewFiles};

/// Memory in bytes that files which are read one by one may take before the whole folder is
/// read again.
const MAX_ADDED: usize = 1 << 20;

/// A folder of changes as it was at one time.
#[derive(Clone)]
pub(crate) struct Edits {
    folder: Folder,
    /// Memory of its files, in bytes.
    memory: usize,
    /// The same when all of it was read.
    whole: usize,
    path: PathBuf,
    opened: Arc<ChangesFolder>,
}

/// Returns whether a path is of one entry that is shown with this path: not of the whole folder,
/// and without names that are shown as others or, not being UTF-8, are not known.
pub(crate) fn is_plain(path: &str) -> bool {
    let is_other = |char: char| char.is_control() || char == char::REPLACEMENT_CHARACTER;
    !path.is_empty() && !path.contains(is_other)
}

impl Edits {
    /// Reads the folder at `path`; `pool` opens its files.
    ///
    /// # Errors
    /// Returns the error of listing a directory.
    pub(crate) fn read(path: &Path, pool: &Arc<FilePool>) -> io::Result<Self> {
        let opened = ChangesFolder::open(path, pool, DiskNames::Plain)?;
        let (folder, memory) = opened.read()?;
        Ok(Self {
            folder,
            memory,
            whole: memory,
            path: path.to_owned(),
            opened,
        })
    }

    /// Reads again what the folder says about some paths; an empty one is all of it.
    ///
    /// # Errors
    /// Returns the error of listing a directory.
    pub(crate) fn read_again(&mut self, changed: &BTreeSet<String>) -> io::Result<()> {
        let is_plain = changed.iter().all(|path| is_plain(path));
        if self.memory > 2 * self.whole + MAX_ADDED || !is_plain {
            (self.folder, self.memory) = self.opened.read()?;
            self.whole = self.memory;
            return Ok(());
        }
        let changed = changed.iter().map(String::as_str);
        self.memory += self.opened.read_again(&mut self.folder, changed)?;
        Ok(())
    }

    /// Puts a file at `path`, with its bytes and its modification time of now.
    ///
    /// # Errors
    /// Returns the error of asking for its size.
    pub(crate) fn put(&mut self, path: &str, file: &Arc<File>) -> io::Result<()> {
        let stat = FileStat::of(file)?;
        let mut table = FileTable::default();
        table.push(path, stat.size, stat.modified, stat.version());
        let new = NewFile::of(&NewFiles::new(Arc::new(table), file.clone()), 0);
        let (directory, name) = path.rsplit_once('/').unwrap_or(("", path));
        let folder = self.directory(directory)?;
        folder.entries.insert(name.into(), Change::File(new));
        Ok(())
    }

    /// Deletes the file of the original at `path`.
    ///
    /// # Errors
    /// Returns an error if something in the way of its directory is no directory.
    pub(crate) fn delete(&mut self, path: &str) -> io::Result<()> {
        let (directory, name) = path.rsplit_once('/').unwrap_or(("", path));
        let folder = self.directory(directory)?;
        folder.entries.insert(name.into(), Change::Deleted);
        Ok(())
    }

    /// Puts a directory at `path`.
    ///
    /// # Errors
    /// Returns an error if something else is there.
    pub(crate) fn put_directory(&mut self, path: &str) -> io::Result<()> {
        self.directory(path).map(drop)
    }

    /// Returns the directory at `path`, which is made if it is missing.
    fn directory(&mut self, path: &str) -> io::Result<&mut Folder> {
        let mut folder = &mut self.folder;
        for part in path.split('/').filter(|part| !part.is_empty()) {
            let entry = folder.entries.entry(part.into());
            let entry = entry.or_insert_with(|| Change::Directory(Box::default()));
            if matches!(entry, Change::Deleted) {
                // It does not have what the deleted one had.
                *entry = Change::Directory(Box::new(Folder {
                    is_opaque: true,
                    ..Folder::default()
                }));
            }
            let Change::Directory(inner) = entry else {
                return Err(io::ErrorKind::NotADirectory.into());
            };
            folder = inner;
        }
        Ok(folder)
    }

    /// Returns the file at `path`.
    pub(crate) fn file(&self, path: &str) -> Option<&NewFile> {
        let (directory, name) = path.rsplit_once('/').unwrap_or(("", path));
        let mut folder = &self.folder;
        for part in directory.split('/').filter(|part| !part.is_empty()) {
            let Some(Change::Directory(inner)) = folder.entries.get(part) else {
                return None;
            };
            folder = inner;
        }
        match folder.entries.get(name)? {
            Change::File(file) => Some(file),
            _ => None,
        }
    }

    /// Returns which one of two files is newer.
    pub(crate) fn newer(&self, [one, other]: &[Box<str>; 2]) -> usize {
        let modified = |path: &str| self.file(path).and_then(NewFile::modified);
        usize::from(modified(one) <= modified(other))
    }

    /// Removes what the folder says about `path`, and returns it.
    pub(crate) fn take(&mut self, path: &str) -> Option<Change> {
        let (directory, name) = path.rsplit_once('/').unwrap_or(("", path));
        let mut folder = &mut self.folder;
        for part in directory.split('/').filter(|part| !part.is_empty()) {
            let Some(Change::Directory(inner)) = folder.entries.get_mut(part) else {
                return None;
            };
            folder = inner;
        }
        folder.entries.remove(name)
    }

    /// Returns a number that changes with what the folder says.
    pub(crate) fn version(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        hash(&self.folder, &mut hasher);
        hasher.finish()
    }

    /// Calls `visit` with everything that the folder says, but for directories, and with
    /// its path.
    pub(crate) fn each(&self, visit: &mut dyn FnMut(&str, &Change)) {
        each_change(&self.folder, "", visit);
    }
}

/// Hashes what a folder says. Folders are at most as deep as [`ChangesFolder::read`] permits.
fn hash(folder: &Folder, hasher: &mut DefaultHasher) {
    (folder.is_opaque, folder.entries.len()).hash(hasher);
    for (name, change) in &folder.entries {
        (name, mem::discriminant(change)).hash(hasher);
        match change {
            Change::Directory(inner) => hash(inner, hasher),
            Change::File(file) => file.version().hash(hasher),
            _ => {}
        }
    }
}

/// Calls `visit` with all changes in a folder at `prefix`, which is empty or ends with a
/// slash. Folders are at most as deep as [`ChangesFolder::read`] permits.
pub(crate) fn each_change(folder: &Folder, prefix: &str, visit: &mut dyn FnMut(&str, &Change)) {
    for (name, change) in &folder.entries {
        let path = format!("{prefix}{name}");
        match change {
            Change::Directory(inner) => each_change(inner, &format!("{path}/"), visit),
            change => visit(&path, change),
        }
    }
}

impl Changes {
    /// Returns the changes of `edits` on top of those that a source has, if there are any.
    ///
    /// # Errors
    /// Returns an error under the same conditions as [`Changes::read`].
    pub(in crate::mount) fn with_edits(
        below: Option<&Self>,
        edits: &Edits,
        is_strict: bool,
    ) -> Result<Self, OpenError> {
        let mut changes = match below {
            Some(changes) => changes.clone(),
            None => Self::read(&[], is_strict, DiskNames::Plain)?,
        };
        changes.memory += edits.memory;
        changes.paths.push(edits.path.clone());
        let folder = edits.folder.clone();
        match changes.steps.last_mut() {
            Some(Step::Folder(below)) => below.overlay(folder),
            _ => changes.steps.push(Step::Folder(folder)),
        }
        Ok(changes)
    }
}
