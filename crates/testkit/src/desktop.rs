//! The types that desktops assign to files, and the programs for them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::mount::{Run, has_programs, run};
use crate::pictures::pixels;
use crate::programs::built;
use tempfile::{TempDir, tempdir};

/// Creates a data directory with our types, in addition to the system's types.
pub fn home() -> Option<TempDir> {
    if !has_programs(&["update-mime-database", "gio"]) {
        return None;
    }
    let home = tempdir().unwrap();
    let packages = home.path().join("mime/packages");
    fs::create_dir_all(&packages).unwrap();
    fs::copy(data("hpimount.xml"), packages.join("hpimount.xml")).unwrap();
    let ran = run(Command::new("update-mime-database")
        .arg(home.path().join("mime"))
        .env("XDG_DATA_HOME", home.path()));
    assert_eq!(
        (ran.code, &*ran.stdout, &*ran.stderr),
        (Some(0), "", ""),
        "update-mime-database"
    );
    Some(home)
}

/// Returns the types of files.
pub fn types_of(home: &TempDir, files: &[PathBuf]) -> Vec<String> {
    let mut command = Command::new("gio");
    command
        .args(["info", "-a", "standard::content-type"])
        .args(files)
        .env("XDG_DATA_HOME", home.path());
    let ran = run(&mut command);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let types = ran.stdout.lines().filter_map(|line| {
        let found = line.trim().strip_prefix("standard::content-type: ");
        found.map(str::to_owned)
    });
    let types = Vec::from_iter(types);
    assert_eq!(types.len(), files.len());
    types
}

/// Draws a file, and returns the result of the program and the picture.
pub fn draw(size: u32, input: &Path) -> (Run, Option<Vec<u8>>) {
    let dir = tempdir().unwrap();
    let output = dir.path().join("out.png");
    let mut command = thumbnailer();
    command
        .args(["-s", &size.to_string()])
        .args([input, &output]);
    (run(&mut command), fs::read(output).ok())
}

/// Returns the width, height and pixels of a picture, which must not be empty.
pub fn drawn(size: u32, input: &Path) -> (u32, u32, Vec<u8>) {
    let (ran, picture) = draw(size, input);
    assert_eq!((ran.code, &*ran.stderr), (Some(0), ""), "{input:?}");
    let (width, height, samples) = pixels(&picture.unwrap());
    assert!(width <= size && height <= size, "{input:?}");
    let seen = samples.chunks(4).any(|pixel| pixel[3] > 0);
    assert!(seen, "{input:?} is empty");
    (width, height, samples)
}

/// Returns the path of a file that packages install.
pub fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../docs/desktop")
        .join(name)
}

pub fn thumbnailer() -> Command {
    Command::new(built("hpimount-thumbnailer"))
}
