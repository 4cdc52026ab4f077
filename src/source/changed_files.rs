//! The files of a folder of changes.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use super::FilePool;
use crate::platform::{Directory, FileIdentity, FileStat};
use hpimount_containers::changes::{FileTable, NewFiles};
use hpimount_containers::io::{Compact, ReadAt};

/// The files that have been found, which are not opened before they are read.
#[derive(Default)]
pub(super) struct FileList {
    table: FileTable,
    identities: Vec<FileIdentity>,
    raw: HashMap<usize, Box<Path>>,
}

impl FileList {
    /// Adds a file, and returns its number. `shown` is its path for messages.
    pub(super) fn add(&mut self, path: &Path, shown: &str, stat: &FileStat) -> u32 {
        let number = self.identities.len();
        self.table
            .push(shown, stat.size, stat.modified, stat.version());
        self.identities.make_room(1);
        self.identities.push(stat.identity);
        if path.as_os_str() != shown {
            self.raw.insert(number, path.into());
        }
        // There are at most `MAX_ENTRIES`.
        number as u32
    }

    /// Returns the files, whose folder is `root`, and the memory that they take in bytes.
    /// `pool` opens them.
    pub(super) fn files(
        mut self,
        root: &Arc<Directory>,
        pool: &Arc<FilePool>,
    ) -> (Arc<NewFiles>, usize) {
        self.table.shrink_to_fit();
        self.identities.shrink_to_fit();
        let memory = self.memory();
        let table = Arc::new(self.table);
        let bytes = ChangedFiles {
            root: root.clone(),
            pool: pool.clone(),
            table: table.clone(),
            identities: self.identities,
            raw: self.raw,
            reported: Mutex::default(),
        };
        (NewFiles::new(table, Arc::new(bytes)), memory)
    }

    /// Returns its memory in bytes.
    fn memory(&self) -> usize {
        let raw = self.raw.values().map(|path| path.as_os_str().len());
        self.table.memory()
            + self.identities.capacity() * size_of::<FileIdentity>()
            + self.raw.capacity() * size_of::<(usize, Box<Path>)>()
            + raw.sum::<usize>()
    }
}

/// The bytes of all files of a folder of changes, one file after the other.
struct ChangedFiles {
    root: Arc<Directory>,
    pool: Arc<FilePool>,
    table: Arc<FileTable>,
    identities: Vec<FileIdentity>,
    /// The paths of files relative to the root, if messages show other ones.
    raw: HashMap<usize, Box<Path>>,
    /// The files whose change has a line in the log.
    reported: Mutex<HashSet<usize>>,
}

impl ChangedFiles {
    fn open(&self, number: usize) -> io::Result<File> {
        let path = self.raw.get(&number).map(|raw| &**raw);
        let path = path.unwrap_or(Path::new(self.table.path(number)));
        self.root.open_file(path)
    }

    /// Checks that a file is still the one that was applied.
    fn check(&self, number: usize) -> io::Result<()> {
        let (identity, version) = (self.identities[number], self.table.version(number));
        let pool = &self.pool;
        let is_same = pool.keeps(identity, version).unwrap_or_else(|| {
            let found = pool.stat(identity, || self.open(number));
            found.is_ok_and(|found| found.version() == version)
        });
        if is_same {
            return Ok(());
        }
        let problem = "has changed since it was applied; mount again to see the new contents";
        let mut reported = self.reported.lock().unwrap_or_else(PoisonError::into_inner);
        if reported.insert(number) {
            log::error!("{}: {problem}", self.table.path(number));
        }
        Err(io::Error::other(problem))
    }

    fn read(&self, number: usize, buf: &mut [u8], offset: u64) -> io::Result<()> {
        self.check(number)?;
        let (pool, identity) = (&self.pool, self.identities[number]);
        let read = pool.read(identity, || self.open(number), buf, offset);
        // A change during the read would mix bytes.
        self.check(number)?;
        read
    }
}

impl ReadAt for ChangedFiles {
    fn len(&self) -> u64 {
        self.table.len()
    }

    fn read_exact_at(&self, mut buf: &mut [u8], mut offset: u64) -> io::Result<()> {
        self.check_end(buf.len(), offset)?;
        while !buf.is_empty() {
            let number = self.table.file_at(offset);
            let file = self.table.range(number);
            let length = usize::try_from(file.end - offset).unwrap_or(usize::MAX);
            let (now, later) = buf.split_at_mut(length.min(buf.len()));
            self.read(number, now, offset - file.start)?;
            offset += now.len() as u64;
            buf = later;
        }
        Ok(())
    }
}
