//! Edited files in `X.meta` of assets without converted files.

use std::fs;

use crate::converted::Edited;
use crate::values::level;
use fixtures::heavy_iron::{animation_table, light_kit};
use fixtures::hip::Hip;
use hpimount_containers::hip::{Game, Platform};
use testkit::fuse_test;
use testkit::mount::Mount;

const KIT: &str = "layers/00-DEFAULT/KIT.lkt.meta";
const STATES: &str = "layers/00-DEFAULT/STATES.atbl.meta";

/// Returns an archive with a light kit and a table of animations.
fn tables() -> Edited {
    let mut hip = Hip::target(Game::Bfbb, Platform::GameCube);
    hip.layer(0)
        .add(light_kit("KIT"))
        .add(animation_table("STATES"));
    Edited::new("a.HIP", &hip.build())
}

/// Returns a text that a mount shows.
fn text(mount: &Mount, path: &str) -> String {
    fs::read_to_string(mount.path().join(path)).unwrap()
}

/// Edits the cell in a column of the row of a table with an index.
fn edit_cell(edited: &Edited, path: &str, (index, column): (usize, &str), new: &str) {
    edited.edit(
        path,
        format!("index\t{column}\n{index}\t{new}\n").as_bytes(),
    );
}

/// Returns the cell in a column of the row of a table with an index.
fn cell(mount: &Mount, path: &str, (index, column): (usize, &str)) -> String {
    let table = text(mount, path);
    let rows: Vec<Vec<&str>> = table.lines().map(|row| row.split('\t').collect()).collect();
    let column = rows[0].iter().position(|name| *name == column).unwrap();
    rows[index + 1][column].to_owned()
}

#[fuse_test]
fn tables_and_values_of_an_asset_without_converted_files_are_edited_in_its_metadata() {
    let edited = tables();
    edited.edit(&format!("{KIT}/info.json"), br#"{"group": "0x00000009"}"#);
    let cells = [
        (format!("{KIT}/table.tsv"), (0, "type"), "1"),
        (format!("{STATES}/table.tsv"), (0, "speed"), "2.5"),
        (
            format!("{STATES}/animations.tsv"),
            (1, "animation"),
            "0x0000000A",
        ),
        (format!("{STATES}/files.tsv"), (0, "duration"), "0.5"),
        (format!("{STATES}/effects.tsv"), (0, "priority"), "6"),
    ];
    for (path, place, new) in &cells {
        edit_cell(&edited, path, *place, new);
    }
    let changed = Edited::new("a.HIP", &edited.packed());
    let mount = changed.original();
    let info: serde_json::Value =
        serde_json::from_str(&text(&mount, &format!("{KIT}/info.json"))).unwrap();
    assert_eq!(info["group"]["id"], "0x00000009");
    for (path, place, new) in &cells {
        assert_eq!(cell(&mount, path, *place), *new, "{path}");
    }
}

#[fuse_test]
fn a_copy_of_such_metadata_changes_nothing() {
    let edited = tables();
    let mount = edited.original();
    for directory in [KIT, STATES] {
        for entry in fs::read_dir(mount.path().join(directory)).unwrap() {
            let entry = entry.unwrap();
            let name = entry.file_name().into_string().unwrap();
            edited.edit(
                &format!("{directory}/{name}"),
                &fs::read(entry.path()).unwrap(),
            );
        }
    }
    assert!(edited.packed() == fs::read(&edited.archive).unwrap());
}

#[fuse_test]
fn what_a_table_derives_or_does_not_have_is_refused_with_its_place() {
    let edited = tables();
    let states = format!("{STATES}/table.tsv");
    edit_cell(&edited, &states, (0, "effect_count"), "2");
    edited.edit(
        &format!("{STATES}/files.tsv"),
        b"index\tanimations\n0\tWALK\n",
    );
    edited.edit(&format!("{KIT}/info.json"), br#"{"lights": 2, "grup": 1}"#);
    edited.edit("layers/00-DEFAULT/NONE.lkt.meta/table.tsv", b"index\n");
    let refused = edited.refused();
    for expected in [
        "table.tsv: line 2, column effect_count (0): follows from the parts of the table",
        "files.tsv: line 2, column animations (0): is derived",
        "info.json: lights: cannot be edited",
        "info.json: grup: is no field here; fields are group",
    ] {
        assert!(refused.contains(expected), "{expected}: {refused}");
    }
}

#[fuse_test]
fn metadata_of_an_asset_with_converted_files_is_refused() {
    let edited = level();
    let path = "layers/00-DEFAULT/FIRST.timr.meta";
    edited.edit(
        &format!("{path}/object.json"),
        br#"{"body": {"seconds": 3}}"#,
    );
    let refused = edited.refused();
    let expected = format!("{path}: is generated: edit the file in `converted`");
    assert!(refused.contains(&expected), "{refused}");
    let mount = edited.original();
    let editable = |path: &str| {
        let value = xattr::get(mount.path().join(path), "user.hpimount.editable");
        String::from_utf8(value.unwrap().unwrap()).unwrap()
    };
    assert_eq!(
        editable(&format!("{path}/object.json")),
        "no: edit the file in `converted`"
    );
    let tables = tables();
    let mount = tables.original();
    let value = xattr::get(
        mount.path().join(format!("{KIT}/table.tsv")),
        "user.hpimount.editable",
    );
    assert_eq!(value.unwrap().unwrap(), b"yes: fields of the rows");
}
