//! Skins: the bones of a clump as joints of a scene.
//!
//! The frames give the bind pose. Without a skin, vertices are shown in the bind pose,
//! too. The skin's matrices are not needed: they describe the same pose if the model
//! was exported in it.

use std::collections::HashMap;

use crate::clump::{Clump, Geometry, Placement};
use hpimount_assets::model::MAX_JOINTS;
use hpimount_assets::model::math::finite;
use hpimount_assets::model::scene::{Joint, Node, Scene, Weight, Weights};

/// Returns the frame of each bone of a clump's skeleton, or `None` if the skeleton is
/// incomplete.
pub fn bones(clump: &Clump) -> Option<Vec<usize>> {
    let nodes = clump.frames.iter().enumerate();
    let nodes = nodes.filter_map(|(frame, one)| Some((frame, one.node.as_ref()?)));
    let frames: HashMap<i32, usize> = nodes
        .clone()
        .map(|(frame, node)| (node.id, frame))
        .collect();
    let skeletons = nodes.map(|(_, node)| &node.bones);
    // In the first games, the skeleton is in the skin.
    let skins = clump.geometries.iter().filter_map(|one| one.skin.as_ref());
    let mut skeletons = skeletons.chain(skins.map(|skin| &skin.nodes));
    let bones = skeletons.find(|bones| !bones.is_empty())?;
    let frames = bones.iter().map(|[id, ..]| frames.get(id).copied());
    let mut frames: Vec<usize> = frames.collect::<Option<_>>()?;
    let count = frames.len();
    let known = frames.clone();
    frames.sort_unstable();
    frames.dedup();
    // A node can be a joint only once.
    (frames.len() == count && count <= MAX_JOINTS).then_some(known)
}

/// Adds the frames of a clump to a scene as nodes below `root`.
pub fn add_frames(clump: &Clump, root: Option<usize>, scene: &mut Scene<'_>) {
    let first = scene.nodes.len();
    for (number, frame) in clump.frames.iter().enumerate() {
        scene.nodes.push(Node {
            name: match (&frame.name, &frame.node) {
                (name, _) if !name.is_empty() => name.clone(),
                (_, Some(node)) => format!("bone_{}", node.id),
                (_, None) => format!("frame_{number}"),
            },
            parent: frame.parent.map(|parent| first + parent).or(root),
            transform: frame.placement.transform(),
            mesh: None,
        });
    }
}

/// Adds the frames of a clump to a scene as nodes below `root`, and the bones' frames
/// as joints. Returns false if a frame has no inverse.
pub fn add_joints(
    clump: &Clump,
    bones: &[usize],
    root: Option<usize>,
    scene: &mut Scene<'_>,
) -> bool {
    let first = scene.nodes.len();
    add_frames(clump, root, scene);
    let joints = bones.iter().map(|bone| {
        let node = first + bone;
        let inverse_bind = inverse_of(scene, node)?;
        Some(Joint { node, inverse_bind })
    });
    match joints.collect::<Option<Vec<_>>>() {
        Some(joints) => {
            scene.joints = joints;
            true
        }
        None => {
            scene.nodes.truncate(first);
            false
        }
    }
}

/// Returns the joint weights of a geometry's points, or nothing without a skin for this
/// number of joints and points.
pub fn weights_of(geometry: &Geometry, points: usize, joints: usize) -> Vec<Weights> {
    let skin = geometry.skin.as_ref();
    if skin.is_none_or(|skin| usize::from(skin.bones) != joints) {
        return Vec::new();
    }
    let influences = geometry.influences().into_iter();
    let weights: Vec<_> = influences
        .map(|(bones, weights)| shares(bones, weights, joints))
        .collect();
    match weights.len() == points {
        true => weights,
        false => Vec::new(),
    }
}

/// Converts the bones of a point to joints without duplicates, with weights that sum to
/// 1.
fn shares(bones: [u8; 4], weights: [f32; 4], joints: usize) -> Weights {
    let mut shares = Weights::default();
    let mut count = 0;
    for (bone, weight) in bones.into_iter().zip(weights) {
        let weight = finite(weight).clamp(0.0, 1e6);
        if weight < 1e-6 || usize::from(bone) >= joints {
            continue;
        }
        let joint = u16::from(bone);
        match shares[..count]
            .iter_mut()
            .find(|share| share.joint == joint)
        {
            Some(share) => share.weight += weight,
            None => {
                shares[count] = Weight { joint, weight };
                count += 1;
            }
        }
    }
    if count == 0 {
        shares[0].weight = 1.0;
    }
    let sum: f32 = shares.iter().map(|share| share.weight).sum();
    shares.map(|share| Weight {
        weight: share.weight / sum,
        ..share
    })
}

/// Returns the inverse matrix of a node, column by column; `None` if it is singular.
fn inverse_of(scene: &Scene<'_>, node: usize) -> Option<[f32; 16]> {
    let inverse = Placement::of(|point| scene.point(node, point)).inverse()?;
    let columns = [inverse.right, inverse.up, inverse.at, inverse.position];
    let mut matrix = [0.0; 16];
    for (column, parts) in matrix.as_chunks_mut::<4>().0.iter_mut().zip(columns) {
        column[..3].copy_from_slice(&parts);
    }
    matrix[15] = 1.0;
    Some(matrix)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clump::{Frame, Node as Bone};

    #[test]
    fn weights_are_of_existing_joints_and_add_up_to_one() {
        let found = shares([1, 1, 9, 0], [0.5, 0.25, 1.0, 0.25], 2);
        let pairs = found.map(|share| (share.joint, share.weight));
        assert_eq!(pairs, [(1, 0.75), (0, 0.25), (0, 0.0), (0, 0.0)]);
        let found = shares([3, 2, 1, 0], [f32::NAN, -1.0, 0.0, 0.0], 4);
        assert_eq!((found[0].joint, found[0].weight), (0, 1.0));
    }

    fn frame(parent: Option<usize>, id: i32, bones: Vec<[i32; 3]>) -> Frame {
        let placement = Placement {
            right: [0.0, 2.0, 0.0],
            up: [-2.0, 0.0, 0.0],
            at: [0.0, 0.0, 2.0],
            position: [3.0, 4.0, 5.0],
        };
        Frame {
            placement,
            parent,
            node: Some(Bone {
                id,
                bones,
                ..Bone::default()
            }),
            ..Frame::default()
        }
    }

    #[test]
    fn joints_leave_points_unchanged_in_the_pose_of_the_frames() {
        let skeleton = vec![[8, 0, 0], [7, 1, 0]];
        let clump = Clump {
            frames: vec![frame(None, 7, skeleton), frame(Some(0), 8, Vec::new())],
            ..Clump::default()
        };
        let bones = bones(&clump).unwrap();
        assert_eq!(bones, [1, 0]);
        let mut scene = Scene::default();
        assert!(add_joints(&clump, &bones, None, &mut scene));
        let point = [1.0, -2.0, 3.5];
        for joint in &scene.joints {
            let m = joint.inverse_bind;
            let inside: [f32; 3] = std::array::from_fn(|row| {
                point[0] * m[row] + point[1] * m[4 + row] + point[2] * m[8 + row] + m[12 + row]
            });
            let again = scene.point(joint.node, inside);
            assert!(
                again.iter().zip(point).all(|(a, b)| (a - b).abs() < 1e-4),
                "{again:?}"
            );
        }
    }

    #[test]
    fn an_incomplete_skeleton_is_ignored() {
        let lacking = vec![frame(None, 7, vec![[7, 0, 0], [9, 1, 0]])];
        let twice = vec![frame(None, 7, vec![[7, 0, 0], [7, 1, 0]])];
        for frames in [lacking, twice, vec![frame(None, 7, Vec::new())]] {
            let clump = Clump {
                frames,
                ..Clump::default()
            };
            assert_eq!(bones(&clump), None);
        }
    }
}
