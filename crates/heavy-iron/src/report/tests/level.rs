//! Edited levels.

use super::objects::{entity, move_point};
use super::*;
use fixtures::heavy_iron::plain_model;
use hpimount_assets::model::Scene;
use hpimount_assets::model::scene::Node;
use hpimount_assets::view::edit::{Edit, What};
use hpimount_assets::view::report::{TableEdit, TableEdits};
use hpimount_record::Value;
use proptest::prelude::*;

/// Returns a level with two boxes of two models each, a trigger and a point of a path.
fn level() -> Archives {
    let corners = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
    let model = plain_model(&corners, &[[0.25; 2]; 3], &[[0, 1, 2]]);
    let one = [words(&[id("box.dff"), 0]), vec![0; 48]].concat();
    let set = [words(&[0x464E_494D, 2, 0, 0, 0]), one.repeat(2)].concat();
    let simple = |name, x| simple(name, [x, 0.0, 0.0], id("pair"));
    let zone = entity("ZONE", 1, 0, [5.0, 0.0, 0.0], &[0; 64]);
    Archives::new(&[
        ("a.HIP", b"MODL", "box.dff", model),
        ("a.HIP", b"MINF", "pair", set),
        ("a.HIP", b"SIMP", "BOX", simple("BOX", 1.0)),
        ("a.HIP", b"SIMP", "CRATE", simple("CRATE", 9.0)),
        ("a.HIP", b"TRIG", "ZONE", zone),
        (
            "a.HIP",
            b"MVPT",
            "POINT",
            move_point("POINT", [3.0; 3], &[]),
        ),
    ])
}

/// Changes an edited scene.
type ChangeScene = fn(&mut Scene<'static>);

fn edited(edit: impl FnOnce(&mut Scene<'static>)) -> Result<TableEdits, String> {
    let archives = level();
    let shown = archives.bytes("level.glb");
    let report = REPORTS.iter().find(|report| report.path == "level.glb");
    let editing = report.unwrap().edit.unwrap();
    (editing.edit)(&archives, &shown, &fixtures::resaved(&shown, edit))
}

/// Returns the first node with a name below a node with another name.
fn node(scene: &Scene<'_>, name: &str, above: Option<&str>) -> usize {
    let mut nodes = scene.nodes.iter();
    let parent = |parent: usize| &*scene.nodes[parent].name;
    let found = nodes.position(|node| node.name == name && node.parent.map(parent) == above);
    found.unwrap()
}

proptest! {
    #[test]
    fn a_moved_object_is_the_only_edit_of_a_level(
        object in proptest::sample::select(&["BOX", "CRATE"][..]),
        (axis, to) in (0..3_usize, 10.0_f32..1000.0),
    ) {
        let moved = edited(|scene| {
            let number = node(scene, object, None);
            scene.nodes[number].transform.translation[axis] = to;
        });
        let moved = moved.map_err(TestCaseError::fail)?;
        let [(asset, TableEdit::Value(Edit { what: What::Value(path, value), .. }))] = &moved.edits[..] else {
            return Err(TestCaseError::fail(format!("{:?}", moved.edits)));
        };
        prop_assert_eq!(level().name_of(*asset), Some(object.to_owned()));
        prop_assert_eq!(path, &format!("entity.pos[{axis}]"));
        prop_assert_eq!(value, &Value::from(to));
    }
}

#[test]
fn only_the_places_of_objects_are_edited_in_a_level() {
    assert!(edited(|_| ()).unwrap().edits.is_empty());
    let moved = edited(|scene| {
        let crate_node = node(scene, "CRATE", None);
        let transform = &mut scene.nodes[crate_node].transform;
        transform.translation[1] = 4.0;
        transform.scale = [2.0, 3.0, 4.0];
    });
    assert_eq!(moved.unwrap().edits.len(), 4);
    let cases: [(ChangeScene, &str); 6] = [
        (
            |scene| scene.meshes[0].points[0] = [0.0, 0.0, 5.0],
            "node \"BOX\": has another mesh, which is not edited here: edit the GLB of its model",
        ),
        (
            |scene| {
                let part = node(scene, "BOX", Some("BOX"));
                scene.nodes[part].transform.translation[0] = 1.0;
            },
            "node \"BOX\": is no object, and cannot be moved",
        ),
        (
            |scene| {
                let part = node(scene, "CRATE", Some("CRATE"));
                scene.nodes[part].name = "gone".to_owned();
                scene.nodes[part].mesh = None;
                scene.nodes[part].parent = None;
            },
            "node \"CRATE\": is a part of an object, and cannot be deleted",
        ),
        (
            |scene| {
                let zone = node(scene, "ZONE", Some("triggers"));
                scene.nodes[zone].transform.translation[0] = 7.0;
            },
            "node \"ZONE\": cannot be moved here: edit its JSON in objects/",
        ),
        (
            |scene| {
                let paths = node(scene, "paths", None);
                scene.nodes[paths].transform.translation[0] = 7.0;
            },
            "node \"paths\": is no object, and cannot be moved",
        ),
        (
            |scene| {
                let Node {
                    transform, mesh, ..
                } = scene.nodes[node(scene, "BOX", None)];
                scene.nodes.push(Node {
                    name: "BOX.002".to_owned(),
                    parent: None,
                    transform,
                    mesh,
                });
            },
            "node \"BOX.002\": objects cannot be copied here",
        ),
    ];
    for (edit, expected) in cases {
        let refused = edited(edit).unwrap_err();
        assert!(refused.contains(expected), "{expected}: {refused}");
    }
}
