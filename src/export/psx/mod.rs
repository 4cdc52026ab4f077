//! PSX files as pictures and scenes.

mod gallery;
mod mesh;
mod picture;
mod pvr;
mod skeleton;
mod surface;

pub use gallery::{Gallery, neighbours};

use get_size2::GetSize;

use self::mesh::{Builder, Space, is_sound};
use self::surface::Surfaces;
use super::scene::{Material, Node};
use super::{MAX_CORNERS, MAX_CURVES, MAX_JOINTS, MAX_POSES, MAX_SCENE_PIXELS, Place, Scene};
use crate::asset::psx::{AnimationV1, Content, Model, Psx, Vertex, VertexRef};

/// What of a file can be shown, found out without decoding anything.
#[derive(Debug, GetSize)]
pub struct ExportPlan {
    /// The textures.
    pub gallery: Gallery,
    /// The models that have faces to show, by their numbers.
    pub models: Vec<usize>,
    /// Whether there is a scene of all objects.
    pub has_scene: bool,
    /// Whether the objects are the joints of a skeleton, and the animations
    /// can be shown.
    pub has_skeleton: bool,
    /// Why the rest is not shown, a sentence each.
    pub problems: Vec<String>,
    /// By what vertices are divided.
    vertex_scale: f32,
    /// The stitched vertices' sources.
    stitch_sources: Vec<VertexRef>,
    /// The first object that shows each model.
    object_of: Vec<Option<usize>>,
}

impl ExportPlan {
    /// What of `psx` can be shown, with what its neighbours have.
    pub fn new(psx: &Psx, neighbours: Vec<Psx>) -> Self {
        let gallery = Gallery::new(psx, neighbours);
        let mut object_of = vec![None; psx.models.len()];
        for (index, object) in psx.objects.iter().enumerate() {
            if let Some(first) = object_of.get_mut(usize::from(object.model)) {
                first.get_or_insert(index);
            }
        }
        let mut plan = Self {
            problems: gallery.problems().to_vec(),
            gallery,
            models: Vec::new(),
            has_scene: false,
            has_skeleton: false,
            vertex_scale: psx.vertex_scale().into(),
            stitch_sources: psx.stitch_sources(),
            object_of,
        };
        plan.choose_models(psx);
        plan.choose_scene(psx);
        plan
    }

    fn choose_models(&mut self, psx: &Psx) {
        for (index, model) in psx.models.iter().enumerate() {
            let corners = sound_corners(model);
            if corners > MAX_CORNERS {
                self.problems.push(format!(
                    "model {index} is not shown: has {corners} corners, more than {MAX_CORNERS}"
                ));
            } else if corners > 0 {
                self.models.push(index);
            } else if !model.faces.is_empty() {
                self.problems.push(format!(
                    "model {index} is not shown: no face has its corners"
                ));
            }
        }
    }

    fn choose_scene(&mut self, psx: &Psx) {
        // Those of a model are counted once for all its objects.
        let mut corners_of: Vec<Option<usize>> = vec![None; psx.models.len()];
        let mut corners: usize = 0;
        for object in &psx.objects {
            let index = usize::from(object.model);
            let (Some(model), Some(known)) = (psx.models.get(index), corners_of.get_mut(index))
            else {
                continue;
            };
            corners += *known.get_or_insert_with(|| sound_corners(model));
        }
        let pixels: u64 = (0..self.gallery.len())
            .filter_map(|index| self.gallery.size(psx, index))
            .map(|size| u64::from(size.width) * u64::from(size.height))
            .sum();
        let joints = psx.objects.len();
        let is_character = psx.parents().is_some() || psx.is_animated();
        self.has_scene = corners > 0;
        if corners > MAX_CORNERS {
            self.has_scene = false;
            self.problems.push(format!(
                "the scene is not shown: has {corners} corners, more than {MAX_CORNERS}"
            ));
        } else if self.has_scene && pixels > MAX_SCENE_PIXELS {
            self.has_scene = false;
            self.problems.push(format!(
                "the scene is not shown: its textures have {pixels} pixels, more than {MAX_SCENE_PIXELS}"
            ));
        } else if is_character && joints > MAX_JOINTS {
            self.has_scene = false;
            self.problems.push(format!(
                "skeleton and scene are not shown: {joints} joints are more than {MAX_JOINTS}"
            ));
        }
        self.has_skeleton = is_character && joints > 0 && joints <= MAX_JOINTS;
        let curves = keyframes(psx).len() * joints;
        if self.has_skeleton && curves > MAX_CURVES {
            self.problems.push(format!(
                "model.glb has no animations: they have {curves} curves, more than {MAX_CURVES}"
            ));
        } else if self.has_skeleton && poses(psx) > MAX_POSES {
            let poses = poses(psx);
            self.problems.push(format!(
                "model.glb has no animations: they have {poses} poses, more than {MAX_POSES}"
            ));
        }
    }

    /// The notes that every file has.
    fn notes(&self, psx: &Psx) -> Vec<String> {
        let scale = psx.vertex_scale();
        vec![
            "x is right, y up, z back: the game's y and z, which are down and forward, are negated.".into(),
            "Triangles are anticlockwise seen from their front; the file has them clockwise.".into(),
            format!("A unit is one of object positions; vertices are divided by {scale}."),
            "Faces that the game does not draw are there, and fully transparent.".into(),
        ]
    }

    /// A model by itself.
    pub fn model(&self, psx: &Psx, index: usize) -> Scene<'static> {
        let mut surfaces = Surfaces::default();
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
            place: Place::HERE,
            mesh: Some(0),
        });
        scene.materials = surfaces.materials;
        scene
    }

    /// All materials that the models have.
    pub fn materials(&self, psx: &Psx) -> (Vec<Material>, Vec<String>) {
        let mut surfaces = Surfaces::default();
        for model in self
            .models
            .iter()
            .filter_map(|&index| psx.models.get(index))
        {
            for face in model.faces.iter().filter(|face| is_sound(model, face)) {
                surfaces.of(psx, &self.gallery, face);
            }
        }
        let notes = vec!["Materials of the models.".into()];
        (surfaces.materials, notes)
    }

    /// All objects in their places; the parts of a character on its skeleton,
    /// with its animations.
    pub fn scene<'a>(&'a self, psx: &'a Psx) -> Scene<'a> {
        let mut scene = Scene {
            notes: self.notes(psx),
            ..Scene::default()
        };
        let mut surfaces = Surfaces::default();
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

    /// Number of keyframe animations that can be shown as motion.
    pub fn motions(&self, psx: &Psx) -> usize {
        if self.has_skeleton {
            keyframes(psx).len()
        } else {
            0
        }
    }

    /// The skeleton and one of its animations.
    pub fn motion<'a>(&'a self, psx: &'a Psx, index: usize) -> Scene<'a> {
        skeleton::motion(psx, self, index)
    }

    /// A vertex in the unit of object positions, with y up.
    fn scaled(&self, [x, y, z]: [i16; 3]) -> [f32; 3] {
        [x.into(), -f32::from(y), -f32::from(z)].map(|part: f32| part / self.vertex_scale + 0.0)
    }

    /// A normal with y up.
    fn turned(&self, [x, y, z]: [i16; 3]) -> [f32; 3] {
        [x.into(), -f32::from(y), -f32::from(z)]
    }

    /// Where an object is.
    fn origin(&self, psx: &Psx, object: Option<usize>) -> [f32; 3] {
        let object = object.and_then(|object| psx.objects.get(object));
        let [x, y, z] = object.map_or([0; 3], |object| object.position);
        [x, y.saturating_neg(), z.saturating_neg()].map(|part| part as f32 / 4096.0)
    }

    /// The vertex with this number among the stitch sources, and the object
    /// whose it is.
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

/// Corners of the faces whose corners exist.
fn sound_corners(model: &Model) -> usize {
    let faces = model.faces.iter().filter(|face| is_sound(model, face));
    faces.map(|face| face.corners()).sum()
}

/// Name of a model: the hash that the file has for it.
pub fn model_name(psx: &Psx, index: usize) -> String {
    let hash = psx.model_names.get(index);
    hash.map_or_else(|| index.to_string(), |hash| format!("{hash:08x}"))
}

/// The keyframe animations that the game would take: those of the last chunk.
fn keyframes(psx: &Psx) -> &[AnimationV1] {
    let chunks = psx.chunks.iter().rev();
    let mut lists = chunks.filter_map(|chunk| match &chunk.content {
        Content::AnimationsV1(list) => Some(list.as_slice()),
        Content::AnimationsV2(_) => Some(&[][..]),
        _ => None,
    });
    lists.next().unwrap_or_default()
}

/// The poses of all animations together, each of one object in one frame.
fn poses(psx: &Psx) -> usize {
    keyframes(psx).iter().map(AnimationV1::pose_count).sum()
}

/// The model of this number, if there is anything of it to show.
fn shown_model(psx: &Psx, number: usize) -> Option<&Model> {
    let model = psx.models.get(number)?;
    (sound_corners(model) > 0).then_some(model)
}

/// The objects of a level. Those that show the same model share its mesh.
fn level(psx: &Psx, plan: &ExportPlan, builder: &mut Builder<'_>, scene: &mut Scene<'_>) {
    let mut meshes = vec![None; psx.models.len()];
    for (index, object) in psx.objects.iter().enumerate() {
        let number = usize::from(object.model);
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
            name: format!("{index:03}_{}", model_name(psx, number)),
            parent: None,
            place: Place::turned(
                skeleton::turn_of(object.angles),
                plan.origin(psx, Some(index)),
            ),
            mesh: Some(mesh),
        });
    }
}
