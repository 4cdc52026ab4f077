//! Collision models as scenes: one node each for the mesh, the shadow and every sphere
//! and box, and one color per material.

use std::collections::BTreeMap;

use super::{BoxShape, Col, Face, Mesh as Stored, Model, Sphere};
use crate::axes;
use hpimount_assets::model::math::{add, cross, finite, subtract, unit};
use hpimount_assets::model::scene::{Alpha, Corner, Material, Mesh, Node, Part};
use hpimount_assets::model::{MAX_CORNERS, Scene, Transform, padded};
use hpimount_assets::view::{AssetContext, AssetKey};

/// Corners of the triangles of a written sphere and a box.
const SPHERE_CORNERS: usize = 3 * 128;
const BOX_CORNERS: usize = 3 * 12;

/// Number of subdivisions of an octahedron for a sphere.
const DIVISIONS: usize = 2;

/// Returns the number of triangle corners of a model's scene, counted once per use.
pub fn corners(model: &Model) -> usize {
    let shapes = &model.shapes;
    let faces = shapes.mesh.faces().count() + shapes.shadow.faces().count();
    faces * 3 + shapes.spheres.len() * SPHERE_CORNERS + shapes.boxes.len() * BOX_CORNERS
}

/// Returns the reason why a model with shapes is not written.
pub fn problem(model: &Model) -> Option<String> {
    let corners = corners(model);
    (corners > MAX_CORNERS).then(|| {
        format!("its shapes have {corners} corners, more than the {MAX_CORNERS} that are written")
    })
}

/// Returns the scene of a model. `surfaces` are the names of the materials.
pub fn scene(model: &Model, surfaces: &[String]) -> Scene<'static> {
    let shapes = &model.shapes;
    let mut builder = Builder {
        surfaces,
        scene: Scene {
            notes: vec![
                axes::FACING.to_owned(),
                "Each material of the surfaces has a color of its own.".to_owned(),
            ],
            ..Scene::default()
        },
        materials: BTreeMap::new(),
        solids: BTreeMap::new(),
    };
    builder.scene.nodes.push(Node {
        name: if model.name.is_empty() {
            "collision".to_owned()
        } else {
            model.name.clone()
        },
        parent: None,
        transform: axes::facing(),
        mesh: None,
    });
    builder.mesh("mesh", &shapes.mesh);
    builder.mesh("shadow", &shapes.shadow);
    for (index, sphere) in shapes.spheres.iter().enumerate() {
        builder.sphere(index, sphere);
    }
    for (index, shape) in shapes.boxes.iter().enumerate() {
        builder.cuboid(index, shape);
    }
    builder.scene
}

/// A solid that several nodes share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Solid {
    Sphere,
    Box,
}

struct Builder<'a> {
    surfaces: &'a [String],
    scene: Scene<'static>,
    /// Indices of the scene's materials, by number.
    materials: BTreeMap<u8, usize>,
    /// Indices of the meshes of solids, by material number.
    solids: BTreeMap<(Solid, u8), usize>,
}

impl Builder<'_> {
    fn material(&mut self, number: u8) -> usize {
        let next = self.scene.materials.len();
        let index = *self.materials.entry(number).or_insert(next);
        if index == next {
            let name = match self.surfaces.get(usize::from(number)) {
                Some(name) => format!("surface {number} {name}"),
                None => format!("surface {number}"),
            };
            self.scene.materials.push(Material {
                name,
                color: color(number),
                texture: None,
                alpha: Alpha::Opaque,
                double_sided: true,
                unlit: false,
            });
        }
        index
    }

    fn node(&mut self, name: String, transform: Transform, mesh: usize) {
        self.scene.nodes.push(Node {
            name,
            parent: Some(0),
            transform,
            mesh: Some(mesh),
        });
    }

    /// Adds a mesh, without faces of missing vertices. Faces do not share corners, so
    /// that shading is flat.
    fn mesh(&mut self, name: &str, stored: &Stored) {
        let points: Vec<_> = stored.vertices().map(|point| point.map(finite)).collect();
        let exists = |face: &Face| {
            face.corners
                .iter()
                .all(|&one| (one as usize) < points.len())
        };
        let mut parts: BTreeMap<u8, Vec<[u32; 3]>> = BTreeMap::new();
        let mut corners = Vec::new();
        for face in stored.faces().filter(exists) {
            let first = corners.len() as u32;
            let ends = face.corners.map(|corner| points[corner as usize]);
            let normal = cross(subtract(ends[1], ends[0]), subtract(ends[2], ends[0]));
            // Degenerate faces have no normal.
            let normal = unit(normal).unwrap_or([0.0, 0.0, 1.0]);
            corners.extend(face.corners.map(|point| corner(point, normal)));
            let part = parts.entry(face.surface.material).or_default();
            part.push([first, first + 1, first + 2]);
        }
        if corners.is_empty() {
            return;
        }
        let parts = parts.into_iter().map(|(number, triangles)| Part {
            material: self.material(number),
            triangles,
            ..Part::default()
        });
        let parts = parts.collect();
        let index = self.scene.meshes.len();
        self.scene.meshes.push(Mesh {
            name: name.to_owned(),
            points,
            corners,
            parts,
            ..Mesh::default()
        });
        self.node(name.to_owned(), Transform::IDENTITY, index);
    }

    fn sphere(&mut self, index: usize, sphere: &Sphere) {
        let transform = Transform {
            scale: [finite(sphere.radius).abs(); 3],
            ..Transform::at(sphere.center.map(finite))
        };
        let mesh = self.solid(Solid::Sphere, sphere.surface.material);
        self.node(format!("sphere_{index}"), transform, mesh);
    }

    fn cuboid(&mut self, index: usize, shape: &BoxShape) {
        let (min, max) = (shape.min.map(finite), shape.max.map(finite));
        let half = |axis: usize| (max[axis] - min[axis]) / 2.0;
        let transform = Transform {
            scale: std::array::from_fn(|axis| half(axis).abs()),
            ..Transform::at(std::array::from_fn(|axis| min[axis] + half(axis)))
        };
        let mesh = self.solid(Solid::Box, shape.surface.material);
        self.node(format!("box_{index}"), transform, mesh);
    }

    /// Returns the index of the mesh of a solid of size 1.
    fn solid(&mut self, solid: Solid, number: u8) -> usize {
        if let Some(&mesh) = self.solids.get(&(solid, number)) {
            return mesh;
        }
        let mut mesh = match solid {
            Solid::Sphere => sphere(),
            Solid::Box => cuboid(),
        };
        mesh.parts[0].material = self.material(number);
        let index = self.scene.meshes.len();
        self.scene.meshes.push(mesh);
        self.solids.insert((solid, number), index);
        index
    }
}

fn corner(point: u32, normal: [f32; 3]) -> Corner {
    Corner {
        point,
        normal,
        uv: [0.0; 2],
        color: [255; 4],
    }
}

/// Returns the color of a material. The hue depends on the number; neighboring numbers
/// have different hues.
fn color(number: u8) -> [f32; 4] {
    let turn = (f32::from(number) * 0.618_034).fract() * 6.0;
    let channel = |shift: f32| {
        let distance = ((turn + shift) % 6.0 - 3.0).abs() - 1.0;
        0.25 + 0.65 * distance.clamp(0.0, 1.0)
    };
    [channel(0.0), channel(4.0), channel(2.0), 1.0]
}

/// Returns a sphere of radius 1 around the origin.
fn sphere() -> Mesh {
    let mut triangles: Vec<[[f32; 3]; 3]> = Vec::new();
    for signs in 0..8 {
        let sign = |bit: usize| if signs >> bit & 1 == 0 { 1.0 } else { -1.0 };
        let (x, y, z) = (
            [sign(0), 0.0, 0.0],
            [0.0, sign(1), 0.0],
            [0.0, 0.0, sign(2)],
        );
        let is_mirrored = sign(0) * sign(1) * sign(2) < 0.0;
        triangles.push(if is_mirrored { [x, z, y] } else { [x, y, z] });
    }
    for _ in 0..DIVISIONS {
        let divided = triangles.iter().flat_map(|&[a, b, c]| {
            let middle = |one, other| unit(add(one, other)).unwrap_or(one);
            let (ab, bc, ca) = (middle(a, b), middle(b, c), middle(c, a));
            [[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]
        });
        triangles = divided.collect();
    }
    let points: Vec<_> = triangles.as_flattened().to_vec();
    let normals = points.clone();
    solid("sphere", points, normals)
}

/// Returns a box from -1 to 1.
fn cuboid() -> Mesh {
    let (mut points, mut normals) = (Vec::new(), Vec::new());
    for side in 0..6 {
        let (axis, sign) = (side / 2, if side % 2 == 0 { 1.0 } else { -1.0 });
        let vector = |axis: usize, length: f32| {
            let mut vector = [0.0; 3];
            vector[axis % 3] = length;
            vector
        };
        let (normal, u, v) = (
            vector(axis, sign),
            vector(axis + 1, sign),
            vector(axis + 2, 1.0),
        );
        let at = |a: f32, b: f32| add(normal, add(u.map(|x| x * a), v.map(|x| x * b)));
        for (a, b) in [
            (-1., -1.),
            (1., -1.),
            (1., 1.),
            (-1., -1.),
            (1., 1.),
            (-1., 1.),
        ] {
            points.push(at(a, b));
            normals.push(normal);
        }
    }
    solid("box", points, normals)
}

/// Returns a mesh of triangles with these corners.
fn solid(name: &str, points: Vec<[f32; 3]>, normals: Vec<[f32; 3]>) -> Mesh {
    let count = points.len() as u32;
    let corners = normals
        .iter()
        .zip(0..)
        .map(|(&normal, at)| corner(at, normal));
    Mesh {
        name: name.to_owned(),
        corners: corners.collect(),
        parts: vec![Part {
            material: 0,
            triangles: (0..count / 3)
                .map(|i| [3 * i, 3 * i + 1, 3 * i + 2])
                .collect(),
            ..Part::default()
        }],
        points,
        ..Mesh::default()
    }
}

/// Returns the name of a model's GLB file.
pub(super) fn glb_name(col: &Col, index: usize) -> String {
    let number = padded(index, col.models.len(), 2);
    let name = format!("{number} {}", col.models[index].name);
    format!("{}.glb", name.trim_end())
}

/// The file of the game with the names of surface materials.
const SURFACES: &str = "data/surfinfo.dat";

/// Returns the names of surface materials from the game's files: the first word of each
/// line.
pub(super) fn surfaces(context: &dyn AssetContext) -> Vec<String> {
    let file = context.find(AssetKey::Path(SURFACES));
    let Some(bytes) = file.and_then(|file| context.read(file)) else {
        return Vec::new();
    };
    let text = hpimount_containers::text::windows_1252(&bytes);
    let lines = text.lines().map(str::trim);
    let rows = lines.filter(|line| !line.is_empty() && !line.starts_with(['#', ';']));
    let names = rows.filter_map(|line| line.split_whitespace().next());
    names.take(256).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::col::parse;
    use fixtures::col as build;

    /// Returns the smallest outward component of a corner's normal, according to the
    /// triangle's winding.
    fn outwards(mesh: &Mesh) -> f32 {
        let triangles = mesh.parts[0].triangles.iter().map(|corners| {
            let [a, b, c] = corners.map(|at| mesh.points[at as usize]);
            let normal = unit(cross(subtract(b, a), subtract(c, a))).unwrap();
            normal.iter().zip(a).map(|(n, p)| n * p).sum::<f32>()
        });
        triangles.fold(f32::MAX, f32::min)
    }

    #[test]
    fn solids_are_seen_from_outside() {
        for (mesh, corners) in [(sphere(), SPHERE_CORNERS), (cuboid(), BOX_CORNERS)] {
            assert_eq!(mesh.corners.len(), corners);
            assert!(outwards(&mesh) > 0.5, "{}", mesh.name);
        }
    }

    #[test]
    fn each_shape_is_a_node_and_each_material_has_a_name() {
        let col = parse(&build::model(3, "crate").into()).unwrap();
        assert!(corners(&col.models[0]) > 0 && problem(&col.models[0]).is_none());
        let names: Vec<_> = (0..6).map(|number| format!("N{number}")).collect();
        let scene = scene(&col.models[0], &names);
        let nodes: Vec<_> = scene.nodes.iter().map(|node| node.name.as_str()).collect();
        assert_eq!(nodes, ["crate", "mesh", "sphere_0", "box_0"]);
        let materials = scene
            .materials
            .iter()
            .map(|material| material.name.as_str());
        let materials: Vec<_> = materials.collect();
        assert_eq!(materials, ["surface 5 N5", "surface 9", "surface 4 N4"]);
        let top = scene.point(2, [0.0, 0.0, 1.0]);
        assert!(
            top.iter()
                .zip([-1.0, 3.5, 2.0])
                .all(|(a, b)| (a - b).abs() < 1e-5)
        );
    }
}
