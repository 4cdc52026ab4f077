//! Files and directories according to the kernel.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use hpimount_containers::text::windows_1252;
use rustix::fs::{Advice, OFlags};
use sha2::{Digest, Sha256};

use fixtures::hpi::{Content, Entry};

/// An entry at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileEntry {
    Directory,
    File(Vec<u8>),
    Link(PathBuf),
}

/// Returns everything below a directory, by path.
pub fn contents(directory: &Path) -> BTreeMap<PathBuf, FileEntry> {
    let read = |path: &Path| {
        let kind = path.symlink_metadata().unwrap().file_type();
        if kind.is_dir() {
            FileEntry::Directory
        } else if kind.is_symlink() {
            FileEntry::Link(fs::read_link(path).unwrap())
        } else {
            FileEntry::File(fs::read(path).unwrap())
        }
    };
    let found = walk(directory).into_iter().map(|path| {
        let below = path.strip_prefix(directory).unwrap().to_owned();
        let found = read(&path);
        (below, found)
    });
    found.collect()
}

/// Returns the paths of everything below a directory.
pub fn walk(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut left = vec![directory.to_owned()];
    while let Some(directory) = left.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let entry = entry.unwrap();
            if entry.file_type().unwrap().is_dir() {
                left.push(entry.path());
            }
            found.push(entry.path());
        }
    }
    found
}

/// Returns the expected result of [`contents`] for a mount of these entries, with names
/// that are valid file names.
pub fn expected(entries: &[Entry]) -> BTreeMap<PathBuf, FileEntry> {
    let mut found = BTreeMap::new();
    let mut left = vec![(PathBuf::new(), entries)];
    while let Some((directory, entries)) = left.pop() {
        for entry in entries {
            let path = directory.join(&*windows_1252(&entry.name));
            let content = match &entry.content {
                Content::Directory(inner) => {
                    left.push((path.clone(), inner));
                    FileEntry::Directory
                }
                Content::File(file) => FileEntry::File(file.data.clone()),
            };
            assert_eq!(found.insert(path, content), None, "the same name twice");
        }
    }
    found
}

/// Writes the result of [`contents`] or [`expected`] below a directory.
pub fn unpack(found: &BTreeMap<PathBuf, FileEntry>, directory: &Path) {
    for (path, found) in found {
        let path = directory.join(path);
        match found {
            FileEntry::Directory => fs::create_dir(path).unwrap(),
            FileEntry::File(bytes) => fs::write(path, bytes).unwrap(),
            FileEntry::Link(target) => std::os::unix::fs::symlink(target, path).unwrap(),
        }
    }
}

/// Returns the name in the archive of the file at `path`.
pub fn raw_name(path: &Path) -> Vec<u8> {
    let name = xattr::get(path, "user.hpimount.raw_name").unwrap();
    name.unwrap_or_else(|| panic!("{} has no raw name", path.display()))
}

/// Returns the path below `root` with the names in the archive, as text.
pub fn raw_path(root: &Path, path: &Path) -> String {
    let mut names: Vec<String> = path
        .ancestors()
        .take_while(|ancestor| *ancestor != root)
        .map(|ancestor| windows_1252(&raw_name(ancestor)).into_owned())
        .collect();
    names.reverse();
    names.join("/")
}

/// Opens a file without the kernel's cache: every read is one request for
/// exactly its bytes.
pub fn open_direct(path: &Path) -> File {
    let mut options = fs::OpenOptions::new();
    let flags = OFlags::DIRECT.bits().cast_signed();
    options.read(true).custom_flags(flags).open(path).unwrap()
}

/// Evicts the bytes of a file from the kernel's cache.
pub fn forget_pages(file: &File) {
    rustix::fs::fadvise(file, 0, None, Advice::DontNeed).unwrap();
}

/// Returns the result of one read.
pub fn read_at(file: &File, offset: u64, length: usize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; length];
    let length = file.read_at(&mut bytes, offset)?;
    bytes.truncate(length);
    Ok(bytes)
}

/// Returns the SHA-256 in hexadecimal digits.
pub fn sha256(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}
