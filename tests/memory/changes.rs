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

/// Changed files in each directory.
const FILES: usize = 100;

/// Numbers of directories with changes. What takes memory once, such as the first thousand
/// notes, is the same for both.
const DIRECTORIES: [usize; 2] = [12, 24];

/// Writes all files below a directory.
fn write_all(root: &Path, directories: usize, bytes: &[u8]) {
    for directory in 0..directories {
        for number in 0..FILES {
            let path = format!("directory{directory}/file{number:04}.txt");
            write(root, &path, bytes);
        }
    }
}

/// Returns the tree of an HPI archive with all files.
fn tree(directories: usize) -> Vec<Entry> {
    let directories = (0..directories).map(|directory| {
        let files = (0..FILES).map(|number| {
            let name = format!("file{number:04}.txt");
            file(name.as_bytes(), File::new("old!", Method::Stored))
        });
        dir(format!("directory{directory}").as_bytes(), files.collect())
    });
    directories.collect()
}

/// The sources that changes are applied to, by their names.
fn sources(directories: usize) -> [(&'static str, Vec<u8>); 6] {
    let mut disc = Disc::default();
    disc.file("A.TXT", b"a");
    [
        ("replaced.hpi", V1::new(tree(directories)).build().bytes),
        ("replaced-2.hpi", V2::new(tree(directories)).build().bytes),
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

/// Asserts that each changed file takes at most as many bytes as the limit for its source.
/// `measured` returns the memory for a source and a folder with all files.
fn assert_at_most(limits: [i64; 6], measured: impl Fn(&str, &[u8], &Path) -> i64) {
    let work = tempdir().unwrap();
    let memory = DIRECTORIES.map(|directories| {
        let edit = work.path().join(format!("edit{directories}"));
        write_all(&edit.join("files"), directories, b"longer");
        sources(directories).map(|(name, bytes)| {
            let folder = folder_of(name, &edit);
            // Allocations once per process are not counted.
            measured(name, &bytes, &folder);
            measured(name, &bytes, &folder)
        })
    });
    let files = (DIRECTORIES[1] - DIRECTORIES[0]) * FILES;
    let names = sources(0).map(|(name, _)| name);
    let too_many = (0..names.len()).filter_map(|source| {
        let each = (memory[1][source] - memory[0][source]) / files as i64;
        let (name, limit) = (names[source], limits[source]);
        (each > limit).then(|| format!("{name}: {each} bytes, not {limit}"))
    });
    let too_many: Vec<_> = too_many.collect();
    assert!(too_many.is_empty(), "{too_many:#?}");
}

#[test]
fn a_mount_takes_a_bounded_number_of_bytes_for_a_changed_file() {
    let work = tempdir().unwrap();
    // At the peak, with the entries of the original and of the mount: 1.3 times the measured
    // value.
    assert_at_most([82, 140, 362, 588, 1028, 559], |name, bytes, folder| {
        write(work.path(), name, bytes);
        let sources = Sources::one(work.path().join(name));
        let peak = |folders: &[PathBuf]| {
            let opened = measure(|| drop(open_sources(&sources, folders).unwrap()));
            opened.bytes_max as i64
        };
        peak(&[folder.to_owned()]) - peak(&[])
    });
}

#[test]
fn a_plan_keeps_a_bounded_number_of_bytes_for_a_changed_file() {
    // With the paths of the files, and the directory of the new archive: 1.3 times what was
    // measured.
    assert_at_most([156, 178, 156, 350, 295, 285], |name, bytes, folder| {
        let source: Arc<dyn ReadAt> = Arc::new(bytes.to_owned());
        let plan = |folder: Folder| {
            let original = Original::alone(source.clone(), name);
            let mut report = Report::default();
            let written = apply(&original, folder, "", Tools::PLAIN, &mut report);
            (written.expect("nothing is refused"), report)
        };
        let kept = |folder: &dyn Fn() -> Folder| {
            let mut planned = None;
            let memory = measure(|| planned = Some(plan(folder()))).bytes_current;
            drop(planned);
            memory
        };
        let changed = || {
            let folder = ChangesFolder::open(folder, &Arc::default(), DiskNames::Plain);
            folder.unwrap().read().unwrap().0
        };
        kept(&changed) - kept(&Folder::default)
    });
}
