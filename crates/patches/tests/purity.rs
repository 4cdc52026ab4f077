//! The crate does no I/O except through its callers, and uses no threads, files,
//! network and clocks.

use std::fs;
use std::path::Path;

const FORBIDDEN: [&str; 6] = [
    "std::fs",
    "std::net",
    "std::process",
    "std::thread",
    "Instant::now",
    "SystemTime",
];

/// Asserts that no file of a folder contains a forbidden word, and returns the number
/// of files.
fn check(folder: &Path) -> usize {
    let entries = fs::read_dir(folder).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let counts = paths.map(|path| {
        if path.is_dir() {
            return check(&path);
        }
        let text = fs::read_to_string(&path).unwrap();
        for word in FORBIDDEN {
            assert!(!text.contains(word), "{} names {word}", path.display());
        }
        1
    });
    counts.sum()
}

#[test]
fn nothing_names_threads_files_the_network_or_a_clock() {
    let count = check(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
    assert!(count > 30, "{count} files");
}
