//! The assets of Heavy Iron's games, read through the kernel and compared with
//! the results of independent readers.

use std::fs;

use fixtures::heavy_iron as build;
use fixtures::hip::{Asset as Packed, Hip};
use hpimount_containers::hip::{Game, Platform, asset_id};
use testkit::fuse_test;
use testkit::gltf;
use testkit::mounted::mounted;
use testkit::pictures::pixels;
use testkit::shown::{built, bytes_of, rows, shown_triangles};
use testkit::sources::{json, names};

#[fuse_test]
fn a_small_archive_shows_all_kinds_of_assets() {
    let sound = asset_id(b"beep");
    let model = build::plain_model(
        &[[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]],
        &[[0.0; 2]; 3],
        &[[0, 1, 2]],
    );
    let target = asset_id(b"gate");
    let link = build::big(&[0x0001_0002, target, 0x3F80_0000, target, 0, 0, 0, 0]);
    let dispatcher = [&build::big(&[7, 0x1E01_001D])[..], &link].concat();
    let gate = build::big(&[target, 0x0E00_001D, 0x3F80_0000, 0]);
    let pixels_of_tile = [0xFC, 0].repeat(32);
    let texture = build::gamecube(4, 0, [8, 4], &[], &pixels_of_tile, 1);
    let mut hip = Hip::target(Game::Bfbb, Platform::GameCube);
    hip.layer(0);
    for (code, name, bytes) in [
        (b"RWTX", "wood.RW3", &texture),
        (b"RWTX", "cut.RW3", &texture[..40].to_vec()),
        (b"RWTX", "plank.txd", &texture),
        (b"SND ", "beep", &vec![0; 8]),
        (b"SNDI", "sound_info", &build::dsp_table(sound, 14, 8000)),
        (b"TEXT", "hello", &b"\0\0\0\x05h{c}\xE9\0\0\0".to_vec()),
        (b"CRDT", "credits", &build::credits()),
        (b"MODL", "crate.dff", &model),
        (b"DPAT", "opener", &dispatcher),
        (b"TIMR", "gate", &gate),
        (b"MRKR", "marker", &build::big_floats(&[1.0, 2.5, -3.0])),
        (b"ALST", "list", &build::big(&[target, 9])),
        (b"JSP ", "info", &build::level_info()),
        (b"XYZ ", "other", &vec![1]),
    ] {
        hip.add(Packed::new(code, name, bytes));
    }
    let mount = mounted(&hip.build(), "");
    // Textures named like dictionaries are not in tables of another game.
    let tables = names(&mount.file("converted/tables"));
    assert!(!tables.contains(&"textures.tsv".to_owned()), "{tables:?}");
    let shown = built(&mount, "wood.RW3");
    assert_eq!(
        names(&shown),
        ["info.json", "info.txt", "textures.tsv", "wood.png"]
    );
    let (width, height, colors) = pixels(&bytes_of(&shown.join("wood.png")));
    assert_eq!((width, height), (8, 4));
    assert_eq!(colors[..4], [255, 130, 0, 255]);
    assert_eq!(
        names(&built(&mount, "cut.RW3")),
        ["error.txt", "info.json", "info.txt", "textures.tsv"]
    );
    let shown = built(&mount, "beep");
    let wav = bytes_of(&shown.join("beep.wav"));
    assert_eq!(wav.len(), 44 + 28);
    assert_eq!(bytes_of(&shown.join("beep.dsp")).len(), 0x60 + 8);
    let text = bytes_of(&built(&mount, "hello").join("text.txt"));
    assert_eq!(text, "h{c}é".as_bytes());
    let text = bytes_of(&built(&mount, "credits").join("text.txt"));
    assert_eq!(text, b"text\n");
    let shown = built(&mount, "crate.dff");
    assert_eq!(
        names(&shown),
        [
            "info.json",
            "info.txt",
            "model.glb",
            "model.mtl",
            "model.obj",
            "preview.png",
            "textures",
            "textures.tsv"
        ]
    );
    assert_eq!(names(&shown.join("textures")), ["wood.png"]);
    assert_eq!(shown_triangles(&shown).len(), 1);
    let object = json(&built(&mount, "opener").join("object.json"));
    let link = &object["links"][0];
    assert_eq!(
        (&link["event"], &link["send"]),
        (&"Enable".into(), &"Disable".into())
    );
    assert_eq!(link["target"]["name"], "gate");
    assert_eq!(link["params"][1]["name"], "gate");
    let row = &rows(&built(&mount, "opener").join("links.tsv"))[0];
    assert_eq!((&*row["target_name"], &*row["param1"]), ("gate", "1"));
    assert_eq!(
        (&*row["event_word"], &*row["send_word"]),
        ("Enable", "Disable")
    );
    let row = &rows(&built(&mount, "marker").join("table.tsv"))[0];
    assert_eq!((&*row["y"], &*row["z"]), ("2.5", "-3"));
    let list = rows(&built(&mount, "list").join("table.tsv"));
    assert_eq!(
        (&*list[0]["animation_name"], &*list[1]["animation"]),
        ("gate", "0x00000009")
    );
    let info = json(&built(&mount, "info").join("info.json"));
    assert_eq!((&info["nodes"], &info["vectors"]), (&1.into(), &1.into()));
    assert!(!built(&mount, "other").exists());
}

#[fuse_test]
fn a_model_whose_light_is_added_is_transparent_where_it_is_black() {
    let model = build::plain_model(
        &[[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]],
        &[[0.0; 2]; 3],
        &[[0, 1, 2]],
    );
    let texture = build::opaque(build::gamecube(4, 0, [8, 4], &[], &[0; 64], 1));
    let shown = |flags: u32| {
        let pipes = build::big(&[1, asset_id(b"glow.dff"), 1, flags]);
        let mut hip = Hip::target(Game::Bfbb, Platform::GameCube);
        hip.layer(0)
            .add(Packed::new(b"RWTX", "wood.RW3", &texture))
            .add(Packed::new(b"MODL", "glow.dff", &model))
            .add(Packed::new(b"PIPT", "pipes", &pipes));
        let mount = mounted(&hip.build(), "");
        let shown = built(&mount, "glow.dff");
        let glb = gltf::scene(&shown.join("model.glb"));
        let (.., colors) = pixels(&bytes_of(&shown.join("preview.png")));
        (
            glb["materials"][0]["alphaMode"] == "BLEND",
            colors.chunks(4).any(|color| color[3] > 0),
        )
    };
    assert_eq!(shown(0), (false, true));
    assert_eq!(shown(0x6500), (true, true));
    assert_eq!(shown(0x2500), (true, false));
}

#[fuse_test]
fn a_missing_texture_has_a_placeholder_and_is_reported() {
    let model = build::plain_model(
        &[[0.0; 3], [1.0; 3], [0.0, 1.0, 0.0]],
        &[[0.0; 2]; 3],
        &[[0, 1, 2]],
    );
    let mut hip = Hip::target(Game::Bfbb, Platform::GameCube);
    hip.layer(0).add(Packed::new(b"MODL", "crate.dff", &model));
    let mount = mounted(&hip.build(), "");
    let shown = built(&mount, "crate.dff");
    assert!(!names(&shown).contains(&"textures".to_owned()));
    let row = &rows(&shown.join("textures.tsv"))[0];
    assert!(
        row["problem"].starts_with("is in no available archive"),
        "{row:?}"
    );
    let materials = fs::read_to_string(shown.join("model.mtl")).unwrap();
    assert!(materials.contains("Kd 1 0 1"), "{materials}");
}
