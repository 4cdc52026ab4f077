//! Edited maps and sections, as `hpi apply` writes them, in an independent reader.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::shared;
use fixtures::png_of;
use hpimount::mount::Options;
use hpimount_assets::model::{Picture, png};
use serde_json::Value;
use tempfile::tempdir;
use testkit::applied::{hpi_apply, read_at, write};
use testkit::hpipack::stderr;
use testkit::skip::possible;
use testkit::walked::open;

/// What the independent reader finds in a file, and the pixels of its heights.
fn seen(reader: &Path, file: &Path) -> (Value, Vec<[u8; 4]>) {
    let picture = file.with_extension("heights.png");
    let mut python = Command::new("python3");
    python.arg("-B").arg(reader).arg("height");
    let output = python.arg(file).arg(&picture).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let heights = pixels(&fs::read(picture).unwrap()).into_rgba();
    (serde_json::from_slice(&output.stdout).unwrap(), heights)
}

fn pixels(file: &[u8]) -> Picture {
    png::read(file, 1 << 20).unwrap()
}

#[test]
fn the_independent_reader_shows_edited_heights_sea_levels_and_features() {
    let Some(reader) = shared("oracle/ta/tnt_ref.py") else {
        return;
    };
    let has_python = Command::new("python3").arg("--version").output().is_ok();
    if !possible(has_python, "python3 is missing") {
        return;
    }
    for sample in [
        "tnt/ta.tnt",
        "tnt/old.tnt",
        "tnt/tak.tnt",
        "sct/v2.sct",
        "sct/v3.sct",
    ] {
        let original = shared(&format!("samples/ta/{sample}")).unwrap();
        let vfs = open(original.clone(), Options::default()).unwrap();
        let work = tempdir().unwrap();
        let changes = work.path().join("changes");
        let name = original.file_name().unwrap().to_str().unwrap();
        let parts = format!("converted/parts/{name}");
        let shown = pixels(&read_at(&vfs, &format!("{parts}/height.png")));
        let mut heights: Vec<_> = shown.rgba().into_iter().rev().collect();
        heights[0] = [251, 251, 251, 255];
        let picture = png_of(shown.width, shown.height, heights.clone());
        write(&changes, &format!("{parts}/height.png"), &picture);
        let out = work.path().join(name);
        fs::copy(&original, &out).unwrap();
        let (mut expected, _) = seen(&reader, &out);
        expected["height_range"][1] = 251.into();
        if sample.starts_with("tnt") {
            let edit = |file: &str, shown: &str, new: &str| {
                let path = format!("{parts}/{file}");
                let text = String::from_utf8(read_at(&vfs, &path)).unwrap();
                assert!(text.contains(shown), "{shown} in {text}");
                write(&changes, &path, text.replace(shown, new).as_bytes());
            };
            let level = expected["sea_level"].take();
            edit(
                "info.json",
                &format!("\"sea_level\": {level}"),
                "\"sea_level\": 33",
            );
            expected["sea_level"] = 33.into();
            let feature = expected["features"][0].take();
            let feature = feature.as_str().unwrap();
            edit("features.tsv", &format!("\t{feature}\t"), "\tBanyan\t");
            expected["features"][0] = "Banyan".into();
        }
        fs::remove_file(&out).unwrap();
        let ran = hpi_apply(&[], &changes, &original, &out);
        assert!(ran.status.success(), "{sample}: {}", stderr(&ran));
        assert_eq!(seen(&reader, &out), (expected, heights), "{sample}");
    }
}
