use proptest::prelude::*;

use super::{Altered, Change, Compared, Pairing, change};
use crate::model::affine::Affine;
use crate::model::edited::Edited;
use crate::model::obj::tests::scene as house;
use crate::model::scene::{Corner, Joined, Joint, Mesh, Node, Outline, Part, Weight, Weights};
use crate::model::{Scene, Transform, gltf};

/// Writes a scene, and reads it again.
fn saved(scene: &Scene<'_>) -> Edited {
    let mut file = Vec::new();
    gltf::write(scene, &|_| None, &|_| Ok(None), &mut file).unwrap();
    gltf::read(&file, &|_| Ok(None)).unwrap()
}

fn compared(pairing: &Pairing<'_>, node: usize) -> Compared {
    Compared {
        size: pairing.size,
        has_normals: true,
        has_uvs: true,
        has_colors: !pairing.is_uncolored(node),
    }
}

/// Returns how the mesh of a node changed.
fn changed(pairing: &Pairing<'_>, node: usize) -> Change {
    let placed = pairing.placed(|_| true);
    let mesh = pairing.mesh_of(node, &placed[node].mesh).unwrap().unwrap();
    let shown = &pairing.shown.meshes[pairing.shown.nodes[node].mesh.unwrap()];
    change(shown, mesh, &compared(pairing, node))
}

fn node(name: &str, parent: Option<usize>, mesh: Option<usize>, at: [f32; 3]) -> Node {
    Node {
        name: name.to_owned(),
        parent,
        transform: Transform::at(at),
        mesh,
    }
}

prop_compose! {
    /// Random triangles of two materials with shared corners, and their weights.
    fn mesh()(
        points in prop::collection::vec(prop::array::uniform3(-20.0_f32..20.0), 3..12),
        corners in prop::collection::vec((any::<prop::sample::Index>(), any::<[u8; 4]>()), 3..20),
        triangles in prop::collection::vec(any::<[prop::sample::Index; 3]>(), 1..12),
        weight in 0.0_f32..1.0,
        is_skinned in any::<bool>(),
    ) -> Mesh {
        let corners: Vec<Corner> = corners.iter().map(|(point, color)| Corner {
            point: point.index(points.len()) as u32,
            normal: [0.0, 0.6, 0.8],
            uv: [f32::from(color[0]) / 7.0, f32::from(color[1]) / 255.0],
            color: *color,
        }).collect();
        let triangles = triangles.iter().map(|ends| ends.map(|end| end.index(corners.len()) as u32));
        let triangles: Vec<[u32; 3]> = triangles.collect();
        let half = triangles.len() / 2;
        let part = |material: usize, triangles: &[[u32; 3]]| Part {
            material,
            triangles: triangles.to_vec(),
            ..Part::default()
        };
        let mut weights = Weights::default();
        weights[0] = Weight { joint: 0, weight: 1.0 - weight };
        weights[1] = Weight { joint: 1, weight };
        Mesh {
            name: "geometry".to_owned(),
            weights: if is_skinned { vec![weights; points.len()] } else { Vec::new() },
            points,
            corners,
            parts: vec![part(0, &triangles[half..]), part(1, &triangles[..half])],
            ..Mesh::default()
        }
    }
}

/// Returns a scene with a mesh at two nodes, hidden ones, a line and two joints.
fn scene(mesh: Mesh, turn: [f32; 4], name: &str) -> Scene<'static> {
    let length = turn
        .iter()
        .map(|part| part * part)
        .sum::<f32>()
        .sqrt()
        .max(1e-3);
    let is_skinned = !mesh.weights.is_empty();
    let joint = |node| Joint {
        node,
        inverse_bind: [
            1., 0., 0., 0., 0., 1., 0., 0., 0., 0., 1., 0., 0., 0., 0., 1.,
        ],
    };
    let mut nodes = vec![
        node("model", None, None, [0.0; 3]),
        node(name, Some(0), Some(0), [1.0, 2.0, 3.0]),
        node(name, Some(1), Some(0), [5.0, 0.0, 0.0]),
        node("hidden arm", Some(2), Some(0), [0.0; 3]),
        node("dummy", Some(3), None, [0.0; 3]),
        node("bone", Some(0), None, [0.0, 1.0, 0.0]),
        node("bone 2", Some(5), None, [0.0, 1.0, 0.0]),
    ];
    nodes[1].transform.rotation = turn.map(|part| part / length);
    Scene {
        materials: house().materials,
        meshes: vec![mesh],
        nodes,
        joints: if is_skinned {
            vec![joint(5), joint(6)]
        } else {
            Vec::new()
        },
        hidden: [3].into(),
        outlines: vec![Outline {
            name: "ground plate".to_owned(),
            parent: 1,
            points: vec![[0.0; 3], [1.0; 3]],
            joined: Joined::Closed,
            is_hidden: true,
        }],
        ..Scene::default()
    }
}

proptest! {
    #[test]
    fn a_saved_model_is_unchanged(
        mesh in mesh(),
        turn in prop::array::uniform4(-1.0_f32..1.0),
        name in "[a-z _.0-9]{1,9}",
    ) {
        let scene = scene(mesh, turn, &name);
        let edited = saved(&scene);
        let pairing = Pairing::new(&scene, &edited).unwrap();
        prop_assert!(pairing.new.is_empty(), "{:?}", pairing.new);
        prop_assert!(pairing.deleted.is_empty(), "{:?}", pairing.deleted);
        for (number, placed) in pairing.placed(|_| true).iter().enumerate() {
            prop_assert!(placed.changed.is_none(), "{:?}", placed);
            if scene.nodes[number].mesh.is_some() {
                let change = changed(&pairing, number);
                prop_assert!(matches!(change, Change::None), "{:?}", change);
            }
        }
    }

    #[test]
    fn a_moved_vertex_is_the_only_change(mesh in mesh(), which in any::<prop::sample::Index>()) {
        let mut old = scene(mesh, [0.0, 0.0, 0.0, 1.0], "arm");
        old.nodes.truncate(2);
        old.hidden.clear();
        old.joints.clear();
        old.meshes[0].weights.clear();
        let used = old.meshes[0].parts.iter().flat_map(|part| part.triangles.as_flattened());
        let used: Vec<u32> = used.copied().collect();
        let corner = used[which.index(used.len())] as usize;
        let point = old.meshes[0].corners[corner].point as usize;
        let mut new = scene(old.meshes[0].clone(), [0.0, 0.0, 0.0, 1.0], "arm");
        new.nodes.truncate(2);
        new.hidden.clear();
        new.joints.clear();
        new.meshes[0].points[point] = [30.0, 40.0, 50.0];
        let edited = saved(&new);
        let pairing = Pairing::new(&old, &edited).unwrap();
        let Change::Values(values) = changed(&pairing, 1) else {
            panic!("is not changed in place");
        };
        prop_assert_eq!(&values.points, &new.meshes[0].points);
        prop_assert_eq!(&values.corners, &old.meshes[0].corners);
    }
}

/// Returns the house of two triangles, after a change.
fn edited(edit: impl FnOnce(&mut Scene<'static>)) -> (Scene<'static>, Edited) {
    let mut new = house();
    edit(&mut new);
    (house(), saved(&new))
}

#[test]
fn triangles_in_another_order_are_the_same() {
    let (old, new) = edited(|scene| {
        for part in &mut scene.meshes[0].parts {
            part.triangles[0].rotate_left(1);
        }
        scene.meshes[0].parts.reverse();
    });
    let pairing = Pairing::new(&old, &new).unwrap();
    assert!(matches!(changed(&pairing, 0), Change::None));
}

#[test]
fn a_seam_in_any_set_of_texture_coordinates_makes_a_mesh_anew() {
    let with_sets = || {
        let mut scene = house();
        scene.meshes[0].other_uvs = vec![vec![[0.5; 2]; 3]];
        scene
    };
    let mut seamed = with_sets();
    let mesh = &mut seamed.meshes[0];
    mesh.corners.extend_from_within(..);
    mesh.other_uvs[0].extend([[0.5; 2], [0.5; 2], [0.75; 2]]);
    mesh.parts[1].triangles = vec![[3, 4, 5]];
    let (old, new) = (with_sets(), saved(&seamed));
    let pairing = Pairing::new(&old, &new).unwrap();
    assert!(matches!(changed(&pairing, 0), Change::Anew(_)));
}

#[test]
fn materials_are_found_by_name_or_else_by_picture() {
    let (old, new) = edited(|scene| scene.materials[0].name = "Red_Brick.001".to_owned());
    assert_eq!(
        Pairing::new(&old, &new).unwrap().materials,
        [Some(0), Some(1)]
    );
    let (old, mut new) = edited(|scene| scene.materials[0].name = "new".to_owned());
    new.scene.materials[0].texture = old.materials[0].texture.clone();
    assert_eq!(
        Pairing::new(&old, &new).unwrap().materials,
        [Some(0), Some(1)]
    );
    new.scene.materials[0].texture = None;
    assert_eq!(Pairing::new(&old, &new).unwrap().materials, [None, Some(1)]);
}

#[test]
fn what_cannot_be_stored_is_told() {
    let (old, mut new) = edited(|scene| {
        scene.materials[1].color = [0.0, 0.5, 0.0, 1.0];
        scene.meshes[0].other_uvs = vec![vec![[0.5; 2]; 3]];
    });
    new.scene.materials[0].texture = old.materials[0].texture.clone();
    let texture = new.scene.materials[0].texture.as_mut().unwrap();
    texture.file = "00_Brick.png.001".to_owned();
    let told = Pairing::new(&old, &new).unwrap().ignored();
    let material = "material \"plain\": another color or picture needs a material of a new name";
    let node = "node \"my house\": its mesh cannot have further texture coordinates";
    assert_eq!(told, [material, node]);
    let texture = new.scene.materials[0].texture.as_mut().unwrap();
    texture.file = "moss".to_owned();
    let told = Pairing::new(&old, &new).unwrap().ignored();
    assert!(told[0].starts_with("material \"red brick\""), "{told:?}");
    let (old, new) = edited(|_| ());
    assert_eq!(Pairing::new(&old, &new).unwrap().ignored(), [""; 0]);
}

#[test]
fn roots_that_turn_are_looked_through_and_scales_go_into_the_mesh() {
    let (old, new) = edited(|scene| {
        scene.nodes[0].parent = Some(1);
        let mut root = node("Armature", None, None, [0.0; 3]);
        root.transform.scale = [2.0; 3];
        scene.nodes.push(root);
    });
    let pairing = Pairing::new(&old, &new).unwrap();
    assert!(pairing.new.is_empty());
    let Change::Values(values) = changed(&pairing, 0) else {
        panic!("is not changed in place");
    };
    assert_eq!(values.points[1], [12.0, 0.0, 0.0]);
}

#[test]
fn the_move_of_a_node_without_a_stored_place_goes_into_its_mesh() {
    let with_nodes = |y: f32| {
        let mut scene = house();
        scene.nodes.push(node("door", Some(0), None, [0.0, y, 0.0]));
        scene.nodes.push(node("handle", Some(1), Some(0), [1.0; 3]));
        scene
    };
    let (old, new) = (with_nodes(0.0), saved(&with_nodes(5.0)));
    let pairing = Pairing::new(&old, &new).unwrap();
    let placed = pairing.placed(|node| node == 2);
    assert_eq!(placed[1].changed, None);
    assert_eq!(placed[2].changed, Some(Transform::at([1.0, 6.0, 1.0])));
    assert_eq!(placed[2].mesh, Affine::IDENTITY);
    let placed = pairing.placed(|_| false);
    assert_eq!(placed[2].changed, None);
    assert_eq!(placed[2].mesh.origin(), [0.0, 5.0, 0.0]);
}

#[test]
fn other_units_and_other_models_are_refused() {
    let (old, new) = edited(|scene| scene.nodes[0].transform.scale = [0.01; 3]);
    let refused = Pairing::new(&old, &new).err().unwrap();
    assert!(
        refused.contains("0.01 times") && refused.contains("apply the scale"),
        "{refused}"
    );
    let (old, new) = edited(|scene| scene.nodes[0].name = "Cube".to_owned());
    let refused = Pairing::new(&old, &new).err().unwrap();
    assert_eq!(refused, "has no node of the model, such as my house");
}

#[test]
fn what_is_gone_is_deleted_but_for_what_was_hidden() {
    let mut old = scene(house().meshes.remove(0), [0.0, 0.0, 0.0, 1.0], "arm");
    let mut shorter = scene(old.meshes[0].clone(), [0.0, 0.0, 0.0, 1.0], "arm");
    shorter.nodes.truncate(2);
    shorter.hidden.clear();
    let new = saved(&shorter);
    old.nodes[3].parent = Some(1);
    let pairing = Pairing::new(&old, &new).unwrap();
    assert_eq!(pairing.nodes[..3], [Some(0), Some(1), None]);
    assert_eq!(Vec::from_iter(pairing.deleted), [2, 4, 5, 6]);
}

#[test]
fn a_new_joint_is_refused() {
    let mut mesh = house().meshes.remove(0);
    let mut weights = Weights::default();
    weights[0] = Weight {
        joint: 0,
        weight: 1.0,
    };
    mesh.weights = vec![weights; mesh.points.len()];
    let old = scene(mesh.clone(), [0.0, 0.0, 0.0, 1.0], "arm");
    let mut new = scene(mesh, [0.0, 0.0, 0.0, 1.0], "arm");
    new.nodes[5].name = "wing".to_owned();
    let new = saved(&new);
    let pairing = Pairing::new(&old, &new).unwrap();
    let refused = pairing.mesh_of(1, &Affine::IDENTITY).err().unwrap();
    assert_eq!(refused, "joint \"wing\" is new: joints cannot be added");
}

/// Changes an edited scene.
type ChangeScene = fn(&mut Scene<'static>);

/// Returns objects with a mesh, each of two parts, below a group, after a change.
fn objects(edit: impl FnOnce(&mut Scene<'static>)) -> Scene<'static> {
    let mut objects = house();
    objects.nodes = vec![
        node("group", None, None, [1.0, 2.0, 3.0]),
        node("lamp", Some(0), Some(0), [40.0, 0.0, 0.0]),
        node("bulb", Some(1), Some(0), [0.0, 5.0, 0.0]),
        node("tree", Some(0), Some(0), [50.0, 0.0, 0.0]),
        node("bird", Some(3), Some(0), [0.0, 9.0, 0.0]),
    ];
    edit(&mut objects);
    objects
}

#[test]
fn what_is_altered_besides_the_places_of_objects_is_found() {
    let altered = |edit: ChangeScene| {
        let (shown, edited) = (objects(|_| ()), saved(&objects(edit)));
        let pairing = Pairing::new(&shown, &edited).unwrap();
        pairing.altered(&|node| [1, 3].contains(&node))
    };
    let moved: ChangeScene = |scene| {
        scene.nodes[1].transform = Transform {
            rotation: [0.0, 0.6, 0.0, 0.8],
            scale: [2.0, 3.0, 2.0],
            ..Transform::at([-900.0, 7.0, 1.0])
        };
        scene.nodes.truncate(3);
    };
    assert_eq!(altered(moved), []);
    let cases: [(ChangeScene, &[(usize, Altered)]); 5] = [
        (
            |scene| scene.nodes[2].transform.translation[1] = 6.0,
            &[(2, Altered::Moved)],
        ),
        (
            |scene| scene.nodes[4].transform.scale = [2.0, 0.5, 1.0],
            &[(4, Altered::Moved)],
        ),
        (|scene| scene.nodes.truncate(4), &[(4, Altered::Deleted)]),
        (|scene| scene.nodes[3].mesh = None, &[(3, Altered::Mesh)]),
        (
            |scene| {
                let mut mesh = scene.meshes[0].clone();
                mesh.points[0] = [30.0, 40.0, 50.0];
                scene.meshes.push(mesh);
                scene.nodes[1].mesh = Some(1);
            },
            &[(1, Altered::Mesh)],
        ),
    ];
    for (edit, expected) in cases {
        assert_eq!(altered(edit), expected);
    }
}
