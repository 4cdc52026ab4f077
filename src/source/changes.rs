//! Folders of changes on disk: overlayfs uppers, partial copies, or made by hand.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::{self, ErrorKind};
use std::path::Path;
use std::sync::Arc;

use super::changed_files::FileList;
use super::{DiskNames, FilePool};
use crate::platform::{Directory, FileKind, FileStat, canonical, overlay_attribute};
use hpimount_containers::changes::{Change, Folder, NewFile, NewFiles};
use hpimount_containers::io::ReadAt;
use hpimount_containers::text::file_name;
use hpimount_containers::volume::{MAX_DEPTH, MAX_ENTRIES, Name};

/// Marker of a deleted entry, before its name.
pub const WHITEOUT: &str = ".wh.";
/// Marker that deletes everything else in its directory.
pub const OPAQUE: &str = ".wh..wh..opq";

/// A folder of changes, open.
pub struct ChangesFolder {
    directory: Arc<Directory>,
    names: DiskNames,
    pool: Arc<FilePool>,
}

impl ChangesFolder {
    /// Opens the folder at `path`, whose files have such `names`; `pool` opens them.
    ///
    /// # Errors
    /// Returns the error of opening it.
    pub fn open(path: &Path, pool: &Arc<FilePool>, names: DiskNames) -> io::Result<Arc<Self>> {
        Ok(Arc::new(Self {
            directory: Arc::new(Directory::open(path)?),
            names,
            pool: pool.clone(),
        }))
    }

    /// Reads the folder. The files are read later; a file that has changed by then cannot
    /// be read.
    ///
    /// Symbolic links are not followed in any component. Returns the memory of what is kept
    /// of the files as well, in bytes.
    ///
    /// # Errors
    /// Returns the error of listing a directory, or an error if there are too many
    /// entries. What cannot be applied is [`Change::Unusable`].
    pub fn read(self: &Arc<Self>) -> io::Result<(Folder, usize)> {
        let mut scan = Scan::new(self);
        let scanned = scan.directory(Path::new(""), "", 0)?;
        let (files, memory) = scan.found.files(&self.directory, &self.pool);
        Ok((scanned.folder(&files), memory))
    }

    /// Reads again what the folder, which was read before, says about some paths in it.
    /// Returns the additional memory in bytes.
    ///
    /// # Errors
    /// Returns an error under the same conditions as [`ChangesFolder::read`]; `folder` has
    /// not changed then.
    pub fn read_again<'a>(
        self: &Arc<Self>,
        folder: &mut Folder,
        changed: impl Iterator<Item = &'a str>,
    ) -> io::Result<usize> {
        let mut scan = Scan::new(self);
        let mut read = BTreeMap::new();
        for path in changed {
            let (parent, name) = scan.unread(folder, path);
            let ends = path.match_indices('/').map(|(end, _)| end);
            let is_read = |end: usize| read.contains_key(&path[..end]);
            if !ends.chain([path.len()]).any(is_read) {
                let whole = &path[..parent.len() + usize::from(!parent.is_empty()) + name.len()];
                read.insert(whole, (parent, name, scan.again(parent, name)?));
            }
        }
        let (files, memory) = scan.found.files(&self.directory, &self.pool);
        for (parent, name, entries) in read.into_values() {
            let mut parts = parent.split('/').filter(|part| !part.is_empty());
            // Otherwise a directory above it has been read.
            let inner = parts.try_fold(&mut *folder, |folder, part| {
                match folder.entries.get_mut(part) {
                    Some(Change::Directory(inner)) => Some(&mut **inner),
                    _ => None,
                }
            });
            let Some(inner) = inner else {
                continue;
            };
            inner.entries.remove(name);
            inner.entries.remove(&*format!("{WHITEOUT}{name}"));
            let entries = entries.into_iter();
            let changes = entries.map(|(name, entry)| (name, entry.change(&files)));
            inner.entries.extend(changes);
        }
        Ok(memory)
    }
}

/// Opens a patch. A patch that has changed since cannot be read.
///
/// # Errors
/// Returns the error of opening it.
pub fn read_patch(path: &Path, pool: &Arc<FilePool>) -> io::Result<Arc<dyn ReadAt>> {
    let path = canonical(path)?;
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let root = ChangesFolder::open(folder, pool, DiskNames::Plain)?;
    let handle = root.directory.open_file(Path::new(name))?;
    let mut found = FileList::default();
    let number = found.add(
        Path::new(name),
        &name.to_string_lossy(),
        &FileStat::of(&handle)?,
    );
    let (files, _) = found.files(&root.directory, &root.pool);
    Ok(Arc::new(NewFile::of(&files, number)))
}

/// A directory that has been read.
struct Scanned {
    entries: Vec<(Box<str>, Entry)>,
    is_opaque: bool,
}

/// An entry of it.
enum Entry {
    /// A file, by its number.
    File(u32),
    Directory(Box<Scanned>),
    Other(Change),
}

impl Scanned {
    /// Returns the folder with its files among `files`.
    fn folder(self, files: &Arc<NewFiles>) -> Folder {
        let entries = self.entries.into_iter();
        let entries = entries.map(|(name, entry)| (name, entry.change(files)));
        Folder {
            entries: entries.collect(),
            is_opaque: self.is_opaque,
        }
    }
}

impl Entry {
    /// Returns the change with its files among `files`.
    fn change(self, files: &Arc<NewFiles>) -> Change {
        match self {
            Self::File(number) => Change::File(NewFile::of(files, number)),
            Self::Directory(inner) => Change::Directory(Box::new(inner.folder(files))),
            Self::Other(change) => change,
        }
    }
}

struct Scan {
    root: Arc<ChangesFolder>,
    entries: usize,
    found: FileList,
}

impl Scan {
    fn new(root: &Arc<ChangesFolder>) -> Self {
        Self {
            root: root.clone(),
            entries: 0,
            found: FileList::default(),
        }
    }

    /// Returns the last directory on a path that `folder` has and that is still there, and
    /// the name in it.
    fn unread<'a>(&self, mut folder: &Folder, path: &'a str) -> (&'a str, &'a str) {
        let mut start = 0;
        for (end, _) in path.match_indices('/') {
            let name = &path[start..end];
            let directory = &self.root.directory;
            let is_there = || directory.open_directory(Path::new(&path[..end])).is_ok();
            match folder.entries.get(name) {
                Some(Change::Directory(inner)) if is_there() => folder = inner,
                _ => return (path[..start].trim_end_matches('/'), name),
            }
            start = end + 1;
        }
        (path[..start].trim_end_matches('/'), &path[start..])
    }

    /// Reads what a directory says about one name.
    fn again(&mut self, parent: &str, name: &str) -> io::Result<Vec<(Box<str>, Entry)>> {
        let handle = self.root.directory.open_directory(Path::new(parent))?;
        let shown = match parent.is_empty() {
            true => String::new(),
            false => format!("{parent}/"),
        };
        let depth = parent.split('/').count();
        let mut entries = Vec::new();
        for name in [name, &format!("{WHITEOUT}{name}")] {
            let place = (Path::new(parent), &*shown, depth);
            entries.extend(self.named(&handle, place, OsStr::new(name))?);
        }
        drop_twice(&mut entries);
        Ok(entries)
    }

    /// Reads the directory at `path`, whose names for messages is `shown`: empty,
    /// or with a slash at the end.
    fn directory(&mut self, path: &Path, shown: &str, depth: usize) -> io::Result<Scanned> {
        if depth > MAX_DEPTH {
            let problem = format!("{shown} is nested deeper than {MAX_DEPTH} directories");
            return Err(io::Error::other(problem));
        }
        let handle = self.root.directory.open_directory(path)?;
        let mut scanned = Scanned {
            entries: Vec::new(),
            is_opaque: handle
                .overlay_attribute("opaque")?
                .is_some_and(|value| value == b"y"),
        };
        for name in self.names(&handle)? {
            if name == OPAQUE {
                scanned.is_opaque = true;
                continue;
            }
            let entry = self.named(&handle, (path, shown, depth), &name)?;
            scanned.entries.extend(entry);
        }
        let entries = &mut scanned.entries;
        entries.sort_by(|(one, _), (other, _)| one.cmp(other));
        drop_twice(entries);
        entries.shrink_to_fit();
        Ok(scanned)
    }

    /// Returns what an entry of a directory says, and about which name; `None` if it is not
    /// there any more. The directory has a path, a name for messages and a depth.
    fn named(
        &mut self,
        directory: &Directory,
        (path, shown, depth): (&Path, &str, usize),
        name: &OsStr,
    ) -> io::Result<Option<(Box<str>, Entry)>> {
        let stat = match directory.stat_of(Path::new(name)) {
            Ok(stat) => stat,
            Err(error) => match error.kind() {
                // A name that is too long has no mark.
                ErrorKind::NotFound | ErrorKind::InvalidFilename => return Ok(None),
                _ => return Err(error),
            },
        };
        let text = file_name(Name::host(name));
        let text = self.root.names.in_archives(&text).into_owned();
        Ok(Some(match text.strip_prefix(WHITEOUT) {
            Some(deleted) if stat.size == 0 => (deleted.into(), Entry::Other(Change::Deleted)),
            Some(_) => {
                let reason = "is called like a mark of a deleted file, and is not empty";
                (text.into(), unusable(reason))
            }
            None => {
                let shown = format!("{shown}{text}");
                match self.entry(&path.join(name), stat.kind, &shown, depth) {
                    // It goes while it is read.
                    Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
                    entry => (text.into(), entry?),
                }
            }
        }))
    }

    /// Returns the names in a directory. They are sorted so that the bytes of files that
    /// are written one after the other are one range.
    fn names(&mut self, directory: &Directory) -> io::Result<Vec<OsString>> {
        let mut names = Vec::new();
        for name in directory.names()? {
            let name = name?;
            self.entries += 1;
            if self.entries > MAX_ENTRIES {
                let problem = format!("has more than {MAX_ENTRIES} entries");
                return Err(io::Error::other(problem));
            }
            names.push(name);
        }
        names.sort_unstable();
        Ok(names)
    }

    /// Returns what an entry says that is not a mark by its name or kind.
    fn entry(
        &mut self,
        path: &Path,
        kind: FileKind,
        shown: &str,
        depth: usize,
    ) -> io::Result<Entry> {
        match kind {
            FileKind::Link => Ok(Entry::Other(Change::Link)),
            FileKind::Whiteout => Ok(Entry::Other(Change::Deleted)),
            FileKind::Directory => {
                let handle = self.root.directory.open_directory(path)?;
                if handle.overlay_attribute("redirect")?.is_some() {
                    return Ok(unusable(
                        "was renamed by overlayfs, and its contents are elsewhere: mount the \
                         overlay with redirect_dir=off",
                    ));
                }
                let inner = self.directory(path, &format!("{shown}/"), depth + 1)?;
                Ok(Entry::Directory(Box::new(inner)))
            }
            FileKind::File => {
                let handle = self.root.directory.open_file(path)?;
                if overlay_attribute(&handle, "metacopy")?.is_some() {
                    return Ok(unusable(
                        "has only attributes here, and its contents elsewhere: mount the overlay \
                         with metacopy=off",
                    ));
                }
                let stat = FileStat::now_of(&handle)?;
                if stat.size == 0 && overlay_attribute(&handle, "whiteout")?.is_some() {
                    return Ok(Entry::Other(Change::Deleted));
                }
                Ok(Entry::File(self.found.add(path, shown, &stat)))
            }
            FileKind::Other => Ok(unusable("is neither a file nor a directory")),
        }
    }
}

/// Makes one of entries next to each other that say something about the same name.
fn drop_twice(entries: &mut Vec<(Box<str>, Entry)>) {
    entries.dedup_by(|(name, _), (first, entry)| {
        let is_twice = name == first;
        if is_twice {
            *entry = unusable("is there twice, or both deleted and there");
        }
        is_twice
    });
}

fn unusable(reason: &str) -> Entry {
    Entry::Other(Change::Unusable(reason.into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, File};
    use std::os::unix::fs::symlink;

    fn open(root: &Path) -> Arc<ChangesFolder> {
        ChangesFolder::open(root, &Arc::default(), DiskNames::Plain).unwrap()
    }

    fn read(root: &Path) -> Folder {
        open(root).read().unwrap().0
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

    /// Returns what a folder says, one line for each path.
    fn lines(folder: &Folder, prefix: &str) -> Vec<String> {
        let entries = folder
            .entries
            .iter()
            .flat_map(|(name, change)| match change {
                Change::Directory(inner) => lines(inner, &format!("{prefix}{name}/")),
                Change::File(file) => {
                    let mut bytes = vec![0; file.len() as usize];
                    file.read_exact_at(&mut bytes, 0).unwrap();
                    vec![format!("{prefix}{name} {bytes:?}")]
                }
                Change::Deleted => vec![format!("{prefix}{name} is deleted")],
                Change::Link => vec![format!("{prefix}{name} is a link")],
                Change::Unusable(reason) => vec![format!("{prefix}{name} {reason}")],
            });
        let mut lines: Vec<_> = entries.collect();
        lines.push(format!("{prefix} {}", folder.is_opaque));
        lines
    }

    #[test]
    fn paths_that_have_changed_are_read_again_as_with_the_whole_folder() {
        let root = tempfile::tempdir().unwrap();
        let path = |name: &str| root.path().join(name);
        let write = |name: &str, bytes: &str| {
            fs::create_dir_all(path(name).parent().unwrap()).unwrap();
            fs::write(path(name), bytes).unwrap();
        };
        let remove = |name: &str| fs::remove_file(path(name)).unwrap();
        let opened = open(root.path());
        let (mut folder, _) = opened.read().unwrap();
        let mut step = |changed: &[&str], change: &dyn Fn()| {
            change();
            let changed = changed.iter().copied();
            opened.read_again(&mut folder, changed).unwrap();
            assert_eq!(lines(&folder, ""), lines(&read(root.path()), ""));
        };
        step(&["a"], &|| write("a", "1"));
        step(&["a"], &|| write("a", "22"));
        step(&["new/deep/b", "new/deep/c"], &|| {
            write("new/deep/b", "b");
            write("new/deep/c", "c");
        });
        step(&["a", "new/deep/b"], &|| {
            remove("a");
            write(".wh.a", "");
            remove("new/deep/b");
        });
        step(&["a"], &|| write("a", "both"));
        step(&["a"], &|| remove(".wh.a"));
        step(&["a", "moved"], &|| {
            fs::rename(path("a"), path("moved")).unwrap()
        });
        step(&["new", "old"], &|| {
            fs::rename(path("new"), path("old")).unwrap()
        });
        step(&["old"], &|| write("old/.wh..wh..opq", ""));
        step(&["old/deep/c"], &|| {
            fs::remove_dir_all(path("old")).unwrap()
        });
        step(&["moved/x"], &|| {
            remove("moved");
            write("moved/x", "a directory now");
        });
        step(&["full"], &|| write(".wh.full", "x"));
        step(&["full"], &|| remove(".wh.full"));
        step(&["never/there"], &|| ());
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
        new.read_exact_at(&mut bytes, 0).unwrap();
        assert_eq!(&bytes, b"old");
        fs::write(&file, "newer").unwrap();
        let error = new.read_exact_at(&mut bytes, 0).unwrap_err();
        assert!(error.to_string().contains("has changed"), "{error}");
        fs::remove_file(&file).unwrap();
        symlink("/etc/passwd", &file).unwrap();
        assert!(new.read_exact_at(&mut bytes, 0).is_err());
    }

    #[test]
    fn a_kept_file_may_lose_its_name_and_keeps_its_contents() {
        let root = tempfile::tempdir().unwrap();
        let path = |name: &str| root.path().join(name);
        fs::write(path("a"), "old").unwrap();
        let pool: Arc<FilePool> = Arc::default();
        let file = |name: &str| {
            let (mut folder, _) = ChangesFolder::open(root.path(), &pool, DiskNames::Plain)
                .unwrap()
                .read()
                .unwrap();
            match folder.entries.remove(name) {
                Some(Change::File(file)) => file,
                _ => panic!("{name} is no file"),
            }
        };
        let read = |file: &NewFile| {
            let mut bytes = [0; 3];
            file.read_exact_at(&mut bytes, 0).map(|()| bytes)
        };
        let first = file("a");
        let _kept = pool.keep(File::open(path("a")).unwrap()).unwrap();
        fs::rename(path("a"), path("b")).unwrap();
        let second = file("b");
        let _again = pool.keep(File::open(path("b")).unwrap()).unwrap();
        fs::rename(path("b"), path("c")).unwrap();
        for file in [&first, &second] {
            assert_eq!(read(file).unwrap(), *b"old");
        }
        fs::write(path("c"), "newer").unwrap();
        for file in [&first, &second] {
            let error = read(file).unwrap_err();
            assert!(error.to_string().contains("has changed"), "{error}");
        }
    }
}
