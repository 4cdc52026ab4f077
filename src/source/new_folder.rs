//! New folders that are written on behalf of threads that may not write.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::ops::Deref;
use std::path::{Path, PathBuf};

/// What to do to a new folder. Paths are relative to it.
pub enum FolderTask<B> {
    /// Create a directory, and those around it.
    Directory(String),
    /// Create a file, and the directories around it.
    File(String),
    /// Append bytes to the last file.
    Append(B),
    /// Remove a directory with everything in it, if it exists.
    Remove(String),
}

/// A new folder. What was written is removed unless it is kept.
pub struct NewFolder {
    /// Its path, without symbolic links.
    path: PathBuf,
    /// Whether it did not exist before.
    is_created: bool,
    /// The last file with its path.
    file: Option<(PathBuf, File)>,
    is_kept: bool,
}

impl NewFolder {
    /// Creates the folder at `path`, or takes an empty one there. `readable` are the files
    /// and directories that are read.
    ///
    /// # Errors
    /// Returns an error with the path if it has entries, is in one of these directories, or
    /// cannot be created.
    pub fn create(path: &Path, readable: &[PathBuf]) -> io::Result<Self> {
        let failed = |error: io::Error| of_path(path, error);
        let is_created = match fs::create_dir(path) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => false,
            created => created.map(|()| true).map_err(failed)?,
        };
        let mut entries = fs::read_dir(path).map_err(failed)?;
        if entries.next().is_some() {
            return Err(failed(io::Error::other("is not empty")));
        }
        let folder = Self {
            path: path.canonicalize().map_err(failed)?,
            is_created,
            file: None,
            is_kept: false,
        };
        let mut sources = readable.iter().filter_map(|path| path.canonicalize().ok());
        match sources.any(|source| folder.path.starts_with(source)) {
            true => Err(failed(io::Error::other("is in a folder that is read"))),
            false => Ok(folder),
        }
    }

    /// Returns its path, without symbolic links.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Does a task.
    ///
    /// # Errors
    /// Returns an error with the path of what cannot be written.
    pub fn perform<B: Deref<Target = [u8]>>(&mut self, task: FolderTask<B>) -> io::Result<()> {
        match task {
            FolderTask::Directory(name) => {
                let path = self.path.join(name);
                fs::create_dir_all(&path).map_err(|error| of_path(&path, error))
            }
            FolderTask::File(name) => {
                let path = self.path.join(name);
                let created = create_file(&path).map_err(|error| of_path(&path, error))?;
                self.file = Some((path, created));
                Ok(())
            }
            FolderTask::Append(bytes) => self.file.iter_mut().try_for_each(|(path, file)| {
                let written = file.write_all(&bytes);
                written.map_err(|error| of_path(path, error))
            }),
            FolderTask::Remove(name) => {
                let path = self.path.join(name);
                match fs::remove_dir_all(&path) {
                    Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
                    removed => removed.map_err(|error| of_path(&path, error)),
                }
            }
        }
    }

    /// Keeps what was written.
    pub fn keep(mut self) {
        self.is_kept = true;
    }
}

impl Drop for NewFolder {
    fn drop(&mut self) {
        if self.is_kept {
            return;
        }
        // What cannot be removed remains, and the reason for removing it is reported.
        let entries = fs::read_dir(&self.path).into_iter().flatten().flatten();
        for entry in entries {
            let path = entry.path();
            let _ = match entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                true => fs::remove_dir_all(path),
                false => fs::remove_file(path),
            };
        }
        if self.is_created {
            let _ = fs::remove_dir(&self.path);
        }
    }
}

/// Creates a file, and the directories around it.
fn create_file(path: &Path) -> io::Result<File> {
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory)?;
    }
    File::create_new(path)
}

/// Returns an error with the path that it is about.
fn of_path(path: &Path, error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}
