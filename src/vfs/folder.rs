//! Folders on disk as sources: a directory at a time, or all of it, their
//! files read through.

use std::ffi::{OsStr, OsString};
use std::fs::{DirEntry, Metadata};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::open::seconds;
use super::tree::{Label, NewInode, TreeBuilder};
use crate::archive::{Archive, FileId, MAX_DEPTH, NodeId, Sink, Storage};
use crate::io::{self, FileIdentity, FilePool};

/// What all folders on disk have in common.
#[derive(Debug, Default)]
pub(super) struct Disk {
    /// The files that are open.
    pub(super) pool: Arc<FilePool>,
    /// Where the mount itself is, which no folder shows: it would be seen in
    /// itself without end.
    pub(super) mount_point: Option<PathBuf>,
}

/// A directory on disk as it was when it was first seen.
pub(super) struct Folder {
    path: PathBuf,
    /// The subdirectories and files, with their paths from the folder on; a
    /// [`FileId`] is a place here.
    entries: Vec<(PathBuf, FileIdentity)>,
    disk: Arc<Disk>,
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
    /// Lists the directory at `path` into `builder`, sorted by name; its
    /// subdirectories are listed when somebody enters them.
    ///
    /// Symbolic links stay symbolic links and are not followed; sockets,
    /// devices and pipes are left out.
    ///
    /// # Errors
    /// Whatever the operating system reports of the directory itself. Entries
    /// that vanish meanwhile are left out.
    pub(super) fn scan(
        path: &Path,
        disk: &Arc<Disk>,
        builder: &mut TreeBuilder,
    ) -> std::io::Result<Self> {
        let mut folder = Self::new(path, disk);
        let root = builder.root();
        folder.list(
            Path::new(""),
            root,
            Subdirectories::Later,
            builder,
            &mut |_| true,
        )?;
        Ok(folder)
    }

    /// Lists the directory at `path` and all below it. Of the entries of the
    /// directory itself, those are left out that `takes` refuses.
    ///
    /// # Errors
    /// As for [`Folder::scan`]. Subdirectories that cannot be read are empty.
    pub(super) fn scan_all(
        path: &Path,
        disk: &Arc<Disk>,
        builder: &mut TreeBuilder,
        mut takes: impl FnMut(&OsStr) -> bool,
    ) -> std::io::Result<Self> {
        let mut folder = Self::new(path, disk);
        let root = builder.root();
        let now = Subdirectories::Now;
        let mut pending = folder.list(Path::new(""), root, now, builder, &mut takes)?;
        while let Some((relative, node)) = pending.pop() {
            if relative.components().count() > MAX_DEPTH {
                continue;
            }
            match folder.list(&relative, node, now, builder, &mut |_| true) {
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
    pub(super) fn of_one_file(
        path: &Path,
        disk: &Arc<Disk>,
        builder: &mut TreeBuilder,
    ) -> std::io::Result<Self> {
        let directory = path.parent().unwrap_or(path);
        let mut folder = Self::new(directory, disk);
        if let Some(name) = path.file_name() {
            let metadata = std::fs::metadata(path)?;
            let root = builder.root();
            folder
                .add(
                    Path::new(name),
                    &metadata,
                    root,
                    Subdirectories::Later,
                    builder,
                )
                .map_err(std::io::Error::other)?;
        }
        Ok(folder)
    }

    fn new(path: &Path, disk: &Arc<Disk>) -> Self {
        Self {
            path: path.to_owned(),
            entries: Vec::new(),
            disk: disk.clone(),
        }
    }

    /// Lists one directory; gives the subdirectories that are still to be
    /// listed.
    fn list(
        &mut self,
        relative: &Path,
        parent: NodeId,
        subdirectories: Subdirectories,
        builder: &mut TreeBuilder,
        takes: &mut dyn FnMut(&OsStr) -> bool,
    ) -> std::io::Result<Vec<(PathBuf, NodeId)>> {
        let directory = std::fs::read_dir(self.path.join(relative))?;
        let mut found: Vec<DirEntry> = directory.collect::<Result<_, _>>()?;
        found.sort_by_key(DirEntry::file_name);
        let mut pending = Vec::new();
        for entry in found {
            let name: OsString = entry.file_name();
            // Not followed, as `DirEntry` promises.
            let Ok(metadata) = entry.metadata() else {
                continue;
            };
            let path = relative.join(&name);
            let is_mount = self.disk.mount_point.as_deref() == Some(&*self.path.join(&path));
            if is_mount || !takes(&name) {
                continue;
            }
            let node = self
                .add(&path, &metadata, parent, subdirectories, builder)
                .map_err(std::io::Error::other)?;
            if let Some(node) = node.filter(|_| metadata.is_dir()) {
                pending.push((path, node));
            }
        }
        Ok(pending)
    }

    fn add(
        &mut self,
        relative: &Path,
        metadata: &Metadata,
        parent: NodeId,
        subdirectories: Subdirectories,
        builder: &mut TreeBuilder,
    ) -> io::Result<Option<NodeId>> {
        let file = FileId(self.entries.len() as u32);
        let mut inode = NewInode {
            modified: metadata.modified().ok().map(seconds),
            ..NewInode::DIR
        };
        let kind = metadata.file_type();
        if kind.is_symlink() {
            let Ok(text) = std::fs::read_link(self.path.join(relative)) else {
                return Ok(None);
            };
            inode.kind = builder.link_kind(&text.to_string_lossy());
        } else if kind.is_dir() {
            if subdirectories == Subdirectories::Later {
                inode.kind = builder.host_dir_kind(file);
            }
        } else if kind.is_file() {
            inode.kind = builder.file_kind(file);
            inode.size = Some(metadata.len());
        } else {
            return Ok(None);
        }
        let name = relative.file_name().unwrap_or_default();
        let node = builder.add(parent, &Label::host(name), inode)?;
        if !kind.is_symlink() {
            self.entries.push((relative.to_owned(), metadata.into()));
        }
        Ok(Some(node))
    }

    /// Path of one of the entries.
    pub(super) fn path_of(&self, file: FileId) -> Option<PathBuf> {
        let (relative, _) = self.entries.get(file.0 as usize)?;
        Some(self.path.join(relative))
    }
}

impl Archive for Folder {
    fn storage(&self, _file: FileId) -> Storage {
        Storage::Stored
    }

    fn read_stored(&self, file: FileId, position: u64, buf: &mut [u8]) -> io::Result<()> {
        let length = buf.len() as u64;
        let entry = self.entries.get(file.0 as usize);
        let read = match entry {
            Some((relative, identity)) => self
                .disk
                .pool
                .get(&self.path.join(relative), *identity)
                .and_then(|file| file.read_exact_at(buf, position)),
            None => Err(std::io::ErrorKind::NotFound.into()),
        };
        read.map_err(|cause| io::read_error(position, length, cause))
    }
}
