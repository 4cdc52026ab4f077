//! `hpi check` finds no damage in good samples and in files of other programs, and
//! finishes with every sample.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::shared;
use testkit::mount::{hpi, run};

#[test]
fn good_samples_are_undamaged_and_every_sample_can_be_checked() {
    let folders = [
        "hpi/good",
        "hpi/quirk",
        "hpi/hostile",
        "hip/peer",
        "hip/synthetic",
        "containers",
    ];
    for name in folders {
        let Some(samples) = shared(&format!("samples/{name}")) else {
            return;
        };
        for sample in fs::read_dir(samples).unwrap() {
            let sample = sample.unwrap().path();
            if sample.is_dir()
                || sample
                    .extension()
                    .is_some_and(|extension| extension == "json")
            {
                continue;
            }
            // Many samples have the names of assets but other contents.
            let ran = run(hpi("check")
                .args(["-o", "cachesize=16M,meta=off"])
                .arg(&sample));
            let codes: &[i32] = match name {
                "hpi/good" | "hip/peer" => &[0],
                _ => &[0, 10, 11, 12, 13],
            };
            assert!(
                ran.code.is_some_and(|code| codes.contains(&code)),
                "{}: {ran:?}",
                sample.display()
            );
        }
    }
}

#[test]
fn assets_that_others_made_are_undamaged() {
    for (folder, assets) in [
        ("hpi/real", 697),
        ("hip/real", 16),
        ("gta/real", 7),
        ("gta/peer", 18),
        ("ifp/real", 8),
        ("neversoft/real", 14),
        ("neversoft/foreign", 11),
    ] {
        let Some(samples) = shared(&format!("samples/{folder}")) else {
            return;
        };
        let ran = run(hpi("check").arg(&samples));
        assert_eq!(ran.code, Some(0), "{folder}: {ran:?}");
        let summary = ran.stdout.lines().last().unwrap();
        assert!(
            summary.contains(&format!(" {assets} assets,")),
            "{folder}: {summary}"
        );
        assert!(
            summary.contains(": 0 damaged, 0 not checked"),
            "{folder}: {summary}"
        );
    }
}

#[test]
fn a_list_names_the_plain_image_of_every_block_image() {
    let of = |name: &str| shared(&format!("samples/containers/foreign/foreign_nod_{name}"));
    let Some(wia) = of("lzma.wia") else {
        return;
    };
    // One program has written the same disc in three ways.
    let image = |source: &Path, options: &[&str]| -> Value {
        let ran = run(hpi("check").arg("--json").args(options).arg(source));
        let lines = ran.stdout.lines().map(serde_json::from_str::<Value>);
        let mut lines = lines.map(Result::unwrap);
        let found = lines.find(|line| line["type"] == "image");
        found.unwrap_or_else(|| panic!("{}: {ran:?}", source.display()))
    };
    let plain = image(&wia, &[]);
    let work_dir = tempfile::tempdir().unwrap();
    let list = work_dir.path().join("list.dat");
    let (size, sha1) = (&plain["size"], &plain["sha1"]);
    let rom = format!("<rom name=\"a.iso\" size=\"{size}\" sha1={sha1}/>");
    let text = format!("<datafile><game name=\"A Game\">{rom}</game></datafile>");
    fs::write(&list, text).unwrap();
    for name in ["lzma.wia", "lzma2.rvz", "zstd.rvz"] {
        let found = image(&of(name).unwrap(), &["--dat", list.to_str().unwrap()]);
        let listed = serde_json::json!({"title": "A Game", "file": "a.iso"});
        assert_eq!(found["listed"], listed, "{name}: {found}");
    }
}
