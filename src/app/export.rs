//! The folder of changes that `--diff --export` writes: confined threads read the
//! sources, and the thread that started them writes the folder.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::Receiver;

use super::exit::Failure;
use crate::inspect::diff::Task;
use crate::mount::Prepared;

/// A new folder. What was written is removed unless it is kept.
pub(super) struct NewFolder {
    /// Its path, without symbolic links.
    path: PathBuf,
    /// Whether it did not exist before.
    is_created: bool,
    is_kept: bool,
}

impl NewFolder {
    /// Creates the folder at `path`, or takes an empty one there. `readable` are the files
    /// and directories that are read.
    ///
    /// # Errors
    /// Returns an error if it has entries, is in one of these directories, or cannot be
    /// created.
    pub(super) fn create(path: &Path, readable: &[PathBuf]) -> Result<Self, Failure> {
        let refused = |problem: &str| Failure::Usage(format!("{}: {problem}", path.display()));
        let failed = |error: io::Error| Failure::NotWritten(path.to_owned(), error);
        let is_created = match fs::create_dir(path) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => false,
            created => created.map(|()| true).map_err(failed)?,
        };
        let mut entries = fs::read_dir(path).map_err(failed)?;
        if entries.next().is_some() {
            return Err(refused("is not empty"));
        }
        let folder = Self {
            path: path.canonicalize().map_err(failed)?,
            is_created,
            is_kept: false,
        };
        let mut sources = readable.iter().filter_map(|path| path.canonicalize().ok());
        match sources.any(|source| folder.path.starts_with(source)) {
            true => Err(refused("is in a folder that is read")),
            false => Ok(folder),
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Does what is wanted until nobody wants anything. `original` is the source that the
    /// changes are for; with `is_strict` they are refused if games may not find them.
    ///
    /// # Errors
    /// Returns an error if something cannot be written.
    pub(super) fn serve(
        &self,
        tasks: Receiver<Task>,
        original: &Prepared,
        is_strict: bool,
    ) -> Result<(), Failure> {
        let mut path = self.path.clone();
        let mut file = None;
        for task in tasks {
            if let Task::Directory(name) | Task::File(name) | Task::Remove(name) = &task {
                path = self.path.join(name);
            }
            let done = match task {
                Task::Directory(_) => fs::create_dir_all(&path),
                Task::File(_) => create_file(&path).map(|created| file = Some(created)),
                Task::Append(bytes) => file.iter_mut().try_for_each(|file| file.write_all(&bytes)),
                Task::Remove(_) => match fs::remove_dir_all(&path) {
                    Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
                    removed => removed,
                },
                Task::Apply(reply) => {
                    let folder = [self.path.clone()];
                    // Nobody receives it if the comparison has failed.
                    let _ = reply.send(original.clone().with_changes(&folder, is_strict));
                    Ok(())
                }
            };
            done.map_err(|error| Failure::NotWritten(path.clone(), error))?;
        }
        Ok(())
    }

    /// Keeps what was written.
    pub(super) fn keep(mut self) {
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
