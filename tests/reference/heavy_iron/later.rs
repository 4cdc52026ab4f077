//! The objects and tables of the later games in the sample archives beside the repository,
//! as the mount shows them, compared with the results of an independent reader.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::heavy_iron::samples::text;
use crate::shared;
use serde_json::Value;
use testkit::fuse_test;
use testkit::mounted::mounted_files;
use testkit::shown::meta;

/// Number of occurrences of each value.
type Leaves = BTreeMap<String, usize>;

/// A sample archive: its file, the manifest of its assets, and the results of the
/// reader, by asset name.
struct Sample {
    file: PathBuf,
    assets: Vec<Value>,
    known: BTreeMap<String, Value>,
}

fn samples() -> Vec<Sample> {
    let Some(folder) = shared("samples/hip_assets3") else {
        return Vec::new();
    };
    let manifest = fs::read(folder.join("manifest.json")).unwrap();
    let manifest: Value = serde_json::from_slice(&manifest).unwrap();
    let files = manifest["files"].as_array().unwrap().iter();
    let sample = |file: &Value| {
        let name = text(&file["file"]);
        let known = shared(&format!("golden/hip_assets3/{name}.ndjson")).unwrap();
        let known = fs::read_to_string(known).unwrap();
        let known = known.lines().map(|line| {
            let known: Value = serde_json::from_str(line).unwrap();
            (text(&known["asset"]).to_owned(), known)
        });
        Sample {
            file: folder.join(name),
            assets: file["assets"].as_array().unwrap().clone(),
            known: known.collect(),
        }
    };
    files.map(sample).collect()
}

/// Adds a value. Numbers are rounded as in the reader, and empty values are omitted.
fn add(leaves: &mut Leaves, value: &Value) {
    let leaf = match value {
        Value::Object(fields) => return fields.values().for_each(|value| add(leaves, value)),
        Value::Array(values) => return values.iter().for_each(|value| add(leaves, value)),
        Value::Null => return,
        Value::Bool(is_set) => u8::from(*is_set).to_string(),
        Value::Number(number) => format!("{:.3}", number.as_f64().unwrap()),
        Value::String(text) => match text.parse::<f64>() {
            Ok(number) if text.len() != 8 => format!("{number:.3}"),
            _ => text.trim_start_matches("0x").to_owned(),
        },
    };
    *leaves.entry(leaf).or_default() += 1;
}

/// Adds values of the reader. It has the bits of the parameters of events, which are whole
/// numbers in all samples.
fn add_known(leaves: &mut Leaves, known: &Value) {
    match known {
        Value::Object(fields) => {
            for (name, known) in fields {
                match name.starts_with("parameter") {
                    true => add(leaves, &number(known).into()),
                    false => add_known(leaves, known),
                }
            }
        }
        Value::Array(values) => values.iter().for_each(|known| add_known(leaves, known)),
        known => add(leaves, known),
    }
}

/// Returns the number in hexadecimal digits.
fn number(known: &Value) -> u32 {
    u32::from_str_radix(text(known), 16).unwrap()
}

/// Returns the values of all files of an asset.
fn shown(meta: &Path) -> Leaves {
    let mut leaves = Leaves::new();
    for entry in fs::read_dir(meta).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if name.ends_with(".json") {
            let value: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
            add(&mut leaves, &value);
        } else if name.ends_with(".tsv") && !meta.join("object.json").exists() {
            let table = fs::read_to_string(&path).unwrap();
            for cell in table.lines().skip(1).flat_map(|line| line.split('\t')) {
                add(&mut leaves, &cell.into());
            }
        }
    }
    leaves
}

/// Returns the values of the reader that are not shown.
fn missing(known: &Value, mut shown: Leaves) -> Vec<String> {
    let mut wanted = Leaves::new();
    add_known(&mut wanted, &known["fields"]);
    let links = known["links"].as_array().into_iter().flatten();
    for link in links {
        for name in ["event", "send", "target", "param_asset", "check_asset"] {
            add(&mut wanted, &link[name]);
        }
    }
    // An id of 0 is shown as nothing.
    wanted.remove("00000000");
    let mut missing = Vec::new();
    for (leaf, count) in wanted {
        let found = shown.remove(&leaf).unwrap_or_default();
        if found < count {
            missing.push(leaf);
        }
    }
    missing
}

#[fuse_test]
fn objects_of_the_later_games_have_the_values_of_the_independent_reader() {
    let mut compared = 0;
    let mut problems = Vec::new();
    for sample in samples() {
        let mount = mounted_files(std::slice::from_ref(&sample.file), "");
        for asset in &sample.assets {
            let name = text(&asset["name"]);
            let meta = meta(&mount, number(&asset["id"]));
            let place = format!("{}: {name}", sample.file.display());
            let Some(known) = sample.known.get(name) else {
                continue;
            };
            compared += 1;
            let Ok(info) = fs::read(meta.join("info.json")) else {
                problems.push(format!("{place}: is not shown"));
                continue;
            };
            let info: Value = serde_json::from_slice(&info).unwrap();
            // The base types of the samples are made up.
            let warnings = info["warnings"].as_array().into_iter().flatten();
            let is_made_up = |warning: &&Value| text(warning).starts_with("base type");
            let warnings = warnings.filter(|warning| !is_made_up(warning)).count();
            if known.get("error").is_some() {
                if warnings == 0 && !meta.join("error.txt").exists() {
                    problems.push(format!("{place}: no warning about damage"));
                }
                continue;
            }
            let missing = missing(known, shown(&meta));
            if !missing.is_empty() {
                problems.push(format!("{place}: {missing:?}: {}", info["warnings"]));
            } else if warnings > 0 {
                problems.push(format!("{place}: {}", info["warnings"]));
            }
        }
    }
    assert!(
        problems.is_empty(),
        "{} of {compared}:\n{}",
        problems.len(),
        problems.join("\n")
    );
    assert!(compared == 0 || compared == 2354, "{compared}");
}
