//! Installers by Inno Setup's compilers show the same files that other programs
//! extract. Damaged and hostile ones are refused, or some files are errors.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::shared;
use hpimount_containers::Archive;
use serde_json::Value;
use testkit::containers::{Contents as _, open_path};
use testkit::nested;

/// Sizes and SHA-256 of files by their paths.
type Files = BTreeMap<String, (u64, String)>;

/// Returns the samples whose manifest expects one of these results, with the paths of
/// the samples and of their goldens.
fn samples(expected: &[&str]) -> Vec<(std::path::PathBuf, Option<Value>, Value)> {
    let Some(folder) = shared("samples/installers") else {
        return Vec::new();
    };
    let manifest = fs::read(folder.join("manifest.json")).unwrap();
    let manifest: Vec<Value> = serde_json::from_slice(&manifest).unwrap();
    let wanted = manifest
        .into_iter()
        .filter(|sample| expected.contains(&sample["expect"].as_str().unwrap()));
    let found = wanted.map(|sample| {
        let golden = sample["golden"].as_str().map(|golden| {
            let golden = fs::read(shared(golden).unwrap()).unwrap();
            serde_json::from_slice(&golden).unwrap()
        });
        let path = folder.join(sample["open"].as_str().unwrap());
        (path, golden, sample)
    });
    found.collect()
}

/// Returns the files of a golden.
fn golden_files(golden: &Value) -> Files {
    let files = golden["files"].as_array().unwrap().iter();
    let files = files.map(|file| {
        let text = |field: &str| file[field].as_str().unwrap().to_owned();
        let size = file["size"].as_u64().unwrap();
        (text("path"), (size, text("sha256")))
    });
    files.collect()
}

/// Returns the files that can be read.
fn readable(opened: &Archive) -> Files {
    let files = opened.files().filter_map(|(path, entry)| {
        let sum = opened.sha256(entry).ok()?;
        Some((path.to_owned(), (entry.size.unwrap(), sum)))
    });
    files.collect()
}

#[test]
fn trees_and_bytes_of_installers_are_what_others_extract() {
    let samples = samples(&["ok", "partly"]);
    for (path, golden, sample) in &samples {
        let golden = golden.as_ref().unwrap();
        let opened = open_path(path).unwrap();
        let mut directories = opened.directories();
        directories.sort();
        assert_eq!(Value::from(directories), golden["dirs"], "{path:?}");
        let expected = golden_files(golden);
        assert_eq!(readable(&opened), expected, "{path:?}");
        let encrypted = sample["eacces"].as_array().map_or(0, Vec::len);
        assert_eq!(
            opened.files().count(),
            expected.len() + encrypted,
            "{path:?}"
        );
        for (file, entry) in opened
            .files()
            .filter(|(file, _)| !expected.contains_key(*file))
        {
            let error = opened.sha256(entry).unwrap_err().to_string();
            assert!(error.contains("encrypted"), "{file}: {error}");
        }
        let shown = nested::files_alone(path).into_iter();
        let shown = shown.filter_map(|(path, file)| Some((path, (file.size, file.sha256.ok()?))));
        assert_eq!(shown.collect::<Files>(), expected, "{path:?} as a mount");
    }
    assert!(samples.is_empty() || samples.len() >= 37);
}

#[test]
fn encrypted_installers_are_refused_with_the_program_that_unpacks_them() {
    for (path, _, _) in samples(&["refused"]) {
        let error = open_path(&path).err().unwrap().to_string();
        assert!(error.contains("innoextract --password"), "{error}");
    }
}

/// Opens a damaged installer, and reads whatever can be read.
fn read(path: &Path) -> Result<BTreeMap<String, Result<String, String>>, String> {
    let opened = open_path(path).map_err(|error| error.to_string())?;
    let files = opened.files().map(|(path, entry)| {
        let sum = opened.sha256(entry);
        (path.to_owned(), sum.map_err(|error| error.to_string()))
    });
    Ok(files.collect())
}

#[test]
fn damaged_and_hostile_installers_are_refused_or_files_are_errors() {
    for (path, _, sample) in samples(&["bad", "eio", "any"]) {
        let read = read(&path);
        match sample["expect"].as_str().unwrap() {
            "bad" => assert!(read.is_err(), "{path:?}: {read:?}"),
            "eio" => {
                let files = read.unwrap();
                for file in sample["eio"].as_array().unwrap() {
                    assert!(
                        files[file.as_str().unwrap()].is_err(),
                        "{path:?}: {files:?}"
                    );
                }
            }
            _ => {}
        }
        if let Some(name) = path.file_stem().filter(|name| *name == "bad_sha1") {
            let files = self::read(&path).unwrap();
            assert!(files.values().all(Result::is_err), "{name:?}: {files:?}");
        }
    }
}

#[test]
fn a_missing_slice_is_named() {
    let Some(folder) = shared("samples/installers") else {
        return;
    };
    let opened = open_path(&folder.join("bad_slice_missing.exe")).unwrap();
    let warnings = opened.volume().warnings().join("");
    assert!(warnings.contains("bad_slice_missing-1.bin"), "{warnings}");
}
