//! A picture of the first animations of a package: a stick figure of each in
//! mid-animation.

use super::skeleton::Skeleton;
use super::{Animation, Ifp};
use hpimount_assets::model::math::{cross, finite, unit};
use hpimount_assets::model::scene::{Material, Mesh, Node, Outline, Part};
use hpimount_assets::model::{Picture, Scale, Scene, Transform, preview, sheet};
use hpimount_renderware::export::unit_rotation;

/// Maximum number of figures.
const MAX_FIGURES: usize = 4;

/// Width of a bone, as a fraction of its length.
const WIDTH: f32 = 0.12;

/// Returns whether the numbers of bones in a package tell their places.
pub(super) fn has_figures(ifp: &Ifp) -> bool {
    let mut animations = ifp.animations();
    animations.any(|animation| {
        let mut objects = animation.objects.iter();
        objects.any(|object| object.bone_id.is_some_and(|bone| bone > 0))
    })
}

/// Draws the figures.
pub(super) fn draw(ifp: &Ifp) -> Picture {
    let moved = ifp.animations().filter(|animation| animation.frames() > 0);
    let figures = moved.take(MAX_FIGURES).map(|animation| {
        let figure = figure(Skeleton::of(ifp), animation);
        Some(preview::draw(&figure, &|_| None))
    });
    let figures: Vec<_> = figures.collect();
    sheet(figures.len(), Scale::Own, figures.into_iter())
}

/// Returns solids for the bones in the pose of an animation.
fn figure(skeleton: Skeleton, animation: &Animation) -> Scene<'static> {
    let Skeleton {
        mut scene, bones, ..
    } = skeleton;
    for object in &animation.objects {
        let keys = object.keys.as_ref();
        let key = keys.and_then(|keys| keys.get(keys.len() / 2));
        if let Some((key, node)) = key.zip(bones.node_of(object)) {
            let transform = &mut scene.nodes[node].transform;
            transform.rotation = unit_rotation(key.rotation);
            if let Some(place) = key.translation {
                transform.translation = place.map(finite);
            }
        }
    }
    scene.materials.push(Material::plain());
    for Outline { parent, points, .. } in std::mem::take(&mut scene.outlines) {
        scene.nodes.push(Node {
            name: String::new(),
            parent: Some(parent),
            transform: Transform::IDENTITY,
            mesh: Some(scene.meshes.len()),
        });
        scene.meshes.push(solid(points[1]));
    }
    scene
}

/// Returns a bone from the origin to its end: two pyramids on a square.
fn solid(end: [f32; 3]) -> Mesh {
    let along = unit(end).unwrap_or([1.0, 0.0, 0.0]);
    let least = (0..3).min_by(|&a, &b| along[a].abs().total_cmp(&along[b].abs()));
    let mut axis = [0.0; 3];
    axis[least.unwrap_or(0)] = 1.0;
    let side = cross(along, axis);
    let length = end.iter().map(|part| part * part).sum::<f32>().sqrt();
    let corner = |turn: [f32; 3], sign: f32| {
        std::array::from_fn(|i| end[i] * WIDTH + turn[i] * sign * length * WIDTH)
    };
    let other = cross(along, side);
    let square = [
        corner(side, 1.0),
        corner(other, 1.0),
        corner(side, -1.0),
        corner(other, -1.0),
    ];
    let mut mesh = Mesh::default();
    let mut part = Part::default();
    for (number, &point) in square.iter().enumerate() {
        let next = square[(number + 1) % square.len()];
        for triangle in [[[0.0; 3], next, point], [end, point, next]] {
            part.triangles.push(mesh.add_flat(triangle));
        }
    }
    mesh.parts.push(part);
    mesh
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ifp::parse;
    use fixtures::ifp::{self as build, shorts};

    #[test]
    fn each_of_the_first_animations_has_a_figure_in_its_pose() {
        let object = |name, bone, rotation: [i16; 4]| {
            let [x, y, z, w] = rotation;
            build::anp_object(name, 3, bone, &shorts(&[x, y, z, w, 0]))
        };
        let pose = |rotation| {
            vec![
                object("Root", 0, [0, 0, 0, 4096]),
                object("Pelvis", 1, rotation),
                object("Spine", 2, [0, 0, 0, 4096]),
            ]
        };
        let straight = pose([0, 0, 0, 4096]);
        let bent = pose([0, 0, 2896, 2896]);
        let file = build::anp(true, "ped", &[("stand", straight), ("bow", bent)]);
        let ifp = parse(&file.into()).unwrap();
        assert!(has_figures(&ifp));
        let end = |number: usize| {
            let figure = figure(Skeleton::of(&ifp), ifp.animations().nth(number).unwrap());
            let (node, _, mesh) = figure.drawn().last().unwrap();
            let [x, y, _] = figure.point(node, mesh.points[3]);
            [x, y].map(|part| (part * 100.0).round())
        };
        assert_ne!(end(0), end(1));
        let drawn = draw(&ifp).rgba();
        let cells = drawn.chunks(128).enumerate();
        let mut is_drawn = [false; 2];
        for (number, cell) in cells.take(2 * 128) {
            is_drawn[number % 2] |= cell.iter().any(|pixel| pixel[3] > 0);
        }
        assert_eq!(is_drawn, [true; 2]);
    }

    #[test]
    fn bones_without_numbers_have_no_figure() {
        let still = shorts(&[0, 0, 0, 4096, 0]);
        let door = vec![build::anp_object("door", 3, -1, &still)];
        let file = build::anp(true, "car", &[("open", door)]);
        assert!(!has_figures(&parse(&file.into()).unwrap()));
    }
}
