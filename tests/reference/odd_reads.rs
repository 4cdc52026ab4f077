//! Several readers of the same files at random offsets.

use std::fs::File;
use std::path::{Path, PathBuf};

use testkit::files::{forget_pages, open_direct, read_at};

/// Number of readers.
pub(crate) const THREADS: usize = 8;

/// Reads parts of all files; every other thread uses the kernel's cache, the
/// others bypass it.
pub(crate) fn read_oddly(thread: usize, files: &[(PathBuf, &[u8])]) {
    for at in 0..files.len() {
        // Each thread begins with another file.
        let (path, bytes) = &files[(at + thread * files.len() / THREADS) % files.len()];
        let file = if thread.is_multiple_of(2) {
            open_direct(path)
        } else {
            let file = File::open(path).unwrap();
            forget_pages(&file);
            file
        };
        for (offset, length) in odd_ranges(bytes.len(), thread) {
            let end = bytes.len().min(offset + length);
            let expected = bytes.get(offset..end).unwrap_or_default();
            let found = read_at(&file, offset as u64, length).unwrap();
            assert!(
                found == expected,
                "{}: {}",
                show(path),
                show_range(offset, length)
            );
        }
    }
}

fn show(path: &Path) -> String {
    path.display().to_string()
}

fn show_range(offset: usize, length: usize) -> String {
    format!("{length} bytes at {offset}")
}

/// Returns ranges around the bounds of chunks and pages, and past the end.
fn odd_ranges(size: usize, thread: usize) -> Vec<(usize, usize)> {
    let step = 65_536 - 1 + thread;
    let mut ranges = vec![
        (0, 1),
        (thread, 4097),
        (size.saturating_sub(3), 2),
        (size.saturating_sub(1), 100),
        (size, 10),
        (size + 12_345, 1),
    ];
    ranges.extend((0..size).step_by(step).map(|offset| (offset, 777)));
    ranges.extend((1..size).step_by(2 * step).map(|offset| (offset, 140_001)));
    ranges
}
