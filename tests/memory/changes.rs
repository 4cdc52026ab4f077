//! Memory of the plan of changes.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use allocation_counter::measure;
use hpimount::mount::Sources;
use hpimount::source::{ChangesFolder, DiskNames};
use hpimount_containers::apply::{Tools, apply};
use hpimount_containers::changes::{Folder, Original, Report};
use hpimount_containers::hpi::chunk::Method;
use hpimount_containers::io::ReadAt;
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

/// The sources that changes are applied to, by their names.
fn sources() -> [(&'static str, Vec<u8>); 6] {
    let mut disc = Disc::default();
    disc.file("A.TXT", b"a");
    [
        ("replaced.hpi", V1::new(tree()).build().bytes),
        ("replaced-2.hpi", V2::new(tree()).build().bytes),
        ("added.hpi", V1::new(Vec::new()).build().bytes),
        ("added.zip", seeds::zip()),
        ("added.iso", disc.iso()),
        ("added.gcm", seeds::gcm()),
    ]
}

/// Returns the folder of the changes of a source. A GameCube disc has its files in a
/// directory.
fn folder_of(name: &str, edit: &Path) -> PathBuf {
    match name.ends_with(".gcm") {
        true => edit.to_owned(),
        false => edit.join("files"),
    }
}

/// Asserts that `measured` is at most the limit for each source.
fn assert_at_most(limits: [u64; 6], measured: impl Fn(&str, Vec<u8>) -> u64) {
    let sources = sources().into_iter().zip(limits);
    let too_many = sources.filter_map(|((name, bytes), limit)| {
        let each = measured(name, bytes);
        (each > limit).then(|| format!("{name}: {each} bytes, not {limit}"))
    });
    let too_many: Vec<_> = too_many.collect();
    assert!(too_many.is_empty(), "{too_many:#?}");
}

/// The number of changed files.
const COUNT: u64 = (DIRECTORIES * FILES) as u64;

#[test]
fn a_mount_takes_a_bounded_number_of_bytes_for_a_changed_file() {
    let work = tempdir().unwrap();
    let edit = work.path().join("edit");
    write_all(&edit.join("files"), b"longer");
    // At the peak, with the entries of the original and of the mount: 1.3 times the measured
    // value.
    assert_at_most([350, 406, 372, 614, 891, 571], |name, bytes| {
        write(work.path(), name, &bytes);
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
        (peak(&[folder_of(name, &edit)]) - plain) / COUNT
    });
}

#[test]
fn a_plan_keeps_a_bounded_number_of_bytes_for_a_changed_file() {
    let work = tempdir().unwrap();
    let edit = work.path().join("edit");
    write_all(&edit.join("files"), b"longer");
    // With the paths of the files, and the directory of the new archive: 1.3 times what was
    // measured.
    assert_at_most([282, 304, 180, 375, 318, 243], |name, bytes| {
        let source: Arc<dyn ReadAt> = Arc::new(bytes);
        let plan = |folder: Folder| {
            let original = Original::alone(source.clone(), name);
            let mut report = Report::default();
            let written = apply(&original, folder, "", Tools::PLAIN, &mut report);
            (written.expect("nothing is refused"), report)
        };
        let folder = || {
            let folder = folder_of(name, &edit);
            let folder = ChangesFolder::open(&folder, &Arc::default(), DiskNames::Plain);
            folder.unwrap().read()
        };
        let kept = |folder: &dyn Fn() -> Folder| {
            let mut planned = None;
            let memory = measure(|| planned = Some(plan(folder()))).bytes_current;
            drop(planned);
            memory
        };
        let changed = || folder().unwrap().0;
        kept(&changed);
        let plain = kept(&Folder::default);
        ((kept(&changed) - plain) / COUNT as i64) as u64
    });
}
