//! The sample archives beside the repository, and the results of independent
//! readers.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::shared;
use bytes::Bytes;
use hpimount_containers::format::Options;
use hpimount_heavy_iron::{Facts, Game, Platform};
use serde_json::Value;
use testkit::look::{Finding, Verdict, code, entries, look_at, look_at_info, look_at_sound};
use testkit::mounted::mounted_files;
use testkit::record::open;
use testkit::shown::meta;

/// An asset of a sample archive.
pub(super) struct Asset {
    pub id: u32,
    pub code: String,
    pub name: String,
    pub layer: String,
    /// `ok`, `odd` or `bad`.
    pub expect: String,
    pub bytes: Bytes,
}

impl Asset {
    /// Returns the id as in the names of the goldens.
    pub(super) fn hex(&self) -> String {
        format!("{:08X}", self.id)
    }
}

/// A sample archive with its assets.
pub(super) struct Archive {
    /// Path below the folder of the samples, without the extension.
    pub name: String,
    pub facts: Facts,
    pub assets: Vec<Asset>,
}

impl Archive {
    /// Returns its golden files by name. Names of those in `source` begin with
    /// that.
    pub(super) fn goldens(&self) -> BTreeMap<String, PathBuf> {
        let mut files = BTreeMap::new();
        let folder = shared(&format!("golden/hip_assets/{}", self.name)).unwrap();
        for (folder, prefix) in [(folder.clone(), ""), (folder.join("source"), "source/")] {
            for entry in std::fs::read_dir(folder).into_iter().flatten() {
                let path = entry.unwrap().path();
                let name = path.file_name().unwrap().to_str().unwrap();
                files.insert(format!("{prefix}{name}"), path.clone());
            }
        }
        files
    }

    /// Returns the golden file of an asset with this extension.
    pub(super) fn golden(&self, asset: &Asset, extension: &str) -> Option<PathBuf> {
        let (start, end) = (asset.hex(), format!(".{extension}"));
        let mut files = self.goldens().into_iter();
        let found = files.find(|(name, _)| name.starts_with(&start) && name.ends_with(&end));
        found.map(|(_, path)| path)
    }

    /// Returns the assets of some types, which are four characters without the
    /// spaces at their end.
    pub(super) fn of_types<'a>(&'a self, types: &'a [&str]) -> impl Iterator<Item = &'a Asset> {
        let wanted = |asset: &&Asset| types.contains(&&*asset.code);
        self.assets.iter().filter(wanted)
    }
}

/// Returns all sample archives; none if they are missing. `hostile` selects the damaged
/// ones, which have no goldens.
pub(super) fn archives(hostile: bool) -> Vec<Archive> {
    let Some(folder) = shared("samples/hip_assets") else {
        return Vec::new();
    };
    let manifest = std::fs::read(folder.join("manifest.json")).unwrap();
    let manifest: Value = serde_json::from_slice(&manifest).unwrap();
    let archives = manifest["archives"].as_array().unwrap();
    let wanted = |archive: &&Value| text(&archive["file"]).starts_with("hostile/") == hostile;
    let found: Vec<Archive> = archives
        .iter()
        .filter(wanted)
        .map(|archive| read(&folder, archive))
        .collect();
    assert!(found.len() >= 10, "{} archives", found.len());
    found
}

fn read(folder: &std::path::Path, archive: &Value) -> Archive {
    let file = text(&archive["file"]);
    let platform = match text(&archive["platform"]) {
        "gc" => Platform::GameCube,
        "xbox" => Platform::Xbox,
        "ps2" => Platform::PlayStation2,
        other => panic!("platform {other}"),
    };
    let game = match text(&archive["game"]) {
        "bfbb" => Game::Bfbb,
        "scooby" => Game::Scooby,
        "incredibles" => Game::Incredibles,
        other => panic!("game {other}"),
    };
    let opened = open(
        std::fs::read(folder.join(file)).unwrap(),
        Options::default(),
    )
    .unwrap();
    let mut ids = BTreeMap::new();
    for (name, node) in opened.tree.list(opened.tree.find("ids")) {
        let name = String::from_utf8_lossy(name);
        let id = u32::from_str_radix(name.get(..8).unwrap_or(&name), 16).unwrap();
        let entry = opened.tree.entry(*node);
        ids.insert(id, Bytes::from(opened.read(entry).unwrap()));
    }
    let assets = archive["assets"].as_array().unwrap().iter();
    let asset = |asset: &Value| {
        let id = u32::from_str_radix(text(&asset["id"]), 16).unwrap();
        Asset {
            id,
            code: text(&asset["type"]).to_owned(),
            name: text(&asset["name"]).to_owned(),
            layer: text(&asset["layer"]).to_owned(),
            expect: text(&asset["expect"]).to_owned(),
            bytes: ids[&id].clone(),
        }
    };
    Archive {
        name: file.trim_end_matches(".HIP").to_owned(),
        facts: Facts::new(platform, game),
        assets: assets.map(asset).collect(),
    }
}

pub(super) fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

/// Reads an asset of an archive from `bytes`.
pub(super) fn look(archive: &Archive, asset: &Asset, bytes: &Bytes) -> Finding {
    match &*asset.code {
        "SND" | "SNDS" => {
            let tables = archive.of_types(&["SNDI"]);
            let entry = tables
                .map(|table| entries(&table.bytes, &archive.facts))
                .find_map(|table| table.find(asset.id).cloned());
            match entry {
                Some(entry) => look_at_sound(bytes, &entry),
                None => Finding {
                    verdict: Verdict::Odd,
                    text: "has no entry".to_owned(),
                },
            }
        }
        "JSP" if asset.layer == "JSPINFO" => look_at_info(bytes, &archive.facts),
        _ => look_at(&archive.facts, code(&asset.code), bytes),
    }
}

/// Calls `check` with every asset of these types in the samples, and with its
/// companion. Returns false if there are no samples.
pub(super) fn each(types: &[&str], mut check: impl FnMut(&Archive, &Asset, &Path)) -> bool {
    let archives = archives(false);
    let mut seen = 0;
    for archive in &archives {
        let mut assets = archive.of_types(types).peekable();
        if assets.peek().is_none() {
            continue;
        }
        let file = shared(&format!("samples/hip_assets/{}.HIP", archive.name)).unwrap();
        let mount = mounted_files(&[file], "");
        for asset in assets {
            check(archive, asset, &meta(&mount, asset.id));
            seen += 1;
        }
    }
    assert!(seen > 0 || archives.is_empty(), "no assets of {types:?}");
    seen > 0
}

/// Returns the results of the independent reader for the assets of an archive,
/// by name.
pub(super) fn records(archive: &Archive) -> BTreeMap<String, Value> {
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
