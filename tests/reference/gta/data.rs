//! Text files of the folder `data` of games, compared with the results of an
//! independent reader, and the map of a game in a mount.

use super::{Sample, list, samples};
use crate::shared;
use hpimount_gta::data::{files, groups, handling, texts, water};
use serde_json::{Value, json};
use testkit::fuse_test;
use testkit::gltf::{self, scene, validate};
use testkit::mount::{Fixture, hpimount};

#[test]
fn lists_groups_and_water_equal_those_of_the_independent_reader() {
    let mut compared = 0;
    for Sample {
        name,
        bytes,
        golden,
    } in samples("map", "dat")
    {
        let found = match golden["format"].as_str().unwrap() {
            "DAT" => {
                let found = files::parse(&bytes).unwrap();
                let files = found.files.iter().map(|file| {
                    let mut known =
                        json!({"line": file.line, "directive": file.kind, "path": file.path});
                    if let Some(level) = file.level {
                        known["level"] = level.into();
                    }
                    known
                });
                json!({"directives": files.collect::<Vec<_>>(), "warnings": found.warnings.texts()})
            }
            "animgrp" => {
                let found = groups::parse(&bytes).unwrap();
                let groups = found.groups.iter().map(|group| {
                    json!({
                        "line": group.line,
                        "name": group.name,
                        "file": group.package,
                        "type": group.kind,
                        "count": group.declared.parse::<u32>().unwrap(),
                        "animations": group.animations,
                    })
                });
                json!({"groups": groups.collect::<Vec<_>>(), "warnings": found.warnings.texts()})
            }
            _ => {
                let found = water::parse(&bytes).unwrap();
                let float = |value: f32| Value::from((f64::from(value) * 1e4).round() / 1e4);
                let floats = |values: &[f32]| values.iter().map(|value| float(*value)).collect();
                let shapes = found.surfaces.iter().map(|surface| {
                    let corners = surface.corners.iter().map(|corner| {
                        let [position, flow, waves]: [Value; 3] =
                            [&corner[..3], &corner[3..5], &corner[5..]].map(floats);
                        json!({"position": position, "flow": flow, "waves": waves})
                    });
                    let corners: Vec<_> = corners.collect();
                    json!({"line": surface.line, "vertices": corners, "flags": surface.flags})
                });
                let rectangles = found.rectangles.iter().map(|one| {
                    let edges: Value = floats(&one.edges);
                    json!({"line": one.line, "level": float(one.level), "rect": edges})
                });
                json!({
                    "shapes": shapes.collect::<Vec<_>>(),
                    "rectangles": rectangles.collect::<Vec<_>>(),
                    "warnings": found.warnings.texts(),
                })
            }
        };
        let mut expected = golden.clone();
        expected.as_object_mut().unwrap().remove("format");
        assert_eq!(found, expected, "{name}");
        compared += 1;
    }
    assert!(compared >= 5 || shared("samples/gta/map").is_none());
}

#[test]
fn handling_and_texts_of_mods_equal_those_of_the_independent_reader() {
    for sample in samples("map", "cfg") {
        let found = handling::parse(&sample.bytes).unwrap();
        let lines = sample.golden["lines"].as_object().unwrap();
        let rows = lines.values().map(|rows| rows.as_array().unwrap().len());
        assert_eq!(rows.sum::<usize>(), found.row_count(), "{}", sample.name);
        for (kind, rows) in lines {
            let ours = found.rows(&format!("{kind}s"));
            assert_eq!(ours.len(), rows.as_array().unwrap().len(), "{kind}");
            for (row, known) in ours.iter().zip(rows.as_array().unwrap()) {
                assert_eq!(known["line"], row.line, "{kind}");
                let mut fields = found.fields(row);
                assert_eq!(known["name"], fields.next().unwrap(), "{kind}");
                for (field, known) in fields.zip(list(known, "fields")) {
                    let is_same = match known.as_f64() {
                        Some(number) => field.parse() == Ok(number),
                        None => known == field,
                    };
                    assert!(is_same, "{kind}: {field} should be {known}");
                }
            }
        }
    }
    for sample in samples("map", "fxt") {
        let found = texts::parse(&sample.bytes).unwrap();
        let found: Vec<_> = found
            .texts
            .iter()
            .map(|one| json!([one.key, one.text]))
            .collect();
        assert_eq!(list(&sample.golden, "entries"), found, "{}", sample.name);
    }
}

#[fuse_test]
fn the_objects_of_a_map_stand_where_the_independent_reader_finds_them() {
    let Some(game) = shared("samples/gta/game_sa") else {
        return;
    };
    let golden = shared("golden/gta/game_sa/data/maps/demo.ipl.json").unwrap();
    let golden: Value = serde_json::from_slice(&std::fs::read(golden).unwrap()).unwrap();
    let fixture = Fixture::new();
    let mut program = hpimount();
    program.arg("--game").arg(game).arg(&fixture.point);
    let mount = fixture.mount_by(program);
    let glb = mount.file("data/maps/demo.ipl.meta/map.glb");
    let map = scene(&glb);
    let nodes = gltf::list(&map, "nodes");
    let group = |name: &str| nodes.iter().find(|node| node["name"] == name).unwrap();
    let children = |group: &Value| -> Vec<Value> {
        let children = gltf::list(group, "children").iter();
        children
            .map(|child| nodes[child.as_u64().unwrap() as usize].clone())
            .collect()
    };
    let (world, lods) = (children(group("world")), children(group("lod")));
    let placed = gltf::list(&golden["sections"], "inst");
    let is_lod = |index: usize| {
        let mut others = placed.iter();
        others.any(|other| other["lod"].as_u64() == Some(index as u64))
    };
    let (mut of_world, mut of_lods) = (world.iter(), lods.iter());
    for (index, known) in placed.iter().enumerate() {
        let node = match is_lod(index) {
            true => of_lods.next().unwrap(),
            false => of_world.next().unwrap(),
        };
        assert_eq!(node["name"], known["model"]);
        let part = |name: &str, index: usize, none: f64| {
            let part = node[name].get(index).and_then(Value::as_f64);
            part.unwrap_or(none)
        };
        for (axis, name) in ["x", "y", "z"].iter().enumerate() {
            let known = known[*name].as_f64().unwrap();
            assert!((part("translation", axis, 0.0) - known).abs() < 1e-4);
        }
        // The stored rotation is the inverse.
        for (axis, name) in ["rx", "ry", "rz", "rw"].iter().enumerate() {
            let known = known[*name].as_f64().unwrap() * if axis < 3 { -1.0 } else { 1.0 };
            let found = part("rotation", axis, if axis < 3 { 0.0 } else { 1.0 });
            assert!((found - known).abs() < 1e-4, "{index}: {name} is {found}");
        }
    }
    assert!(of_world.next().is_none() && of_lods.next().is_none());
    let meshes = |name: &str| -> Vec<&Value> {
        let all = world.iter().filter(|node| node["name"] == name);
        all.map(|node| &node["mesh"]).collect()
    };
    let signs = meshes("demo_sign");
    assert!(signs.len() == 2 && signs[0] == signs[1] && signs[0].is_u64());
    assert_eq!(meshes("missing_model"), [&Value::Null]);
    let visible = &group("lod")["extensions"]["KHR_node_visibility"]["visible"];
    assert_eq!(*visible, false);
    let water = mount.file("data/water.dat.meta/water.glb");
    let stream = mount.file("demo_stream0.ipl.meta/map.glb");
    validate(&[glb, water, stream]);
}
