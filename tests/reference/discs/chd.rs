//! CHD images: reads match the output of MAME's `chdman` and the contents that the
//! images were created from.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::shared;
use testkit::chd::{bytes, chdman, open, text};
use testkit::nested::files_alone;
use testkit::walked::Walked;

/// Returns the images of a kind, sorted.
fn images(prefix: &str) -> Vec<PathBuf> {
    let folders = ["samples/containers/chd", "samples/containers/foreign"];
    let folders = folders.iter().filter_map(|folder| shared(folder));
    let entries = folders.flat_map(|folder| fs::read_dir(folder).unwrap());
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| {
        let name = path.file_name().unwrap().to_str().unwrap();
        name.starts_with(prefix) && name.ends_with(".chd")
    });
    paths.sort();
    paths
}

/// Compares an image with the output of `chdman`. Returns false if that is not
/// installed.
fn compare_with_chdman(path: &Path) -> bool {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("raw");
    if !chdman(&["extractraw", "-i", text(path), "-o", text(&out)]) {
        return false;
    }
    let image = open(path).unwrap();
    assert!(
        bytes(&*image) == fs::read(out).unwrap(),
        "{}",
        path.display()
    );
    true
}

#[test]
fn every_byte_matches_chdman() {
    let good = images("good").into_iter().chain(images("foreign"));
    let of_version_5 = good.filter(|path| !path.ends_with("good_v4_mini.chd"));
    let mut count = 0;
    for path in of_version_5 {
        if !compare_with_chdman(&path) {
            return;
        }
        count += 1;
    }
    assert!(count == 0 || count == 7, "{count}");
}

/// Samples, and the images that they were created from.
const CREATED_FROM: [(&str, &str); 4] = [
    ("good_hd.chd", "good_plain.iso"),
    ("good_mode2.chd", "good_mode2_2352.bin"),
    ("good_mode2_zl.chd", "good_mode2_2352.bin"),
    ("good_two_tracks.chd", "quirk_one_file_two_tracks.cue"),
];

#[test]
fn discs_have_the_files_and_tracks_of_the_images_they_were_created_from() {
    let Some(containers) = shared("samples/containers") else {
        return;
    };
    for (chd, image) in CREATED_FROM {
        let found = files_alone(&containers.join("chd").join(chd));
        let expected = files_alone(&containers.join("iso").join(image));
        let has_track = expected.contains_key("tracks/02.wav");
        assert_eq!(has_track, image.ends_with(".cue"), "{image}");
        assert_eq!(found, expected, "{chd}");
    }
}

#[test]
fn discs_that_chdman_created_from_a_cue_sheet_have_its_files_and_tracks() {
    let Some(folder) = shared("samples/containers/iso") else {
        return;
    };
    let directory = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_lowercase();
        fs::copy(&path, directory.path().join(name)).unwrap();
    }
    let sheets = [
        (
            "two_files",
            "FILE \"good_mode1_2352.bin\" BINARY\nTRACK 01 MODE1/2352\nINDEX 01 00:00:00\n\
          FILE \"track 02.bin\" BINARY\nTRACK 02 AUDIO\nINDEX 00 00:00:00\nINDEX 01 00:02:00\n",
        ),
        (
            "mode_2",
            "FILE \"good_mode2_2352.bin\" BINARY\nTRACK 01 MODE2/2352\nINDEX 01 00:00:00\n",
        ),
    ];
    for (name, sheet) in sheets {
        let sheet_path = directory.path().join(format!("{name}.cue"));
        fs::write(&sheet_path, sheet).unwrap();
        let expected = files_alone(&sheet_path);
        for codecs in ["cdlz", "cdzl", "cdfl", "cdlz,cdzl,cdfl"] {
            let out = directory.path().join("disc.chd");
            let (sheet, out_text) = (text(&sheet_path), text(&out));
            let arguments = ["createcd", "-f", "-c", codecs, "-i", sheet, "-o", out_text];
            if !chdman(&arguments) || !compare_with_chdman(&out) {
                return;
            }
            assert_eq!(files_alone(&out), expected, "{name} by {codecs}");
        }
    }
}

#[test]
fn foreign_discs_have_the_files_that_were_packed() {
    let Some(folder) = shared("samples/containers/foreign") else {
        return;
    };
    let manifest = fs::read(folder.join("manifest.json")).unwrap();
    let manifest: serde_json::Value = serde_json::from_slice(&manifest).unwrap();
    for name in ["foreign_cd.chd", "foreign_raw.chd"] {
        let files = files_alone(&folder.join(name));
        let sum = |file: Walked| file.sha256.unwrap_or_default().into();
        let sums = files.into_iter().map(|(path, file)| (path, sum(file)));
        let mut found: serde_json::Map<String, serde_json::Value> = sums.collect();
        let expected = manifest[name]["files"].as_object().unwrap();
        let strip = |path: &String| path.rsplit('/').next().unwrap().to_lowercase();
        let expected: BTreeMap<String, _> = expected.iter().map(|(p, s)| (strip(p), s)).collect();
        let found = std::mem::take(&mut found);
        let found: BTreeMap<String, _> = found.iter().map(|(p, s)| (strip(p), s)).collect();
        assert_eq!(found, expected, "{name}");
    }
}

#[test]
fn damaged_images_and_older_versions_are_refused() {
    let mut count = 0;
    for path in images("bad") {
        match open(&path) {
            Ok(image) => {
                let read = (0..image.len().div_ceil(image.block_size().into()).min(100))
                    .map(|block| image.decode(block));
                let errors = read.filter(Result::is_err).count();
                assert!(errors > 0, "{}", path.display());
            }
            Err(error) => assert!(!error.to_string().is_empty()),
        }
        count += 1;
    }
    if count > 0 {
        assert_eq!(count, 17);
        let old = images("good_v4").remove(0);
        let error = open(&old).err().unwrap().to_string();
        assert!(error.contains("version 4"), "{error}");
    }
}
