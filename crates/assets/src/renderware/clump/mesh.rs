//! A geometry as one list of vertices with all attributes, and triangles by
//! material: the source of exported models.

use std::collections::HashMap;

use super::geometry::{Geometry, Plain, Vertices};
use super::gx::{Corner, Gx};

/// The vertices and triangles of a geometry.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Mesh {
    /// Positions of the vertices.
    pub positions: Vec<[f32; 3]>,
    /// Their normals; empty if they have none.
    pub normals: Vec<[f32; 3]>,
    /// Their colors; empty if they have none.
    pub colors: Vec<[u8; 4]>,
    /// Their colors at night; empty if they have none.
    pub night_colors: Vec<[u8; 4]>,
    /// Their texture coordinates, by set; v goes downwards.
    pub uvs: Vec<Vec<[f32; 2]>>,
    /// Numbers of their matrices, three times that of a bone; empty if they
    /// have none.
    pub matrices: Vec<u8>,
    /// The triangles, by material.
    pub parts: Vec<Part>,
}

/// The triangles of a material.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Part {
    /// Number of the entry of the material, see
    /// [`Geometry::material_entries`].
    pub material: u32,
    /// The triangles, counter-clockwise, without degenerate ones (two corners
    /// at the same position), which only connect strips.
    pub triangles: Vec<[u32; 3]>,
}

impl Geometry {
    /// Returns the vertices and triangles; `None` for an unsupported form. They
    /// take at most 64 times the bytes of their source.
    pub fn mesh(&self) -> Option<Mesh> {
        match &self.vertices {
            Vertices::Plain(plain) => Some(self.plain_mesh(plain)),
            Vertices::GameCube(gx) => Some(self.gx_mesh(gx)),
            Vertices::None | Vertices::Xbox(_) | Vertices::PlayStation2(_) => None,
        }
    }

    fn plain_mesh(&self, plain: &Plain) -> Mesh {
        let shape = self.morphs.first().cloned().unwrap_or_default();
        let mut mesh = Mesh {
            positions: shape.positions().collect(),
            normals: shape.normals().collect(),
            colors: plain.colors().collect(),
            night_colors: self.night_colors().collect(),
            uvs: (0..self.uv_sets)
                .map(|set| plain.uvs(set).collect())
                .collect(),
            ..Mesh::default()
        };
        let mut parts = Parts::default();
        self.each_triangle(plain, |triangle, material| {
            if mesh.has_area(triangle) {
                parts.of(material).push(triangle);
            }
        });
        mesh.parts = parts.parts;
        mesh
    }

    /// Calls `visit` with the drawn triangles and their materials: those of the
    /// meshes, or of the list if there are none.
    fn each_triangle(&self, plain: &Plain, mut visit: impl FnMut([u32; 3], u32)) {
        if self.meshes.is_empty() {
            let listed = plain.triangles();
            listed.for_each(|(corners, material)| visit(corners.map(u32::from), material.into()));
        }
        for mesh in &self.meshes {
            mesh.triangles()
                .for_each(|triangle| visit(triangle, mesh.material));
        }
    }

    fn gx_mesh(&self, gx: &Gx) -> Mesh {
        let sets = gx.uv_sets();
        let mut mesh = Mesh {
            uvs: vec![Vec::new(); sets.len()],
            ..Mesh::default()
        };
        let mut parts = Parts::default();
        let mut known = HashMap::new();
        for list in 0..gx.lists().len() {
            let material = self.meshes.get(list).map_or(0, |mesh| mesh.material);
            gx.each_triangle(list, |corners| {
                let triangle = corners.map(|corner| {
                    let new = mesh.positions.len() as u32;
                    let number = *known.entry(corner).or_insert(new);
                    if number == new {
                        mesh.add(gx, &sets, &corner);
                    }
                    number
                });
                if mesh.has_area(triangle) {
                    parts.of(material).push(triangle);
                }
            });
        }
        mesh.parts = parts.parts;
        mesh
    }
}

impl Mesh {
    /// Adds a vertex.
    fn add(&mut self, gx: &Gx, sets: &[u8], corner: &Corner) {
        self.positions.push(gx.position(corner));
        if gx.has_normals() {
            self.normals.push(gx.normal(corner));
        }
        if gx.has_colors() {
            self.colors.push(gx.color(corner));
        }
        if gx.has_matrices() {
            self.matrices.push(Gx::matrix(corner));
        }
        for (values, number) in self.uvs.iter_mut().zip(sets) {
            values.push(gx.uv(corner, *number));
        }
    }

    /// Returns whether all three corners exist and differ.
    fn has_area(&self, triangle: [u32; 3]) -> bool {
        let [a, b, c] = triangle.map(|corner| self.positions.get(corner as usize));
        a.is_some() && b.is_some() && c.is_some() && a != b && b != c && a != c
    }

    /// Returns the number of triangles.
    pub fn triangles(&self) -> usize {
        self.parts.iter().map(|part| part.triangles.len()).sum()
    }
}

/// Parts by material, in order of first appearance.
#[derive(Debug, Default)]
struct Parts {
    parts: Vec<Part>,
    known: HashMap<u32, usize>,
}

impl Parts {
    fn of(&mut self, material: u32) -> &mut Vec<[u32; 3]> {
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
