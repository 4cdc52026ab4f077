//! A level as a scene: its geometry, and each model of its placed objects once.

use std::collections::HashMap;

use super::blending::{self, Blending};
use super::textures::read;
use crate::model::Model;
use crate::model::export::ExportPlan;
use hpimount_assets::model::math::{finite, sin_cos};
use hpimount_assets::model::scene::{
    Alpha, Corner, Identity, Joined, Material, MaterialNames, Mesh, Node, Outline, Part, Wrap,
};
use hpimount_assets::model::{Picture, Scene, Transform};
use hpimount_assets::view::AssetContext;
use hpimount_containers::io::Warnings;
use hpimount_renderware::clump::Clump;
use hpimount_renderware::export::{TextureState, TextureUse, skeleton};
use hpimount_renderware::texture::export::picture;

/// Maximum number of nodes of a level. Levels of the games have a thousand objects.
const MAX_NODES: usize = 1 << 16;

/// Maximum number of corners of a level, counting shared meshes once. Levels of the
/// games have a tenth of it.
const MAX_CORNERS: usize = 1 << 18;

/// Maximum number of textures looked up for a level. Levels of the games have a few
/// hundred.
const MAX_TEXTURES: usize = 1 << 13;

/// Maximum length of the name of a mesh or node in bytes. Many of them repeat
/// the name of one asset, which may be as long as its archive.
const MAX_NAME_LENGTH: usize = 128;

/// The properties that distinguish materials: picture, sides, filter, the bits of the
/// color, alpha, and the unlit flag.
type MaterialKey = (Option<(usize, [u8; 2], bool)>, [u32; 4], Alpha, bool);

/// A part of a placed object.
#[derive(Debug, Clone, PartialEq)]
pub struct Piece {
    /// Numbers of its meshes.
    pub meshes: Vec<usize>,
    /// Index of the parent piece, which comes earlier.
    pub parent: Option<usize>,
    /// Transformation relative to the parent.
    pub transform: Transform,
}

/// A level under construction.
#[derive(Default)]
pub struct Level {
    scene: Scene<'static>,
    textures: Vec<TextureUse>,
    /// Numbers of textures, by lower-case name.
    known_textures: HashMap<String, usize>,
    known_materials: HashMap<MaterialKey, usize>,
    names: MaterialNames,
    corners: usize,
    /// The omitted parts.
    problems: Warnings,
    /// Number of objects beyond the node limit.
    omitted_objects: usize,
    /// The nodes above marks, by their names.
    groups: HashMap<&'static str, usize>,
}

/// An invisible part of a level, such as a trigger.
#[derive(Debug)]
pub struct Mark {
    /// Transformation of the mark.
    pub transform: Transform,
    /// Pairs of points joined by lines, relative to the mark.
    pub lines: Vec<[f32; 3]>,
}

/// Returns the picture number of a texture. Textures have two pictures, one of them for
/// additive blending.
fn picture_number(texture: usize, is_added: bool) -> usize {
    2 * texture + usize::from(is_added)
}

/// Returns the picture with this number of a level with these textures.
pub(crate) fn picture_of(
    textures: &[TextureUse],
    number: usize,
    context: &dyn AssetContext,
) -> Option<Picture> {
    let texture = textures.get(number / 2)?;
    let picture = picture(&read(&texture.name, context).ok()?)?;
    Some(match number == picture_number(number / 2, true) {
        true => blending::by_brightness(&picture),
        false => picture,
    })
}

impl Level {
    /// Adds a model with the blending of its atomics, and returns the numbers of its
    /// meshes, or nothing if it cannot be shown or exceeds a limit. If `may_move`, the
    /// joints of the scene move it if the number of bones matches. `find` looks up a
    /// texture by name.
    pub fn model(
        &mut self,
        name: &str,
        model: &Model,
        atomics: &[Option<Blending>],
        may_move: bool,
        mut find: impl FnMut(&str) -> TextureState,
    ) -> Vec<usize> {
        let mut plan = ExportPlan::new(model, |name| self.texture(name, &mut find));
        plan.blend(model, atomics);
        let name = short(name);
        if !plan.has_scene {
            return Vec::new();
        }
        let corners = self.corners + plan.corners;
        if corners > MAX_CORNERS {
            self.omit(format!(
                "{name} is omitted: with it, the level has more than {MAX_CORNERS} corners."
            ));
            return Vec::new();
        }
        self.corners = corners;
        let scene = plan.scene(model);
        let materials: Vec<usize> = scene
            .materials
            .into_iter()
            .map(|material| self.material(material, &plan))
            .collect();
        let joints = self.scene.joints.len();
        let is_skinned = may_move && joints > 0 && scene.joints.len() == joints;
        let first = self.scene.meshes.len();
        let meshes = scene.meshes.into_iter().filter(|mesh| mesh.triangles() > 0);
        self.scene.meshes.extend(meshes.map(|mut mesh| {
            if !is_skinned {
                mesh.weights = Vec::new();
            }
            mesh.name = format!("{name} {}", mesh.name);
            for part in &mut mesh.parts {
                part.material = materials.get(part.material).copied().unwrap_or_default();
            }
            mesh
        }));
        (first..self.scene.meshes.len()).collect()
    }

    /// Returns a texture, looked up on first use.
    fn texture(&mut self, name: &str, find: &mut impl FnMut(&str) -> TextureState) -> TextureState {
        let key = name.to_ascii_lowercase();
        if let Some(&number) = self.known_textures.get(&key) {
            return self.textures[number].state.clone();
        }
        if self.textures.len() == MAX_TEXTURES {
            let why = format!("the level has more than {MAX_TEXTURES} textures");
            return TextureState::Unreadable(why);
        }
        let state = find(name);
        self.known_textures.insert(key, self.textures.len());
        self.textures.push(TextureUse {
            name: name.to_owned(),
            state: state.clone(),
        });
        state
    }

    /// Returns the number of a material of a model.
    fn material(&mut self, mut material: Material, plan: &ExportPlan) -> usize {
        if let Some(texture) = &mut material.texture {
            let name = plan.textures.get(texture.picture).map(|one| &one.name);
            let key = name.map(|name| name.to_ascii_lowercase());
            let number = key.and_then(|key| self.known_textures.get(&key));
            let is_added = plan.added.contains(&texture.picture);
            texture.picture = picture_number(number.copied().unwrap_or_default(), is_added);
        }
        let wrap = |wrap| match wrap {
            Wrap::Repeat => 0,
            Wrap::Mirror => 1,
            Wrap::Clamp => 2,
        };
        let texture = material.texture.as_ref();
        let texture = texture.map(|one| (one.picture, one.wrap.map(wrap), one.sharp));
        let color = material.color.map(f32::to_bits);
        let next = self.scene.materials.len();
        let number = *self
            .known_materials
            .entry((texture, color, material.alpha, material.unlit))
            .or_insert(next);
        if number == next {
            let texture = material.texture.as_ref();
            material.name = match texture {
                Some(texture) => self.names.unique(short(&texture.file)),
                None => self.names.unique(&format!("material_{number}")),
            };
            self.scene.materials.push(material);
        }
        number
    }

    /// Returns whether there are joints.
    pub(crate) fn has_skeleton(&self) -> bool {
        !self.scene.joints.is_empty()
    }

    /// Adds the frames of a clump as nodes, and the bones' frames as joints. Returns
    /// the joints, or nothing if a frame has no inverse.
    pub(crate) fn add_skeleton(&mut self, clump: &Clump, bones: &[usize]) -> Vec<usize> {
        skeleton::add_joints(clump, bones, None, &mut self.scene);
        self.scene.joints.iter().map(|joint| joint.node).collect()
    }

    /// Adds meshes at a node, with child nodes if there are several, and returns the
    /// node.
    pub fn attach(
        &mut self,
        name: &str,
        parent: Option<usize>,
        transform: Transform,
        meshes: &[usize],
    ) -> usize {
        let name = short(name);
        let root = self.node(name, parent, transform);
        self.show(root, name, meshes);
        root
    }

    /// Shows meshes at a node, with child nodes if there are several.
    fn show(&mut self, root: usize, name: &str, meshes: &[usize]) {
        for &mesh in meshes {
            let is_free = self.scene.nodes[root].mesh.is_none();
            let node = match is_free {
                true => root,
                false => self.node(name, Some(root), Transform::IDENTITY),
            };
            self.scene.nodes[node].mesh = Some(mesh);
        }
    }

    /// Adds an object to the level. Without pieces, it is a node without a mesh.
    pub fn put(&mut self, name: &str, identity: Identity, transform: Transform, pieces: &[Piece]) {
        if !self.has_room(1 + pieces.iter().map(nodes_of).sum::<usize>()) {
            return;
        }
        let name = short(name);
        let root = self.node(name, None, transform);
        self.scene.identities.insert(root, identity);
        let mut numbers = Vec::with_capacity(pieces.len());
        for piece in pieces {
            let parent = piece.parent.and_then(|parent| numbers.get(parent).copied());
            let parent = parent.unwrap_or(root);
            let number = match piece.transform == Transform::IDENTITY && parent == root {
                true => root,
                false => self.node(name, Some(parent), piece.transform),
            };
            numbers.push(number);
            self.show(number, name, &piece.meshes);
        }
    }

    /// Adds a mark, initially hidden, below the node of its group.
    pub fn mark(&mut self, group: &'static str, name: &str, identity: Identity, mark: Mark) {
        if !self.has_room(3) {
            return;
        }
        let parent = match self.groups.get(group) {
            Some(&node) => node,
            None => {
                let node = self.node(group, None, Transform::IDENTITY);
                self.scene.hidden_groups.insert(node);
                self.groups.insert(group, node);
                node
            }
        };
        let name = short(name);
        let node = self.node(name, Some(parent), mark.transform);
        self.scene.identities.insert(node, identity);
        let corners = self.corners + mark.lines.len();
        if corners > MAX_CORNERS {
            self.omit(format!(
                "The lines of {name} are omitted: with them, the level has more than {MAX_CORNERS} corners."
            ));
        } else if !mark.lines.is_empty() {
            self.corners = corners;
            self.scene.outlines.push(Outline {
                name: name.to_owned(),
                parent: node,
                points: mark.lines,
                joined: Joined::Pairs,
                is_hidden: false,
            });
        }
    }

    /// Returns whether this many more nodes are within the limit, and otherwise counts
    /// an omitted object.
    fn has_room(&mut self, more: usize) -> bool {
        let count = self.scene.nodes.len() + self.scene.outlines.len();
        let has_room = count + more <= MAX_NODES;
        self.omitted_objects += usize::from(!has_room);
        has_room
    }

    fn node(&mut self, name: &str, parent: Option<usize>, transform: Transform) -> usize {
        self.scene.nodes.push(Node {
            name: name.to_owned(),
            parent,
            transform,
            mesh: None,
        });
        self.scene.nodes.len() - 1
    }

    /// Records an omitted part.
    pub fn omit(&mut self, problem: String) {
        self.problems.push(problem);
    }

    /// Returns the scene, with a note about it, and the textures by number.
    pub fn finish(mut self, note: &str) -> (Scene<'static>, Vec<TextureUse>) {
        self.scene.notes = vec![
            "x is right, y up, z back, as in the game; lengths are in the game's units.".to_owned(),
            note.to_owned(),
        ];
        if !self.groups.is_empty() {
            self.scene.notes.push(
                "Triggers and paths are lines below nodes of these names, which are hidden at first.".to_owned(),
            );
        }
        self.scene.notes.extend(self.problems.texts());
        if self.omitted_objects > 0 {
            let count = self.omitted_objects;
            self.scene.notes.push(format!(
                "{count} objects are omitted: the level has more than {MAX_NODES} nodes."
            ));
        }
        if self.textures.len() == MAX_TEXTURES {
            let note = format!("No more than {MAX_TEXTURES} textures are looked up.");
            self.scene.notes.push(note);
        }
        let missing = self.textures.iter().filter(|one| !one.state.is_found());
        self.scene.notes.extend(missing.map(|one| {
            let name = &one.name;
            format!("Texture {name} is missing and replaced by magenta.")
        }));
        (self.scene, self.textures)
    }
}

/// Returns the heap memory of a level's scene in bytes.
pub fn memory(scene: &Scene<'_>) -> usize {
    let mesh = |mesh: &Mesh| {
        let triangles = mesh.parts.iter().map(|part| part.triangles.capacity());
        size_of::<Mesh>()
            + mesh.name.capacity()
            + mesh.points.capacity() * size_of::<[f32; 3]>()
            + mesh.corners.capacity() * size_of::<Corner>()
            + mesh.parts.capacity() * size_of::<Part>()
            + mesh.other_colors.capacity() * size_of::<[u8; 4]>()
            + mesh.other_uvs.iter().map(Vec::capacity).sum::<usize>() * size_of::<[f32; 2]>()
            + triangles.sum::<usize>() * size_of::<[u32; 3]>()
    };
    let material = |material: &Material| {
        let file = material.texture.as_ref().map(|one| one.file.capacity());
        size_of::<Material>() + material.name.capacity() + file.unwrap_or_default()
    };
    let names = scene.nodes.iter().map(|node| node.name.capacity());
    let outlines = scene.outlines.iter();
    let outlines = outlines.map(|line| {
        size_of::<Outline>() + line.name.capacity() + line.points.capacity() * size_of::<[f32; 3]>()
    });
    let notes = scene.notes.iter();
    let notes = notes.map(|note| size_of::<String>() + note.capacity());
    scene.meshes.iter().map(mesh).sum::<usize>()
        + scene.materials.iter().map(material).sum::<usize>()
        + scene.nodes.capacity() * size_of::<Node>()
        + names.sum::<usize>()
        + outlines.sum::<usize>()
        + scene.identities.len() * size_of::<(usize, Identity)>()
        + notes.sum::<usize>()
}

/// Returns the beginning of a name.
fn short(name: &str) -> &str {
    &name[..name.floor_char_boundary(MAX_NAME_LENGTH)]
}

fn nodes_of(piece: &Piece) -> usize {
    1 + piece.meshes.len()
}

/// Returns the transformation of an object by its angles in radians: rotated by the
/// roll about z, then by the pitch about x, then by the yaw about y. A scale of 0 means
/// no scaling.
pub fn object_transform(position: [f32; 3], angles: [f32; 3], scale: [f32; 3]) -> Transform {
    let [(sy, cy), (sp, cp), (sr, cr)] = angles.map(|angle| sin_cos(finite(angle)));
    let axes = [
        [cy * cr + sr * sy * sp, cp * sr, sr * cy * sp - sy * cr],
        [cr * sy * sp - cy * sr, cp * cr, sy * sr + cr * cy * sp],
        [sy * cp, -sp, cy * cp],
        position,
    ];
    let transform = Transform::from_axes(axes);
    Transform {
        scale: scale.map(|part| match finite(part) {
            0.0 => 1.0,
            part => part,
        }),
        ..transform
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CRATE: Identity = Identity {
        id: 1,
        code: *b"SIMP",
    };

    fn near(a: [f32; 3], b: [f32; 3]) -> bool {
        a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-5)
    }

    #[test]
    fn objects_are_rotated_by_roll_then_pitch_then_yaw() {
        let quarter = std::f32::consts::FRAC_PI_2;
        let turned = |angles, point| object_transform([0.0; 3], angles, [1.0; 3]).apply(point);
        assert!(near(
            turned([quarter, 0.0, 0.0], [0.0, 0.0, 1.0]),
            [1.0, 0.0, 0.0]
        ));
        assert!(near(
            turned([0.0, quarter, 0.0], [0.0, 0.0, 1.0]),
            [0.0, -1.0, 0.0]
        ));
        assert!(near(
            turned([0.0, 0.0, quarter], [1.0, 0.0, 0.0]),
            [0.0, 1.0, 0.0]
        ));
        // x is rolled onto y, pitched onto z, and yawed onto x again.
        assert!(near(turned([quarter; 3], [1.0, 0.0, 0.0]), [1.0, 0.0, 0.0]));
    }

    #[test]
    fn a_scale_of_0_is_1() {
        let transform = object_transform([1.0, 2.0, 3.0], [0.0; 3], [0.0, 2.0, f32::NAN]);
        assert_eq!(transform.scale, [1.0, 2.0, 1.0]);
        assert_eq!(transform.apply([1.0, 1.0, 1.0]), [2.0, 4.0, 4.0]);
    }

    #[test]
    fn a_long_name_is_not_kept_for_each_node() {
        let mut level = Level::default();
        let name = "\u{e9}".repeat(1 << 20);
        let pieces = [Piece {
            meshes: vec![0; 1000],
            parent: None,
            transform: Transform::IDENTITY,
        }];
        level.put(&name, CRATE, Transform::IDENTITY, &pieces);
        let (scene, _) = level.finish("");
        assert_eq!(scene.nodes.len(), 1000);
        assert!(memory(&scene) < 1 << 20, "{}", memory(&scene));
        assert!(name.starts_with(&scene.nodes[999].name));
    }

    #[test]
    fn omitted_parts_are_reported_within_limits() {
        let mut level = Level::default();
        for number in 0..2 * MAX_NODES {
            level.omit(format!("model {number} cannot be read."));
            level.put("object", CRATE, Transform::IDENTITY, &[]);
        }
        let (scene, _) = level.finish("");
        assert_eq!(scene.nodes.len(), MAX_NODES);
        assert!(scene.notes.len() < 2000, "{}", scene.notes.len());
        let text = format!("{MAX_NODES} objects are omitted: ");
        assert!(scene.notes.iter().any(|note| note.starts_with(&text)));
    }

    #[test]
    fn pieces_form_a_hierarchy_and_share_meshes() {
        let mut level = Level::default();
        let piece = |meshes, parent, x| Piece {
            meshes,
            parent,
            transform: Transform::at([x, 0.0, 0.0]),
        };
        let pieces = [
            piece(vec![0, 1], None, 0.0),
            piece(vec![2], Some(0), 5.0),
            piece(vec![], Some(1), 1.0),
        ];
        level.put("crab", CRATE, Transform::at([10.0, 0.0, 0.0]), &pieces);
        level.put("empty", CRATE, Transform::IDENTITY, &[]);
        let (scene, _) = level.finish("");
        let nodes: Vec<_> = scene.nodes.iter().map(|n| (n.parent, n.mesh)).collect();
        let expected = [
            (None, Some(0)),
            (Some(0), Some(1)),
            (Some(0), Some(2)),
            (Some(2), None),
            (None, None),
        ];
        assert_eq!(nodes, expected);
        assert_eq!(scene.point(3, [0.0; 3]), [16.0, 0.0, 0.0]);
        let named: Vec<_> = scene.identities.into_keys().collect();
        assert_eq!(named, [0, 4]);
    }

    #[test]
    fn marks_are_below_one_hidden_node_for_each_group() {
        let mut level = Level::default();
        for (group, lines) in [("triggers", 2), ("paths", 0), ("triggers", 2)] {
            let mark = Mark {
                transform: Transform::at([1.0, 2.0, 3.0]),
                lines: vec![[0.0; 3]; lines],
            };
            level.mark(group, "mark", CRATE, mark);
        }
        let (scene, _) = level.finish("");
        let nodes = scene.nodes.iter();
        let nodes: Vec<_> = nodes.map(|node| (&*node.name, node.parent)).collect();
        let expected = [
            ("triggers", None),
            ("mark", Some(0)),
            ("paths", None),
            ("mark", Some(2)),
            ("mark", Some(0)),
        ];
        assert_eq!(nodes, expected);
        assert_eq!(scene.hidden_groups.iter().collect::<Vec<_>>(), [&0, &2]);
        let parents: Vec<_> = scene.outlines.iter().map(|line| line.parent).collect();
        assert_eq!(parents, [1, 4]);
        assert_eq!(scene.identities.len(), 3);
    }
}
