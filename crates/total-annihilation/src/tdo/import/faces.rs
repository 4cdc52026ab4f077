//! Conversion of edited faces to primitives of an object.
//!
//! Programs split quads into triangles along other diagonals, and reorder them. So the
//! old primitives are searched for in the triangles, and the remaining triangles become
//! quads or triangles. Invisible primitives are kept.

use std::collections::{BTreeSet, HashMap};

use crate::pal::Palette;
use crate::pointer::Name;
use crate::tdo::export::{drawn, point, uv};
use crate::tdo::textures::Textures;
use crate::tdo::{Model, Object, Primitive};
use hpimount_assets::model::affine::NEAR;
use hpimount_assets::model::math::{cross, dot, subtract, unit};
use hpimount_assets::model::pairing::{Change, Compared, Pairing, Places, change};
use hpimount_assets::model::scene::{Material, Mesh};
use hpimount_assets::view::import::Problems;

/// Tolerance for texture coordinates at the corners of a picture.
const NEAR_UV: f32 = 1e-3;

/// Minimum cosine of the angle between the halves of a flat quad.
const FLAT: f32 = 0.9999;

/// Suffix of the material of a missing texture.
const MISSING: &str = " (missing)";

/// The appearance of a primitive.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Surface {
    /// It has a texture.
    Textured(Name),
    /// A color of the palette, by index.
    Colored(u8),
}

impl Surface {
    fn of(primitive: &Primitive) -> Self {
        match &primitive.texture {
            Some(name) => Self::Textured(name.clone()),
            None => Self::Colored(primitive.color as u8),
        }
    }

    fn put_into(&self, primitive: &mut Primitive) {
        match self {
            Self::Textured(name) => primitive.texture = Some(name.clone()),
            Self::Colored(color) => {
                primitive.texture = None;
                primitive.color = (*color).into();
                primitive.flag = 1;
            }
        }
    }

    fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Textured(a), Self::Textured(b)) => a.bytes().eq_ignore_ascii_case(b.bytes()),
            _ => self == other,
        }
    }
}

/// The surfaces of the materials of an edited model.
pub(super) struct Surfaces {
    /// By material number; the last entry is for faces without material.
    surfaces: Vec<Surface>,
    unknown: BTreeSet<String>,
}

impl Surfaces {
    pub(super) fn new(
        model: &Model,
        pairing: &Pairing<'_>,
        palette: &Palette,
        textures: Textures<'_>,
    ) -> Self {
        let primitives = model.objects.iter().flat_map(|object| &object.primitives);
        let names = primitives.filter_map(|primitive| primitive.texture.as_ref());
        let known: HashMap<String, &Name> = names
            .map(|name| (name.text().to_ascii_lowercase(), name))
            .collect();
        let shown = pairing.shown.materials.len();
        let count = shown + pairing.edited.scene.materials.len() + 1;
        let mut unknown = BTreeSet::new();
        let surfaces = (0..count).map(|number| {
            let Some(material) = pairing.material(number) else {
                return Surface::Colored(palette.nearest([u8::MAX; 3]));
            };
            let name = material
                .name
                .strip_suffix(MISSING)
                .unwrap_or(&material.name);
            let is_textured = match number < shown {
                true => material.texture.is_some() || name != material.name,
                false => material.texture.is_some() || textures.find(name).is_some(),
            };
            if !is_textured {
                return Surface::Colored(color(material, palette));
            }
            if number >= shown && textures.find(name).is_none() {
                unknown.insert(name.to_owned());
            }
            let known = known
                .get(&name.to_ascii_lowercase())
                .map(|&name| name.clone());
            Surface::Textured(known.unwrap_or_else(|| Name::new(name)))
        });
        let surfaces = surfaces.collect();
        Self { surfaces, unknown }
    }

    /// Returns warnings about missing textures.
    pub(super) fn warnings(&self) -> impl Iterator<Item = String> {
        let names = self.unknown.iter();
        names.map(|name| format!("no sprite in textures/ is called \"{name}\", as a material is"))
    }

    fn get(&self, material: usize) -> &Surface {
        self.surfaces
            .get(material)
            .unwrap_or(&self.surfaces[self.surfaces.len() - 1])
    }

    fn is_textured(&self, material: usize) -> bool {
        matches!(self.get(material), Surface::Textured(_))
    }
}

/// Returns the palette index of a material: the index in its name, or the nearest
/// color.
fn color(material: &Material, palette: &Palette) -> u8 {
    let number = material.name.strip_prefix("color ");
    let number = number.and_then(|number| number.get(..3)?.parse().ok());
    number.unwrap_or_else(|| nearest(material, palette))
}

/// Returns the index of the palette color nearest to a material's color.
pub(super) fn nearest(material: &Material, palette: &Palette) -> u8 {
    let [r, g, b, _] = material.color.map(|part| (part * 255.0).round() as u8);
    palette.nearest([r, g, b])
}

/// A corner of an edited face.
#[derive(Debug, Clone, Copy)]
struct End {
    place: u32,
    point: [f32; 3],
    uv: [f32; 2],
}

/// An edited face, with its corners in scene order.
#[derive(Debug, Clone)]
struct Face {
    number: usize,
    material: usize,
    ends: Vec<End>,
}

/// The faces of an object.
pub(super) struct Faces<'a> {
    pub(super) shown: &'a Mesh,
    pub(super) edited: &'a Mesh,
    pub(super) surfaces: &'a Surfaces,
    pub(super) size: f32,
}

impl Faces<'_> {
    /// Replaces the faces of an object. `node` is its name in messages.
    pub(super) fn put_into(&self, object: &mut Object, node: &str, problems: &mut Problems) {
        let compared = Compared {
            size: self.size,
            has_normals: false,
            has_uvs: true,
            has_colors: false,
        };
        match change(self.shown, self.edited.clone(), &compared) {
            Change::None => {}
            Change::Values(values) if self.has_textures_of(&values) => {
                self.move_vertices(&values, object, node, problems);
            }
            _ => {
                let mut rebuilt = Rebuilt::new(self, object, node);
                rebuilt.keep_primitives();
                rebuilt.join_quads();
                rebuilt.add_others(problems);
                *object = rebuilt.object(problems);
            }
        }
    }

    /// Returns whether the textures of a changed mesh are unchanged.
    fn has_textures_of(&self, values: &Mesh) -> bool {
        let textured = self.shown.parts.iter();
        let mut textured = textured.filter(|part| self.surfaces.is_textured(part.material));
        textured.all(|part| {
            let mut corners = part.triangles.iter().flatten();
            corners.all(|&corner| {
                let [old, new] = [self.shown, values].map(|mesh| mesh.corners[corner as usize].uv);
                old == new
            })
        })
    }

    fn move_vertices(
        &self,
        values: &Mesh,
        object: &mut Object,
        node: &str,
        problems: &mut Problems,
    ) {
        let points = self.shown.points.iter().zip(&values.points);
        for (vertex, (old, new)) in object.vertices.iter_mut().zip(points) {
            if old != new {
                *vertex = vertex_at(*new, node, problems);
            }
        }
    }
}

/// Converts a point of the scene to stored form.
fn vertex_at([x, y, z]: [f32; 3], node: &str, problems: &mut Problems) -> [i32; 3] {
    [x, y, 0.0 - z].map(|part| {
        super::stored(part).unwrap_or_else(|problem| {
            problems.add(format!("node \"{node}\": {problem}"));
            0
        })
    })
}

/// The primitives of an object, rebuilt from edited faces.
struct Rebuilt<'a> {
    faces: &'a Faces<'a>,
    /// The old object.
    old: &'a Object,
    node: &'a str,
    places: Places,
    /// The vertex at each place of the old object.
    vertices: HashMap<u32, u16>,
    /// The edited faces without a primitive.
    left: Vec<Option<Face>>,
    /// The old primitives that stay.
    kept: Vec<Option<Primitive>>,
    /// New primitives, and the positions of their vertices.
    new: Vec<(Primitive, Vec<End>)>,
}

impl<'a> Rebuilt<'a> {
    fn new(faces: &'a Faces<'a>, old: &'a Object, node: &'a str) -> Self {
        let mut places = Places::new(NEAR * faces.size);
        let mut vertices = HashMap::new();
        for (number, &vertex) in old.vertices.iter().enumerate() {
            if let Ok(number) = u16::try_from(number) {
                vertices
                    .entry(places.number(point(vertex)))
                    .or_insert(number);
            }
        }
        let mut left = Vec::new();
        for part in &faces.edited.parts {
            let _ = part.try_for_each_face(|corners| {
                let ends = corners.iter().map(|&corner| {
                    let corner = &faces.edited.corners[corner as usize];
                    let point = faces.edited.points[corner.point as usize];
                    End {
                        place: places.number(point),
                        point,
                        uv: corner.uv,
                    }
                });
                left.push(Some(Face {
                    number: left.len(),
                    material: part.material,
                    ends: ends.collect(),
                }));
                Ok::<(), ()>(())
            });
        }
        Self {
            faces,
            old,
            node,
            places,
            vertices,
            left,
            kept: vec![None; old.primitives.len()],
            new: Vec::new(),
        }
    }

    /// Finds the old primitives among the faces: first with the same surface, then with
    /// another one. Keeps lines and invisible primitives.
    fn keep_primitives(&mut self) {
        let mut is_drawn = vec![false; self.old.primitives.len()];
        for (number, primitive) in drawn(self.old) {
            is_drawn[number] = primitive.indices.len() >= 3;
        }
        let primitives = self.old.primitives.iter().enumerate();
        for (number, primitive) in primitives.clone().filter(|(number, _)| !is_drawn[*number]) {
            self.kept[number] = Some(primitive.clone());
        }
        let mut known = self.rings();
        for is_same in [true, false] {
            for (number, primitive) in primitives.clone() {
                let is_searched = primitive.indices.len() <= MAX_CORNERS;
                if is_searched && self.kept[number].is_none() {
                    self.kept[number] = self.found(primitive, is_same, &mut known);
                }
            }
        }
    }

    /// Returns face numbers by their corners, rotated to the smallest corner.
    fn rings(&self) -> HashMap<Vec<u32>, Vec<usize>> {
        let mut rings: HashMap<Vec<u32>, Vec<usize>> = HashMap::new();
        for (number, face) in self.left.iter().enumerate() {
            if let Some(face) = face {
                let places = face.ends.iter().map(|end| end.place).collect();
                rings.entry(turned(places)).or_default().push(number);
            }
        }
        // The first ones are taken first.
        rings.values_mut().for_each(|numbers| numbers.reverse());
        rings
    }

    /// Takes the faces of an old primitive, and returns it with their surface.
    fn found(
        &mut self,
        primitive: &Primitive,
        is_same: bool,
        known: &mut HashMap<Vec<u32>, Vec<usize>>,
    ) -> Option<Primitive> {
        let count = primitive.indices.len();
        let order: Vec<usize> = [0].into_iter().chain((1..count).rev()).collect();
        let places = order.iter().map(|&corner| {
            let vertex = self.old.vertices[usize::from(primitive.indices[corner])];
            self.places.number(point(vertex))
        });
        let places: Vec<u32> = places.collect();
        let wanted = Surface::of(primitive);
        let mut cuts = vec![vec![(0..count).collect::<Vec<usize>>()]];
        if count > 3 {
            cuts.push(
                (1..count - 1)
                    .map(|corner| vec![0, corner, corner + 1])
                    .collect(),
            );
        }
        if count == 4 {
            cuts.push(vec![vec![0, 1, 3], vec![1, 2, 3]]);
        }
        for cut in cuts {
            let mut taken: Vec<usize> = Vec::new();
            for corners in &cut {
                let key = turned(corners.iter().map(|&corner| places[corner]).collect());
                let candidates = known.get(&key).into_iter().flatten().rev().copied();
                let fits = |&face: &usize| {
                    let Some(face) = self.left[face].as_ref() else {
                        return false;
                    };
                    let surface = self.faces.surfaces.get(face.material);
                    let is_free = taken.first().is_none_or(|&first: &usize| {
                        let first = self.left[first].as_ref();
                        first.is_some_and(|first| first.material == face.material)
                    });
                    let has_uvs = !self.faces.surfaces.is_textured(face.material)
                        || corners.iter().all(|&corner| {
                            let uv = uv(order[corner], count);
                            let mut ends = face.ends.iter();
                            ends.any(|end| end.place == places[corner] && is_near(end.uv, uv))
                        });
                    surface.is(&wanted) == is_same && is_free && has_uvs
                };
                let free = candidates.filter(|face| !taken.contains(face));
                taken.extend(free.take(MAX_SAME).find(fits));
            }
            if taken.len() == cut.len() {
                let face = self.left[taken[0]].as_ref()?;
                let mut primitive = primitive.clone();
                if !is_same {
                    self.faces
                        .surfaces
                        .get(face.material)
                        .put_into(&mut primitive);
                }
                for face in taken {
                    self.left[face] = None;
                }
                return Some(primitive);
            }
        }
        None
    }

    /// Joins triangles to quads that show a whole picture or are flat.
    fn join_quads(&mut self) {
        let mut edges: HashMap<(usize, u32, u32), Vec<usize>> = HashMap::new();
        for (number, face) in self.left.iter().enumerate() {
            let Some(face) = face.as_ref().filter(|face| face.ends.len() == 3) else {
                continue;
            };
            for n in 0..3 {
                let [a, b] = [face.ends[n].place, face.ends[(n + 1) % 3].place];
                edges.entry((face.material, a, b)).or_default().push(number);
            }
        }
        for number in 0..self.left.len() {
            let Some(face) = self.left[number]
                .clone()
                .filter(|face| face.ends.len() == 3)
            else {
                continue;
            };
            let joined = (0..3).find_map(|n| {
                let [a, b] = [face.ends[n].place, face.ends[(n + 1) % 3].place];
                let others = edges.get(&(face.material, b, a)).into_iter().flatten();
                others
                    .take(MAX_SAME)
                    .filter(|&&other| other != number)
                    .find_map(|&other| {
                        let quad = self.joined(&face, n, self.left[other].as_ref()?)?;
                        Some((other, quad))
                    })
            });
            if let Some((other, quad)) = joined {
                self.left[number] = None;
                self.left[other] = None;
                self.add(face.material, quad);
            }
        }
    }

    /// Returns the corners of the quad of two triangles in file order, beginning with
    /// the picture's first corner. Edge `n` of the first triangle is the common one.
    fn joined(&self, face: &Face, n: usize, other: &Face) -> Option<Vec<End>> {
        let [a, b, c] = [n, n + 1, n + 2].map(|corner| face.ends[corner % 3]);
        let fourth = other
            .ends
            .iter()
            .position(|end| ![a.place, b.place].contains(&end.place))?;
        let d = other.ends[fourth];
        let [after, before] = [fourth + 1, fourth + 2].map(|corner| other.ends[corner % 3]);
        if !is_near(after.uv, b.uv) || !is_near(before.uv, a.uv) || c.place == d.place {
            return None;
        }
        let quad = [a, d, b, c];
        let quad = whole_picture(&quad)?;
        let normal = |ends: [End; 3]| {
            let [a, b, c] = ends.map(|end| end.point);
            unit(cross(subtract(b, a), subtract(c, a)))
        };
        let is_flat = match (normal([a, d, b]), normal([a, b, c])) {
            (Some(one), Some(other)) => dot(one, other) >= FLAT,
            _ => false,
        };
        // Without a picture, nothing else tells that the triangles are one face.
        (is_flat || self.faces.surfaces.is_textured(face.material)).then_some(quad)
    }

    /// Adds the faces that are left.
    fn add_others(&mut self, problems: &mut Problems) {
        for number in 0..self.left.len() {
            let Some(face) = self.left[number].take() else {
                continue;
            };
            let whole = whole_picture(&face.ends);
            match whole {
                Some(ends) => self.add(face.material, ends),
                None if self.faces.surfaces.is_textured(face.material) => problems.add(format!(
                    "node \"{}\", face {}: shows a part of its texture",
                    self.node, face.number
                )),
                None => {
                    let mut ends = face.ends;
                    ends[1..].reverse();
                    self.add(face.material, ends);
                }
            }
        }
    }

    fn add(&mut self, material: usize, ends: Vec<End>) {
        let mut primitive = Primitive::default();
        self.faces.surfaces.get(material).put_into(&mut primitive);
        self.new.push((primitive, ends));
    }

    /// Returns the object with its primitives, and the required vertices.
    fn object(mut self, problems: &mut Problems) -> Object {
        let old = self.old.primitives.iter();
        let old: BTreeSet<u16> = old.flat_map(|one| &one.indices).copied().collect();
        let mut vertices = self.old.vertices.clone();
        for (primitive, ends) in &mut self.new {
            for end in ends {
                let next = vertices.len();
                let vertex = *self
                    .vertices
                    .entry(end.place)
                    .or_insert(next.min(MAX_VERTEX) as u16);
                if usize::from(vertex) == next {
                    vertices.push(vertex_at(end.point, self.node, problems));
                } else if next > MAX_VERTEX {
                    let node = self.node;
                    problems.add(format!(
                        "node \"{node}\": has more than {MAX_VERTEX} vertices"
                    ));
                    return self.old.clone();
                }
                primitive.indices.push(vertex);
            }
        }
        let mut selection = self.old.selection;
        let selected = usize::try_from(selection).ok();
        let mut primitives = Vec::new();
        for (number, primitive) in self.kept.into_iter().enumerate() {
            let Some(primitive) = primitive else {
                continue;
            };
            if selected == Some(number) {
                selection = primitives.len() as i32;
            }
            primitives.push(primitive);
        }
        primitives.extend(self.new.into_iter().map(|(primitive, _)| primitive));
        let mut object = Object {
            primitives,
            vertices,
            selection,
            name: self.old.name.clone(),
            ..*self.old
        };
        drop_unused(&mut object, &old);
        object
    }
}

/// Maximum vertex number in a primitive.
const MAX_VERTEX: usize = u16::MAX as usize;

/// Maximum number of corners of a primitive to search for. Real ones have fewer.
const MAX_CORNERS: usize = 64;

/// Maximum number of compared faces with the same corners.
const MAX_SAME: usize = 64;

/// Removes vertices that are no longer used by primitives.
fn drop_unused(object: &mut Object, old: &BTreeSet<u16>) {
    let new = object
        .primitives
        .iter()
        .flat_map(|primitive| &primitive.indices);
    let new: BTreeSet<u16> = new.copied().collect();
    let is_kept = |number: u16| new.contains(&number) || !old.contains(&number);
    let mut numbers = HashMap::new();
    let mut vertices = Vec::new();
    for (number, vertex) in object.vertices.iter().enumerate() {
        let short = u16::try_from(number).ok();
        if short.is_none_or(is_kept) {
            numbers.extend(short.map(|number| (number, vertices.len() as u16)));
            vertices.push(*vertex);
        }
    }
    object.vertices = vertices;
    let indices = object
        .primitives
        .iter_mut()
        .flat_map(|primitive| &mut primitive.indices);
    for index in indices {
        *index = numbers.get(index).copied().unwrap_or(*index);
    }
}

/// Returns corners in file order, beginning with the picture's first corner, if they
/// show a whole picture.
fn whole_picture(ends: &[End]) -> Option<Vec<End>> {
    let count = ends.len();
    let order = |first: usize| (0..count).map(move |corner| ends[(first + count - corner) % count]);
    let first = (0..count).find(|&first| {
        let mut corners = order(first).enumerate();
        corners.all(|(corner, end)| is_near(end.uv, uv(corner, count)))
    });
    first.map(|first| order(first).collect())
}

fn is_near(a: [f32; 2], b: [f32; 2]) -> bool {
    a.iter().zip(b).all(|(a, b)| (a - b).abs() <= NEAR_UV)
}

/// Rotates a ring so that it begins with the smallest number.
fn turned(mut ring: Vec<u32>) -> Vec<u32> {
    let first = (0..ring.len()).min_by_key(|&n| ring[n]).unwrap_or_default();
    ring.rotate_left(first);
    ring
}
