//! Every good sample of a container is the same in a zip and in a disc, through
//! the library and through a mount.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::shared;
use hpimount::mount::Options;
use testkit::fuse_test;
use testkit::mounted::mounted_files;
use testkit::nested::{files, name, without_reasons};
use testkit::programs::run_in;
use testkit::walked::{self, Walked};

/// Folders of samples, with the number of samples that have an `X.d` in a zip, where
/// the first bytes of packed files are not read, and in a disc.
const FOLDERS: [(&str, [usize; 2]); 9] = [
    ("img", [3, 10]),
    ("hedwad", [12, 12]),
    ("pkr", [7, 7]),
    ("pre", [9, 12]),
    ("gcm", [15, 15]),
    ("xdvdfs", [5, 5]),
    ("iso", [12, 16]),
    ("chd", [5, 5]),
    ("foreign", [16, 16]),
];

/// Returns the same, read through the kernel.
fn files_through_mount(path: &Path) -> BTreeMap<String, Walked> {
    let mount = mounted_files(&[path.to_owned()], "meta=off");
    without_reasons(walked::files_below(mount.path()))
}

/// Returns the good samples of a folder, and the files beside them.
fn samples(folder: &str) -> Option<Vec<PathBuf>> {
    let samples = shared("samples/containers")?;
    let entries = fs::read_dir(samples.join(folder)).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| !name(path).starts_with("bad_") && !name(path).starts_with("bomb_"));
    paths.sort();
    Some(paths)
}

/// Compares every sample that has an `X.d` in `outer` with the sample alone,
/// and returns their number.
fn compare(outer: &Path, samples: &[PathBuf]) -> usize {
    let nested = files(outer);
    assert!(files_through_mount(outer) == nested, "{}", outer.display());
    let mut compared = 0;
    for sample in samples {
        let prefix = format!("{}.d/", name(sample));
        let inside = nested.iter().filter_map(|(path, file)| {
            let path = path.strip_prefix(&prefix)?;
            Some((path.to_owned(), file.clone()))
        });
        let inside: BTreeMap<String, Walked> = inside.collect();
        if inside.is_empty() {
            continue;
        }
        if let Some(error) = inside.get("error.txt") {
            let alone = walked::open(sample.clone(), Options::default());
            assert!(alone.is_err(), "{} is refused: {error:?}", sample.display());
            continue;
        }
        assert_eq!(
            inside,
            files(sample),
            "{} in {}",
            sample.display(),
            outer.display()
        );
        compared += 1;
    }
    compared
}

#[fuse_test]
fn every_good_sample_is_the_same_in_a_zip_and_in_a_disc() {
    let mut found = Vec::new();
    for (folder, _) in FOLDERS {
        let Some(samples) = samples(folder) else {
            return;
        };
        let directory = tempfile::tempdir().unwrap();
        let content = directory.path().join("content");
        fs::create_dir(&content).unwrap();
        for sample in &samples {
            fs::copy(sample, content.join(name(sample))).unwrap();
        }
        let zip: &[&str] = &["-q", "-r", "../outer.zip", "."];
        let iso: &[&str] = &[
            "-as",
            "mkisofs",
            "-quiet",
            "-J",
            "-joliet-long",
            "-o",
            "../outer.iso",
            ".",
        ];
        if !run_in(&content, "zip", zip) || !run_in(&content, "xorriso", iso) {
            return;
        }
        let in_zip = compare(&directory.path().join("outer.zip"), &samples);
        let in_disc = compare(&directory.path().join("outer.iso"), &samples);
        found.push((folder, [in_zip, in_disc]));
    }
    assert_eq!(found, FOLDERS);
}
