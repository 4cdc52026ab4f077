//! PSX files as pictures and scenes.

mod axes;
mod clip;
mod colors;
mod mesh;
mod picture;
mod skeleton;
mod surface;
mod textures;

pub(crate) use axes::turn_of;
pub(super) use picture::color;
pub use textures::{TextureSet, neighbors};

use std::collections::HashMap;

use get_size2::GetSize;

use self::clip::Clips;
use self::colors::FaceColors;
use self::mesh::{Builder, Space, is_sound};
pub use self::surface::Colors;
use self::surface::Surfaces;
use crate::psx::{Model, Psx, Vertex, VertexRef};
use hpimount_assets::model::scene::{Material, Node};
use hpimount_assets::model::{
    MAX_CURVES, MAX_JOINTS, MAX_POSES, Scene, Transform, corners_problem, not_shown, padded,
};
use hpimount_containers::io::Warnings;

/// The visible parts of a file, determined without decoding anything.
#[derive(Debug, GetSize)]
pub struct ExportPlan {
    /// The textures.
    pub textures: TextureSet,
    /// The numbers of the models with visible faces.
    pub models: Vec<usize>,
    /// True if there is a scene of all objects.
    pub has_scene: bool,
    /// The maximum number of face corners of a scene.
    pub corners: usize,
    /// The numbers of the keyframe animations that can be shown.
    pub motions: Vec<usize>,
    /// True if the objects are the joints of a skeleton.
    has_skeleton: bool,
    /// True if the scene has the animations.
    moves_scene: bool,
    /// The reasons why the rest is not shown.
    pub problems: Warnings,
    /// The divisor of vertices.
    vertex_scale: f32,
    /// The sources of the stitched vertices.
    stitch_sources: Vec<VertexRef>,
    /// The first object that shows each model.
    object_of: Vec<Option<usize>>,
    /// The model of each object.
    model_of: Vec<usize>,
    /// The colors of faces.
    colors: FaceColors,
    /// Names of objects by their numbers.
    part_names: HashMap<usize, String>,
}

impl ExportPlan {
    /// Determines the visible parts of `psx` with the help of its neighbors.
    pub fn new(psx: &Psx, neighbors: Vec<Psx>) -> Self {
        let mut textures = TextureSet::new(psx, neighbors);
        let mut object_of = vec![None; psx.models.len()];
        let model_of: Vec<usize> = psx.shown_models().collect();
        for (index, &model) in model_of.iter().enumerate() {
            if let Some(first) = object_of.get_mut(model) {
                first.get_or_insert(index);
            }
        }
        let mut plan = Self {
            problems: textures.take_problems(),
            textures,
            models: Vec::new(),
            has_scene: false,
            corners: 0,
            motions: Vec::new(),
            has_skeleton: false,
            moves_scene: false,
            vertex_scale: psx.vertex_scale().into(),
            stitch_sources: psx.stitch_sources(),
            object_of,
            model_of,
            colors: FaceColors::new(psx),
            part_names: HashMap::new(),
        };
        plan.choose_models(psx);
        plan.choose_scene(psx);
        plan.choose_motions(psx);
        plan
    }

    /// Takes names of objects, with their numbers, from another file. They have no
    /// white space.
    pub fn name_parts(&mut self, names: impl Iterator<Item = (usize, String)>) {
        self.part_names.extend(names);
    }

    fn choose_models(&mut self, psx: &Psx) {
        for (index, model) in psx.models.iter().enumerate() {
            let corners = sound_corners(model);
            if let Some(why) = corners_problem(corners) {
                let what = format_args!("model {index}");
                self.problems.push(not_shown(what, why));
            } else if corners > 0 {
                self.models.push(index);
                self.corners = self.corners.max(corners);
            } else if !model.faces.is_empty() {
                let what = format_args!("model {index}");
                let why = "all of its faces have corners that do not exist";
                self.problems.push(not_shown(what, why));
            }
        }
    }

    fn choose_scene(&mut self, psx: &Psx) {
        // The corners of a model are counted once for all its objects.
        let mut corners_of: Vec<Option<usize>> = vec![None; psx.models.len()];
        let mut corners: usize = 0;
        for &index in &self.model_of {
            let (Some(model), Some(known)) = (psx.models.get(index), corners_of.get_mut(index))
            else {
                continue;
            };
            corners += *known.get_or_insert_with(|| sound_corners(model));
        }
        let joints = psx.objects.len();
        let is_character = psx.parents().is_some() || psx.is_animated();
        let problem = corners_problem(corners).or_else(|| {
            let is_too_large = is_character && joints > MAX_JOINTS;
            is_too_large.then(|| format!("it has {joints} joints, more than {MAX_JOINTS}"))
        });
        self.has_scene = corners > 0 && problem.is_none();
        if self.has_scene {
            self.corners = self.corners.max(corners);
        }
        let problem = problem.filter(|_| corners > 0);
        if let Some(why) = problem {
            self.problems
                .push(not_shown("the scene of all objects", why));
        }
        self.has_skeleton = is_character && joints > 0 && joints <= MAX_JOINTS;
    }

    /// Finds the animations that can be shown.
    fn choose_motions(&mut self, psx: &Psx) {
        let clips = Clips::of(psx);
        if !self.has_skeleton {
            if clips.len() > 0 {
                let joints = psx.objects.len();
                let why = format_args!("{joints} objects cannot be a skeleton");
                self.problems.push(not_shown("every animation", why));
            }
            return;
        }
        let mut work = 2 * psx.file_size;
        for index in 0..clips.len() {
            match clips.problem(index, &mut work) {
                None => self.motions.push(index),
                Some(why) => {
                    let what = format_args!("animation {index}");
                    self.problems.push(not_shown(what, why));
                }
            }
        }
        let curves = self.motions.len() * psx.objects.len();
        let poses = self.motions.iter().map(|&index| clips.poses(index));
        let poses = poses.fold(0_usize, usize::saturating_add);
        let problem = if curves > MAX_CURVES {
            Some(format!("they have {curves} curves, more than {MAX_CURVES}"))
        } else if poses > MAX_POSES {
            Some(format!("they have {poses} poses, more than {MAX_POSES}"))
        } else {
            None
        };
        self.moves_scene = problem.is_none();
        let problem = problem.filter(|_| self.has_scene);
        if let Some(why) = problem {
            self.problems.push(not_shown("motion in model.glb", why));
        }
    }

    /// Returns the notes of every file.
    fn notes(&self, psx: &Psx) -> Vec<String> {
        let scale = psx.vertex_scale();
        let mut notes: Vec<String> = vec![
            "x is right, y up, z back: the game's y and z, which are down and forward, are negated.".into(),
            "Triangles are counterclockwise seen from their front; the file has them clockwise.".into(),
            format!("A unit is one of object positions; vertices are divided by {scale}."),
            "Faces that the game does not draw are included, fully transparent.".into(),
        ];
        if !self.has_skeleton {
            notes.push("A sky is where its object is; the game draws it around the camera.".into());
        }
        notes
    }

    /// Returns a model by itself, with [`Colors::Materials`].
    pub fn model(&self, psx: &Psx, index: usize) -> Scene<'static> {
        let mut surfaces = Surfaces::new(Colors::Materials);
        let mut scene = Scene {
            notes: self.notes(psx),
            ..Scene::default()
        };
        let Some(model) = psx.models.get(index) else {
            return scene;
        };
        let name = model_name(psx, index);
        let mut builder = Builder {
            psx,
            plan: self,
            surfaces: &mut surfaces,
            space: Space::Object,
        };
        let object = self.object_of.get(index).copied().flatten();
        scene.meshes.push(builder.mesh(name.clone(), model, object));
        scene.nodes.push(Node {
            name,
            parent: None,
            transform: Transform::IDENTITY,
            mesh: Some(0),
        });
        scene.materials = surfaces.materials;
        scene
    }

    /// Returns the materials of all models, with [`Colors::Materials`].
    pub fn materials(&self, psx: &Psx) -> (Vec<Material>, Vec<String>) {
        let mut surfaces = Surfaces::new(Colors::Materials);
        for model in self
            .models
            .iter()
            .filter_map(|&index| psx.models.get(index))
        {
            for face in model.faces.iter().filter(|face| is_sound(model, face)) {
                surfaces.of(psx, self, face);
            }
        }
        let notes = vec!["Materials of the models.".into()];
        (surfaces.materials, notes)
    }

    /// Returns all objects with their transformations; the parts of a character are on
    /// its skeleton, with its animations. `colors` selects the place of the colors of
    /// untextured faces.
    pub fn scene<'a>(&'a self, psx: &'a Psx, colors: Colors) -> Scene<'a> {
        let mut scene = Scene {
            notes: self.notes(psx),
            ..Scene::default()
        };
        let mut surfaces = Surfaces::new(colors);
        let mut builder = Builder {
            psx,
            plan: self,
            surfaces: &mut surfaces,
            space: if self.has_skeleton {
                Space::Joints
            } else {
                Space::Object
            },
        };
        if self.has_skeleton {
            skeleton::build(psx, self, &mut builder, &mut scene);
        } else {
            level(psx, self, &mut builder, &mut scene);
        }
        scene.materials = surfaces.materials;
        scene
    }

    /// Returns the skeleton and one of its animations.
    pub fn motion<'a>(&'a self, psx: &'a Psx, index: usize) -> Scene<'a> {
        skeleton::motion(psx, self, index)
    }

    /// Returns a vertex in the unit of object positions, with y up.
    fn scaled(&self, [x, y, z]: [i16; 3]) -> [f32; 3] {
        [x.into(), -f32::from(y), -f32::from(z)].map(|part: f32| part / self.vertex_scale + 0.0)
    }

    /// Returns a normal with y up.
    fn turned(&self, [x, y, z]: [i16; 3]) -> [f32; 3] {
        [x.into(), -f32::from(y), -f32::from(z)]
    }

    /// Returns the position of an object.
    fn origin(&self, psx: &Psx, object: Option<usize>) -> [f32; 3] {
        let object = object.and_then(|object| psx.objects.get(object));
        let [x, y, z] = object.map_or([0; 3], |object| object.position);
        [x, y.saturating_neg(), z.saturating_neg()].map(|part| part as f32 / 4096.0)
    }

    /// Returns the vertex with this number among the stitch sources, and its object.
    fn stitch_source<'a>(
        &self,
        psx: &'a Psx,
        number: usize,
    ) -> Option<(&'a Vertex, Option<usize>)> {
        let source = self.stitch_sources.get(number)?;
        let vertex = psx.models.get(source.model)?.vertices.get(source.vertex)?;
        Some((vertex, self.object_of.get(source.model).copied().flatten()))
    }
}

/// Returns the number of corners of all faces whose corners exist.
fn sound_corners(model: &Model) -> usize {
    let faces = model.faces.iter().filter(|face| is_sound(model, face));
    faces.map(|face| face.corners()).sum()
}

/// Returns the name of a model: its hash in the file, or else its number.
pub fn model_name(psx: &Psx, index: usize) -> String {
    let hash = psx.model_names.get(index);
    hash.map_or_else(|| index.to_string(), |hash| format!("{hash:08x}"))
}

/// Returns the name of the node of an object, in all formats: its number, and its own
/// name or else its model's.
fn object_name(psx: &Psx, plan: &ExportPlan, index: usize, width: usize) -> String {
    let model = plan.model_of.get(index).copied();
    let own = plan.part_names.get(&index).cloned();
    let name = own.unwrap_or_else(|| model_name(psx, model.unwrap_or_default()));
    format!("{}_{name}", padded(index, psx.objects.len(), width))
}

/// Returns the model with this number, if it is visible.
fn shown_model(psx: &Psx, number: usize) -> Option<&Model> {
    let model = psx.models.get(number)?;
    (sound_corners(model) > 0).then_some(model)
}

/// Adds the objects of a level. Objects with the same model share its mesh.
fn level(psx: &Psx, plan: &ExportPlan, builder: &mut Builder<'_>, scene: &mut Scene<'_>) {
    let mut meshes = vec![None; psx.models.len()];
    for ((index, object), &number) in psx.objects.iter().enumerate().zip(&plan.model_of) {
        let Some(model) = shown_model(psx, number) else {
            continue;
        };
        let mesh = *meshes[number].get_or_insert_with(|| {
            let first = plan.object_of.get(number).copied().flatten();
            scene
                .meshes
                .push(builder.mesh(model_name(psx, number), model, first));
            scene.meshes.len() - 1
        });
        scene.nodes.push(Node {
            name: object_name(psx, plan, index, 3),
            parent: None,
            transform: Transform::turned(turn_of(object.angles), plan.origin(psx, Some(index))),
            mesh: Some(mesh),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::psx::parse;
    use fixtures::front::{LETTER, front_view, letter};
    use fixtures::psx::{File, HIER, face, model, object, shorts, texture, words};
    use hpimount_assets::model::scene::Animation;

    #[test]
    fn a_letter_is_seen_from_the_front_and_is_not_mirrored() {
        // x is right, y down, z forward: the square faces the camera behind it.
        let corners = [[0, 0, 0, 0], [8, 0, 0, 0], [0, 8, 0, 0], [8, 8, 0, 0]];
        let uv = [0, 0, 8, 0, 0, 8, 8, 8];
        let quad = face(
            3,
            [0, 1, 2, 3],
            [128; 4],
            &[words(&[0]), uv.to_vec()].concat(),
        );
        let mut square = model((0x7FFF, -1), &corners, &[quad]);
        let normal = 28 + 4 * 8;
        square[normal..normal + 8].copy_from_slice(&shorts(&[0, 0, -4096, 0]));
        let pixels: Vec<u8> = letter(1)
            .chunks(2)
            .map(|pair| pair[0] | pair[1] << 4)
            .collect();
        let mut file = File {
            objects: vec![object(0, [0, 0, 5])],
            models: vec![square],
            texture_ids: vec![7],
            palettes: vec![0xAA],
            textures: vec![texture([0, 16, 0xAA, 0], [8, 8], &pixels)],
            ..File::new(4)
        }
        .bytes();
        // The second color of the palette is red.
        let palette = file
            .windows(4)
            .rposition(|id| id == words(&[0xAA]))
            .unwrap();
        let palette = file[..palette]
            .windows(4)
            .rposition(|id| id == words(&[0xAA]))
            .unwrap();
        file[palette + 6] = 31;
        let psx = parse(&file.into()).unwrap();
        let plan = ExportPlan::new(&psx, Vec::new());
        let picture = plan.textures.picture(&psx, 0).unwrap();
        let scene = plan.scene(&psx, Colors::Corners);
        let (seen, depth) = front_view(&scene, &picture);
        assert_eq!(seen, LETTER);
        assert_eq!(depth, -5.0);
    }

    /// Returns a parent, and a child 2 to its right, with this chunk of
    /// animations.
    fn character(tag: u32, animations: Vec<u8>) -> Psx {
        let corners = [[0, 0, 0, 0], [16, 0, 0, 0], [0, 16, 0, 0]];
        let part = model(
            (0x7FFF, -1),
            &corners,
            &[face(0x10, [0, 1, 2, 0], [9; 4], &[])],
        );
        let file = File {
            objects: vec![object(0, [0; 3]), object(0, [2, 0, 0])],
            models: vec![part],
            chunks: vec![(HIER, shorts(&[0, 0])), (tag, animations)],
            ..File::new(4)
        };
        parse(&file.bytes().into()).unwrap()
    }

    /// Returns the position of the child's origin in the first frame of the first
    /// animation.
    fn child(psx: &Psx) -> [f32; 3] {
        let plan = ExportPlan::new(psx, Vec::new());
        assert_eq!(plan.motions, [0], "{:?}", plan.problems);
        let scene = plan.motion(psx, 0);
        let Animation { transform, .. } = &scene.animations[0];
        let in_parent = transform(0, 1).apply([0.0; 3]);
        transform(0, 0).apply(in_parent).map(f32::round)
    }

    #[test]
    fn keyframes_of_both_kinds_move_a_child_to_the_same_position() {
        // The parent is rotated by a quarter turn about z, from x to y, and y points
        // down. Matrices have translations in the space of the character, angles in the
        // space of the parent.
        let quarter = [0, -4096, 0, 4096, 0, 0, 0, 0, 4096];
        let parent = [&quarter[..], &[0, 0, 0]].concat();
        let of_child = [&quarter[..], &[0, 32, 0]].concat();
        let matrices = [words(&[1, 12, 1]), shorts(&parent), shorts(&of_child)].concat();
        assert_eq!(child(&character(0x2A, matrices)), [0.0, -2.0, 0.0]);
        let constant = |value: i16| [vec![0x0E], shorts(&[value])].concat();
        let stream = |values: [i16; 6]| values.map(constant).concat();
        let angles = [
            words(&[1, 12, 1]),
            stream([0, 0, 1024, 0, 0, 0]),
            stream([0, 0, 1024, 32, 0, 0]),
        ];
        assert_eq!(child(&character(0x2C, angles.concat())), [0.0, -2.0, 0.0]);
    }

    /// Returns a character of two objects, the second one 2 to the right, with an
    /// animation of one frame that moves both by `translation`.
    fn moved(translation: i16, has_parents: bool) -> Psx {
        let stream = |value: i16| [vec![0x0E], shorts(&[value])].concat();
        let streams = [0, 0, 0, translation, 0, 0].map(stream).concat();
        let mut psx = character(0x2C, [words(&[1, 12, 1]), streams.repeat(2)].concat());
        if !has_parents {
            psx.chunks.retain(|chunk| chunk.name() != "HIER");
        }
        psx
    }

    #[test]
    fn without_parents_translations_are_in_the_space_of_the_character() {
        assert_eq!(child(&moved(48, true)), [6.0, 0.0, 0.0]);
        let psx = moved(48, false);
        let plan = ExportPlan::new(&psx, Vec::new());
        let scene = plan.motion(&psx, 0);
        assert_eq!(scene.nodes[1].parent, None);
        let Animation { transform, .. } = &scene.animations[0];
        assert_eq!(transform(0, 1).translation, [3.0, 0.0, 0.0]);
    }

    #[test]
    fn an_animation_without_translations_keeps_the_rest_pose() {
        assert_eq!(child(&moved(0, true)), [2.0, 0.0, 0.0]);
    }

    #[test]
    fn a_part_of_a_character_shows_the_model_of_its_own_number() {
        let triangle = |size| {
            let corners = [[0, 0, 0, 0], [size, 0, 0, 0], [0, size, 0, 0]];
            let face = face(0x10, [0, 1, 2, 0], [9; 4], &[]);
            model((0x7FFF, -1), &corners, &[face])
        };
        let mut file = File {
            objects: vec![object(1, [0; 3]), object(1, [0; 3])],
            models: vec![triangle(1), triangle(2)],
            ..File::new(4)
        };
        let sizes = |file: &File| {
            let psx = parse(&file.bytes().into()).unwrap();
            let plan = ExportPlan::new(&psx, Vec::new());
            let scene = plan.scene(&psx, Colors::Corners);
            let meshes = scene.nodes.iter().filter_map(|node| node.mesh);
            let meshes = meshes.map(|mesh| scene.meshes[mesh].points[1][0]);
            meshes.collect::<Vec<_>>()
        };
        assert_eq!(sizes(&file), [2.0, 2.0]);
        file.chunks = vec![(HIER, shorts(&[0, 0]))];
        assert_eq!(sizes(&file), [1.0, 2.0]);
    }

    #[test]
    fn a_joint_has_one_name_in_all_formats() {
        let psx = character(0x2C, [words(&[1, 12, 1]), vec![0x0F; 12]].concat());
        let plan = ExportPlan::new(&psx, Vec::new());
        let mut bvh = Vec::new();
        let motion = plan.motion(&psx, 0);
        hpimount_assets::model::bvh::write(&motion, &motion.animations[0], &mut bvh).unwrap();
        let bvh = String::from_utf8(bvh).unwrap();
        let scene = plan.scene(&psx, Colors::Corners);
        for (joint, word) in scene.joints.iter().zip(["ROOT", "JOINT"]) {
            let name = &scene.nodes[joint.node].name;
            assert!(bvh.contains(&format!("{word} {name}\n")), "{bvh}");
        }
        assert_eq!(scene.nodes[0].name, "00_6f0f6b9f");
        let mut plan = ExportPlan::new(&psx, Vec::new());
        plan.name_parts([(1, "hand".to_owned())].into_iter());
        let scene = plan.scene(&psx, Colors::Corners);
        assert_eq!(scene.nodes[1].name, "01_hand");
    }

    #[test]
    fn an_animation_that_cannot_be_shown_is_reported() {
        let streams = |streams: Vec<u8>| [words(&[2, 20, 1, 20, 0]), streams].concat();
        let psx = character(0x2C, streams(vec![0x0F; 11]));
        let plan = ExportPlan::new(&psx, Vec::new());
        assert!(plan.motions.is_empty());
        let problems = plan.problems.texts();
        assert!(
            problems[0].starts_with("animation 0 is not shown: stream's header at 0x"),
            "{problems:?}"
        );
        assert_eq!(problems[1], "animation 1 is not shown: it has no frames");
        // The maximum number of values, without any bytes for them.
        let many = [words(&[1, 12, u32::MAX]), vec![0x0F; 12]].concat();
        let plan = ExportPlan::new(&character(0x2C, many), Vec::new());
        let problems = plan.problems.texts();
        assert_eq!(
            problems,
            ["animation 0 is not shown: it has 8589934590 poses, more than 1048576"]
        );
    }

    #[test]
    fn faces_without_a_texture_have_their_color_in_the_material_of_an_obj() {
        let psx = character(0x2A, words(&[0]));
        let plan = ExportPlan::new(&psx, Vec::new());
        let material = |colors| plan.scene(&psx, colors).materials.remove(0);
        let plain = material(Colors::Materials);
        assert_eq!(plain.name, "plain_090909");
        assert_eq!(plain.color, [9.0 / 255.0, 9.0 / 255.0, 9.0 / 255.0, 1.0]);
        assert_eq!(plan.materials(&psx).0, [plain]);
        // If corners have colors, the material must be white.
        assert_eq!(material(Colors::Corners).color, [1.0; 4]);
    }
}
