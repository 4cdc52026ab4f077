//! Geometries as meshes of scenes.

use crate::clump::{Geometry, Mesh, Placement, Vertices};
use hpimount_assets::model::math::{add, cross, finite, subtract, unit};
use hpimount_assets::model::scene::{self, Corner, Part};

/// Returns the reason why a geometry is not shown.
pub fn problem(geometry: &Geometry) -> Option<&'static str> {
    match &geometry.vertices {
        Vertices::Plain(_)
        | Vertices::GameCube(_)
        | Vertices::Xbox(_)
        | Vertices::PlayStation2(_)
        | Vertices::OpenGl(_) => None,
        Vertices::None if geometry.error.is_some() => Some("it cannot be read"),
        Vertices::None => Some("no vertices were found"),
    }
}

/// Returns the numbers of vertices and triangles, or `None` for a hidden geometry.
pub fn sizes(geometry: &Geometry) -> Option<(usize, usize)> {
    match &geometry.vertices {
        Vertices::Plain(plain) => {
            let shape = geometry.morphs.first();
            let vertices = shape.map_or(0, |shape| shape.positions().count());
            Some((vertices, geometry.plain_triangles(plain)))
        }
        Vertices::GameCube(gx) => Some((gx.vertices(), gx.triangles())),
        Vertices::Xbox(xbox) => Some((xbox.vertices(), xbox.triangles())),
        Vertices::PlayStation2(ps2) => Some((ps2.vertices(), ps2.triangles())),
        Vertices::OpenGl(opengl) => Some((opengl.vertices(), geometry.mesh_triangles())),
        Vertices::None => None,
    }
}

/// Returns whether a geometry has normals.
pub fn has_normals(geometry: &Geometry) -> bool {
    match &geometry.vertices {
        Vertices::GameCube(gx) => gx.attributes().iter().any(|one| one.number == GX_NORMAL),
        Vertices::Xbox(xbox) => xbox.has_normals(),
        Vertices::PlayStation2(ps2) => ps2.has_normals(),
        Vertices::OpenGl(opengl) => opengl.has_normals(),
        Vertices::Plain(_) | Vertices::None => {
            let shape = geometry.morphs.first();
            shape.is_some_and(|shape| shape.normals().next().is_some())
        }
    }
}

/// Attribute number of normals in a GameCube geometry.
const GX_NORMAL: u8 = 10;

/// Converts a mesh to a scene mesh, transformed by `placement`. `material` maps entries
/// of the geometry to scene materials.
pub fn scene_mesh(
    mesh: &Mesh,
    placement: &Placement,
    material: impl Fn(u32) -> usize,
) -> scene::Mesh {
    let parts = mesh.parts.iter().map(|part| Part {
        material: material(part.material),
        triangles: part.triangles.clone(),
        ..Part::default()
    });
    let points = mesh.positions.iter();
    let points = points.map(|&point| placement.placed(point).map(finite));
    let of_vertices = |values: &[[f32; 2]]| {
        let vertices = 0..mesh.positions.len();
        let uv = |index: usize| values.get(index).copied().unwrap_or_default();
        vertices.map(|index| uv(index).map(finite)).collect()
    };
    let has_night = mesh.night_colors.len() == mesh.positions.len();
    scene::Mesh {
        points: points.collect(),
        corners: corners(mesh, placement),
        parts: parts.collect(),
        other_uvs: mesh
            .uvs
            .iter()
            .skip(1)
            .map(|set| of_vertices(set))
            .collect(),
        other_colors: match has_night {
            true => mesh.night_colors.clone(),
            false => Vec::new(),
        },
        ..scene::Mesh::default()
    }
}

/// Returns a corner for each vertex.
fn corners(mesh: &Mesh, placement: &Placement) -> Vec<Corner> {
    let normals = flat_normals(mesh);
    let uvs = mesh.uvs.first();
    let corner = |index: usize| {
        let normal = mesh.normals.get(index).or(normals.get(index));
        let normal = normal.and_then(|&normal| unit(placement.turned(normal)));
        Corner {
            point: index as u32,
            normal: normal.unwrap_or([0.0, 1.0, 0.0]),
            uv: uvs
                .and_then(|uvs| uvs.get(index))
                .map_or([0.0; 2], |uv| uv.map(finite)),
            color: mesh.colors.get(index).copied().unwrap_or([255; 4]),
        }
    };
    (0..mesh.positions.len()).map(corner).collect()
}

/// Returns averaged face normals for a mesh without normals; otherwise nothing.
fn flat_normals(mesh: &Mesh) -> Vec<[f32; 3]> {
    if !mesh.normals.is_empty() {
        return Vec::new();
    }
    let mut normals = vec![[0.0; 3]; mesh.positions.len()];
    let triangles = mesh.parts.iter().flat_map(|part| &part.triangles);
    for triangle in triangles {
        let [a, b, c] = triangle.map(|index| mesh.positions[index as usize].map(finite));
        let normal = cross(subtract(b, a), subtract(c, a));
        for &index in triangle {
            let sum = &mut normals[index as usize];
            *sum = add(*sum, normal);
        }
    }
    normals
}
