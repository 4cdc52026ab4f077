//! Characters: objects that are the joints of a skeleton (FORMATS, PSX 6).
//!
//! A keyframe turns an object in the space of the whole character and moves
//! it in that of its parent; so a joint's turn in its parent is what is left
//! of it when the parent's is undone.

use std::rc::Rc;

use super::mesh::Builder;
use super::{ExportPlan, keyframes, model_name, poses, shown_model};
use crate::asset::psx::{AnimationV1, Psx, Transform};
use crate::export::math::{Place, Rows, product, quaternion, rows, subtract};
use crate::export::scene::{Animation, Joint, Node, sound_parents};
use crate::export::{MAX_CURVES, MAX_POSES, Scene};

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
fn joints(psx: &Psx, plan: &ExportPlan, parents: &[Option<usize>], scene: &mut Scene<'_>) {
    for (index, object) in psx.objects.iter().enumerate() {
        let origin = plan.origin(psx, Some(index));
        let parent = parents.get(index).copied().flatten();
        let place = match parent {
            Some(_) => subtract(origin, plan.origin(psx, parent)),
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
pub(super) fn build<'a>(
    psx: &'a Psx,
    plan: &'a ExportPlan,
    builder: &mut Builder<'_>,
    scene: &mut Scene<'a>,
) {
    let parents: Rc<[_]> = parents(psx).into();
    joints(psx, plan, &parents, scene);
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
    if list.len() * psx.objects.len() <= MAX_CURVES && poses(psx) <= MAX_POSES {
        let animations = list.iter().enumerate();
        let animations = animations.map(|(i, one)| animation(psx, plan, &parents, i, one));
        scene.animations.extend(animations);
    }
}

/// The joints and one animation.
pub(super) fn motion<'a>(psx: &'a Psx, plan: &'a ExportPlan, index: usize) -> Scene<'a> {
    let mut scene = Scene::default();
    let parents: Rc<[_]> = parents(psx).into();
    joints(psx, plan, &parents, &mut scene);
    if let Some(one) = keyframes(psx).get(index) {
        scene
            .animations
            .push(animation(psx, plan, &parents, index, one));
    }
    scene
}

fn animation<'a>(
    psx: &'a Psx,
    plan: &'a ExportPlan,
    parents: &Rc<[Option<usize>]>,
    index: usize,
    animation: &'a AnimationV1,
) -> Animation<'a> {
    let joints = psx.objects.len();
    let parents = Rc::clone(parents);
    let place = move |frame: usize, joint: usize| {
        let pose = |joint: usize| animation.pose(frame * joints + joint);
        let Some(own) = pose(joint) else {
            return Place::HERE;
        };
        let parent = parents.get(joint).copied().flatten().and_then(pose);
        let rotation = match parent.as_ref().map(turn) {
            Some([x, y, z, w]) => after([-x, -y, -z, w], turn(&own)),
            None => turn(&own),
        };
        Place {
            rotation,
            ..Place::at(plan.scaled(own.translation))
        }
    };
    Animation {
        name: format!("{index:03}"),
        interval: (f32::from(animation.tween) + 1.0) / RATE,
        frames: animation.pose_count() / joints.max(1),
        nodes: 0..joints,
        place: Box::new(place),
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
