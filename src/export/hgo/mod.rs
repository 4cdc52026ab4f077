//! HGO models as pictures and scenes.

mod mesh;
mod picture;

use self::mesh::Builder;
use get_size2::GetSize;

use super::math::finite;
use super::scene::{Alpha, Joint, Material, Node, Texture, Wrap, sound_parents};
use super::{MAX_CORNERS, MAX_SCENE_PIXELS, Picture, Place, Scene};
use crate::asset::hgo::{self, Geometry, Hgo, Layer, Mesh};

/// What of a file can be shown, found out without decoding anything.
#[derive(Debug, GetSize)]
pub struct ExportPlan {
    /// The textures that can be shown, by their numbers.
    pub textures: Vec<usize>,
    /// The layers that have something to show, by their numbers.
    pub layers: Vec<usize>,
    /// Whether there is a scene of all layers.
    pub has_scene: bool,
    /// Why the rest is not shown, a sentence each.
    pub problems: Vec<String>,
}

impl ExportPlan {
    /// What of `hgo` can be shown.
    pub fn new(hgo: &Hgo) -> Self {
        let mut plan = Self {
            textures: Vec::new(),
            layers: Vec::new(),
            has_scene: false,
            problems: Vec::new(),
        };
        for (index, texture) in hgo.textures.iter().enumerate() {
            match picture::problem(texture) {
                None => plan.textures.push(index),
                Some(problem) => {
                    let text = format!("texture {index} is not shown: {problem}");
                    plan.problems.push(text);
                }
            }
        }
        plan.choose_layers(hgo);
        plan
    }

    fn choose_layers(&mut self, hgo: &Hgo) {
        let mut all = 0;
        for (index, layer) in hgo.layers.iter().enumerate() {
            let corners = corners(layer);
            all += corners;
            if corners > MAX_CORNERS {
                self.problems.push(format!(
                    "layer {index} is not shown: has {corners} corners, more than {MAX_CORNERS}"
                ));
            } else if meshes(layer).any(has_triangles) {
                self.layers.push(index);
            }
        }
        let pixels: u64 = self
            .textures
            .iter()
            .filter_map(|&index| hgo.textures.get(index))
            .map(|t| u64::from(t.width.unsigned_abs()) * u64::from(t.height.unsigned_abs()))
            .sum();
        self.has_scene = !self.layers.is_empty();
        if all > MAX_CORNERS {
            self.has_scene = false;
            self.problems.push(format!(
                "model.glb is not shown: has {all} corners, more than {MAX_CORNERS}"
            ));
        } else if self.has_scene && pixels > MAX_SCENE_PIXELS {
            self.has_scene = false;
            self.problems.push(format!(
                "model.glb is not shown: its textures have {pixels} pixels, more than {MAX_SCENE_PIXELS}"
            ));
        }
    }

    /// A texture as a picture, by its number.
    pub fn picture(&self, hgo: &Hgo, texture: usize) -> Option<Picture> {
        picture::picture(hgo.textures.get(texture)?)
    }

    /// The surfaces of all meshes, and a plain one behind them.
    pub fn materials(&self, hgo: &Hgo) -> Vec<Material> {
        let materials = hgo.materials.iter().enumerate();
        let materials = materials.map(|(index, one)| self.material(hgo, index, one));
        materials.chain([plain()]).collect()
    }

    fn material(&self, hgo: &Hgo, index: usize, material: &hgo::Material) -> Material {
        let texture = usize::try_from(material.texture).ok();
        let texture = texture.filter(|texture| self.textures.binary_search(texture).is_ok());
        let flag = |name: &str| {
            let mut flags = material.flags.iter();
            flags
                .find(|(known, _)| *known == name)
                .map_or(0, |(_, value)| value)
        };
        let wrap = |name: &str| match flag(name) {
            0 => Wrap::Repeat,
            2 => Wrap::Mirror,
            _ => Wrap::Clamp,
        };
        let [r, g, b] = material.diffuse.map(|part| finite(part).clamp(0.0, 1.0));
        let opacity = finite(material.alpha).clamp(0.0, 1.0);
        Material {
            name: format!("material_{index:02}"),
            colour: [r, g, b, opacity],
            texture: texture.map(|texture| Texture {
                picture: texture,
                file: texture_name(hgo, texture),
                wrap: [wrap("u_wrap"), wrap("v_wrap")],
                sharp: false,
            }),
            alpha: match (opacity < 1.0 || flag("alpha") != 0, flag("atst")) {
                (true, _) => Alpha::Blend,
                (_, 0) => Alpha::Opaque,
                _ => Alpha::Mask,
            },
            double_sided: true,
            unlit: false,
        }
    }

    /// A layer in the rest pose.
    pub fn layer(&self, hgo: &Hgo, index: usize) -> Scene<'static> {
        let chosen = hgo.layers.iter().enumerate().skip(index).take(1);
        self.scene_of(hgo, chosen)
    }

    /// All layers, with the skeleton.
    pub fn scene(&self, hgo: &Hgo) -> Scene<'static> {
        self.scene_of(hgo, hgo.layers.iter().enumerate())
    }

    fn scene_of<'a>(
        &self,
        hgo: &Hgo,
        layers: impl Iterator<Item = (usize, &'a Layer)>,
    ) -> Scene<'static> {
        let mut scene = Scene {
            notes: self.notes(),
            materials: self.materials(hgo),
            ..Scene::default()
        };
        add_joints(hgo, &mut scene);
        for (index, layer) in layers {
            let name = layer_name(hgo, index);
            for part in &layer.parts {
                let mut builder = Builder {
                    hgo,
                    scene: &mut scene,
                    layer: &name,
                    part,
                };
                builder.add();
            }
        }
        scene
    }

    /// The notes that every file has.
    pub fn notes(&self) -> Vec<String> {
        vec![
            "y is up. Axes and winding are the game's own; whether it is right-handed is not known, and all surfaces are seen from both sides.".into(),
            "Lengths are in the game's units. Sprites that face the camera are left out.".into(),
        ]
    }
}

/// Name of a texture's file, without extension: its number and its format.
pub fn texture_name(hgo: &Hgo, index: usize) -> String {
    let format = hgo.textures.get(index).map_or("", |t| t.format.name());
    format!("{index:02} {format}")
}

/// Name of a layer.
pub fn layer_name(hgo: &Hgo, index: usize) -> String {
    let name = hgo.layers.get(index).and_then(|layer| layer.name.clone());
    name.unwrap_or_else(|| format!("layer {index}"))
}

fn plain() -> Material {
    Material {
        name: "plain".into(),
        colour: [1.0; 4],
        texture: None,
        alpha: Alpha::Opaque,
        double_sided: true,
        unlit: false,
    }
}

fn meshes(layer: &Layer) -> impl Iterator<Item = &Mesh> {
    let geometry = layer.parts.iter().flat_map(|part| &part.geometry);
    geometry.flat_map(Geometry::meshes)
}

fn has_triangles(mesh: &Mesh) -> bool {
    let corners = mesh
        .primitives
        .iter()
        .map(|primitive| primitive.indices.len());
    !mesh.vertices.is_empty() && corners.sum::<usize>() > 2
}

/// Vertices and corners of triangles of a layer, and the vectors of shapes:
/// what its file grows with.
fn corners(layer: &Layer) -> usize {
    let of_mesh = |mesh: &Mesh| {
        let indices = mesh.primitives.iter().map(|p| p.indices.len());
        let shapes = mesh
            .blend_shapes
            .as_ref()
            .map_or(0, |blend| blend.deltas.len());
        mesh.vertices.len() + indices.sum::<usize>() + shapes
    };
    meshes(layer).map(of_mesh).sum()
}

/// Adds the joints in the rest pose; the node of a joint has its number.
fn add_joints(hgo: &Hgo, scene: &mut Scene<'_>) {
    let parents = sound_parents(hgo.joints.len(), |joint| {
        Some(hgo.joints.get(joint)?.parent?.into())
    });
    for (index, (joint, parent)) in hgo.joints.iter().zip(parents).enumerate() {
        let mut inverse_bind = joint.inverse_world.map(finite);
        // What glTF demands of the last row.
        for (element, value) in [(3, 0.0), (7, 0.0), (11, 0.0), (15, 1.0)] {
            inverse_bind[element] = value;
        }
        scene.joints.push(Joint {
            node: index,
            inverse_bind,
        });
        scene.nodes.push(Node {
            name: joint
                .name
                .clone()
                .unwrap_or_else(|| format!("joint {index}")),
            parent,
            place: Place::from_row_vector_matrix(&joint.local),
            mesh: None,
        });
    }
}
