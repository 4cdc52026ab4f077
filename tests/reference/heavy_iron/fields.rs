//! The fields of every type of object, kind of platform, motion, emitter,
//! command and fragment, compared with the results of an independent reader.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use serde_json::{Value as Json, json};

use crate::heavy_iron::objects::agrees;
use crate::heavy_iron::samples::text;
use crate::shared;
use hpimount_containers::text::windows_1252;
use hpimount_heavy_iron::object::{self, Object};
use hpimount_heavy_iron::parts::Part;
use hpimount_heavy_iron::record::{Rows, Value};
use hpimount_heavy_iron::{Facts, Game, Platform, tables};
use testkit::files::walk;
use testkit::fuse_test;
use testkit::look;
use testkit::mounted::mounted_files;

/// Our fields of parts, by name, such as `motion.speed`; in a list with their number,
/// such as `commands.3.acc`.
type Finding = BTreeMap<String, Value>;

fn add(found: &mut Finding, prefix: &str, parts: &[Part]) {
    for part in parts {
        let name = match part.name {
            "body" | "dyna" | "entity" => String::new(),
            name => format!("{name}."),
        };
        let item = part.item.map_or(String::new(), |item| format!("{item}."));
        for (field, value) in part.record.fields() {
            let name = format!("{prefix}{name}{item}{field}");
            assert!(found.insert(name.clone(), value).is_none(), "{name} twice");
        }
    }
}

/// Asserts that a value of the reader equals ours, and returns the number of compared
/// fields. Its lists of numbers are several fields or one vector.
fn check(shown: &str, found: &Finding, name: &str, known: &Json) -> usize {
    if let Some(value) = found.get(name) {
        let is_same = match (value, known) {
            // The reader has ids in words.
            (Value::Id(id), Json::String(known)) => format!("{id:08X}") == *known,
            (Value::Unsigned(number), Json::String(known)) => format!("{number:08X}") == *known,
            _ => agrees(*value, known),
        };
        assert!(is_same, "{shown}: {name}: {value:?} should be {known}");
        return 1;
    }
    let within = |key: &str| match name {
        "" => key.to_owned(),
        name => format!("{name}.{key}"),
    };
    match known {
        Json::Object(fields) => {
            let fields = fields.iter().filter(|(key, _)| *key != "kind");
            fields
                .map(|(key, known)| check(shown, found, &within(key), known))
                .sum()
        }
        Json::Array(items) if items.iter().all(Json::is_object) => (0..)
            .zip(items)
            .map(|(number, known)| check(shown, found, &format!("{name}.{number}"), known))
            .sum(),
        Json::Array(items) => (0..)
            .zip(items)
            .map(|(number, known)| check(shown, found, &format!("{name}{number}"), known))
            .sum(),
        known => panic!("{shown}: no {name}, which should be {known}"),
    }
}

/// Asserts that parts have the kinds that the reader found.
fn check_kinds(shown: &str, parts: &[Part], known: &Json) {
    fn of<'a>(known: &'a Json, all: &mut Vec<&'a str>) {
        match known {
            Json::Object(fields) => {
                all.extend(fields.get("kind").and_then(Json::as_str));
                fields.values().for_each(|known| of(known, all));
            }
            Json::Array(items) => items.iter().for_each(|known| of(known, all)),
            _ => {}
        }
    }
    let mut theirs = Vec::new();
    of(known, &mut theirs);
    let mut ours: Vec<_> = parts.iter().filter_map(|part| part.kind).collect();
    for kind in theirs {
        let found = ours.iter().position(|ours| *ours == kind);
        ours.swap_remove(found.unwrap_or_else(|| panic!("{shown}: no {kind} in {parts:?}")));
    }
    // The reader has no words for kinds without fields.
    for kind in ours {
        let part = parts.iter().find(|part| part.kind == Some(kind)).unwrap();
        assert_eq!(part.record.fields().count(), 0, "{shown}: {kind}");
    }
}

fn check_object(shown: &str, object: &Object, known: &Json, is_odd: bool) {
    let mut known = known.clone();
    let fields = known.as_object_mut().unwrap();
    let left = fields.remove("left").unwrap().as_u64().unwrap();
    let unread = fields.remove("unread").map_or(0, |u| u.as_u64().unwrap());
    assert_eq!(object.rest.len() as u64, left + unread, "{shown}");
    assert_eq!(
        object.warnings.is_empty(),
        !is_odd,
        "{shown}: {:?}",
        object.warnings
    );
    if let Some(floor) = &object.floor {
        for (number, name) in ["off_prefix", "transition_prefix", "on_prefix"]
            .iter()
            .enumerate()
        {
            let known = fields.remove(*name).unwrap();
            assert_eq!(
                windows_1252(&floor.prefixes[number]),
                text(&known),
                "{shown}"
            );
        }
        let states = fields.remove("states").unwrap();
        assert_eq!(states, json!(floor.states().collect::<Vec<_>>()), "{shown}");
        assert_eq!(fields.remove("tiles"), Some(json!(floor.tiles)), "{shown}");
    }
    let mut found = Finding::new();
    add(&mut found, "", &object.parts);
    let compared = check(shown, &found, "", &known);
    check_kinds(shown, &object.parts, &known);
    // The reader omits the fields common to all entities, and the fields of a floor
    // were compared above.
    let entity = object.parts.iter().filter(|part| part.name == "entity");
    let entity: usize = entity.map(|part| part.record.fields().count()).sum();
    let floor = object.floor.as_ref().map_or(0, |_| 4);
    assert_eq!(compared + entity + floor, found.len(), "{shown}: {found:?}");
}

fn check_shrapnel(shown: &str, bytes: &Bytes, facts: &Facts, known: &Json, is_bad: bool) {
    let model = tables::parse_shrapnel(bytes, facts).unwrap();
    assert_eq!(
        !model.warnings.is_empty(),
        is_bad,
        "{shown}: {:?}",
        model.warnings
    );
    if is_bad {
        assert_eq!(model.rest.len(), bytes.len() - 12, "{shown}");
        return;
    }
    assert_eq!(format!("{:08X}", model.id), text(&known["own"]), "{shown}");
    assert!(model.rest.is_empty(), "{shown}");
    let fragments = known["fragments"].as_array().unwrap();
    assert_eq!(model.fragments.len(), fragments.len(), "{shown}");
    for (ours, known) in model.fragments.iter().zip(fragments) {
        assert_eq!(ours.kind, text(&known["kind"]), "{shown}");
        let mut found = Finding::new();
        add(&mut found, "", &ours.parts);
        let compared = check(shown, &found, "", known);
        // The reader has no numbers of kinds.
        let numbers = found.keys().filter(|name| name.ends_with("type")).count();
        assert_eq!(compared + numbers, found.len(), "{shown}: {found:?}");
    }
}

#[test]
fn every_kind_of_object_is_read_to_its_last_byte() {
    let Some(folder) = shared("samples/hip_assets2") else {
        return;
    };
    let read = |path: &str| std::fs::read(shared(path).unwrap()).unwrap();
    let manifest: Json =
        serde_json::from_slice(&std::fs::read(folder.join("manifest.json")).unwrap()).unwrap();
    let mut seen = 0;
    for file in manifest["files"].as_array().unwrap() {
        let shown = text(&file["file"]);
        if !shown.starts_with("fields/") {
            continue;
        }
        let bytes = Bytes::from(read(&format!("samples/hip_assets2/{shown}")));
        let known = read(&format!("golden/hip_assets2/{shown}.json"));
        let known: Json = serde_json::from_slice(&known).unwrap();
        let platform = match text(&file["endian"]) {
            "big" => Platform::GameCube,
            _ => Platform::Xbox,
        };
        let facts = Facts::new(platform, Game::Bfbb);
        let (kind, expect) = (text(&file["type"]), text(&file["expect"]));
        match kind {
            "SHRP" => check_shrapnel(shown, &bytes, &facts, &known, expect == "bad"),
            "VILP" => {
                let list = tables::parse_list(&bytes, &facts, look::code(kind)).unwrap();
                check_list(shown, &list.rows, &known);
            }
            _ => {
                let object = object::parse(&bytes, &facts, look::code(kind)).unwrap();
                if expect == "bad" {
                    assert!(!object.warnings.is_empty(), "{shown}");
                    assert!(!object.rest.is_empty(), "{shown}");
                } else {
                    let has_no_type = object.base_type == 0 && kind != "DYNA" && kind != "DSCO";
                    let is_odd = expect == "odd" || has_no_type && kind != "SDFX";
                    check_object(shown, &object, &known, is_odd);
                }
            }
        }
        seen += 1;
    }
    assert_eq!(seen, 104);
}

fn check_list(shown: &str, rows: &Rows, known: &Json) {
    let record = rows.get(0).unwrap();
    let found: Finding = record
        .fields()
        .map(|(name, value)| (name.to_owned(), value))
        .collect();
    let mut known = known.clone();
    assert_eq!(
        known.as_object_mut().unwrap().remove("left"),
        Some(json!(0))
    );
    assert_eq!(check(shown, &found, "", &known), found.len(), "{shown}");
}

/// Objects of the samples that no game has: the offsets of a floor and the counts of
/// a particle system are arbitrary, and a DYNA has an unknown type.
const MADE_UP: [&str; 3] = ["DISCO_FLOOR_01", "PARTICLE_SYS_01", "DYNA_UNKNOWN_TYPE"];

#[fuse_test]
fn no_type_of_battle_for_bikini_bottom_has_unknown_bytes() {
    let mut types = BTreeSet::new();
    for sample in [
        "hip/real/bb01.91969701.HIP",
        "hip_assets/objects_gc.HIP",
        "hip_assets/objects_ps2.HIP",
        "hip_assets/objects_xbox.HIP",
    ] {
        let Some(sample) = shared(&format!("samples/{sample}")) else {
            return;
        };
        let mount = mounted_files(&[sample], "");
        for file in walk(&mount.file("converted/objects")) {
            if !file.is_file() {
                continue;
            }
            let object: Json = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
            if MADE_UP.contains(&text(&object["name"])) {
                continue;
            }
            assert_eq!(object.get("rest"), None, "{}", file.display());
            types.insert(text(&object["type"]).to_owned());
        }
    }
    // DSCO and PARS are in the test above.
    assert_eq!(types.len(), 28, "{types:?}");
}
