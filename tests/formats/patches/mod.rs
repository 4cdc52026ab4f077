//! Patches of other programs, and patches that other programs apply. Tests of programs
//! that are not installed are skipped.

mod flips;
mod xdelta3;

use std::path::Path;
use std::process::Command;

use hpimount_patches::Extents;

/// Runs a program in a folder; false if it is not installed.
fn run(program: &str, folder: &Path, arguments: &[&str]) -> bool {
    let mut command = Command::new(program);
    let Ok(output) = command.args(arguments).current_dir(folder).output() else {
        return false;
    };
    assert!(
        output.status.success(),
        "{program} {arguments:?}: {output:?}"
    );
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

/// Returns an original, a result with moved, repeated and new data, and its extents.
fn files() -> (Vec<u8>, Vec<u8>, Extents) {
    let original = words(1, 300_000);
    let (new, pattern) = (words(2, 30_000), b"abc".repeat(5000));
    let result = [
        &original[..50_000],
        &new,
        &original[200_000..],
        &[7; 20_000],
        &original[50_000..150_000],
        &pattern,
        &new,
    ];
    let mut extents = Extents::default();
    extents.append_original(0..50_000);
    extents.append_bytes(new.clone());
    extents.append_original(200_000..300_000);
    extents.append_fill(7, 20_000);
    extents.append_original(50_000..150_000);
    extents.append_bytes(pattern.clone());
    extents.append_bytes(new.clone());
    (original.clone(), result.concat(), extents)
}
