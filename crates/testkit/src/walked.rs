//! The files of a mount, read through the library or the kernel.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hpimount::mount::{FileKind, Ino, Options, Sources, Vfs};
use sha2::{Digest, Sha256};

/// Bytes that are read at a time.
const PIECE: u32 = 100_000;

/// A file: its size and the SHA-256 of its bytes, or its read error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Walked {
    pub size: u64,
    pub sha256: Result<String, String>,
}

/// Opens a source as for a mount.
pub fn open(path: PathBuf, options: Options) -> Result<Arc<Vfs>, String> {
    let sources = Sources::one(path);
    Vfs::open(&sources, options).map_err(|error| error.to_string())
}

/// Returns all files of a mount by path, except for the files of `.hpimount` and
/// `converted`.
pub fn files(vfs: &Vfs) -> BTreeMap<String, Walked> {
    let mut files = BTreeMap::new();
    walk(vfs, Ino::ROOT, "", &mut files);
    files
}

fn walk(vfs: &Vfs, directory: Ino, path: &str, files: &mut BTreeMap<String, Walked>) {
    let mut entries = Vec::new();
    vfs.readdir(directory, 0, &mut |name, _, kind, _| {
        entries.push((name.to_owned(), kind));
        false
    })
    .unwrap();
    for (name, kind) in entries {
        if name == ".hpimount" || path.is_empty() && name == "converted" {
            continue;
        }
        let path = format!("{path}{name}");
        let attr = vfs.lookup(directory, &name).unwrap();
        match kind {
            FileKind::Directory => walk(vfs, attr.ino, &format!("{path}/"), files),
            FileKind::File => {
                let sha256 = sha256(vfs, attr.ino, attr.size);
                let size = attr.size;
                files.insert(path, Walked { size, sha256 });
            }
            FileKind::Symlink => {}
        }
        vfs.forget(attr.ino, 1);
    }
}

/// Returns the same as [`files`] for a mount at `point`.
pub fn files_below(point: &Path) -> BTreeMap<String, Walked> {
    let mut files = BTreeMap::new();
    let mut pending = vec![point.to_owned()];
    while let Some(directory) = pending.pop() {
        for entry in fs::read_dir(&directory).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(point).unwrap().to_str().unwrap();
            let metadata = fs::symlink_metadata(&path).unwrap();
            if matches!(name, ".hpimount" | "converted") || metadata.is_symlink() {
                continue;
            }
            if metadata.is_dir() {
                pending.push(path);
                continue;
            }
            let file = Walked {
                size: metadata.len(),
                sha256: sha256_of_file(&path).map_err(|error| error.to_string()),
            };
            files.insert(name.to_owned(), file);
        }
    }
    files
}

fn sha256_of_file(path: &Path) -> io::Result<String> {
    let mut file = fs::File::open(path)?;
    let mut piece = vec![0; PIECE as usize];
    let mut hash = Sha256::new();
    loop {
        match file.read(&mut piece)? {
            0 => return Ok(hex(&hash.finalize())),
            length => hash.update(&piece[..length]),
        }
    }
}

/// Reads the first bytes of all files of a mount, and returns the paths.
pub fn names(vfs: &Vfs) -> Vec<String> {
    let mut names = Vec::new();
    let mut pending = vec![(Ino::ROOT, String::new())];
    while let Some((directory, path)) = pending.pop() {
        let mut entries = Vec::new();
        let listed = vfs.readdir(directory, 0, &mut |name, ino, kind, _| {
            entries.push((name.to_owned(), ino, kind));
            false
        });
        listed.unwrap();
        for (name, ino, kind) in entries {
            let path = format!("{path}/{name}");
            match kind {
                FileKind::Directory => pending.push((ino, path)),
                FileKind::File => {
                    let _ = vfs.read(ino, 0, PIECE);
                    names.push(path);
                }
                FileKind::Symlink => {}
            }
        }
    }
    names
}

fn sha256(vfs: &Vfs, ino: Ino, size: u64) -> Result<String, String> {
    let mut hash = Sha256::new();
    let mut offset = 0;
    while offset < size {
        let bytes = vfs
            .read(ino, offset, PIECE)
            .map_err(|error| error.to_string())?;
        assert!(!bytes.is_empty(), "a file of {size} bytes ends at {offset}");
        hash.update(&bytes[..]);
        offset += bytes.len() as u64;
    }
    Ok(hex(&hash.finalize()))
}

/// Returns the SHA-256 of bytes.
pub fn sha256_of(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
