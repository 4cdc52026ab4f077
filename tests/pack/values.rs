//! Edited values of converted trees: fields, cells, places of nodes.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use crate::converted::Edited;
use fixtures::heavy_iron::{ONE, big, timer};
use fixtures::hip::{Asset, Hip};
use fixtures::hpi::V1;
use fixtures::hpi::{File, dir, file};
use hpimount_containers::hip::{Game, Platform, asset_id};
use hpimount_containers::hpi::chunk::Method;
use serde_json::Value;
use testkit::fuse_test;
use testkit::mount::{Fixture, Mount, hpimount};

/// Returns a crate at a position, without a model.
fn crate_at(name: &str, place: [f32; 3]) -> Asset {
    let mut fields = vec![
        asset_id(name.as_bytes()),
        0x0B00_001D,
        0x0100_0000,
        0,
        0xDEAD_BEEF,
    ];
    // Angles, place, scale, color.
    fields.extend([0; 3]);
    fields.extend(place.map(f32::to_bits));
    fields.extend([ONE; 7]);
    fields.extend([0x437F_0000, 0, 0, ONE, 0, 0]);
    Asset::new(b"SIMP", name, &big(&fields))
}

/// Returns a level with two timers and two crates.
pub(super) fn level() -> Edited {
    let mut hip = Hip::target(Game::Bfbb, Platform::GameCube);
    hip.layer(0)
        .add(timer("FIRST", "SECOND"))
        .add(timer("SECOND", "CRATE"))
        .add(crate_at("CRATE", [1.0, 2.0, 3.0]))
        .add(crate_at("BOX", [4.0, 5.0, 6.0]));
    Edited::new("a.HIP", &hip.build())
}

/// Returns a file that an archive shows.
fn shown(edited: &Edited, path: &str) -> Vec<u8> {
    fs::read(edited.original().path().join(path)).unwrap()
}

/// Returns the changed archive, mounted.
fn changed(edited: &Edited) -> (Edited, Mount) {
    let changed = Edited::new("a.HIP", &edited.packed());
    let mount = changed.original();
    (changed, mount)
}

fn json(mount: &Mount, path: &str) -> Value {
    serde_json::from_slice(&fs::read(mount.path().join(path)).unwrap()).unwrap()
}

const FIRST: &str = "converted/objects/TIMR/FIRST.json";
const TIMERS: &str = "converted/tables/TIMR.tsv";
const PLACES: &str = "converted/tables/placements.tsv";
const LINKS: &str = "converted/tables/links.tsv";

#[fuse_test]
fn fields_of_an_object_are_edited_and_its_lists_grow() {
    let edited = level();
    let before = fs::read(&edited.archive).unwrap();
    let text = r#"{
        "body": {"seconds": 7.5},
        "header": {"enabled": false},
        "links": [
            {"event": "Expired", "send": "invisible", "target": {"name": "CRATE"}},
            {"event": "Run", "send_id": 1, "target": "BOX", "params": [1.5, 0, 0, 0]}
        ]
    }"#;
    edited.edit(FIRST, text.as_bytes());
    let (_changed, mount) = changed(&edited);
    let first = json(&mount, FIRST);
    assert_eq!(first["body"]["seconds"], 7.5);
    assert_eq!(first["header"]["flags"], 0x1C);
    assert_eq!(first["header"]["link_count"], 2);
    let [one, two] = &first["links"].as_array().unwrap()[..] else {
        panic!("{first}");
    };
    assert_eq!(
        (&one["send"], &one["target"]["name"]),
        (&"Invisible".into(), &"CRATE".into())
    );
    assert_eq!(
        (&two["event"], &two["send"]),
        (&"Run".into(), &"Enable".into())
    );
    assert_eq!(
        (&two["params"][0], &two["target"]["name"]),
        (&1.5.into(), &"BOX".into())
    );
    // The other objects have the same bytes.
    let second = fs::read(mount.path().join("layers/00-DEFAULT/SECOND.timr")).unwrap();
    assert!(before.windows(second.len()).any(|bytes| bytes == second));
}

#[fuse_test]
fn a_reference_is_edited_by_its_id_or_its_name_alone() {
    let target = |id: &str, name: &str| {
        let edited = level();
        let target = format!(r#"{{"id": "{id}", "name": "{name}"}}"#);
        let text = format!(r#"{{"links": [{{"target": {target}}}]}}"#);
        edited.edit(FIRST, text.as_bytes());
        let (_changed, mount) = changed(&edited);
        json(&mount, FIRST)["links"][0]["target"]["name"].clone()
    };
    let [second, new] = ["SECOND", "BOX"].map(|name| format!("{:08X}", asset_id(name.as_bytes())));
    assert_eq!(target(&new, "SECOND"), "BOX");
    assert_eq!(target(&second, "BOX"), "BOX");
}

#[fuse_test]
fn a_link_is_added_to_the_table_of_links() {
    let edited = level();
    let links = String::from_utf8(shown(&edited, LINKS)).unwrap();
    let columns = links.lines().next().unwrap().split('\t');
    let cell = |column: &str| match column {
        "source_name" => "FIRST",
        "event" => "Run",
        "send" => "Invisible",
        "target_name" => "BOX",
        _ => "",
    };
    let new: Vec<_> = columns.map(cell).collect();
    edited.edit(LINKS, format!("{links}{}\n", new.join("\t")).as_bytes());
    let (_changed, mount) = changed(&edited);
    let first = json(&mount, FIRST);
    assert_eq!(first["header"]["link_count"], 2);
    let link = &first["links"][1];
    assert_eq!(
        (&link["event"], &link["send"]),
        (&"Run".into(), &"Invisible".into())
    );
    assert_eq!(link["target"]["name"], "BOX");
}

#[fuse_test]
fn a_copied_tree_changes_nothing() {
    let edited = level();
    let mount = edited.original();
    for path in [FIRST, TIMERS, PLACES, LINKS, "converted/level.glb"] {
        edited.edit(path, &fs::read(mount.path().join(path)).unwrap());
    }
    assert!(edited.packed() == fs::read(&edited.archive).unwrap());
}

#[fuse_test]
fn cells_are_edited_as_spreadsheets_write_them() {
    let edited = level();
    let places = String::from_utf8(shown(&edited, PLACES)).unwrap();
    let mut rows: Vec<&str> = places.lines().collect();
    let header = rows.remove(0);
    rows.reverse();
    let moved = [header].into_iter().chain(rows).map(|row| {
        let row = row
            .replace("\t4\t5\t6\t", "\t4,5\t5\t6\t")
            .replace('\t', ";");
        row + "\r\n"
    });
    edited.edit(PLACES, moved.collect::<String>().as_bytes());
    let links = String::from_utf8(shown(&edited, LINKS)).unwrap();
    edited.edit(
        LINKS,
        links.replace("\tDisable\t2\t", "\tVisible\t2\t").as_bytes(),
    );
    let (_changed, mount) = changed(&edited);
    assert_eq!(
        json(&mount, "converted/objects/SIMP/BOX.json")["entity"]["pos"][0],
        4.5
    );
    assert_eq!(
        json(&mount, "converted/objects/SIMP/CRATE.json")["entity"]["pos"][0],
        1.0
    );
    assert_eq!(json(&mount, FIRST)["links"][0]["send"], "Visible");
}

#[fuse_test]
fn parameters_of_characters_and_records_of_lists_are_rows() {
    let characters = "converted/tables/MINF_parameters.tsv";
    let sounds = "converted/tables/SGRP_sounds.tsv";
    let head = big(&[0x464E_494D, 0, 0, 0, 0]);
    let parameters = b"\0\0\0\x07\x01ok\0\0\0\0\0\0\0\0\x08\0c\0\0";
    let group = [asset_id(b"GROUP"), 0x4700_001D, 0, 0x0100_0000, 0, 0, 0, 0];
    let group = big(&[&group[..], &[7, ONE, ONE, ONE]].concat());
    let mut hip = Hip::target(Game::Incredibles, Platform::GameCube);
    hip.layer(0)
        .add(Asset::new(
            b"MINF",
            "NPC",
            &[&head[..], parameters].concat(),
        ))
        .add(Asset::new(b"SGRP", "GROUP", &group));
    let edited = Edited::new("a.HIP", &hip.build());
    let mut table = String::from_utf8(shown(&edited, characters)).unwrap();
    table = table.replace("\tok\n", "\tlonger than before\n");
    edited.edit(
        characters,
        (table + "\tNPC\t\t00000009\t\t1.5\n").as_bytes(),
    );
    let table = String::from_utf8(shown(&edited, sounds)).unwrap();
    edited.edit(
        sounds,
        table.replace("\t1\t1\t1\n", "\t1\t0.5\t1\n").as_bytes(),
    );

    let (_changed, mount) = changed(&edited);
    let table = fs::read_to_string(mount.path().join(characters)).unwrap();
    let values = table.lines().skip(1).map(|line| {
        let mut cells = line.split('\t').skip(2);
        [cells.next(), cells.next(), cells.nth(1)].map(Option::unwrap)
    });
    let values: Vec<_> = values.collect();
    let (first, second) = (
        ["0", "0x00000007", "longer than before"],
        ["1", "0x00000008", "c"],
    );
    assert_eq!(values, [first, second, ["2", "0x00000009", "1.5"]]);
    let group = json(&mount, "converted/objects/SGRP/GROUP.json");
    assert_eq!(group["sounds"][0]["min_pitch"], 0.5);
    assert_eq!(group["sounds"][0]["volume"], 1.0);
}

#[fuse_test]
fn an_object_that_is_moved_in_the_level_has_a_new_place() {
    let edited = level();
    let path = "converted/level.glb";
    let glb = with_json(&shown(&edited, path), |json| {
        let nodes = json["nodes"].as_array_mut().unwrap();
        let node = nodes.iter_mut().find(|node| node["name"] == "BOX").unwrap();
        node["translation"] = serde_json::json!([4.0, 9.0, 6.0]);
    });
    edited.edit(path, &glb);
    let (_changed, mount) = changed(&edited);
    let pos = &json(&mount, "converted/objects/SIMP/BOX.json")["entity"]["pos"];
    assert_eq!(pos, &serde_json::json!([4.0, 9.0, 6.0]));

    let gone = with_json(&shown(&edited, path), |json| {
        json["nodes"][0]["name"] = "somewhere else".into();
    });
    edited.edit(path, &gone);
    let refused = edited.refused();
    assert!(
        refused.contains("objects cannot be deleted here"),
        "{refused}"
    );
}

/// Returns a GLB file whose JSON `change` has changed.
fn with_json(glb: &[u8], change: impl FnOnce(&mut Value)) -> Vec<u8> {
    let length = u32::from_le_bytes(*glb[12..].first_chunk().unwrap()) as usize;
    let mut json: Value = serde_json::from_slice(&glb[20..20 + length]).unwrap();
    change(&mut json);
    let mut text = serde_json::to_vec(&json).unwrap();
    text.resize(text.len().next_multiple_of(4), b' ');
    let rest = &glb[20 + length..];
    let all = (20 + text.len() + rest.len()) as u32;
    let size = (text.len() as u32).to_le_bytes();
    [&glb[..8], &all.to_le_bytes(), &size, b"JSON", &text, rest].concat()
}

#[fuse_test]
fn all_problems_are_listed_with_their_places() {
    let edited = level();
    let object = r#"{"name": "X", "body": {"seconds": "long", "second": 1},
        "links": [{"send": "Visable", "target": {"name": "nobody"}}]}"#;
    let timers = String::from_utf8(shown(&edited, TIMERS)).unwrap();
    let second = timers.lines().nth(2).unwrap();
    edited.edit(FIRST, object.as_bytes()).edit(
        TIMERS,
        timers
            .replace(second, &second.replace("\t2\t", "\tx\t"))
            .as_bytes(),
    );
    let refused = edited.refused();
    for expected in [
        "FIRST.json: name: belongs to the asset: rename its file in layers/",
        "FIRST.json: body.seconds: \"long\" is no number",
        "FIRST.json: body.second: is no field here; fields are seconds",
        "FIRST.json: links[0].send: no event is called \"Visable\"; nearest: Visible",
        "FIRST.json: links[0].target: no asset is called nobody; write its id",
        "TIMR.tsv: line 3, column seconds (SECOND): \"x\" is no number",
    ] {
        assert!(
            refused.contains(expected),
            "{expected} is not in\n{refused}"
        );
    }
}

#[fuse_test]
fn edits_that_disagree_are_refused_and_equal_ones_are_one() {
    let timers = |seconds: &str| {
        let edited = level();
        let table = String::from_utf8(shown(&edited, TIMERS)).unwrap();
        let first = table.lines().nth(1).unwrap();
        let new = first.replace("\t2\t", &format!("\t{seconds}\t"));
        edited
            .edit(TIMERS, table.replace(first, &new).as_bytes())
            .edit(FIRST, br#"{"body": {"seconds": 7.5}}"#);
        edited
    };
    let refused = timers("8").refused();
    let expected = "FIRST.json: body.seconds: disagrees with body.seconds in converted/tables/TIMR.tsv: \
                    line 2, column seconds (FIRST)";
    assert!(refused.contains(expected), "{refused}");
    let (_changed, mount) = changed(&timers("7.50"));
    assert_eq!(json(&mount, FIRST)["body"]["seconds"], 7.5);
}

#[fuse_test]
fn it_is_said_beforehand_what_can_be_edited() {
    let edited = level();
    let mount = edited.original();
    let editable = |path: &str| {
        let value = xattr::get(mount.path().join(path), "user.hpimount.editable");
        String::from_utf8(value.unwrap().unwrap()).unwrap()
    };
    assert_eq!(editable(FIRST), "yes: fields, links and lists");
    assert!(editable(LINKS).starts_with("yes: event, event_id, target,"));
    assert_eq!(
        editable("converted/level.glb"),
        "yes: places, rotations and scales of objects"
    );
    assert_eq!(
        editable("converted/tables/refs.tsv"),
        "no: only shows other files"
    );
    let readme = shown(&edited, "converted/tables/README.txt");
    let readme = String::from_utf8(readme).unwrap();
    assert!(
        readme.contains("\nplacements.tsv\n  key    id, else name and type\n"),
        "{readme}"
    );
    assert!(
        readme.contains("\nrefs.tsv\n  only shows other files\n"),
        "{readme}"
    );
}

#[fuse_test]
fn it_is_not_said_what_can_be_edited_without_the_memory_to_edit_it() {
    let mut hip = Hip::target(Game::Bfbb, Platform::GameCube);
    let text = [&big(&[150_000])[..], &[b'a'; 150_004]].concat();
    hip.layer(0).add(Asset::new(b"TEXT", "long", &text));
    let edited = Edited::new("a.HIP", &hip.build());
    let editable = |size: &str| {
        let fixture = Fixture::new();
        let mut program = hpimount();
        program.args(["-o", size]);
        program.args([&edited.archive, &fixture.point]);
        let mount = fixture.mount_by(program);
        let path = mount.path().join("converted/texts/long.txt");
        xattr::get(path, "user.hpimount.editable").map(Option::unwrap)
    };
    assert_eq!(editable("cachesize=8M").unwrap(), b"yes: text");
    let error = editable("cachesize=2M").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::OutOfMemory);
}

#[fuse_test]
fn a_cell_of_a_game_is_a_key_of_its_text() {
    let unit = "[UNITINFO]\r\n\t{\r\n\tUnitName=TANK; // heavy\r\n\tMaxDamage=900;\r\n\t}\r\n";
    let text = file(b"TANK.FBI", File::new(unit, Method::Zlib));
    let archive = V1::new(vec![dir(b"units", vec![text])]).build();
    let edited = Edited::new("a.ufo", &archive.bytes);
    let table = String::from_utf8(shown(&edited, "converted/tables/units.tsv")).unwrap();
    edited.edit(
        "converted/tables/units.tsv",
        table.replace("900", "1200").as_bytes(),
    );
    let changed = Edited::new("a.ufo", &edited.packed());
    let text = fs::read(changed.original().path().join(Path::new("units/TANK.FBI"))).unwrap();
    assert_eq!(
        String::from_utf8(text).unwrap(),
        unit.replace("900", "1200")
    );
}
