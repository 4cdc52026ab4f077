//! All samples in one folder, as if it were a game's: the mount matches the
//! single archives, merged by a simple model (SEMANTICS, Merging).

use std::collections::HashMap;
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use testkit::fuse_test;

use sha2::{Digest, Sha256};

use crate::shared;
use testkit::merge_model::{Entries, Layer, Model, Node};
use testkit::merging::{Folder, Tree, attribute, info, order, shadowed, tree};

/// Returns the samples that can be mounted.
fn samples() -> Option<Vec<PathBuf>> {
    let folders = ["good", "quirk", "real"].map(|name| shared(&format!("samples/hpi/{name}")));
    let mut samples = Vec::new();
    for folder in folders {
        let entries = fs::read_dir(folder?).unwrap();
        samples.extend(entries.map(|entry| entry.unwrap().path().canonicalize().unwrap()));
    }
    samples.sort();
    assert!(!samples.is_empty());
    Some(samples)
}

/// Returns a hash of the bytes of a file.
fn hash(bytes: &[u8]) -> Vec<u8> {
    Sha256::digest(bytes).to_vec()
}

/// Returns the entries of a directory, in the order of its listing.
fn entries(directory: &Path) -> Entries {
    let entry = |entry: io::Result<fs::DirEntry>| {
        let entry = entry.unwrap();
        let node = match entry.file_type().unwrap().is_dir() {
            true => Node::Directory(entries(&entry.path())),
            false => Node::File(hash(&fs::read(entry.path()).unwrap())),
        };
        (entry.file_name().into_string().unwrap(), node)
    };
    fs::read_dir(directory).unwrap().map(entry).collect()
}

/// Returns the tree with hashes instead of bytes.
fn hashed(tree: Tree) -> Tree {
    tree.into_iter()
        .map(|(path, bytes)| (path, bytes.map(|bytes| hash(&bytes))))
        .collect()
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap().to_str().unwrap().to_owned()
}

/// Returns a folder with links to all samples.
fn folder_of(samples: &[PathBuf]) -> Folder {
    let folder = Folder::new();
    for sample in samples {
        symlink(sample, folder.path.join(file_name(sample))).unwrap();
    }
    folder
}

#[fuse_test]
fn all_samples_together_show_the_same_as_each_alone() {
    let Some(samples) = samples() else {
        return;
    };
    let alone: HashMap<String, Entries> = samples
        .iter()
        .map(|sample| {
            let mount = Folder::new().mount(&["--no-meta", sample.to_str().unwrap()]);
            (file_name(sample), entries(mount.path()))
        })
        .collect();
    for rule in ["ta", "rwe"] {
        let mount = folder_of(&samples).mount(&["--no-meta", "--order", rule, "--game", "{}"]);
        let mut names = order(&mount);
        assert_eq!(names.pop().unwrap(), "game");
        assert_eq!(names.len(), samples.len());
        let layers = names.into_iter().map(|name| Layer {
            entries: alone[&name].clone(),
            name,
            date: None,
        });
        let model = Model::new(&Vec::from_iter(layers));
        assert_eq!(hashed(tree(mount.path())), model.tree());
        assert_eq!(hashed(shadowed(&mount)), model.shadowed);
        for (path, seen) in &model.seen {
            let path = mount.file(path);
            if seen.bytes.is_some() {
                assert_eq!(attribute(&path, "source").as_ref(), Some(&seen.source));
            }
            let shadows = attribute(&path, "shadows").unwrap_or_default();
            assert_eq!(shadows, seen.shadows.join("\n"));
        }
    }
}

#[fuse_test]
fn the_samples_are_detected_as_total_annihilation() {
    let Some(samples) = samples() else {
        return;
    };
    let mount = folder_of(&samples).game();
    let info = info(&mount);
    assert_eq!(info["order"]["rule"], "ta");
    assert!(info["skipped"].as_array().unwrap().is_empty(), "{info}");
    let warnings = info["order"]["warnings"].to_string();
    assert!(warnings.contains(".hpi archives are merged; the game mounts the first 10 only"));
}
