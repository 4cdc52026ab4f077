//! The folder of edits (DIR), and the only thread that changes it.
//!
//! Each step leaves a folder that can be applied: a file gets its name when its bytes are
//! complete, and never has that name while the folder says that it is deleted.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{File, FileTimes};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::SystemTime;

use rustix::fs::{
    AtFlags, Dir, FileType, FlockOperation, Mode, OFlags, RenameFlags, flock, mkdirat, openat,
    renameat_with, statat, unlinkat,
};
use rustix::io::Errno;

use crate::platform::unix::{open_beneath, rename_without_replacing};
use crate::source::{OPAQUE, WHITEOUT};
use crate::sync::{Mutex, lock};
use hpimount_containers::changes::is_litter;

/// Begins the names of files in DIR that the mount has not finished.
pub(super) const UNFINISHED: &str = ".hpimount-";

/// Ends the names of rejected files in DIR, which are not applied.
pub(super) const REJECTED: &str = ".rejected~";

/// Maximum length of a name in bytes.
pub(super) const MAX_NAME: usize = 255;

/// The directory in DIR for superseded files. It is not applied.
pub(crate) const TRASH: &str = ".Trash-hpimount";

/// Flags for opening a directory to change its entries.
const DIRECTORY: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY);

/// Permissions of new files and directories, less the umask: others may not change them.
const FILE_MODE: Mode = Mode::from_bits_truncate(0o644);
const DIRECTORY_MODE: Mode = Mode::from_bits_truncate(0o755);

/// A folder of edits that is open, and locked unless it is only read. Paths are relative to it, with slashes.
pub(super) struct EditFolder {
    root: OwnedFd,
    path: PathBuf,
    /// Number of unfinished files so far.
    unfinished: u64,
    /// True if it is only read.
    is_followed: bool,
}

impl EditFolder {
    /// Opens the folder at `path`, and makes it if it is missing.
    ///
    /// # Errors
    /// Returns an error if it cannot be opened, is in use by another mount, or could be
    /// changed by other users.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        match std::fs::DirBuilder::new().mode(0o755).create(path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        let path = path.canonicalize()?;
        let root = rustix::fs::open(&path, DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        let stat = rustix::fs::fstat(&root)?;
        let is_own = stat.st_uid == rustix::process::geteuid().as_raw();
        if !is_own || stat.st_mode & 0o022 != 0 {
            return Err(io::Error::other(
                "must belong to the user who mounts, and be writable for no others",
            ));
        }
        flock(&root, FlockOperation::NonBlockingLockExclusive).map_err(|error| match error {
            Errno::WOULDBLOCK => io::Error::other("is edited by another mount"),
            error => error.into(),
        })?;
        let folder = Self {
            root,
            path,
            unfinished: 0,
            is_followed: false,
        };
        folder.remove_unfinished()?;
        Ok(folder)
    }

    /// Opens the folder at `path` to read it; others may change it.
    ///
    /// # Errors
    /// Returns an error if it cannot be opened.
    pub(super) fn follow(path: &Path) -> io::Result<Self> {
        let path = path.canonicalize()?;
        let root = rustix::fs::open(&path, DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        Ok(Self {
            root,
            path,
            unfinished: 0,
            is_followed: true,
        })
    }

    /// Returns its path, without symbolic links.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns another descriptor of the folder.
    ///
    /// # Errors
    /// Returns the error of the operating system.
    pub(super) fn handle(&self) -> io::Result<OwnedFd> {
        self.root.try_clone()
    }

    /// Removes what a mount that was killed has left.
    fn remove_unfinished(&self) -> io::Result<()> {
        for entry in Dir::read_from(&self.root)? {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if name.starts_with(UNFINISHED.as_bytes()) && name.ends_with(b"~") {
                remove_all(&self.root, OsStr::from_bytes(name))?;
            }
        }
        Ok(())
    }

    /// Creates an empty file without a final name, and returns its name.
    fn create(&mut self) -> io::Result<(File, String)> {
        self.unfinished += 1;
        let name = format!("{UNFINISHED}{:08x}~", self.unfinished);
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let file = openat(&self.root, &*name, flags | OFlags::NOFOLLOW, FILE_MODE)?;
        Ok((file.into(), name))
    }

    /// Opens the directory at `path`.
    fn directory(&self, path: &str) -> io::Result<OwnedFd> {
        open_beneath(&self.root, Path::new(path), DIRECTORY)
    }

    /// Opens the directory at `path`, and makes its missing components.
    fn make(&self, path: &str) -> io::Result<OwnedFd> {
        let mut directory = self.directory("")?;
        for name in path.split('/').filter(|name| !name.is_empty()) {
            let opened = open_beneath(&directory, Path::new(name), DIRECTORY);
            directory = match opened {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    unmark(&directory, name)?;
                    mkdirat(&directory, name, DIRECTORY_MODE)?;
                    open_beneath(&directory, Path::new(name), DIRECTORY)?
                }
                opened => opened?,
            };
        }
        Ok(directory)
    }

    /// Removes a file, and marks it as deleted if the original has it. Returns whether it was
    /// there.
    fn delete(&self, path: &str, is_original: bool) -> io::Result<bool> {
        let (parent, name) = split(path);
        if is_original && WHITEOUT.len() + name.len() > MAX_NAME {
            return Err(Errno::NAMETOOLONG.into());
        }
        let directory = match is_original {
            true => self.make(parent)?,
            false => match self.directory(parent) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
                directory => directory?,
            },
        };
        let is_there = match unlinkat(&directory, name, AtFlags::empty()) {
            Err(Errno::NOENT) => false,
            removed => removed.map(|()| true)?,
        };
        if is_original {
            mark(&directory, &format!("{WHITEOUT}{name}"))?;
        }
        Ok(is_there)
    }

    /// Gives the file or directory at `from` the path `to`, and marks the old path as
    /// deleted if the original has it.
    fn rename(&self, from: &str, to: &str, is_original: bool) -> io::Result<()> {
        let ((old_parent, old), (new_parent, new)) = (split(from), split(to));
        let (before, after) = (self.directory(old_parent)?, self.make(new_parent)?);
        if is_marked(&after, new)?
            && let Ok(directory) = self.directory(from)
        {
            // It does not have what the deleted one had.
            mark(&directory, OPAQUE)?;
        }
        unmark(&after, new)?;
        rename(&before, old, &after, new)?;
        if is_original {
            mark(&before, &format!("{WHITEOUT}{old}"))?;
        }
        Ok(())
    }

    /// Gives two files the paths of each other.
    fn exchange(&self, one: &str, other: &str) -> io::Result<()> {
        let ((one_parent, one), (other_parent, other)) = (split(one), split(other));
        let (from, to) = (self.directory(one_parent)?, self.directory(other_parent)?);
        Ok(renameat_with(from, one, to, other, RenameFlags::EXCHANGE)?)
    }

    /// Takes the name from a file, which is unfinished then. Returns its new name.
    fn unname(&mut self, path: &str) -> io::Result<String> {
        self.unfinished += 1;
        let unfinished = format!("{UNFINISHED}{:08x}~", self.unfinished);
        let (parent, name) = split(path);
        rename(&self.directory(parent)?, name, &self.root, &unfinished)?;
        Ok(unfinished)
    }

    /// Makes a directory. If the original has one of this name that is deleted, the new
    /// one is empty.
    fn make_directory(&mut self, path: &str) -> io::Result<()> {
        let (parent, name) = split(path);
        let directory = self.make(parent)?;
        if !is_marked(&directory, name)? {
            return Ok(mkdirat(&directory, name, DIRECTORY_MODE)?);
        }
        self.unfinished += 1;
        let unfinished = format!("{UNFINISHED}{:08x}~", self.unfinished);
        mkdirat(&self.root, &*unfinished, DIRECTORY_MODE)?;
        mark(&self.directory(&unfinished)?, OPAQUE)?;
        unmark(&directory, name)?;
        rename(&self.root, &unfinished, &directory, name)
    }

    /// Removes a directory that has only marks and files that are not applied, and marks it
    /// as deleted if the original has it.
    fn delete_directory(&mut self, path: &str, is_original: bool) -> io::Result<()> {
        let (parent, name) = split(path);
        let unfinished = match self.directory(path) {
            Ok(directory) => {
                for entry in Dir::read_from(&directory)? {
                    let entry = entry?;
                    let inner = entry.file_name().to_string_lossy();
                    let is_applied = !inner.starts_with(WHITEOUT) && !is_litter(&inner);
                    if is_applied && inner != "." && inner != ".." {
                        return Err(Errno::NOTEMPTY.into());
                    }
                }
                Some(self.unname(path)?)
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        if is_original {
            mark(&self.make(parent)?, &format!("{WHITEOUT}{name}"))?;
        }
        match unfinished {
            Some(unfinished) => remove_all(&self.root, OsStr::new(&unfinished)),
            None => Ok(()),
        }
    }

    /// Moves a file or a directory to the trash of the folder, if it is there. Returns its
    /// path there.
    fn throw_away(&self, path: &str) -> io::Result<Option<String>> {
        let (parent, name) = split(path);
        let moved = self
            .directory(parent)
            .and_then(|parent| move_to_trash(&self.root, &parent, name));
        match moved {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            moved => moved.map(|name| Some(format!("{TRASH}/{name}"))),
        }
    }

    /// Sets the modification time of a file.
    fn set_modified(&self, path: &str, modified: SystemTime) -> io::Result<()> {
        let file = open_beneath(&self.root, Path::new(path), OFlags::WRONLY)?;
        File::from(file).set_times(FileTimes::new().set_modified(modified))
    }

    /// Writes a directory and those around it, which may be new, to the disk.
    fn sync(&self, path: &str) -> io::Result<()> {
        for path in Path::new(path).ancestors() {
            match open_beneath(&self.root, path, DIRECTORY) {
                // Nothing has changed in it.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                directory => rustix::fs::fsync(directory?)?,
            }
        }
        Ok(())
    }
}

/// Moves an entry of a directory to the trash of the folder at `root`, under a name that is
/// free there, and returns that.
///
/// # Errors
/// Returns the error of the operating system.
pub(crate) fn move_to_trash(root: &OwnedFd, directory: &OwnedFd, name: &str) -> io::Result<String> {
    match mkdirat(root, TRASH, DIRECTORY_MODE) {
        Ok(()) | Err(Errno::EXIST) => {}
        Err(error) => return Err(error.into()),
    }
    let trash = open_beneath(root, Path::new(TRASH), DIRECTORY)?;
    let mut free = name.to_owned();
    let mut number = 0;
    while let Err(error) = rename_without_replacing(directory, name, &trash, &free) {
        if error != Errno::EXIST {
            return Err(error.into());
        }
        number += 1;
        free = format!("{name}.{number}");
    }
    Ok(free)
}

/// Divides a path into the directory and the name.
pub(super) fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

fn rename(from: &OwnedFd, old: &str, to: &OwnedFd, new: &str) -> io::Result<()> {
    Ok(renameat_with(from, old, to, new, RenameFlags::empty())?)
}

/// Removes a file, or a directory with the files in it: unfinished directories have no
/// others in them.
fn remove_all(parent: &OwnedFd, name: &OsStr) -> io::Result<()> {
    let directory = match unlinkat(parent, name, AtFlags::empty()) {
        Err(Errno::ISDIR | Errno::PERM) => open_beneath(parent, Path::new(name), DIRECTORY)?,
        removed => return Ok(removed?),
    };
    for entry in Dir::read_from(&directory)? {
        let entry = entry?;
        let inner = entry.file_name();
        if ![&b"."[..], b".."].contains(&inner.to_bytes()) {
            unlinkat(&directory, inner, AtFlags::empty())?;
        }
    }
    Ok(unlinkat(parent, name, AtFlags::REMOVEDIR)?)
}

/// Creates an empty file, which is a mark.
fn mark(directory: &OwnedFd, name: &str) -> io::Result<()> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    openat(directory, name, flags, FILE_MODE)?;
    Ok(())
}

/// Removes the mark that `name` is deleted.
fn unmark(directory: &OwnedFd, name: &str) -> io::Result<()> {
    let removed = unlinkat(directory, format!("{WHITEOUT}{name}"), AtFlags::empty());
    match removed {
        // A name that is too long has no mark.
        Err(Errno::NOENT | Errno::NAMETOOLONG) => Ok(()),
        removed => Ok(removed?),
    }
}

fn is_marked(directory: &OwnedFd, name: &str) -> io::Result<bool> {
    let mark = format!("{WHITEOUT}{name}");
    match statat(directory, mark, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => Ok(FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile),
        Err(Errno::NOENT | Errno::NAMETOOLONG) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Work of the thread.
type Job = Box<dyn FnOnce(&mut EditFolder) + Send>;

/// The thread that changes the folder. It parses nothing.
#[derive(Clone)]
pub(super) struct Writer {
    jobs: Sender<Job>,
    /// Paths of the folder that have changed.
    changed: Arc<Mutex<BTreeSet<String>>>,
}

impl Writer {
    /// Starts the thread; `confine` confines it.
    ///
    /// # Errors
    /// Returns an error if it cannot be started or confined.
    pub(super) fn start(
        mut folder: EditFolder,
        confine: impl FnOnce() -> io::Result<()> + Send + 'static,
    ) -> io::Result<Self> {
        let (jobs, received) = channel::<Job>();
        let (confined, outcome) = channel();
        let work = move || {
            let result = confine();
            let is_confined = result.is_ok();
            // The starting thread waits for it.
            let _ = confined.send(result);
            if is_confined {
                received.into_iter().for_each(|job| job(&mut folder));
            }
        };
        thread::Builder::new()
            .name("writer".to_owned())
            .spawn(work)?;
        outcome.recv().map_err(io::Error::other)??;
        Ok(Self {
            jobs,
            changed: Arc::default(),
        })
    }

    /// Records that a path has changed; all of them if it is empty.
    pub(super) fn note(&self, path: &str) {
        if !path.starts_with(UNFINISHED) {
            lock(&self.changed).insert(path.to_owned());
        }
    }

    /// Returns the paths that have changed since the last call.
    pub(super) fn take_changed(&self) -> BTreeSet<String> {
        std::mem::take(&mut *lock(&self.changed))
    }

    /// Does work that changes what the folder says about some paths.
    fn change<T: Send + 'static, const N: usize>(
        &self,
        paths: [String; N],
        work: impl FnOnce(&mut EditFolder, [&str; N]) -> io::Result<T> + Send + 'static,
    ) -> io::Result<T> {
        let of_work = paths.clone();
        let changed = self.run(move |folder| work(folder, of_work.each_ref().map(|path| &**path)));
        paths.iter().for_each(|path| self.note(path));
        changed
    }

    fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut EditFolder) -> io::Result<T> + Send + 'static,
    ) -> io::Result<T> {
        let (sender, result) = channel();
        let job = Box::new(move |folder: &mut EditFolder| {
            // The receiver is gone if a handler has panicked.
            let _ = sender.send(work(folder));
        });
        self.jobs.send(job).map_err(|_| io::ErrorKind::BrokenPipe)?;
        result.recv().map_err(io::Error::other)?
    }

    /// Creates an empty file without a final name, and returns its name.
    ///
    /// # Errors
    /// Returns the error of the operating system, as all methods do.
    pub(super) fn create(&self) -> io::Result<(File, String)> {
        self.run(EditFolder::create)
    }

    /// Creates a file that has no name at all; it is in DIR, unless that is only read.
    pub(super) fn nameless(&self) -> io::Result<File> {
        self.run(|folder| {
            if folder.is_followed {
                return tempfile::tempfile();
            }
            let (file, name) = folder.create()?;
            unlinkat(&folder.root, &*name, AtFlags::empty())?;
            Ok(file)
        })
    }

    /// Removes a file that has no place in DIR; one without a name is gone when it is closed.
    pub(super) fn discard(&self, path: String) -> io::Result<()> {
        match path.is_empty() {
            true => Ok(()),
            false => self.delete(path, false).map(drop),
        }
    }

    /// Takes the name from a file, which is unfinished then. Returns its new name.
    pub(super) fn unname(&self, path: String) -> io::Result<String> {
        self.change([path], |folder, [path]| folder.unname(path))
    }

    /// Removes a file, and marks it as deleted if the original has it. Returns whether it was
    /// there.
    pub(super) fn delete(&self, path: String, is_original: bool) -> io::Result<bool> {
        self.change([path], move |folder, [path]| {
            folder.delete(path, is_original)
        })
    }

    /// Renames a file or a directory, and marks the old path as deleted if the original
    /// has it.
    pub(super) fn rename(&self, from: String, to: String, is_original: bool) -> io::Result<()> {
        self.change([from, to], move |folder, [from, to]| {
            folder.rename(from, to, is_original)
        })
    }

    /// Gives two files the paths of each other.
    pub(super) fn exchange(&self, one: String, other: String) -> io::Result<()> {
        self.change([one, other], |folder, [one, other]| {
            folder.exchange(one, other)
        })
    }

    /// Makes a directory, which is empty.
    pub(super) fn make_directory(&self, path: String) -> io::Result<()> {
        self.change([path], |folder, [path]| folder.make_directory(path))
    }

    /// Removes a directory, and marks it as deleted if the original has it.
    pub(super) fn delete_directory(&self, path: String, is_original: bool) -> io::Result<()> {
        self.change([path], move |folder, [path]| {
            folder.delete_directory(path, is_original)
        })
    }

    /// Moves a file or a directory to the trash of the folder, if it is there. Returns its
    /// path there.
    pub(super) fn throw_away(&self, path: String) -> io::Result<Option<String>> {
        self.change([path], |folder, [path]| folder.throw_away(path))
    }

    /// Sets the modification time of a file.
    pub(super) fn set_modified(&self, path: String, modified: SystemTime) -> io::Result<()> {
        self.change([path], move |folder, [path]| {
            folder.set_modified(path, modified)
        })
    }

    /// Writes a directory to the disk.
    pub(super) fn sync(&self, path: &str) -> io::Result<()> {
        let path = path.to_owned();
        self.run(move |folder| folder.sync(&path))
    }
}

impl AsFd for EditFolder {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.root.as_fd()
    }
}
