//! Mounts of all readable samples match the results of an independent reader.

use std::fs;
use std::path::PathBuf;
use testkit::fuse_test;

use crate::odd_reads::{THREADS, read_oddly};
use crate::shared;
use serde_json::Value;
use testkit::files::{FileEntry, contents, raw_path, sha256, walk};
use testkit::mounted::{counter, mounted_files, stats};

/// Folders of samples, with their numbers of archives.
const FOLDERS: [(&str, usize); 3] = [("real", 34), ("good", 17), ("quirk", 15)];

/// Samples without a description, since the independent reader does not detect
/// that they are enciphered, and samples with the same content.
const SAME_AS: [(&str, &str); 1] = [("v1_key_FF_xored.hpi", "v1_key_FF_plain.hpi")];

/// The smallest useful cache.
const OPTIONS: &str = "cachesize=1M";

const BUDGET: u64 = 1 << 20;

fn samples() -> Option<Vec<(PathBuf, Value)>> {
    let (golden, samples) = (shared("golden/hpi")?, shared("samples/hpi")?);
    let mut found = Vec::new();
    for (folder, count) in FOLDERS {
        let before = found.len();
        for sample in fs::read_dir(samples.join(folder)).unwrap() {
            let path = sample.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            let same = SAME_AS.iter().find(|(sample, _)| *sample == name);
            let described = same.map_or(name, |(_, same)| same);
            let golden = golden.join(folder).join(format!("{described}.json"));
            let golden = serde_json::from_slice(&fs::read(golden).unwrap()).unwrap();
            found.push((path, golden));
        }
        assert_eq!(found.len() - before, count, "samples in {folder}");
    }
    Some(found)
}

/// Returns the findings of the independent reader: directories, and files with their
/// sizes and digests.
fn described(golden: &Value) -> Vec<(String, Option<(u64, String)>)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let directories = golden["dirs"].as_array().unwrap().iter();
    let directories = directories.map(|path| (text(path), None));
    let files = golden["files"].as_array().unwrap().iter().map(|file| {
        let size = file["size"].as_u64().unwrap();
        (text(&file["path"]), Some((size, text(&file["sha256"]))))
    });
    let mut all: Vec<_> = directories.chain(files).collect();
    all.sort();
    all
}

#[fuse_test]
fn whole_files_match_the_independent_reader() {
    for (sample, golden) in samples().unwrap_or_default() {
        let mount = mounted_files(std::slice::from_ref(&sample), OPTIONS);
        let root = mount.path();
        let mut found: Vec<_> = walk(root)
            .into_iter()
            .map(|path| {
                let metadata = path.metadata().unwrap();
                let file = metadata.is_file().then(|| {
                    let digest = sha256(&fs::read(&path).unwrap());
                    (metadata.len(), digest)
                });
                (raw_path(root, &path), file)
            })
            .collect();
        found.sort();
        assert_eq!(found, described(&golden), "{}", sample.display());
        assert_eq!(counter(&mount, "errors"), 0, "{}", sample.display());
    }
}

#[fuse_test]
fn eight_threads_read_the_same_at_odd_positions() {
    for (sample, _) in samples().unwrap_or_default() {
        let mount = mounted_files(std::slice::from_ref(&sample), OPTIONS);
        let contents = contents(mount.path());
        let files = contents.iter().filter_map(|(path, found)| match found {
            FileEntry::File(bytes) => Some((mount.path().join(path), bytes.as_slice())),
            _ => None,
        });
        let files: Vec<_> = files.collect();
        std::thread::scope(|scope| {
            for thread in 0..THREADS {
                let files = &files;
                scope.spawn(move || read_oddly(thread, files));
            }
        });
        let stats = stats(&mount);
        assert_eq!(stats["errors"], 0, "{}", sample.display());
        let held = stats["cache"]["bytes"].as_u64().unwrap();
        assert!(held <= BUDGET, "{held} bytes in the cache");
    }
}
