//! Sources with changes, mounted by the library or written by hpi.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::Arc;

use crate::mount::hpi;
use hpimount::mount::{Ino, Options, Sources, Vfs};
use hpimount_containers::apply::{Tools, apply};
use hpimount_containers::changes::{self, Change, Folder, NewFile, Original, Report, Written};

/// Read size in bytes: reads end inside parts and cross them.
const PIECE: u32 = 70_001;

/// Returns a new file.
pub fn new_file(path: &str, bytes: &[u8]) -> Change {
    Change::File(NewFile::new(path, Arc::new(bytes.to_vec())))
}

/// Applies a folder of changes to an archive. Returns the archive to write, or all
/// refusals.
pub fn planned(name: &str, archive: &[u8], folder: Folder) -> Result<Written, String> {
    let original = Original::alone(Arc::new(archive.to_vec()), name);
    let mut report = Report::default();
    let written = apply(&original, folder, "", Tools::PLAIN, &mut report);
    written.ok_or_else(|| changes::listed(&report.refusals))
}

/// Runs `hpi apply FOLDER SOURCE OUT`. Without OUT, it is a dry run.
pub fn hpi_apply(options: &[&str], folder: &Path, source: &Path, out: &Path) -> Output {
    let out = Some(out).filter(|_| !options.contains(&"--dry-run"));
    let mut command = hpi("apply");
    command.args(options).args([folder, source]);
    command.args(out).output().unwrap()
}

/// Opens a source with the changes of a folder as for a mount.
pub fn open_changed(source: &Path, folder: &Path) -> Result<Arc<Vfs>, String> {
    let sources = Sources::one(source);
    open_sources(&sources, &[folder.to_owned()])
}

/// Opens sources with the changes of folders as for a mount.
pub fn open_sources(sources: &Sources, folders: &[PathBuf]) -> Result<Arc<Vfs>, String> {
    let prepared = sources.prepare().unwrap();
    let prepared = prepared.with_changes(folders, false);
    let prepared = prepared.map_err(|error| error.to_string())?;
    Vfs::open_prepared(prepared, Options::default()).map_err(|error| error.to_string())
}

/// Returns the bytes of a file of a mount, and reads past its end.
pub fn read_at(vfs: &Vfs, path: &str) -> Vec<u8> {
    let mut ino = Ino::ROOT;
    let mut size = 0;
    for name in path.split('/') {
        let attr = vfs
            .lookup(ino, name)
            .unwrap_or_else(|error| panic!("{path}: {error}"));
        (ino, size) = (attr.ino, attr.size);
    }
    let mut bytes = Vec::new();
    while (bytes.len() as u64) < size {
        let piece = vfs.read(ino, bytes.len() as u64, PIECE).unwrap();
        assert!(!piece.is_empty(), "{path} ends at {}", bytes.len());
        bytes.extend_from_slice(&piece);
    }
    assert!(vfs.read(ino, size, PIECE).unwrap().is_empty());
    bytes
}

/// Writes a file, with the directories around it.
pub fn write(root: &Path, path: &str, bytes: &[u8]) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}
