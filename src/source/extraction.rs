//! A folder that files are extracted to, written on behalf of threads that may not write.

use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::fs::{File, FileTimes};
use std::hash::BuildHasher;
use std::io::{self, ErrorKind, Write};
use std::num::NonZeroUsize;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, RwLock};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use lru::LruCache;

use super::new_folder::{check_apart, of_path};
use crate::platform::{Directory, FileIdentity, FileMode, FileStat, canonical, not_replaced};
use crate::sync::lock;
use hpimount_containers::text::{untaken_name, windows_name};

/// Number of directories that are held, for several threads in different ones.
const MAX_DIRECTORIES: NonZeroUsize = NonZeroUsize::new(16).unwrap();

/// The error of an entry that exists.
const EXISTS: &str = "exists; --force replaces it";

/// Task in the folder. Paths are relative to it.
pub enum ExtractTask<B> {
    /// Create a directory, and those around it.
    Directory(String),
    /// Create a symbolic link with a text.
    Link(String, String),
    /// Begin a file with this number, and the directories around it.
    Begin(u64, String),
    /// Append bytes to a file.
    Append(u64, B),
    /// Complete a file, which was modified at this time, in seconds since 1970.
    End(u64, i64),
    /// Remove what was written of a file.
    Abort(u64),
}

/// A folder with the files that are being written. A file has a temporary name until it is
/// complete. Directories are held, and no symbolic link is followed: nothing is written
/// anywhere else.
pub struct Extraction {
    path: PathBuf,
    root: Arc<Directory>,
    /// True if existing files are replaced.
    force: bool,
    /// The names of entries on Windows, if they are to be those.
    windows_names: Option<Mutex<WindowsNames>>,
    /// Number of links that were left out: Windows has few.
    left_out: AtomicU64,
    /// The permissions of files, as far as the umask permits.
    mode: FileMode,
    /// The files that are read, which are never replaced.
    sources: Vec<FileIdentity>,
    /// The last directories by their paths: most files are in the same one as those before.
    directories: Mutex<LruCache<String, Arc<Directory>>>,
    unfinished: Arc<UnfinishedFiles>,
}

/// The files that are being written.
#[derive(Default)]
struct UnfinishedFiles {
    /// Held for reading while something is written.
    writing: RwLock<()>,
    /// By number.
    files: Mutex<HashMap<u64, Arc<Unfinished>>>,
}

impl UnfinishedFiles {
    fn get(&self, number: u64) -> Option<Arc<Unfinished>> {
        lock(&self.files).get(&number).cloned()
    }

    fn take(&self, number: u64) -> Option<Arc<Unfinished>> {
        lock(&self.files).remove(&number)
    }

    fn remove_all(&self) {
        lock(&self.files)
            .drain()
            .for_each(|(_, file)| file.remove());
    }
}

/// The names that entries have on Windows, where names that differ in case alone are one.
#[derive(Default)]
struct WindowsNames {
    hasher: RandomState,
    /// Hashes of the entries' own paths, by hashes of those that they got, in upper case.
    taken: HashMap<u64, u64>,
}

impl WindowsNames {
    /// Returns the path that an entry gets, always the same.
    fn path(&mut self, path: &str) -> String {
        let mut named = String::with_capacity(path.len());
        let mut end = 0;
        for name in path.split('/').filter(|_| !path.is_empty()) {
            end += usize::from(end > 0) + name.len();
            let own = self.hasher.hash_one(&path[..end]);
            let place = |name: &str| {
                self.hasher
                    .hash_one(in_upper_case(&format!("{named}/{name}")))
            };
            let is_taken = |name: &str| self.taken.get(&place(name)).is_some_and(|&by| by != own);
            let name = untaken_name(windows_name(name), is_taken);
            self.taken.insert(place(&name), own);
            if !named.is_empty() {
                named.push('/');
            }
            named += &name;
        }
        named
    }
}

/// Returns a path as Windows compares it: each letter alone, while some languages have other
/// letters at the end of a word.
fn in_upper_case(path: &str) -> String {
    let upper = |c: char| {
        let mut letters = c.to_uppercase();
        let first = letters.next();
        first.filter(|_| letters.next().is_none()).unwrap_or(c)
    };
    path.chars().map(upper).collect()
}

/// A file that is being written.
struct Unfinished {
    file: File,
    directory: Arc<Directory>,
    temporary: String,
    /// Its final path.
    path: String,
}

impl Extraction {
    /// Opens the folder at `path`, or creates it. `readable` are the files and directories
    /// that are read: who may not read one of them may not read the new files. With
    /// `has_windows_names` entries get names that Windows can have, and links are left out.
    ///
    /// # Errors
    /// Returns an error with the path if it is in one of these directories, or cannot be opened
    /// or created.
    pub fn open(
        path: &Path,
        readable: &[PathBuf],
        force: bool,
        has_windows_names: bool,
    ) -> io::Result<Self> {
        let failed = |error: io::Error| of_path(path, error);
        std::fs::create_dir_all(path).map_err(failed)?;
        let apart = canonical(path).and_then(|path| check_apart(&path, readable));
        apart.map_err(failed)?;
        Ok(Self {
            root: Arc::new(Directory::open(path).map_err(failed)?),
            mode: FileMode::in_directory(path, readable).map_err(failed)?,
            sources: readable
                .iter()
                .filter_map(|path| FileStat::through_links(None, path).ok())
                .map(|stat| stat.identity)
                .collect(),
            path: path.to_owned(),
            force,
            windows_names: has_windows_names.then(Mutex::default),
            left_out: AtomicU64::new(0),
            directories: Mutex::new(LruCache::new(MAX_DIRECTORIES)),
            unfinished: Arc::default(),
        })
    }

    /// Returns a function that removes unfinished files, and lets nothing be written any
    /// more, for the end of the process.
    pub fn remover(&self) -> impl Fn() + Send + use<> {
        let unfinished = self.unfinished.clone();
        move || {
            // Whoever would write next waits for the end.
            let writing = unfinished.writing.write();
            std::mem::forget(writing);
            unfinished.remove_all();
        }
    }

    /// Returns the number of links that were left out.
    pub fn left_out(&self) -> u64 {
        self.left_out.load(Ordering::Relaxed)
    }

    /// Does a task. Tasks of a file that was not begun, or that was aborted, do nothing.
    /// Several threads may do tasks of different files.
    ///
    /// # Errors
    /// Returns an error with the path of what cannot be written, or exists.
    pub fn perform<B: Deref<Target = [u8]>>(&self, task: ExtractTask<B>) -> io::Result<()> {
        let _writing = self.unfinished.writing.read();
        match task {
            ExtractTask::Directory(path) => {
                let path = self.name_of(path)?;
                let made = self.directory(&path).map(drop);
                self.of(&path, made)
            }
            ExtractTask::Link(..) if self.windows_names.is_some() => {
                self.left_out.fetch_add(1, Ordering::Relaxed);
                Ok(())
            }
            ExtractTask::Link(path, text) => {
                let made = self.link(&path, &text);
                self.of(&path, made)
            }
            ExtractTask::Begin(number, path) => {
                let path = self.name_of(path)?;
                let begun = self.begin(number, &path);
                let begun = Arc::new(self.of(&path, begun)?);
                lock(&self.unfinished.files).insert(number, begun);
                Ok(())
            }
            ExtractTask::Append(number, bytes) => match self.unfinished.get(number) {
                Some(file) => self.of(&file.path, (&file.file).write_all(&bytes)),
                None => Ok(()),
            },
            ExtractTask::End(number, modified) => match self.unfinished.take(number) {
                Some(file) => self.of(&file.path, file.keep(modified, self.force)),
                None => Ok(()),
            },
            ExtractTask::Abort(number) => {
                self.unfinished
                    .take(number)
                    .iter()
                    .for_each(|file| file.remove());
                Ok(())
            }
        }
    }

    /// Returns the path under which the entry at a path is written.
    fn name_of(&self, path: String) -> io::Result<String> {
        // Before a component is escaped that leads out.
        path.split('/')
            .filter(|_| !path.is_empty())
            .try_for_each(check_name)
            .map_err(|error| of_path(&self.path.join(&path), error))?;
        Ok(match &self.windows_names {
            Some(names) => lock(names).path(&path),
            None => path,
        })
    }

    /// Adds the path of an entry to an error about it.
    fn of<T>(&self, path: &str, done: io::Result<T>) -> io::Result<T> {
        done.map_err(|error| of_path(&self.path.join(path), error))
    }

    /// Opens a directory, and creates its missing components.
    fn directory(&self, path: &str) -> io::Result<Arc<Directory>> {
        if let Some(known) = lock(&self.directories).get(path) {
            return Ok(known.clone());
        }
        let mut directory = self.root.clone();
        for name in path.split('/').filter(|_| !path.is_empty()) {
            check_name(name)?;
            directory = Arc::new(directory.enter(name, self.mode)?);
        }
        lock(&self.directories).put(path.to_owned(), directory.clone());
        Ok(directory)
    }

    fn begin(&self, number: u64, path: &str) -> io::Result<Unfinished> {
        let (directory, name) = self.place(path)?;
        self.check_free(&directory, name)?;
        let temporary = format!(".hpi-{}-{number}", std::process::id());
        Ok(Unfinished {
            file: directory.create_file(&temporary, self.mode)?,
            directory,
            temporary,
            path: path.to_owned(),
        })
    }

    fn link(&self, path: &str, text: &str) -> io::Result<()> {
        let (directory, name) = self.place(path)?;
        self.check_free(&directory, name)?;
        directory.remove_file(name)?;
        directory.make_link(text, name)
    }

    /// Checks that there is no such entry, or that it may be replaced.
    fn check_free(&self, directory: &Directory, name: &str) -> io::Result<()> {
        let problem = match directory.stat_of(Path::new(name)) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error),
            Ok(stat) if self.sources.contains(&stat.identity) => "is read, and is not replaced",
            Ok(_) if self.force => return Ok(()),
            Ok(_) => EXISTS,
        };
        Err(io::Error::other(problem))
    }

    /// Returns the directory and the name of an entry.
    fn place<'p>(&self, path: &'p str) -> io::Result<(Arc<Directory>, &'p str)> {
        let (parent, name) = path.rsplit_once('/').unwrap_or(("", path));
        check_name(name)?;
        Ok((self.directory(parent)?, name))
    }
}

impl Drop for Extraction {
    fn drop(&mut self) {
        self.unfinished.remove_all();
    }
}

impl Unfinished {
    /// Gives the file its name.
    fn keep(&self, modified: i64, force: bool) -> io::Result<()> {
        let seconds = Duration::from_secs(modified.unsigned_abs());
        let modified = match modified {
            0.. => UNIX_EPOCH.checked_add(seconds),
            _ => UNIX_EPOCH.checked_sub(seconds),
        };
        let modified: SystemTime = modified.unwrap_or(UNIX_EPOCH);
        // Not every file system has every time.
        let _ = self.file.set_times(FileTimes::new().set_modified(modified));
        let (_, name) = self.path.rsplit_once('/').unwrap_or(("", &self.path));
        let kept = self.directory.rename(&self.temporary, name, force);
        let kept = kept.map_err(|error| match error.kind() {
            ErrorKind::AlreadyExists => io::Error::other(EXISTS),
            _ => not_replaced(error),
        });
        kept.inspect_err(|_| self.remove())
    }

    /// Removes the file.
    fn remove(&self) {
        // A file that cannot be removed remains, and the reason for removing it is reported.
        let _ = self.directory.remove_file(&self.temporary);
    }
}

/// Checks that a name is one of a new entry of a directory.
fn check_name(name: &str) -> io::Result<()> {
    match name {
        "" | "." | ".." => Err(io::Error::other("is not a path in the folder")),
        _ if name.contains(['/', '\0']) => Err(ErrorKind::InvalidInput.into()),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{MetadataExt, symlink};

    use super::*;
    use tempfile::tempdir;

    type Task = ExtractTask<Vec<u8>>;

    /// Writes a file in one piece.
    fn write(folder: &Extraction, path: &str, bytes: &[u8]) -> io::Result<()> {
        folder.perform(Task::Begin(7, path.to_owned()))?;
        folder.perform(Task::Append(7, bytes.to_vec()))?;
        folder.perform(Task::End(7, 1000))
    }

    #[test]
    fn a_file_appears_with_its_time_when_it_is_complete() {
        let work = tempdir().unwrap();
        let root = work.path().join("new");
        let folder = Extraction::open(&root, &[], false, false).unwrap();
        folder.perform(Task::Begin(1, "a/b".to_owned())).unwrap();
        folder.perform(Task::Append(1, b"12".to_vec())).unwrap();
        assert!(!root.join("a/b").exists());
        folder.perform(Task::End(1, -5)).unwrap();
        assert_eq!(fs::read(root.join("a/b")).unwrap(), b"12");
        assert_eq!(root.join("a/b").metadata().unwrap().mtime(), -5);
        folder.perform(Task::Begin(2, "c".to_owned())).unwrap();
        folder.perform(Task::Abort(2)).unwrap();
        folder.perform(Task::Append(2, b"12".to_vec())).unwrap();
        folder.perform(Task::Begin(3, "d".to_owned())).unwrap();
        drop(folder);
        assert_eq!(fs::read_dir(&root).unwrap().count(), 1);
    }

    #[test]
    fn what_exists_is_replaced_only_with_force() {
        let work = tempdir().unwrap();
        fs::write(work.path().join("a"), "old").unwrap();
        for force in [false, true] {
            let folder = Extraction::open(work.path(), &[], force, false).unwrap();
            let written = write(&folder, "a", b"new");
            let linked = folder.perform(Task::Link("l".to_owned(), "a".to_owned()));
            assert_eq!((written.is_ok(), linked.is_ok()), (force, true));
            fs::remove_file(work.path().join("l")).unwrap();
        }
        assert_eq!(fs::read(work.path().join("a")).unwrap(), b"new");
        assert_eq!(fs::read_dir(work.path()).unwrap().count(), 1);
    }

    #[test]
    fn nothing_is_written_outside_of_the_folder() {
        let work = tempdir().unwrap();
        let root = work.path().join("root");
        fs::create_dir_all(work.path().join("outside")).unwrap();
        fs::create_dir(&root).unwrap();
        symlink("../outside", root.join("link")).unwrap();
        let folder = Extraction::open(&root, &[], true, false).unwrap();
        for path in ["../a", "a/../../b", "/a", ".", "a//b", "", "link/a", "a\0b"] {
            write(&folder, path, b"x").unwrap_err();
            let link = Task::Link(path.to_owned(), "x".to_owned());
            folder.perform(link).unwrap_err();
            if !path.is_empty() {
                folder
                    .perform(Task::Directory(path.to_owned()))
                    .unwrap_err();
            }
        }
        assert_eq!(fs::read_dir(work.path()).unwrap().count(), 2);
        assert_eq!(
            fs::read_dir(work.path().join("outside")).unwrap().count(),
            0
        );
    }

    #[test]
    fn names_that_are_one_on_windows_are_numbered() {
        let mut names = WindowsNames::default();
        for (path, expected) in [
            ("\u{3b1}\u{3c2}", "\u{3b1}\u{3c2}"),
            // Another sigma.
            ("\u{3b1}\u{3c3}", "\u{3b1}\u{3c3} (2)"),
            ("\u{e9}", "\u{e9}"),
            ("\u{c9}", "\u{c9} (2)"),
            ("stra\u{df}e", "stra\u{df}e"),
            ("strasse", "strasse"),
        ] {
            assert_eq!(names.path(path), expected);
            assert_eq!(names.path(path), expected, "the second time");
        }
    }

    #[test]
    fn names_are_those_that_windows_can_have_if_that_is_wanted() {
        let work = tempdir().unwrap();
        let folder = Extraction::open(work.path(), &[], false, true).unwrap();
        for (path, bytes) in [("Dir/a:b", "1"), ("dIR/con", "2"), ("Dir/A:B", "3")] {
            write(&folder, path, bytes.as_bytes()).unwrap();
        }
        folder
            .perform(Task::Link("link".to_owned(), "Dir".to_owned()))
            .unwrap();
        assert_eq!(folder.left_out(), 1);
        write(&folder, "../a", b"x").unwrap_err();
        for (path, bytes) in [
            ("Dir/a%3Ab", "1"),
            ("dIR (2)/%63on", "2"),
            ("Dir/A%3AB (2)", "3"),
        ] {
            let read = fs::read_to_string(work.path().join(path)).unwrap();
            assert_eq!(read, bytes, "{path}");
        }
        assert_eq!(fs::read_dir(work.path()).unwrap().count(), 2);
    }
}
