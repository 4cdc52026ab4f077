//! `hpipack --replace` changes single files of the samples and copies the rest.

use std::fs;

use crate::shared;
use fixtures::{noise, text};
use hpimount::mount;
use hpimount_containers::format::Options;
use tempfile::tempdir;
use testkit::extracted::layers;
use testkit::hpipack::stderr;
use testkit::packed::{hpipack_replace, replaced};
use testkit::record::{Opened, open, opened};
use testkit::walked::{files, open as walk_open, sha256_of};

/// Files that are not replaced are not packed again: chunks that hpipack would pack
/// differently are kept.
#[test]
fn real_archives_keep_everything_else() {
    let Some(samples) = shared("samples/hpi/real") else {
        return;
    };
    let mut tried = 0;
    let work_dir = tempdir().unwrap();
    let (file, out) = (work_dir.path().join("file"), work_dir.path().join("out"));
    fs::write(&file, text(12_345)).unwrap();
    for sample in fs::read_dir(samples).unwrap() {
        let path = sample.unwrap().path();
        let Ok(vfs) = walk_open(path.clone(), mount::Options::default()) else {
            continue;
        };
        let mut expected = files(&vfs);
        let names: Vec<String> = expected.keys().cloned().collect();
        let Some(name) = names.get(names.len() / 2) else {
            continue;
        };
        let ran = hpipack_replace(&["--force"], &[(name, &file)], &path, &out);
        assert!(ran.status.success(), "{}: {}", path.display(), stderr(&ran));
        let changed = expected.get_mut(name).unwrap();
        (changed.size, changed.sha256) = (12_345, Ok(sha256_of(&text(12_345))));
        let after = walk_open(out.clone(), mount::Options::default()).unwrap();
        assert!(files(&after) == expected, "{}", path.display());
        tried += 1;
    }
    assert!(tried > 0);
}

/// Assets with a unique id are replaced in every sample, including those with
/// assets that overlap, lie outside or have no layer.
#[test]
fn odd_hip_archives_keep_everything_else() {
    for folder in ["synthetic", "peer", "real"] {
        let Some(samples) = shared(&format!("samples/hip/{folder}")) else {
            return;
        };
        for sample in fs::read_dir(samples).unwrap() {
            let path = sample.unwrap().path();
            let bytes = fs::read(&path).unwrap();
            let Ok(before) = open(bytes.clone(), Options::default()) else {
                continue;
            };
            let name = path.display();
            let facts = readable(&before);
            let step = facts.len() / 12 + 1;
            for number in (0..facts.len()).step_by(step) {
                let id = facts[number].0.clone();
                if facts.iter().filter(|(other, ..)| *other == id).count() > 1 {
                    continue;
                }
                let new = noise(number as u64, 333 * (number % 20));
                let after = replaced(&bytes, &[(id.clone(), new.clone())]);
                let after = match after {
                    // The archive is truncated.
                    Err(error) if error.contains("extends past the end") => continue,
                    // Noise is no sound of GameCube.
                    Err(error) if error.contains("is no DSP-ADPCM") => continue,
                    after => after.unwrap_or_else(|error| panic!("{name}: {error}")),
                };
                let after = opened(&after);
                let mut expected = facts.clone();
                expected[number].1 = Some(new);
                assert!(readable(&after) == expected, "{name} {id}");
                assert_eq!(layers(&after), layers(&before), "{name} {id}");
            }
        }
    }
}

/// Returns the id of each asset, and its bytes if they can be read.
fn readable(opened: &Opened) -> Vec<(String, Option<Vec<u8>>)> {
    let ids = opened.tree.list(opened.tree.find("ids"));
    let ids = ids.iter().map(|&(_, node)| {
        let entry = opened.tree.entry(node);
        let id = opened.archive.xattr(entry.file, "user.hip.id").unwrap();
        let small = entry.size.is_some_and(|size| size < 1 << 28);
        let bytes = small.then(|| opened.read(entry).ok()).flatten();
        (id.unwrap(), bytes)
    });
    ids.collect()
}
