//! Meshes.

use std::collections::BTreeMap;

use gltf_json::mesh::{Mode, MorphTarget, Primitive, Semantic};
use gltf_json::validation::Checked::Valid;
use gltf_json::{Accessor, Index};
use serde_json::json;

use super::Writer;
use crate::model::Scene;
use crate::model::math::linear;
use crate::model::scene::{Joined, Mesh, Outline, Weights};

impl Writer<'_> {
    /// Adds the meshes; `None` for a mesh without triangles, which glTF forbids.
    pub(super) fn meshes(&mut self, scene: &Scene<'_>) -> Vec<Option<Index<gltf_json::Mesh>>> {
        let light: Vec<u16> = (0..=255_u8)
            .map(|part| (linear(f32::from(part) / 255.0) * 65535.0).round() as u16)
            .collect();
        let meshes = scene.meshes.iter();
        meshes.map(|mesh| self.mesh(scene, mesh, &light)).collect()
    }

    fn mesh(
        &mut self,
        scene: &Scene<'_>,
        mesh: &Mesh,
        light: &[u16],
    ) -> Option<Index<gltf_json::Mesh>> {
        let attributes = (mesh.triangles() > 0).then(|| self.attributes(scene, mesh, light))?;
        let targets = self.targets(mesh);
        let parts = mesh.parts.iter().filter(|part| !part.triangles.is_empty());
        let primitives = parts
            .map(|part| Primitive {
                attributes: attributes.clone(),
                indices: Some(self.buffer.triangles(&mut self.root, &part.triangles)),
                material: Some(Index::new(part.material as u32)),
                mode: Default::default(),
                targets: (!targets.is_empty()).then(|| targets.clone()),
                extensions: None,
                extras: None,
            })
            .collect();
        // Blender and other programs read the names of blend shapes from here.
        let names: Vec<&str> = mesh.shapes.iter().map(|s| s.name.as_str()).collect();
        let extras = (!names.is_empty()).then(|| json!({ "targetNames": names }));
        Some(self.root.push(gltf_json::Mesh {
            name: Some(mesh.name.clone()),
            primitives,
            weights: (!names.is_empty()).then(|| vec![0.0; names.len()]),
            extensions: None,
            extras: extras.and_then(|extras| serde_json::value::to_raw_value(&extras).ok()),
        }))
    }

    /// Adds the mesh of an outline, without a material.
    pub(super) fn line(&mut self, outline: &Outline) -> Index<gltf_json::Mesh> {
        let positions = self.buffer.positions(&mut self.root, &outline.points);
        self.root.push(gltf_json::Mesh {
            name: Some(outline.name.clone()),
            primitives: vec![Primitive {
                attributes: [(Valid(Semantic::Positions), positions)].into(),
                indices: None,
                material: None,
                mode: Valid(match outline.joined {
                    Joined::Closed => Mode::LineLoop,
                    Joined::Pairs => Mode::Lines,
                }),
                targets: None,
                extensions: None,
                extras: None,
            }],
            weights: None,
            extensions: None,
            extras: None,
        })
    }

    fn attributes(
        &mut self,
        scene: &Scene<'_>,
        mesh: &Mesh,
        light: &[u16],
    ) -> BTreeMap<gltf_json::validation::Checked<Semantic>, Index<Accessor>> {
        let (root, buffer) = (&mut self.root, &mut self.buffer);
        let positions = spread(mesh, &mesh.points);
        let mut attributes = BTreeMap::new();
        attributes.insert(
            Valid(Semantic::Positions),
            buffer.positions(root, &positions),
        );
        drop(positions);
        let corners = mesh.corners.iter();
        let normals: Vec<_> = corners.clone().map(|corner| corner.normal).collect();
        attributes.insert(
            Valid(Semantic::Normals),
            buffer.vertex_vectors(root, &normals),
        );
        drop(normals);
        let textured = |part: &crate::model::scene::Part| {
            let material = scene.materials.get(part.material);
            material.is_some_and(|material| material.texture.is_some())
        };
        // Texture coordinates are kept for a texture that the user adds.
        let has_uvs = corners.clone().any(|corner| corner.uv != [0.0; 2]);
        if has_uvs || !mesh.other_uvs.is_empty() || mesh.parts.iter().any(textured) {
            let uvs: Vec<_> = corners.clone().map(|corner| corner.uv).collect();
            let uvs = buffer.vertex_vectors(root, &uvs);
            attributes.insert(Valid(Semantic::TexCoords(0)), uvs);
        }
        for (number, uvs) in (1..).zip(&mesh.other_uvs) {
            let uvs = buffer.vertex_vectors(root, uvs);
            attributes.insert(Valid(Semantic::TexCoords(number)), uvs);
        }
        let mut colors = |number, colors: Vec<[u8; 4]>| {
            let light = |part: u8| light.get(usize::from(part)).copied().unwrap_or(u16::MAX);
            let colors = colors.into_iter();
            let colors: Vec<_> = colors
                .map(|[r, g, b, alpha]| [light(r), light(g), light(b), u16::from(alpha) * 257])
                .collect();
            let colors = buffer.vertex_shorts(root, &colors, true);
            attributes.insert(Valid(Semantic::Colors(number)), colors);
        };
        // Second colors need first ones.
        let has_others = !mesh.other_colors.is_empty();
        if has_others || corners.clone().any(|corner| corner.color != [255; 4]) {
            colors(0, corners.map(|corner| corner.color).collect());
        }
        if has_others {
            colors(1, mesh.other_colors.clone());
        }
        if !mesh.weights.is_empty() {
            let weights: Vec<Weights> = spread(mesh, &mesh.weights);
            let joints: Vec<_> = weights.iter().map(|w| w.map(|w| w.joint)).collect();
            let weights: Vec<_> = weights.iter().map(|w| w.map(|w| w.weight)).collect();
            let joints = buffer.vertex_shorts(root, &joints, false);
            attributes.insert(Valid(Semantic::Joints(0)), joints);
            let weights = buffer.vertex_vectors(root, &weights);
            attributes.insert(Valid(Semantic::Weights(0)), weights);
        }
        attributes
    }

    fn targets(&mut self, mesh: &Mesh) -> Vec<MorphTarget> {
        let shapes = mesh.shapes.iter();
        shapes
            .map(|shape| {
                let deltas = spread(mesh, &shape.deltas);
                MorphTarget {
                    positions: Some(self.buffer.positions(&mut self.root, &deltas)),
                    normals: None,
                    tangents: None,
                }
            })
            .collect()
    }
}

/// Returns the maximum size in a file of a mesh without joints and blend shapes, in
/// bytes.
pub fn bytes_of(mesh: &Mesh) -> usize {
    const POSITION_AND_NORMAL: usize = 24;
    const UV: usize = 8;
    const COLOR: usize = 8;
    let of_corner = POSITION_AND_NORMAL + UV * (1 + mesh.other_uvs.len()) + 2 * COLOR;
    mesh.corners.len() * of_corner + mesh.triangles() * size_of::<[u32; 3]>()
}

/// Returns the values of each corner's point.
fn spread<T: Copy + Default>(mesh: &Mesh, of_points: &[T]) -> Vec<T> {
    let of_corner = |point: u32| of_points.get(point as usize).copied().unwrap_or_default();
    let corners = mesh.corners.iter();
    corners.map(|corner| of_corner(corner.point)).collect()
}
