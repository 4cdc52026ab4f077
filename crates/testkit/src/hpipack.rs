//! hpipack as users run it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::programs::built;
use fixtures::{noise, text};
use tempfile::{TempDir, tempdir};

/// Runs hpipack with these options to pack a directory.
pub fn hpipack(options: &[&str], dir: &Path, out: &Path) -> Output {
    let mut command = Command::new(built("hpipack"));
    command.args(options).arg(dir).arg(out).output().unwrap()
}

/// Returns the standard error of hpipack.
pub fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Returns everything below a directory: paths, and the bytes of files.
pub fn contents(directory: &Path) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
    let mut found = BTreeMap::new();
    let mut left = vec![directory.to_owned()];
    while let Some(directory_left) = left.pop() {
        for entry in fs::read_dir(directory_left).unwrap() {
            let path = entry.unwrap().path();
            let bytes = if path.is_dir() {
                left.push(path.clone());
                None
            } else {
                Some(fs::read(&path).unwrap())
            };
            found.insert(path.strip_prefix(directory).unwrap().to_owned(), bytes);
        }
    }
    found
}

/// Returns a directory with files of critical sizes, and with deep and empty
/// directories.
pub fn usual_directory() -> TempDir {
    let root = tempdir().unwrap();
    let path = root.path();
    fs::create_dir_all(path.join("a/b/c/d/e/f/g/h")).unwrap();
    fs::create_dir(path.join("empty")).unwrap();
    for size in [0, 1, 65535, 65536, 65537, 200_000] {
        fs::write(path.join(format!("text{size}.tdf")), text(size)).unwrap();
        fs::write(path.join(format!("a/Noise {size}")), noise(3, size)).unwrap();
    }
    fs::write(path.join("a/b/c/d/e/f/g/h/caf\u{e9} \u{20ac}.txt"), "deep").unwrap();
    root
}
