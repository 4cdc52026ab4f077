//! HGO models as pictures and scenes.

mod mesh;
mod picture;

use self::mesh::Builder;
pub(super) use self::picture::{gx_format, picture};
use get_size2::GetSize;

use crate::hgo::{self, Geometry, Hgo, Layer, Matrix, Mesh};
use hpimount_assets::model::math::finite;
use hpimount_assets::model::scene::{Alpha, Joint, Material, Node, Texture, Wrap, sound_parents};
use hpimount_assets::model::{
    MAX_CORNERS, Picture, Scene, Transform, corners_problem, not_shown, padded,
};
use hpimount_containers::io::Warnings;

/// The visible parts of a file, determined without decoding anything.
#[derive(Debug, GetSize)]
pub struct ExportPlan {
    /// The numbers of the visible textures.
    pub textures: Vec<usize>,
    /// The numbers of the layers with visible parts.
    pub layers: Vec<usize>,
    /// True if there is a scene of all layers.
    pub has_scene: bool,
    /// The maximum number of face corners of a scene.
    pub corners: usize,
    /// The reasons why the rest is not shown.
    pub problems: Warnings,
}

impl ExportPlan {
    /// Determines the visible parts of `hgo`.
    pub fn new(hgo: &Hgo) -> Self {
        let mut plan = Self {
            textures: Vec::new(),
            layers: Vec::new(),
            has_scene: false,
            corners: 0,
            problems: Warnings::default(),
        };
        for (index, texture) in hgo.textures.iter().enumerate() {
            match picture::problem(texture) {
                None => plan.textures.push(index),
                Some(problem) => {
                    let what = format_args!("texture {index}");
                    plan.problems.push(not_shown(what, problem));
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
            if let Some(why) = corners_problem(corners) {
                let what = format_args!("layer {index}");
                self.problems.push(not_shown(what, why));
            } else if meshes(layer).any(has_triangles) {
                self.layers.push(index);
            }
            let parts = layer.parts.iter();
            let geometry = parts.flat_map(|part| &part.geometry);
            let sprites = geometry.flat_map(Geometry::sprites);
            let sprites: usize = sprites.map(|set| set.sprites.len()).sum();
            if sprites > 0 {
                let what = format_args!("every sprite of layer {index}");
                let why = format_args!("sprites face the camera, and there are {sprites}");
                self.problems.push(not_shown(what, why));
            }
        }
        self.has_scene = !self.layers.is_empty();
        self.corners = all.min(MAX_CORNERS);
        let problem = corners_problem(all);
        if let Some(why) = problem.filter(|_| self.has_scene) {
            self.has_scene = false;
            self.problems.push(not_shown("model.glb", why));
        }
    }

    /// Decodes a texture, by number.
    pub fn picture(&self, hgo: &Hgo, texture: usize) -> Option<Picture> {
        picture::picture(hgo.textures.get(texture)?)
    }

    /// Returns the materials of all meshes, followed by a plain material.
    pub fn materials(&self, hgo: &Hgo) -> Vec<Material> {
        let materials = hgo.materials.iter().enumerate();
        let materials = materials.map(|(index, one)| self.material(hgo, index, one));
        materials.chain([Material::plain()]).collect()
    }

    fn material(&self, hgo: &Hgo, index: usize, material: &hgo::Material) -> Material {
        let texture = usize::try_from(material.texture).ok();
        let texture = texture.filter(|texture| self.textures.binary_search(texture).is_ok());
        let flag = |name: &str| material.attributes.group(name).unwrap_or(0);
        let wrap = |name: &str| match flag(name) {
            0 => Wrap::Repeat,
            2 => Wrap::Mirror,
            _ => Wrap::Clamp,
        };
        let [r, g, b] = material.diffuse.map(|part| finite(part).clamp(0.0, 1.0));
        let opacity = finite(material.alpha).clamp(0.0, 1.0);
        Material {
            name: format!("material_{}", padded(index, hgo.materials.len(), 2)),
            color: [r, g, b, opacity],
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

    /// Returns a layer in the rest pose.
    pub fn layer(&self, hgo: &Hgo, index: usize) -> Scene<'static> {
        let chosen = hgo.layers.iter().enumerate().skip(index).take(1);
        self.scene_of(hgo, chosen)
    }

    /// Returns all layers, with the skeleton.
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

    /// Returns the notes of every file.
    pub fn notes(&self) -> Vec<String> {
        vec![
            "x is right, y up, z back: the game's z, which is forward, is negated, which makes its left-handed space a right-handed one.".into(),
            "Triangles are counterclockwise seen from their front; the file has them clockwise. All surfaces are seen from both sides.".into(),
            "Lengths are in the game's units.".into(),
        ]
    }
}

/// Returns the file name of a texture, without extension: its number and its format.
pub fn texture_name(hgo: &Hgo, index: usize) -> String {
    let format = hgo.textures.get(index).map_or("", |t| t.format.name());
    format!("{} {format}", padded(index, hgo.textures.len(), 2))
}

/// Returns the name of a layer.
pub fn layer_name(hgo: &Hgo, index: usize) -> String {
    let name = hgo.layers.get(index).and_then(|layer| layer.name.get());
    name.map_or_else(|| format!("layer {index}"), str::to_owned)
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

/// Returns the number of vertices, triangle corners and shape vectors of a layer, which
/// determines the size of its file.
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

/// Returns a vector with z pointing back. In the game, z points forward.
fn flipped([x, y, z]: [f32; 3]) -> [f32; 3] {
    // Subtracted, to avoid negative zero.
    [x, y, 0.0 - z]
}

/// Returns the matrix that acts on [`flipped`] vectors like the file's matrix
/// on the vectors of the file.
fn right_handed(matrix: &Matrix) -> Matrix {
    std::array::from_fn(|element| {
        let (row, column) = (element / 4, element % 4);
        if (row == 2) == (column == 2) {
            matrix[element]
        } else {
            0.0 - matrix[element]
        }
    })
}

/// Adds the joints in the rest pose. A joint and its node have the same number.
fn add_joints(hgo: &Hgo, scene: &mut Scene<'_>) {
    let parents = sound_parents(hgo.joints.len(), |joint| {
        hgo.joints.get(joint)?.parent.get()
    });
    for (index, (joint, parent)) in hgo.joints.iter().zip(parents).enumerate() {
        let mut inverse_bind = right_handed(&joint.inverse_world).map(finite);
        // glTF requires this last row.
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
                .get()
                .map_or_else(|| format!("joint {index}"), str::to_owned),
            parent,
            transform: Transform::from_row_vector_matrix(&right_handed(&joint.local)),
            mesh: None,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hgo::parse;
    use fixtures::front::{LETTER, front_view, letter};
    use fixtures::hgo::Build;
    use hpimount_containers::io::Endian;
    use proptest::prelude::*;

    #[test]
    fn a_letter_is_seen_from_the_front_and_is_not_mirrored() {
        let bytes = Build::new(Endian::Big).sign(&letter(1));
        let hgo = parse(&bytes.into()).unwrap();
        let plan = ExportPlan::new(&hgo);
        let (scene, picture) = (plan.scene(&hgo), plan.picture(&hgo, 0).unwrap());
        let (seen, depth) = front_view(&scene, &picture);
        assert_eq!(seen, LETTER);
        // It is 5 units in front of the origin, where the camera points.
        assert_eq!(depth, -5.0);
    }

    #[test]
    fn blend_shapes_are_converted_like_vertices() {
        let hgo = parse(&Build::new(Endian::Big).mouse().into()).unwrap();
        let scene = ExportPlan::new(&hgo).scene(&hgo);
        let shaped = scene.meshes.iter().find(|mesh| !mesh.shapes.is_empty());
        let deltas = &shaped.unwrap().shapes[0].deltas;
        assert_eq!(deltas, &[[0.25, 0.25, -0.25]; 4]);
    }

    /// Returns a row vector transformed by a matrix of the file.
    fn moved(v: [f32; 3], m: &Matrix) -> [f32; 3] {
        std::array::from_fn(|c| v[0] * m[c] + v[1] * m[4 + c] + v[2] * m[8 + c] + m[12 + c])
    }

    proptest! {
        #[test]
        fn converted_matrices_act_on_flipped_vectors_like_the_originals(
            matrix in proptest::array::uniform16(-4.0_f32..4.0),
            vector in proptest::array::uniform3(-4.0_f32..4.0),
        ) {
            let after = moved(flipped(vector), &right_handed(&matrix));
            let expected = flipped(moved(vector, &matrix));
            for (a, b) in after.iter().zip(expected) {
                prop_assert!((a - b).abs() < 1e-3, "{after:?} {expected:?}");
            }
        }
    }
}
