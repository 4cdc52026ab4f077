//! Texts, objects and tables in the sample HIP archives beside the repository,
//! compared with the results of independent readers.

use std::collections::BTreeMap;

use crate::heavy_iron::samples::{Archive, Asset, archives, text};
use hpimount_assets::view::import::{Imported, edited};
use hpimount_assets::view::rendered_text;
use hpimount_containers::io::Warnings;
use hpimount_heavy_iron::object::{self, Link, Object, Parameter};
use hpimount_heavy_iron::record::{Record, Rows, Value};
use hpimount_heavy_iron::text::credits;
use hpimount_heavy_iron::{Game, tables};
use serde_json::{Value as Json, json};

/// Returns the results of the independent reader for the assets of an archive,
/// by name.
fn known(archive: &Archive) -> BTreeMap<String, Json> {
    let mut known = BTreeMap::new();
    for (name, path) in archive.goldens() {
        if !name.ends_with(".ndjson") {
            continue;
        }
        for line in std::fs::read_to_string(path).unwrap().lines() {
            let facts: Json = serde_json::from_str(line).unwrap();
            known.insert(text(&facts["asset"]).to_owned(), facts);
        }
    }
    known
}

/// Returns whether a value equals the value of the independent reader.
pub(super) fn agrees(ours: Value, known: &Json) -> bool {
    let float = |ours: f32, known: &Json| known.as_f64().is_some_and(|k| k as f32 == ours);
    let floats = |ours: &[f32]| {
        let known = known.as_array().unwrap();
        known.len() == ours.len()
            && ours
                .iter()
                .zip(known)
                .all(|(ours, known)| float(*ours, known))
    };
    match ours {
        Value::Unsigned(value) => known.as_u64() == Some(value.into()),
        Value::Signed(value) => known.as_i64() == Some(value.into()),
        Value::Float(value) => float(value, known),
        Value::Vec2(value) => floats(&value),
        Value::Vec3(value) => floats(&value),
        Value::Vec4(value) => floats(&value),
        Value::Id(id) => id_agrees(id, known),
        Value::Color(color) => *known == json!(color),
        Value::Word(bits) => *known == json!(bits),
        Value::Text(shown) => *known == json!(shown.shown()),
        Value::Code(code) => known.as_str().map(str::as_bytes) == Some(&code[..]),
    }
}

fn id_agrees(id: u32, known: &Json) -> bool {
    match known {
        Json::Null => id == 0,
        known => text(&known["id"]) == format!("{id:08X}"),
    }
}

/// Returns whether a record has the values of a JSON object, in the same order.
fn record_agrees(record: &Record, known: &Json) -> bool {
    let known: Vec<_> = known.as_object().unwrap().values().collect();
    // The reader omits the last word of a light.
    let ours = record.fields().filter(|(name, _)| *name != "plat_light");
    let ours: Vec<_> = ours.collect();
    ours.len() == known.len()
        && ours
            .iter()
            .zip(known)
            .all(|((_, ours), known)| agrees(*ours, known))
}

fn check_rows(shown: &str, rows: &Rows, known: &Json) {
    let known = known.as_array().unwrap();
    assert_eq!(rows.len(), known.len(), "{shown}");
    for (row, known) in rows.iter().zip(known) {
        assert!(
            record_agrees(&row, known),
            "{shown}: {row:?} should be {known}"
        );
    }
}

/// Asserts that there are warnings exactly if the independent reader has notes,
/// except for these: entities without the padding word are usual in all games
/// but one, and an object's id is not compared with its asset's id.
fn check_warnings(archive: &Archive, shown: &str, known: &Json, warnings: &Warnings) {
    let notes = known["notes"].as_array().cloned().unwrap_or_default();
    let is_noted = notes.iter().any(|note| {
        let is_usual = archive.facts.game != Game::Bfbb && text(note).starts_with("entity without");
        !is_usual && !matches!(text(note), "id differs" | "empty")
    });
    // The reader has no note for entities with the word in other games, and
    // none for parts, which are random bytes.
    // The reader takes timers of Scooby-Doo, which have 12 bytes, for short ones.
    let is_timer = archive.facts.game == Game::Scooby && shown.ends_with("TIMER_SHORT");
    let is_pad = shown.ends_with("SIMPLE_OTHER_PAD");
    let is_own = is_pad || is_timer || known.get("rest_hex").is_some();
    let is_odd = !warnings.is_empty();
    assert!(
        is_noted == is_odd || is_own,
        "{shown}: {notes:?}, {warnings:?}"
    );
}

fn check_object(shown: &str, object: &Object, known: &Json, game: Game) {
    let body: BTreeMap<_, _> = object.fields().collect();
    let is_short = shown.ends_with("BOULDER_SHORT");
    for (name, known) in known.as_object().unwrap() {
        match &**name {
            "asset" | "type" | "notes" | "_short" => {}
            "id" => assert_eq!(format!("{:08X}", object.id), text(known), "{shown}"),
            "base_type" => {
                assert_eq!(
                    object::base_type_name(object.base_type),
                    known.as_str(),
                    "{shown}"
                );
            }
            "link_count" => assert_eq!(known.as_u64(), Some(object.link_count.into()), "{shown}"),
            "flags" if known.is_object() => {
                let flags = object
                    .flag_names()
                    .map(|(name, is_set)| (name, u8::from(is_set)));
                assert!(
                    flags.iter().all(|(name, bit)| known[name] == json!(bit)),
                    "{shown}"
                );
            }
            "items" | "next_points" => {
                let ids = object
                    .list
                    .iter()
                    .map(|record| record.number("id").unwrap());
                let known = known.as_array().unwrap();
                assert_eq!(object.list.len(), known.len(), "{shown}");
                assert!(
                    ids.zip(known).all(|(id, known)| id_agrees(id, known)),
                    "{shown}"
                );
            }
            "rest_hex" => {
                let hex: String = object
                    .rest
                    .iter()
                    .map(|byte| format!("{byte:02x}"))
                    .collect();
                // The reader stops before the parts of an object.
                assert!(text(known).ends_with(&hex), "{shown}: {hex}");
            }
            "links" => check_links(shown, &object.links, known, game),
            "light_kit" => assert!(id_agrees(object.light_kit.unwrap(), known), "{shown}"),
            "op" => {
                let Some(Value::Unsigned(op)) = object.field("op") else {
                    panic!("{shown} has no op");
                };
                assert_eq!(object::condition_sign(op), known.as_str(), "{shown}");
            }
            "dyna_type" => {
                let number = match object.field("dyna_type") {
                    Some(Value::Unsigned(number)) => format!("{number:08X}"),
                    other => panic!("{shown}: {other:?}"),
                };
                let name = object.dyna.map_or(number, |dyna| dyna.name.to_owned());
                assert_eq!(name, text(known), "{shown}");
            }
            // The reader assumes that an entity of unknown length has no
            // padding word; our parser decides by its floats.
            _ if is_short => {}
            // The reader continues into the links.
            "random_range" if shown.ends_with("TIMER_SHORT") => {}
            _ => {
                let value = body
                    .get(&**name)
                    .unwrap_or_else(|| panic!("{shown}: no {name}"));
                assert!(
                    agrees(*value, known),
                    "{shown}: {name}: {value:?} should be {known}"
                );
            }
        }
    }
    let has_rest = known.get("rest_hex").is_some();
    let is_known = |name: &&&str| known.get(**name).is_some() || is_short || has_rest;
    assert!(body.keys().all(|name| is_known(&name)), "{shown}: {body:?}");
    assert!(has_rest || object.rest.is_empty(), "{shown}");
    if is_short {
        let pads = object.has_pad;
        assert_eq!(pads, Some(game == Game::Bfbb), "{shown}");
        let speed = object.field("alpha_speed");
        assert_eq!(speed, Some(Value::Float(4.75)), "{shown}");
    }
}

fn check_links(shown: &str, links: &[Link], known: &Json, game: Game) {
    let known = known.as_array().unwrap();
    assert_eq!(links.len(), known.len(), "{shown}");
    for (link, known) in links.iter().zip(known) {
        let numbers = [link.source_event, link.target_event];
        assert_eq!(
            [&known["event_id"], &known["send_id"]],
            numbers.map(|n| json!(n)).each_ref()
        );
        if game == Game::Bfbb {
            let named = [&known["event"], &known["send"]].map(Json::as_str);
            assert_eq!(link.event_names(game), named, "{shown}");
        }
        assert!(id_agrees(link.target, &known["target"]), "{shown}");
        assert!(
            id_agrees(link.parameter_asset, &known["param_asset"]),
            "{shown}"
        );
        assert!(
            id_agrees(link.check_asset, &known["check_asset"]),
            "{shown}"
        );
        for index in 0..4 {
            let known = &known["params"][index];
            let is_same = match link.parameter(index) {
                Parameter::Zero => *known == json!(0),
                Parameter::Float(value) => agrees(Value::Float(value), known),
                Parameter::Number(id) if known.is_object() => id_agrees(id, known),
                Parameter::Number(value) => *known == json!(value),
            };
            assert!(
                is_same || id_agrees_bits(link, index, known),
                "{shown}: {known}"
            );
        }
    }
}

/// Returns whether the bits of a parameter are an id that the independent
/// reader found: it tries ids before floats.
fn id_agrees_bits(link: &Link, index: usize, known: &Json) -> bool {
    known.is_object() && id_agrees(link.parameters[index], known)
}

fn code(asset: &Asset) -> [u8; 4] {
    let mut code = *b"    ";
    code[..asset.code.len()].copy_from_slice(asset.code.as_bytes());
    code
}

#[test]
fn objects_have_the_fields_and_links_that_the_independent_reader_finds() {
    let mut seen = 0;
    for archive in archives(false) {
        let known = known(&archive);
        for asset in archive
            .assets
            .iter()
            .filter(|asset| object::is_object(code(asset)))
        {
            let shown = format!("{}: {}", archive.name, asset.name);
            let known = &known[&asset.name];
            let object = object::parse(&asset.bytes, &archive.facts, code(asset)).unwrap();
            check_object(&shown, &object, known, archive.facts.game);
            check_warnings(&archive, &shown, known, &object.warnings);
            seen += 1;
        }
    }
    assert!(seen >= 4 * 55 || archives(false).is_empty(), "{seen}");
}

#[test]
fn tables_have_the_rows_that_the_independent_reader_finds() {
    let mut seen = 0;
    for archive in archives(false) {
        let known = known(&archive);
        for asset in &archive.assets {
            let shown = format!("{}: {}", archive.name, asset.name);
            let Some(known) = known.get(&asset.name) else {
                continue;
            };
            if let Some(warnings) = check_table(&archive, asset, known, &shown) {
                check_warnings(&archive, &shown, known, &warnings);
                seen += 1;
            }
        }
    }
    assert!(seen >= 4 * 19 || archives(false).is_empty(), "{seen}");
}

/// Checks an asset if it is a table, and returns its warnings.
fn check_table(archive: &Archive, asset: &Asset, known: &Json, shown: &str) -> Option<Warnings> {
    let (bytes, facts) = (&asset.bytes, &archive.facts);
    Some(match &*asset.code {
        "ALST" => {
            let list = tables::parse_list(bytes, facts, code(asset)).unwrap();
            let ids = list.rows.iter().map(|row| row.number("animation").unwrap());
            let known = known["anims"].as_array().unwrap();
            assert!(
                ids.zip(known).all(|(id, known)| id_agrees(id, known)),
                "{shown}"
            );
            assert_eq!(list.rows.len(), known.len(), "{shown}");
            list.warnings
        }
        "LODT" | "PIPT" | "COLL" | "SHDW" | "PICK" | "MAPR" => {
            let list = tables::parse_list(bytes, facts, code(asset)).unwrap();
            check_rows(shown, &list.rows, &known["entries"]);
            list.warnings
        }
        "LKIT" => {
            let kit = tables::parse_light_kit(bytes, facts).unwrap();
            if !bytes.is_empty() {
                assert_eq!(known["group"], json!(kit.group), "{shown}");
                // The reader shows the last word, which is padding.
                let mut lights = known["lights"].clone();
                for light in lights.as_array_mut().unwrap() {
                    light.as_object_mut().unwrap().remove("plat");
                }
                check_rows(shown, &kit.lights, &lights);
            }
            kit.warnings
        }
        "MRKR" => {
            let marker = tables::parse_marker(bytes, facts).unwrap();
            assert!(
                agrees(Value::Vec3(marker.position.unwrap()), &known["pos"]),
                "{shown}"
            );
            marker.warnings
        }
        "MINF" => check_model_info(archive, asset, known, shown),
        "ATBL" => check_animation_table(archive, asset, known, shown),
        "ANIM" => match tables::parse_animation(bytes, facts) {
            Ok(animation) => {
                let counts = json!([animation.bones, animation.times.len(), animation.keys.len()]);
                assert_eq!(
                    counts,
                    json!([known["bones"], known["times"], known["keys"]]),
                    "{shown}"
                );
                assert!(
                    agrees(Value::Float(animation.duration()), &known["duration"]),
                    "{shown}"
                );
                assert!(
                    agrees(Value::Vec3(animation.scale), &known["scale"]),
                    "{shown}"
                );
                animation.warnings
            }
            Err(incomplete) => {
                assert_eq!(
                    known["notes"],
                    json!(["bad magic"]),
                    "{shown}: {}",
                    incomplete.error
                );
                return None;
            }
        },
        "FLY" => {
            let fly = tables::parse_flythrough(bytes).unwrap();
            assert_eq!(known["frames"], json!(fly.frames.len()), "{shown}");
            let first = fly.frames.get(0).unwrap();
            let numbers = first.fields().flat_map(|(_, value)| match value {
                Value::Signed(value) => vec![value as f32],
                Value::Float(value) => vec![value],
                Value::Vec2(value) => value.to_vec(),
                Value::Vec3(value) => value.to_vec(),
                Value::Vec4(value) => value.to_vec(),
                other => panic!("{other:?}"),
            });
            let known = known["first"].as_array().unwrap().iter();
            assert!(
                numbers.eq(known.map(|known| known.as_f64().unwrap() as f32)),
                "{shown}"
            );
            fly.warnings
        }
        "JAW" => {
            let jaw = tables::parse_jaw(bytes, facts).unwrap();
            let known = known["entries"].as_array().unwrap();
            assert_eq!(jaw.curves.len(), known.len(), "{shown}");
            for (curve, known) in jaw.curves.iter().zip(known) {
                assert!(id_agrees(curve.sound, &known["sound"]), "{shown}");
                assert_eq!(known["samples"], json!(curve.values.len()), "{shown}");
            }
            jaw.warnings
        }
        "SHRP" => {
            let shrapnel = tables::parse_shrapnel(bytes, facts).unwrap();
            assert_eq!(known["entries"], json!(shrapnel.count), "{shown}");
            assert_eq!(shrapnel.id, asset.id, "{shown}");
            Warnings::default()
        }
        _ => return None,
    })
}

fn check_model_info(archive: &Archive, asset: &Asset, known: &Json, shown: &str) -> Warnings {
    let info = tables::parse_model_info(&asset.bytes, &archive.facts).unwrap();
    assert!(
        id_agrees(info.animation_table, &known["anim_table"]),
        "{shown}"
    );
    assert!(id_agrees(info.combat, &known["combat"]), "{shown}");
    assert!(id_agrees(info.brain.unwrap(), &known["brain"]), "{shown}");
    check_rows(shown, &info.models, &known["models"]);
    let parameters: Vec<_> = info
        .parameters
        .iter()
        .map(|p| json!({"hash": format!("{:08X}", p.name), "value": p.value()}))
        .collect();
    assert_eq!(known["params"], json!(parameters), "{shown}");
    info.warnings
}

fn check_animation_table(archive: &Archive, asset: &Asset, known: &Json, shown: &str) -> Warnings {
    let table = tables::parse_animation_table(&asset.bytes, &archive.facts).unwrap();
    assert_eq!(known["construct"], json!(table.construct), "{shown}");
    let ids = table
        .animations
        .iter()
        .map(|row| row.number("animation").unwrap());
    let animations = known["anims"].as_array().unwrap();
    assert!(
        ids.zip(animations).all(|(id, known)| id_agrees(id, known)),
        "{shown}"
    );
    check_rows(shown, &table.states, &known["states"]);
    let mut files = known["files"].clone();
    for (number, file) in files.as_array_mut().unwrap().iter_mut().enumerate() {
        let raw = file.as_object_mut().unwrap().remove("raw").unwrap();
        assert_eq!(
            raw,
            json!(table.list(number).collect::<Vec<_>>()),
            "{shown}"
        );
    }
    check_rows(shown, &table.files, &files);
    table.warnings
}

#[test]
fn texts_equal_the_texts_of_the_independent_reader() {
    use hpimount_heavy_iron::text::parse;
    let mut seen = 0;
    for archive in archives(false) {
        for asset in archive.of_types(&["TEXT"]) {
            let shown = format!("{}: {}", archive.name, asset.name);
            let found = parse(&asset.bytes, &archive.facts).unwrap();
            let known = archive.golden(asset, "txt").unwrap();
            assert_eq!(
                found.text,
                std::fs::read_to_string(known).unwrap(),
                "{shown}"
            );
            // An empty asset is an empty text without warnings.
            let is_odd = asset.expect == "odd" && !asset.bytes.is_empty();
            assert_eq!(
                !found.warnings.is_empty(),
                is_odd,
                "{shown}: {:?}",
                found.warnings
            );
            seen += 1;
        }
    }
    assert!(seen >= 2 * 17 || archives(false).is_empty(), "{seen}");
}

#[test]
fn credits_have_the_lines_that_the_independent_reader_finds() {
    let mut seen = 0;
    for archive in archives(false) {
        let known = known(&archive);
        for asset in archive.of_types(&["CRDT"]) {
            let shown = format!("{}: {}", archive.name, asset.name);
            let found = credits::parse(&asset.bytes, &archive.facts).unwrap();
            let mut known = known[&asset.name].clone();
            if found.header.state == 3 {
                // The reader shows enciphered texts; our parser shows none.
                known["sections"][0]["lines"][0][1] = Json::Null;
                assert!(!found.warnings.is_empty(), "{shown}");
            } else {
                assert!(found.warnings.is_empty(), "{shown}: {:?}", found.warnings);
            }
            assert_eq!(
                (json!(found.header.version), json!(found.header.own_id.0)),
                (known["version"].clone(), json!(asset.id))
            );
            assert_eq!(known["total_time"], json!(found.header.duration), "{shown}");
            let sections: Vec<_> = found.sections.iter().map(section).collect();
            assert_eq!(known["sections"], json!(sections), "{shown}");
            assert!(
                found
                    .sections
                    .iter()
                    .all(|section| section.presets.len() == 152)
            );
            if found.header.state != 3 {
                assert_edited_there_and_back(&asset.bytes, &shown);
            }
            seen += 1;
        }
    }
    assert!(seen >= 6 || archives(false).is_empty(), "{seen}");
}

/// Asserts that a longer text moves the others, and that the bytes of the other writer
/// are back with the old text.
fn assert_edited_there_and_back(credits: &[u8], shown: &str) {
    let table = |asset: &[u8]| rendered_text(&credits::FORMAT, asset, "lines.tsv").unwrap();
    let edit = |asset: &[u8], table: &str| {
        let edited = edited(&credits::FORMAT, asset, "lines.tsv", table.as_bytes());
        match edited.unwrap() {
            Imported::Changed(changed) => changed.asset,
            Imported::Unchanged => panic!("{shown} is unchanged"),
        }
    };
    let before = table(credits);
    let first = before.lines().nth(1).unwrap().split('\t').nth(5).unwrap();
    let longer = before.replacen(first, &format!("Longer: {first}"), 1);
    let asset = edit(credits, &longer);
    assert_eq!(asset.len(), credits.len() + 8, "{shown}");
    assert_eq!(table(&asset), longer, "{shown}");
    assert!(edit(&asset, &before) == credits, "{shown}");
}

fn section(section: &credits::Section) -> Json {
    let line = |line: &credits::Line| {
        let text = |text: &Option<bytes::Bytes>| {
            let text = text.as_ref()?;
            Some(hpimount_containers::text::windows_1252(text).into_owned())
        };
        json!([
            line.header.start,
            text(&line.texts[0]),
            text(&line.texts[1])
        ])
    };
    let lines: Vec<_> = section.lines.iter().map(line).collect();
    json!({"duration": section.header.duration, "lines": lines})
}
