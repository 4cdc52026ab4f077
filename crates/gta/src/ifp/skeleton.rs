//! A plain skeleton for the animations of a package (FORMATS, IFP 7).

use super::motion::Bones;
use super::{Ifp, Object};
use crate::axes;
use hpimount_assets::model::math::finite;
use hpimount_assets::model::scene::{Joined, Node, Outline};
use hpimount_assets::model::{MAX_JOINTS, Scene, Transform};
use hpimount_renderware::export::Motions;

/// Bone numbers of people, each with its parent's number.
const PARENTS: [(i32, i32); 31] = [
    (1, 0),
    (2, 1),
    (3, 2),
    (4, 3),
    (5, 4),
    (6, 5),
    (7, 5),
    (8, 5),
    (21, 3),
    (22, 21),
    (23, 22),
    (24, 23),
    (25, 24),
    (26, 24),
    (31, 3),
    (32, 31),
    (33, 32),
    (34, 33),
    (35, 34),
    (36, 34),
    (41, 1),
    (42, 41),
    (43, 42),
    (44, 43),
    (51, 1),
    (52, 51),
    (53, 52),
    (54, 53),
    (201, 2),
    (301, 3),
    (302, 3),
];

/// Length in meters of a bone whose length is not in the package.
const LENGTH: f32 = 0.1;

/// Index of the root node, which turns the axes.
const ROOT: usize = 0;

/// Returns a skeleton of the bones in the objects of a package, with its animations.
pub(super) fn scene(ifp: &Ifp) -> Scene<'static> {
    let Skeleton {
        mut scene, bones, ..
    } = Skeleton::of(ifp);
    let mut motions = Motions::default();
    motions.note(axes::FACING.to_owned());
    motions.note(format!(
        "A package has no skeleton: a bone without a translation is {LENGTH} m long, along x of \
         its parent."
    ));
    for animation in ifp.animations() {
        motions.add(&animation.name, bones.tracks(animation));
    }
    motions.put_into(&mut scene);
    scene
}

/// A skeleton at rest.
#[derive(Default)]
pub(super) struct Skeleton {
    /// A node for each bone, and a line to it from its parent.
    pub(super) scene: Scene<'static>,
    pub(super) bones: Bones,
    /// The numbers of the bones, and their nodes.
    numbers: Vec<(i32, usize)>,
}

impl Skeleton {
    /// Creates the skeleton of the bones in the objects of a package.
    pub(super) fn of(ifp: &Ifp) -> Self {
        let mut skeleton = Self::default();
        skeleton.scene.nodes.push(Node {
            name: "package".to_owned(),
            parent: None,
            transform: axes::facing(),
            mesh: None,
        });
        for object in ifp.animations().flat_map(|animation| &animation.objects) {
            skeleton.add(object);
        }
        skeleton.join();
        skeleton
    }

    /// Adds a node for an object, unless its bone already has a node.
    fn add(&mut self, object: &Object) {
        let node = self.scene.nodes.len();
        if node > MAX_JOINTS || self.bones.node_of(object).is_some() {
            return;
        }
        let number = object.bone_id.filter(|&number| number >= 0);
        self.bones.add(node, number, &object.name);
        self.numbers.extend(number.map(|number| (number, node)));
        let first = object.keys.as_ref().and_then(|keys| keys.get(0));
        let place = first.and_then(|key| key.translation);
        self.scene.nodes.push(Node {
            name: object.name.trim().to_owned(),
            parent: Some(ROOT),
            transform: Transform::at(place.map_or([0.0; 3], |place| place.map(finite))),
            mesh: None,
        });
    }

    /// Connects the bones with their parents, and draws a line between both.
    fn join(&mut self) {
        let node_of = |number: i32| {
            let mut known = self.numbers.iter();
            known
                .find(|(known, _)| *known == number)
                .map(|&(_, node)| node)
        };
        let parent_of = |number: i32| {
            let mut parents = PARENTS.iter();
            let parent = parents.find(|(child, _)| *child == number);
            parent.map(|&(_, parent)| parent)
        };
        for &(number, node) in &self.numbers {
            let line = std::iter::successors(parent_of(number), |&number| parent_of(number));
            let Some(parent) = line.into_iter().find_map(node_of) else {
                continue;
            };
            let bone = &mut self.scene.nodes[node];
            bone.parent = Some(parent);
            let place = &mut bone.transform.translation;
            if *place == [0.0; 3] {
                *place = [LENGTH, 0.0, 0.0];
            }
            let points = vec![[0.0; 3], *place];
            self.scene.outlines.push(Outline {
                name: format!("to {}", bone.name),
                parent,
                points,
                joined: Joined::Pairs,
                is_hidden: false,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ifp::parse;
    use fixtures::ifp::{self as build, shorts};

    #[test]
    fn a_package_is_shown_on_a_skeleton_of_its_bones() {
        let still = shorts(&[0, 0, 0, 4096, 0]);
        let moved = shorts(&[0, 0, 0, 4096, 0, 0, 0, 1024]);
        let object = |name, bone| build::anp_object(name, 3, bone, &still);
        let walk = vec![
            build::anp_object("Root", 4, 0, &moved),
            object(" Spine", 2),
            object("tail", -1),
        ];
        let run = vec![object("ROOT", 0), object("Neck", 4)];
        let file = build::anp(true, "ped", &[("walk", walk), ("run", run)]);
        let scene = scene(&parse(&file.into()).unwrap());
        let nodes: Vec<_> = scene
            .nodes
            .iter()
            .map(|node| (node.name.as_str(), node.parent, node.transform.translation))
            .collect();
        assert_eq!(
            nodes,
            [
                ("package", None, [0.0; 3]),
                ("Root", Some(0), [0.0, 0.0, 1.0]),
                ("Spine", Some(1), [LENGTH, 0.0, 0.0]),
                ("tail", Some(0), [0.0; 3]),
                ("Neck", Some(2), [LENGTH, 0.0, 0.0]),
            ]
        );
        let moved = scene.motions.iter().map(|motion| motion.tracks.len());
        assert_eq!(moved.collect::<Vec<_>>(), [3, 2]);
        assert_eq!(scene.outlines.len(), 2);
    }
}
