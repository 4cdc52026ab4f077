//! Patches of xdelta3, and patches that xdelta3 applies. Skipped without the program.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use hpimount_containers::io::ReadAt;
use hpimount_patches::{Checked, Extents, Patch, write};
use testkit::skip;

/// Runs xdelta3 in a folder; false if it is not installed.
fn xdelta3(folder: &Path, arguments: &[&str]) -> bool {
    let mut command = Command::new("xdelta3");
    let output = command.args(arguments).current_dir(folder).output();
    if !skip::possible(output.is_ok(), "xdelta3 is missing") {
        return false;
    }
    let output = output.unwrap();
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    true
}

/// Returns bytes that compress, and do not repeat.
fn words(seed: u32, length: usize) -> Vec<u8> {
    let (mut state, mut bytes) = (seed, Vec::new());
    while bytes.len() < length {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        bytes.extend(format!("{:x} ", state >> 20).bytes());
    }
    bytes.truncate(length);
    bytes
}

/// Returns an original, and a result with moved, repeated and new data.
fn files() -> (Vec<u8>, Vec<u8>) {
    let original = words(1, 300_000);
    let result = [
        &original[..50_000],
        &words(2, 30_000),
        &original[200_000..],
        &[7; 20_000],
        &original[50_000..150_000],
        &b"abc".repeat(5000),
        &words(2, 30_000),
    ];
    (original.clone(), result.concat())
}

#[test]
fn patches_of_every_kind_are_applied() {
    let folder = tempfile::tempdir().unwrap();
    let (original, result) = files();
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
            Checked::Window
        } else {
            Checked::Nothing
        };
        assert_eq!(patch.check(&original).unwrap(), checked);
        let patched = patch.apply(original.clone()).unwrap();
        patched.verify().unwrap();
        let mut bytes = vec![0; result.len()];
        // From the end, so that no window is read after the one before it.
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
