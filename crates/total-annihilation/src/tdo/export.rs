//! 3DO models as scenes.
//!
//! A 3DO is left-handed with clockwise front faces (FORMATS, TA 4): z is negated and
//! the order of corners is reversed, so that the front is +z. The first corner stays
//! first, because polygons are triangulated as fans around it: quads that are not flat
//! are bent along the same diagonal as in the game.

use std::collections::BTreeMap;

use crate::pal::Palette;
use crate::tdo::{Model, ONE, Object, Primitive, Surface};
use hpimount_assets::model::math::{add, cross, subtract, unit};
use hpimount_assets::model::scene::{
    Alpha, Corner, Joined, Material, Mesh, Node, Outline, Part, Stroke, Texture as SceneTexture,
    Wrap,
};
use hpimount_assets::model::{Scene, Transform};

/// Gray level of faces with a missing texture.
const PLACEHOLDER: f32 = 0.6;

/// A texture of a model.
#[derive(Debug, Clone)]
pub struct Texture {
    /// File name of its picture, without extension.
    pub file: String,
    /// Kind of transparency; `None` without a picture.
    pub alpha: Option<Alpha>,
}

/// Returns the names of the drawn textures in order of first use, each with its number
/// of primitives. Names that differ only in case are the same texture.
pub fn drawn_textures(model: &Model) -> Vec<(String, usize)> {
    let mut numbers = BTreeMap::new();
    let mut names: Vec<(String, usize)> = Vec::new();
    for object in &model.objects {
        for (_, primitive) in drawn(object) {
            let Some(name) = &primitive.texture else {
                continue;
            };
            let number = *numbers.entry(folded(&name.text())).or_insert(names.len());
            if number == names.len() {
                names.push((name.to_string(), 0));
            }
            names[number].1 += 1;
        }
    }
    names
}

/// Returns the number of corners of all drawn primitives, and of ground plates.
pub fn corners(model: &Model) -> usize {
    let objects = model.objects.iter();
    let primitives = objects.clone().flat_map(drawn);
    let drawn: usize = primitives.map(|(_, one)| one.indices.len()).sum();
    let plates = objects.filter_map(ground_plate);
    drawn + plates.map(|plate| plate.indices.len()).sum::<usize>()
}

/// Returns the drawn primitives of an object: those with a surface, except for the
/// ground plate and primitives with missing vertices.
pub(super) fn drawn(object: &Object) -> impl Iterator<Item = (usize, &Primitive)> {
    let plate = object.ground_plate();
    let primitives = object.primitives.iter().enumerate();
    primitives.filter(move |&(number, primitive)| {
        let is_drawn = primitive.surface() != Surface::Invisible && Some(number) != plate;
        is_drawn && is_sound(object, primitive)
    })
}

/// Returns whether all vertices of a primitive exist.
fn is_sound(object: &Object, primitive: &Primitive) -> bool {
    let count = object.vertices.len();
    primitive.indices.iter().all(|&i| usize::from(i) < count)
}

/// Returns the ground plate of an object.
fn ground_plate(object: &Object) -> Option<&Primitive> {
    object.primitives.get(object.ground_plate()?)
}

fn folded(name: &str) -> String {
    name.to_ascii_lowercase()
}

/// Returns the scene of a model: one node per object, in object order, and an outline
/// for each ground plate. `name` returns the name of an object's node. `textures`
/// belong to [`drawn_textures`]; the index of a texture is the number of its picture.
pub fn scene(
    model: &Model,
    textures: &[Texture],
    palette: &Palette,
    name: &dyn Fn(&Object) -> String,
) -> Scene<'static> {
    let mut builder = Builder {
        textures,
        palette,
        names: drawn_textures(model),
        materials: Vec::new(),
        of_texture: BTreeMap::new(),
        of_color: BTreeMap::new(),
    };
    let mut scene = Scene {
        notes: vec![
            "1 unit is one pixel of a map; y is up, the front is +z, the left of the unit is +x."
                .to_owned(),
        ],
        ..Scene::default()
    };
    for (index, object) in model.objects.iter().enumerate() {
        let name = name(object);
        scene.meshes.push(builder.mesh(name.clone(), object));
        scene.nodes.push(Node {
            name,
            parent: object.parent,
            transform: Transform::at(point(object.position)),
            mesh: Some(index),
        });
    }
    for (index, object) in model.objects.iter().enumerate() {
        let plate = ground_plate(object);
        let is_line = |plate: &&Primitive| plate.indices.len() > 1 && is_sound(object, plate);
        if let Some(plate) = plate.filter(is_line) {
            let corners = plate.indices.iter();
            let corners = corners.map(|&corner| object.vertices[usize::from(corner)]);
            scene.outlines.push(Outline {
                name: "ground plate".to_owned(),
                parent: index,
                points: corners.map(point).collect(),
                joined: Joined::Closed,
                is_hidden: true,
            });
        }
    }
    scene.materials = builder.materials;
    scene
}

/// Converts a point of the file to the scene's units and axes.
pub(super) fn point([x, y, z]: [i32; 3]) -> [f32; 3] {
    // Negated as an integer, to avoid negative zero.
    [x, y, z.saturating_neg()].map(|part| part as f32 / ONE as f32)
}

struct Builder<'a> {
    textures: &'a [Texture],
    palette: &'a Palette,
    names: Vec<(String, usize)>,
    materials: Vec<Material>,
    of_texture: BTreeMap<String, usize>,
    of_color: BTreeMap<u8, usize>,
}

impl Builder<'_> {
    fn mesh(&mut self, name: String, object: &Object) -> Mesh {
        let mut mesh = Mesh {
            name,
            points: object
                .vertices
                .iter()
                .map(|&position| point(position))
                .collect(),
            ..Mesh::default()
        };
        let mut parts: BTreeMap<usize, Part> = BTreeMap::new();
        for (_, primitive) in drawn(object) {
            let material = self.material(primitive);
            let index = |corner: &usize| u32::from(primitive.indices[*corner]);
            match primitive.indices.len() {
                0 => {}
                count @ (1 | 2) => mesh.strokes.push(Stroke {
                    material,
                    points: Vec::from_iter(0..count).iter().map(index).collect(),
                }),
                count => {
                    let first = mesh.corners.len() as u32;
                    let turned: Vec<usize> = [0].into_iter().chain((1..count).rev()).collect();
                    let points: Vec<u32> = turned.iter().map(index).collect();
                    let normal = normal(&mesh.points, &points);
                    let corners = turned.iter().zip(points).map(|(&corner, point)| Corner {
                        point,
                        normal,
                        uv: uv(corner, count),
                        color: [255; 4],
                    });
                    mesh.corners.extend(corners);
                    let part = parts.entry(material).or_insert_with(|| Part {
                        material,
                        ..Part::default()
                    });
                    part.add_polygon(first..mesh.corners.len() as u32);
                }
            }
        }
        mesh.parts = parts.into_values().collect();
        mesh
    }

    fn material(&mut self, primitive: &Primitive) -> usize {
        let next = self.materials.len();
        let (found, material) = match &primitive.texture {
            Some(name) => {
                let folded = folded(&name.text());
                let found = *self.of_texture.entry(folded).or_insert(next);
                let material = (found == next).then(|| self.textured(&name.text()));
                (found, material)
            }
            None => {
                let color = primitive.color as u8;
                let found = *self.of_color.entry(color).or_insert(next);
                let material = (found == next).then(|| {
                    let parts = self.palette.0[usize::from(color)];
                    let [red, green, blue] = parts.map(|part| f32::from(part) / 255.0);
                    plain(format!("color {color:03}"), [red, green, blue, 1.0])
                });
                (found, material)
            }
        };
        self.materials.extend(material);
        found
    }

    /// Creates the material of a texture.
    fn textured(&self, name: &str) -> Material {
        let mut names = self.names.iter();
        let number = names.position(|(known, _)| known.eq_ignore_ascii_case(name));
        let texture = number.and_then(|number| Some((number, self.textures.get(number)?)));
        match texture {
            Some((picture, texture)) if texture.alpha.is_some() => Material {
                texture: Some(SceneTexture {
                    picture,
                    file: texture.file.clone(),
                    wrap: [Wrap::Clamp; 2],
                    sharp: true,
                }),
                alpha: texture.alpha.unwrap_or(Alpha::Opaque),
                ..plain(name.to_owned(), [1.0; 4])
            },
            _ => {
                let gray = [PLACEHOLDER, PLACEHOLDER, PLACEHOLDER, 1.0];
                plain(format!("{name} (missing)"), gray)
            }
        }
    }
}

fn plain(name: String, color: [f32; 4]) -> Material {
    Material {
        name,
        color,
        texture: None,
        alpha: Alpha::Opaque,
        double_sided: true,
        unlit: false,
    }
}

/// Returns the texture coordinates of a corner. A quad shows the whole picture, from
/// the top left corner clockwise, and a triangle has its first three corners. Other
/// faces have their corners along the picture's edge in the same way.
pub(super) fn uv(corner: usize, count: usize) -> [f32; 2] {
    let count = if count == 3 { 4 } else { count };
    let along = 4.0 * corner as f32 / count as f32;
    let rest = along.fract();
    match along as usize {
        0 => [rest, 0.0],
        1 => [1.0, rest],
        2 => [1.0 - rest, 1.0],
        _ => [0.0, 1.0 - rest],
    }
}

/// Returns the normal of a polygon, by Newell's method, which also works for non-planar
/// ones.
fn normal(points: &[[f32; 3]], indices: &[u32]) -> [f32; 3] {
    let at = |index: u32| points.get(index as usize).copied().unwrap_or_default();
    let first = indices.first().map_or([0.0; 3], |&index| at(index));
    let pairs = indices.windows(2).map(|pair| {
        let [a, b] = [pair[0], pair[1]].map(|index| subtract(at(index), first));
        cross(a, b)
    });
    unit(pairs.fold([0.0; 3], add)).unwrap_or([0.0, 1.0, 0.0])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tdo;
    use fixtures::ta::tdo::{self as build, object, primitive};
    use hpimount_assets::model::preview;

    const UNIT: i32 = 65536;

    /// Returns a square at the front (-z), clockwise seen from there, with a texture
    /// whose first corner is the top left one.
    fn front(texture: Option<&str>) -> Model {
        let mut root = object("base");
        root.vertices = vec![
            [-UNIT, 2 * UNIT, -UNIT],
            [UNIT, 2 * UNIT, -UNIT],
            [UNIT, 0, -UNIT],
            [-UNIT, 0, -UNIT],
        ];
        root.selection = 1;
        let face = build::Primitive {
            texture: texture.map(str::to_owned),
            color: 17,
            flag: 1,
            ..primitive(&[0, 1, 2, 3])
        };
        root.primitives = vec![face, primitive(&[0, 1])];
        let mut flare = object("Flare");
        flare.position = [0, UNIT, -3 * UNIT];
        flare.vertices = vec![[0; 3]];
        flare.primitives = vec![build::Primitive {
            flag: 1,
            ..primitive(&[0])
        }];
        root.children = vec![flare];
        tdo::parse(&build::file(&root).into()).unwrap()
    }

    fn shown(model: &Model, textures: &[Texture]) -> Scene<'static> {
        scene(model, textures, &Palette::TA, &|object| {
            object.name.to_string()
        })
    }

    #[test]
    fn the_front_faces_forward_and_the_hierarchy_is_kept() {
        let scene = shown(&front(None), &[]);
        assert_eq!(scene.meshes[0].corners[0].normal, [0.0, 0.0, 1.0]);
        assert_eq!(scene.meshes[0].points[0], [-1.0, 2.0, 1.0]);
        let names: Vec<_> = scene
            .nodes
            .iter()
            .map(|node| (node.name.as_str(), node.parent, node.mesh.is_some()))
            .collect();
        let expected = [("base", None, true), ("Flare", Some(0), true)];
        assert_eq!(names, expected);
        let [plate] = &scene.outlines[..] else {
            panic!("{:?}", scene.outlines);
        };
        assert_eq!(plate.parent, 0);
        assert_eq!(plate.points, [[-1.0, 2.0, 1.0], [1.0, 2.0, 1.0]]);
        assert_eq!(scene.point(1, [0.0; 3]), [0.0, 1.0, 3.0]);
        assert_eq!(scene.meshes[1].strokes.len(), 1);
        let [red, green, blue] = Palette::TA.0[17].map(|part| f32::from(part) / 255.0);
        assert_eq!(scene.materials[0].color, [red, green, blue, 1.0]);
    }

    #[test]
    fn a_texture_is_upright_and_is_not_mirrored() {
        let texture = Texture {
            file: "0".into(),
            alpha: Some(Alpha::Opaque),
        };
        let scene = shown(&front(Some("Letter")), &[texture]);
        let letter = fixtures::front::letter(1).to_vec();
        let picture = Palette::TA.picture(8, 8, letter);
        let (rows, _) = fixtures::front::front_view(&scene, &picture);
        assert_eq!(rows, fixtures::front::LETTER);
    }

    #[test]
    fn a_missing_texture_has_a_placeholder() {
        let model = front(Some("Wall"));
        assert_eq!(drawn_textures(&model), [("Wall".to_owned(), 1)]);
        let scene = shown(&model, &[]);
        assert_eq!(scene.materials[0].name, "Wall (missing)");
        assert!(scene.materials[0].texture.is_none());
    }

    #[test]
    fn a_model_fills_its_preview() {
        let picture = preview::draw(&shown(&front(None), &[]), &|_| None);
        let opaque = picture
            .rgba()
            .iter()
            .filter(|color| color[3] == 255)
            .count();
        assert!(opaque > 5000, "{opaque}");
    }

    #[test]
    fn a_quad_is_bent_between_its_first_and_its_third_corner() {
        let scene = shown(&front(None), &[]);
        let mesh = &scene.meshes[0];
        let [part] = &mesh.parts[..] else {
            panic!("{:?}", mesh.parts);
        };
        let point = |corner: u32| mesh.corners[corner as usize].point;
        let triangles = part.triangles.iter().map(|corners| corners.map(point));
        assert_eq!(Vec::from_iter(triangles), [[0, 3, 2], [0, 2, 1]]);
        assert_eq!(part.polygons, [2]);
    }

    #[test]
    fn a_triangle_has_three_corners_of_its_texture() {
        let corners = [0, 1, 2].map(|corner| uv(corner, 3));
        assert_eq!(corners, [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]]);
    }

    #[test]
    fn a_quad_has_the_corners_of_its_texture() {
        let corners = [0, 1, 2, 3].map(|corner| uv(corner, 4));
        assert_eq!(corners, [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]);
    }
}
