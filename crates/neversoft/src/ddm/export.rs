//! Models as scenes.
//!
//! As for PSX, y and z are negated. The normals at the corners of a triangle decide
//! which side is its front.

use std::collections::HashMap;

use get_size2::{GetSize, GetSizeTracker};

use super::ddx::Ddx;
use super::parse::{Ddm, Object, Vertex};
use crate::psx::Psx;
use crate::psx::export::turn_of;
use hpimount_assets::model::math::{cross, finite, subtract, unit};
use hpimount_assets::model::scene::{
    Alpha, Corner, Material, MaterialNames, Mesh, Node, Part, Texture, Wrap,
};
use hpimount_assets::model::{MAX_CORNERS, Picture, Scene, Transform, corners_problem, not_shown};
use hpimount_containers::io::Warnings;

/// The textures of models, with their encoded bytes.
#[derive(Debug, Default)]
pub struct Textures(pub Option<Ddx>);

impl GetSize for Textures {
    fn get_heap_size_with_tracker<T: GetSizeTracker>(&self, tracker: T) -> (usize, T) {
        let entries = self.0.iter().flat_map(|ddx| &ddx.entries);
        let bytes: usize = entries.map(|entry| entry.bytes.len()).sum();
        let (size, tracker) = self.0.get_heap_size_with_tracker(tracker);
        (size + bytes, tracker)
    }
}

impl Textures {
    /// Returns the texture with this name, ignoring case.
    fn find(&self, name: &str) -> Option<usize> {
        let mut entries = self.0.as_ref()?.entries.iter();
        entries.position(|entry| entry.name.eq_ignore_ascii_case(name) && entry.shown().is_some())
    }

    /// Returns the visible textures: numbers and names.
    pub fn shown(&self) -> impl Iterator<Item = (usize, &str)> {
        let entries = self.0.iter().flat_map(|ddx| ddx.entries.iter().enumerate());
        let shown = entries.filter(|(_, entry)| entry.shown().is_some());
        shown.map(|(number, entry)| (number, entry.stem()))
    }

    /// Decodes a texture.
    pub fn picture(&self, number: usize) -> Option<Picture> {
        self.0.as_ref()?.entries.get(number)?.shown()?.picture()
    }

    fn may_be_transparent(&self, number: usize) -> bool {
        let entry = self.0.as_ref().and_then(|ddx| ddx.entries.get(number));
        entry
            .and_then(|entry| entry.shown())
            .is_some_and(|dds| dds.may_be_transparent())
    }
}

/// The visible objects, and their placements.
#[derive(Debug, GetSize)]
pub struct ExportPlan {
    /// The textures.
    pub textures: Textures,
    /// Numbers of the objects.
    pub objects: Vec<usize>,
    /// True if there is a scene of all objects.
    pub has_scene: bool,
    /// The maximum number of face corners of a scene.
    pub corners: usize,
    /// The reasons why the rest is not shown.
    pub problems: Warnings,
    /// Positions and angles of objects in the PSX file, by the hash of their model.
    places: HashMap<u32, ([i32; 3], [i16; 3])>,
}

impl ExportPlan {
    /// Determines the visible objects, with their textures and the PSX file of the same
    /// level.
    pub fn new(ddm: &Ddm, textures: Textures, psx: Option<&Psx>) -> Self {
        let mut plan = Self {
            objects: Vec::new(),
            has_scene: false,
            corners: 0,
            problems: Warnings::default(),
            places: psx.map(places).unwrap_or_default(),
            textures,
        };
        let mut corners = 0;
        for (index, object) in shown(ddm) {
            let count = corners_of(object);
            match corners_problem(count) {
                Some(why) => {
                    let what = format_args!("object {index}");
                    plan.problems.push(not_shown(what, why));
                }
                None if count > 0 => {
                    plan.objects.push(index);
                    corners += count;
                }
                None => {}
            }
        }
        let problem = corners_problem(corners);
        plan.has_scene = corners > 0 && problem.is_none();
        plan.corners = corners.min(MAX_CORNERS);
        if let Some(why) = problem {
            plan.problems
                .push(not_shown("the scene of all objects", why));
        }
        plan
    }

    /// Returns the scene of these objects, placed in the level if `is_placed` is set.
    pub fn scene(&self, ddm: &Ddm, objects: &[usize], is_placed: bool) -> Scene<'static> {
        let mut scene = Scene {
            notes: vec![
                "x is right, y up, z back: the file's y and z are negated, as in PSX files. This is not proven.".into(),
                "The front of a triangle is where its normals point.".into(),
            ],
            ..Scene::default()
        };
        let mut names = MaterialNames::default();
        for (index, object) in shown(ddm).filter(|(index, _)| objects.contains(index)) {
            let first = scene.materials.len();
            scene.materials.extend(self.of_object(object, &mut names));
            scene.nodes.push(Node {
                name: name(object, index),
                parent: None,
                transform: self.transform(object, is_placed),
                mesh: Some(scene.meshes.len()),
            });
            scene.meshes.push(mesh(object, name(object, index), first));
        }
        scene
    }

    /// Returns the materials of all objects in a scene.
    pub fn materials(&self, ddm: &Ddm) -> Vec<Material> {
        let mut names = MaterialNames::default();
        let objects = shown(ddm).filter(|(index, _)| self.objects.contains(index));
        objects
            .flat_map(|(_, object)| self.of_object(object, &mut names))
            .collect()
    }

    /// Returns the materials of an object, followed by a plain material for strips
    /// without one.
    fn of_object(&self, object: &Object, names: &mut MaterialNames) -> Vec<Material> {
        let own = object
            .materials
            .iter()
            .map(|material| self.material(material));
        own.chain([Material::plain()])
            .map(|material| Material {
                name: names.unique(&material.name),
                ..material
            })
            .collect()
    }

    fn transform(&self, object: &Object, is_placed: bool) -> Transform {
        match self
            .places
            .get(&object.header.checksum.0)
            .filter(|_| is_placed)
        {
            None => Transform::IDENTITY,
            Some(&([x, y, z], angles)) => {
                let position = [x, y.saturating_neg(), z.saturating_neg()];
                Transform::turned(turn_of(angles), position.map(|part| part as f32 / 4096.0))
            }
        }
    }

    fn material(&self, material: &super::parse::Material) -> Material {
        let texture = self.textures.find(&material.texture.text());
        let is_transparent = texture.is_some_and(|number| self.textures.may_be_transparent(number));
        let file = self
            .textures
            .shown()
            .find(|(number, _)| Some(*number) == texture);
        Material {
            name: material.name.text().replace(char::is_whitespace, "_"),
            color: material.color.map(|part| f32::from(part) / 255.0),
            texture: file.map(|(number, stem)| Texture {
                picture: number,
                file: texture_name(number, stem),
                wrap: [Wrap::Repeat; 2],
                sharp: false,
            }),
            alpha: match (material.blend, is_transparent) {
                (0, false) => Alpha::Opaque,
                (0, true) => Alpha::Mask,
                _ => Alpha::Blend,
            },
            double_sided: false,
            unlit: true,
        }
    }
}

/// Returns the file name of a texture, without extension.
pub fn texture_name(number: usize, stem: &str) -> String {
    format!("{number:02} {stem}")
}

/// Returns the name of an object, or its number.
pub fn name(object: &Object, index: usize) -> String {
    match object.header.name.text() {
        name if name.is_empty() => format!("{index:03}"),
        name => name,
    }
}

/// Returns the undamaged objects with their numbers.
fn shown(ddm: &Ddm) -> impl Iterator<Item = (usize, &Object)> {
    let objects = ddm.objects.iter().enumerate();
    objects.filter_map(|(index, object)| Some((index, object.as_ref().ok()?)))
}

/// Returns the placements in a PSX file, by model hash. The first object with a model
/// counts.
fn places(psx: &Psx) -> HashMap<u32, ([i32; 3], [i16; 3])> {
    let mut places = HashMap::new();
    for (object, model) in psx.objects.iter().zip(psx.shown_models()) {
        if let Some(&hash) = psx.model_names.get(model) {
            places
                .entry(hash)
                .or_insert((object.position, object.angles));
        }
    }
    places
}

/// Returns an upper bound for the corners of an object's triangles.
fn corners_of(object: &Object) -> usize {
    let counts = object.splits.iter().map(|split| usize::from(split.count));
    3 * counts.map(|count| count.saturating_sub(2)).sum::<usize>()
}

fn mesh(object: &Object, name: String, first_material: usize) -> Mesh {
    let turned = |[x, y, z]: [f32; 3]| [finite(x), -finite(y), -finite(z)];
    let vertices: Vec<Vertex> = object.vertices().collect();
    let points: Vec<_> = vertices
        .iter()
        .map(|vertex| turned(vertex.position))
        .collect();
    let normals: Vec<_> = vertices
        .iter()
        .map(|vertex| unit(turned(vertex.normal)))
        .collect();
    let corners = vertices.iter().zip(&normals).zip(0..);
    let corners = corners.map(|((vertex, normal), point)| Corner {
        point,
        normal: normal.unwrap_or([0.0, 1.0, 0.0]),
        uv: vertex.uv.map(finite),
        color: vertex.color,
    });
    let mut parts = Vec::new();
    for split in &object.splits {
        let material = usize::from(split.material).min(object.materials.len());
        let (triangles, _) = object.triangles(split);
        let triangles = triangles.into_iter().map(|corners| {
            let [a, b, c] = corners.map(usize::from);
            let plane = cross(
                subtract(points[b], points[a]),
                subtract(points[c], points[a]),
            );
            let facing = [a, b, c].map(|corner| {
                let normal = normals[corner].unwrap_or_default();
                (0..3).map(|axis| normal[axis] * plane[axis]).sum::<f32>()
            });
            let is_back = facing.iter().sum::<f32>() < 0.0;
            let [a, b, c] = corners.map(u32::from);
            if is_back { [a, c, b] } else { [a, b, c] }
        });
        parts.push(Part {
            material: first_material + material,
            triangles: triangles.collect(),
            ..Part::default()
        });
    }
    Mesh {
        name,
        corners: corners.collect(),
        points,
        parts,
        ..Mesh::default()
    }
}

#[cfg(test)]
mod tests {
    use super::super::ddx::{self, tests::list};
    use super::super::parse::{parse, tests::square};
    use super::*;
    use fixtures::psx::{File, model, object};

    #[test]
    fn an_object_is_where_the_psx_file_has_its_model() {
        let file = File {
            objects: vec![object(0, [5, -6, 7])],
            models: vec![model((0x7FFF, -1), &[], &[])],
            ..File::new(6)
        };
        let psx = crate::psx::parse(&file.bytes().into()).unwrap();
        let ddm = parse(&square().into()).unwrap();
        let plan = ExportPlan::new(&ddm, Textures::default(), Some(&psx));
        assert!(plan.has_scene);
        let translation = |is_placed| {
            let scene = plan.scene(&ddm, &[0], is_placed);
            scene.nodes[0].transform.translation
        };
        assert_eq!(translation(true), [5.0, 6.0, -7.0]);
        assert_eq!(translation(false), [0.0; 3]);
    }

    #[test]
    fn triangles_face_where_their_normals_point() {
        let ddm = parse(&square().into()).unwrap();
        let textures = Textures(ddx::parse(&list(&["wall.dds", "FLOOR.DDS"]).into()).ok());
        let plan = ExportPlan::new(&ddm, textures, None);
        let scene = plan.scene(&ddm, &plan.objects, true);
        let mesh = &scene.meshes[0];
        for &[a, b, c] in &mesh.parts[0].triangles {
            let [a, b, c] = [a, b, c].map(|corner| mesh.points[corner as usize]);
            assert!(cross(subtract(b, a), subtract(c, a))[1] > 0.0);
        }
        let texture = scene.materials[0].texture.as_ref().unwrap();
        assert_eq!((texture.picture, texture.file.as_str()), (1, "01 FLOOR"));
        assert_eq!(scene.materials[0].alpha, Alpha::Mask);
    }
}
