//! A model as a mesh.

use std::collections::HashMap;

use super::ExportPlan;
use super::surface::Surfaces;
use crate::psx::{Face, Model, Psx, SpriteCorner, Version, Vertex};
use hpimount_assets::model::math::{add, cross, subtract, unit};
use hpimount_assets::model::scene::{Corner, Mesh, Part, Weight, Weights};

/// The size of every texture in the texture coordinate unit of version 6.
const V6_TEXTURE_SIZE: u16 = 512;

/// Widening factor for a sprite whose axis is mostly vertical: PlayStation pixels are
/// not square.
const UPRIGHT_WIDENING: f32 = 1.6;

/// The space of the points of a mesh.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Space {
    /// The space of the object.
    Object,
    /// The space of the level; each point follows the joint of its object.
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
    /// Returns the mesh of a model, optionally for an object. Faces with missing
    /// corners are omitted.
    pub(super) fn mesh(&mut self, name: String, model: &Model, object: Option<usize>) -> Mesh {
        let mut mesh = Mesh {
            name,
            ..Mesh::default()
        };
        for vertex in &model.vertices {
            let (point, owner) = match model.sprite_corner(vertex) {
                Some(corner) => self.sprite_corner(corner, object),
                None => self.point(vertex, object),
            };
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
            let material = self.surfaces.of(self.psx, self.plan, face);
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

    /// Returns the position of a vertex and its object. A stitched vertex has the
    /// position of its source.
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

    /// Returns the position of a sprite's corner as seen from the positive z
    /// axis, and the object of its anchor (FORMATS, PSX 3).
    fn sprite_corner(
        &self,
        corner: SpriteCorner<'_>,
        object: Option<usize>,
    ) -> ([f32; 3], Option<usize>) {
        let (anchor, owner) = self.point(corner.anchor, object);
        let (mate, _) = self.point(corner.mate, object);
        let axis = subtract(mate, anchor);
        let [x, y, z] = axis.map(f32::abs);
        let widening = if y > x.max(z) { UPRIGHT_WIDENING } else { 1.0 };
        let width = widening * f32::from(corner.half_width) / self.plan.vertex_scale;
        let across = unit(cross(axis, [0.0, 0.0, 1.0])).unwrap_or_default();
        (add(anchor, across.map(|part| width * part)), owner)
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
        let colors = self.plan.colors.of(face, size.is_some());
        let plane = plane(mesh, face);
        let mut corners = [0; 4];
        for (number, corner) in corners.iter_mut().enumerate().take(face.corners()) {
            let point = face.indices[number];
            let normal = if per_vertex { point } else { face.normal };
            let normal = model.normals.get(usize::from(normal)).copied();
            let shaded = normal.and_then(|normal| unit(self.plan.turned(normal)));
            let uv = match (face.uv, size) {
                (Some(uv), Some(size)) => {
                    let [width, height] = match self.psx.version {
                        Version::V6 => [V6_TEXTURE_SIZE; 2],
                        _ => [size.width, size.height],
                    };
                    [
                        f32::from(uv[number].u) / f32::from(width),
                        f32::from(uv[number].v) / f32::from(height),
                    ]
                }
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

#[cfg(test)]
mod tests {
    use super::super::Colors;
    use super::*;
    use crate::psx::parse;
    use fixtures::psx::{self as build, File, face, object, shorts, texture, words};

    /// Returns the mesh of a file with one object and this model.
    fn mesh(file: File, model: Vec<u8>) -> Mesh {
        let file = File {
            objects: vec![object(0, [0; 3])],
            models: vec![model],
            ..file
        };
        let psx = parse(&file.bytes().into()).unwrap();
        let plan = ExportPlan::new(&psx, Vec::new());
        plan.scene(&psx, Colors::Corners).meshes.remove(0)
    }

    #[test]
    fn the_corners_of_a_sprite_are_beside_its_axis() {
        let sprite = |end: [i16; 3]| {
            let [x, y, z] = end;
            let vertices = [
                [0, 0, 0, 0],
                [x, y, z, 0],
                [0, 8, 20, 16],
                [0, 8, -20, 16],
                [8, 0, 20, 16],
                [4, 0, 20, 16],
            ];
            let quad = face(0, [2, 3, 4, 5], [9; 4], &[]);
            let model = build::model((0x7FFF, -1), &vertices, &[quad]);
            mesh(File::new(4), model).points.split_off(2)
        };
        // An upright axis, 160 down: 20 is widened to 32.
        let upright = sprite([0, 160, 0]);
        assert_eq!(upright[0], [-32.0, 0.0, 0.0]);
        assert_eq!(upright[1], [32.0, 0.0, 0.0]);
        assert_eq!(upright[2], [32.0, -160.0, 0.0]);
        // An invalid reference leaves the position unchanged.
        assert_eq!(upright[3], [4.0, 0.0, -20.0]);
        assert_eq!(sprite([160, 0, 0])[0], [0.0, -20.0, 0.0]);
        // Seen from its end, an axis has no sides.
        assert_eq!(sprite([0, 0, 160])[0], [0.0, 0.0, 0.0]);
    }

    #[test]
    fn version_6_has_textures_of_512_by_512_whatever_their_size() {
        let uv = shorts(&[0, 128, 512, 0, 512, 0, -64, 0]);
        let triangle = face(0x13, [0, 1, 2, 0], [128; 4], &[words(&[0]), uv].concat());
        let file = |version| File {
            texture_ids: vec![7],
            palettes: vec![0xAA],
            textures: vec![texture([0, 16, 0xAA, 0], [8, 4], &[0; 16])],
            ..File::new(version)
        };
        let corners = [[0, 0, 0, 0], [1, 0, 0, 0], [0, 1, 0, 0]];
        let model = build::model((0x7FFF, -1), &corners, &[triangle]);
        let uv = |version| {
            let corners = mesh(file(version), model.clone()).corners;
            corners.iter().map(|corner| corner.uv).collect::<Vec<_>>()
        };
        assert_eq!(uv(6), [[0.0, 1.0], [0.25, 0.0], [1.0, -0.125]]);
        // The same bytes: 0, 0, 128, 0, 0, 2, for 8 by 4 texels.
        assert_eq!(uv(4), [[0.0, 0.0], [16.0, 0.0], [0.0, 0.5]]);
    }
}
