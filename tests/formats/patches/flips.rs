use std::fs;
use std::path::Path;
use std::sync::Arc;

use hpimount_containers::io::ReadAt;
use hpimount_patches::{Extents, Patch, write};

use super::{files, run};
use testkit::skip;

/// Runs Flips in a folder; false if it is not installed. Debian has no package of it.
fn flips(folder: &Path, arguments: &[&str]) -> bool {
    let has_run = run("flips", folder, arguments);
    if !has_run {
        skip::skip_anywhere("flips is missing");
    }
    has_run
}

#[test]
fn patches_are_applied() {
    let folder = tempfile::tempdir().unwrap();
    let (original, result, extents) = files();
    let mut shorter = Extents::default();
    shorter.append_original(0..5000);
    shorter.append_original(7000..9000);
    let short = [&original[..5000], &original[7000..9000]].concat();
    fs::write(folder.path().join("old"), &original).unwrap();
    for (extents, result) in [(extents, result), (shorter, short)] {
        for write in [write::bps, write::ips] {
            let mut patch = Vec::new();
            write(&extents, &original, &mut patch).unwrap();
            fs::write(folder.path().join("patch"), patch).unwrap();
            if !flips(folder.path(), &["--apply", "patch", "old", "new"]) {
                return;
            }
            assert!(fs::read(folder.path().join("new")).unwrap() == result);
        }
    }
}

#[test]
fn its_patches_are_applied() {
    let folder = tempfile::tempdir().unwrap();
    let (original, result, _) = files();
    fs::write(folder.path().join("old"), &original).unwrap();
    fs::write(folder.path().join("new"), &result).unwrap();
    for format in ["--bps", "--ips"] {
        if !flips(folder.path(), &["--create", format, "old", "new", "patch"]) {
            return;
        }
        let patch = fs::read(folder.path().join("patch")).unwrap();
        let patch = Patch::open(Arc::new(patch)).unwrap();
        let patched = patch.apply(Arc::new(original.clone())).unwrap();
        patched.verify().unwrap();
        let mut bytes = vec![0; result.len()];
        patched.read_exact_at(&mut bytes, 0).unwrap();
        assert!(bytes == result, "{format}");
    }
}
