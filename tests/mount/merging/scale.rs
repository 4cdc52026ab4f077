//! Cost of many archives in one mount, and of large ones (SEMANTICS, Merging).
//! The figures of the large ones are printed by
//!
//! ```text
//! cargo test --release --test mount merging::scale -- --ignored --nocapture --test-threads 1
//! ```

use std::fs;
use std::time::Instant;
use testkit::fuse_test;

use fixtures::hpi::Entry;
use testkit::merging::{Folder, folder, text};
use testkit::mount::Mount;

/// Bytes of memory per entry, without its name.
const BUDGET: u64 = 120;

/// Maximum number of open files: the recently read archives, and the program's own
/// files.
const MAX_OPEN: usize = 32 + 24;

const DIRECTORIES: [&str; 5] = ["units", "anims", "objects3d", "scripts", "maps"];

/// Writes archives that each share some names with others.
fn many(sources: &Folder, archives: usize, files: usize) {
    for archive in 0..archives {
        let directory = |(number, name): (usize, &&str)| {
            let each = files / DIRECTORIES.len();
            let file = |file: usize| {
                let unit = if file.is_multiple_of(3) { 0 } else { archive };
                text(&format!("Unit{unit:04}_{number}{file:04}.fbi"), "x")
            };
            let name = match archive % 2 {
                0 => name.to_ascii_uppercase(),
                _ => (*name).to_owned(),
            };
            folder(&name, (0..each).map(file).collect())
        };
        let entries = DIRECTORIES.iter().enumerate().map(directory).collect();
        sources.archive(&format!("{archive:04}.ufo"), entries);
    }
}

/// Returns the entries of an archive of that many files, a thousand per
/// directory.
fn one(files: usize) -> Vec<Entry> {
    let directory = |number: usize| {
        let file = |file: usize| text(&format!("Unit{:05}.fbi", file * 7919 % 1000), "");
        folder(&format!("directory{number}"), (0..1000).map(file).collect())
    };
    (0..files / 1000).map(directory).collect()
}

fn open_files(mount: &Mount) -> usize {
    let open = fs::read_dir(format!("/proc/{}/fd", mount.pid())).unwrap();
    open.count()
}

/// Returns the value of a field of `/proc/PID/status`.
fn status(mount: &Mount, field: &str) -> String {
    let status = fs::read_to_string(format!("/proc/{}/status", mount.pid())).unwrap();
    let line = status.lines().find(|line| line.starts_with(field)).unwrap();
    line[field.len() + 1..].trim().to_owned()
}

/// Checks the memory of the trees, and prints other figures.
fn check(what: &str, mount: &Mount, names: u64) {
    let bytes = fs::read(mount.file(".hpimount/stats.json")).unwrap();
    let stats: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
    let tree_bytes = stats["tree_bytes"].as_u64().unwrap();
    let entries = rustix::fs::statvfs(mount.path()).unwrap().f_files;
    assert!(
        tree_bytes <= entries * (BUDGET + names),
        "{tree_bytes}, {entries}"
    );
    eprintln!(
        "{what}: {entries} entries, {} bytes each, resident {}, at most {}, {} files open",
        tree_bytes / entries,
        status(mount, "VmRSS"),
        status(mount, "VmHWM"),
        open_files(mount),
    );
}

/// Reads the first file of every archive.
fn read_of_each(mount: &Mount, archives: usize) {
    for archive in 0..archives {
        let path = mount.file(&format!("UNITS/unit{archive:04}_00001.FBI"));
        assert_eq!(fs::read(path).unwrap(), b"x");
    }
}

#[fuse_test]
fn few_of_many_archives_are_open_and_memory_stays_within_the_limit() {
    let sources = Folder::new();
    many(&sources, 100, 50);
    let mount = sources.game();
    check("100 archives", &mount, 16);
    read_of_each(&mount, 100);
    let open = open_files(&mount);
    assert!(open <= MAX_OPEN, "{open}");
}

#[fuse_test]
#[ignore = "writes 1,000 archives, for figures"]
fn a_thousand_archives_are_mounted() {
    let sources = Folder::new();
    many(&sources, 1000, 200);
    let start = Instant::now();
    let mount = sources.game();
    eprintln!("1,000 archives are mounted in {:?}", start.elapsed());
    check("1,000 archives", &mount, 16);
    read_of_each(&mount, 1000);
    assert!(open_files(&mount) <= MAX_OPEN);
}

#[fuse_test]
#[ignore = "writes an archive of 1,000,000 files, for figures"]
fn an_archive_of_a_million_files_is_mounted() {
    for files in [100_000, 1_000_000] {
        let sources = Folder::new();
        sources.archive("large.hpi", one(files));
        let start = Instant::now();
        let mount = sources.mount(&["{}/large.hpi"]);
        eprintln!("{files} files are mounted in {:?}", start.elapsed());
        check("one archive", &mount, 13);
    }
}
