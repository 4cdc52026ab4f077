//! Editing files in the `X.meta` of assets that have no converted files.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use fixtures::heavy_iron::{animation_table, light_kit};
use fixtures::hip::{Asset, Hip};
use hpimount_containers::hip::{Game, Platform, asset_id};
use rustix::io::Errno;
use testkit::fuse_test;
use testkit::mount::eventually;

use crate::kit::{Editing, assert_fails, save};

const ASSET: &str = "layers/00-DEFAULT/KIT.lkt";
const INFO: &str = "layers/00-DEFAULT/KIT.lkt.meta/info.json";
const TABLE: &str = "layers/00-DEFAULT/STATES.atbl.meta/effects.tsv";
const TEXT: &str = "layers/00-DEFAULT/greeting.text.meta";

/// Mounts an archive with a light kit, a table of animations, and a text, which has a
/// converted file.
fn tables() -> Editing {
    let mut hip = Hip::target(Game::Bfbb, Platform::GameCube);
    hip.layer(0)
        .add(light_kit("KIT"))
        .add(animation_table("STATES"))
        .add(Asset::new(b"TEXT", "greeting", b"\0\0\0\x05Hello\0\0\0"));
    Editing::new("a.HIP", &hip.build())
}

fn text(editing: &Editing, path: &str) -> String {
    String::from_utf8(editing.read(path)).unwrap()
}

#[fuse_test]
fn a_saved_value_is_in_its_asset_and_in_all_that_shows_it() {
    let mut editing = tables();
    let effects = text(&editing, TABLE);
    let new = effects.replace("\t5\t", "\t6\t");
    assert_ne!(new, effects);
    editing.write(TABLE, &new);
    editing.write(INFO, r#"{"group": "0x00000009"}"#);
    assert_eq!(editing.edits(), [INFO, TABLE]);
    for _ in 0..2 {
        assert_eq!(text(&editing, TABLE), new);
        assert_eq!(editing.read(ASSET)[4..8], [0, 0, 0, 9]);
        let by_id = format!("ids/{:08X}", asset_id(b"KIT"));
        assert_eq!(editing.read(&by_id)[4..8], [0, 0, 0, 9]);
        let rows = editing.rows();
        let of_table = format!("{TABLE}\tedited\t");
        assert!(
            rows.iter().any(|row| row.starts_with(&of_table)),
            "{rows:?}"
        );
        editing.assert_applied();
        editing.remount();
    }
    fs::remove_file(editing.path(TABLE)).unwrap();
    assert_eq!(editing.edits(), [INFO]);
    eventually("the original is listed", || {
        editing.path(TABLE).exists() && text(&editing, TABLE) == effects
    });
}

#[fuse_test]
fn what_cannot_be_stored_is_said_at_the_end_and_beside_it() {
    let editing = tables();
    let image = editing.image();
    let bad = r#"{"grup": 1}"#;
    assert_fails(save(&editing.path(INFO), bad), Errno::INVAL);
    assert_eq!(text(&editing, INFO), bad);
    let message = text(&editing, &format!("{INFO}.error.txt"));
    assert!(message.contains("grup: is no field here"), "{message}");
    assert_eq!(editing.edits(), [format!("{INFO}.rejected~")]);
    assert!(editing.image() == image);
}

#[fuse_test]
fn a_saved_asset_supersedes_the_values_that_were_saved_before() {
    let editing = tables();
    let mut asset = editing.read(ASSET);
    editing.write(INFO, r#"{"group": "0x00000009"}"#);
    asset[7] = 3;
    editing.write(ASSET, &asset);
    assert_eq!(editing.edits().last().unwrap(), ASSET);
    assert!(editing.read(ASSET) == asset);
    assert!(text(&editing, INFO).contains("0x00000003"));
    editing.assert_applied();
}

#[fuse_test]
fn files_that_the_converted_tree_has_too_are_edited_there() {
    let editing = tables();
    for name in editing.names(TEXT) {
        let file = editing.path(&format!("{TEXT}/{name}"));
        assert_fails(save(&file, "{}"), Errno::PERM);
        assert_eq!(fs::metadata(file).unwrap().permissions().mode() & 0o222, 0);
    }
    assert_fails(save(&editing.path(&format!("{TEXT}/new")), ""), Errno::PERM);
    let mode = fs::metadata(editing.path(INFO))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o644);
}
