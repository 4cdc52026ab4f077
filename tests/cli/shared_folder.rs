//! The repository stands alone: only the test program `reference` reads the
//! folder beside it.

use std::fs;
use std::path::{Path, PathBuf};

/// Folders with code that may read files.
const FOLDERS: [&str; 7] = [
    "benches", "crates", "examples", "fuzz", "scripts", "src", "tests",
];

/// The only program that may name the folder, and this file.
const EXCEPTIONS: [&str; 2] = ["tests/reference", "tests/cli/shared_folder.rs"];

/// Collects the files below a path that hold code.
fn collect(path: &Path, found: &mut Vec<PathBuf>) {
    let is_built = path.ends_with("target") || path.ends_with("fuzz/corpus");
    if path.is_dir() && !is_built {
        for entry in fs::read_dir(path).unwrap() {
            collect(&entry.unwrap().path(), found);
        }
    } else if path.is_file() {
        found.push(path.to_owned());
    }
}

#[test]
fn only_the_reference_program_names_the_shared_folder() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    for folder in FOLDERS {
        collect(&root.join(folder), &mut files);
    }
    assert!(files.len() > 300, "{} files", files.len());
    for file in files {
        let name = file.strip_prefix(root).unwrap();
        if EXCEPTIONS
            .iter()
            .any(|exception| name.starts_with(exception))
        {
            continue;
        }
        let text = fs::read(&file).unwrap();
        for (number, line) in text.split(|byte| *byte == b'\n').enumerate() {
            let line = String::from_utf8_lossy(line);
            let place = format!("{}:{}", name.display(), number + 1);
            assert!(!line.contains("../shared"), "{place}: {line}");
        }
    }
}
