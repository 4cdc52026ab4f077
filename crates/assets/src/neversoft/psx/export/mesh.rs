//! A model as a mesh.

use std::collections::HashMap;

use super::ExportPlan;
use super::surface::{Surfaces, colors};
use crate::model::math::{add, cross, subtract, unit};
use crate::model::scene::{Corner, Mesh, Part, Weight, Weights};
use crate::neversoft::psx::{Face, Model, Psx, Vertex};

/// The space of the points of a mesh.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Space {
    /// That of the object.
    Object,
    /// That of the level; each point follows the joint of its object.
    Joints,
}

/// The properties that distinguish corners.
#[derive(PartialEq, Eq, Hash)]
struct CornerKey {
    point: u32,
    normal: Option<[i16; 3]>,
    uv: [u32; 2],
    color: [u8; 4],
    /// The face, if it is flat shaded.
    face: usize,
}

/// Builds the mesh of a model for an object.
pub(super) struct Builder<'a> {
    pub(super) psx: &'a Psx,
    pub(super) plan: &'a ExportPlan,
    pub(super) surfaces: &'a mut Surfaces,
    pub(super) space: Space,
}

impl Builder<'_> {
    /// Returns the mesh of a model for an object, or without an object. Faces
    /// with missing corners are omitted.
    pub(super) fn mesh(&mut self, name: String, model: &Model, object: Option<usize>) -> Mesh {
        let mut mesh = Mesh {
            name,
            ..Mesh::default()
        };
        for vertex in &model.vertices {
            let (point, owner) = self.point(vertex, object);
            mesh.points.push(point);
            if self.space == Space::Joints {
                mesh.weights.push(follows(owner.unwrap_or(0)));
            }
        }
        let mut known = HashMap::new();
        let mut parts: HashMap<usize, usize> = HashMap::new();
        let per_vertex = model.normals.len() == model.vertices.len() + model.faces.len();
        for (index, face) in model.faces.iter().enumerate() {
            if !is_sound(model, face) {
                continue;
            }
            let material = self.surfaces.of(self.psx, &self.plan.textures, face);
            let corners = self.corners(model, index, face, per_vertex, &mut mesh, &mut known);
            let part = *parts.entry(material).or_insert_with(|| {
                mesh.parts.push(Part {
                    material,
                    ..Part::default()
                });
                mesh.parts.len() - 1
            });
            let [a, b, c, d] = corners;
            // The file has clockwise triangles.
            mesh.parts[part].triangles.push([a, c, b]);
            if !face.is_triangle() {
                mesh.parts[part].triangles.push([b, c, d]);
            }
        }
        mesh
    }

    /// Returns the position of a vertex and its object. A stitched vertex has
    /// the position of its source.
    fn point(&self, vertex: &Vertex, object: Option<usize>) -> ([f32; 3], Option<usize>) {
        let here = self.plan.origin(self.psx, object);
        let source = vertex
            .stitched_to()
            .and_then(|n| self.plan.stitch_source(self.psx, n));
        let (position, owner) = match source {
            Some((source, owner)) => {
                let there = self.plan.origin(self.psx, owner);
                (add(self.plan.scaled(source.position), there), owner)
            }
            None => (add(self.plan.scaled(vertex.position), here), object),
        };
        match self.space {
            Space::Object => (subtract(position, here), owner),
            Space::Joints => (position, owner),
        }
    }

    fn corners(
        &self,
        model: &Model,
        index: usize,
        face: &Face,
        per_vertex: bool,
        mesh: &mut Mesh,
        known: &mut HashMap<CornerKey, u32>,
    ) -> [u32; 4] {
        let texture = face.texture.filter(|_| face.uv.is_some());
        let texture = texture.and_then(|texture| self.plan.textures.of_face(texture));
        let size = texture.and_then(|texture| self.plan.textures.size(self.psx, texture));
        let colors = colors(self.psx, face, size.is_some());
        let plane = plane(mesh, face);
        let mut corners = [0; 4];
        for (number, corner) in corners.iter_mut().enumerate().take(face.corners()) {
            let point = face.indices[number];
            let normal = if per_vertex { point } else { face.normal };
            let normal = model.normals.get(usize::from(normal)).copied();
            let shaded = normal.and_then(|normal| unit(self.plan.turned(normal)));
            let uv = match (face.uv, size) {
                (Some(uv), Some(size)) => [
                    f32::from(uv[number].u) / f32::from(size.width),
                    f32::from(uv[number].v) / f32::from(size.height),
                ],
                _ => [0.0; 2],
            };
            let key = CornerKey {
                point: point.into(),
                normal: normal.filter(|_| shaded.is_some()),
                uv: uv.map(f32::to_bits),
                color: colors[number],
                face: if shaded.is_some() { 0 } else { index },
            };
            let index = mesh.corners.len() as u32;
            *corner = *known.entry(key).or_insert(index);
            if *corner == index {
                mesh.corners.push(Corner {
                    point: point.into(),
                    normal: shaded.unwrap_or(plane),
                    uv,
                    color: colors[number],
                });
            }
        }
        corners
    }
}

/// Returns the weights of a point that follows one joint.
fn follows(joint: usize) -> Weights {
    let mut weights = Weights::default();
    weights[0] = Weight {
        joint: u16::try_from(joint).unwrap_or(0),
        weight: 1.0,
    };
    weights
}

/// Returns whether all corners of a face exist.
pub(super) fn is_sound(model: &Model, face: &Face) -> bool {
    let mut corners = face.indices.iter().take(face.corners());
    corners.all(|&index| usize::from(index) < model.vertices.len())
}

/// Returns the normal of a face's plane.
fn plane(mesh: &Mesh, face: &Face) -> [f32; 3] {
    let point = |corner: usize| mesh.points[usize::from(face.indices[corner])];
    let (a, b, c) = (point(0), point(1), point(2));
    unit(cross(subtract(c, a), subtract(b, a))).unwrap_or([0.0, 1.0, 0.0])
}
