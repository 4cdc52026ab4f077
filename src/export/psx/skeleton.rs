//! Characters: objects that are the joints of a skeleton (FORMATS, PSX 6).
//!
//! A keyframe turns an object in the space of the whole character and moves
//! it in that of its parent; so a joint's turn in its parent is what is left
//! of it when the parent's is undone.

use super::mesh::Builder;
use super::{Exhibit, keyframes, model_name, shown_model};
use crate::asset::psx::{AnimationV1, Psx, Transform};
use crate::export::math::{Place, Rows, product, quaternion, rows, subtract};
use crate::export::scene::{Animation, Curve, Joint, Node, sound_parents};
use crate::export::{MOST_CURVES, Scene};

/// Frames in a second. The file does not tell; the games show so many.
const RATE: f32 = 30.0;

/// The note that files with a skeleton have.
const NOTE: &str = "Animations run at 30 frames a second, which the file does not tell; turns are the whole character's, moves the parent's.";

/// The matrix of an object's angles, of which 4096 are a full turn, with y up:
/// first about z, then x, then y.
pub(super) fn turn_of(angles: [i16; 3]) -> Rows {
    // About x alone, y down turns as y up does.
    let [x, y, z] = angles.map(|angle| f32::from(angle) * std::f32::consts::TAU / 4096.0);
    let ((sx, cx), (sy, cy), (sz, cz)) = (x.sin_cos(), (-y).sin_cos(), (-z).sin_cos());
    let about_x = [[1.0, 0.0, 0.0], [0.0, cx, -sx], [0.0, sx, cx]];
    let about_y = [[cy, 0.0, sy], [0.0, 1.0, 0.0], [-sy, 0.0, cy]];
    let about_z = [[cz, -sz, 0.0], [sz, cz, 0.0], [0.0, 0.0, 1.0]];
    product(about_y, product(about_x, about_z))
}

/// The parent of each object, where that is one that it can have.
fn parents(psx: &Psx) -> Vec<Option<usize>> {
    let stored = psx.parents().unwrap_or_default();
    sound_parents(psx.objects.len(), |object| {
        Some((*stored.get(object)?).into())
    })
}

/// Adds a joint for each object, in its place in the rest pose: where the file
/// has it, not turned.
fn joints(psx: &Psx, exhibit: &Exhibit, parents: &[Option<usize>], scene: &mut Scene) {
    for (index, object) in psx.objects.iter().enumerate() {
        let origin = exhibit.origin(psx, Some(index));
        let parent = parents.get(index).copied().flatten();
        let place = match parent {
            Some(_) => subtract(origin, exhibit.origin(psx, parent)),
            None => origin,
        };
        scene.joints.push(Joint {
            node: scene.nodes.len(),
            inverse_bind: moved(origin.map(|part| 0.0 - part)),
        });
        scene.nodes.push(Node {
            name: format!("{index:02}_{}", model_name(psx, object.model.into())),
            parent,
            place: Place::at(place),
            mesh: None,
        });
    }
    scene.notes.push(NOTE.into());
}

/// The matrix that only moves.
fn moved([x, y, z]: [f32; 3]) -> [f32; 16] {
    [
        1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, x, y, z, 1.0,
    ]
}

/// A character: joints, meshes that follow them, and animations.
pub(super) fn build(psx: &Psx, exhibit: &Exhibit, builder: &mut Builder<'_>, scene: &mut Scene) {
    let parents = parents(psx);
    joints(psx, exhibit, &parents, scene);
    for (index, object) in psx.objects.iter().enumerate() {
        let number = usize::from(object.model);
        let Some(model) = shown_model(psx, number) else {
            continue;
        };
        let name = format!("{index:02}_{}_mesh", model_name(psx, number));
        let mesh = builder.mesh(name.clone(), model, Some(index));
        scene.nodes.push(Node {
            name,
            parent: None,
            place: Place::HERE,
            mesh: Some(scene.meshes.len()),
        });
        scene.meshes.push(mesh);
    }
    let list = keyframes(psx);
    if list.len() * psx.objects.len() <= MOST_CURVES {
        let animations = list.iter().enumerate();
        let animations = animations.map(|(i, one)| animation(psx, exhibit, &parents, i, one));
        scene.animations.extend(animations);
    }
}

/// The joints and one animation.
pub(super) fn motion(psx: &Psx, exhibit: &Exhibit, index: usize) -> Scene {
    let mut scene = Scene::default();
    let parents = parents(psx);
    joints(psx, exhibit, &parents, &mut scene);
    if let Some(one) = keyframes(psx).get(index) {
        scene
            .animations
            .push(animation(psx, exhibit, &parents, index, one));
    }
    scene
}

fn animation(
    psx: &Psx,
    exhibit: &Exhibit,
    parents: &[Option<usize>],
    index: usize,
    animation: &AnimationV1,
) -> Animation {
    let joints = psx.objects.len().max(1);
    let frames = animation.poses.len() / joints;
    let mut curves: Vec<Curve> = (0..psx.objects.len())
        .map(|node| Curve {
            node,
            places: Vec::with_capacity(frames),
        })
        .collect();
    for poses in animation.poses.chunks_exact(joints) {
        let turns: Vec<[f32; 4]> = poses.iter().map(turn).collect();
        for (joint, (pose, curve)) in poses.iter().zip(&mut curves).enumerate() {
            let parent = parents.get(joint).copied().flatten();
            let parent = parent.and_then(|parent| turns.get(parent));
            let rotation = match parent {
                Some(&[x, y, z, w]) => after([-x, -y, -z, w], turns[joint]),
                None => turns[joint],
            };
            let rotation = nearest(rotation, curve.places.last());
            curve.places.push(Place {
                rotation,
                ..Place::at(exhibit.scaled(pose.translation))
            });
        }
    }
    Animation {
        name: format!("{index:03}"),
        interval: (f32::from(animation.tween) + 1.0) / RATE,
        curves,
    }
}

/// The turn of a pose, with y up.
fn turn(pose: &Transform) -> [f32; 4] {
    let m = pose
        .matrix
        .map(|row| row.map(|part| f32::from(part) / 4096.0));
    let flip = [1.0, -1.0, -1.0];
    let rows = std::array::from_fn(|row| {
        std::array::from_fn(|column| flip[row] * m[row][column] * flip[column])
    });
    Place::turned(rows, [0.0; 3]).rotation
}

/// A turn after another.
fn after(a: [f32; 4], b: [f32; 4]) -> [f32; 4] {
    quaternion(product(rows(a), rows(b)))
}

/// Of the two quaternions of a turn, the one that is nearer to the last, so
/// that what is between them is too.
fn nearest(rotation: [f32; 4], last: Option<&Place>) -> [f32; 4] {
    let same = last.map_or(1.0, |last| {
        let parts = last.rotation.iter().zip(rotation);
        parts.map(|(a, b)| a * b).sum::<f32>()
    });
    if same < 0.0 {
        rotation.map(|part| -part)
    } else {
        rotation
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn angles_turn_about_axes_that_point_up() {
        let quarter = turn_of([0, 1024, 0]);
        let rotated = crate::export::math::turn(quarter, [1.0, 0.0, 0.0]);
        assert!((rotated[2] - 1.0).abs() < 1e-6, "{rotated:?}");
    }
}
