//! `Settings.ini`, which describes HIP archives for packing.

use std::fs;

use hpimount::pack::{Archive, Format, SETTINGS, Target};
use hpimount::source::DiskNames;
use hpimount_containers::format::Options;
use hpimount_containers::hip::write::parse;

use super::seeds;
use crate::record::open;

/// Arbitrary `Settings.ini`. If it is valid and requires no files, the packed archive
/// can be read.
pub fn settings(data: &[u8]) {
    if parse(data).is_err() {
        return;
    }
    let work_dir = tempfile::tempdir().unwrap();
    fs::write(work_dir.path().join(SETTINGS), data).unwrap();
    let out = work_dir.path().join("out");
    let Ok(archive) = Archive::of_directory(work_dir.path(), DiskNames::Plain, &out, Format::Hip)
    else {
        return;
    };
    let target = Target::new(&out, false, work_dir.path()).unwrap();
    archive.write(&target, &[], &|_| {}).unwrap();
    target.keep().unwrap();
    let opened = open(fs::read(out).unwrap(), Options::default()).unwrap();
    assert!(opened.tree.names("ids").is_empty());
}

/// Returns the settings of the seeds of HIP archives, with and without their
/// assets.
pub(super) fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for archive in seeds::hip() {
        let Ok(opened) = open(archive, Options::default()) else {
            continue;
        };
        let text = opened.text("types/Settings.ini");
        let is_asset = |line: &&str| {
            let keys = ["Asset=", "Shared=", "Unlayered="];
            keys.iter().any(|key| line.starts_with(key))
        };
        let empty: Vec<&str> = text.lines().filter(|line| !is_asset(line)).collect();
        seeds.push(empty.join("\n").into_bytes());
        seeds.push(text.into_bytes());
    }
    seeds
}
