//! Memory of the plan of changes.

use std::path::PathBuf;

use allocation_counter::measure;
use hpimount::mount::Sources;
use hpimount_containers::hpi::chunk::Method;
use tempfile::tempdir;

use fixtures::hpi::{File, V1, dir, file};
use testkit::applied::{open_sources, write};

/// Directories of the archive, and files in each.
const DIRECTORIES: usize = 40;
const FILES: usize = 100;

/// Maximum number of bytes for a changed file, at the peak.
const LIMIT: u64 = 1100;

#[test]
fn a_plan_takes_a_bounded_number_of_bytes_for_a_changed_file() {
    let work = tempdir().unwrap();
    let edit = work.path().join("edit");
    let directories = (0..DIRECTORIES).map(|directory| {
        let directory = format!("directory{directory}");
        let files = (0..FILES).map(|number| {
            let name = format!("file{number:04}.txt");
            write(&edit, &format!("{directory}/{name}"), b"new");
            file(name.as_bytes(), File::new("old!", Method::Stored))
        });
        let files = files.collect();
        dir(directory.as_bytes(), files)
    });
    let archive = V1::new(directories.collect()).build().bytes;
    write(work.path(), "a.hpi", &archive);
    let sources = Sources::Given {
        locations: vec![work.path().join("a.hpi").into()],
        order: None,
        separate: false,
    };
    let peak = |folders: &[PathBuf]| {
        let opened = measure(|| drop(open_sources(&sources, folders).unwrap()));
        opened.bytes_max
    };
    // What is made once for the process is not counted.
    peak(&[]);
    let plain = peak(&[]);
    let each = (peak(&[edit]) - plain) / (DIRECTORIES * FILES) as u64;
    assert!(each <= LIMIT, "{each} bytes");
}
