//! Tables of all assets of a type, and of objects with all their parts.

use std::collections::BTreeMap;

use super::*;
use crate::names::id_named;
use hpimount_assets::view::edit::{Edit, What};

/// Returns the rows of a table, by the names of the columns.
fn rows(archives: &Archives, path: &str) -> Vec<BTreeMap<String, String>> {
    let text = archives.text(path);
    let mut lines = text.lines().map(|line| line.split('\t').map(str::to_owned));
    let columns: Vec<String> = lines.next().unwrap().collect();
    let rows = lines.map(|cells| {
        let cells: Vec<String> = cells.collect();
        assert_eq!(cells.len(), columns.len(), "{text}");
        columns.iter().cloned().zip(cells).collect()
    });
    rows.collect()
}

/// Returns an entity at a position, with its fields after the common ones.
pub(crate) fn entity(
    name: &str,
    base: u32,
    subtype: u32,
    position: [f32; 3],
    body: &[u8],
) -> Vec<u8> {
    let fields = [
        words(&[0x0100_0000 | subtype << 16, 0, 0]),
        floats(&[0.0; 3]),
        floats(&position),
        floats(&[1.0; 8]),
        words(&[0, 0]),
        body.to_vec(),
    ];
    object(name, base, &fields.concat(), &[])
}

/// Returns a platform with 14 words for its type and 11 words for its motion.
pub(crate) fn platform(name: &str, kinds: [u32; 2], of_type: &[u8], of_motion: &[u8]) -> Vec<u8> {
    let padded = |bytes: &[u8], length: usize| {
        let mut bytes = bytes.to_vec();
        bytes.resize(length, 0);
        bytes
    };
    let body = [
        words(&[kinds[0] << 24]),
        padded(of_type, 56),
        words(&[kinds[1] << 24]),
        padded(of_motion, 44),
    ];
    entity(name, 6, kinds[0], [1.0, 2.0, 3.0], &body.concat())
}

pub(crate) fn move_point(name: &str, position: [f32; 3], next: &[u32]) -> Vec<u8> {
    let body = [
        floats(&position),
        words(&[0, next.len() as u32, 0, 0, 0]),
        words(next),
    ];
    object(name, 13, &body.concat(), &[])
}

#[test]
fn pickups_and_characters_have_names_and_coordinates() {
    let archives = Archives::new(&[
        (
            "a.HIP",
            b"PKUP",
            "spat",
            entity(
                "spat",
                4,
                0,
                [1.0, 2.5, -3.0],
                &words(&[id("GoldenSpatula"), 1]),
            ),
        ),
        (
            "a.HIP",
            b"VIL ",
            "ham",
            entity(
                "ham",
                43,
                0,
                [4.0, 5.0, 6.0],
                &words(&[0, id("ham_bind"), 0, id("start"), 0, 0]),
            ),
        ),
        (
            "a.HIP",
            b"MVPT",
            "start",
            move_point("start", [0.0; 3], &[]),
        ),
    ]);
    let pickup = &rows(&archives, "tables/PKUP.tsv")[0];
    let place = ["x", "y", "z"].map(|axis| &*pickup[axis]);
    assert_eq!(place, ["1", "2.5", "-3"]);
    assert_eq!(pickup["pickup_name"], "GoldenSpatula");
    let villain = &rows(&archives, "tables/VIL.tsv")[0];
    assert_eq!(
        [
            &*villain["asset_name"],
            &*villain["npc_type_name"],
            &*villain["movepoint_name"]
        ],
        ["ham", "ham_bind", "start"]
    );
}

#[test]
fn triggers_have_their_extents() {
    let points =
        |first: [f32; 3], second: [f32; 3]| [floats(&first), floats(&second), vec![0; 40]].concat();
    let trigger = |name, shape, first, second| {
        entity(name, 1, shape, [5.0, 0.0, 0.0], &points(first, second))
    };
    let archives = Archives::new(&[
        (
            "a.HIP",
            b"TRIG",
            "box",
            trigger("box", 0, [6.0, 1.0, 0.0], [2.0, 3.0, 8.0]),
        ),
        (
            "a.HIP",
            b"TRIG",
            "column",
            trigger("column", 2, [7.0, 8.0, 9.0], [2.0, 6.0, 0.0]),
        ),
    ]);
    let table = rows(&archives, "tables/TRIG.tsv");
    let extent = |row: usize| {
        let names = [
            "shape", "center_x", "center_y", "center_z", "size_x", "size_y", "size_z", "radius",
            "height",
        ];
        names.map(|name| table[row][name].clone())
    };
    assert_eq!(extent(0), ["box", "4", "2", "4", "4", "2", "8", "", ""]);
    assert_eq!(extent(1), ["cylinder", "7", "8", "9", "", "", "", "2", "6"]);
}

#[test]
fn platforms_have_their_paths() {
    let [a, b] = ["a", "b"].map(id);
    let along = words(&[0, a, 0x4000_0000]);
    let between = floats(&[1.0, 2.0, 3.0, 0.0, 9.0, 0.0]);
    let archives = Archives::new(&[
        (
            "a.HIP",
            b"PLAT",
            "lift",
            platform("lift", [0, 0], &[], &between),
        ),
        (
            "a.HIP",
            b"PLAT",
            "raft",
            platform("raft", [3, 3], &[], &along),
        ),
        (
            "a.HIP",
            b"PLAT",
            "belt",
            platform("belt", [6, 6], &floats(&[2.5]), &[]),
        ),
        (
            "a.HIP",
            b"MVPT",
            "a",
            move_point("a", [1.0, 0.0, 0.0], &[b]),
        ),
        (
            "a.HIP",
            b"MVPT",
            "b",
            move_point("b", [0.0, 2.0, 0.0], &[a]),
        ),
    ]);
    let table = rows(&archives, "tables/PLAT.tsv");
    let cells = |name: &str| -> Vec<_> { table.iter().map(|row| row[name].clone()).collect() };
    assert_eq!(cells("motion"), ["extend_retract", "movepoint", "none"]);
    assert_eq!(cells("path_name"), ["", "a; b", ""]);
    assert_eq!(cells("path_points"), ["1 2 3; 1 11 3", "1 0 0; 0 2 0", ""]);
    assert_eq!(cells("platform_speed"), ["", "", "2.5"]);
    assert_eq!(cells("motion_speed"), ["", "2", ""]);
}

#[test]
fn dynamic_objects_have_a_row_for_each_field_and_systems_for_each_command() {
    let taxi = [
        words(&[0x4DC4_49FC, 0x0001_0000, id("spot"), 0, 0, 0, 0, 0]),
        floats(&[0.5, 2.0]),
    ];
    let age = [words(&[18, 0x0100_0000]), floats(&[4.0])];
    let system = [
        words(&[0, 0, 0, 0x0000_0001, 0x0000_0002, 24]),
        age.concat(),
        age.concat(),
    ];
    let archives = Archives::new(&[
        (
            "a.HIP",
            b"DYNA",
            "taxi",
            object("taxi", 0, &taxi.concat(), &[]),
        ),
        ("a.HIP", b"MRKR", "spot", floats(&[4.0, 5.0, 6.0])),
        (
            "a.HIP",
            b"PARS",
            "smoke",
            object("smoke", 39, &system.concat(), &[]),
        ),
    ]);
    let fields = rows(&archives, "tables/DYNA.tsv");
    let row = |field: &str| {
        let found = fields.iter().find(|row| row["field"] == field).unwrap();
        ["kind", "value", "value_name"].map(|name| found[name].clone())
    };
    let kind = "game_object:Taxi";
    assert_eq!(
        row("marker"),
        [kind, &format!("0x{:08X}", id("spot")), "spot"]
    );
    assert_eq!(row("portal_delay"), [kind, "2", ""]);
    let commands = rows(&archives, "tables/PARS.tsv");
    let shown: Vec<_> = commands
        .iter()
        .map(|row| ["index", "kind", "rate"].map(|name| row[name].clone()))
        .collect();
    assert_eq!(shown, [["0", "age", "4"], ["1", "age", "4"]]);
}

#[test]
fn all_assets_of_a_type_are_in_one_table() {
    let archives = Archives::new(&[
        ("a.HIP", b"LODT", "none", Vec::new()),
        (
            "a.HIP",
            b"LODT",
            "near",
            words(&[1, 7, 0x3F80_0000, 8, 0, 0, 0, 0, 0]),
        ),
        (
            "a.HIP",
            b"LODT",
            "flags",
            words(&[1, 7, 0, 9, 0, 0, 0, 0, 0, 0]),
        ),
        ("a.HIP", b"MRKR", "spot", floats(&[1.0, 2.0, 3.0])),
        (
            "a.HIP",
            b"COND",
            "cond",
            object("cond", 31, &words(&[5, 0x4329_EFFD, 1, 0]), &[]),
        ),
        (
            "a.HIP",
            b"GRUP",
            "group",
            object("group", 17, &words(&[0x0002_0000, 5, id("two words")]), &[]),
        ),
        (
            "a.HIP",
            b"COND",
            "two words",
            object("two words", 31, &words(&[5, 0x4329_EFFD, 1, 0]), &[]),
        ),
        ("a.HIP", b"SNDI", "sounds", sound_table(id("spot"))),
    ]);
    let table = archives.text("tables/LODT.tsv");
    let rows: Vec<Vec<_>> = table.lines().map(|row| row.split('\t').collect()).collect();
    assert_eq!(rows.len(), 3);
    assert!(rows.iter().all(|row| row.len() == rows[0].len()), "{table}");
    assert_eq!(
        (rows[0][0], rows[0][1], rows[0][2]),
        ("asset", "asset_name", "index")
    );
    let flags = rows[0]
        .iter()
        .position(|column| *column == "flags")
        .unwrap();
    let near = rows[0].iter().position(|column| *column == "lod1").unwrap();
    assert_eq!((rows[1][flags], rows[1][near]), ("", "0x00000008"));
    assert_eq!(rows[2][flags], "9");
    let spot = format!(
        "asset\tasset_name\tx\ty\tz\n0x{:08X}\tspot\t1\t2\t3\n",
        id("spot")
    );
    assert_eq!(archives.text("tables/MRKR.tsv"), spot);
    let conditions = archives.text("tables/COND.tsv");
    assert!(
        conditions.contains("\tcond\t5\t0x4329EFFD\tCounterValue\t>\t"),
        "{conditions}"
    );
    let groups = archives.text("tables/GRUP.tsv");
    let words = id("two words");
    let row = format!("\tgroup\t2\t0\tAllItems\t0x00000005 0x{words:08X}\t0x00000005; two words\n");
    assert!(groups.contains("\tlist\tlist_name\n"), "{groups}");
    assert!(groups.ends_with(&row), "{groups}");
    let sounds = archives.text("tables/SNDI.tsv");
    assert!(
        sounds.contains(&format!("SND\t0x{:08X}\tspot\t8000\t16\n", id("spot"))),
        "{sounds}"
    );
    let with = |path: &str| {
        let mut reports = REPORTS.iter();
        let report = reports.find(|report| report.path == path).unwrap();
        (report.applies)(&archives)
    };
    assert!(!with("tables/JAW.tsv") && !with("level.glb") && with("tables/links.tsv"));
}

/// Returns a DYNA asset of a type, with zeros as its fields.
fn dyna(kind: &str, version: u32, length: usize) -> Vec<u8> {
    let head = words(&[id(kind), version << 16]);
    object(kind, 0, &[head, vec![0; length]].concat(), &[])
}

#[test]
fn a_field_of_a_dynamic_object_is_edited_in_the_part_that_its_row_names() {
    let archives = Archives::new(&[
        (
            "a.HIP",
            b"DYNA",
            "arm",
            dyna("Enemy:RATS:LeftArm", 1, 8 + 72 + 20),
        ),
        ("a.HIP", b"DYNA", "box", dyna("ui:box", 2, 64 + 9 * 48 + 32)),
    ])
    .of_game(Game::RatProto);
    let shown = archives.text("tables/DYNA.tsv");
    let edit = REPORTS
        .iter()
        .find(|report| report.path == "tables/DYNA.tsv");
    let edit = edit.unwrap().edit.unwrap().edit;
    for (asset, field, text, path) in [
        ("arm", "version", "3", "body.version"),
        ("arm", "handle", "3", "body.handle"),
        ("arm", "flags", "3", "dyna.flags"),
        ("arm", "entity.flags", "3", "entity.flags"),
        ("arm", "own.own_flags", "3", "own.own_flags"),
        ("box", "color", "1 2 3 4", "dyna.color"),
        ("box", "parts[3].color", "1 2 3 4", "parts[3].color"),
    ] {
        let rows = shown.lines().map(|line| {
            let mut cells: Vec<_> = line.split('\t').collect();
            if (cells[1], cells[3]) == (asset, field) {
                cells[4] = text;
            }
            cells.join("\t") + "\n"
        });
        let edited: String = rows.collect();
        assert_ne!(edited, shown, "{field}");
        let found = edit(&archives, shown.as_bytes(), edited.as_bytes()).unwrap();
        let [
            (
                _,
                TableEdit::Value(Edit {
                    what: What::Value(found, value),
                    ..
                }),
            ),
        ] = &found.edits[..]
        else {
            panic!("{:?}", found.edits);
        };
        assert_eq!((&**found, value.to_string()), (path, text.to_owned()));
    }
}

#[test]
fn a_table_has_columns_for_as_many_elements_as_a_cell() {
    let states = words(&[0, 70, 0, 0, 0, 0, 0, 0, 0, 0]);
    let barrel = [states, vec![0; 70 * 52]].concat();
    let archives = Archives::new(&[("a.HIP", b"DEST", "barrel", barrel)]);
    let archives = archives.of_game(Game::Incredibles);
    let barrel = &rows(&archives, "tables/DEST.tsv")[0];
    assert_eq!(barrel["state_count"], "70");
    assert!(barrel.contains_key("states63_percent"), "{barrel:?}");
    assert!(!barrel.contains_key("states64_percent"), "{barrel:?}");
}

#[test]
fn entities_of_the_later_games_have_their_place() {
    let position = [1.0, 2.5, -3.0];
    let rope = [
        words(&[0x0100_0000, 0]),
        floats(&[0.0; 3]),
        floats(&position),
        vec![0; 4 * (10 + 8)],
    ];
    let archives = Archives::new(&[(
        "a.HIP",
        b"HANG",
        "rope",
        object("rope", 0, &rope.concat(), &[]),
    )]);
    let archives = archives.of_game(Game::Incredibles);
    let rope = &rows(&archives, "tables/HANG.tsv")[0];
    assert_eq!(["x", "y", "z"].map(|axis| &*rope[axis]), ["1", "2.5", "-3"]);
}

#[test]
fn a_parameter_of_a_script_is_named_if_it_is_the_id_of_an_asset() {
    let one = 0x3F80_0000;
    let script = words(&[0, 1, one, 9, 20, one, 0x4000_0000, 0, 0, 0]);
    let mut archives = Archives::new(&[
        (
            "a.HIP",
            b"SCRP",
            "script",
            object("script", 0, &script, &[]),
        ),
        ("a.HIP", b"MRKR", "spot", floats(&[4.0, 5.0, 6.0])),
    ])
    .of_game(Game::Incredibles);
    archives.assets[1].kind.id = one;
    let view = archives.model(AssetRef(0)).unwrap();
    let (_, values) = view.values(&archives).unwrap();
    let json: serde_json::Value = serde_json::to_value(&values).unwrap();
    let event = &json["events"][0];
    let named = serde_json::json!({"id": "3F800000", "name": "spot"});
    assert_eq!((&event["param0"], &event["param1"]), (&named, &2.0.into()));
}

#[test]
fn the_records_of_lists_have_a_row_each() {
    let script = |name, events: &[u32]| {
        let count = events.len() as u32 / 9;
        let head = words(&[0, count, 0x0100_0000]);
        object(name, 0, &[head, words(events)].concat(), &[])
    };
    let two = [
        [
            0x3F80_0000,
            id("spot"),
            24,
            0x4000_0000,
            0,
            0,
            0,
            id("spot"),
            0x0100_0000,
        ],
        [0x4000_0000, 7, 60_000, 0, 0, 0, 0, 0, 0],
    ];
    let archives = Archives::new(&[
        ("a.HIP", b"SCRP", "none", script("none", &[])),
        ("a.HIP", b"SCRP", "two", script("two", &two.concat())),
        ("a.HIP", b"MRKR", "spot", floats(&[4.0, 5.0, 6.0])),
    ])
    .of_game(Game::Rotu);
    let spot = format!("0x{:08X}", id("spot"));
    let rows = rows(&archives, "tables/SCRP_events.tsv");
    let shown = |columns: [&str; 7]| -> Vec<_> {
        rows.iter()
            .map(|row| columns.map(|name| row[name].clone()))
            .collect()
    };
    assert_eq!(
        shown([
            "asset_name",
            "index",
            "time",
            "target",
            "target_name",
            "event",
            "event_name"
        ]),
        [
            ["two", "0", "1", &spot, "spot", "24", "Play"],
            ["two", "1", "2", "0x00000007", "", "60000", ""]
        ]
    );
    assert_eq!(
        shown([
            "asset",
            "param0",
            "param1",
            "param3",
            "param_asset",
            "param_asset_name",
            "enabled"
        ]),
        [
            [
                &*format!("0x{:08X}", id("two")),
                "2",
                "0",
                "0",
                &spot,
                "spot",
                "1"
            ],
            [&*format!("0x{:08X}", id("two")), "0", "0", "0", "", "", "0"],
        ]
    );
}

#[test]
fn names_of_several_assets_and_of_none_are_refused_with_ids() {
    let asset = |name| ("a.HIP", b"SIMP", name, Vec::new());
    let mut archives = Archives::new(&[asset("gate"), asset("crate"), asset("CRATE")]);
    for (asset, id) in archives.assets.iter_mut().zip(0..) {
        asset.kind.id = id;
    }
    assert_eq!(id_named(&archives, "GATE"), Ok(0));
    let several = "several assets are called Crate; write an id: 00000001, 00000002";
    assert_eq!(id_named(&archives, "Crate"), Err(several.to_owned()));
    let none = "no asset is called nosuch; write its id (the hash of the name is 183FCDD8)";
    assert_eq!(id_named(&archives, "nosuch"), Err(none.to_owned()));
}
