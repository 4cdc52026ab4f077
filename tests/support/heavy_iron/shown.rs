//! Companions of assets in mounted archives.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use hpimount_containers::hip::asset_id;
use serde_json::Value;

use super::samples::{Archive, Asset, archives};
use crate::support::mount::{Mount, can_mount};
use crate::support::mounted::mounted_files;
use crate::support::shared;
use crate::support::sources::names;

/// Returns the companion of an asset, found by the asset's id.
pub fn meta(mount: &Mount, id: u32) -> PathBuf {
    meta_in(mount.path(), id)
}

/// Returns the companion of an asset of the archive that is shown at a path.
pub fn meta_in(archive: &Path, id: u32) -> PathBuf {
    let ids = archive.join("ids");
    let start = format!("{id:08X}");
    let found = names(&ids)
        .into_iter()
        .find(|name| name.starts_with(&start));
    let asset = fs::canonicalize(ids.join(found.expect("every asset has its id"))).unwrap();
    let name = asset.file_name().unwrap().to_str().unwrap();
    asset.with_file_name(format!("{name}.meta"))
}

/// Calls `check` with every asset of these types in the samples, and with its
/// companion. Returns false if nothing can be mounted or there are no samples.
pub fn each(types: &[&str], mut check: impl FnMut(&Archive, &Asset, &Path)) -> bool {
    if !can_mount() {
        return false;
    }
    let archives = archives(false);
    let mut seen = 0;
    for archive in &archives {
        let mut assets = archive.of_types(types).peekable();
        if assets.peek().is_none() {
            continue;
        }
        let file = shared(&format!("samples/hip_assets/{}.HIP", archive.name)).unwrap();
        let mount = mounted_files(&[file], "").unwrap();
        for asset in assets {
            check(archive, asset, &meta(&mount, asset.id));
            seen += 1;
        }
    }
    assert!(seen > 0 || archives.is_empty(), "no assets of {types:?}");
    seen > 0
}

/// Returns the bytes of a file, whose size must be known before it is opened.
pub fn bytes_of(path: &Path) -> Vec<u8> {
    let size = fs::metadata(path).unwrap().len();
    let bytes = fs::read(path).unwrap();
    assert_eq!(size, bytes.len() as u64, "{}", path.display());
    bytes
}

/// Returns the results of the independent reader for the assets of an archive,
/// by name.
pub fn records(archive: &Archive) -> BTreeMap<String, Value> {
    let goldens = archive.goldens();
    let Some(lines) = goldens.get(&format!("{}.HIP.ndjson", archive.name)) else {
        return BTreeMap::new();
    };
    let lines = fs::read_to_string(lines).unwrap();
    let records = lines
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    records
        .map(|record| (record["asset"].as_str().unwrap().to_owned(), record))
        .collect()
}

/// Returns the rows of a table, by the names of the columns.
pub fn rows(path: &Path) -> Vec<BTreeMap<String, String>> {
    let text = String::from_utf8(bytes_of(path)).unwrap();
    let mut lines = text.lines().map(|line| line.split('\t').map(str::to_owned));
    let columns: Vec<String> = lines.next().unwrap().collect();
    lines
        .map(|cells| columns.iter().cloned().zip(cells).collect())
        .collect()
}

/// Returns the companion of an asset of a built archive.
pub fn built(mount: &Mount, name: &str) -> PathBuf {
    meta(mount, asset_id(name.as_bytes()))
}
