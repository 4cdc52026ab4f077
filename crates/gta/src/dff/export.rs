//! Models as scenes: a node for each frame, the geometries at their frames,
//! and a skeleton if the model has a skin.

use std::collections::HashMap;

use get_size2::GetSize;

use super::Dff;
use crate::{axes, shear};
use hpimount_assets::model::math::finite;
use hpimount_assets::model::scene::{self, Joint, Node};
use hpimount_assets::model::{MAX_JOINTS, Scene, Transform, corners_problem, not_shown};
use hpimount_containers::io::Warnings;
use hpimount_renderware::clump::{Atomic, Clump, Placement, texture_names};
use hpimount_renderware::export::{self, Surface, TextureState, TextureUse, skeleton};

/// Maximum number of nodes of a scene: frames and atomics.
const MAX_NODES: usize = 1 << 16;

/// The visible clumps of a model, determined without decoding vertices.
#[derive(Debug, Default, GetSize)]
pub struct ExportPlan {
    /// The name of the root nodes.
    pub name: String,
    /// True if materials are visible from behind.
    pub is_double_sided: bool,
    /// The textures, in the order of the first materials that use them.
    #[get_size(size_fn = memory)]
    pub textures: Vec<TextureUse>,
    /// For each clump, the reason why it is not shown.
    pub clumps: Vec<Option<String>>,
    /// The reasons why the rest is not shown.
    pub problems: Warnings,
}

fn memory(textures: &[TextureUse]) -> usize {
    let sizes = textures.iter().map(|one| size_of_val(one) + one.memory());
    sizes.sum()
}

impl ExportPlan {
    /// Determines the visible clumps. `find` looks up a texture by name.
    pub fn new(model: &Dff, mut find: impl FnMut(&str) -> TextureState) -> Self {
        let mut plan = Self::default();
        for (number, clump) in model.clumps.iter().enumerate() {
            export::check(number, &clump.geometries, &mut plan.problems);
            let problem = problem(clump);
            if let Some(why) = &problem {
                plan.problems
                    .push(not_shown(format_args!("clump {number}"), why));
            }
            plan.clumps.push(problem);
        }
        let names = texture_names(&model.clumps);
        plan.textures = export::look_up(names, &mut find, &mut plan.problems);
        plan
    }

    /// Returns notes for readers of the files.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = vec![
            axes::FACING.to_owned(),
            "Damaged parts and lower levels of detail are hidden nodes.".to_owned(),
        ];
        let missing = self.textures.iter().filter(|one| !one.state.is_found());
        notes.extend(missing.map(|one| format!("Texture {} is missing.", one.name)));
        notes
    }

    /// Returns the materials of all geometries of a clump, named after their textures,
    /// followed by a plain material.
    pub fn materials(&self, clump: &Clump) -> Vec<scene::Material> {
        let listed = clump.geometries.iter().flat_map(|geometry| {
            let surface = Surface::new(geometry.flags, export::has_normals(geometry));
            let surface = surface.double_sided(self.is_double_sided);
            let materials = geometry.materials.iter();
            materials.map(move |material| (surface, material))
        });
        export::materials(listed, &self.textures)
    }

    /// Returns a clump as a scene. Its frames are below a root node that turns the
    /// axes.
    pub fn scene(&self, clump: &Clump) -> Scene<'static> {
        self.drawn(clump).0
    }

    /// Returns the scene, and the nodes with their geometries.
    pub(super) fn drawn(&self, clump: &Clump) -> (Scene<'static>, Vec<(usize, usize)>) {
        let mut scene = Scene {
            notes: self.notes(),
            materials: self.materials(clump),
            ..Scene::default()
        };
        scene.nodes.push(Node {
            name: match self.name.is_empty() {
                true => "model".to_owned(),
                false => self.name.clone(),
            },
            parent: None,
            transform: axes::facing(),
            mesh: None,
        });
        skeleton::add_frames(clump, Some(ROOT), &mut scene);
        scene.joints = joints(clump);
        let meshes = self.add_meshes(clump, &mut scene);
        let mut drawn = Vec::new();
        for atomic in &clump.atomics {
            let geometry = atomic.geometry;
            let mesh = geometry.and_then(|geometry| Some((geometry, meshes.get(&geometry)?)));
            if let Some((geometry, &mesh)) = mesh {
                drawn.push((place(clump, atomic, mesh, &mut scene), geometry));
            }
        }
        if scene.joints.is_empty() {
            shear::apply(&mut scene, FIRST_FRAME, &clump.placements());
        }
        (scene, drawn)
    }

    /// Adds the meshes of the atomics' geometries, and returns their numbers.
    fn add_meshes(&self, clump: &Clump, scene: &mut Scene<'_>) -> HashMap<usize, usize> {
        let plain = scene.materials.len() - 1;
        let mut shown = vec![false; clump.geometries.len()];
        for geometry in clump.atomics.iter().filter_map(|atomic| atomic.geometry) {
            shown[geometry] = true;
        }
        let (mut meshes, mut first) = (HashMap::new(), 0);
        for (number, geometry) in clump.geometries.iter().enumerate() {
            let material = |entry| export::material_of(geometry, entry, first, plain);
            if let Some(decoded) = geometry.mesh().filter(|_| shown[number]) {
                let mut mesh = export::scene_mesh(&decoded, &Placement::IDENTITY, material);
                mesh.name = format!("geometry_{number}");
                let points = mesh.points.len();
                mesh.weights = skeleton::weights_of(geometry, points, scene.joints.len());
                if scene.joints.is_empty() {
                    mesh.weights = Vec::new();
                }
                meshes.insert(number, scene.meshes.len());
                scene.meshes.push(mesh);
            }
            first += geometry.materials.len();
        }
        meshes
    }
}

/// Index of the root node.
const ROOT: usize = 0;

/// Index of the first frame's node. The other frames follow.
pub(super) const FIRST_FRAME: usize = ROOT + 1;

/// Puts a mesh at the frame of an atomic: on the frame's node, or on a child node if
/// the frame has a mesh already or hiding it would hide other nodes. Returns the node.
fn place(clump: &Clump, atomic: &Atomic, mesh: usize, scene: &mut Scene<'_>) -> usize {
    let frame = atomic.frame.map_or(ROOT, |frame| FIRST_FRAME + frame);
    let is_hidden = is_hidden(&scene.nodes[frame].name);
    let has_children = || {
        let mut frames = clump.frames.iter();
        frames.any(|one| one.parent.map(|parent| FIRST_FRAME + parent) == Some(frame))
    };
    let is_free = frame != ROOT && scene.nodes[frame].mesh.is_none();
    let node = match is_free && !(is_hidden && has_children()) {
        true => frame,
        false => {
            let name = format!("{} mesh", scene.nodes[frame].name);
            scene.nodes.push(Node {
                name,
                parent: Some(frame),
                transform: Transform::IDENTITY,
                mesh: None,
            });
            scene.nodes.len() - 1
        }
    };
    scene.nodes[node].mesh = Some(mesh);
    if is_hidden {
        scene.hidden.insert(node);
    }
    node
}

/// Returns whether the game hides a part with this name at first: damaged parts, and
/// parts for the distance.
pub(crate) fn is_hidden(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let name = name.trim_end();
    name.contains("_dam") || name.contains("_vlo") || name.ends_with("_l1") || name.ends_with("_l2")
}

/// Returns the numbers of corners and triangles of a clump's atomics.
pub(crate) fn sizes(clump: &Clump) -> (usize, usize) {
    let atomics = clump.atomics.iter();
    let sizes = atomics.filter_map(|atomic| export::sizes(clump.geometry_of(atomic)?));
    sizes.fold((0, 0), |(corners, triangles), (vertices, faces)| {
        (corners + vertices.max(3 * faces), triangles + faces)
    })
}

/// Returns the reason why a clump is not shown.
fn problem(clump: &Clump) -> Option<String> {
    let nodes = clump.frames.len() + clump.atomics.len();
    if nodes >= MAX_NODES {
        return Some(format!(
            "it has {nodes} frames and atomics, more than {MAX_NODES}"
        ));
    }
    let (corners, triangles) = sizes(clump);
    if triangles == 0 {
        return Some("it has no triangles".to_owned());
    }
    corners_problem(corners)
}

/// Returns the joints of a clump. Node k of the skeleton is bone k of the skin, whose
/// matrices give the bind pose. Without a matching skin, there are no joints.
fn joints(clump: &Clump) -> Vec<Joint> {
    let Some(bones) = skeleton::bones(clump) else {
        return Vec::new();
    };
    let skins = clump.geometries.iter().filter_map(|one| one.skin.as_ref());
    let mut skins = skins.filter(|skin| usize::from(skin.bones) == bones.len());
    let Some(skin) = skins.next().filter(|_| bones.len() <= MAX_JOINTS) else {
        return Vec::new();
    };
    let joints = bones.iter().zip(skin.matrices());
    joints
        .map(|(bone, matrix)| Joint {
            node: FIRST_FRAME + bone,
            inverse_bind: matrix.map(finite),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dff;
    use fixtures::clump as build;
    use hpimount_assets::model::MAX_CORNERS;
    use hpimount_assets::model::scene::Alpha;

    fn plan_of(model: &Dff) -> ExportPlan {
        ExportPlan::new(model, |name| match name {
            "wood" => TextureState::Found {
                width: 2,
                height: 2,
                alpha: Alpha::Mask,
            },
            _ => TextureState::Missing,
        })
    }

    fn model(frames: &[(&str, i32)], atomics: &[Vec<u8>]) -> Dff {
        let geometry = build::square(&["Wood", "wood", "stone"], &[]);
        let clump = build::clump(&build::frames(frames), &[geometry], atomics, &[]);
        dff::parse(&clump.into()).unwrap()
    }

    #[test]
    fn parts_hang_at_their_frames_and_damaged_ones_are_hidden() {
        let frames = [("car", -1), ("door_ok", 0), ("door_dam", 0), ("hinge", 2)];
        let atomics = [1, 2, 1].map(|frame| build::atomic(frame, 0));
        let model = model(&frames, &atomics);
        let scene = plan_of(&model).scene(&model.clumps[0]);
        let nodes = scene.nodes.iter();
        let nodes: Vec<_> = nodes
            .map(|node| (node.name.as_str(), node.parent, node.mesh))
            .collect();
        assert_eq!(
            nodes,
            [
                ("model", None, None),
                ("car", Some(0), None),
                ("door_ok", Some(1), Some(0)),
                ("door_dam", Some(1), None),
                ("hinge", Some(3), None),
                ("door_dam mesh", Some(3), Some(0)),
                ("door_ok mesh", Some(2), Some(0)),
            ]
        );
        assert_eq!(scene.meshes.len(), 1);
        assert_eq!(scene.hidden.into_iter().collect::<Vec<_>>(), [5]);
    }

    #[test]
    fn a_missing_texture_leaves_the_color() {
        let model = model(&[("crate", -1)], &[build::atomic(0, 0)]);
        let plan = plan_of(&model);
        let materials = plan.materials(&model.clumps[0]);
        let shown: Vec<_> = materials
            .iter()
            .map(|one| (one.name.as_str(), one.texture.is_some(), one.alpha))
            .collect();
        assert_eq!(
            shown,
            [
                ("Wood", false, Alpha::Opaque),
                ("wood_2", false, Alpha::Opaque),
                ("stone", false, Alpha::Opaque),
                ("plain", false, Alpha::Opaque),
            ]
        );
    }

    #[test]
    fn a_detailed_model_is_shown_and_a_bomb_is_not() {
        let problem = |corners: usize| {
            let atomics = vec![build::atomic(0, 0); corners / 6];
            plan_of(&model(&[("car", -1)], &atomics)).clumps.remove(0)
        };
        assert_eq!(problem(3 * 93_347), None);
        assert!(problem(2 * MAX_CORNERS).is_some());
    }

    #[test]
    fn names_say_what_is_shown_later() {
        for name in ["door_lf_hi_dam", "chassis_vlo", "Tower_L1", "x_dam "] {
            assert!(is_hidden(name), "{name}");
        }
        for name in ["door_ok", "chassis", "tower_L0", ""] {
            assert!(!is_hidden(name), "{name}");
        }
    }
}
