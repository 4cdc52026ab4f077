//! New folders that are written on behalf of threads that may not write.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use tempfile::Builder;

use super::DiskNames;
use crate::platform::{FileMode, canonical};
use crate::sync::lock;

/// Task in a new folder. Paths are relative to it.
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

/// A new folder. What is written is in a directory with a temporary name, which is removed
/// unless the folder is [kept](NewFolder::keep).
pub struct NewFolder {
    /// Its path, without symbolic links.
    target: PathBuf,
    /// True if there is an empty directory already.
    exists: bool,
    /// The directory that is written: beside the new one, or in the empty one.
    path: PathBuf,
    /// The same until it is kept. Locked while something is written.
    unfinished: Arc<Mutex<Option<PathBuf>>>,
    /// Meaning of the names of files.
    names: DiskNames,
    /// The permissions of files, as far as the umask permits.
    mode: FileMode,
    /// The last file with its path.
    file: Option<(PathBuf, File)>,
}

impl NewFolder {
    /// Creates the folder at `path`, or takes an empty one there. `readable` are the files
    /// and directories that are read: who may not read one of them may not read the new
    /// files, whose names stand for the ones in tasks.
    ///
    /// # Errors
    /// Returns an error with the path if it has entries, is in one of these directories, or
    /// cannot be created.
    pub fn create(path: &Path, names: DiskNames, readable: &[PathBuf]) -> io::Result<Self> {
        let failed = |error: io::Error| of_path(path, error);
        let exists = path.symlink_metadata().is_ok();
        let target = match exists {
            true => canonical(path),
            false => absolute(path),
        };
        let target = target.map_err(failed)?;
        if exists {
            check_empty(&target, None).map_err(failed)?;
        }
        check_apart(&target, readable).map_err(failed)?;
        let around = match exists {
            true => &target,
            false => target.parent().unwrap_or(Path::new("/")),
        };
        let mode = FileMode::in_directory(around, readable).map_err(failed)?;
        let create = |path: &Path| mode.create_directory(path);
        let created = Builder::new().prefix(".hpipack-").make_in(around, create);
        let path = created.map_err(failed)?.into_temp_path().keep()?;
        Ok(Self {
            target,
            exists,
            unfinished: Arc::new(Mutex::new(Some(path.clone()))),
            path,
            names,
            mode,
            file: None,
        })
    }

    /// Returns the path of what is written, without symbolic links.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns a function that removes what was written, and lets nothing be written any
    /// more, for the end of the process.
    pub fn remover(&self) -> impl Fn() + Send + use<> {
        let unfinished = self.unfinished.clone();
        move || {
            let mut unfinished = lock(&unfinished);
            remove(unfinished.take());
            // Whoever would write next waits for the end.
            std::mem::forget(unfinished);
        }
    }

    /// Does a task.
    ///
    /// # Errors
    /// Returns an error with the path of what cannot be written, or that is not inside.
    pub fn perform<B: Deref<Target = [u8]>>(&mut self, task: FolderTask<B>) -> io::Result<()> {
        let _unfinished = lock(&self.unfinished);
        match task {
            FolderTask::Directory(name) => {
                let path = self.inside(&name)?;
                let created = self.mode.create_directories(&path);
                created.map_err(|error| of_path(&path, error))
            }
            FolderTask::File(name) => {
                let path = self.inside(&name)?;
                let created = create_file(&path, self.mode);
                let created = created.map_err(|error| of_path(&path, error))?;
                self.file = Some((path, created));
                Ok(())
            }
            FolderTask::Append(bytes) => self.file.iter_mut().try_for_each(|(path, file)| {
                let written = file.write_all(&bytes);
                written.map_err(|error| of_path(path, error))
            }),
            FolderTask::Remove(name) => {
                let path = self.inside(&name)?;
                match fs::remove_dir_all(&path) {
                    Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
                    removed => removed.map_err(|error| of_path(&path, error)),
                }
            }
        }
    }

    /// Returns the path of an entry.
    fn inside(&self, name: &str) -> io::Result<PathBuf> {
        let failed = |error| of_path(Path::new(name), error);
        let outside = || failed(io::Error::other("is not a path in the new folder"));
        if name.is_empty() || name.starts_with('/') {
            return Err(outside());
        }
        let mut path = self.path.clone();
        for name in name.split('/').filter(|name| !name.is_empty()) {
            if [".", ".."].contains(&name) {
                return Err(outside());
            }
            path.push(&*self.names.on_disk(name).map_err(failed)?);
        }
        Ok(path)
    }

    /// Keeps what was written: it appears at the path of the folder, at once if nothing is
    /// there.
    ///
    /// # Errors
    /// Returns an error with the path if something is there by now, or on another error of
    /// the file system.
    pub fn keep(self) -> io::Result<()> {
        let mut unfinished = lock(&self.unfinished);
        let kept = match self.exists {
            true => move_entries(&self.path, &self.target),
            false => fs::rename(&self.path, &self.target),
        };
        kept.map_err(|error| of_path(&self.target, error))?;
        *unfinished = None;
        Ok(())
    }
}

impl Drop for NewFolder {
    fn drop(&mut self) {
        remove(lock(&self.unfinished).take());
    }
}

/// Checks that a path without symbolic links is not in one of the directories that are read.
pub(super) fn check_apart(target: &Path, readable: &[PathBuf]) -> io::Result<()> {
    let mut sources = readable.iter().filter_map(|path| canonical(path).ok());
    match sources.any(|source| target.starts_with(source)) {
        true => Err(io::Error::other("is in a folder that is read")),
        false => Ok(()),
    }
}

/// Removes a directory with everything in it.
fn remove(directory: Option<PathBuf>) {
    // A directory that cannot be removed remains, and the reason for removing it is reported.
    let _ = directory.map(fs::remove_dir_all);
}

/// Checks that a directory has no entry, or only this one.
fn check_empty(directory: &Path, except: Option<&Path>) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        if Some(&*entry?.path()) != except {
            return Err(io::Error::other("is not empty"));
        }
    }
    Ok(())
}

/// Moves all entries of a directory to the one around it, which has no others, and removes
/// it. On an error, those that were moved are moved back.
fn move_entries(directory: &Path, around: &Path) -> io::Result<()> {
    check_empty(around, Some(directory))?;
    let mut moved = Vec::new();
    let result = move_each(directory, around, &mut moved);
    if result.is_err() {
        for name in moved {
            // An entry that cannot be moved back remains, and the first error is reported.
            let _ = fs::rename(around.join(&name), directory.join(&name));
        }
    }
    result
}

/// Moves all entries of a directory to another one, adds their names to `moved`, and removes
/// the directory.
fn move_each(directory: &Path, to: &Path, moved: &mut Vec<OsString>) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let name = entry?.file_name();
        fs::rename(directory.join(&name), to.join(&name))?;
        moved.push(name);
    }
    fs::remove_dir(directory)
}

/// Returns the path of a new folder without symbolic links.
fn absolute(path: &Path) -> io::Result<PathBuf> {
    let name = path.file_name().ok_or(ErrorKind::InvalidInput)?;
    let around = path.parent().filter(|parent| *parent != Path::new(""));
    Ok(canonical(around.unwrap_or(Path::new(".")))?.join(name))
}

/// Creates a file, and the directories around it.
fn create_file(path: &Path, mode: FileMode) -> io::Result<File> {
    if let Some(directory) = path.parent() {
        mode.create_directories(directory)?;
    }
    mode.create_file(path)
}

/// Returns an error with the path that it is about.
pub(super) fn of_path(path: &Path, error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
    use tempfile::tempdir;

    type Task = FolderTask<Vec<u8>>;

    /// Returns the names of the entries of a directory.
    fn names(directory: &Path) -> Vec<String> {
        let entries = fs::read_dir(directory).unwrap();
        let mut names: Vec<_> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn nothing_is_at_the_path_before_the_folder_is_kept() {
        let work = tempdir().unwrap();
        let path = work.path().join("new");
        for exists in [false, true] {
            let mut folder = NewFolder::create(&path, DiskNames::Plain, &[]).unwrap();
            folder.perform(Task::File("a/b".to_owned())).unwrap();
            folder.perform(Task::Append(b"bytes".to_vec())).unwrap();
            assert_eq!(path.exists(), exists);
            assert!(!path.join("a").exists());
            folder.keep().unwrap();
            assert_eq!(names(&path), ["a"]);
            assert_eq!(names(work.path()), ["new"]);
            assert_eq!(fs::read(path.join("a/b")).unwrap(), b"bytes");
            fs::remove_dir_all(path.join("a")).unwrap();
        }
        let mut folder = NewFolder::create(&path, DiskNames::Plain, &[]).unwrap();
        folder.perform(Task::Directory("a".to_owned())).unwrap();
        folder.remover()();
        assert!(names(&path).is_empty());
        // Its lock is kept for the end of the process.
        std::mem::forget(folder);
    }

    #[test]
    fn what_appeared_in_the_folder_is_not_replaced() {
        let work = tempdir().unwrap();
        let mut folder = NewFolder::create(work.path(), DiskNames::Plain, &[]).unwrap();
        for name in ["a", "b"] {
            folder.perform(Task::File(name.to_owned())).unwrap();
        }
        fs::write(work.path().join("b"), "other").unwrap();
        let error = folder.keep().unwrap_err();
        assert!(error.to_string().ends_with("is not empty"), "{error}");
        assert_eq!(names(work.path()), ["b"]);
        assert_eq!(fs::read(work.path().join("b")).unwrap(), b"other");
    }

    #[test]
    fn entries_are_moved_all_or_not_at_all() {
        let work = tempdir().unwrap();
        // A directory cannot be moved into itself.
        let to = work.path().join("to");
        fs::create_dir(&to).unwrap();
        let others = (0..16).map(|number| number.to_string());
        others.for_each(|name| fs::write(work.path().join(name), "").unwrap());
        let before = names(work.path());
        move_entries(work.path(), &to).unwrap_err();
        assert_eq!(names(work.path()), before);
        assert!(names(&to).is_empty());
    }

    #[test]
    fn nothing_is_written_outside_of_a_new_folder() {
        let work = tempdir().unwrap();
        let mut folder =
            NewFolder::create(&work.path().join("new"), DiskNames::Plain, &[]).unwrap();
        for name in ["../a", "a/../../b", "/tmp/a", "."] {
            for task in [Task::File, Task::Directory, Task::Remove] {
                let error = folder.perform(task(name.to_owned())).unwrap_err();
                let problem = "is not a path in the new folder";
                assert!(error.to_string().ends_with(problem), "{error}");
            }
        }
        folder.perform(Task::Remove(String::new())).unwrap_err();
        assert_eq!(names(work.path()).len(), 1);
    }

    #[test]
    fn files_have_names_that_stand_for_those_of_tasks() {
        let work = tempdir().unwrap();
        let path = work.path().join("new");
        let mut folder = NewFolder::create(&path, DiskNames::Windows, &[]).unwrap();
        for name in ["dir./a:b", "a%3Ab", ".wh.end."] {
            folder.perform(Task::File(name.to_owned())).unwrap();
        }
        let error = folder.perform(Task::File("a".repeat(300))).unwrap_err();
        assert!(error.to_string().ends_with("is too long a name"), "{error}");
        folder.keep().unwrap();
        assert_eq!(names(&path), [".wh.end%2E", "a%253Ab", "dir%2E"]);
        assert!(path.join("dir%2E/a%3Ab").exists());
    }

    /// Creates a folder with a file, which is read from a source with a mode and a group.
    /// Returns their modes.
    fn modes_of_new(mode: u32, group: Option<u32>) -> [u32; 3] {
        let work = tempdir().unwrap();
        let [source, path] = ["source", "new"].map(|name| work.path().join(name));
        fs::write(&source, "").unwrap();
        chown(&source, None, group).unwrap();
        fs::set_permissions(&source, fs::Permissions::from_mode(mode)).unwrap();
        let mut folder = NewFolder::create(&path, DiskNames::Plain, &[source]).unwrap();
        folder.perform(Task::File("a/b".to_owned())).unwrap();
        folder.keep().unwrap();
        ["", "a", "a/b"].map(|entry| path.join(entry).metadata().unwrap().mode() & 0o777)
    }

    #[test]
    fn a_new_folder_is_as_private_as_what_is_read() {
        assert_eq!(modes_of_new(0o600, None), [0o700, 0o700, 0o600]);
    }

    #[test]
    fn another_group_may_read_a_new_folder_if_all_may_read_what_is_read() {
        if !rustix::process::geteuid().is_root() {
            return;
        }
        let another = Some(rustix::process::getegid().as_raw() + 1);
        assert_eq!(modes_of_new(0o640, another), modes_of_new(0o600, None));
        assert_eq!(modes_of_new(0o644, another), modes_of_new(0o644, None));
    }
}
