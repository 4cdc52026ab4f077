//! Geometries of all forms decoded into meshes.

use std::collections::HashMap;

use super::bin_mesh::BinMesh;
use super::geometry::{Geometry, Plain, Vertices};
use super::gx::{Corner, Gx};
use super::mesh::{Mesh, Parts};
use super::opengl::OpenGl;
use super::skin::Influence;

impl Geometry {
    /// Returns the vertices and triangles, or `None` for an unsupported form. The
    /// result takes at most 64 times the memory of the source.
    pub fn mesh(&self) -> Option<Mesh> {
        match &self.vertices {
            Vertices::Plain(plain) => Some(self.plain_mesh(plain)),
            Vertices::GameCube(gx) => Some(self.gx_mesh(gx)),
            Vertices::Xbox(xbox) => Some(self.native_mesh(xbox.mesh(), |mesh, visit| {
                xbox.each_triangle(mesh, visit);
            })),
            Vertices::PlayStation2(ps2) => {
                let unpacked = ps2.unpacked();
                Some(self.native_mesh(unpacked.mesh, |mesh, visit| {
                    let triangles = unpacked.triangles.get(mesh).into_iter().flatten();
                    triangles.copied().for_each(visit);
                }))
            }
            Vertices::OpenGl(opengl) => Some(self.opengl_mesh(opengl)),
            Vertices::None => None,
        }
    }

    /// Returns the vertices and triangles of an OpenGL geometry. Night colors may be
    /// vertex attributes, or in the plugin.
    fn opengl_mesh(&self, opengl: &OpenGl) -> Mesh {
        let mut mesh = opengl.mesh();
        if mesh.night_colors.is_empty() {
            mesh.night_colors = self.night_colors().collect();
        }
        self.native_mesh(mesh, |mesh, visit| {
            let listed = self.meshes.get(mesh).into_iter();
            listed.flat_map(BinMesh::triangles).for_each(visit);
        })
    }

    /// Returns the bones of each vertex of the mesh; empty without a skin.
    pub fn influences(&self) -> Vec<Influence> {
        let Some(skin) = &self.skin else {
            return Vec::new();
        };
        let points: Vec<_> = skin.indices().zip(skin.weights()).collect();
        let Vertices::GameCube(gx) = &self.vertices else {
            return points;
        };
        let mut influences = Vec::new();
        self.each_gx_vertex(gx, |corner| {
            influences.push(match points.is_empty() {
                true => skin.of_matrix(Gx::matrix(corner)),
                false => points.get(Gx::place(corner)).copied().unwrap_or_default(),
            });
        });
        influences
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

    /// Calls `visit` with the drawn triangles and their materials: the triangles of
    /// the meshes, or of the list if the geometry has no meshes.
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
        let triangles = self.each_gx_vertex(gx, |corner| add(&mut mesh, gx, &sets, corner));
        let mut parts = Parts::default();
        for (material, triangle) in triangles {
            if mesh.has_area(triangle) {
                parts.of(material).push(triangle);
            }
        }
        mesh.parts = parts.parts;
        mesh
    }

    /// Calls `visit` with each vertex of display lists once, and returns the
    /// triangles with the numbers of their materials.
    fn each_gx_vertex(&self, gx: &Gx, mut visit: impl FnMut(&Corner)) -> Vec<(u32, [u32; 3])> {
        let (mut known, mut triangles) = (HashMap::new(), Vec::new());
        for list in 0..gx.lists().len() {
            let material = self.meshes.get(list).map_or(0, |mesh| mesh.material);
            gx.each_triangle(list, |corners| {
                let triangle = corners.map(|corner| {
                    let new = known.len() as u32;
                    let number = *known.entry(corner).or_insert(new);
                    if number == new {
                        visit(&corner);
                    }
                    number
                });
                triangles.push((material, triangle));
            });
        }
        triangles
    }

    /// Returns the mesh of a native geometry's vertices. `each_triangle` calls a
    /// function with the triangles of a mesh.
    fn native_mesh(
        &self,
        mut mesh: Mesh,
        each_triangle: impl Fn(usize, &mut dyn FnMut([u32; 3])),
    ) -> Mesh {
        let mut parts = Parts::default();
        for (number, listed) in self.meshes.iter().enumerate() {
            each_triangle(number, &mut |triangle| {
                if mesh.has_area(triangle) {
                    parts.of(listed.material).push(triangle);
                }
            });
        }
        mesh.parts = parts.parts;
        mesh
    }
}

/// Adds a vertex of display lists to a mesh, with these UV sets.
fn add(mesh: &mut Mesh, gx: &Gx, sets: &[u8], corner: &Corner) {
    mesh.positions.push(gx.position(corner));
    if gx.has_normals() {
        mesh.normals.push(gx.normal(corner));
    }
    if gx.has_colors() {
        mesh.colors.push(gx.color(corner));
    }
    if gx.has_matrices() {
        mesh.matrices.push(Gx::matrix(corner));
    }
    for (values, number) in mesh.uvs.iter_mut().zip(sets) {
        values.push(gx.uv(corner, *number));
    }
}
