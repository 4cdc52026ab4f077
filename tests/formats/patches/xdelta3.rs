use std::fs;
use std::path::Path;
use std::sync::Arc;

use hpimount_containers::io::ReadAt;
use hpimount_patches::{Check, Extents, Patch, write};

use super::{files, run, words};
use testkit::skip;

/// Runs xdelta3 in a folder; false if it is not installed.
fn xdelta3(folder: &Path, arguments: &[&str]) -> bool {
    let has_run = run("xdelta3", folder, arguments);
    skip::possible(has_run, "xdelta3 is missing")
}

#[test]
fn patches_of_every_kind_are_applied() {
    let folder = tempfile::tempdir().unwrap();
    let (original, result, _) = files();
    fs::write(folder.path().join("old"), &original).unwrap();
    fs::write(folder.path().join("new"), &result).unwrap();
    let original: Arc<dyn ReadAt> = Arc::new(original);
    for options in [
        &["-S", "none"][..],
        &["-S", "lzma"],
        &["-S", "djw"],
        &["-9", "-S", "djw"],
        &["-n", "-S", "none"],
        &["-W", "16384", "-S", "lzma"],
        &["-W", "16384", "-S", "djw"],
        &["-A=no names", "-W", "16384"],
    ] {
        let made = [&["-f", "-e", "-s", "old"], options, &["new", "patch"]].concat();
        if !xdelta3(folder.path(), &made) {
            return;
        }
        let bytes = fs::read(folder.path().join("patch")).unwrap();
        let patch = Patch::open(Arc::new(bytes)).unwrap();
        let has_checksums = !options.contains(&"-n");
        assert_eq!(patch.has_checksums(), has_checksums);
        let checked = if has_checksums {
            Check::Window
        } else {
            Check::Nothing
        };
        assert_eq!(patch.check(&original).unwrap(), checked);
        let patched = patch.apply(original.clone()).unwrap();
        patched.verify().unwrap();
        let mut bytes = vec![0; result.len()];
        // Backwards, so that windows are never read sequentially.
        for (number, piece) in bytes.chunks_mut(10_007).enumerate().rev() {
            patched
                .read_exact_at(piece, number as u64 * 10_007)
                .unwrap();
        }
        assert!(bytes == result, "{options:?}");
    }
}

#[test]
fn patches_are_applied_with_default_options() {
    let folder = tempfile::tempdir().unwrap();
    let original = words(1, 20 << 20);
    let mut extents = Extents::default();
    // Copies from far apart, over the ends of windows.
    extents.append_original(10 << 20..19 << 20);
    extents.append_bytes(words(2, 5000));
    extents.append_fill(0, 3 << 20);
    extents.append_original(0..20 << 20);
    extents.append_original(5..6);
    let result = [
        &original[10 << 20..19 << 20],
        &words(2, 5000),
        &vec![0; 3 << 20],
        &original,
        &original[5..6],
    ]
    .concat();
    fs::write(folder.path().join("old"), &original).unwrap();
    for has_checksums in [true, false] {
        let names = Some(("folder/new#", "old"));
        let options = write::VcdiffOptions {
            names,
            has_checksums,
        };
        let mut patch = Vec::new();
        write::xdelta(&extents, &original, options, &mut patch).unwrap();
        assert!(patch.len() < 5300, "{} bytes", patch.len());
        fs::write(folder.path().join("patch"), patch).unwrap();
        let arguments = ["-f", "-d", "-s", "old", "patch", "new"];
        if !xdelta3(folder.path(), &arguments) {
            return;
        }
        assert!(fs::read(folder.path().join("new")).unwrap() == result);
    }
}

#[test]
fn an_empty_result_is_made_by_xdelta3() {
    let folder = tempfile::tempdir().unwrap();
    let original = words(1, 1000);
    let mut patch = Vec::new();
    let options = write::VcdiffOptions::default();
    write::xdelta(&Extents::default(), &original, options, &mut patch).unwrap();
    fs::write(folder.path().join("old"), &original).unwrap();
    fs::write(folder.path().join("patch"), &patch).unwrap();
    if xdelta3(folder.path(), &["-f", "-d", "-s", "old", "patch", "new"]) {
        assert_eq!(fs::read(folder.path().join("new")).unwrap(), b"");
    }
    let patched = Patch::open(Arc::new(patch))
        .unwrap()
        .apply(Arc::new(original))
        .unwrap();
    assert_eq!(patched.len(), 0);
}
