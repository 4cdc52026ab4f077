//! A file as the source of a mount, without FUSE.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use hpimount::mount::{Attr, Error, FileKind, Ino, Meta, Options, Sources, Vfs};

use super::archive::sealed;

/// Names of the file. An archive is detected under any name.
const NAMES: [&str; 6] = ["a.hpi", "a.psx", "a.hgo", "a.hgo.blk", "a.ifp", "a"];

/// Maximum number of directories that are entered.
const DIRECTORIES: usize = 60;

/// Maximum number of checked entries of a directory.
const ENTRIES: usize = 100;

/// Maximum number of bytes that are read.
const BYTES: usize = 1 << 20;

/// Name of the second file, if there are two.
const SECOND: &str = "B.UFO";

/// One or two files or archives. The first byte selects the name, the second
/// the options; if there are two, the next two bytes are the length of the
/// first. Version 1 archives are not enciphered.
pub fn vfs(data: &[u8]) {
    let Some((&[name, how], bytes)) = data.split_first_chunk() else {
        return;
    };
    let has = |bit: u8| how >> bit & 1 == 1;
    let options = Options {
        case_sensitive: has(0),
        cache_size: if has(1) { 100_000 } else { 64 << 20 },
        force: has(2),
        verify: has(3),
        companions: !has(4),
        meta: if has(4) { Meta::Off } else { Meta::Visible },
        ..Options::default()
    };
    let name = NAMES[usize::from(name) % NAMES.len()];
    let mut files = vec![(name, bytes)];
    if has(5)
        && let Some((&length, bytes)) = bytes.split_first_chunk()
    {
        let length = usize::from(u16::from_le_bytes(length)).min(bytes.len());
        let (first, second) = bytes.split_at(length);
        files = vec![(name, first), (SECOND, second)];
    }
    let files = files.into_iter().map(|(name, bytes)| {
        let is_plain = bytes.starts_with(b"HAPI");
        let bytes = bytes.to_vec();
        (name, if is_plain { sealed(bytes) } else { bytes })
    });
    if let Some(vfs) = mounted(&Vec::from_iter(files), has(6), options) {
        Walk::new(&vfs).everything();
    }
}

/// Returns a mount of files with these names, or `None` if it is refused.
pub(super) fn mounted(
    files: &[(&str, Vec<u8>)],
    separate: bool,
    options: Options,
) -> Option<Mounted> {
    // In memory if possible.
    let shared = Path::new("/dev/shm");
    let work_dir = match shared.is_dir() {
        true => tempfile::tempdir_in(shared),
        false => tempfile::tempdir(),
    };
    let work_dir = work_dir.unwrap();
    let paths = files.iter().map(|(name, bytes)| {
        let path = work_dir.path().join(name);
        fs::write(&path, bytes).unwrap();
        path.into()
    });
    let sources = Sources::Given {
        locations: paths.collect(),
        order: None,
        separate,
    };
    let vfs = Vfs::open(&sources, options).ok()?;
    Some(Mounted {
        vfs,
        _work_dir: work_dir,
    })
}

/// A mount and its files.
pub(super) struct Mounted {
    vfs: std::sync::Arc<Vfs>,
    _work_dir: tempfile::TempDir,
}

impl std::ops::Deref for Mounted {
    type Target = Vfs;

    fn deref(&self) -> &Vfs {
        &self.vfs
    }
}

/// One entry of a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DirectoryEntry {
    pub name: String,
    pub ino: Ino,
    pub kind: FileKind,
}

/// Returns at most `most` entries of a directory from `offset` on, and asserts
/// that their offsets are consecutive.
pub(super) fn list(
    vfs: &Vfs,
    ino: Ino,
    offset: u64,
    most: usize,
) -> Result<Vec<DirectoryEntry>, Error> {
    let mut found = Vec::new();
    vfs.readdir(ino, offset, &mut |name, ino, kind, next| {
        if found.len() == most {
            return true;
        }
        let name = name.to_owned();
        found.push(DirectoryEntry { name, ino, kind });
        assert_eq!(next, offset + found.len() as u64);
        false
    })?;
    Ok(found)
}

/// A walk through a mount.
struct Walk<'a> {
    vfs: &'a Vfs,
    /// Directories to visit, each with its parent.
    pending: Vec<(Ino, Ino)>,
    directories: usize,
    bytes: usize,
}

impl<'a> Walk<'a> {
    fn new(vfs: &'a Vfs) -> Self {
        Self {
            vfs,
            pending: vec![(Ino::ROOT, Ino::ROOT)],
            directories: DIRECTORIES,
            bytes: BYTES,
        }
    }

    fn everything(&mut self) {
        let extent = self.vfs.extent();
        assert!(extent.inodes >= 1);
        let control = self.vfs.lookup(Ino::ROOT, ".hpimount").unwrap();
        if control.kind == FileKind::Directory {
            self.pending.push((control.ino, Ino::ROOT));
        }
        while let Some((ino, parent)) = self.pending.pop() {
            assert_eq!(self.vfs.parent(ino), Ok(parent));
            self.directory(ino);
        }
        self.errors_are_located();
    }

    fn directory(&mut self, ino: Ino) {
        let attr = self.vfs.getattr(ino).unwrap();
        assert_eq!((attr.kind, attr.size), (FileKind::Directory, 0));
        assert!(self.vfs.read(ino, 0, 10).is_err());
        let entries = match list(self.vfs, ino, 0, ENTRIES) {
            Ok(entries) => entries,
            Err(error) => return assert_eq!(error, Error::Io),
        };
        self.listing(ino, &entries);
        let mut names = BTreeSet::new();
        let mut directories = 0;
        for entry in &entries {
            assert!(names.insert(&entry.name), "{} occurs twice", entry.name);
            assert!(!entry.name.is_empty() && entry.name.len() <= 255);
            assert!(!entry.name.contains(['/', '\0']) && entry.name != "." && entry.name != "..");
            directories += u32::from(entry.kind == FileKind::Directory);
            self.entry(ino, entry);
        }
        // A directory that is filled on first use has one link.
        if entries.len() < ENTRIES {
            assert!([1, 2 + directories].contains(&attr.nlink), "{attr:?}");
        }
    }

    /// Asserts that a listing is the same from every offset, and with
    /// attributes.
    fn listing(&self, ino: Ino, entries: &[DirectoryEntry]) {
        let length = entries.len();
        for offset in [0, 1, length / 2, length.saturating_sub(1), length] {
            let most = ENTRIES.saturating_sub(offset);
            let rest = list(self.vfs, ino, offset as u64, most).unwrap();
            assert_eq!(rest, entries[offset.min(length)..]);
        }
        let _ = list(self.vfs, ino, u64::MAX, 1);
        let mut position = 0;
        let listed = self.vfs.readdir_plus(ino, 0, &mut |name, attr, next| {
            let Some(entry) = entries.get(position) else {
                return true;
            };
            position += 1;
            assert_eq!((name, next), (entry.name.as_str(), position as u64));
            assert_eq!(
                (attr.kind, attr.lasting && attr.ino != entry.ino),
                (entry.kind, false)
            );
            self.vfs.forget(attr.ino, 1);
            false
        });
        assert!(listed.is_err() || position == length);
    }

    fn entry(&mut self, parent: Ino, entry: &DirectoryEntry) {
        let attr = match self.vfs.lookup(parent, &entry.name) {
            Ok(attr) => attr,
            // The size of a file that cannot be generated is unknown.
            Err(error) => return assert_eq!((error, entry.kind), (Error::Io, FileKind::File)),
        };
        assert_eq!(attr.kind, entry.kind);
        if attr.lasting {
            assert_eq!(attr.ino, entry.ino);
        }
        assert_eq!(self.vfs.getattr(attr.ino), Ok(attr));
        self.attributes(attr.ino);
        match attr.kind {
            FileKind::Directory if self.directories > 0 => {
                self.directories -= 1;
                self.pending.push((attr.ino, parent));
            }
            FileKind::Directory => {}
            FileKind::File => self.file(attr),
            FileKind::Symlink => self.link(parent, attr),
        }
        self.vfs.forget(attr.ino, 1);
    }

    fn attributes(&self, ino: Ino) {
        for name in self.vfs.xattr_names(ino) {
            let value = self.vfs.xattr(ino, name);
            assert!(matches!(value, Ok(_) | Err(Error::Io)), "{name}: {value:?}");
        }
        assert_eq!(self.vfs.xattr(ino, "user.none").ok(), None);
        assert_eq!(self.vfs.xattr(ino, "security.x"), Err(Error::AttributeKind));
    }

    /// Asserts that a link leads to something in the mount.
    fn link(&self, directory: Ino, attr: Attr) {
        let text = self.vfs.readlink(attr.ino).unwrap();
        assert_eq!(text.len() as u64, attr.size);
        let text = String::from_utf8(text).unwrap();
        text.split('/').fold(directory, |at, name| match name {
            ".." => self.vfs.parent(at).unwrap(),
            _ => self.vfs.lookup(at, name).unwrap().ino,
        });
    }

    /// Asserts that reads return as many bytes as the size, and that pieces are
    /// parts of the whole.
    fn file(&mut self, attr: Attr) {
        let read = |offset: u64, size: u32| {
            let read = self.vfs.read(attr.ino, offset, size);
            let end = attr.size.min(offset.saturating_add(size.into()));
            match read {
                Ok(bytes) => {
                    assert_eq!(bytes.len() as u64, end.saturating_sub(offset));
                    Some(bytes)
                }
                Err(error) => {
                    assert_eq!(error, Error::Io);
                    assert!(offset < end, "an empty read failed");
                    None
                }
            }
        };
        read(attr.size, 1000);
        read(u64::MAX, u32::MAX);
        assert_eq!(read(0, 0).map(|bytes| bytes.len()), Some(0));
        if attr.size > self.bytes as u64 {
            read(attr.size - 1, 4096);
            read(attr.size / 2, 4096);
            read(0, 4096);
            return;
        }
        let size = attr.size as usize;
        let whole = read(0, u32::MAX);
        let step = (size / 5).max(1) | 1;
        let mut is_whole = true;
        for start in (0..size)
            .step_by(step)
            .collect::<Vec<_>>()
            .into_iter()
            .rev()
        {
            let piece = read(start as u64, step as u32);
            match (&whole, &piece) {
                (Some(whole), Some(piece)) => {
                    assert_eq!(whole[start..size.min(start + step)], **piece);
                }
                (Some(_), None) => panic!("could be read before"),
                (None, _) => is_whole &= piece.is_some(),
            }
        }
        assert!(
            whole.is_some() || !is_whole,
            "every part can be read, but not the whole"
        );
        self.bytes -= size;
    }

    /// Asserts that unreadable data was reported with its offset.
    fn errors_are_located(&self) {
        let Ok(control) = self.vfs.lookup(Ino::ROOT, ".hpimount") else {
            return;
        };
        let Ok(stats) = self.vfs.lookup(control.ino, "stats.json") else {
            return;
        };
        let text = self.vfs.read(stats.ino, 0, u32::MAX).unwrap();
        let stats: serde_json::Value = serde_json::from_slice(&text).unwrap();
        for error in stats["last_errors"].as_array().into_iter().flatten() {
            assert!(error.as_str().unwrap().contains("0x"), "{error}");
        }
    }
}
