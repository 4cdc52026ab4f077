//! Meshes: one list of vertices with all attributes, and triangles by material.
//! Exported models are made from these.

use std::collections::HashMap;

/// The vertices and triangles of a geometry.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Mesh {
    /// Positions of the vertices.
    pub positions: Vec<[f32; 3]>,
    /// Their normals; empty if they have none.
    pub normals: Vec<[f32; 3]>,
    /// Their colors; empty if they have none.
    pub colors: Vec<[u8; 4]>,
    /// Night colors; may be empty.
    pub night_colors: Vec<[u8; 4]>,
    /// Texture coordinates, by set; v points down.
    pub uvs: Vec<Vec<[f32; 2]>>,
    /// Matrix numbers, three times the bone numbers; may be empty.
    pub matrices: Vec<u8>,
    /// The triangles, by material.
    pub parts: Vec<Part>,
}

/// The triangles of a material.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Part {
    /// Number of the material entry, see
    /// [`Geometry::material_entries`](super::Geometry::material_entries).
    pub material: u32,
    /// The triangles, counter-clockwise. Degenerate triangles (two corners at the same
    /// position), which only connect strips, are omitted.
    pub triangles: Vec<[u32; 3]>,
}

impl Mesh {
    /// Returns whether all three corners exist and differ.
    pub(super) fn has_area(&self, triangle: [u32; 3]) -> bool {
        let [a, b, c] = triangle.map(|corner| self.positions.get(corner as usize));
        a.is_some() && b.is_some() && c.is_some() && a != b && b != c && a != c
    }

    /// Joins the vertices and triangles of several meshes. Attributes that only some of
    /// them have are filled with neutral values.
    pub fn joined(meshes: impl Iterator<Item = Self>) -> Self {
        let (mut joined, mut parts) = (Self::default(), Parts::default());
        for mesh in meshes {
            let (own, added) = (joined.positions.len(), mesh.positions.len());
            joined.positions.extend(mesh.positions);
            join(&mut joined.normals, own, mesh.normals, added, [0.0; 3]);
            join(&mut joined.colors, own, mesh.colors, added, [u8::MAX; 4]);
            let mut uvs = mesh.uvs;
            let sets = joined.uvs.len().max(uvs.len());
            uvs.resize_with(sets, Vec::new);
            joined.uvs.resize_with(sets, Vec::new);
            for (set, more) in joined.uvs.iter_mut().zip(uvs) {
                join(set, own, more, added, [0.0; 2]);
            }
            for part in mesh.parts {
                let triangles = part.triangles.into_iter();
                let moved = triangles.map(|triangle| triangle.map(|corner| corner + own as u32));
                parts.of(part.material).extend(moved);
            }
        }
        joined.parts = parts.parts;
        joined
    }

    /// Returns the number of triangles.
    pub fn triangles(&self) -> usize {
        self.parts.iter().map(|part| part.triangles.len()).sum()
    }
}

/// Appends the attribute values `added` to `own`. An empty list means that the
/// attribute is missing.
fn join<T: Clone>(values: &mut Vec<T>, own: usize, more: Vec<T>, added: usize, neutral: T) {
    if values.is_empty() && more.is_empty() {
        return;
    }
    values.resize(own, neutral.clone());
    values.extend(more);
    values.resize(own + added, neutral);
}

/// Parts by material, in order of first appearance.
#[derive(Debug, Default)]
pub(super) struct Parts {
    pub(super) parts: Vec<Part>,
    known: HashMap<u32, usize>,
}

impl Parts {
    /// Returns the triangles of a material.
    pub(super) fn of(&mut self, material: u32) -> &mut Vec<[u32; 3]> {
        let next = self.parts.len();
        let index = *self.known.entry(material).or_insert(next);
        if index == next {
            self.parts.push(Part {
                material,
                triangles: Vec::new(),
            });
        }
        &mut self.parts[index].triangles
    }
}
