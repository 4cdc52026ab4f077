//! The structure of GLB files.

use std::cell::Cell;

use serde_json::Value;

use super::*;
use crate::model::Pixels;
use crate::model::obj::tests::scene;
use crate::model::scene::{Animation, Identity, Joined, Joint, Node, Outline, Shape, Weight};

/// Returns the JSON and the binary chunk of a file.
fn read(file: &[u8]) -> (Value, &[u8]) {
    let word = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap()) as usize;
    assert_eq!(&file[..4], b"glTF");
    assert_eq!((word(4), word(8)), (2, file.len()));
    let json = &file[20..20 + word(12)];
    assert_eq!((&file[16..20], json.len() % 4), (&b"JSON"[..], 0));
    let at = 20 + json.len();
    assert_eq!(&file[at + 4..at + 8], b"BIN\0");
    let binary = &file[at + 8..];
    assert_eq!((word(at), word(at) % 4), (binary.len(), 0));
    (serde_json::from_slice(json).unwrap(), binary)
}

fn written(scene: &Scene<'_>, pictures: Pictures<'_>) -> Vec<u8> {
    let mut file = Vec::new();
    write(scene, pictures, &|_| Ok(None), &mut file).unwrap();
    file
}

/// Returns a picture of one pixel.
fn picture() -> Picture {
    Picture {
        width: 1,
        height: 1,
        pixels: Pixels::Rgba(vec![[1, 2, 3, 4]]),
    }
}

fn joint(node: usize) -> Joint {
    Joint {
        node,
        inverse_bind: [0.0; 16],
    }
}

fn node(name: &str, parent: Option<usize>) -> Node {
    Node {
        name: name.into(),
        parent,
        transform: Transform::IDENTITY,
        mesh: None,
    }
}

fn bent() -> Scene<'static> {
    let mut scene = scene();
    let whole = Weight {
        joint: 0,
        weight: 1.0,
    };
    let mesh = &mut scene.meshes[0];
    mesh.weights = vec![
        [
            whole,
            Weight::default(),
            Weight::default(),
            Weight::default()
        ];
        3
    ];
    mesh.shapes = vec![Shape {
        name: "smile".into(),
        deltas: vec![[0.0, 0.5, 0.0]; 3],
    }];
    scene.joints = vec![joint(0)];
    scene.animations = vec![Animation {
        name: "walk".into(),
        interval: 0.5,
        frames: 3,
        nodes: 0..1,
        transform: Box::new(|_, _| Transform::IDENTITY),
    }];
    scene
}

#[test]
fn the_binary_part_is_reserved_before_it_is_allocated() {
    let reserved = Cell::new(0);
    let (scene, mut file) = (bent(), Vec::new());
    let reserve = |bytes| {
        reserved.set(reserved.get() + bytes);
        Ok(None)
    };
    write(&scene, &|_| Some(picture()), &reserve, &mut file).unwrap();
    let binary = read(&file).1.len();
    assert!((binary..=2 * binary).contains(&reserved.get()));

    let (most, mut none) = (binary / 2, Vec::new());
    reserved.set(0);
    let reserve = |bytes| {
        reserved.set(reserved.get() + bytes);
        match reserved.get() <= most {
            true => Ok(None),
            false => Err(io::ErrorKind::OutOfMemory.into()),
        }
    };
    let error = write(&scene, &|_| Some(picture()), &reserve, &mut none).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::OutOfMemory);
    assert!(none.is_empty());
}

#[test]
fn pictures_are_reduced_to_the_memory_that_is_left() {
    let noise = |index: u32| index.wrapping_mul(2_654_435_761).to_le_bytes();
    let picture = || Picture {
        width: 64,
        height: 32,
        pixels: Pixels::Rgba((0..64 * 32).map(noise).collect()),
    };
    let size = |most: usize| {
        let (left, mut file) = (Cell::new(most), Vec::new());
        let reserve = |bytes| {
            let rest = left.get().checked_sub(bytes);
            left.set(rest.ok_or(io::ErrorKind::OutOfMemory)?);
            Ok(None)
        };
        write(&scene(), &|_| Some(picture()), &reserve, &mut file).unwrap();
        let (json, binary) = read(&file);
        let view = json["images"][0]["bufferView"].as_u64()?;
        let view = &json["bufferViews"][view as usize];
        let at = view["byteOffset"].as_u64().unwrap() as usize;
        let word = |at: usize| u32::from_be_bytes(binary[at..at + 4].try_into().unwrap());
        let notes = json["asset"]["extras"]["notes"].to_string();
        Some((word(at + 16), word(at + 20), notes.contains("budget")))
    };
    assert_eq!(size(1 << 20), Some((64, 32, false)));
    assert_eq!(size(4000), Some((32, 16, true)));
    assert_eq!(size(250), Some((4, 2, true)));
    assert_eq!(size(150), None);
}

#[test]
fn everything_in_the_file_is_described() {
    let file = written(&bent(), &|_| Some(picture()));
    let (json, binary) = read(&file);
    assert_eq!(json["asset"]["extras"]["notes"][0], "y is up.");
    assert_eq!(json["buffers"][0]["byteLength"], binary.len());
    assert_eq!(json["meshes"][0]["primitives"].as_array().unwrap().len(), 2);
    assert_eq!(json["meshes"][0]["extras"]["targetNames"][0], "smile");
    assert_eq!(json["skins"][0]["joints"], serde_json::json!([0]));
    assert_eq!(json["nodes"][0]["skin"], 0);
    assert_eq!(
        json["animations"][0]["channels"].as_array().unwrap().len(),
        2
    );
    assert_eq!(json["materials"][0]["alphaMode"], "MASK");
    assert_eq!(json["images"].as_array().unwrap().len(), 1);
    let mut end = 0;
    for view in json["bufferViews"].as_array().unwrap() {
        let (at, length) = (&view["byteOffset"], &view["byteLength"]);
        let at = at.as_u64().unwrap_or(0);
        assert_eq!((at % 4, at >= end), (0, true));
        end = at + length.as_u64().unwrap();
    }
    assert!(end <= binary.len() as u64);
    for accessor in json["accessors"].as_array().unwrap() {
        let size = match accessor["componentType"].as_u64().unwrap() {
            5123 => 2,
            _ => 4,
        };
        let parts = match accessor["type"].as_str().unwrap() {
            "SCALAR" => 1,
            "VEC2" => 2,
            "VEC3" => 3,
            "VEC4" => 4,
            _ => 16,
        };
        let view = &json["bufferViews"][accessor["bufferView"].as_u64().unwrap() as usize];
        let count = accessor["count"].as_u64().unwrap();
        assert_eq!(view["byteLength"], count * size * parts);
    }
}

#[test]
fn an_outline_is_a_hidden_node() {
    let mut scene = scene();
    let corners = [[0.0, 0.0, 0.0], [4.0, 0.0, 0.0], [4.0, 0.0, -2.0]];
    scene.outlines.push(Outline {
        name: "plate".into(),
        parent: 0,
        points: corners.into(),
        joined: Joined::Closed,
        is_hidden: true,
    });
    let file = written(&scene, &|_| None);
    let (json, _) = read(&file);
    let used = ["KHR_materials_unlit", "KHR_node_visibility"];
    assert_eq!(json["extensionsUsed"], serde_json::json!(used));
    assert!(json.get("extensionsRequired").is_none());
    let hidden = &json["nodes"][1];
    assert_eq!(json["nodes"][0].get("children"), None);
    assert_eq!(json["scenes"][0]["nodes"], serde_json::json!([0]));
    // Viewers without the extension show the first scene.
    let hidden_scene = serde_json::json!({ "name": "hidden", "nodes": [2] });
    assert_eq!(
        (&json["scene"], &json["scenes"][1]),
        (&0.into(), &hidden_scene)
    );
    let copy = &json["nodes"][2];
    assert_eq!(copy["name"], "my house (hidden)");
    assert_eq!(copy["children"], serde_json::json!([1]));
    assert_eq!(copy["translation"], json["nodes"][0]["translation"]);
    assert_eq!((copy.get("mesh"), copy.get("extensions")), (None, None));
    assert_eq!(
        hidden["extensions"]["KHR_node_visibility"]["visible"],
        false
    );
    let mesh = &json["meshes"][hidden["mesh"].as_u64().unwrap() as usize];
    let line = &mesh["primitives"][0];
    assert_eq!((&line["mode"], line.get("material")), (&2.into(), None));
    let positions = &json["accessors"][line["attributes"]["POSITION"].as_u64().unwrap() as usize];
    assert_eq!(positions["count"], 3);
    assert_eq!(positions["max"], serde_json::json!([4.0, 0.0, 0.0]));
}

#[test]
fn a_line_of_pairs_is_visible() {
    let mut scene = scene();
    scene.outlines.push(Outline {
        name: "rail".into(),
        parent: 0,
        points: vec![[0.0; 3], [1.0; 3], [1.0; 3], [2.0; 3]],
        joined: Joined::Pairs,
        is_hidden: false,
    });
    let (json, _) = read(&written(&scene, &|_| None));
    assert!(json["nodes"][1].get("extensions").is_none());
    let mesh = &json["meshes"][json["nodes"][1]["mesh"].as_u64().unwrap() as usize];
    assert_eq!(mesh["primitives"][0]["mode"], 1);
}

#[test]
fn a_hidden_mesh_hides_no_children_of_its_node() {
    let mut scene = self::scene();
    let mut child = node("child", Some(0));
    child.mesh = Some(0);
    scene.nodes.push(child);
    scene.hidden = [0].into();
    let (json, _) = read(&written(&scene, &|_| None));
    let [whole, child, hidden] = &json["nodes"].as_array().unwrap()[..] else {
        panic!("{json}");
    };
    assert_eq!((whole.get("mesh"), whole.get("extensions")), (None, None));
    assert_eq!(whole["children"], serde_json::json!([1]));
    assert_eq!((&child["mesh"], child.get("extensions")), (&0.into(), None));
    assert_eq!(hidden["name"], "my house (hidden)");
    assert_eq!((&hidden["mesh"], hidden.get("children")), (&0.into(), None));
    assert_eq!(
        hidden["extensions"]["KHR_node_visibility"]["visible"],
        false
    );
    assert_eq!(json["scenes"][1]["nodes"], serde_json::json!([2]));
}

#[test]
fn a_hidden_group_hides_its_children_and_an_object_has_its_id_and_type() {
    let mut scene = self::scene();
    scene.nodes.push(node("group", None));
    scene.nodes.push(node("child", Some(1)));
    scene.nodes[2].mesh = Some(0);
    scene.hidden_groups = [1].into();
    let identity = Identity {
        id: 0xA1,
        code: *b"VIL ",
    };
    scene.identities = [(2, identity)].into();
    let (json, _) = read(&written(&scene, &|_| None));
    let [_, group, child] = &json["nodes"].as_array().unwrap()[..] else {
        panic!("{json}");
    };
    assert_eq!(group["extensions"]["KHR_node_visibility"]["visible"], false);
    assert_eq!(group["children"], serde_json::json!([2]));
    assert_eq!(child.get("extensions"), None);
    let extras = serde_json::json!({ "id": "000000A1", "type": "VIL" });
    assert_eq!((&child["extras"], group.get("extras")), (&extras, None));
    let scenes = [&json["scenes"][0]["nodes"], &json["scenes"][1]["nodes"]];
    assert_eq!(scenes, [&serde_json::json!([0]), &serde_json::json!([1])]);
}

#[test]
fn there_is_no_second_scene_if_nothing_else_is_shown() {
    let mut scene = self::scene();
    scene.hidden = [0].into();
    let (json, _) = read(&written(&scene, &|_| None));
    let visibility = &json["nodes"][0]["extensions"]["KHR_node_visibility"];
    assert_eq!(visibility["visible"], false);
    assert_eq!(json["scenes"].as_array().unwrap().len(), 1);
}

#[test]
fn a_hidden_skinned_mesh_is_shown_with_its_joints_and_animations_move_copies() {
    let mut scene = bent();
    scene
        .nodes
        .extend([node("hip", None), node("leg", Some(1))]);
    scene.nodes.push(node("coat", Some(1)));
    scene.nodes[3].mesh = Some(0);
    scene.hidden = [3].into();
    scene.joints = vec![joint(1), joint(2)];
    scene.animations[0].nodes = 1..2;
    let (json, _) = read(&written(&scene, &|_| None));
    let roots = |scene: usize| json["scenes"][scene]["nodes"].clone();
    assert_eq!(roots(0), serde_json::json!([0, 1]));
    assert_eq!(roots(1), serde_json::json!([4, 1]));
    assert_eq!(json["nodes"][4]["children"], serde_json::json!([3]));
    assert_eq!(json["nodes"][3]["skin"], 0);
    let channels = json["animations"][0]["channels"].as_array().unwrap();
    let moved: Vec<_> = channels.iter().map(|one| &one["target"]["node"]).collect();
    assert_eq!(moved, [1, 4, 1, 4]);
}

#[test]
fn joints_with_several_roots_have_a_common_one_after_all_other_nodes() {
    let roots = |parents: &[Option<usize>]| {
        let mut scene = bent();
        let nodes = parents.iter().map(|&parent| node("bone", parent));
        scene.nodes.extend(nodes);
        scene.joints = (0..parents.len()).map(|index| joint(1 + index)).collect();
        let (json, _) = read(&written(&scene, &|_| None));
        let nodes = json["nodes"].as_array().unwrap();
        let last = nodes.last().unwrap();
        let children = (last["name"] == "skeleton").then(|| last["children"].clone());
        (json["scenes"][0]["nodes"].clone(), children)
    };
    let one = roots(&[None, Some(1)]);
    assert_eq!(one, (serde_json::json!([0, 1]), None));
    let two = roots(&[None, Some(1), None]);
    let children = Some(serde_json::json!([1, 3]));
    assert_eq!(two, (serde_json::json!([0, 4]), children));
}

#[test]
fn a_mesh_without_triangles_is_omitted() {
    let mut scene = scene();
    scene.meshes[0].parts.clear();
    let file = written(&scene, &|_| Some(picture()));
    let (json, _) = read(&file);
    assert!(json.get("meshes").is_none());
    assert!(json["nodes"][0].get("mesh").is_none());
}

#[test]
fn a_missing_picture_gets_no_texture() {
    let file = written(&scene(), &|_| None);
    let (json, _) = read(&file);
    assert!(json.get("textures").is_none());
    let surface = &json["materials"][0]["pbrMetallicRoughness"];
    assert!(surface.get("baseColorTexture").is_none());
}

#[test]
fn texture_coordinates_are_kept_without_a_texture() {
    let mut scene = scene();
    scene.materials[0].texture = None;
    let coordinates = |scene: &Scene<'_>| {
        let file = written(scene, &|_| None);
        let (json, _) = read(&file);
        let attributes = &json["meshes"][0]["primitives"][0]["attributes"];
        attributes.get("TEXCOORD_0").is_some()
    };
    assert!(coordinates(&scene));
    for corner in &mut scene.meshes[0].corners {
        corner.uv = [0.0; 2];
    }
    assert!(!coordinates(&scene));
}

#[test]
fn other_sets_of_coordinates_and_colors_are_attributes() {
    let mut scene = scene();
    let mesh = &mut scene.meshes[0];
    let corners = mesh.corners.len();
    mesh.other_uvs = vec![vec![[0.25, 0.5]; corners]];
    mesh.other_colors = vec![[0, 0, 255, 128]; corners];
    let file = written(&scene, &|_| Some(picture()));
    let (json, binary) = read(&file);
    let attributes = &json["meshes"][0]["primitives"][0]["attributes"];
    let bytes = |name: &str| {
        let accessor = &json["accessors"][attributes[name].as_u64().unwrap() as usize];
        assert_eq!(accessor["count"], corners, "{name}");
        let view = &json["bufferViews"][accessor["bufferView"].as_u64().unwrap() as usize];
        let start = view["byteOffset"].as_u64().unwrap_or_default() as usize;
        &binary[start..start + 8]
    };
    assert!(attributes["TEXCOORD_0"].is_u64() && attributes["COLOR_0"].is_u64());
    assert_eq!(
        bytes("TEXCOORD_1"),
        [0.25_f32, 0.5].map(f32::to_le_bytes).concat()
    );
    assert_eq!(
        bytes("COLOR_1"),
        [0_u16, 0, 65535, 128 * 257].map(u16::to_le_bytes).concat()
    );
}
