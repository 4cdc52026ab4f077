//! Characters: objects as the joints of a skeleton (FORMATS, PSX 6).

use std::sync::Arc;

use super::clip::{Clip, Clips};
use super::mesh::Builder;
use super::{ExportPlan, object_name, shown_model};
use crate::psx::Psx;
use hpimount_assets::model::math::{Transform, subtract};
use hpimount_assets::model::scene::{Animation, Joint, Node, sound_parents};
use hpimount_assets::model::{Scene, padded};

/// The note in files with a skeleton.
const NOTE: &str = "Animations run at 30 frames per second, which is not recorded in the file.";

/// Returns the valid parents of the objects.
fn parents(psx: &Psx) -> Vec<Option<usize>> {
    let stored = psx.parents().unwrap_or_default();
    sound_parents(psx.objects.len(), |object| {
        Some((*stored.get(object)?).into())
    })
}

/// Adds a joint for each object, with its transformation in the rest pose: the stored
/// position, without rotation.
fn joints(psx: &Psx, plan: &ExportPlan, parents: &[Option<usize>], scene: &mut Scene<'_>) {
    for index in 0..psx.objects.len() {
        let origin = plan.origin(psx, Some(index));
        let parent = parents.get(index).copied().flatten();
        scene.joints.push(Joint {
            node: scene.nodes.len(),
            inverse_bind: moved(origin.map(|part| 0.0 - part)),
        });
        scene.nodes.push(Node {
            name: object_name(psx, plan, index, 2),
            parent,
            transform: Transform::at(rest(psx, plan, index, parent)),
            mesh: None,
        });
    }
    scene.notes.push(NOTE.into());
}

/// Returns the translation of an object from its parent in the rest pose.
fn rest(psx: &Psx, plan: &ExportPlan, index: usize, parent: Option<usize>) -> [f32; 3] {
    let origin = plan.origin(psx, Some(index));
    match parent {
        Some(_) => subtract(origin, plan.origin(psx, parent)),
        None => origin,
    }
}

/// Returns the matrix of a translation.
fn moved([x, y, z]: [f32; 3]) -> [f32; 16] {
    [
        1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, x, y, z, 1.0,
    ]
}

/// Builds a character: joints, skinned meshes, and animations.
pub(super) fn build<'a>(
    psx: &'a Psx,
    plan: &'a ExportPlan,
    builder: &mut Builder<'_>,
    scene: &mut Scene<'a>,
) {
    let parents: Arc<[_]> = parents(psx).into();
    joints(psx, plan, &parents, scene);
    for (index, &number) in plan.model_of.iter().enumerate() {
        let Some(model) = shown_model(psx, number) else {
            continue;
        };
        let name = format!("{}_mesh", object_name(psx, plan, index, 2));
        let mesh = builder.mesh(name.clone(), model, Some(index));
        scene.nodes.push(Node {
            name,
            parent: None,
            transform: Transform::IDENTITY,
            mesh: Some(scene.meshes.len()),
        });
        scene.meshes.push(mesh);
    }
    let clips = Clips::of(psx);
    if plan.moves_scene {
        let motions = plan.motions.iter();
        let animations = motions.filter_map(|&index| {
            let clip = clips.get(index)?;
            Some(animation(psx, plan, &parents, index, clip))
        });
        scene.animations.extend(animations);
    }
}

/// Returns the joints and one animation.
pub(super) fn motion<'a>(psx: &'a Psx, plan: &'a ExportPlan, index: usize) -> Scene<'a> {
    let mut scene = Scene::default();
    let parents: Arc<[_]> = parents(psx).into();
    joints(psx, plan, &parents, &mut scene);
    if let Some(clip) = Clips::of(psx).get(index) {
        scene
            .animations
            .push(animation(psx, plan, &parents, index, clip));
    }
    scene
}

fn animation<'a>(
    psx: &'a Psx,
    plan: &'a ExportPlan,
    parents: &Arc<[Option<usize>]>,
    index: usize,
    clip: Clip<'a>,
) -> Animation<'a> {
    let parents = Arc::clone(parents);
    Animation {
        name: padded(index, Clips::of(psx).len(), 3),
        interval: clip.interval,
        frames: clip.frames,
        nodes: 0..psx.objects.len(),
        transform: Box::new(move |frame, joint| {
            let parent = parents.get(joint).copied().flatten();
            let rest = rest(psx, plan, joint, parent);
            clip.transform(plan, frame, joint, parent, rest)
        }),
    }
}
