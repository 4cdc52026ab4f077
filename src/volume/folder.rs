//! Folders on disk as sources: a directory at a time, or all of it, their
//! files read through.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use crate::io;
use crate::mount::error::{OpenCause, OpenError};
use crate::namespace::tree::{Label, NewInode, TreeBuilder};
use crate::source::{FileIdentity, FilePool};
use crate::volume::{Archive, FileId, MAX_DEPTH, NodeId, Sink, Storage};

/// How directories are opened.
const DIRECTORY: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::CLOEXEC);

/// What all folders on disk have in common.
#[derive(Debug, Default)]
pub struct Disk {
    /// The files that are open.
    pub pool: Arc<FilePool>,
    /// Where the mount itself is, which no folder shows: it would be seen in
    /// itself without end.
    pub mount_point: Option<PathBuf>,
}

impl Disk {
    /// The disk as the mount at `mount_point` reads it.
    ///
    /// # Errors
    /// Where the mount point cannot be opened.
    pub fn around(mount_point: Option<&Path>) -> Result<Self, OpenError> {
        let Some(point) = mount_point else {
            return Ok(Self::default());
        };
        let pool = FilePool::holding(point)
            .map_err(|error| OpenError::new(point, OpenCause::Unreadable(error)))?;
        Ok(Self {
            pool: Arc::new(pool),
            mount_point: Some(point.to_owned()),
        })
    }
}

/// A directory on disk as it was when it was first seen.
pub struct Folder {
    source: Arc<Source>,
    /// Path from the source on; empty for the source itself.
    path: PathBuf,
    /// The subdirectories and files, with their paths from the folder on; a
    /// [`FileId`] is a place here.
    entries: Vec<(PathBuf, FileIdentity)>,
    disk: Arc<Disk>,
}

/// The directory that is the source. It is held open, so that it is the same
/// whatever is mounted over it, be it this mount.
struct Source {
    directory: OwnedFd,
    path: PathBuf,
}

/// What is done with the directories in a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Subdirectories {
    /// They are listed when somebody enters them.
    Later,
    /// They are listed with it.
    Now,
}

impl Folder {
    /// Lists the directory at `path`, a source, into `builder`, sorted by name; its
    /// subdirectories are listed when somebody enters them.
    ///
    /// Symbolic links stay symbolic links and are not followed; sockets,
    /// devices and pipes are left out.
    ///
    /// # Errors
    /// Whatever the operating system reports of the directory itself, and of
    /// entries where a fault of the file system keeps it from looking at them.
    /// Entries that vanish meanwhile are left out.
    pub fn scan(path: &Path, disk: &Arc<Disk>, builder: &mut TreeBuilder) -> std::io::Result<Self> {
        let mut folder = Self::new(path, disk)?;
        let directory = folder.open_directory(Path::new(""))?;
        folder.list_later(directory, builder)?;
        Ok(folder)
    }

    /// Lists one of the subdirectories into `builder`, as [`Folder::scan`].
    ///
    /// # Errors
    /// As for [`Folder::scan`]; `NotFound` where something else has taken its
    /// place.
    pub fn enter(&self, file: FileId, builder: &mut TreeBuilder) -> std::io::Result<Self> {
        let (relative, identity) = self.entry(file)?;
        let mut folder = Self {
            source: self.source.clone(),
            path: self.path.join(relative),
            entries: Vec::new(),
            disk: self.disk.clone(),
        };
        let directory = folder.open_directory(Path::new(""))?;
        if FileIdentity::from(&rustix::fs::fstat(&directory)?) != *identity {
            return Err(std::io::Error::new(
                std::io::ErrorKind::NotFound,
                "the directory has been replaced",
            ));
        }
        folder.list_later(directory, builder)?;
        Ok(folder)
    }

    fn list_later(&mut self, directory: OwnedFd, builder: &mut TreeBuilder) -> std::io::Result<()> {
        let relative = Path::new("");
        let parent = builder.root();
        let later = Subdirectories::Later;
        self.list(&directory, relative, parent, later, builder, &mut |_| true)?;
        Ok(())
    }

    /// Lists the directory at `path` and all below it. Of the entries of the
    /// directory itself, those are left out that `takes` refuses.
    ///
    /// # Errors
    /// As for [`Folder::scan`]. Subdirectories that cannot be read are empty.
    pub fn scan_all(
        path: &Path,
        disk: &Arc<Disk>,
        builder: &mut TreeBuilder,
        mut takes: impl FnMut(&OsStr) -> bool,
    ) -> std::io::Result<Self> {
        let mut folder = Self::new(path, disk)?;
        let root = builder.root();
        let now = Subdirectories::Now;
        let relative = Path::new("");
        let directory = folder.open_directory(relative)?;
        let mut pending = folder.list(&directory, relative, root, now, builder, &mut takes)?;
        while let Some((relative, node)) = pending.pop() {
            if relative.components().count() > MAX_DEPTH {
                continue;
            }
            let more = folder.open_directory(&relative).and_then(|directory| {
                folder.list(&directory, &relative, node, now, builder, &mut |_| true)
            });
            match more {
                Ok(more) => pending.extend(more),
                Err(error) => log::warn!("{}: {error}", path.join(relative).display()),
            }
        }
        Ok(folder)
    }

    /// A folder in which nothing but the file at `path` is seen.
    ///
    /// # Errors
    /// Whatever the operating system reports.
    pub fn of_one_file(
        path: &Path,
        disk: &Arc<Disk>,
        builder: &mut TreeBuilder,
    ) -> std::io::Result<Self> {
        // A link to the file is shown by its own name.
        let file = path.canonicalize()?;
        let none = || std::io::Error::from(std::io::ErrorKind::NotFound);
        let shown = path.file_name().ok_or_else(none)?;
        let name = file.file_name().ok_or_else(none)?;
        let mut folder = Self::new(file.parent().ok_or_else(none)?, disk)?;
        let stat = rustix::fs::statat(&folder.source.directory, name, AtFlags::empty())?;
        let inode = NewInode {
            kind: builder.file_kind(FileId(0)),
            size: Some(stat.st_size as u64),
            modified: Some(stat.st_mtime),
        };
        let root = builder.root();
        builder
            .add(root, &Label::host(shown), inode)
            .map_err(std::io::Error::other)?;
        let identity = FileIdentity::from(&stat);
        folder.entries.push((name.into(), identity));
        Ok(folder)
    }

    fn new(path: &Path, disk: &Arc<Disk>) -> std::io::Result<Self> {
        let source = Source {
            directory: rustix::fs::openat(CWD, path, crate::source::PLACE, Mode::empty())?,
            path: path.to_owned(),
        };
        Ok(Self {
            source: Arc::new(source),
            path: PathBuf::new(),
            entries: Vec::new(),
            disk: disk.clone(),
        })
    }

    /// Opens the directory at a path from the folder on.
    fn open_directory(&self, relative: &Path) -> std::io::Result<OwnedFd> {
        let flags = DIRECTORY | OFlags::NOFOLLOW;
        self.open(relative, flags)
    }

    fn open_file(&self, relative: &Path) -> std::io::Result<File> {
        // Without waiting: a pipe may be there by now, and nobody writes to it.
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        self.open(relative, flags).map(File::from)
    }

    fn open(&self, relative: &Path, flags: OFlags) -> std::io::Result<OwnedFd> {
        // The dot stands for the source itself.
        let path = Path::new(".").join(&self.path).join(relative);
        let opened = rustix::fs::openat(&self.source.directory, path, flags, Mode::empty())?;
        Ok(opened)
    }

    /// Lists one directory; gives the subdirectories that are still to be
    /// listed.
    fn list(
        &mut self,
        directory: &OwnedFd,
        relative: &Path,
        parent: NodeId,
        subdirectories: Subdirectories,
        builder: &mut TreeBuilder,
        takes: &mut dyn FnMut(&OsStr) -> bool,
    ) -> std::io::Result<Vec<(PathBuf, NodeId)>> {
        let mut pending = Vec::new();
        let here = self.path();
        for name in names(directory)? {
            let path = relative.join(&name);
            let is_mount = self.disk.mount_point.as_deref() == Some(&*here.join(&path));
            if is_mount || !takes(&name) {
                continue;
            }
            let stat = match rustix::fs::statat(directory, &name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) => stat,
                Err(error) if is_left_out(directory, error) => continue,
                Err(error) => return Err(error.into()),
            };
            let mut inode = NewInode {
                modified: Some(stat.st_mtime),
                ..NewInode::DIR
            };
            let is_later = subdirectories == Subdirectories::Later;
            match FileType::from_raw_mode(stat.st_mode) {
                FileType::Symlink => match rustix::fs::readlinkat(directory, &name, Vec::new()) {
                    Ok(text) => inode.kind = builder.link_kind(text.as_bytes()),
                    Err(error) if is_left_out(directory, error) => continue,
                    Err(error) => return Err(error.into()),
                },
                FileType::Directory if is_later => {
                    inode.kind = builder.host_dir_kind(self.new_entry(&path, &stat));
                }
                FileType::Directory => {}
                FileType::RegularFile => {
                    inode.kind = builder.file_kind(self.new_entry(&path, &stat));
                    inode.size = Some(stat.st_size as u64);
                }
                _ => continue,
            }
            let node = builder
                .add(parent, &Label::host(&name), inode)
                .map_err(std::io::Error::other)?;
            if FileType::from_raw_mode(stat.st_mode) == FileType::Directory {
                pending.push((path, node));
            }
        }
        Ok(pending)
    }

    fn new_entry(&mut self, relative: &Path, stat: &Stat) -> FileId {
        let file = FileId(self.entries.len() as u32);
        self.entries.push((relative.to_owned(), stat.into()));
        file
    }

    fn entry(&self, file: FileId) -> std::io::Result<&(PathBuf, FileIdentity)> {
        let entry = self.entries.get(file.0 as usize);
        entry.ok_or_else(|| std::io::ErrorKind::NotFound.into())
    }

    /// Its path, as it was when the source was opened.
    pub fn path(&self) -> PathBuf {
        // Not `join` alone: with an empty path it adds a slash.
        self.source.path.iter().chain(&self.path).collect()
    }

    /// Path of one of the entries.
    pub fn path_of(&self, file: FileId) -> PathBuf {
        let relative = self.entry(file).map_or(Path::new(""), |(path, _)| path);
        self.path().join(relative)
    }
}

/// Whether an entry that cannot be looked at is left out of the listing, which
/// stays for good: not where the whole file system has a fault, which may pass.
fn is_left_out(directory: &OwnedFd, error: Errno) -> bool {
    match error {
        // It has vanished, has become something else, or is not for us.
        Errno::NOENT | Errno::INVAL | Errno::ACCESS => true,
        // A mount that has died, unless it is the one that the directory is on.
        Errno::NOTCONN => rustix::fs::fstatfs(directory).is_ok(),
        _ => false,
    }
}

/// The names in a directory, sorted.
fn names(directory: &OwnedFd) -> std::io::Result<Vec<OsString>> {
    let mut names = Vec::new();
    for entry in Dir::read_from(directory)? {
        let name = OsString::from_vec(entry?.file_name().to_bytes().to_vec());
        if name != "." && name != ".." {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

impl Archive for Folder {
    fn storage(&self, _file: FileId) -> Storage {
        Storage::Stored
    }

    fn read_stored(&self, file: FileId, position: u64, buf: &mut [u8]) -> io::Result<()> {
        let read = self.entry(file).and_then(|(relative, identity)| {
            let open = || self.open_file(relative);
            self.disk.pool.read(*identity, open, buf, position)
        });
        read.map_err(|cause| io::read_error(position, buf.len() as u64, cause))
    }
}
