//! Readers of a mount, of several kinds, that check everything that they read.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use proptest::prelude::RngExt;
use proptest::test_runner::{RngAlgorithm, TestRng};
use rustix::fs::{CWD, Dir, Mode, OFlags};
use serde_json::Value;

use super::figures::Figures;
use super::set::{Golden, NEEDLE, ROOTS, Set};
use testkit::files::{forget_pages, open_direct, read_at};
use testkit::mounted::output;

/// Maximum number of bytes of a positioned read.
const MAX_READ: usize = 256 << 10;

/// Number of files in one operation of [`stat`].
const STORM: usize = 50;

/// Number of files that one process maps.
const MAPPED: u64 = 100;

/// The name of a kind of reader, and its operation.
type Kind = (&'static str, fn(&mut Reader<'_>));

/// The kinds of readers.
pub(super) const KINDS: [Kind; 8] = [
    ("find", find),
    ("grep", grep),
    ("positioned reads", read_part),
    ("mapped reads", read_mapped),
    ("stat", stat),
    ("listings with seeks", list),
    ("other spellings", respell),
    ("texts, attributes, totals", ask_around),
];

/// A reader.
pub(super) struct Reader<'a> {
    mount: &'a Path,
    set: &'a Set,
    figures: &'a Figures,
    /// Number of operations of this reader.
    progress: &'a AtomicU64,
    random: TestRng,
}

impl<'a> Reader<'a> {
    /// Returns the reader with this number, which is its seed.
    pub(super) fn new(
        number: usize,
        mount: &'a Path,
        set: &'a Set,
        figures: &'a Figures,
        progress: &'a AtomicU64,
    ) -> Self {
        let seed = [number as u64 + 1, 0x9E37_79B9_7F4A_7C15].map(u64::to_le_bytes);
        Self {
            mount,
            set,
            figures,
            progress,
            random: TestRng::from_seed(RngAlgorithm::XorShift, &seed.concat()),
        }
    }

    /// Reads all files from their starts to their ends.
    pub(super) fn read_everything(&mut self) {
        for file in &self.set.files {
            let path = self.mount.join(&file.path);
            let bytes = self.timed(|| fs::read(&path));
            let bytes = bytes.unwrap_or_else(|error| panic!("{path:?}: {error}"));
            self.check(file, 0, &bytes);
            assert_eq!(bytes.len(), file.content.bytes.len(), "{:?}", file.path);
        }
    }

    fn timed<T>(&self, operation: impl FnOnce() -> T) -> T {
        let begun = Instant::now();
        let done = operation();
        self.figures.took(begun.elapsed());
        self.progress.fetch_add(1, Ordering::Relaxed);
        done
    }

    fn check(&self, file: &Golden, start: usize, found: &[u8]) {
        let path = &file.path;
        let expected = file.content.bytes.get(start..start + found.len());
        assert!(expected == Some(found), "{path:?}: wrong bytes at {start}");
        self.figures.compared(found.len());
    }

    fn one_of<T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.random.random_range(0..all.len())]
    }

    fn file(&mut self) -> &'a Golden {
        self.one_of(&self.set.files)
    }

    fn root(&mut self) -> &'static Path {
        Path::new(ROOTS[self.random.random_range(0..ROOTS.len())])
    }
}

fn find(reader: &mut Reader<'_>) {
    let root = reader.root();
    let directory = reader.mount.join(root);
    let found = output(
        "find",
        &[".", "-type", "f", "-printf", "%s %P\n"],
        &directory,
    );
    let expected = reader.set.below(root).map(|file| {
        let path = file.path.strip_prefix(root).unwrap();
        format!("{} {}", file.content.bytes.len(), path.display())
    });
    let expected: BTreeSet<String> = expected.collect();
    let found: BTreeSet<String> = found.lines().map(str::to_owned).collect();
    assert_eq!(found, expected, "{root:?}");
    reader.progress.fetch_add(1, Ordering::Relaxed);
}

fn grep(reader: &mut Reader<'_>) {
    let root = reader.root();
    let found = output("grep", &["-rlF", NEEDLE, "."], &reader.mount.join(root));
    let with_needle = reader
        .set
        .below(root)
        .filter(|file| file.content.has_needle);
    let expected: BTreeSet<PathBuf> = with_needle.map(|file| file.path.clone()).collect();
    let path = |line: &str| root.join(line.trim_start_matches("./"));
    let found: BTreeSet<PathBuf> = found.lines().map(path).collect();
    assert_eq!(found, expected, "{root:?}");
    reader.progress.fetch_add(1, Ordering::Relaxed);
}

/// Reads with or without the kernel's cache.
fn read_part(reader: &mut Reader<'_>) {
    let file = reader.file();
    let path = reader.mount.join(&file.path);
    let size = file.content.bytes.len();
    let start = reader.random.random_range(0..size);
    let length = reader.random.random_range(1..=MAX_READ);
    let (direct, forget) = reader.random.random();
    let found = reader.timed(|| {
        let opened = if direct {
            open_direct(&path)
        } else {
            File::open(&path).unwrap()
        };
        let found = read_at(&opened, start as u64, length).unwrap();
        if forget {
            forget_pages(&opened);
        }
        found
    });
    reader.check(file, start, &found);
    assert_eq!(found.len(), length.min(size - start), "{path:?}");
}

/// Runs another program, because mapping requires unsafe code.
fn read_mapped(reader: &mut Reader<'_>) {
    let pairs = reader.set.pairs();
    let seed: u32 = reader.random.random();
    let [seed, rounds] = [u64::from(seed), MAPPED].map(|number| number.to_string());
    let script = include_str!("mapped_reads.py");
    let arguments = ["-c", script, pairs.to_str().unwrap(), &seed, &rounds];
    let times = output("python3", &arguments, Path::new("/"));
    for milliseconds in times.lines() {
        let time = Duration::from_millis(milliseconds.parse().unwrap());
        reader.figures.took(time);
    }
    assert_eq!(times.lines().count() as u64, MAPPED);
    reader.progress.fetch_add(MAPPED, Ordering::Relaxed);
}

fn stat(reader: &mut Reader<'_>) {
    for _ in 0..STORM {
        let file = reader.file();
        let path = reader.mount.join(&file.path);
        let metadata = reader.timed(|| fs::symlink_metadata(&path)).unwrap();
        assert_eq!(metadata.len(), file.content.bytes.len() as u64, "{path:?}");
        assert_eq!(metadata.mode() & 0o7777, 0o444, "{path:?}");
        let missing = path.with_extension("missing");
        assert!(
            !reader.timed(|| missing.try_exists()).unwrap(),
            "{missing:?}"
        );
    }
}

/// Asserts that the rest of a listing is the same from every position.
fn list(reader: &mut Reader<'_>) {
    let (directory, expected) = reader.one_of(&reader.set.directories);
    let path = reader.mount.join(directory);
    let flags = OFlags::RDONLY | OFlags::DIRECTORY;
    let opened = rustix::fs::openat(CWD, &path, flags, Mode::empty()).unwrap();
    let mut listing = Dir::new(opened).unwrap();
    let rest = |listing: &mut Dir| -> Vec<(String, i64)> {
        let entries = listing.by_ref().map(Result::unwrap);
        let name = |entry: &rustix::fs::DirEntry| entry.file_name().to_str().unwrap().to_owned();
        entries
            .map(|entry| (name(&entry), entry.offset()))
            .collect()
    };
    let all = reader.timed(|| rest(&mut listing));
    let names: BTreeSet<&str> = all.iter().map(|(name, _)| name.as_str()).collect();
    let expected: BTreeSet<&str> = expected
        .iter()
        .map(String::as_str)
        .chain([".", ".."])
        .collect();
    assert_eq!(names, expected, "{path:?}");
    assert_eq!(names.len(), all.len(), "{path:?}: a name twice");
    let index = reader.random.random_range(0..all.len());
    listing.seek(all[index].1).unwrap();
    let again = reader.timed(|| rest(&mut listing));
    assert_eq!(again, all[index + 1..], "{path:?} from {index} on");
}

/// Reads by names in a random mix of upper and lower case.
fn respell(reader: &mut Reader<'_>) {
    let file = reader.file();
    let mut spell = |letter: char| match reader.random.random() {
        true => letter.to_ascii_uppercase(),
        false => letter.to_ascii_lowercase(),
    };
    let spelling: String = file
        .path
        .to_str()
        .unwrap()
        .chars()
        .map(&mut spell)
        .collect();
    let path = reader.mount.join(spelling);
    let start = reader.random.random_range(0..file.content.bytes.len());
    let opened = reader.timed(|| File::open(&path)).unwrap();
    let found = reader
        .timed(|| read_at(&opened, start as u64, 10_000))
        .unwrap();
    reader.check(file, start, &found);
    assert!(!found.is_empty(), "{path:?}");
}

fn ask_around(reader: &mut Reader<'_>) {
    let number = *reader.one_of(&reader.set.texts);
    let text = &reader.set.files[number];
    let found = reader
        .timed(|| fs::read(reader.mount.join(&text.path)))
        .unwrap();
    reader.check(text, 0, &found);
    assert_eq!(found.len(), text.content.bytes.len(), "{:?}", text.path);

    let file = reader.one_of(&reader.set.directories);
    let path = reader.mount.join(&file.0);
    let names = reader
        .timed(|| xattr::list(&path).map(Iterator::count))
        .unwrap();
    assert!(names > 0, "{path:?} has no attributes");

    let totals = reader.timed(|| rustix::fs::statfs(reader.mount)).unwrap();
    assert!(totals.f_files > reader.set.files.len() as u64, "{totals:?}");

    let counters = reader.mount.join(".hpimount/stats.json");
    let counters = reader.timed(|| fs::read(&counters)).unwrap();
    let counters: Value = serde_json::from_slice(&counters).unwrap();
    assert_eq!(counters["errors"], 0, "{counters}");
    let held = |name: &str| counters["cache"][name].as_u64().unwrap();
    // Each thread may have cached a block without having made room for it.
    assert!(held("bytes") <= held("budget") + (1 << 20), "{counters}");
}
