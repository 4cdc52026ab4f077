//! The views of Total Annihilation's assets in a small synthetic game, and
//! other programs that open their files.

use std::fs;
use std::path::Path;

use fixtures::ta::{bmp, cob, gaf, pcx, tdf, tdo, tnt};
use serde_json::Value;
use testkit::fuse_test;
use testkit::mount::Mount;
use testkit::pictures::pixels;
use testkit::sources::{folder, json, names, read};
use testkit::ta_files::other_programs_read;

/// Returns a model with a textured face, a piece that its script spells
/// differently, and a texture that is missing.
fn model() -> Vec<u8> {
    let one = 65536;
    let mut root = tdo::object("BASE");
    root.vertices = vec![
        [-one, one, -one],
        [one, one, -one],
        [one, 0, -one],
        [-one, 0, -one],
    ];
    let textured = |name: &str| tdo::Primitive {
        texture: Some(name.to_owned()),
        ..tdo::primitive(&[0, 1, 2, 3])
    };
    root.primitives = vec![textured("wall"), textured("ARMlogo"), textured("nowhere")];
    root.children = vec![tdo::object("GUN")];
    tdo::file(&root)
}

/// Returns a black box.
fn boulder() -> Vec<u8> {
    let mut rock = tdo::object("rock");
    let corner = |at: [i32; 3]| at.map(|part| part * 65536);
    tdo::add_box(
        &mut rock,
        corner([-2, 0, -1]),
        corner([4, 2, 3]),
        |_, side| {
            side.color = 20;
            side.flag = 1;
        },
    );
    tdo::file(&rock)
}

fn sprite(name: &str, frames: &[(u16, u8)]) -> gaf::Sequence {
    let frame = |&(width, index): &(u16, u8)| {
        let pixels = vec![Some(index); 2 * usize::from(width)];
        (gaf::Frame::rle(width, 2, &pixels), 1)
    };
    gaf::sequence(name, frames.iter().map(frame).collect())
}

/// Writes the files of a small game.
fn game(source: &Path) {
    let write = |path: &str, bytes: Vec<u8>| {
        let path = source.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    };
    write("objects3d/TANK.3do", model());
    write("scripts/TANK.cob", cob::small(4).file());
    write(
        "textures/walls.gaf",
        gaf::file(&[sprite("Wall", &[(4, 7)])]),
    );
    let logos = [sprite("armLOGO", &[(2, 20); 10])];
    write("textures/LOGOS.GAF", gaf::file(&logos));
    let walk = [sprite("walk", &[(4, 7), (2, 9), (3, 8)])];
    write("anims/tank.gaf", gaf::file(&walk));
    let picture = pcx::Pcx::indexed(2, 1, vec![1, 2]);
    write("bitmaps/two.pcx", picture.file());
    let picture = bmp::Bmp {
        width: 2,
        height: 2,
        bits: 8,
        colors: vec![[255, 0, 0], [0, 255, 0]],
        rows: vec![0, 1, 0, 0, 1, 1, 0, 0],
    };
    write("unitpics/two.bmp", picture.file());
    write(
        "palettes/light.lht",
        [vec![7; 256], vec![0; 31 * 256]].concat(),
    );
    let mut sound = b"RIFF\x28\0\0\0WAVEfmt \x10\0\0\0\x01\0\x02\0".to_vec();
    sound.extend(b"\x11\x2b\0\0\x22\x56\0\0\x02\0\x08\0data\x04\0\0\0abcd");
    write("sounds/shot.wav", sound);
    write("maps/small.tnt", tnt::Map::small().file(0x2000));
    let keys = vec![tdf::key("x", "1"), tdf::key("X", "2")];
    write("gamedata/a.tdf", tdf::file(&[tdf::section("A", keys)]));
    // Blue at index 7.
    let mut palette = vec![0; 1024];
    palette[4 * 7 + 2] = 255;
    write("palettes/palette.pal", palette);
}

fn small_game() -> Mount {
    folder(game).mount(&[])
}

#[fuse_test]
fn the_palette_of_the_mount_colors_sprites() {
    let mount = small_game();
    let meta = mount.file("anims/tank.gaf.meta");
    let shown = pixels(&read(&meta.join("000 walk/00.png")));
    assert_eq!(shown, (4, 2, [0, 0, 255, 255].repeat(8)));
    let source = json(&meta.join("info.json"))["palette"].clone();
    assert!(
        source.as_str().unwrap().ends_with("palettes/palette.pal"),
        "{source}"
    );
}

#[fuse_test]
fn pictures_of_units_and_blend_tables_are_shown() {
    let mount = small_game();
    let shown = pixels(&read(&mount.file("unitpics/two.bmp.meta/picture.png")));
    let (red, green) = ([255, 0, 0, 255], [0, 255, 0, 255]);
    assert_eq!(shown, (2, 2, [green, green, red, green].concat()));
    let (width, height, colors) = pixels(&read(&mount.file("palettes/light.lht.meta/table.png")));
    assert_eq!((width, height), (256, 32));
    // The table has color 7 of the mount's palette in its first row.
    assert!(
        colors[..1024]
            .chunks(4)
            .all(|color| color == [0, 0, 255, 255])
    );
}

#[fuse_test]
fn the_properties_of_sounds_are_shown() {
    let mount = small_game();
    let info = json(&mount.file("sounds/shot.wav.meta/info.json"));
    for (field, value) in [
        ("channels", 2),
        ("rate", 11025),
        ("bits", 8),
        ("samples", 2),
    ] {
        assert_eq!(info[field], value, "{field}");
    }
}

#[fuse_test]
fn textures_are_found_by_sequence_and_have_their_location() {
    let mount = small_game();
    let meta = mount.file("objects3d/TANK.3do.meta");
    let table = String::from_utf8(read(&meta.join("textures.tsv"))).unwrap();
    let rows: Vec<Vec<&str>> = table.lines().map(|row| row.split('\t').collect()).collect();
    assert_eq!(rows[1][0], "wall");
    assert!(rows[1][2].ends_with("textures/walls.gaf"), "{table}");
    assert_eq!((rows[1][3], rows[1][4]), ("0", "false"));
    assert!(
        rows[2][2].ends_with("LOGOS.GAF") && rows[2][4] == "true",
        "{table}"
    );
    assert_eq!(rows[3][..3], ["nowhere", "1", ""]);
    let textures = meta.join("textures");
    assert_eq!(
        names(&textures),
        ["00 wall.png", "01 ARMlogo.png", "02 nowhere.png"]
    );
    let wall = pixels(&read(&textures.join("00 wall.png")));
    assert_eq!(wall, (4, 2, [0, 0, 255, 255].repeat(8)));
    let materials = String::from_utf8(read(&meta.join("model.mtl"))).unwrap();
    assert!(materials.contains("textures/00 wall.png"), "{materials}");
    assert!(
        materials.contains("newmtl nowhere_(missing)"),
        "{materials}"
    );
}

#[fuse_test]
fn a_mod_in_a_subfolder_finds_its_own_files() {
    let mount = folder(|source| game(&source.join("mods/mine"))).mount(&[]);
    let meta = mount.file("mods/mine/objects3d/TANK.3do.meta");
    let table = String::from_utf8(read(&meta.join("textures.tsv"))).unwrap();
    assert!(table.contains("mods/mine/textures/walls.gaf"), "{table}");
    let script = json(&mount.file("mods/mine/scripts/TANK.cob.meta/info.json"));
    assert_eq!(script["warnings"], serde_json::json!([]));
    let sprite = json(&mount.file("mods/mine/anims/tank.gaf.meta/info.json"));
    let palette = sprite["palette"].as_str().unwrap();
    assert!(palette.ends_with("mods/mine/palettes/palette.pal"));
}

#[fuse_test]
fn pieces_have_the_names_of_the_script() {
    let mount = small_game();
    let script = json(&mount.file("scripts/TANK.cob.meta/info.json"));
    let pieces: Vec<&str> = script["pieces"]
        .as_array()
        .unwrap()
        .iter()
        .map(|piece| piece.as_str().unwrap())
        .collect();
    let glb = read(&mount.file("objects3d/TANK.3do.meta/model.glb"));
    let length = u32::from_le_bytes(glb[12..16].try_into().unwrap()) as usize;
    let scene: Value = serde_json::from_slice(&glb[20..20 + length]).unwrap();
    for piece in pieces {
        let known = ["base", "gun"].contains(&piece.to_ascii_lowercase().as_str());
        let nodes = scene["nodes"].as_array().unwrap();
        let is_node = nodes.iter().any(|node| node["name"] == piece);
        assert_eq!(is_node, known, "{piece}: {scene}");
        let warning = format!("piece \"{piece}\" is not in objects3d/TANK.3do");
        let warnings = script["warnings"].as_array().unwrap();
        assert_eq!(warnings.contains(&warning.into()), !known, "{piece}");
    }
}

#[fuse_test]
fn pieces_that_the_script_hides_are_hidden_in_the_model() {
    let write = |source: &Path, script: cob::Cob| {
        let mut root = tdo::object("base");
        root.vertices = vec![[0; 3], [1 << 16, 0, 0], [0, 1 << 16, 0]];
        root.primitives = vec![tdo::Primitive {
            color: 17,
            flag: 1,
            ..tdo::primitive(&[0, 1, 2])
        }];
        let mut gun = root.clone();
        gun.name = "GUN".to_owned();
        gun.position = [9 << 16, 0, 0];
        root.children = vec![gun];
        for (path, bytes) in [
            ("objects3d/tank.3do", tdo::file(&root)),
            ("scripts/tank.cob", script.file()),
        ] {
            let path = source.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }
    };
    let shown = cob::Cob {
        code: vec![cob::PUSH, 0, cob::RETURN],
        ..cob::small(4)
    };
    let hidden = folder(|source| write(source, cob::small(4))).mount(&[]);
    let shown = folder(|source| write(source, shown)).mount(&[]);
    let [hidden, shown] = [hidden, shown].map(|mount| {
        let meta = mount.file("objects3d/tank.3do.meta");
        (
            read(&meta.join("model.glb")),
            read(&meta.join("preview.png")),
        )
    });
    let visibility = b"KHR_node_visibility";
    let has_hidden = |glb: &[u8]| glb.windows(visibility.len()).any(|part| part == visibility);
    assert!(has_hidden(&hidden.0) && !has_hidden(&shown.0));
    assert_ne!(hidden.1, shown.1);
}

#[fuse_test]
fn features_and_starts_are_drawn_on_a_map() {
    let mount = folder(|source| {
        game(source);
        let keys = [("filename", "Trees"), ("seqname", "tree1")];
        let tree = tdf::section(
            "TREE",
            keys.map(|(name, value)| tdf::key(name, value)).to_vec(),
        );
        let rock = tdf::section("ROCK", vec![tdf::key("object", "Boulder")]);
        fs::create_dir(source.join("features")).unwrap();
        fs::write(source.join("features/all.tdf"), tdf::file(&[tree, rock])).unwrap();
        fs::write(source.join("objects3d/boulder.3do"), boulder()).unwrap();
        let trees = gaf::file(&[sprite("Tree1", &[(2, 20)])]);
        fs::write(source.join("anims/trees.gaf"), trees).unwrap();
        let start = [("specialwhat", "StartPos1"), ("XPos", "40"), ("ZPos", "10")];
        let start = start.map(|(name, value)| tdf::key(name, value)).to_vec();
        let specials = tdf::section("specials", vec![tdf::section("special0", start)]);
        let schema = tdf::section("Schema 0", vec![specials]);
        let text = tdf::file(&[tdf::section("GlobalHeader", vec![schema])]);
        fs::write(source.join("maps/small.ota"), text).unwrap();
    })
    .mount(&[]);
    let color = |name: &str, x: usize, y: usize| {
        let path = mount.file("maps/small.tnt.meta").join(name);
        let (width, _, pixels) = pixels(&read(&path));
        let at = 4 * (y * width as usize + x);
        [pixels[at], pixels[at + 1], pixels[at + 2]]
    };
    let (blue, black) = ([0, 0, 255], [0; 3]);
    // The tree is in the middle of its cell, raised by half of its height.
    assert_eq!(color("map.png", 8, 17), blue);
    assert_eq!(color("map_features.png", 8, 17), black);
    assert_eq!(color("map_features.png", 7, 17), blue);
    // The boulder is 6 pixels wide, 4 deep and 2 high, which is one pixel up. Its
    // origin is 2 pixels from the left and one from the front.
    let is_boulder = |x: usize, y: usize| color("map_features.png", x, y) == black;
    for y in 0..6 {
        for x in 16..32 {
            let is_inside = (22..28).contains(&x) && y < 4;
            assert_eq!(is_boulder(x, y), is_inside, "{x}, {y}");
        }
    }
    // The digit is as white as the palette allows.
    assert_eq!(color("map_features.png", 40, 10), black);
    assert_eq!(color("map_starts.png", 40, 10), blue);
}

#[fuse_test]
fn a_preview_is_deterministic() {
    let (first, second) = (small_game(), small_game());
    for path in ["objects3d/TANK.3do.meta", "anims/tank.gaf.meta"] {
        let path = format!("{path}/preview.png");
        let [a, b] = [&first, &second].map(|mount| read(&mount.file(&path)));
        assert_eq!(a, b, "{path}");
        let (width, height, pixels) = pixels(&a);
        assert_eq!((width, height), (256, 256));
        let mut alphas = pixels.chunks(4).map(|pixel| pixel[3]);
        assert!(alphas.clone().any(|alpha| alpha == 255) && alphas.any(|alpha| alpha == 0));
    }
}

#[fuse_test]
fn the_last_of_equal_keys_wins_and_the_others_are_listed() {
    let mount = small_game();
    let info = json(&mount.file("gamedata/a.tdf.meta/info.json"));
    let section = &info["sections"][0];
    assert_eq!(section["keys"], serde_json::json!({"X": "2"}));
    assert_eq!(section["overridden"], serde_json::json!([["x", "1"]]));
}

#[fuse_test]
fn other_programs_read_the_generated_files() {
    other_programs_read(small_game().path());
}

#[fuse_test]
fn an_animation_has_a_frame_for_each_picture() {
    let mount = small_game();
    let bytes = read(&mount.file("anims/tank.gaf.meta/000 walk.apng"));
    let mut reader = png::Decoder::new(std::io::Cursor::new(&bytes))
        .read_info()
        .unwrap();
    assert_eq!(reader.info().animation_control.unwrap().num_frames, 3);
    let mut buffer = vec![0; reader.output_buffer_size().unwrap()];
    for _ in 0..3 {
        reader.next_frame(&mut buffer).unwrap();
        let control = reader.info().frame_control.unwrap();
        assert_eq!((control.delay_num, control.delay_den), (1, 30));
    }
}
