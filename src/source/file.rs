//! Files on disk, opened on demand with a bounded number open at a time.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Weak};

use thread_local::ThreadLocal;

use crate::platform::{
    Contents, Directory, FileIdentity, FileKind, FileStat, canonical, open_at, read_exact_at,
};
use crate::sync::lock;
use hpimount_containers::io::ReadAt;

/// Maximum number of files that a pool keeps open. A thousand archives need no
/// more, since reopening one takes microseconds.
pub const MAX_OPEN: usize = 32;

/// Keeps the most recently used files open.
#[derive(Debug, Default)]
pub struct FilePool {
    /// At most [`MAX_OPEN`].
    open: Mutex<Vec<Arc<OpenFile>>>,
    /// Incremented with each lookup in `open`: the clock for the times of use.
    clock: AtomicU64,
    /// The file that each thread read last. Threads that read the same file
    /// repeatedly contend neither for the lock nor for the counter of an
    /// [`Arc`].
    last: ThreadLocal<RefCell<Option<Arc<OpenFile>>>>,
    /// True if files are removed that take room for as long as they are open: then no thread holds
    /// its last one.
    is_edited: bool,
    /// A directory, by its canonical path, that is held open to open files
    /// below it.
    held: Option<(PathBuf, Directory)>,
    /// Files that have no name any more, and are open for as long as somebody
    /// [keeps](FilePool::keep) them.
    nameless: Mutex<HashMap<FileIdentity, Weak<OpenFile>>>,
}

/// An open file of a pool.
#[derive(Debug)]
struct OpenFile {
    file: File,
    identity: FileIdentity,
    /// The time of its last use.
    used: AtomicU64,
    /// True if it is still in the pool.
    is_kept: AtomicBool,
    /// Its [versions](FileStat::version) with the same contents, when it was about to lose a
    /// name, and these contents.
    kept_as: Mutex<Option<(Contents, Vec<u64>)>>,
}

impl OpenFile {
    fn new(file: File, identity: FileIdentity, used: u64) -> Self {
        Self {
            file,
            identity,
            used: AtomicU64::new(used),
            is_kept: AtomicBool::new(true),
            kept_as: Mutex::default(),
        }
    }

    /// Remembers the current version.
    fn keep(&self, now: &FileStat) {
        let mut kept_as = lock(&self.kept_as);
        let (contents, versions) = kept_as.get_or_insert_with(|| (now.contents(), Vec::new()));
        if *contents != now.contents() {
            (*contents, *versions) = (now.contents(), Vec::new());
        }
        if !versions.contains(&now.version()) {
            versions.push(now.version());
        }
    }

    /// Returns whether it has the contents of a version: losing a name since is a change of
    /// the file, but not of these.
    fn has_contents_of(&self, version: u64) -> bool {
        let Ok(now) = FileStat::of(&self.file) else {
            return false;
        };
        let kept_as = lock(&self.kept_as);
        let is_kept = kept_as.as_ref().is_some_and(|(contents, versions)| {
            *contents == now.contents() && versions.contains(&version)
        });
        is_kept || now.version() == version
    }
}

/// A file of a pool that is open, though it may have no name.
#[derive(Debug, Clone)]
pub struct KeptFile(
    #[expect(dead_code, reason = "it is open for as long as this lives")] Arc<OpenFile>,
);

impl FilePool {
    /// Creates a pool that finds the files below `directory` even when
    /// something is mounted on it: a mount that opened its own archive through
    /// itself would deadlock.
    ///
    /// # Errors
    /// Returns the error of opening the directory.
    pub fn holding(directory: &Path) -> io::Result<Self> {
        let held = Directory::open(directory)?;
        Ok(Self {
            held: Some((canonical(directory)?, held)),
            ..Self::default()
        })
    }

    /// Creates a pool of files that are replaced and removed while it is used.
    pub fn edited() -> Self {
        Self {
            is_edited: true,
            ..Self::default()
        }
    }

    /// Keeps a file open that is about to lose its name: it can be read for as long as the
    /// result lives.
    ///
    /// # Errors
    /// Returns the error of the operating system.
    pub fn keep(&self, file: File) -> io::Result<KeptFile> {
        let now = FileStat::of(&file)?;
        let identity = now.identity;
        let mut nameless = lock(&self.nameless);
        nameless.retain(|_, kept| kept.strong_count() > 0);
        if let Some(kept) = nameless.get(&identity).and_then(Weak::upgrade) {
            kept.keep(&now);
            return Ok(KeptFile(kept));
        }
        let mut open = self.lock();
        if let Some(at) = open.iter().position(|file| file.identity == identity) {
            // It is closed when nobody keeps it any more.
            open.swap_remove(at).is_kept.store(false, Ordering::Relaxed);
        }
        drop(open);
        let kept = Arc::new(OpenFile::new(file, identity, 0));
        kept.keep(&now);
        nameless.insert(identity, Arc::downgrade(&kept));
        Ok(KeptFile(kept))
    }

    /// Returns the number of files that are [kept](FilePool::keep).
    pub fn kept(&self) -> usize {
        let nameless = lock(&self.nameless);
        let kept = nameless.values().filter(|kept| kept.strong_count() > 0);
        kept.count()
    }

    /// Returns whether the file with this identity has the contents of a version of it; `None`
    /// if it has not been [kept](FilePool::keep).
    pub fn keeps(&self, identity: FileIdentity, version: u64) -> Option<bool> {
        Some(self.nameless(identity)?.has_contents_of(version))
    }

    fn nameless(&self, identity: FileIdentity) -> Option<Arc<OpenFile>> {
        lock(&self.nameless).get(&identity)?.upgrade()
    }

    /// Returns the file with this identity, opened by `open` if it is not open; `NotFound`
    /// if `open` opens another file.
    fn get(
        &self,
        identity: FileIdentity,
        open: impl FnOnce() -> io::Result<File>,
    ) -> io::Result<Arc<OpenFile>> {
        let now = self.clock.fetch_add(1, Ordering::Relaxed) + 1;
        let known = |file: &&Arc<OpenFile>| file.identity == identity;
        let kept = self.lock().iter().find(known).cloned();
        let Some(file) = kept.or_else(|| self.nameless(identity)) else {
            return self.open(identity, open);
        };
        file.used.store(now, Ordering::Relaxed);
        Ok(file)
    }

    /// Opens a file, which replaces the entry with the same identity, or else
    /// the least recently used one.
    fn open(
        &self,
        identity: FileIdentity,
        open: impl FnOnce() -> io::Result<File>,
    ) -> io::Result<Arc<OpenFile>> {
        let file = open()?;
        if FileStat::of(&file)?.identity != identity {
            return Err(replaced());
        }
        let used = self.clock.load(Ordering::Relaxed);
        let file = Arc::new(OpenFile::new(file, identity, used));
        let mut kept = self.lock();
        let same = kept.iter().position(|other| other.identity == identity);
        let oldest = || {
            let numbered = kept.iter().enumerate();
            let oldest = numbered.min_by_key(|(_, file)| file.used.load(Ordering::Relaxed));
            oldest.filter(|_| kept.len() == MAX_OPEN).map(|(at, _)| at)
        };
        if let Some(at) = same.or_else(oldest) {
            kept.swap_remove(at).is_kept.store(false, Ordering::Relaxed);
        }
        kept.push(file.clone());
        Ok(file)
    }

    /// Calls `read` with the file with this identity, opened by `open` if it is
    /// not open. Errors of opening take precedence over errors of reading.
    fn with_file<T>(
        &self,
        identity: FileIdentity,
        open: impl FnOnce() -> io::Result<File>,
        read: impl FnOnce(&File) -> T,
    ) -> io::Result<T> {
        if self.is_edited {
            return Ok(read(&self.get(identity, open)?.file));
        }
        let mut last = self.last.get_or_default().borrow_mut();
        let is_last = last
            .as_ref()
            .is_some_and(|last| last.identity == identity && last.is_kept.load(Ordering::Relaxed));
        if !is_last {
            // The previous file may be closed now.
            *last = None;
            *last = Some(self.get(identity, open)?);
        }
        let file = last.as_ref().ok_or_else(replaced)?;
        let now = self.clock.load(Ordering::Relaxed);
        // Written only if another file was used meanwhile.
        if file.used.load(Ordering::Relaxed) != now {
            file.used.store(now, Ordering::Relaxed);
        }
        Ok(read(&file.file))
    }

    /// Fills `buf` with the bytes at `offset` of the file with this identity.
    ///
    /// If reading an open file fails, it is opened again, because its file
    /// system may have been gone and be back. The old descriptor is released
    /// only for the same file, so that a deleted one is not lost.
    ///
    /// # Errors
    /// Returns the error of `open`, `NotFound` if it opens another file, or the
    /// error of reading.
    pub fn read(
        &self,
        identity: FileIdentity,
        open: impl Fn() -> io::Result<File>,
        buf: &mut [u8],
        offset: u64,
    ) -> io::Result<()> {
        let read = self.with_file(identity, &open, |file| read_exact_at(file, buf, offset))?;
        match read {
            Err(error) if error.kind() != io::ErrorKind::UnexpectedEof => {
                match self.open(identity, &open) {
                    Ok(file) => read_exact_at(&file.file, buf, offset),
                    Err(_) => Err(error),
                }
            }
            read => read,
        }
    }

    /// Returns the current metadata of the file with this identity.
    ///
    /// # Errors
    /// Returns an error under the same conditions as [`FilePool::read`].
    pub fn stat(
        &self,
        identity: FileIdentity,
        open: impl FnOnce() -> io::Result<File>,
    ) -> io::Result<FileStat> {
        self.with_file(identity, open, |file| FileStat::of(file))?
    }

    /// Opens the file with this identity at a canonical path.
    fn open_path(&self, path: &Path, identity: FileIdentity) -> io::Result<File> {
        let (directory, path) = self.place(path);
        open_at(directory, path).map_err(|error| match error.kind() {
            // A file that must not be opened is another file, since the process
            // is confined to this one.
            io::ErrorKind::PermissionDenied
                if FileStat::through_links(directory, path)
                    .is_ok_and(|found| found.identity != identity) =>
            {
                replaced()
            }
            _ => error,
        })
    }

    /// Returns the directory and the path in it that a canonical path is opened
    /// by.
    fn place<'a>(&'a self, path: &'a Path) -> (Option<&'a Directory>, &'a Path) {
        let held = self.held.as_ref();
        held.and_then(|(held, directory)| Some((Some(directory), path.strip_prefix(held).ok()?)))
            .unwrap_or((None, path))
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Arc<OpenFile>>> {
        lock(&self.open)
    }
}

fn replaced() -> io::Error {
    io::Error::new(io::ErrorKind::NotFound, "the file has been replaced")
}

/// A file on disk as a source.
#[derive(Debug)]
pub struct FileSource {
    pool: Arc<FilePool>,
    path: PathBuf,
    identity: FileIdentity,
    len: u64,
}

impl FileSource {
    /// Opens the file at `path`.
    ///
    /// # Errors
    /// Returns the error of the operating system, or `InvalidInput` if it is
    /// not a regular file.
    pub fn open(path: &Path, pool: &Arc<FilePool>) -> io::Result<Self> {
        // A file without a path, such as a deleted one in /proc, keeps the path
        // that was given.
        let path = canonical(path).unwrap_or_else(|_| path.to_owned());
        let stat = FileStat::through_links(None, &path)?;
        if stat.kind != FileKind::File {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "is not a regular file",
            ));
        }
        let source = Self {
            pool: pool.clone(),
            path,
            identity: stat.identity,
            len: stat.size,
        };
        let open = || source.pool.open_path(&source.path, source.identity);
        source.pool.get(source.identity, open)?;
        Ok(source)
    }

    /// Returns a handle of the file.
    ///
    /// # Errors
    /// Returns the error of opening it, or of the operating system.
    pub fn file(&self) -> io::Result<File> {
        let open = || self.pool.open_path(&self.path, self.identity);
        self.pool.with_file(self.identity, open, File::try_clone)?
    }
}

impl ReadAt for FileSource {
    fn len(&self) -> u64 {
        self.len
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        let open = || self.pool.open_path(&self.path, self.identity);
        self.pool.read(self.identity, open, buf, offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_files_are_read_with_a_few_open() {
        let dir = tempfile::tempdir().unwrap();
        let pool = Arc::new(FilePool::default());
        let sources: Vec<FileSource> = (0..3 * MAX_OPEN)
            .map(|number| {
                let path = dir.path().join(number.to_string());
                std::fs::write(&path, [number as u8]).unwrap();
                FileSource::open(&path, &pool).unwrap()
            })
            .collect();
        for (number, source) in sources.iter().enumerate() {
            let mut byte = [0];
            source.read_exact_at(&mut byte, 0).unwrap();
            assert_eq!(byte, [number as u8]);
        }
        assert_eq!(pool.lock().len(), MAX_OPEN);
    }

    #[test]
    fn a_file_that_one_thread_reads_all_the_time_stays_open() {
        let dir = tempfile::tempdir().unwrap();
        let pool = Arc::new(FilePool::default());
        let create = |number: usize| {
            let path = dir.path().join(number.to_string());
            std::fs::write(&path, [number as u8]).unwrap();
            FileSource::open(&path, &pool).unwrap()
        };
        let mut byte = [0];
        let read = create(0);
        for number in 1..3 * MAX_OPEN {
            read.read_exact_at(&mut byte, 0).unwrap();
            std::thread::scope(|scope| scope.spawn(|| create(number)).join().unwrap());
        }
        std::fs::remove_file(dir.path().join("0")).unwrap();
        read.read_exact_at(&mut byte, 0).unwrap();
        assert_eq!(byte, [0]);
    }

    #[test]
    fn a_file_that_is_edited_is_closed_when_nobody_keeps_it() {
        let dir = tempfile::tempdir().unwrap();
        let pool = Arc::new(FilePool::edited());
        let path = dir.path().join("a");
        std::fs::write(&path, "old").unwrap();
        let source = FileSource::open(&path, &pool).unwrap();
        let mut bytes = [0; 3];
        source.read_exact_at(&mut bytes, 0).unwrap();
        let kept = pool.keep(File::open(&path).unwrap()).unwrap();
        source.read_exact_at(&mut bytes, 0).unwrap();
        assert_eq!(pool.kept(), 1);
        drop(kept);
        assert_eq!(pool.kept(), 0);
    }

    #[test]
    fn a_file_that_cannot_be_read_anymore_is_reopened() {
        let dir = tempfile::tempdir().unwrap();
        let pool = Arc::new(FilePool::default());
        let path = dir.path().join("a");
        std::fs::write(&path, "abc").unwrap();
        let source = FileSource::open(&path, &pool).unwrap();
        // Open for writing only, so that every read fails.
        let break_it = || {
            let open = || File::options().write(true).open(&path);
            pool.open(source.identity, open).unwrap()
        };
        break_it();
        let mut bytes = [0; 3];
        source.read_exact_at(&mut bytes, 0).unwrap();
        assert_eq!(&bytes, b"abc");

        // Not if another file is at its path: the old one stays open.
        break_it();
        std::fs::write(dir.path().join("b"), "new").unwrap();
        std::fs::rename(dir.path().join("b"), &path).unwrap();
        let error = source.read_exact_at(&mut bytes, 0).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::EBADF));
        assert_eq!(pool.lock().len(), 1);
    }

    #[test]
    fn a_replacement_is_not_mistaken_for_the_old_file() {
        let dir = tempfile::tempdir().unwrap();
        let pool = Arc::new(FilePool::default());
        let path = dir.path().join("a");
        std::fs::write(&path, "old").unwrap();
        let source = FileSource::open(&path, &pool).unwrap();
        std::fs::write(dir.path().join("b"), "new").unwrap();
        std::fs::rename(dir.path().join("b"), &path).unwrap();

        let mut bytes = [0; 3];
        source.read_exact_at(&mut bytes, 0).unwrap();
        assert_eq!(&bytes, b"old", "as long as it is open");
        for file in pool.lock().drain(..) {
            file.is_kept.store(false, Ordering::Relaxed);
        }
        assert!(source.read_exact_at(&mut bytes, 0).is_err());

        std::fs::remove_file(&path).unwrap();
        let mode = rustix::fs::Mode::RUSR;
        let pipe = rustix::fs::FileType::Fifo;
        rustix::fs::mknodat(rustix::fs::CWD, &path, pipe, mode, 0).unwrap();
        assert!(source.read_exact_at(&mut bytes, 0).is_err());
    }
}
