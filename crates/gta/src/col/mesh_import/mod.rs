//! Import of edited GLB files as collision models: vertices and faces of meshes, places
//! and sizes of spheres and boxes.
//!
//! Numbers are overwritten in place. Changed face lists go to the end of the model; in
//! version 1 they are spliced in place.

use std::collections::{BTreeMap, HashMap};

use bytes::Bytes;

use super::export::{glb_name, surfaces};
use super::{Bounds, BoxShape, Col, Face, Mesh as Stored, Model, Sphere, Surface, export, parse};
use hpimount_assets::model::affine::{Affine, NEAR};
use hpimount_assets::model::math::finite;
use hpimount_assets::model::pairing::{Change, Compared, Pairing, Placed, Places, change};
use hpimount_assets::model::scene::{Material, Mesh};
use hpimount_assets::model::{Transform, gltf};
use hpimount_assets::view::import::{Edit, Imported, NOT_THIS_FILE, Problems};
use hpimount_record::FixedSize;

/// Size of a model's header, and of the part that the model's size excludes.
const HEADER: usize = 32;
const UNSIZED: usize = 8;

/// Offsets of the counts and offsets in version 2 and later, and the base of these
/// offsets.
const FACE_COUNT: usize = 76;
const FLAGS: usize = 80;
const OFFSETS: usize = 84;
const SHADOW: usize = 108;
const BASE: usize = 4;

/// Flag of a model with face groups.
const HAS_GROUPS: u32 = 8;

/// Unit and maximum of 16-bit coordinates.
const SHORT_UNIT: f32 = 128.0;
const MOST_SHORT: f32 = 255.99;

/// Prefix of the names of surface materials.
const SURFACE: &str = "surface ";

/// The new center of a sphere or box, and its scale factors.
type Solid = ([f32; 3], [f32; 3]);

/// Encodes an edited collision model.
pub(super) fn import(edit: &Edit<'_>) -> Result<Imported, String> {
    let col = parse(edit.asset).map_err(|error| error.to_string())?;
    let number = number_of(&col, edit);
    let number = number.ok_or_else(|| format!("{NOT_THIS_FILE}: edit the GLB file of a model"))?;
    let model = &col.models[number];
    let start = usize::try_from(model.offset).unwrap_or(usize::MAX);
    let end = start.saturating_add(UNSIZED + model.size as usize);
    let whole = edit.asset.get(start..end).filter(|_| model.error.is_none());
    let whole = whole.ok_or("shows a model that cannot be read completely")?;
    if model.shapes.overlap() {
        return Err("shows a model whose shapes overlap in the file".to_owned());
    }
    let edited = gltf::read(edit.file, &|bytes| edit.context.reserve(bytes))?;
    let memory = edit.context.reserve_scene(export::corners(model));
    let _memory = memory.map_err(|error| error.to_string())?;
    let scene = export::scene(model, &surfaces(edit.context));
    let pairing = Pairing::new(&scene, &edited)?;
    let mut import = Import {
        model,
        pairing: &pairing,
        bytes: whole.to_vec(),
        problems: Problems::default(),
    };
    import.nodes();
    import.problems.check()?;
    if import.bytes == whole {
        return Ok(Imported::Unchanged);
    }
    let file = [&edit.asset[..start], &import.bytes, &edit.asset[end..]].concat();
    let again = parse(&Bytes::copy_from_slice(&file)).ok();
    let again = again.filter(|col| number_of(col, edit) == Some(number));
    match again.is_some_and(|col| col.models[number].error.is_none()) {
        true => Ok(file.into()),
        false => Err("was not stored as written".to_owned()),
    }
}

/// Returns the model in a file of the view.
fn number_of(col: &Col, edit: &Edit<'_>) -> Option<usize> {
    let is_it = |number: &usize| {
        let is_shown = export::problem(&col.models[*number]).is_none();
        is_shown && edit.part.folder.is_none() && glb_name(col, *number) == edit.part.name
    };
    (0..col.models.len()).find(is_it)
}

/// The location of a mesh.
struct Room {
    vertices: usize,
    faces: usize,
    is_shadow: bool,
}

struct Import<'a> {
    model: &'a Model,
    pairing: &'a Pairing<'a>,
    /// The model as it is stored.
    bytes: Vec<u8>,
    problems: Problems,
}

impl Import<'_> {
    fn nodes(&mut self) {
        let pairing = self.pairing;
        let shown = pairing.shown;
        let is_mesh = |node: usize| matches!(shown.nodes[node].name.as_str(), "mesh" | "shadow");
        let placed = pairing.placed(|node| !is_mesh(node));
        for &node in &pairing.deleted {
            let name = &shown.nodes[node].name;
            self.problems.add(format!(
                "node \"{name}\" is gone: shapes cannot be deleted here"
            ));
        }
        for node in pairing
            .new
            .iter()
            .map(|&node| &pairing.edited.scene.nodes[node])
        {
            let name = &node.name;
            self.problems.add(format!(
                "node \"{name}\" is new: shapes cannot be added here"
            ));
        }
        let nodes = shown.nodes.iter().zip(&placed).enumerate().skip(1);
        // Meshes may change the size, so they come last.
        let (meshes, solids): (Vec<_>, Vec<_>) = nodes.partition(|&(number, _)| is_mesh(number));
        for (number, (node, placed)) in solids.into_iter().chain(meshes) {
            if pairing.nodes[number].is_none() {
                continue;
            }
            let index = |prefix| node.name.strip_prefix(prefix)?.parse().ok();
            let result = match (index("sphere_"), index("box_")) {
                (Some(sphere), _) => self.sphere(sphere, number, placed),
                (_, Some(cuboid)) => self.cuboid(cuboid, number, placed),
                _ => self.mesh(number, placed, node.name == "shadow"),
            };
            if let Err(problem) = result {
                self.problems
                    .add(format!("node \"{}\": {problem}", node.name));
            }
        }
    }

    /// Changes the material of a solid, whose surface is at `at`. Fails if more than
    /// one material of its mesh changed.
    fn put_material(&mut self, node: usize, old: Surface, at: usize) -> Result<(), String> {
        let pairing = self.pairing;
        let shown = pairing.shown.nodes[node].mesh;
        let shown = shown.and_then(|mesh| pairing.shown.meshes.get(mesh));
        let edited = pairing.mesh_of(node, &Affine::IDENTITY)?;
        let (Some(shown), Some(mut edited)) = (shown, edited) else {
            return Err("its faces are gone: shapes cannot be deleted here".to_owned());
        };
        let material = edited.parts[0].material;
        if edited.parts.iter().any(|part| part.material != material) {
            return Err("has several materials, and shapes have one".to_owned());
        }
        for part in &mut edited.parts {
            part.material = shown.parts[0].material;
        }
        if !matches!(change(shown, edited, &compared(1.0)), Change::None) {
            return Err("has another shape: scale and move its node, not its mesh".to_owned());
        }
        let material = self.surface(material)?;
        if material != old.material {
            self.put(at, &[material]);
        }
        Ok(())
    }

    /// Returns the new center and scale factors of a solid, if it changed.
    fn solid(&self, node: usize, placed: &Placed) -> Result<Option<Solid>, String> {
        let map = placed.mesh.transform();
        let scale = map.scale;
        let is_scaled = scale.iter().any(|factor| (factor - 1.0).abs() > NEAR);
        let turned = |rotation: [f32; 4]| rotation[3].abs() < 0.99999;
        let changed = placed.changed.unwrap_or(Transform::IDENTITY);
        if turned(map.rotation) || placed.changed.is_some() && turned(changed.rotation) {
            return Err("is turned, which shapes cannot be".to_owned());
        }
        let shown = self.pairing.shown.nodes[node].transform;
        let center = placed.changed.unwrap_or(shown).translation;
        Ok((is_scaled || placed.changed.is_some()).then_some((center, scale)))
    }

    fn sphere(&mut self, number: usize, node: usize, placed: &Placed) -> Result<(), String> {
        let Some(sphere) = self.model.shapes.spheres.get(number) else {
            return Ok(());
        };
        let at = self.model.shapes.offsets.spheres + Sphere::SIZE * number;
        self.put_material(node, sphere.surface, at + 16)?;
        let Some((center, scale)) = self.solid(node, placed)? else {
            return Ok(());
        };
        if scale
            .iter()
            .any(|factor| (factor / scale[0] - 1.0).abs() > 1e-3)
        {
            return Err("has another scale along each axis, which spheres cannot have".to_owned());
        }
        let shown = finite(sphere.radius);
        let radius = match (scale[0] - 1.0).abs() > NEAR {
            true => shown * scale[0].abs(),
            false => shown,
        };
        let [x, y, z] = center;
        let values = match self.model.version {
            1 => [radius, x, y, z],
            _ => [x, y, z, radius],
        };
        self.put_solid(at, &values)
    }

    fn cuboid(&mut self, number: usize, node: usize, placed: &Placed) -> Result<(), String> {
        let shapes = &self.model.shapes;
        let Some(shape) = shapes.boxes.get(number) else {
            return Ok(());
        };
        let at = shapes.offsets.boxes + BoxShape::SIZE * number;
        self.put_material(node, shape.surface, at + 24)?;
        let Some((center, scale)) = self.solid(node, placed)? else {
            return Ok(());
        };
        let (old_min, old_max) = (shape.min.map(finite), shape.max.map(finite));
        let half = |axis: usize| (old_max[axis] - old_min[axis]) / 2.0 * scale[axis].abs();
        let min: [f32; 3] = std::array::from_fn(|axis| center[axis] - half(axis));
        let max: [f32; 3] = std::array::from_fn(|axis| center[axis] + half(axis));
        self.put_solid(at, &[min, max].concat())
    }

    fn mesh(&mut self, node: usize, placed: &Placed, is_shadow: bool) -> Result<(), String> {
        let pairing = self.pairing;
        let Some(mesh) = pairing.mesh_of(node, &placed.mesh)? else {
            return Err("its faces are gone: a mesh cannot be deleted here".to_owned());
        };
        let shown = pairing.shown.nodes[node].mesh;
        let Some(shown) = shown.and_then(|mesh| pairing.shown.meshes.get(mesh)) else {
            return Ok(());
        };
        let room = self.room(is_shadow);
        let points = match change(shown, mesh, &compared(pairing.size)) {
            Change::None => return Ok(()),
            Change::Values(mesh) => {
                let points = shown.points.iter().zip(&mesh.points).enumerate();
                for (number, (_, point)) in points.filter(|(_, (old, new))| old != new) {
                    let bytes = self.vertex(*point)?;
                    let at = room.vertices + bytes.len() * number;
                    self.put(at, &bytes);
                }
                mesh.points
            }
            Change::Anew(mesh) => {
                let faces = self.faces(&mesh, is_shadow)?;
                let points = mesh.points.clone();
                self.put_mesh(&mesh, &faces, &room)?;
                points
            }
        };
        if self.model.version > 1 && !is_shadow {
            let flags = self.word(FLAGS) & !HAS_GROUPS;
            self.put(FLAGS, &flags.to_le_bytes());
        }
        if !is_shadow {
            self.grow_bounds(&points);
        }
        Ok(())
    }

    /// Returns where a mesh is.
    fn room(&self, is_shadow: bool) -> Room {
        let offsets = &self.model.shapes.offsets;
        let [vertices, faces] = match is_shadow {
            true => offsets.shadow,
            false => offsets.mesh,
        };
        Room {
            vertices,
            faces,
            is_shadow,
        }
    }

    /// Returns the surface of each face of a new mesh: the edited material, and the
    /// other properties of the old face at the same place.
    fn faces(&self, mesh: &Mesh, is_shadow: bool) -> Result<Vec<Face>, String> {
        let shapes = &self.model.shapes;
        let old: &Stored = if is_shadow {
            &shapes.shadow
        } else {
            &shapes.mesh
        };
        let points: Vec<_> = old.vertices().collect();
        let mut places = Places::new(NEAR * self.pairing.size);
        let mut known: HashMap<[u32; 3], Surface> = HashMap::new();
        for face in old.faces() {
            let corners = face
                .corners
                .map(|corner| points.get(corner as usize).copied());
            if let [Some(a), Some(b), Some(c)] = corners {
                let mut key = [a, b, c].map(|point| places.number(point));
                key.sort_unstable();
                known.entry(key).or_insert(face.surface);
            }
        }
        let mut faces = Vec::new();
        for part in &mesh.parts {
            let material = self.surface(part.material)?;
            for triangle in &part.triangles {
                let corners = triangle.map(|corner| mesh.corners[corner as usize].point);
                let key = corners.map(|point| places.find(mesh.points[point as usize]));
                let mut key = key.map(|place| place.unwrap_or(u32::MAX));
                key.sort_unstable();
                let old = known.get(&key).copied().unwrap_or_default();
                let surface = Surface { material, ..old };
                faces.push(Face { corners, surface });
            }
        }
        Ok(faces)
    }

    /// Returns the number of a material's surface.
    fn surface(&self, material: usize) -> Result<u8, String> {
        let name = self
            .pairing
            .material(material)
            .map_or("", |one: &Material| &one.name);
        let number = name.strip_prefix(SURFACE).and_then(|rest| {
            let digits = rest.split(|letter: char| !letter.is_ascii_digit()).next()?;
            digits.parse().ok()
        });
        number.ok_or_else(|| {
            format!("material \"{name}\" is no surface: name it \"surface N\", N from 0 to 255")
        })
    }

    /// Writes other vertices and faces.
    fn put_mesh(&mut self, mesh: &Mesh, faces: &[Face], room: &Room) -> Result<(), String> {
        let mut numbers: BTreeMap<[u32; 3], u32> = BTreeMap::new();
        let (mut vertices, mut stored) = (Vec::new(), Vec::new());
        for face in faces {
            let mut corners = [0; 3];
            for (corner, &point) in corners.iter_mut().zip(&face.corners) {
                let point = mesh.points[point as usize];
                let next = numbers.len() as u32;
                *corner = *numbers.entry(point.map(f32::to_bits)).or_insert(next);
                if *corner == next {
                    vertices.extend(self.vertex(point)?);
                }
            }
            let Surface {
                material,
                flags,
                brightness,
                light,
            } = face.surface;
            if self.model.version == 1 {
                stored.extend(corners.iter().flat_map(|corner| corner.to_le_bytes()));
                stored.extend([material, flags, brightness, light]);
            } else {
                let corners = corners.map(|corner| u16::try_from(corner).ok());
                let [Some(a), Some(b), Some(c)] = corners else {
                    return Err("has more than 65536 vertices".to_owned());
                };
                stored.extend([a, b, c].iter().flat_map(|corner| corner.to_le_bytes()));
                stored.extend([material, light]);
            }
        }
        let (vertex_count, face_count) = (numbers.len() as u32, faces.len() as u32);
        if self.model.version == 1 {
            let end = room.faces + 16 * self.model.shapes.mesh.faces().count();
            let new = [
                &vertex_count.to_le_bytes(),
                &vertices[..],
                &face_count.to_le_bytes(),
                &stored,
            ];
            self.bytes.splice(room.vertices - 4..end, new.concat());
        } else {
            self.append(&vertices, &stored, face_count, room)?;
        }
        let size = u32::try_from(self.bytes.len() - UNSIZED);
        let size = size.map_err(|_| "becomes larger than 4 GiB".to_owned())?;
        self.put(4, &size.to_le_bytes());
        Ok(())
    }

    /// Appends a mesh to a model of version 2 or later.
    fn append(
        &mut self,
        vertices: &[u8],
        faces: &[u8],
        count: u32,
        room: &Room,
    ) -> Result<(), String> {
        let (count_at, fields) = match room.is_shadow {
            true => (SHADOW, [SHADOW + 4, SHADOW + 8]),
            false => (FACE_COUNT, [OFFSETS + 12, OFFSETS + 16]),
        };
        match u16::try_from(count) {
            _ if room.is_shadow => self.put(count_at, &count.to_le_bytes()),
            Ok(count) => self.put(count_at, &count.to_le_bytes()),
            Err(_) => return Err(format!("has {count} faces, more than {}", u16::MAX)),
        }
        for (field, part) in fields.into_iter().zip([vertices, faces]) {
            self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
            let at = (self.bytes.len() - BASE) as u32;
            self.put(field, &at.to_le_bytes());
            self.bytes.extend_from_slice(part);
        }
        Ok(())
    }

    /// Returns a vertex as it is stored.
    fn vertex(&self, point: [f32; 3]) -> Result<Vec<u8>, String> {
        if self.model.version == 1 {
            return Ok(point.map(f32::to_le_bytes).concat());
        }
        if let Some(part) = point.iter().find(|part| part.abs() > MOST_SHORT) {
            return Err(format!("{part} is past {MOST_SHORT}"));
        }
        let short = |part: f32| ((part * SHORT_UNIT).round() as i16).to_le_bytes();
        Ok(point.map(short).concat())
    }

    /// Extends the bounds of the model to contain these points.
    fn grow_bounds(&mut self, points: &[[f32; 3]]) {
        let Some(Bounds {
            min,
            max,
            center,
            radius,
        }) = self.model.shapes.bounds
        else {
            return;
        };
        let low = points.iter().fold(min, |low, point| {
            std::array::from_fn(|axis| low[axis].min(point[axis]))
        });
        let high = points.iter().fold(max, |high, point| {
            std::array::from_fn(|axis| high[axis].max(point[axis]))
        });
        let far = points.iter().map(|point| {
            let parts = point.iter().zip(center).map(|(a, b)| (a - b) * (a - b));
            parts.sum::<f32>().sqrt()
        });
        let far = far.fold(radius, f32::max);
        let values = match self.model.version {
            1 => [&[far][..], &center, &low, &high].concat(),
            _ => [&low[..], &high, &center, &[far]].concat(),
        };
        self.put_floats(HEADER, &values);
    }

    fn word(&self, at: usize) -> u32 {
        let word = self.bytes.get(at..).and_then(|rest| rest.first_chunk());
        word.map_or(0, |word| u32::from_le_bytes(*word))
    }

    fn put(&mut self, at: usize, bytes: &[u8]) {
        if let Some(old) = self.bytes.get_mut(at..at + bytes.len()) {
            old.copy_from_slice(bytes);
        }
    }

    /// Changes the place and size of a solid.
    fn put_solid(&mut self, at: usize, values: &[f32]) -> Result<(), String> {
        if !values.iter().all(|value| value.is_finite()) {
            return Err("is too large".to_owned());
        }
        self.put_floats(at, values);
        Ok(())
    }

    fn put_floats(&mut self, at: usize, values: &[f32]) {
        for (number, value) in values.iter().enumerate() {
            self.put(at + 4 * number, &value.to_le_bytes());
        }
    }
}

/// Returns the compared attributes of meshes of a size.
fn compared(size: f32) -> Compared {
    Compared {
        size,
        has_normals: false,
        has_uvs: false,
        has_colors: false,
    }
}

#[cfg(test)]
mod tests;
