//! The samples beside the repository, against what an independent reader
//! found in them.

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use hpimount::archive::{FileId, Options};
use hpimount::io::Error;
use hpimount::text::windows_1252;
use serde_json::Value;
use sha2::{Digest, Sha256};
use support::record::{Opened, open};
use support::shared;

/// Folders of samples, and how many archives each has at least.
const FOLDERS: [(&str, usize); 3] = [("real", 1), ("peer", 60), ("synthetic", 40)];

#[test]
fn every_sample_is_what_the_independent_reader_says() {
    let (Some(golden), Some(samples)) = (shared("golden/hip"), shared("samples/hip")) else {
        return;
    };
    for (folder, least) in FOLDERS {
        let mut found = 0;
        for file in std::fs::read_dir(golden.join(folder)).unwrap() {
            let path = file.unwrap().path();
            let name = path.file_stem().unwrap().to_str().unwrap();
            let expected = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
            Sample::new(name, &samples.join(folder).join(name), &expected).check();
            found += 1;
        }
        assert!(found >= least, "{folder} has {found} samples");
    }
}

struct Sample<'a> {
    name: &'a str,
    bytes: Vec<u8>,
    expected: &'a Value,
}

impl<'a> Sample<'a> {
    fn new(name: &'a str, path: &Path, expected: &'a Value) -> Self {
        Self {
            name,
            bytes: std::fs::read(path).unwrap(),
            expected,
        }
    }

    fn check(&self) {
        let opened = open(self.bytes.clone(), Options::default());
        if self.expected.get("error").is_some() {
            assert!(opened.is_err(), "{}", self.name);
            return;
        }
        let opened = opened.unwrap_or_else(|error| panic!("{}: {error}", self.name));
        self.check_identity(&opened);
        self.check_package(&opened);
        self.check_layers(&opened);
        for (number, asset) in (0..).zip(list(&self.expected["assets"])) {
            self.check_asset(&opened, FileId(number), asset);
        }
        self.check_table(&opened);
    }

    /// The independent reader calls everything without PLAT Scooby and never
    /// looks at alignments; and the headers do not tell the first two games of
    /// the Incredibles family apart.
    fn check_identity(&self, opened: &Opened) {
        let info = opened.archive.info();
        let game = match (self.name, text(&self.expected["game"]).as_str()) {
            ("no_plat_bfbb_version.HIP" | "only_hipa.HIP", "scooby") => "unknown".to_owned(),
            (_, "incredibles") => "incredibles/tssm".to_owned(),
            (_, game) => game.to_owned(),
        };
        assert_eq!(info["game"], game, "{}", self.name);
        let platform = match (self.name, text(&self.expected["platform"]).as_str()) {
            // Its first asset is aligned to 32 bytes and not to 2048.
            ("pkr_v1_no_checksum.HIP", "unknown") => "gc".to_owned(),
            (_, platform) => platform.to_owned(),
        };
        assert_eq!(info["platform"], platform, "{}", self.name);
    }

    fn check_package(&self, opened: &Opened) {
        let found = &opened.archive.info()["PACK"];
        let expected = &self.expected["pack"];
        for (field, name) in [("subVersion", "sub"), ("compatVersion", "compat")] {
            assert_eq!(
                found["PVER"][field], expected["PVER"][name],
                "{}",
                self.name
            );
        }
        for (field, name) in [
            ("assetCount", "assets"),
            ("layerCount", "layers"),
            ("maxAssetSize", "max_asset"),
            ("maxLayerSize", "max_layer"),
            ("maxXformAssetSize", "max_xform"),
        ] {
            assert_eq!(
                found["PCNT"][field], expected["PCNT"][name],
                "{}",
                self.name
            );
        }
        let created = &found["PCRT"];
        assert_eq!(
            created["createdDate"], expected["PCRT"]["time"],
            "{}",
            self.name
        );
        assert_eq!(created["createdDateString"], expected["PCRT"]["string"]);
        assert_eq!(found["PMOD"], expected["PMOD"], "{}", self.name);
        assert_eq!(found["PLAT"], expected["PLAT"], "{}", self.name);
    }

    /// Layer folders have the right names, and in them stand the assets that
    /// are there, each once.
    fn check_layers(&self, opened: &Opened) {
        let known: BTreeSet<String> = list(&self.expected["assets"])
            .iter()
            .map(|asset| text(&asset["id"]))
            .collect();
        let mut folders = opened.tree.names("layers").into_iter();
        for layer in list(&self.expected["layers"]) {
            let number = &layer["index"];
            let kind = match text(&layer["name"]).strip_prefix("UNK") {
                Some(number) => format!("TYPE_{number}"),
                None => text(&layer["name"]),
            };
            let given = &self.expected["hipb"]["layer_names"][number.to_string()];
            let given = given
                .as_str()
                .map_or_else(String::new, |name| format!(" {name}"));
            let folder = folders.next().unwrap();
            let number = number.as_u64().unwrap();
            assert_eq!(
                folder,
                format!("{number:02}-{kind}{given}"),
                "{}",
                self.name
            );

            let mut ids: Vec<String> = list(&layer["ids"]).iter().map(text).collect();
            ids.retain(|id| known.contains(id));
            let layers = opened.tree.list(opened.tree.find("layers"));
            let (_, node) = layers[number as usize];
            let found: Vec<String> = opened
                .tree
                .list(node)
                .iter()
                .map(|&(_, file)| attribute(opened, opened.tree.entry(file).file, "id"))
                .collect();
            assert_eq!(found, ids, "{} {folder}", self.name);
        }
        let unlayered = list(&self.expected["assets"])
            .iter()
            .any(|asset| list(&asset["layers"]).is_empty());
        assert_eq!(folders.next().is_some(), unlayered, "{}", self.name);
    }

    fn check_asset(&self, opened: &Opened, file: FileId, asset: &Value) {
        let named = |name| attribute(opened, file, name);
        let shown = format!("{} {}", self.name, named("id"));
        assert_eq!(named("id"), text(&asset["id"]));
        assert_eq!(named("type"), latin_1(&asset["type"]), "{shown}");
        assert_eq!(named("flags"), asset["flags"].to_string(), "{shown}");
        assert_eq!(named("offset"), asset["offset"].to_string(), "{shown}");
        let layers: Vec<String> = list(&asset["layers"])
            .iter()
            .map(Value::to_string)
            .collect();
        assert_eq!(named("layer"), layers.join(","), "{shown}");
        assert_eq!(named("name"), latin_1(&asset["name"]), "{shown}");
        assert_eq!(named("source_file"), latin_1(&asset["filename"]), "{shown}");
        let align = asset["align"].as_i64().map(|align| align.to_string());
        assert_eq!(named("alignment"), align.unwrap_or_default(), "{shown}");
        let checksum = asset["crc_stored"].as_str().unwrap_or_default();
        assert_eq!(named("checksum"), checksum, "{shown}");
        self.check_bytes(opened, file, asset, &shown);
    }

    /// The independent reader cuts assets off that reach past the end of the
    /// file; here the bytes that are not there are an error.
    fn check_bytes(&self, opened: &Opened, file: FileId, asset: &Value, shown: &str) {
        let offset = asset["offset"].as_u64().unwrap();
        let size = asset["size"].as_u64().unwrap();
        let verdict = opened.archive.xattr(file, "user.hip.checksum_ok");
        if size > 0 && offset + size > self.bytes.len() as u64 {
            let last = opened.archive.read_stored(file, size - 1, &mut [0]);
            assert!(matches!(last, Err(Error::Read { .. })), "{shown}");
            assert_eq!(verdict.is_err(), !asset["crc_ok"].is_null(), "{shown}");
            return;
        }
        let mut bytes = vec![0; size as usize];
        if size > 0 {
            opened.archive.read_stored(file, 0, &mut bytes).unwrap();
        }
        assert_eq!(
            hex(&Sha256::digest(&bytes)),
            text(&asset["sha256"]),
            "{shown}"
        );
        let expected = asset["crc_ok"]
            .as_bool()
            .map_or("unset".to_owned(), |ok| ok.to_string());
        assert_eq!(verdict.unwrap().unwrap(), expected, "{shown}");
    }

    /// `assets.tsv` has a row for every asset of every layer, with the sizes
    /// and paddings; and every asset is in `ids` and `types`.
    fn check_table(&self, opened: &Opened) {
        let table = opened.text("assets.tsv");
        let mut found: BTreeMap<String, u32> = BTreeMap::new();
        for line in table.lines().skip(1) {
            let cells: Vec<&str> = line.split('\t').collect();
            assert_eq!(cells.len(), 14, "{}: {line}", self.name);
            let row = format!("{} {} {} {}", cells[0], cells[2], cells[6], cells[8]);
            *found.entry(row).or_default() += 1;
        }
        let mut expected: BTreeMap<String, u32> = BTreeMap::new();
        let assets = list(&self.expected["assets"]);
        for asset in assets {
            let mut layers: Vec<String> = list(&asset["layers"])
                .iter()
                .map(Value::to_string)
                .collect();
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
        assert_eq!(opened.tree.names("ids").len(), assets.len());
        let folders = opened.tree.names("types");
        let in_types = folders.iter().filter(|folder| *folder != "Settings.ini");
        let count = in_types.map(|folder| opened.tree.names(&format!("types/{folder}")).len());
        assert_eq!(count.sum::<usize>(), assets.len(), "{}", self.name);
    }
}

/// An attribute, empty where the asset does not have it.
fn attribute(opened: &Opened, file: FileId, name: &str) -> String {
    let value = opened.archive.xattr(file, &format!("user.hip.{name}"));
    value.unwrap().unwrap_or_default()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// Text whose characters are the numbers of the bytes, read as Windows-1252.
fn latin_1(value: &Value) -> String {
    let bytes: Vec<u8> = text(value).chars().map(|byte| byte as u8).collect();
    windows_1252(&bytes).into_owned()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
