//! Memory of the plan of changes.

use std::path::{Path, PathBuf};

use allocation_counter::measure;
use hpimount::mount::Sources;
use hpimount_containers::hpi::chunk::Method;
use tempfile::tempdir;

use fixtures::container_seeds as seeds;
use fixtures::disc::Disc;
use fixtures::hpi::{Entry, File, V1, V2, dir, file};
use testkit::applied::{open_sources, write};

/// Directories with changes, and changed files in each.
const DIRECTORIES: usize = 20;
const FILES: usize = 100;

/// Writes all files below a directory.
fn write_all(root: &Path, bytes: &[u8]) {
    for directory in 0..DIRECTORIES {
        for number in 0..FILES {
            let path = format!("directory{directory}/file{number:04}.txt");
            write(root, &path, bytes);
        }
    }
}

/// Returns the tree of an HPI archive with all files.
fn tree() -> Vec<Entry> {
    let directories = (0..DIRECTORIES).map(|directory| {
        let files = (0..FILES).map(|number| {
            let name = format!("file{number:04}.txt");
            file(name.as_bytes(), File::new("old!", Method::Stored))
        });
        dir(format!("directory{directory}").as_bytes(), files.collect())
    });
    directories.collect()
}

#[test]
fn a_plan_takes_a_bounded_number_of_bytes_for_a_changed_file() {
    let work = tempdir().unwrap();
    let edit = work.path().join("edit");
    write_all(&edit.join("files"), b"longer");
    let mut disc = Disc::default();
    disc.file("A.TXT", b"a");
    // The source, and the maximum number of bytes for a file at the peak, which
    // includes the entries of the original: 1.3 times the measured value.
    let cases: [(&str, Vec<u8>, u64); 6] = [
        ("replaced.hpi", V1::new(tree()).build().bytes, 580),
        ("replaced-2.hpi", V2::new(tree()).build().bytes, 580),
        ("added.hpi", V1::new(Vec::new()).build().bytes, 545),
        ("added.zip", seeds::zip(), 695),
        ("added.iso", disc.iso(), 1130),
        ("added.gcm", seeds::gcm(), 775),
    ];
    let mut too_many = Vec::new();
    for (name, bytes, limit) in cases {
        write(work.path(), name, &bytes);
        // A GameCube disc has them in a directory of this name.
        let folder = match name.ends_with(".gcm") {
            true => edit.clone(),
            false => edit.join("files"),
        };
        let sources = Sources::Given {
            locations: vec![work.path().join(name).into()],
            order: None,
            separate: false,
        };
        let peak = |folders: &[PathBuf]| {
            let opened = measure(|| drop(open_sources(&sources, folders).unwrap()));
            opened.bytes_max
        };
        // Allocations once per process are not counted.
        peak(&[]);
        let plain = peak(&[]);
        let each = (peak(&[folder]) - plain) / (DIRECTORIES * FILES) as u64;
        if each > limit {
            too_many.push(format!("{name}: {each} bytes, not {limit}"));
        }
    }
    assert!(too_many.is_empty(), "{too_many:#?}");
}
