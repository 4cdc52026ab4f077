//! The HIP samples, read through the kernel, match the results of an independent
//! reader.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::hip::samples::{Golden, digest, reaches_past, samples, size, verdict};
use hpimount_containers::text::windows_1252;
use serde_json::Value;
use testkit::files::{raw_name, read_at, sha256};
use testkit::fuse_test;
use testkit::mount::{Fixture, hpimount, run};
use testkit::mounted::{info, mounted_files};
use testkit::shown::{attribute, listed};
use testkit::sources::json;
use testkit::trial;

/// Approximate maximum number of assets of an archive that are checked.
const MAX_CHECKED: usize = 500;

#[fuse_test]
fn every_sample_matches_the_independent_reader() {
    for golden in trial::some(samples().unwrap_or_default(), 3) {
        if golden.is_refused() {
            check_refused(&golden);
        } else {
            check(&golden);
        }
    }
}

fn check_refused(golden: &Golden) {
    let fixture = Fixture::new();
    let ran = run(hpimount().args([&golden.path, &fixture.point]));
    assert!(
        matches!(ran.code, Some(11 | 12)),
        "{}: {ran:?}",
        golden.name
    );
    assert_eq!(ran.stderr.lines().count(), 1, "{ran:?}");
}

fn check(golden: &Golden) {
    let mount = mounted_files(std::slice::from_ref(&golden.path), "");
    let root = mount.path();
    golden.check_info(&json(&root.join("info.json")));
    golden.check_info(&info(&mount)["sources"][0]["archive"]);
    check_layers(golden, root);
    let links = listed(&root.join("ids"));
    assert_eq!(links.len(), golden.assets().len());
    let step = links.len().div_ceil(MAX_CHECKED).max(1);
    let end = golden.path.metadata().unwrap().len();
    for (link, asset) in links.iter().zip(golden.assets()).step_by(step) {
        check_asset(golden, link, asset, end);
    }
    check_links(golden, root);
    check_texts(golden, root);
}

fn check_layers(golden: &Golden, root: &Path) {
    let mut folders = listed(&root.join("layers")).into_iter();
    for (name, ids) in golden.layers() {
        let folder = folders.next().unwrap();
        assert_eq!(windows_1252(&raw_name(&folder)), name, "{}", golden.name);
        let files = listed(&folder);
        assert_eq!(files.len(), ids.len(), "{} {name}", golden.name);
        let step = ids.len().div_ceil(MAX_CHECKED).max(1);
        for (file, id) in files.iter().zip(&ids).step_by(step) {
            assert_eq!(attribute(file, "id"), *id, "{} {name}", golden.name);
        }
    }
    let rest = folders.next();
    assert_eq!(rest.is_some(), golden.has_unlayered(), "{}", golden.name);
}

fn check_asset(golden: &Golden, link: &Path, asset: &Value, end: u64) {
    let path = link.canonicalize().unwrap();
    let shown = golden.shown(asset);
    golden.check_attributes(asset, |name| attribute(&path, name));
    let metadata = path.metadata().unwrap();
    assert_eq!(metadata.len(), size(asset), "{shown}");
    if let Some(created) = golden.created() {
        assert_eq!(metadata.mtime(), created, "{shown}");
    }
    if reaches_past(asset, end) {
        let last = read_at(&File::open(&path).unwrap(), size(asset) - 1, 1);
        assert_eq!(last.unwrap_err().raw_os_error(), Some(libc::EIO), "{shown}");
        return;
    }
    assert_eq!(sha256(&fs::read(&path).unwrap()), digest(asset), "{shown}");
    assert_eq!(attribute(&path, "checksum_ok"), verdict(asset), "{shown}");
}

/// Checks that the links in `types` lead to the files of all assets.
fn check_links(golden: &Golden, root: &Path) {
    let mut files = BTreeSet::new();
    for folder in listed(&root.join("types")) {
        if folder.ends_with("Settings.ini") {
            continue;
        }
        for link in listed(&folder) {
            assert!(link.symlink_metadata().unwrap().is_symlink());
            let metadata = link.metadata().unwrap();
            assert!(metadata.is_file(), "{}", link.display());
            files.insert(metadata.ino());
        }
    }
    assert_eq!(files.len(), golden.assets().len(), "{}", golden.name);
}

/// Checks that generated texts have the right size before they are read.
fn check_texts(golden: &Golden, root: &Path) {
    for path in ["info.json", "assets.tsv", "types/Settings.ini"] {
        let path = root.join(path);
        let before = path.metadata().unwrap().len();
        assert_eq!(fs::read(&path).unwrap().len() as u64, before);
        assert!(before > 0);
    }
    golden.check_table(&fs::read_to_string(root.join("assets.tsv")).unwrap());
}
