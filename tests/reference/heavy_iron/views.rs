//! Objects and tables of Heavy Iron's games, read through the kernel and
//! compared with the results of independent readers.

use std::collections::BTreeMap;
use std::fs;

use crate::heavy_iron::samples::{each, records};
use serde_json::Value;
use testkit::fuse_test;
use testkit::shown::rows;
use testkit::sources::{json, names};

#[fuse_test]
fn objects_have_the_fields_and_links_that_the_independent_reader_finds() {
    let mut compared = 0;
    let ran = each(OBJECTS, |archive, asset, meta| {
        let known = records(archive).remove(&asset.name);
        let known = known.filter(|_| asset.expect == "ok");
        let Some(Value::Object(known)) = known else {
            return;
        };
        let shown = format!("{}: {}", archive.name, asset.name);
        let ours = json(&meta.join("object.json"));
        assert_eq!(ours["type"], known["type"], "{shown}");
        assert_eq!(ours["header"]["id"], known["id"], "{shown}");
        let length = ours["header"]["link_count"].as_u64().unwrap();
        for (name, value) in &known {
            let mut field = field(&ours, name);
            if name == "links" {
                without_words(&mut field);
            }
            let is_named = !["objects_ps2", "objects_scooby"].contains(&archive.name.as_str());
            if !is_named && name == "links" {
                // The reader has names of events for one game only.
                assert_eq!(field.as_array().unwrap().len() as u64, length, "{shown}");
                continue;
            }
            if name == "rest_hex" {
                // The reader stops before the parts of an object.
                let rest = field.as_str().unwrap_or_default();
                assert!(value.as_str().unwrap().ends_with(rest), "{shown}: {rest}");
                continue;
            }
            if let Some(field) = OTHERWISE.iter().all(|one| one != name).then_some(field) {
                assert!(agree(&field, value), "{shown}: {name}: {field} != {value}");
            }
        }
        let links = fs::read_to_string(meta.join("links.tsv")).unwrap();
        assert_eq!(links.lines().count() as u64, 1 + length, "{links}");
        compared += 1;
    });
    assert!(!ran || compared >= 100, "{compared}");
}

/// Removes the words for events, which the reader lacks.
fn without_words(links: &mut Value) {
    for link in links.as_array_mut().unwrap() {
        let link = link.as_object_mut().unwrap();
        link.retain(|name, _| !["event_word", "send_word"].contains(&name.as_str()));
    }
}

/// The types of objects in the samples.
const OBJECTS: &[&str] = &[
    "BOUL", "BUTN", "CAM", "CNTR", "COND", "CSNM", "DPAT", "DSCO", "DSTR", "DYNA", "EGEN", "ENV",
    "FOG", "GRUP", "MVPT", "PARE", "PARP", "PARS", "PKUP", "PLAT", "PLYR", "PORT", "SFX", "SIMP",
    "SURF", "TIMR", "TRIG", "UI", "UIFT", "VIL",
];

/// Fields that the reader shows differently, or that are compared separately.
const OTHERWISE: [&str; 9] = [
    "asset",
    "id",
    "type",
    "base_type",
    "flags",
    "variable",
    "notes",
    "link_count",
    "_short",
];

/// Returns the field that has this name in the reader.
fn field(object: &Value, name: &str) -> Value {
    let own = match name {
        "items" | "next_points" => Some("list"),
        "rest_hex" => Some("rest"),
        "links" | "light_kit" => Some(name),
        _ => None,
    };
    let parts = ["dyna", "body", "entity"].map(|part| object[part].get(name));
    match own {
        Some("list") if object.get("list").is_none() => Value::Array(Vec::new()),
        Some(own) => object[own].clone(),
        None => parts
            .into_iter()
            .flatten()
            .next()
            .cloned()
            .unwrap_or_default(),
    }
}

/// Returns whether two values are equal if numbers are rounded to 32 bits.
fn agree(ours: &Value, known: &Value) -> bool {
    match (ours, known) {
        (Value::Array(ours), Value::Array(known)) => {
            ours.len() == known.len() && ours.iter().zip(known).all(|(a, b)| agree(a, b))
        }
        (Value::Object(ours), Value::Object(known)) => {
            ours.len() == known.len()
                && known
                    .iter()
                    .all(|(name, value)| agree(ours.get(name).unwrap_or(&Value::Null), value))
        }
        (Value::Number(ours), Value::Number(known)) => {
            ours.as_f64().map(|value| value as f32) == known.as_f64().map(|value| value as f32)
        }
        _ => ours == known,
    }
}

/// Columns of tables that have other names in the reader, which come first.
const COLUMNS: [(&str, &str); 16] = [
    ("anim", "animation"),
    ("d1", "distance1"),
    ("d2", "distance2"),
    ("d3", "distance3"),
    ("unk", "unknown"),
    ("light_type", "type"),
    ("r", "red"),
    ("g", "green"),
    ("b", "blue"),
    ("a", "alpha"),
    ("rw", "right_w"),
    ("uw", "up_w"),
    ("aw", "at_w"),
    ("pos", "position"),
    ("pw", "position_w"),
    ("plat", ""),
];

#[fuse_test]
fn tables_have_the_rows_that_the_independent_reader_finds() {
    let types = [
        "LODT", "PIPT", "COLL", "SHDW", "PICK", "MAPR", "LKIT", "MINF", "ATBL", "ALST",
    ];
    let mut compared = 0;
    let ran = each(&types, |archive, asset, meta| {
        let known = records(archive).remove(&asset.name);
        let Some(known) = known.filter(|_| asset.expect == "ok") else {
            return;
        };
        let lists = ["entries", "lights", "models", "states", "anims"];
        let Some(list) = lists.iter().find_map(|list| known[list].as_array()) else {
            return;
        };
        let shown = format!("{}: {}", archive.name, asset.name);
        let ours = rows(&meta.join("table.tsv"));
        assert_eq!(ours.len(), list.len(), "{shown}");
        for (row, known) in ours.iter().zip(list) {
            let one = serde_json::json!({ "animation": known });
            let fields = match asset.code.as_str() {
                "ALST" => &one,
                _ => known,
            };
            for (name, value) in fields.as_object().unwrap() {
                // `index` is the number of the row.
                let name = match (asset.code.as_str(), name.as_str()) {
                    ("PICK", "index") => "pickup_index",
                    (_, name) => name,
                };
                check_cell(&shown, row, name, value);
            }
        }
        compared += 1;
    });
    assert!(!ran || compared >= 30, "{compared}");
}

fn check_cell(shown: &str, row: &BTreeMap<String, String>, name: &str, value: &Value) {
    let renamed = COLUMNS.iter().find(|(theirs, _)| *theirs == name);
    let name = renamed.map_or(name, |(_, ours)| ours);
    if name.is_empty() {
        return;
    }
    let cell = |suffix: &str| row[&format!("{name}{suffix}")].as_str();
    match value {
        Value::Array(parts) => {
            for (part, axis) in parts.iter().zip(["_x", "_y", "_z"]) {
                check_number(shown, cell(axis), part);
            }
        }
        Value::Null => assert_eq!((cell(""), cell("_name")), ("", ""), "{shown}: {name}"),
        Value::Object(reference) => {
            let id = cell("").trim_start_matches("0x");
            assert_eq!(id, reference["id"], "{shown}: {name}");
            let known = reference.get("name").and_then(Value::as_str);
            assert_eq!(cell("_name"), known.unwrap_or_default(), "{shown}: {name}");
        }
        number => check_number(shown, cell(""), number),
    }
}

fn check_number(shown: &str, cell: &str, known: &Value) {
    let ours = cell.parse::<f64>().unwrap() as f32;
    assert_eq!(ours, known.as_f64().unwrap() as f32, "{shown}");
}

#[fuse_test]
fn small_assets_are_tables_with_their_numbers() {
    each(&["MRKR"], |archive, asset, meta| {
        let Some(known) = records(archive).remove(&asset.name) else {
            return;
        };
        let row = &rows(&meta.join("table.tsv"))[0];
        for (part, axis) in known["pos"].as_array().unwrap().iter().zip(["x", "y", "z"]) {
            check_number(&asset.name, &row[axis], part);
        }
    });
    each(&["ANIM", "JAW", "FLY"], |archive, asset, meta| {
        let known = records(archive).remove(&asset.name);
        let Some(known) = known.filter(|_| asset.expect == "ok") else {
            return;
        };
        let ours = rows(&meta.join("table.tsv"));
        let count = match asset.code.as_str() {
            "ANIM" => known["keys"].as_u64(),
            "FLY" => known["frames"].as_u64(),
            _ => known["entries"].as_array().map(|list| list.len() as u64),
        };
        assert_eq!(Some(ours.len() as u64), count, "{}", asset.name);
    });
}

#[fuse_test]
fn an_animation_of_another_format_has_an_error() {
    each(&["ANIM"], |_, asset, meta| {
        if asset.name == "not_an_anim.anm" {
            let files = [
                "error.txt",
                "info.json",
                "info.txt",
                "table.tsv",
                "times.tsv",
            ];
            assert_eq!(names(meta), files);
            for table in &files[3..] {
                assert!(rows(&meta.join(table)).is_empty(), "{table}");
            }
            let error = fs::read_to_string(meta.join("error.txt")).unwrap();
            assert!(error.starts_with("magic at 0x0: "), "{error}");
        }
    });
}
