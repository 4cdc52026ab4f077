//! Folders of changes on disk: overlayfs uppers, partial copies, or made by hand.

use std::collections::btree_map::Entry;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, openat, statat};

use super::{DIRECTORY_HANDLE, FileIdentity, FilePool, FileStat, open_beneath};
use hpimount_containers::changes::{Change, Folder, NewFile};
use hpimount_containers::io::ReadAt;
use hpimount_containers::text::file_name;
use hpimount_containers::volume::{MAX_DEPTH, MAX_ENTRIES, Name};

/// What marks a deleted entry, before its name.
pub const WHITEOUT: &str = ".wh.";
/// What marks everything else in its directory as deleted.
pub const OPAQUE: &str = ".wh..wh..opq";

/// Name spaces of the attributes of overlayfs.
#[cfg(target_os = "linux")]
const SPACES: [&str; 2] = ["trusted.overlay.", "user.overlay."];

/// Reads the folder of changes at `path`. The files are read later; a file that
/// has changed by then cannot be read.
///
/// Symbolic links are not followed in any component.
///
/// # Errors
/// Returns the error of listing a directory, or an error if there are too many
/// entries. What cannot be applied is [`Change::Unusable`].
pub fn read_changes(path: &Path, pool: &Arc<FilePool>) -> io::Result<Folder> {
    let root = openat(CWD, path, DIRECTORY_HANDLE, Mode::empty())?;
    let mut scan = Scan {
        root: Arc::new(Root {
            directory: root,
            pool: pool.clone(),
        }),
        entries: 0,
    };
    scan.directory(Path::new(""), "", 0)
}

/// Opens a patch. A patch that has changed since cannot be read.
///
/// # Errors
/// Returns the error of opening it.
pub fn read_patch(path: &Path, pool: &Arc<FilePool>) -> io::Result<Arc<dyn ReadAt>> {
    let path = path.canonicalize()?;
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let root = Arc::new(Root {
        directory: openat(CWD, folder, DIRECTORY_HANDLE, Mode::empty())?,
        pool: pool.clone(),
    });
    let handle = open_beneath(&root.directory, Path::new(name), FILE)?;
    let stat = FileStat::of(&handle)?;
    let shown = name.to_string_lossy();
    let raw = (*name != *shown).then(|| Path::new(name).into());
    Ok(Arc::new(ChangedFile::new(root, shown.into(), raw, &stat)))
}

/// A folder of changes.
struct Root {
    directory: OwnedFd,
    pool: Arc<FilePool>,
}

struct Scan {
    root: Arc<Root>,
    entries: usize,
}

impl Scan {
    /// Reads the directory at `path`, whose names for messages is `shown`: empty,
    /// or with a slash at the end.
    fn directory(&mut self, path: &Path, shown: &str, depth: usize) -> io::Result<Folder> {
        if depth > MAX_DEPTH {
            let problem = format!("{shown} is nested deeper than {MAX_DEPTH} directories");
            return Err(io::Error::other(problem));
        }
        let root = &self.root.directory;
        let handle = open_beneath(root, path, OFlags::RDONLY | OFlags::DIRECTORY)?;
        let mut folder = Folder {
            is_opaque: attribute(&handle, "opaque")?.is_some_and(|value| value == b"y"),
            ..Folder::default()
        };
        for entry in Dir::read_from(&handle)? {
            let entry = entry?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name == "." || name == ".." {
                continue;
            }
            self.entries += 1;
            if self.entries > MAX_ENTRIES {
                let problem = format!("has more than {MAX_ENTRIES} entries");
                return Err(io::Error::other(problem));
            }
            if name == OPAQUE {
                folder.is_opaque = true;
                continue;
            }
            let stat = match statat(&handle, name, AtFlags::SYMLINK_NOFOLLOW) {
                // It was deleted after the directory was listed.
                Err(rustix::io::Errno::NOENT) => continue,
                stat => stat?,
            };
            let text = file_name(Name::host(name)).into_owned();
            let (text, change) = match text.strip_prefix(WHITEOUT) {
                Some(deleted) if stat.st_size == 0 => (deleted.to_owned(), Change::Deleted),
                Some(_) => {
                    let reason = "is called like a mark of a deleted file, and is not empty";
                    (text, Change::Unusable(reason.to_owned()))
                }
                None => {
                    let shown = format!("{shown}{text}");
                    let kind = FileType::from_raw_mode(stat.st_mode);
                    let is_device = kind == FileType::CharacterDevice && stat.st_rdev == 0;
                    let change = match is_device {
                        true => Change::Deleted,
                        false => self.change(&path.join(name), kind, shown, depth)?,
                    };
                    (text, change)
                }
            };
            match folder.entries.entry(text) {
                Entry::Vacant(free) => {
                    free.insert(change);
                }
                Entry::Occupied(mut taken) => {
                    let reason = "is both deleted and there".to_owned();
                    taken.insert(Change::Unusable(reason));
                }
            }
        }
        Ok(folder)
    }

    /// Returns what an entry says that is not a mark by its name or kind.
    fn change(
        &mut self,
        path: &Path,
        kind: FileType,
        shown: String,
        depth: usize,
    ) -> io::Result<Change> {
        let unusable = |reason: &str| Ok(Change::Unusable(reason.to_owned()));
        match kind {
            FileType::Symlink => Ok(Change::Link),
            FileType::Directory => {
                let flags = OFlags::RDONLY | OFlags::DIRECTORY;
                let handle = open_beneath(&self.root.directory, path, flags)?;
                if attribute(&handle, "redirect")?.is_some() {
                    return unusable(
                        "was renamed by overlayfs, and its contents are elsewhere: mount the \
                         overlay with redirect_dir=off",
                    );
                }
                let folder = self.directory(path, &format!("{shown}/"), depth + 1)?;
                Ok(Change::Directory(folder))
            }
            FileType::RegularFile => {
                let handle = open_beneath(&self.root.directory, path, FILE)?;
                if attribute(&handle, "metacopy")?.is_some() {
                    return unusable(
                        "has only attributes here, and its contents elsewhere: mount the overlay \
                         with metacopy=off",
                    );
                }
                let stat = FileStat::of(&handle)?;
                if stat.size == 0 && attribute(&handle, "whiteout")?.is_some() {
                    return Ok(Change::Deleted);
                }
                let raw = (path.as_os_str() != &*shown).then(|| path.into());
                let shown: Arc<str> = shown.into();
                Ok(Change::File(NewFile {
                    path: shown.clone(),
                    modified: Some(stat.modified),
                    bytes: Arc::new(ChangedFile::new(self.root.clone(), shown, raw, &stat)),
                }))
            }
            _ => unusable("is neither a file nor a directory"),
        }
    }
}

/// Flags for opening a file; without blocking, since it may be a pipe by now.
const FILE: OFlags = OFlags::RDONLY.union(OFlags::NONBLOCK);

/// Returns an attribute of overlayfs; `None` if it is not set or the file system
/// has none.
#[cfg(target_os = "linux")]
fn attribute(file: impl AsFd, name: &str) -> io::Result<Option<Vec<u8>>> {
    use rustix::fs::fgetxattr;
    use rustix::io::Errno;

    for space in SPACES {
        // Longer values are paths, which are not read.
        let mut value = [0; 16];
        match fgetxattr(file.as_fd(), format!("{space}{name}"), &mut value[..]) {
            Ok(length) => return Ok(Some(value[..length].to_vec())),
            Err(Errno::RANGE) => return Ok(Some(Vec::new())),
            Err(Errno::NODATA | Errno::NOTSUP | Errno::PERM) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(None)
}

/// Returns `None`: only Linux has overlayfs.
#[cfg(not(target_os = "linux"))]
fn attribute(_file: impl AsFd, _name: &str) -> io::Result<Option<Vec<u8>>> {
    Ok(None)
}

/// A file of a folder of changes, as it was when the folder was read.
struct ChangedFile {
    root: Arc<Root>,
    /// Path relative to the root for messages.
    shown: Arc<str>,
    /// The path itself, if it is another one.
    raw: Option<Box<Path>>,
    identity: FileIdentity,
    /// Its size in bytes.
    size: u64,
    version: u64,
    /// Whether the log has a line that it was changed.
    is_reported: AtomicBool,
}

impl ChangedFile {
    fn new(root: Arc<Root>, shown: Arc<str>, raw: Option<Box<Path>>, stat: &FileStat) -> Self {
        Self {
            root,
            shown,
            raw,
            identity: stat.identity,
            size: stat.size,
            version: stat.version(),
            is_reported: AtomicBool::new(false),
        }
    }

    fn open(&self) -> io::Result<File> {
        let path = self.raw.as_deref().unwrap_or(Path::new(&*self.shown));
        Ok(open_beneath(&self.root.directory, path, FILE)?.into())
    }

    /// Checks that the file is still the one that was applied.
    fn check(&self) -> io::Result<()> {
        let found = self.root.pool.stat(self.identity, || self.open());
        if found.is_ok_and(|found| found.version() == self.version) {
            return Ok(());
        }
        let problem = "has changed since it was applied; mount again to see the new contents";
        if !self.is_reported.swap(true, Ordering::Relaxed) {
            log::error!("{}: {problem}", self.shown);
        }
        Err(io::Error::other(problem))
    }
}

impl ReadAt for ChangedFile {
    fn len(&self) -> u64 {
        self.size
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        self.check_end(buf.len(), offset)?;
        self.check()?;
        let pool = &self.root.pool;
        let read = pool.read(self.identity, || self.open(), buf, offset);
        // A change during the read would mix bytes.
        self.check()?;
        read
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    fn read(root: &Path) -> Folder {
        read_changes(root, &Arc::default()).unwrap()
    }

    #[test]
    fn marks_by_name_delete_entries_and_make_directories_opaque() {
        let root = tempfile::tempdir().unwrap();
        let path = |name: &str| root.path().join(name);
        fs::create_dir(path("dir")).unwrap();
        for name in [".wh.gone", "dir/.wh..wh..opq"] {
            fs::write(path(name), "").unwrap();
        }
        fs::write(path(".wh.full"), "x").unwrap();
        fs::write(path("both"), "x").unwrap();
        fs::write(path(".wh.both"), "").unwrap();
        symlink("both", path("link")).unwrap();
        let folder = read(root.path());
        assert!(matches!(folder.entries["gone"], Change::Deleted));
        assert!(matches!(&folder.entries["dir"], Change::Directory(dir) if dir.is_opaque));
        assert!(matches!(folder.entries[".wh.full"], Change::Unusable(_)));
        assert!(matches!(folder.entries["both"], Change::Unusable(_)));
        assert!(matches!(folder.entries["link"], Change::Link));
        assert_eq!(folder.entries.len(), 5);
    }

    #[test]
    fn a_file_that_was_changed_after_it_was_applied_cannot_be_read() {
        let root = tempfile::tempdir().unwrap();
        let file = root.path().join("file");
        fs::write(&file, "old").unwrap();
        let folder = read(root.path());
        let Change::File(new) = &folder.entries["file"] else {
            panic!("is a file");
        };
        let mut bytes = [0; 3];
        new.bytes.read_exact_at(&mut bytes, 0).unwrap();
        assert_eq!(&bytes, b"old");
        fs::write(&file, "newer").unwrap();
        let error = new.bytes.read_exact_at(&mut bytes, 0).unwrap_err();
        assert!(error.to_string().contains("has changed"), "{error}");
        fs::remove_file(&file).unwrap();
        symlink("/etc/passwd", &file).unwrap();
        assert!(new.bytes.read_exact_at(&mut bytes, 0).is_err());
    }
}
