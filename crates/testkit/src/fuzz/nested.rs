//! An archive in a disc in an archive, mounted.

use std::fs;

use hpimount::mount::Options;

use crate::walked;
use fixtures::container_seeds::zip_with;
use fixtures::disc::Disc;
use fixtures::hip;

/// A HIP in an ISO in a zip, and a file after it.
pub fn nested(data: &[u8]) {
    let mut disc = Disc::default();
    disc.file("BB/BB01.HIP", data).file("LAST.TXT", b"whole");
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("disc.zip");
    fs::write(&path, zip_with("game/disc.iso", &disc.iso())).unwrap();
    let vfs = walked::open(path, Options::default()).unwrap();
    let names = walked::names(&vfs);
    // For any innermost bytes, the containers around them can be read.
    let is_last = |name: &&String| name.ends_with("disc.iso.d/LAST.TXT");
    assert_eq!(names.iter().filter(is_last).count(), 1);
    assert!(names.iter().any(|name| name.contains("BB01.HIP.d/")));
}

/// Seeds for [`nested`].
pub(super) fn nested_seeds() -> Vec<Vec<u8>> {
    let mut archive = hip::Hip::default();
    archive.layer(0);
    archive.add(hip::Asset::new(b"TEXT", "t", b"some text"));
    vec![archive.build(), Vec::new()]
}
