//! The samples of containers beside the repository, compared with the results
//! of independent readers.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::shared;
use hpimount_containers::Archive;
use percent_encoding::percent_decode_str;
use serde_json::Value;
use testkit::containers::{Contents as _, open_path};
use testkit::skip::possible;
use testkit::trial;

/// An expected file: its path, its size, and its SHA-256 unless it cannot be
/// read.
type File = (String, u64, Option<String>);

/// A container format and its independent reader.
struct Case {
    /// Folder of the samples, and start of the reader's name.
    folder: &'static str,
    /// Extensions of the samples that are opened.
    extensions: &'static [&'static str],
    /// Minimum number of samples.
    samples: usize,
    /// The files that the reader found.
    files: fn(&Value) -> Vec<File>,
}

const CASES: [Case; 5] = [
    Case {
        folder: "img",
        extensions: &["img", "dir"],
        samples: 24,
        files: |found| entries(found, "entries", |entry| vec![text(entry, "name")]),
    },
    Case {
        folder: "hedwad",
        extensions: &["hed"],
        samples: 18,
        files: |found| entries(found, "entries", hashed_or_plain),
    },
    Case {
        folder: "pkr",
        extensions: &["pkr"],
        samples: 23,
        files: |found| {
            entries(found, "files", |entry| {
                let mut path = split(&text(entry, "directory"));
                path.push(text(entry, "name"));
                path
            })
        },
    },
    Case {
        folder: "pre",
        extensions: &["pre", "prx", "prd"],
        samples: 28,
        files: |found| entries(found, "files", |entry| split(&text(entry, "name"))),
    },
    Case {
        folder: "xdvdfs",
        extensions: &["xiso", "iso"],
        samples: 14,
        files: |found| entries(found, "entries", |entry| vec![text(entry, "path")]),
    },
];

fn text(entry: &Value, field: &str) -> String {
    entry[field].as_str().unwrap().to_owned()
}

fn split(path: &str) -> Vec<String> {
    let components = path.split(['/', '\\']);
    let counted = components.filter(|component| !matches!(*component, "" | "."));
    counted.map(str::to_owned).collect()
}

/// Returns the name of a file in a WAD: its own, or its hash with any
/// extension.
fn hashed_or_plain(entry: &Value) -> Vec<String> {
    match entry["name"].as_str() {
        Some(name) => split(name),
        None => vec![text(entry, "hash")],
    }
}

/// Returns the files in a list of a reader.
fn entries(found: &Value, list: &str, path: fn(&Value) -> Vec<String>) -> Vec<File> {
    let entries = found[list].as_array().unwrap().iter();
    let files = entries.filter(|entry| entry["dir"] != true && entry["not_in_wad"] != true);
    let mut files: Vec<File> = files
        .map(|entry| {
            let size = entry["size"].as_u64().unwrap();
            let readable = entry["error"].is_null() && size > 0;
            let digest = entry["sha256"].as_str().filter(|_| readable);
            (path(entry).join("/"), size, digest.map(str::to_owned))
        })
        .collect();
    files.sort();
    files
}

/// Returns the results of the independent reader for a sample.
fn reference(reader: &Path, sample: &Path) -> Option<Value> {
    let mut python = Command::new("python3");
    python.arg(reader).arg(sample);
    if reader.ends_with("hedwad_ref.py") {
        let names = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/crates/containers/src/wad/names.txt"
        );
        python.args(["--names", names]);
    }
    let output = python.output();
    let is_installed = possible(output.is_ok(), "python3 is missing");
    let output = output.ok().filter(|_| is_installed)?;
    // If the reader itself fails, it prints no JSON.
    serde_json::from_slice(&output.stdout).ok()
}

/// Returns the files that were found; for a WAD, the hash replaces the name if
/// `known` has only that.
fn found(opened: &Archive, known: &[File]) -> Vec<File> {
    let files = opened.files().map(|(path, entry)| {
        let is_hash = |(known, _, _): &&File| {
            known.len() == 8 && path.starts_with(known.as_str()) && path.len() == 12
        };
        let path = known.iter().find(is_hash).map_or(path, |(hash, _, _)| hash);
        // Nothing is read of an empty file, so reading it cannot fail.
        let digest = opened.sha256(entry).ok().filter(|_| entry.size != Some(0));
        // The independent readers escape nothing, not even an empty name (`%00`).
        let path = percent_decode_str(path).decode_utf8_lossy();
        (path.replace('\0', ""), entry.size.unwrap(), digest)
    });
    let mut files: Vec<File> = files.collect();
    files.sort();
    files
}

fn check(case: &Case, reader: &Path, sample: &Path) {
    let shown = sample.display();
    let name = sample.file_name().unwrap().to_str().unwrap().to_lowercase();
    let opened = open_path(sample);
    let Some(reference) = reference(reader, &original(sample)) else {
        assert!(name.starts_with("bad_"), "{shown}: the reader fails");
        assert!(opened.is_err(), "{shown} is opened");
        return;
    };
    if !reference["error"].is_null() {
        assert!(
            opened.is_err(),
            "{shown}: {} is not detected",
            reference["error"]
        );
        return;
    }
    let expected = (case.files)(&reference);
    match opened {
        Ok(opened) => assert_eq!(found(&opened, &expected), expected, "{shown}"),
        // A damaged container may be refused as a whole.
        Err(error) => {
            assert!(name.starts_with("bad_"), "{shown}: {error}");
            assert!(!error.is_fault(), "{shown}: {error}");
        }
    }
}

/// Returns the file that the reader needs: of an IMG in two files the one with
/// the bytes; instead of a disc without the padding at the end of a table the
/// complete one, because the reader omits such a table.
fn original(sample: &Path) -> PathBuf {
    if sample.ends_with("quirk_cut.xiso") {
        return sample.with_file_name("good.xiso");
    }
    match sample.extension().and_then(|extension| extension.to_str()) {
        Some("dir") => sample.with_extension("img"),
        Some("DIR") => sample.with_extension("IMG"),
        _ => sample.to_owned(),
    }
}

fn is_sample(path: &Path, extensions: &[&str]) -> bool {
    let extension = path.extension().unwrap_or_default().to_ascii_lowercase();
    extensions.iter().any(|known| extension == *known)
}

#[test]
fn every_sample_matches_the_independent_reader() {
    let (Some(samples), Some(readers)) =
        (shared("samples/containers"), shared("oracle/containers"))
    else {
        return;
    };
    for case in &CASES {
        let reader = readers.join(format!("{}_ref.py", case.folder));
        let files = fs::read_dir(samples.join(case.folder)).unwrap();
        let paths = files.map(|file| file.unwrap().path());
        let paths: Vec<_> = paths
            .filter(|path| is_sample(path, case.extensions))
            .collect();
        assert!(paths.len() >= case.samples, "{paths:?}");
        trial::some(&paths, 5).for_each(|path| check(case, &reader, path));
    }
}

#[test]
fn zip_archives_of_other_programs_match_their_manifest() {
    let Some(folder) = shared("samples/containers/foreign") else {
        return;
    };
    let manifest = fs::read(folder.join("manifest.json")).unwrap();
    let manifest: BTreeMap<String, Value> = serde_json::from_slice(&manifest).unwrap();
    let zips = manifest.iter().filter(|(name, _)| name.ends_with(".zip"));
    let mut count = 0;
    for (name, described) in zips {
        let opened = open_path(&folder.join(name)).unwrap();
        let digests = opened.files().map(|(path, entry)| {
            let digest = opened
                .sha256(entry)
                .unwrap_or_else(|error| error.to_string());
            (path.to_owned(), Value::from(digest))
        });
        let found: serde_json::Map<String, Value> = digests.collect();
        assert_eq!(Value::from(found), described["files"], "{name}");
        count += 1;
    }
    assert_eq!(count, 2);
}
