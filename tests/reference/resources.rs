//! With limits on address space, open files and CPU time, no sample terminates
//! the daemon, makes it spin, or makes it take memory out of proportion.

use std::fs;
use std::path::PathBuf;

use crate::shared;
use fixtures::bombs::Bomb;
use testkit::fuse_test;
use testkit::limited::{Needed, folder_of, limited, walk_each};
use testkit::trial;

/// Returns the damaged and hostile samples, including assets and containers.
fn hostile_samples() -> Option<Vec<PathBuf>> {
    let folders = [
        ("hpi/hostile", ""),
        ("hip/synthetic", ""),
        ("psx/generated", "bad_"),
        ("hgo/generated", "bad_"),
        ("ifp/generated", "bad_"),
        ("containers/chd", "bad_"),
        ("containers/gcm", "bad_"),
        ("containers/hedwad", "bad_"),
        ("containers/img", "bad_"),
        ("containers/iso", "bad_"),
        ("containers/pkr", "bad_"),
        ("containers/pkr", "bomb_"),
        ("containers/pre", "bad_"),
        ("containers/xdvdfs", "bad_"),
    ];
    let mut found = Vec::new();
    for (folder, prefix) in folders {
        let folder = shared(&format!("samples/{folder}"))?;
        for entry in fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            if entry.file_name().to_string_lossy().starts_with(prefix) {
                found.push(entry.path());
            }
        }
    }
    found.sort();
    Some(found)
}

#[fuse_test]
fn hostile_samples_are_refused_or_walked_within_the_limits() {
    let Some(samples) = hostile_samples() else {
        return;
    };
    let load = |path: &PathBuf| Bomb {
        name: path.file_name().unwrap().to_string_lossy().into_owned(),
        bytes: fs::read(path).unwrap(),
    };
    let mut needed = Needed::default();
    let fixture = folder_of(samples.iter().map(load));
    let mut command = limited(120);
    command
        .args([&fixture.archive, &fixture.point])
        .args(["-o", "cachesize=1M"]);
    walk_each(fixture.mount_by(command), &mut needed);
    // In a short trial, only some are also mounted alone.
    for sample in trial::some(&samples, 12) {
        let Bomb { name, bytes } = load(sample);
        needed.alone(&name, testkit::sources::file(&name, &bytes), false);
    }
    needed.record("hostile samples, under limits", samples.len());
}
