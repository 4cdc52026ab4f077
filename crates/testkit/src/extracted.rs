//! HIP archives extracted to folders and packed again.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use hpimount_containers::text::{Name, file_name};
use serde_json::Value;

use crate::record::{Node, Opened};

/// Writes `types/` of an archive to a directory, as `cp -rL` does.
pub fn extract(opened: &Opened, directory: &Path) {
    for (folder, node) in opened.tree.list(opened.tree.find("types")) {
        let folder = directory.join(&*file_name(Name::windows_1252(folder)));
        let Node::Dir(entries) = &opened.tree.nodes[node.0 as usize] else {
            let entry = opened.tree.entry(*node);
            fs::write(folder, opened.read(entry).unwrap()).unwrap();
            continue;
        };
        fs::create_dir(&folder).unwrap();
        for (name, file) in entries {
            let path = folder.join(&*file_name(Name::windows_1252(name)));
            let bytes = opened.read(opened.tree.entry(*file)).unwrap();
            fs::write(path, bytes).unwrap();
        }
    }
}

/// Metadata and bytes of an asset.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct AssetFacts {
    pub id: String,
    pub kind: String,
    pub name: String,
    pub source_file: String,
    pub flags: String,
    pub checksum: String,
    pub bytes: Vec<u8>,
}

/// Returns the assets of an archive, by id.
pub fn assets(opened: &Opened) -> Vec<AssetFacts> {
    let ids = opened.tree.list(opened.tree.find("ids"));
    let mut assets: Vec<_> = ids
        .iter()
        .map(|&(_, node)| {
            let entry = opened.tree.entry(node);
            let mut attributes = opened.attributes(entry.file);
            let mut take = |name: &str| {
                let value = attributes.remove(&*format!("user.hip.{name}"));
                value.map_or_else(String::new, |value| value.unwrap())
            };
            AssetFacts {
                id: take("id"),
                kind: take("type"),
                name: take("name"),
                source_file: take("source_file"),
                flags: take("flags"),
                checksum: take("checksum"),
                bytes: opened.read(entry).unwrap(),
            }
        })
        .collect();
    assets.sort();
    assets
}

/// Returns the ids in each layer of an archive.
pub fn layers(opened: &Opened) -> Vec<(u64, BTreeSet<String>)> {
    let info = opened.archive.info();
    let layers = info["layers"].as_array().unwrap();
    let folders = opened.tree.list(opened.tree.find("layers"));
    let ids = |folder| {
        let files = opened.tree.list(folder).iter();
        let id = |file| opened.archive.xattr(file, "user.hip.id").unwrap().unwrap();
        files
            .map(|&(_, node)| id(opened.tree.entry(node).file))
            .collect()
    };
    layers
        .iter()
        .zip(folders)
        .map(|(layer, &(_, folder))| (layer["type"].as_u64().unwrap(), ids(folder)))
        .collect()
}

/// Returns the metadata of an archive, except for the parts that depend on its layout.
pub fn package(opened: &Opened) -> Value {
    let mut info = opened.archive.info();
    let mut package = info["PACK"].take();
    for maximum in ["maxAssetSize", "maxLayerSize", "maxXformAssetSize"] {
        package["PCNT"][maximum].take();
    }
    serde_json::json!({
        "game": info["game"],
        "platform": info["platform"],
        "PACK": package,
        "DICT": info["DICT"],
        "DHDR": info["STRM"]["DHDR"],
        "HIPB": info["HIPB"],
    })
}
