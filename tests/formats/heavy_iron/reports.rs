//! Reports about an archive, read through the kernel: the level, checks, links,
//! placements, references, and a table for each type.

use std::fs;
use std::process::Command;

use fixtures::heavy_iron as build;
use fixtures::hip::{Asset, Hip};
use hpimount_containers::hip::{Game, Platform, asset_id};
use testkit::files::walk;
use testkit::fuse_test;
use testkit::gltf::{accept, list, scene};
use testkit::limits::peak_memory_of;
use testkit::mounted::{mounted, mounted_files, stats};
use testkit::shown::{built, bytes_of, rows, shown_triangles};
use testkit::sources::{json, names};

fn id(name: &str) -> u32 {
    asset_id(name.as_bytes())
}

fn gamecube() -> Hip {
    let mut hip = Hip::target(Game::Bfbb, Platform::GameCube);
    hip.layer(0);
    hip
}

/// Returns a SIMP with a model at a position.
fn simple(name: &str, position: [f32; 3], yaw: f32, model: u32) -> Vec<u8> {
    let fields = [
        build::big(&[id(name), 0x0B00_001D, 0x0100_0000, 0, 0]),
        build::big_floats(&[yaw, 0.0, 0.0]),
        build::big_floats(&position),
        build::big_floats(&[2.0, 0.0, 1.0]),
        build::big_floats(&[1.0; 5]),
        build::big(&[model, 0, 0, 0, 0]),
    ];
    fields.concat()
}

fn model() -> Vec<u8> {
    let corners = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
    build::plain_model(&corners, &[[0.0; 2]; 3], &[[0, 1, 2]])
}

/// Returns a set of two models. The second one is on bone 1 of the first. Games ignore
/// the matrices.
fn set(models: [u32; 2]) -> Vec<u8> {
    let head = build::big(&[0x464E_494D, 2, 0, 0, 0]);
    let part = |model: u32, attached: u32| {
        let matrix = build::big_floats(&[9.0; 12]);
        [build::big(&[model, attached]), matrix].concat()
    };
    [head, part(models[0], 0xFF00), part(models[1], 0x0020_0001)].concat()
}

#[fuse_test]
fn levels_and_sets_blend_models_as_the_table_of_pipelines_says() {
    let texture = build::opaque(build::gamecube(4, 0, [8, 4], &[], &[0; 64], 1));
    let (glow, plain) = (id("glow.dff"), id("crate.dff"));
    let mut hip = gamecube();
    for (code, name, bytes) in [
        (b"MODL", "glow.dff", model()),
        (b"MODL", "crate.dff", model()),
        (b"MINF", "set.MINF", set([plain, glow])),
        (b"RWTX", "wood.RW3", texture),
        (b"PIPT", "pipes", build::big(&[1, glow, 1, 0x2500])),
        (b"SIMP", "box1", simple("box1", [0.0; 3], 0.0, plain)),
        (b"SIMP", "box2", simple("box2", [0.0; 3], 0.0, glow)),
    ] {
        hip.add(Asset::new(code, name, &bytes));
    }
    let mount = mounted(&hip.build(), "");
    let set = built(&mount, "set.MINF").join("model.glb");
    for path in [mount.file("converted/level.glb"), set] {
        let scene = scene(&path);
        let materials = list(&scene, "materials").iter();
        let mut used: Vec<_> = materials
            .filter_map(|material| {
                let texture = &material["pbrMetallicRoughness"]["baseColorTexture"];
                Some((material["alphaMode"] == "BLEND", texture["index"].as_u64()?))
            })
            .collect();
        used.sort_unstable();
        // Additive blending has a separate picture.
        let [(false, plain), (true, added)] = used[..] else {
            panic!("{}: {used:?}", path.display());
        };
        let image = |texture: u64| list(&scene, "textures")[texture as usize]["source"].clone();
        assert_ne!(image(plain), image(added), "{}", path.display());
    }
}

#[fuse_test]
fn a_level_has_its_geometry_once_and_its_objects_at_their_positions() {
    let texture = build::gamecube(4, 0, [8, 4], &[], &[0xFC, 0].repeat(32), 1);
    let quarter = std::f32::consts::FRAC_PI_2;
    let crate_id = id("crate.dff");
    let mut hip = gamecube();
    for (code, name, bytes) in [
        (b"JSP ", "ground", build::gamecube_model(false)),
        (b"JSP ", "info", build::level_info()),
        (b"MODL", "crate.dff", model()),
        (b"MODL", "crab.dff", build::figure()),
        (b"MINF", "crab.MINF", set([id("crab.dff"), crate_id])),
        (b"RWTX", "wood.RW3", texture),
        (
            b"SIMP",
            "box1",
            simple("box1", [10.0, 0.0, 0.0], 0.0, crate_id),
        ),
        (
            b"SIMP",
            "box2",
            simple("box2", [20.0, 5.0, 0.0], quarter, crate_id),
        ),
        (
            b"SIMP",
            "crab",
            simple("crab", [0.0; 3], 0.0, id("crab.MINF")),
        ),
        (
            b"SIMP",
            "ghost",
            simple("ghost", [0.0, 0.0, 7.0], 0.0, 0xDEAD_BEEF),
        ),
    ] {
        hip.add(Asset::new(code, name, &bytes));
    }
    let mount = mounted(&hip.build(), "");
    let path = mount.file("converted/level.glb");
    let scene = scene(&path);
    assert_eq!(list(&scene, "images").len(), 1, "the texture occurs once");
    assert_eq!(list(&scene, "meshes").len(), 3, "ground, crate and crab");
    let nodes = list(&scene, "nodes");
    let node = |name: &str| {
        let mut nodes = nodes.iter();
        nodes.find(|node| node["name"] == name).unwrap()
    };
    assert_eq!(node("ground")["mesh"], 0);
    assert_eq!(node("box1")["mesh"], 1);
    assert_eq!(node("box2")["mesh"], 1);
    assert_eq!(
        node("box1")["translation"],
        serde_json::json!([10.0, 0.0, 0.0])
    );
    assert_eq!(node("box1")["scale"], serde_json::json!([2.0, 1.0, 1.0]));
    let turn = node("box2")["rotation"][1].as_f64().unwrap();
    assert!(
        (turn - std::f64::consts::FRAC_1_SQRT_2).abs() < 1e-6,
        "{turn}"
    );
    let crab = node("crab");
    assert_eq!(crab["mesh"], 2);
    let second = crab["children"][0].as_u64().unwrap() as usize;
    assert_eq!(
        nodes[second]["translation"],
        serde_json::json!([0.0, 3.0, 0.0])
    );
    assert_eq!(nodes[second]["mesh"], 1);
    let ghost = node("ghost");
    assert!(ghost.get("mesh").is_none() && ghost["translation"][2] == 7.0);
    let set = built(&mount, "crab.MINF").join("model.glb");
    accept(&[&path, &set]);
    let scene = self::scene(&set);
    let nodes = list(&scene, "nodes");
    let bone = nodes.iter().find(|node| node["name"] == "bone_8").unwrap();
    assert_eq!(bone["translation"], serde_json::json!([0.0, 3.0, 0.0]));
    let child = bone["children"][0].as_u64().unwrap() as usize;
    assert_eq!(nodes[child]["name"], "crate.dff");
    assert_eq!(list(&scene, "skins").len(), 1);
}

#[fuse_test]
fn a_level_in_two_archives_is_whole_in_both() {
    let work_dir = tempfile::tempdir().unwrap();
    let [mut objects, mut geometry, mut boot] = [gamecube(), gamecube(), gamecube()];
    let crate_id = id("crate.dff");
    objects.add(Asset::new(
        b"SIMP",
        "box",
        &simple("box", [1.0, 2.0, 3.0], 0.0, crate_id),
    ));
    geometry.add(Asset::new(b"JSP ", "ground", &build::gamecube_model(false)));
    boot.add(Asset::new(b"MODL", "crate.dff", &model()));
    // Geometry of another level is not part of this one.
    boot.add(Asset::new(b"JSP ", "menu", &build::gamecube_model(false)));
    let files = [
        ("jf01.HIP", objects),
        ("jf01.HOP", geometry),
        ("boot.HIP", boot),
    ];
    let paths = files.map(|(name, hip)| {
        let path = work_dir.path().join(name);
        fs::write(&path, hip.build()).unwrap();
        path
    });
    let mount = mounted_files(&paths, "");
    let names = |archive: &str| {
        let scene = scene(&mount.file(&format!("{archive}/converted/level.glb")));
        let nodes = list(&scene, "nodes").iter();
        let names = nodes.map(|node| node["name"].as_str().unwrap().to_owned());
        (names.collect::<Vec<_>>(), list(&scene, "meshes").len())
    };
    assert_eq!(names("jf01.HIP"), (vec!["ground".into(), "box".into()], 2));
    assert_eq!(names("jf01.HOP"), (vec!["ground".into(), "box".into()], 2));
    assert_eq!(names("boot.HIP"), (vec!["menu".into()], 1));
}

#[fuse_test]
fn a_world_is_a_model_and_a_part_of_its_level() {
    let mut hip = Hip::target(Game::Scooby, Platform::PlayStation2);
    hip.layer(0);
    hip.add(Asset::new(b"BSP ", "R001.BSP", &build::world()));
    let mount = mounted(&hip.build(), "");
    let meta = built(&mount, "R001.BSP");
    assert_eq!(shown_triangles(&meta).len(), 2);
    let world = &json(&meta.join("info.json"))["worlds"][0];
    for (count, known) in [
        ("sectors", 2),
        ("planes", 1),
        ("depth", 1),
        ("materials", 1),
    ] {
        assert_eq!(world[count], known, "{count}");
    }
    let models = mount.file("converted/models");
    let converted = names(&models).into_iter();
    let converted = converted.filter(|name| name.ends_with(".glb"));
    let mut files: Vec<_> = converted.map(|name| models.join(name)).collect();
    assert_eq!(files.len(), 1, "{files:?}");
    files.extend([meta.join("model.glb"), mount.file("converted/level.glb")]);
    for file in &files {
        let scene = scene(file);
        assert_eq!(list(&scene, "meshes").len(), 1, "{}", file.display());
        let materials = list(&scene, "materials").iter();
        let names: Vec<_> = materials.map(|one| one["name"].as_str()).collect();
        // Materials that look the same are one in a level.
        let name = match file.ends_with("level.glb") {
            true => "material_0",
            false => "wood",
        };
        assert_eq!(names, [Some(name)], "{}", file.display());
    }
    accept(&files);
}

/// Returns a trigger with two points.
fn trigger(name: &str, shape: u32, yaw: f32, points: [[f32; 3]; 2]) -> Vec<u8> {
    let fields = [
        build::big(&[id(name), 0x0100_001D, 0x0100_0000 | shape << 16, 0, 0]),
        build::big_floats(&[yaw, 0.0, 0.0]),
        build::big_floats(&[10.0, 0.0, 0.0]),
        build::big_floats(&[1.0; 8]),
        build::big(&[0, 0]),
        build::big_floats(points.as_flattened()),
        vec![0; 40],
    ];
    fields.concat()
}

/// Returns a move point with those that follow it.
fn move_point(name: &str, position: [f32; 3], next: &[u32]) -> Vec<u8> {
    let fields = [
        build::big(&[id(name), 0x0D00_001D]),
        build::big_floats(&position),
        build::big(&[0, next.len() as u32]),
        vec![0; 12],
        build::big(next),
    ];
    fields.concat()
}

#[fuse_test]
fn a_level_names_its_objects_and_has_triggers_and_paths_below_hidden_nodes() {
    let quarter = std::f32::consts::FRAC_PI_2;
    let [start, end] = ["start", "end"].map(id);
    let mut hip = gamecube();
    for (code, name, bytes) in [
        (b"SIMP", "box", simple("box", [1.0; 3], 0.0, 0)),
        (
            b"TRIG",
            "door",
            trigger("door", 0, quarter, [[12.0, 0.0, 0.0], [16.0, 2.0, 2.0]]),
        ),
        (
            b"TRIG",
            "near",
            trigger("near", 1, 0.0, [[5.0; 3], [2.0, 0.0, 0.0]]),
        ),
        (
            b"MVPT",
            "start",
            move_point("start", [1.0, 2.0, 3.0], &[end, 9]),
        ),
        (b"MVPT", "end", move_point("end", [4.0, 2.0, 3.0], &[start])),
    ] {
        hip.add(Asset::new(code, name, &bytes));
    }
    let mount = mounted(&hip.build(), "");
    let path = mount.file("converted/level.glb");
    let scene = scene(&path);
    let nodes = list(&scene, "nodes");
    let node = |name: &str| nodes.iter().find(|node| node["name"] == name).unwrap();
    let children = |name: &str| -> Vec<_> {
        let numbers = list(node(name), "children").iter();
        numbers
            .map(|number| &nodes[number.as_u64().unwrap() as usize])
            .collect()
    };
    for (group, names) in [("triggers", ["door", "near"]), ("paths", ["start", "end"])] {
        let hidden = &node(group)["extensions"]["KHR_node_visibility"];
        assert_eq!(hidden["visible"], false, "{group}");
        let found: Vec<_> = children(group).iter().map(|one| &one["name"]).collect();
        assert_eq!(found, names, "{group}");
    }
    for (name, code) in [("box", "SIMP"), ("door", "TRIG"), ("end", "MVPT")] {
        let known = serde_json::json!({ "id": format!("{:08X}", id(name)), "type": code });
        assert_eq!(node(name)["extras"], known);
    }
    // The box is rotated about the position of its trigger: x becomes -z.
    let place = list(node("door"), "translation").iter();
    let place: Vec<_> = place.map(|part| part.as_f64().unwrap().round()).collect();
    assert_eq!(place, [11.0, 1.0, -4.0]);
    let greatest = |name: &str| {
        let mesh = children(name)[0]["mesh"].as_u64().unwrap() as usize;
        let positions = &list(&scene, "meshes")[mesh]["primitives"][0]["attributes"]["POSITION"];
        scene["accessors"][positions.as_u64().unwrap() as usize]["max"].clone()
    };
    assert_eq!(greatest("door"), serde_json::json!([2.0, 1.0, 1.0]));
    assert_eq!(greatest("near"), serde_json::json!([2.0, 2.0, 2.0]));
    assert_eq!(greatest("start"), serde_json::json!([3.0, 0.0, 0.0]));
    accept(&[&path]);
}

/// Number of objects of a level that is larger than any in the games.
const MANY: u32 = 30_000;

#[fuse_test]
fn a_level_of_many_objects_stays_within_the_memory_limit() {
    let mut hip = gamecube();
    hip.add(Asset::new(b"MODL", "crate.dff", &model()));
    for number in 0..MANY {
        let name = format!("box{number:05}");
        let position = [number as f32, 0.0, 0.0];
        let mut bytes = simple(&name, position, 0.0, id("crate.dff"));
        bytes[5] = 1;
        let target = id(&format!("box{:05}", (number * 7) % MANY));
        bytes.extend(build::big(&[0x0001_0002, target, 0, 0, 0, 0, 0, 0]));
        hip.add(Asset::new(b"SIMP", &name, &bytes));
    }
    let mount = mounted(&hip.build(), "cachesize=16M");
    let before = peak_memory_of(&mount.pid().to_string());
    let converted = mount.file("converted");
    for (file, lines) in [
        ("tables/links.tsv", 1 + MANY),
        ("tables/links_in.tsv", 1 + MANY),
        ("tables/placements.tsv", 1 + MANY),
        ("tables/refs.tsv", 2 + MANY),
        ("errors.tsv", 1),
    ] {
        let text = String::from_utf8(bytes_of(&converted.join(file))).unwrap();
        assert_eq!(text.lines().count() as u32, lines, "{file}");
    }
    let scene = scene(&converted.join("level.glb"));
    assert_eq!(list(&scene, "nodes").len() as u32, MANY);
    let peak = peak_memory_of(&mount.pid().to_string());
    eprintln!("{} KiB, then {} KiB", before >> 10, peak >> 10);
    assert!(peak < before + (64 << 20), "{before}, then {peak}");
    assert!(stats(&mount)["cache"]["bytes"].as_u64().unwrap() <= 16 << 20);
}

#[fuse_test]
fn the_sounds_of_an_animation_table_are_references() {
    let state = [7, 0, 1, 48, 0, 0, 0];
    let effect = [7, 0, 0x3F80_0000, 0, 1, 24, id("beep"), 0, 0, 5, 0, 0];
    let table = [&[0x4C42_5441, 0, 0, 1, 0][..], &state, &effect].concat();
    let mut hip = gamecube();
    hip.add(Asset::new(b"SND ", "beep", &[0; 8]))
        .add(Asset::new(b"ATBL", "walk", &build::big(&table)));
    let mount = mounted(&hip.build(), "");
    let effects = rows(&built(&mount, "walk").join("effects.tsv"));
    let [effect] = &effects[..] else {
        panic!("{effects:?}")
    };
    assert_eq!((&*effect["sound_name"], &*effect["end"]), ("beep", "1"));
    let found = rows(&mount.file("converted/tables/refs.tsv"));
    let mut found = found
        .iter()
        .map(|row| (&*row["field"], &*row["target_name"]));
    assert!(found.any(|row| row == ("sound", "beep")));
}

#[fuse_test]
fn the_session_in_the_readme_finds_what_opens_a_gate() {
    let gate = id("GATE_01");
    let opens_gate = [0x0037_000D, gate, 0, 0, 0, 0, 0, 0];
    // The header of a button with one link.
    let button = |name| [id(name), 0x1801_001D];
    let mut hip = gamecube();
    for name in ["BUTTON_01", "LEVER_02"] {
        let mut bytes = build::big(&button(name));
        bytes.resize(156, 0);
        bytes.extend(build::big(&opens_gate));
        hip.add(Asset::new(b"BUTN", name, &bytes));
    }
    let mut bytes = build::big(&[gate, 0x0600_001D]);
    bytes.resize(192, 0);
    hip.add(Asset::new(b"PLAT", "GATE_01", &bytes));
    let mount = mounted(&hip.build(), "");
    let mut session = Command::new("sh");
    session.current_dir(mount.file(""));
    session.args([
        "-c",
        r"grep -P '\tGATE_01\t' converted/tables/links.tsv | cut -f2,3,5,8-10",
    ]);
    let found = String::from_utf8(session.output().unwrap().stdout).unwrap();
    assert_eq!(found.lines().count(), 2, "{found}");
    for page in [
        include_str!("../../../README.md"),
        include_str!("../../../docs/TOUR.md"),
    ] {
        assert!(page.contains(&found), "{found}");
    }
}

#[fuse_test]
fn unreadable_assets_are_in_the_table_and_affect_nothing_else() {
    let mut hip = gamecube();
    hip.add(Asset::new(b"ANIM", "broken", &[1; 64]));
    hip.add(Asset::new(b"MODL", "cut.dff", &model()[..60]));
    hip.add(Asset::new(b"TEXT", "fine", b"\0\0\0\x02ok\0\0"));
    let mount = mounted(&hip.build(), "");
    let converted = mount.file("converted");
    let errors = rows(&converted.join("errors.tsv"));
    let reasons: Vec<_> = errors
        .iter()
        .map(|row| (row["name"].as_str(), row["error"].contains(" at 0x")))
        .collect();
    assert_eq!(reasons, [("broken", true), ("cut.dff", true)]);
    assert_eq!(rows(&converted.join("texts.tsv"))[0]["text"], "ok");
    for file in walk(mount.path()) {
        if file.is_file() {
            fs::read(&file).unwrap();
        }
    }
}
