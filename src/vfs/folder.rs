//! Folders on disk as sources: one directory at a time, its files read
//! through.

use std::ffi::OsString;
use std::fs::{DirEntry, Metadata};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::open::seconds;
use super::tree::TreeBuilder;
use crate::archive::{Archive, FileId, Storage};
use crate::io::{self, FileIdentity, FilePool};

/// A directory on disk as it was when it was first seen.
pub(super) struct Folder {
    path: PathBuf,
    /// The subdirectories and files; a [`FileId`] is a place here.
    entries: Vec<(OsString, FileIdentity)>,
    pool: Arc<FilePool>,
}

impl Folder {
    /// Lists the directory at `path` into `builder`, sorted by name.
    ///
    /// Symbolic links stay symbolic links and are not followed; sockets,
    /// devices and pipes are left out.
    ///
    /// # Errors
    /// Whatever the operating system reports of the directory itself. Entries
    /// that vanish meanwhile are left out.
    pub(super) fn scan(
        path: &Path,
        pool: &Arc<FilePool>,
        builder: &mut TreeBuilder,
    ) -> std::io::Result<Self> {
        let mut found: Vec<DirEntry> = std::fs::read_dir(path)?.collect::<Result<_, _>>()?;
        found.sort_by_key(DirEntry::file_name);
        let mut folder = Self::new(path, pool);
        for entry in found {
            // Not followed, as `DirEntry` promises.
            if let Ok(metadata) = entry.metadata() {
                folder
                    .add(entry.file_name(), &metadata, builder)
                    .map_err(std::io::Error::other)?;
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
        pool: &Arc<FilePool>,
        builder: &mut TreeBuilder,
    ) -> std::io::Result<Self> {
        let directory = path.parent().unwrap_or(path);
        let mut folder = Self::new(directory, pool);
        if let Some(name) = path.file_name() {
            let metadata = std::fs::metadata(path)?;
            folder
                .add(name.to_owned(), &metadata, builder)
                .map_err(std::io::Error::other)?;
        }
        Ok(folder)
    }

    fn new(path: &Path, pool: &Arc<FilePool>) -> Self {
        Self {
            path: path.to_owned(),
            entries: Vec::new(),
            pool: pool.clone(),
        }
    }

    fn add(
        &mut self,
        name: OsString,
        metadata: &Metadata,
        builder: &mut TreeBuilder,
    ) -> io::Result<()> {
        let file = FileId(self.entries.len() as u32);
        let modified = metadata.modified().map_or(0, seconds);
        let kind = metadata.file_type();
        if kind.is_symlink() {
            if let Ok(text) = std::fs::read_link(self.path.join(&name)) {
                builder.host_link(&name, modified, &text.to_string_lossy())?;
            }
            return Ok(());
        }
        if kind.is_dir() {
            builder.host_subdir(&name, modified, file)?;
        } else if kind.is_file() {
            builder.host_file(&name, modified, metadata.len(), file)?;
        } else {
            return Ok(());
        }
        self.entries.push((name, metadata.into()));
        Ok(())
    }

    /// Path of one of the entries.
    pub(super) fn path_of(&self, file: FileId) -> Option<PathBuf> {
        let (name, _) = self.entries.get(file.0 as usize)?;
        Some(self.path.join(name))
    }
}

impl Archive for Folder {
    fn storage(&self, _file: FileId) -> Storage {
        Storage::Stored
    }

    fn read_stored(&self, file: FileId, position: u64, buf: &mut [u8]) -> io::Result<()> {
        let failed = |cause| io::read_error(position, buf.len() as u64, cause);
        let Some((name, identity)) = self.entries.get(file.0 as usize) else {
            return Err(failed(std::io::ErrorKind::NotFound.into()));
        };
        let file = self.pool.get(&self.path.join(name), *identity);
        let read = file.and_then(|file| file.read_exact_at(buf, position));
        read.map_err(|cause| io::read_error(position, buf.len() as u64, cause))
    }
}
