//! Folders on disk as volumes: listed one directory at a time, or completely.

use std::collections::{HashMap, VecDeque};
use std::ffi::OsString;
use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::platform::{Directory, FileIdentity, FileKind, FileStat, canonical};
use crate::source::FilePool;
use hpimount_containers::io::{self, Error, ReadAt, read_error};
use hpimount_containers::volume::{
    Content, Entry, FileId, LiveFolder, MAX_DEPTH, Mountable, Name, NodeId, Sink, Version, Volume,
    no_such_file,
};

/// Name of the format.
pub const FORMAT_NAME: &str = "folder";

/// State shared by all folders of a mount.
#[derive(Debug, Default)]
pub struct Disk {
    /// The files that are open.
    pub pool: Arc<FilePool>,
    /// The mount point, which no folder shows, because it would contain itself.
    mount_point: Option<PathBuf>,
}

impl Disk {
    /// Creates the state for the mount of `sources` at `mount_point`. The
    /// directory is held open only if a source is below it, because an open
    /// directory keeps an earlier mount there, such as an autofs, in use.
    ///
    /// # Errors
    /// Returns an error if the mount point cannot be opened.
    pub fn around(mount_point: Option<&Path>, sources: &[PathBuf]) -> std::io::Result<Self> {
        let Some(point) = mount_point else {
            return Ok(Self::default());
        };
        let is_below = |source: &PathBuf| {
            let source = canonical(source);
            source.is_ok_and(|source| source.starts_with(point))
        };
        let pool = match sources.iter().any(is_below) {
            true => FilePool::holding(point)?,
            false => FilePool::default(),
        };
        Ok(Self {
            pool: Arc::new(pool),
            mount_point: Some(point.to_owned()),
        })
    }
}

/// A directory on disk as it was when it was listed.
pub struct Folder {
    root: Arc<Root>,
    /// Path relative to the root; empty for the root itself.
    path: PathBuf,
    /// The files and subdirectories; a [`FileId`] is an index here.
    entries: Vec<FolderEntry>,
}

/// The source directory. It is kept open, so that it stays the same if
/// something, such as this mount, is mounted over it.
struct Root {
    directory: Directory,
    path: PathBuf,
    disk: Arc<Disk>,
}

/// A file or a subdirectory of a folder.
struct FolderEntry {
    root: Arc<Root>,
    /// Path relative to the root.
    path: PathBuf,
    identity: FileIdentity,
    len: u64,
}

/// Handling of subdirectories.
enum Subdirectories<'a> {
    /// Each is listed on demand.
    OnDemand,
    /// They are listed as well. Siblings with names that differ only in ASCII
    /// case are merged.
    Listed(&'a mut CaseMerge),
}

/// Directories by parent and lower-case name.
#[derive(Default)]
struct CaseMerge {
    nodes: HashMap<(NodeId, String), (NodeId, PathBuf)>,
    warnings: Vec<String>,
}

impl CaseMerge {
    /// Returns the node for the directory at `path` in `parent`.
    fn node(
        &mut self,
        sink: &mut dyn Sink,
        parent: NodeId,
        path: &Path,
        modified: i64,
    ) -> io::Result<NodeId> {
        let name = path.file_name().unwrap_or_default();
        let key = (parent, name.to_string_lossy().to_ascii_lowercase());
        if let Some((node, first)) = self.nodes.get(&key) {
            self.warnings.push(format!(
                "{} is merged with {}: on Windows they are one folder",
                path.display(),
                first.display()
            ));
            return Ok(*node);
        }
        let node = sink.dir(parent, Name::host(name), Some(modified))?;
        self.nodes.insert(key, (node, path.to_owned()));
        Ok(node)
    }
}

/// A directory that is being listed.
struct Listing {
    path: PathBuf,
    identity: FileIdentity,
    node: NodeId,
    depth: usize,
}

impl Folder {
    /// Lists the directory at `path` as a source; its subdirectories are listed
    /// on demand. Entries are sorted by name.
    ///
    /// Symbolic links stay symbolic links and are not followed; sockets,
    /// devices and pipes are omitted.
    ///
    /// # Errors
    /// Returns [`Error::Listing`] if the directory cannot be read, or if a
    /// fault of the file system prevents reading its entries. Entries that
    /// vanish meanwhile are omitted.
    pub fn open(path: &Path, disk: &Arc<Disk>, sink: &mut dyn Sink) -> io::Result<Self> {
        let mut folder = Self::new(path, disk).map_err(Error::listing)?;
        let root = folder.root_listing(sink)?;
        folder.list_into(&root, None, Subdirectories::OnDemand, sink)?;
        Ok(folder)
    }

    /// Lists the entries `names` of the directory at `path` and everything
    /// below them. Siblings with names that differ only in ASCII case are
    /// merged, with a warning.
    ///
    /// # Errors
    /// Returns an error under the same conditions as [`Folder::open`].
    /// Subdirectories that cannot be read are empty.
    pub fn open_all(
        path: &Path,
        names: Vec<OsString>,
        disk: &Arc<Disk>,
        sink: &mut dyn Sink,
        warnings: &mut Vec<String>,
    ) -> io::Result<Self> {
        let mut folder = Self::new(path, disk).map_err(Error::listing)?;
        let mut cases = CaseMerge::default();
        let root = folder.root_listing(sink)?;
        let listed = Subdirectories::Listed(&mut cases);
        let mut pending = folder.list_into(&root, Some(names), listed, sink)?;
        while let Some(directory) = pending.pop_front() {
            if directory.depth > MAX_DEPTH {
                continue;
            }
            let listed = Subdirectories::Listed(&mut cases);
            match folder.list_into(&directory, None, listed, sink) {
                Ok(more) => pending.extend(more),
                Err(error @ Error::Listing(_)) => {
                    log::warn!("{}: {error}", path.join(directory.path).display());
                }
                Err(error) => return Err(error),
            }
        }
        warnings.extend(cases.warnings);
        Ok(folder)
    }

    /// Returns a folder that shows only the file at `path`.
    ///
    /// # Errors
    /// Returns an error under the same conditions as [`Folder::open`].
    pub fn of_one_file(path: &Path, disk: &Arc<Disk>, sink: &mut dyn Sink) -> io::Result<Self> {
        // A link to the file is shown under its own name.
        let none = || Error::listing(std::io::ErrorKind::NotFound.into());
        let file = canonical(path).map_err(Error::listing)?;
        let shown = path.file_name().ok_or_else(none)?;
        let name = file.file_name().ok_or_else(none)?;
        let mut folder =
            Self::new(file.parent().ok_or_else(none)?, disk).map_err(Error::listing)?;
        let stat = folder.root.directory.stat_of(name.as_ref());
        let stat = stat.map_err(Error::listing)?;
        let root = sink.root();
        let entry = folder.add(name.into(), &stat);
        sink.file(root, Name::host(shown), entry)?;
        Ok(folder)
    }

    fn new(path: &Path, disk: &Arc<Disk>) -> std::io::Result<Self> {
        let root = Root {
            directory: Directory::open(path)?,
            path: path.to_owned(),
            disk: disk.clone(),
        };
        Ok(Self {
            root: Arc::new(root),
            path: PathBuf::new(),
            entries: Vec::new(),
        })
    }

    fn root_listing(&self, sink: &dyn Sink) -> io::Result<Listing> {
        let stat = self.root.directory.stat().map_err(Error::listing)?;
        Ok(Listing {
            path: PathBuf::new(),
            identity: stat.identity,
            node: sink.root(),
            depth: 0,
        })
    }

    /// Lists one directory, or only its entries `some`, into its node, and
    /// returns the subdirectories that remain to be listed.
    fn list_into(
        &mut self,
        directory: &Listing,
        some: Option<Vec<OsString>>,
        mut subdirectories: Subdirectories<'_>,
        sink: &mut dyn Sink,
    ) -> io::Result<VecDeque<Listing>> {
        let handle = self
            .root
            .open(&directory.path, directory.identity)
            .map_err(Error::listing)?;
        let mut pending = VecDeque::new();
        let names = match some {
            Some(names) => names,
            None => names(&handle).map_err(Error::listing)?,
        };
        for name in names {
            let path = directory.path.join(&name);
            if self.root.is_mount_point(&path) {
                continue;
            }
            let stat = match handle.stat_of(name.as_ref()) {
                Ok(stat) => stat,
                Err(error) if handle.omits(&error) => continue,
                Err(error) => return Err(Error::listing(error)),
            };
            let modified = Some(stat.modified);
            let shown = Name::host(&name);
            match stat.kind {
                FileKind::Link => match handle.link_text(&name) {
                    Ok(text) => sink.text_link(directory.node, shown, &text, modified)?,
                    Err(error) if handle.omits(&error) => {}
                    Err(error) => return Err(Error::listing(error)),
                },
                FileKind::Directory => match &mut subdirectories {
                    Subdirectories::OnDemand => {
                        let entry = self.add(path, &stat);
                        sink.deferred_dir(directory.node, shown, entry.file, modified)?;
                    }
                    Subdirectories::Listed(cases) => pending.push_back(Listing {
                        node: cases.node(sink, directory.node, &path, stat.modified)?,
                        path,
                        identity: stat.identity,
                        depth: directory.depth + 1,
                    }),
                },
                FileKind::File => {
                    let entry = self.add(path, &stat);
                    sink.file(directory.node, shown, entry)?;
                }
                _ => {}
            }
        }
        Ok(pending)
    }

    fn add(&mut self, path: PathBuf, stat: &FileStat) -> Entry {
        let file = FileId(self.entries.len() as u32);
        self.entries.push(FolderEntry {
            root: self.root.clone(),
            path,
            identity: stat.identity,
            len: stat.size,
        });
        Entry {
            file,
            size: Some(stat.size),
            modified: Some(stat.modified),
            asset: None,
        }
    }

    fn entry(&self, file: FileId) -> io::Result<&FolderEntry> {
        let entry = self.entries.get(file.0 as usize);
        entry.ok_or_else(|| no_such_file(file))
    }

    /// Returns its path, as it was when the source was opened.
    pub fn path(&self) -> PathBuf {
        self.root.path_of(&self.path)
    }
}

impl Root {
    /// Opens `path` below the root, if it is still the same file.
    fn open(&self, path: &Path, identity: FileIdentity) -> std::io::Result<Directory> {
        let opened = self.directory.open_directory(path)?;
        if opened.stat()?.identity != identity {
            return Err(std::io::Error::new(
                std::io::ErrorKind::NotFound,
                "the directory has been replaced",
            ));
        }
        Ok(opened)
    }

    fn path_of(&self, relative: &Path) -> PathBuf {
        // With an empty path, `join` alone would add a slash.
        self.path.iter().chain(relative).collect()
    }

    fn is_mount_point(&self, relative: &Path) -> bool {
        let point = self.disk.mount_point.as_deref();
        point.is_some_and(|point| point == self.path_of(relative))
    }
}

/// Returns the names in a directory, sorted.
fn names(directory: &Directory) -> std::io::Result<Vec<OsString>> {
    let names: std::io::Result<Vec<_>> = directory.names()?.collect();
    let mut names = names?;
    names.sort();
    Ok(names)
}

impl FolderEntry {
    fn open(&self) -> std::io::Result<File> {
        self.root.directory.open_file(&self.path)
    }
}

impl ReadAt for FolderEntry {
    fn len(&self) -> u64 {
        self.len
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> std::io::Result<()> {
        let pool = &self.root.disk.pool;
        pool.read(self.identity, || self.open(), buf, offset)
    }
}

impl Volume for Folder {
    fn content(&self, file: FileId) -> io::Result<Content<'_>> {
        Ok(Content::Extent {
            source: self.entry(file)?,
            offset: 0,
        })
    }
}

impl Mountable for Folder {
    fn memory(&self) -> usize {
        let paths = self.entries.iter().map(|entry| entry.path.capacity());
        size_of::<Self>()
            + self.entries.capacity() * size_of::<FolderEntry>()
            + paths.sum::<usize>()
    }

    fn live(&self) -> Option<&dyn LiveFolder> {
        Some(self)
    }
}

impl LiveFolder for Folder {
    fn list(&self, directory: FileId, sink: &mut dyn Sink) -> io::Result<Box<dyn Volume>> {
        let entry = self.entry(directory)?;
        let mut folder = Self {
            root: self.root.clone(),
            path: entry.path.clone(),
            entries: Vec::new(),
        };
        let listing = Listing {
            path: entry.path.clone(),
            identity: entry.identity,
            node: sink.root(),
            depth: 0,
        };
        folder.list_into(&listing, None, Subdirectories::OnDemand, sink)?;
        Ok(Box::new(folder))
    }

    fn version(&self, file: FileId) -> io::Result<Version> {
        let entry = self.entry(file)?;
        let pool = &self.root.disk.pool;
        let stat = pool
            .stat(entry.identity, || entry.open())
            .map_err(|cause| read_error(0, 0, cause))?;
        Ok(Version {
            stamp: stat.version(),
            len: Some(stat.size),
        })
    }

    fn fingerprint(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        for entry in &self.entries {
            entry.identity.hash(&mut hasher);
        }
        hasher.finish()
    }

    fn is_remote(&self) -> bool {
        false
    }
}
