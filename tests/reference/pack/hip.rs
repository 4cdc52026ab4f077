//! The HIP samples are the same after extraction and packing.

use std::fs;
use std::path::PathBuf;

use crate::shared;
use tempfile::tempdir;
use testkit::extracted::{assets, extract, layers, package};
use testkit::hpipack::{hpipack, stderr};
use testkit::packed::packed;
use testkit::record::opened;

#[test]
fn archives_of_hiphoptool_are_the_same_after_extraction_and_packing() {
    let Some(samples) = shared("samples/hip/peer") else {
        return;
    };
    let mut whole = 0;
    let mut paths: Vec<PathBuf> = fs::read_dir(samples)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    for path in &paths {
        let name = path.display();
        let original = fs::read(path).unwrap();
        let before = opened(original.clone());
        let directory = tempdir().unwrap();
        extract(&before, directory.path());
        let out = tempdir().unwrap();
        let out = out.path().join("out.HIP");
        let ran = hpipack(&[], directory.path(), &out);
        assert!(ran.status.success(), "{name}: {}", stderr(&ran));
        let again = fs::read(out).unwrap();
        if again == original {
            whole += 1;
            continue;
        }
        let after = opened(again);
        assert_eq!(package(&after), package(&before), "{name}");
        assert_eq!(layers(&after), layers(&before), "{name}");
        let (mut old, new) = (assets(&before), assets(&after));
        for asset in &mut old {
            // A line of Settings.ini cannot hold a line end.
            asset.name = asset.name.replace('\n', "_");
            // HipHopTool wrote an asset of no layer without its bytes.
            if asset.bytes.is_empty() && asset.checksum != "00000000" {
                asset.checksum = "FFFFFFFF".to_owned();
            }
        }
        assert_eq!(new, old, "{name}");
    }
    assert_eq!((paths.len(), whole), (60, 30));
}

#[test]
fn a_level_of_a_game_keeps_all_its_contents() {
    let Some(samples) = shared("samples/hip/real") else {
        return;
    };
    for sample in fs::read_dir(samples).unwrap() {
        let before = opened(fs::read(sample.unwrap().path()).unwrap());
        let directory = tempdir().unwrap();
        extract(&before, directory.path());
        let after = opened(packed(directory.path()).unwrap());
        assert_eq!(package(&after), package(&before));
        assert_eq!(layers(&after), layers(&before));
        let contents = |opened| {
            let assets = assets(opened).into_iter();
            assets
                .map(|asset| (asset.id, asset.kind, asset.name, asset.bytes))
                .collect()
        };
        let (old, new): (Vec<_>, Vec<_>) = (contents(&before), contents(&after));
        assert_eq!(new, old);
    }
}
