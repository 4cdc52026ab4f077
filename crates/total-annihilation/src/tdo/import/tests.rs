use bytes::Bytes;
use fixtures::ta::tdo::{self as build, add_box, object, primitive};
use hpimount_assets::model::scene::{Material, Node};
use hpimount_assets::model::{Scene, Transform};
use hpimount_assets::view::import::{Changed, Imported, edited};
use hpimount_assets::view::rendered;
use proptest::prelude::*;

use crate::tdo::{self, FORMAT, Model, Surface, parse};

const UNIT: i32 = 65536;

/// Returns a model of a box with a texture, a colored quad with a ground plate, a piece
/// of a point and a line, and a triangle.
fn model(at: [i32; 3], size: [i32; 3], color: u32) -> Vec<u8> {
    let mut root = object("base");
    root.vertices = vec![
        [-UNIT, 0, -UNIT],
        [UNIT, 0, -UNIT],
        [UNIT, 0, UNIT],
        [-UNIT, 0, UNIT],
    ];
    let quad = build::Primitive {
        color,
        flag: 1,
        ..primitive(&[0, 1, 2, 3])
    };
    root.primitives = vec![primitive(&[3, 2, 1, 0]), quad];
    root.selection = 0;
    let mut turret = object("Turret");
    turret.position = at;
    add_box(&mut turret, [0; 3], size, |side, primitive| {
        primitive.texture = Some("Armor".to_owned());
        primitive.color = side as u32;
    });
    let mut flare = object("flare");
    flare.vertices = vec![[0; 3], [0, 0, UNIT], [7; 3]];
    let line = |corners: &[u16]| build::Primitive {
        flag: 1,
        ..primitive(corners)
    };
    flare.primitives = vec![line(&[0, 1]), line(&[2])];
    let mut fin = object("fin");
    fin.position = [UNIT, 0, 0];
    fin.vertices = vec![[0; 3], [UNIT, 0, 0], [0, UNIT, 0]];
    fin.primitives = vec![line(&[0, 1, 2])];
    turret.children = vec![flare];
    root.children = vec![turret, fin];
    build::file(&root)
}

fn tank() -> Vec<u8> {
    model([0, 5 * UNIT, 0], [2 * UNIT, UNIT, 3 * UNIT], 17)
}

fn read(asset: &[u8]) -> Model {
    parse(&Bytes::copy_from_slice(asset)).unwrap()
}

fn import(asset: &[u8], edit: impl FnOnce(&mut Scene<'static>)) -> Result<Imported, String> {
    let file = rendered(&FORMAT, asset, "model.glb").unwrap();
    edited(&FORMAT, asset, "model.glb", &fixtures::resaved(&file, edit))
}

fn changed(asset: &[u8], edit: impl FnOnce(&mut Scene<'static>)) -> Changed {
    match import(asset, edit) {
        Ok(Imported::Changed(changed)) => changed,
        other => panic!("{other:?}"),
    }
}

fn node<'s>(scene: &'s mut Scene<'static>, name: &str) -> &'s mut Node {
    scene
        .nodes
        .iter_mut()
        .find(|node| node.name == name)
        .unwrap()
}

fn mesh_of(scene: &Scene<'_>, name: &str) -> usize {
    let mut nodes = scene.nodes.iter();
    nodes.find(|node| node.name == name).unwrap().mesh.unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_files_of_a_model_are_no_change(
        at in prop::array::uniform3(-100 * UNIT..100 * UNIT),
        size in prop::array::uniform3(UNIT / 8..50 * UNIT),
        color in 0_u32..256,
    ) {
        let asset = model(at, size, color);
        for path in ["model.glb", "model.obj"] {
            let file = rendered(&FORMAT, &asset, path).unwrap();
            prop_assert_eq!(edited(&FORMAT, &asset, path, &file), Ok(Imported::Unchanged));
        }
        prop_assert_eq!(import(&asset, |_| ()), Ok(Imported::Unchanged));
    }

    #[test]
    fn a_moved_vertex_changes_only_its_bytes(
        which in any::<prop::sample::Index>(),
        to in prop::array::uniform3(-1000_i32..1000),
    ) {
        let asset = tank();
        let old = read(&asset);
        let vertex = which.index(8);
        let place = old.objects[1].vertices[vertex];
        let from = [place[0], place[1], -place[2]].map(|part| part as f32 / UNIT as f32);
        let to = to.map(|part| part * UNIT / 100);
        let new = changed(&asset, |scene| {
            let mesh = mesh_of(scene, "Turret");
            for point in &mut scene.meshes[mesh].points {
                if *point == from {
                    *point = [to[0], to[1], -to[2]].map(|part| part as f32 / UNIT as f32);
                }
            }
        });
        let mut expected = old.objects.clone();
        expected[1].vertices[vertex] = to;
        prop_assert_eq!(&read(&new.asset).objects, &expected);
        let differ = asset.iter().zip(&new.asset).filter(|(old, new)| old != new).count();
        prop_assert!(new.asset.len() == asset.len() && differ <= 12, "{}", differ);
    }
}

#[test]
fn quads_cut_along_other_diagonals_are_the_same() {
    let unchanged = import(&tank(), |scene| {
        for mesh in &mut scene.meshes {
            for part in &mut mesh.parts {
                for pair in part.triangles.chunks_exact_mut(2) {
                    let ([a, b, c], [_, _, d]) = (pair[0], pair[1]);
                    (pair[0], pair[1]) = ([d, a, b], [b, c, d]);
                }
                part.triangles.reverse();
            }
        }
        let last = scene.nodes.len() - 1;
        scene.nodes.reverse();
        for node in &mut scene.nodes {
            node.parent = node.parent.map(|parent| last - parent);
        }
    });
    assert_eq!(unchanged, Ok(Imported::Unchanged));
}

#[test]
fn pieces_are_moved_and_turned() {
    let asset = tank();
    let half = std::f32::consts::FRAC_1_SQRT_2;
    let new = changed(&asset, |scene| {
        node(scene, "Turret").transform = Transform {
            translation: [0.0, 7.0, -1.0],
            rotation: [0.0, half, 0.0, half],
            scale: [1.0; 3],
        };
    });
    let (old, new) = (read(&asset), read(&new.asset));
    assert_eq!(new.objects[1].position, [0, 7 * UNIT, UNIT]);
    // Of a point of the box, which is rotated about the piece.
    assert_eq!(old.objects[1].vertices[1], [2 * UNIT, 0, 0]);
    assert_eq!(new.objects[1].vertices[1], [0, 0, 2 * UNIT]);
    assert_eq!(
        new.objects[3],
        tdo::Object {
            offset: new.objects[3].offset,
            ..old.objects[3].clone()
        }
    );
}

#[test]
fn a_scale_goes_into_the_mesh_with_a_warning() {
    let asset = tank();
    let new = changed(&asset, |scene| {
        node(scene, "Turret").transform.scale = [2.0, 0.5, 1.0];
    });
    assert_eq!(
        new.warnings,
        ["node \"Turret\": its scale becomes a part of its mesh"]
    );
    let (old, new) = (read(&asset), read(&new.asset));
    let scaled = |[x, y, z]: [i32; 3]| [2 * x, y / 2, z];
    let vertices = old.objects[1].vertices.iter().copied().map(scaled);
    assert!(vertices.eq(new.objects[1].vertices.iter().copied()));
}

#[test]
fn a_face_gets_another_color_where_it_is() {
    let asset = tank();
    let new = changed(&asset, |scene| {
        let mut material = scene.materials[0].clone();
        material.name = "color 200".to_owned();
        let mesh = mesh_of(scene, "fin");
        scene.meshes[mesh].parts[0].material = scene.materials.len();
        scene.materials.push(material);
    });
    let mut expected = read(&asset).objects;
    expected[3].primitives[0].color = 200;
    assert_eq!(read(&new.asset).objects, expected);
}

#[test]
fn pieces_come_and_go_and_the_others_stay() {
    let asset = tank();
    let new = changed(&asset, |scene| {
        let turret = node(scene, "Turret");
        let copy = Node {
            name: "Turret.001".to_owned(),
            parent: turret.parent,
            transform: Transform::at([4.0, 5.0, 6.0]),
            mesh: turret.mesh,
        };
        scene.nodes.retain(|node| node.name != "fin");
        scene.nodes.push(copy);
    });
    let (old, new) = (read(&asset).objects, read(&new.asset).objects);
    let names: Vec<_> = new.iter().map(|object| object.name.to_string()).collect();
    assert_eq!(names, ["base", "Turret", "flare", "Turret_001"]);
    assert_eq!(new[3].position, [4 * UNIT, 5 * UNIT, -6 * UNIT]);
    assert_eq!((new[3].parent, new[3].selection), (Some(0), -1));
    assert_eq!(new[0].primitives, old[0].primitives);
    assert_eq!(new[2].vertices, old[2].vertices);
    assert_eq!(new[3].primitives.len(), 6);
    assert!(
        new[3]
            .primitives
            .iter()
            .all(|face| { face.surface() == Surface::Textured && face.indices.len() == 4 })
    );
}

#[test]
fn removed_faces_take_their_vertices_and_the_ground_plate_stays() {
    let asset = tank();
    let new = changed(&asset, |scene| {
        let mesh = mesh_of(scene, "Turret");
        scene.meshes[mesh].parts[0].triangles.truncate(2);
        let mesh = mesh_of(scene, "base");
        scene.meshes[mesh].parts.clear();
    });
    let new = read(&new.asset).objects;
    assert_eq!((new[1].primitives.len(), new[1].vertices.len()), (1, 4));
    assert_eq!(
        (new[0].primitives.len(), new[0].ground_plate()),
        (1, Some(0))
    );
    assert_eq!(new[0].vertices.len(), 4);
}

#[test]
fn what_3do_cannot_have_is_refused_with_its_place() {
    let asset = tank();
    let refused = |edit: &dyn Fn(&mut Scene<'static>)| import(&asset, edit).unwrap_err();
    let error = refused(&|scene| {
        let mesh = mesh_of(scene, "Turret");
        scene.meshes[mesh]
            .corners
            .iter_mut()
            .for_each(|corner| corner.uv[0] /= 2.0);
    });
    assert!(
        error.starts_with("node \"Turret\", face 0: shows a part of its texture"),
        "{error}"
    );
    let error = refused(&|scene| node(scene, "Turret").transform.translation[1] = 40000.0);
    assert_eq!(error, "node \"Turret\": 40000 is past 32767");
    let error = refused(&|scene| {
        let mesh = mesh_of(scene, "fin");
        scene.meshes[mesh].points[1] = [-32768.0, 0.0, 0.0];
    });
    assert_eq!(error, "node \"fin\": -32768 is past 32767");
    let error = refused(&|scene| {
        node(scene, "fin").name = "fin!".to_owned();
        let mesh = node(scene, "Turret").mesh;
        scene.nodes.push(Node {
            name: "TURRET_".to_owned(),
            parent: Some(0),
            transform: Transform::IDENTITY,
            mesh,
        });
        node(scene, "Turret").name = "turret".to_owned();
        let last = scene.nodes.len() - 1;
        scene.nodes[last].name = "fin?".to_owned();
    });
    assert_eq!(
        error,
        "node \"fin?\": another piece is called fin_: rename it"
    );
    let error = edited(&FORMAT, &asset, "preview.png", b"").unwrap_err();
    assert!(error.ends_with("edit model.glb or model.obj"), "{error}");
}

#[test]
fn a_missing_root_is_refused() {
    let error = import(&tank(), |scene| {
        scene.nodes.remove(0);
        for node in &mut scene.nodes {
            node.parent = node.parent.and_then(|parent| parent.checked_sub(1));
        }
    });
    assert_eq!(
        error,
        Err("node \"base\" is gone: it is the root".to_owned())
    );
}

#[test]
fn an_obj_file_has_absolute_places_and_no_empty_pieces() {
    let asset = tank();
    let file = rendered(&FORMAT, &asset, "model.obj").unwrap();
    let text = String::from_utf8(file).unwrap();
    let without: Vec<&str> = text
        .lines()
        .filter(|line| !line.starts_with("o flare"))
        .collect();
    let unchanged = edited(&FORMAT, &asset, "model.obj", without.join("\n").as_bytes());
    assert_eq!(unchanged, Ok(Imported::Unchanged));
    let moved = text.replacen("v 2 5 0 ", "v 2.5 5 0 ", 1);
    assert_ne!(moved, text);
    let new = edited(&FORMAT, &asset, "model.obj", moved.as_bytes()).unwrap();
    let Imported::Changed(new) = new else {
        panic!("is changed");
    };
    let mut expected = read(&asset).objects;
    expected[1].vertices[1][0] = UNIT * 5 / 2;
    assert_eq!(read(&new.asset).objects, expected);
}

#[test]
fn another_color_or_texture_of_a_material_is_refused() {
    let painted = |name: &str, paint: fn(&mut Material)| {
        let refused = import(&tank(), |scene| {
            let mut materials = scene.materials.iter_mut();
            paint(materials.find(|material| material.name == name).unwrap());
        });
        refused.unwrap_err()
    };
    let white = |material: &mut Material| material.color = [1.0; 4];
    let problem = painted("color 017", white);
    let expected =
        "material \"color 017\" has another color, which is not stored: call it \"color ";
    assert!(problem.starts_with(expected), "{problem}");
}
