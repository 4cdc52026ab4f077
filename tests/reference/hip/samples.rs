//! The results of an independent reader for the HIP samples beside the
//! repository, and its known errors.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use hpimount_containers::text::windows_1252;
use serde_json::Value;

use crate::shared;

/// Folders of samples, and the minimum number of archives in each.
const FOLDERS: [(&str, usize); 3] = [("real", 1), ("peer", 60), ("synthetic", 40)];

/// A sample and the known facts about it.
pub(super) struct Golden {
    pub name: String,
    pub path: PathBuf,
    expected: Value,
}

/// Returns all samples; `None` if they are absent.
pub(super) fn samples() -> Option<Vec<Golden>> {
    let (golden, samples) = (shared("golden/hip")?, shared("samples/hip")?);
    let mut all = Vec::new();
    for (folder, least) in FOLDERS {
        let before = all.len();
        for file in std::fs::read_dir(golden.join(folder)).unwrap() {
            let path = file.unwrap().path();
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            all.push(Golden {
                path: samples.join(folder).join(&name),
                name,
                expected: serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap(),
            });
        }
        let found = all.len() - before;
        assert!(found >= least, "{folder} has {found} samples");
    }
    Some(all)
}

impl Golden {
    /// Returns whether it is not an archive, or truncated in its directory.
    pub(super) fn is_refused(&self) -> bool {
        self.expected.get("error").is_some()
    }

    /// Compares `info.json`. The independent reader considers everything
    /// without PLAT Scooby, and ignores alignments; and the headers do not
    /// distinguish the first two games of the Incredibles family.
    pub(super) fn check_info(&self, info: &Value) {
        let game = match (&*self.name, text(&self.expected["game"]).as_str()) {
            ("no_plat_bfbb_version.HIP" | "only_hipa.HIP", "scooby") => "unknown".to_owned(),
            (_, "incredibles") => "incredibles/tssm".to_owned(),
            (_, game) => game.to_owned(),
        };
        assert_eq!(info["game"], game, "{}", self.name);
        let platform = match (&*self.name, text(&self.expected["platform"]).as_str()) {
            // Its first asset is aligned to 32 bytes and not to 2048.
            ("pkr_v1_no_checksum.HIP", "unknown") => "gc".to_owned(),
            (_, platform) => platform.to_owned(),
        };
        assert_eq!(info["platform"], platform, "{}", self.name);
        self.check_package(&info["PACK"]);
    }

    fn check_package(&self, found: &Value) {
        let expected = &self.expected["pack"];
        for (block, field, name) in [
            ("PVER", "subVersion", "sub"),
            ("PVER", "compatVersion", "compat"),
            ("PCNT", "assetCount", "assets"),
            ("PCNT", "layerCount", "layers"),
            ("PCNT", "maxAssetSize", "max_asset"),
            ("PCNT", "maxLayerSize", "max_layer"),
            ("PCNT", "maxXformAssetSize", "max_xform"),
            ("PCRT", "createdDate", "time"),
            ("PCRT", "createdDateString", "string"),
        ] {
            let (found, expected) = (&found[block][field], &expected[block][name]);
            assert_eq!(found, expected, "{} {block} {field}", self.name);
        }
        assert_eq!(found["PMOD"], expected["PMOD"], "{}", self.name);
        assert_eq!(found["PLAT"], expected["PLAT"], "{}", self.name);
    }

    /// Returns the creation time in the archive, in seconds since 1970.
    pub(super) fn created(&self) -> Option<i64> {
        self.expected["pack"]["PCRT"]["time"].as_i64()
    }

    /// Returns the names of the layers' folders, and the ids of the existing
    /// assets in each.
    pub(super) fn layers(&self) -> Vec<(String, Vec<String>)> {
        let known: BTreeSet<String> = ids(self.assets());
        let layer = |layer: &Value| {
            let number = layer["index"].as_u64().unwrap();
            let kind = match text(&layer["name"]).strip_prefix("UNK") {
                Some(number) => format!("TYPE_{number}"),
                None => text(&layer["name"]),
            };
            let given = &self.expected["hipb"]["layer_names"][number.to_string()];
            let given = given.as_str().map(|name| format!(" {name}"));
            let mut ids: Vec<String> = list(&layer["ids"]).iter().map(text).collect();
            ids.retain(|id| known.contains(id));
            (
                format!("{number:02}-{kind}{}", given.unwrap_or_default()),
                ids,
            )
        };
        list(&self.expected["layers"]).iter().map(layer).collect()
    }

    /// Returns whether there are assets of no layer.
    pub(super) fn has_unlayered(&self) -> bool {
        let unlayered = |asset: &Value| list(&asset["layers"]).is_empty();
        self.assets().iter().any(unlayered)
    }

    /// Returns the assets, in the order of the archive.
    pub(super) fn assets(&self) -> &[Value] {
        list(&self.expected["assets"])
    }

    /// Compares the attributes of an asset; `named` returns one of them, empty
    /// if the asset does not have it.
    pub(super) fn check_attributes(&self, asset: &Value, named: impl Fn(&str) -> String) {
        let shown = self.shown(asset);
        let layers: Vec<String> = list(&asset["layers"])
            .iter()
            .map(Value::to_string)
            .collect();
        let align = asset["align"].as_i64().map(|align| align.to_string());
        for (name, expected) in [
            ("id", text(&asset["id"])),
            ("type", latin_1(&asset["type"])),
            ("flags", asset["flags"].to_string()),
            ("offset", asset["offset"].to_string()),
            ("layer", layers.join(",")),
            ("name", latin_1(&asset["name"])),
            ("source_file", latin_1(&asset["filename"])),
            ("alignment", align.unwrap_or_default()),
            ("checksum", text(&asset["crc_stored"])),
        ] {
            assert_eq!(named(name), expected, "{shown}: {name}");
        }
    }

    /// Returns the description of an asset for failures.
    pub(super) fn shown(&self, asset: &Value) -> String {
        format!("{} {}", self.name, asset["id"])
    }

    /// Asserts that `assets.tsv` has a row for every asset of every layer, with
    /// the sizes and paddings.
    pub(super) fn check_table(&self, table: &str) {
        let mut found: BTreeMap<String, u32> = BTreeMap::new();
        for line in table.lines().skip(1) {
            let cells: Vec<&str> = line.split('\t').collect();
            assert_eq!(cells.len(), 14, "{}: {line}", self.name);
            let row = format!("{} {} {} {}", cells[0], cells[2], cells[6], cells[8]);
            *found.entry(row).or_default() += 1;
        }
        let mut expected: BTreeMap<String, u32> = BTreeMap::new();
        for asset in self.assets() {
            let layers = list(&asset["layers"]).iter();
            let mut layers: Vec<String> = layers.map(Value::to_string).collect();
            if layers.is_empty() {
                layers.push(String::new());
            }
            let id = text(&asset["id"]);
            for layer in layers {
                let row = format!("{layer} {id} {} {}", asset["size"], asset["plus"]);
                *expected.entry(row).or_default() += 1;
            }
        }
        assert_eq!(found, expected, "{}", self.name);
    }
}

/// Returns the size of an asset in bytes.
pub(super) fn size(asset: &Value) -> u64 {
    asset["size"].as_u64().unwrap()
}

/// Returns whether an asset extends past the end of an archive of that many
/// bytes. The independent reader truncates it; in hpimount the missing bytes
/// are an error.
pub(super) fn reaches_past(asset: &Value, end: u64) -> bool {
    size(asset) > 0 && asset["offset"].as_u64().unwrap() + size(asset) > end
}

/// Returns the SHA-256 of an asset.
pub(super) fn digest(asset: &Value) -> String {
    text(&asset["sha256"])
}

/// Returns whether the checksum of an asset is right, or `unset`.
pub(super) fn verdict(asset: &Value) -> String {
    let verdict = asset["crc_ok"].as_bool();
    verdict.map_or("unset".to_owned(), |ok| ok.to_string())
}

fn ids(assets: &[Value]) -> BTreeSet<String> {
    assets.iter().map(|asset| text(&asset["id"])).collect()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// Decodes a text with one character per byte as Windows-1252.
fn latin_1(value: &Value) -> String {
    let bytes: Vec<u8> = text(value).chars().map(|byte| byte as u8).collect();
    windows_1252(&bytes).into_owned()
}
