//! Worlds, compared with the results of an independent reader.

use std::collections::BTreeSet;

use crate::heavy_iron::native_models::{check_mesh, samples};
use crate::shared;
use fixtures::hip::{Asset, Hip};
use hpimount_containers::hip::{Game, Platform};
use hpimount_heavy_iron::{Facts, model};
use serde_json::Value as Json;
use testkit::fuse_test;
use testkit::gltf::{list, scene, validate};
use testkit::mounted::{mounted, mounted_files};
use testkit::shown::{built, bytes_of, shown_triangles};

#[test]
fn worlds_have_the_sectors_that_the_independent_reader_finds() {
    let mut seen = 0;
    for (name, expect, bytes, known) in samples("world/") {
        let read = model::parse(&bytes);
        if expect == "bad" {
            assert!(read.is_err(), "{name}");
            continue;
        }
        let read = read.unwrap_or_else(|incomplete| panic!("{name}: {}", incomplete.error));
        assert_eq!(read.warnings.is_empty(), expect == "ok", "{name}");
        let known = &known["worlds"].as_array().unwrap()[0];
        let world = &read.worlds[0];
        assert_eq!(Some(world.planes as u64), known["planes"].as_u64());
        let textures: Vec<_> = read.texture_names().collect();
        let materials = known["materials"].as_array().unwrap().iter();
        let known_textures = materials.map(|one| one["texture"].as_str().unwrap());
        assert_eq!(textures, known_textures.collect::<Vec<_>>(), "{name}");
        let sectors = known["sectors"].as_array().unwrap();
        assert_eq!(world.sectors.len(), sectors.len(), "{name}");
        for (sector, known) in world.sectors.iter().zip(sectors) {
            let known_box: [[f32; 3]; 2] = serde_json::from_value(known["box"].clone()).unwrap();
            assert_eq!(sector.bounds, known_box, "{name}");
            assert_eq!(
                Some(u64::from(sector.first_material.cast_unsigned())),
                known["base"].as_u64(),
                "{name}"
            );
            check_mesh(&name, &sector.mesh().unwrap(), known);
        }
        seen += 1;
    }
    assert!(seen >= 12 || shared("samples").is_none(), "{seen}");
}

#[fuse_test]
fn worlds_of_every_console_are_models_and_parts_of_a_level() {
    let mut hip = Hip::target(Game::Scooby, Platform::PlayStation2);
    hip.layer(0);
    let mut whole = Vec::new();
    for (name, expect, bytes, known) in samples("world/") {
        let name = name.trim_start_matches("world/").to_owned();
        hip.add(Asset::new(b"BSP ", &name, &bytes));
        if expect != "bad" {
            whole.push((name, known["worlds"][0].clone()));
        }
    }
    if whole.is_empty() {
        return;
    }
    let mount = mounted(&hip.build(), "");
    let mut files = vec![mount.file("converted/level.glb")];
    for (name, known) in &whole {
        let meta = built(&mount, name);
        let sectors = known["sectors"].as_array().unwrap().iter();
        let triangles: u64 = sectors
            .map(|sector| sector["triangles"].as_u64().unwrap())
            .sum();
        assert_eq!(shown_triangles(&meta).len() as u64, triangles, "{name}");
        let scene = scene(&meta.join("model.glb"));
        let materials = list(&scene, "materials").iter();
        let names: Vec<_> = materials.map(|one| one["name"].clone()).collect();
        assert_eq!(names, ["checker", "letter_f"], "{name}");
        files.push(meta.join("model.glb"));
    }
    let level = scene(&files[0]);
    let nodes = list(&level, "nodes").iter();
    let nodes: BTreeSet<_> = nodes.filter_map(|node| node["name"].as_str()).collect();
    let known: BTreeSet<_> = whole.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(nodes, known);
    validate(&files);
}

#[fuse_test]
fn the_level_of_an_archive_with_a_world_has_its_triangles() {
    let Some(archive) = shared("samples/hip_assets2/world_scooby_ps2.HIP") else {
        return;
    };
    let mount = mounted_files(&[archive], "");
    let path = mount.file("converted/level.glb");
    let scene = scene(&path);
    let mesh = &list(&scene, "meshes")[0];
    let corners = list(mesh, "primitives").iter().map(|part| {
        let indices = part["indices"].as_u64().unwrap() as usize;
        scene["accessors"][indices]["count"].as_u64().unwrap()
    });
    assert_eq!(corners.sum::<u64>(), 3 * (12 + 22));
    let colors = &list(mesh, "primitives")[0]["attributes"]["COLOR_0"];
    assert_ne!(*colors, Json::Null, "the baked light is kept");
    validate(&[path]);
}

#[test]
fn level_info_has_the_tree_that_the_independent_reader_finds() {
    let mut seen = 0;
    for (name, expect, bytes, known) in samples("jspinfo/") {
        let console = match known["endian"].as_str() {
            Some("little") => Platform::Xbox,
            _ => Platform::GameCube,
        };
        let facts = Facts::new(console, Game::Bfbb);
        let info = model::parse_jsp_info(&bytes, &facts);
        if expect == "bad" {
            assert!(info.is_err(), "{name}");
            continue;
        }
        let info = info.unwrap_or_else(|incomplete| panic!("{name}: {}", incomplete.error));
        let tree = info.collision.unwrap();
        let count = |field: &str| known[field].as_array().map_or(0, Vec::len);
        let found = [
            tree.branches.len(),
            tree.triangles.len(),
            info.nodes.len(),
            info.vectors.len(),
        ];
        let fields = ["branches", "triangles", "nodes", "vectors"];
        assert_eq!(found, fields.map(count), "{name}");
        let bounds: Option<[[f32; 3]; 2]> =
            serde_json::from_value(known["bounds"].clone()).unwrap();
        assert_eq!(info.bounds, bounds, "{name}");
        let has_problem = |text: &str| info.warnings.texts().iter().any(|one| one == text);
        for problem in known["problems"].as_array().unwrap() {
            assert!(has_problem(problem.as_str().unwrap()), "{name}: {problem}");
        }
        seen += 1;
    }
    assert!(seen >= 4 || shared("samples").is_none(), "{seen}");
}

/// A triangle in ten-thousandths, with its least corner first.
fn turned(triangle: [[f64; 3]; 3]) -> [[i64; 3]; 3] {
    let [a, b, c] = triangle.map(|point| point.map(|part| (part * 1e4).round() as i64));
    [[a, b, c], [b, c, a], [c, a, b]].into_iter().min().unwrap()
}

#[fuse_test]
fn levels_collide_with_the_triangles_that_they_were_generated_from() {
    // The corners of native strips (Xbox, PlayStation 2) are unknown.
    let Some(archive) = shared("samples/hip_assets2/level_gc.HOP") else {
        return;
    };
    let golden = shared("golden/hip_assets2/level_gc.HOP.json").unwrap();
    let golden: Json = serde_json::from_slice(&std::fs::read(golden).unwrap()).unwrap();
    let known: Vec<[[f64; 3]; 3]> = serde_json::from_value(golden["collision"].clone()).unwrap();
    let mut known: Vec<_> = known.into_iter().map(turned).collect();
    known.sort_unstable();
    let mount = mounted_files(&[archive], "");
    let path = built(&mount, "lvl.info").join("collision.glb");
    let scene = scene(&path);
    let bytes = bytes_of(&path);
    let length = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
    let part = &list(&list(&scene, "meshes")[0], "primitives")[0];
    let positions = part["attributes"]["POSITION"].as_u64().unwrap() as usize;
    let accessor = &scene["accessors"][positions];
    let view = accessor["bufferView"].as_u64().unwrap() as usize;
    let start = scene["bufferViews"][view]["byteOffset"]
        .as_u64()
        .unwrap_or_default();
    let count = accessor["count"].as_u64().unwrap() as usize;
    let floats = &bytes[20 + length + 8 + start as usize..][..12 * count];
    let floats = floats.as_chunks().0.iter();
    let floats: Vec<f64> = floats
        .map(|word| f32::from_le_bytes(*word).into())
        .collect();
    // Triangles do not share corners.
    let triangles = floats.as_chunks::<3>().0.as_chunks::<3>().0.iter();
    let mut ours: Vec<_> = triangles.map(|triangle| turned(*triangle)).collect();
    ours.sort_unstable();
    assert_eq!(ours, known);
    validate(&[path, mount.file("converted/level.glb")]);
}
