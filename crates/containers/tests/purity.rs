//! APIs that the crate must not use: it reads and writes bytes, and leaves threads, the
//! network, clocks and FUSE to its callers.

use std::fs;
use std::path::{Path, PathBuf};

const FORBIDDEN: [&str; 7] = [
    "fuser",
    "tokio",
    "std::thread",
    "std::net",
    "std::process",
    "SystemTime",
    "Instant::now",
];

fn files(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    paths
        .flat_map(|path| match path.is_dir() {
            true => files(&path),
            false => vec![path],
        })
        .collect()
}

#[test]
fn nothing_names_fuse_threads_the_network_or_a_clock() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut sources = files(&root.join("src"));
    assert!(sources.len() > 50, "{} files", sources.len());
    sources.push(root.join("Cargo.toml"));
    for path in sources {
        let text = fs::read_to_string(&path).unwrap();
        for word in FORBIDDEN {
            assert!(!text.contains(word), "{} names {word}", path.display());
        }
    }
}
