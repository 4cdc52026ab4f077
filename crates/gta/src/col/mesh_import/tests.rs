use proptest::prelude::*;

use super::*;
use crate::col::FORMAT;
use fixtures::col as build;
use hpimount_assets::model::Scene;
use hpimount_assets::model::scene::Corner;
use hpimount_assets::view::import::edited;
use hpimount_assets::view::rendered;

const FILE: &str = "01 crate.glb";

/// Returns two models of a version.
fn file(version: u8) -> Vec<u8> {
    [
        build::model(version, "wall"),
        build::model(version, "crate"),
    ]
    .concat()
}

fn import(asset: &[u8], edit: impl FnOnce(&mut Scene<'static>)) -> Result<Imported, String> {
    let file = rendered(&FORMAT, asset, FILE).unwrap();
    edited(&FORMAT, asset, FILE, &fixtures::resaved(&file, edit))
}

fn changed(asset: &[u8], edit: impl FnOnce(&mut Scene<'static>)) -> Col {
    match import(asset, edit) {
        Ok(Imported::Changed(changed)) => parse(&changed.asset.into()).unwrap(),
        other => panic!("{other:?}"),
    }
}

fn mesh_of<'a>(scene: &'a mut Scene<'static>) -> &'a mut Mesh {
    let node = scene.nodes.iter().find(|node| node.name == "mesh").unwrap();
    &mut scene.meshes[node.mesh.unwrap()]
}

#[test]
fn the_file_of_a_model_is_no_change() {
    for version in 1..=4 {
        let unchanged = import(&file(version), |_| ());
        assert_eq!(unchanged, Ok(Imported::Unchanged), "{version}");
    }
}

proptest! {
    #[test]
    fn any_place_of_a_vertex_is_read_back(
        version in 1..=4_u8,
        place in any::<[i16; 3]>(),
    ) {
        let place = place.map(|part| f32::from(part.max(-i16::MAX)) / 128.0);
        let others = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 2.0, 0.5]];
        prop_assume!(!others.contains(&place));
        let col = changed(&file(version), |scene| {
            let points = &mut mesh_of(scene).points;
            *points.iter_mut().find(|point| **point == others[1]).unwrap() = place;
        });
        let [wall, shapes] = [0, 1].map(|model: usize| &col.models[model].shapes);
        let vertices: Vec<_> = shapes.mesh.vertices().collect();
        prop_assert_eq!(vertices, [others[0], place, others[2]]);
        prop_assert_eq!(wall.mesh.vertices().collect::<Vec<_>>(), others);
    }
}

#[test]
fn a_moved_vertex_is_the_only_one_and_bounds_grow() {
    for version in 1..=4 {
        let col = changed(&file(version), |scene| {
            let mesh = mesh_of(scene);
            let point = mesh
                .points
                .iter_mut()
                .find(|point| **point == [1.0, 0.0, 0.0]);
            *point.unwrap() = [3.0, 4.0, 0.0];
        });
        let shapes = &col.models[1].shapes;
        let vertices: Vec<_> = shapes.mesh.vertices().collect();
        assert_eq!(
            vertices,
            [[0.0; 3], [3.0, 4.0, 0.0], [0.0, 2.0, 0.5]],
            "{version}"
        );
        let bounds = shapes.bounds.unwrap();
        assert_eq!(
            (bounds.max, bounds.radius),
            ([3.0, 4.0, 1.0], 5.0),
            "{version}"
        );
        let old = parse(&file(version).into()).unwrap();
        let faces = |col: &Col| col.models[0].shapes.mesh.faces().collect::<Vec<_>>();
        assert_eq!(faces(&col), faces(&old));
    }
}

#[test]
fn other_faces_keep_the_surface_of_those_at_their_place() {
    for version in 1..=4 {
        let col = changed(&file(version), |scene| {
            let mut material = scene.materials[0].clone();
            material.name = "surface 77 mud".to_owned();
            let number = scene.materials.len();
            scene.materials.push(material);
            let mesh = mesh_of(scene);
            let first = mesh.corners.len() as u32;
            for point in [[0.0; 3], [0.0, 2.0, 0.5], [0.0, 0.0, 1.0]] {
                let point_number = mesh.points.len() as u32;
                mesh.points.push(point);
                let corner = Corner {
                    point: point_number,
                    ..mesh.corners[0]
                };
                mesh.corners.push(corner);
            }
            let mut part = mesh.parts[0].clone();
            part.material = number;
            part.triangles = vec![[first, first + 1, first + 2]];
            mesh.parts.push(part);
        });
        let shapes = &col.models[1].shapes;
        let faces: Vec<_> = shapes.mesh.faces().collect();
        let surface = |n: usize| (faces[n].surface.material, faces[n].surface.light);
        assert_eq!((surface(0), surface(1)), ((5, 17), (77, 0)), "{version}");
        assert_eq!(shapes.mesh.vertices().count(), 4);
        assert_eq!(shapes.spheres.len() + shapes.boxes.len(), 2);
    }
}

#[test]
fn a_moved_or_turned_mesh_is_moved_in_its_vertices() {
    for version in 1..=4 {
        let col = changed(&file(version), |scene| {
            let mut nodes = scene.nodes.iter_mut();
            let node = nodes.find(|node| node.name == "mesh").unwrap();
            let half = std::f32::consts::FRAC_1_SQRT_2;
            node.transform.translation = [0.0, 0.0, 5.0];
            node.transform.rotation = [0.0, 0.0, half, half];
        });
        let vertices: Vec<_> = col.models[1].shapes.mesh.vertices().collect();
        let expected = [[0.0, 0.0, 5.0], [0.0, 1.0, 5.0], [-2.0, 0.0, 5.5]];
        for (found, expected) in vertices.as_flattened().iter().zip(expected.as_flattened()) {
            assert!((found - expected).abs() < 1e-5, "{version}: {vertices:?}");
        }
        assert_eq!(
            col.models[0].shapes.mesh.vertices().last(),
            Some([0.0, 2.0, 0.5])
        );
    }
}

#[test]
fn other_materials_of_solids_are_stored() {
    for version in 1..=4 {
        let col = changed(&file(version), |scene| {
            let number = scene.materials.len();
            let mut material = scene.materials[0].clone();
            material.name = "surface 77 mud".to_owned();
            scene.materials.push(material);
            for name in ["sphere_0", "box_0"] {
                let node = scene.nodes.iter().find(|node| node.name == name).unwrap();
                scene.meshes[node.mesh.unwrap()].parts[0].material = number;
            }
        });
        let (old, new) = (&col.models[0].shapes, &col.models[1].shapes);
        let with_mud = |surface: Surface| Surface {
            material: 77,
            ..surface
        };
        assert_eq!(new.spheres[0].surface, with_mud(old.spheres[0].surface));
        assert_eq!(new.boxes[0].surface, with_mud(old.boxes[0].surface));
        assert_eq!(new.spheres[0].center, old.spheres[0].center);
        assert_eq!(new.boxes[0].min, old.boxes[0].min);
    }
}

#[test]
fn a_mesh_of_a_solid_that_is_edited_is_refused() {
    for name in ["sphere_0", "box_0"] {
        let error = import(&file(2), |scene| {
            let node = scene.nodes.iter().find(|node| node.name == name).unwrap();
            let mesh = &mut scene.meshes[node.mesh.unwrap()];
            mesh.points
                .as_flattened_mut()
                .iter_mut()
                .for_each(|part| *part *= 2.0);
        });
        let expected = "has another shape: scale and move its node, not its mesh";
        assert_eq!(error, Err(format!("node \"{name}\": {expected}")));
    }
}

#[test]
fn solids_are_moved_and_scaled_and_nothing_else() {
    for version in 1..=4 {
        let col = changed(&file(version), |scene| {
            for node in &mut scene.nodes {
                if node.name.starts_with("sphere") {
                    node.transform.translation = [1.0, 2.0, 8.0];
                    node.transform.scale = node.transform.scale.map(|part| part * 2.0);
                }
                if node.name.starts_with("box") {
                    node.transform.scale[1] *= 3.0;
                }
            }
        });
        let shapes = &col.models[1].shapes;
        assert_eq!(shapes.spheres[0].center, [1.0, 2.0, 8.0], "{version}");
        assert_eq!(
            (shapes.spheres[0].radius, shapes.spheres[0].surface.material),
            (1.0, 9)
        );
        assert_eq!(
            (shapes.boxes[0].min, shapes.boxes[0].max),
            ([-1., -3., -1.], [1., 3., 1.])
        );
        assert_eq!(col.models[0].shapes.spheres[0].radius, 0.5);
    }
}

#[test]
fn what_a_collision_model_cannot_have_is_refused() {
    let refused =
        |version: u8, edit: &dyn Fn(&mut Scene<'static>)| import(&file(version), edit).unwrap_err();
    let error = refused(3, &|scene| mesh_of(scene).points[1] = [256.0, 0.0, 0.0]);
    assert_eq!(error, "node \"mesh\": 256 is past 255.99");
    let error = refused(1, &|scene| {
        for node in &mut scene.nodes[2..] {
            node.transform.rotation = [0.6, 0.0, 0.0, 0.8];
            node.transform.scale[0] *= 2.0;
        }
    });
    assert!(error.contains("node \"sphere_0\": is turned") && error.contains("\"box_0\""));
    let error = refused(1, &|scene| {
        scene.nodes.pop();
    });
    assert_eq!(
        error,
        "node \"box_0\" is gone: shapes cannot be deleted here"
    );
    let error = refused(1, &|scene| {
        scene.materials[0].name = "mud".to_owned();
        mesh_of(scene).points[1] = [2.0; 3];
        mesh_of(scene).parts[0].triangles.push([2, 1, 0]);
    });
    assert!(error.contains("material \"mud\" is no surface"), "{error}");
}

#[test]
fn shapes_that_overlap_are_not_edited() {
    let shown = rendered(&FORMAT, &file(2), FILE).unwrap();
    let mut asset = file(2);
    // The spheres of the second model begin in its boxes.
    asset[file(2).len() / 2 + OFFSETS] += 12;
    let error = edited(&FORMAT, &asset, FILE, &shown).unwrap_err();
    assert_eq!(error, "shows a model whose shapes overlap in the file");
}

/// Damages a part of the second model, whose floats begin at `offset` of it, and returns
/// the model after its damage is edited away.
fn repaired(version: u8, offset: usize, damage: &[f32]) -> Col {
    let shown = rendered(&FORMAT, &file(version), FILE).unwrap();
    let mut asset = file(version);
    let at = asset.len() / 2 + offset;
    let bytes: Vec<u8> = damage.iter().flat_map(|part| part.to_le_bytes()).collect();
    asset[at..at + bytes.len()].copy_from_slice(&bytes);
    let Ok(Imported::Changed(changed)) = edited(&FORMAT, &asset, FILE, &shown) else {
        panic!("it is not edited");
    };
    let again = edited(&FORMAT, &changed.asset, FILE, &shown);
    assert_eq!(again, Ok(Imported::Unchanged));
    parse(&changed.asset.into()).unwrap()
}

#[test]
fn a_box_that_is_no_number_becomes_the_edited_one() {
    let whole = parse(&file(2).into()).unwrap();
    let shapes = &whole.models[1].shapes;
    let again = repaired(2, shapes.offsets.boxes, &[f32::NAN]);
    assert_eq!(again.models[1].shapes.boxes[0].min, shapes.boxes[0].min);
}

#[test]
fn a_vertex_far_away_does_not_hide_other_changes() {
    let whole = parse(&file(1).into()).unwrap();
    let shapes = &whole.models[1].shapes;
    let first = shapes.mesh.vertices().next().unwrap();
    let damage = [first[0] + 0.01, -1e38];
    let again = repaired(1, shapes.offsets.mesh[0], &damage);
    assert_eq!(again.models[1].shapes.mesh.vertices().next(), Some(first));
}
