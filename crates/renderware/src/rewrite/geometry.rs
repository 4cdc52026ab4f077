//! Edits of geometries in the platform-independent form: new values or new triangles.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::material::{self, MaterialSource};
use super::{stored, with_body};
use crate::clump::{Geometry, SkinForm, Vertices};
use crate::{Chunk, kind};
use hpimount_assets::model::affine::Affine;
use hpimount_assets::model::pairing::Change;
use hpimount_assets::model::scene::{Mesh, Weight};

/// Flags of a geometry.
const STRIPS: u16 = 1;
const PRELIT: u16 = 8;

/// First version without surface properties in geometries.
const WITHOUT_SURFACE: u32 = 0x3_4000;

/// Maximum number of vertices, because indices have 16 bits.
const MAX_VERTICES: usize = 1 << 16;

/// A changed mesh of a geometry.
pub(super) struct GeometryEdit<'a> {
    /// The chunk of the geometry.
    pub(super) chunk: &'a Chunk,
    /// The geometry.
    pub(super) geometry: &'a Geometry,
    /// The shown mesh: a point and a corner for each vertex.
    pub(super) shown: &'a Mesh,
    /// The edit.
    pub(super) change: &'a Change,
    /// The map from the mesh to the geometry.
    pub(super) back: Affine,
    /// True if other parts of the model depend on the number of vertices.
    pub(super) is_counted: bool,
    /// Finds the source of the material of a part of the mesh.
    pub(super) material: &'a dyn Fn(usize) -> Result<MaterialSource, String>,
}

/// Returns the reason why a geometry cannot be edited at all.
pub(super) fn refusal(geometry: &Geometry) -> Option<String> {
    let form = match geometry.vertices {
        Vertices::Plain(_) => return None,
        Vertices::GameCube(_) => "GameCube",
        Vertices::Xbox(_) => "Xbox",
        Vertices::PlayStation2(_) => "PlayStation 2",
        Vertices::OpenGl(_) => "OpenGL",
        Vertices::None => "unknown",
    };
    Some(format!(
        "is native {form} geometry: only plain models can be edited"
    ))
}

/// Returns the new body of a geometry's chunk; `None` if nothing changed.
pub(super) fn edited(edit: &GeometryEdit<'_>) -> Result<Option<Vec<u8>>, String> {
    if matches!(edit.change, Change::None) {
        return Ok(None);
    }
    if let Some(refusal) = refusal(edit.geometry) {
        return Err(refusal);
    }
    let layout = Layout::new(edit.geometry);
    let fields = edit
        .chunk
        .child(kind::STRUCT, "geometry")
        .map_err(|error| error.to_string())?;
    if fields.body.len() < layout.end {
        return Err("has a geometry that is cut".to_owned());
    }
    match edit.change {
        Change::None => Ok(None),
        Change::Values(mesh) => {
            let fields = layout.with_values(&fields.body, edit, mesh);
            Ok(Some(with_children(edit.chunk, |child| match child.kind {
                kind::STRUCT => Ok(with_body(child, &fields)),
                kind::EXTENSION => extension(child, |plugin| match plugin.kind {
                    kind::SKIN => skin(plugin, edit, &mesh.weights),
                    _ => Ok(with_body(plugin, &plugin.body)),
                }),
                _ => Ok(with_body(child, &child.body)),
            })?))
        }
        Change::Anew(mesh) => anew(edit, &layout, &fields, mesh).map(Some),
    }
}

/// Offsets of the parts of a geometry's structure.
struct Layout {
    has_colors: bool,
    colors: usize,
    uvs: Vec<usize>,
    sphere: usize,
    positions: usize,
    normals: Option<usize>,
    end: usize,
}

impl Layout {
    fn new(geometry: &Geometry) -> Self {
        let vertices = geometry.declared_vertices as usize;
        let has_colors = geometry.flags & PRELIT != 0;
        let has_surface = geometry.version.number() < WITHOUT_SURFACE;
        let colors = 16 + if has_surface { 12 } else { 0 };
        let first = colors + if has_colors { 4 * vertices } else { 0 };
        let uvs: Vec<usize> = (0..geometry.uv_sets)
            .map(|set| first + 8 * vertices * set)
            .collect();
        let triangles = first + 8 * vertices * geometry.uv_sets;
        let sphere = triangles + 8 * geometry.declared_triangles as usize;
        let positions = sphere + 24;
        let has_normals = geometry
            .morphs
            .first()
            .is_some_and(|shape| shape.normals().next().is_some());
        let normals = has_normals.then_some(positions + 12 * vertices);
        Self {
            has_colors,
            colors,
            uvs,
            sphere,
            positions,
            normals,
            end: normals.unwrap_or(positions) + 12 * vertices,
        }
    }

    /// Returns the structure with the changed values.
    fn with_values(&self, fields: &[u8], edit: &GeometryEdit<'_>, mesh: &Mesh) -> Vec<u8> {
        let mut out = fields.to_vec();
        let mut put = |at: usize, values: &[f32]| put_floats(&mut out[at..], values);
        let shown = edit.shown;
        let mut is_moved = false;
        for (number, (old, new)) in shown.points.iter().zip(&mesh.points).enumerate() {
            if old != new {
                put(self.positions + 12 * number, &edit.back.apply(*new));
                is_moved = true;
            }
        }
        for (number, (old, new)) in shown.corners.iter().zip(&mesh.corners).enumerate() {
            if let Some(normals) = self.normals.filter(|_| old.normal != new.normal) {
                put(normals + 12 * number, &edit.back.apply_normal(new.normal));
            }
            if let Some(first) = self.uvs.first().filter(|_| old.uv != new.uv) {
                put(first + 8 * number, &new.uv);
            }
        }
        let sets = shown
            .other_uvs
            .iter()
            .zip(&mesh.other_uvs)
            .zip(self.uvs.iter().skip(1));
        for ((old, new), set) in sets {
            for (number, (old, new)) in old.iter().zip(new).enumerate() {
                if old != new {
                    put(set + 8 * number, new);
                }
            }
        }
        if is_moved {
            let positions = positions(&out[self.positions..], shown.points.len());
            let sphere = sphere(&positions);
            put_floats(&mut out[self.sphere..], &sphere);
        }
        if self.has_colors {
            for (number, (old, new)) in shown.corners.iter().zip(&mesh.corners).enumerate() {
                if old.color != new.color {
                    out[self.colors + 4 * number..][..4].copy_from_slice(&new.color);
                }
            }
        }
        out
    }
}

fn put_floats(bytes: &mut [u8], values: &[f32]) {
    for (word, value) in bytes.chunks_exact_mut(4).zip(values) {
        word.copy_from_slice(&value.to_le_bytes());
    }
}

fn positions(bytes: &[u8], count: usize) -> Vec<[f32; 3]> {
    let positions = bytes.chunks_exact(12).take(count);
    let float = |bytes: &[u8]| f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    positions
        .map(|bytes| std::array::from_fn(|axis| float(&bytes[4 * axis..])))
        .collect()
}

/// Returns center and radius of a sphere around all points.
fn sphere(points: &[[f32; 3]]) -> [f32; 4] {
    let edge = |axis: usize, pick: fn(f32, f32) -> f32| {
        let parts = points.iter().map(|point| point[axis]);
        parts.reduce(pick).unwrap_or_default()
    };
    let center: [f32; 3] =
        std::array::from_fn(|axis| f32::midpoint(edge(axis, f32::min), edge(axis, f32::max)));
    let distance = |point: &[f32; 3]| {
        let parts = point.iter().zip(center).map(|(a, b)| (a - b) * (a - b));
        parts.sum::<f32>().sqrt()
    };
    let radius = points.iter().map(distance).fold(0.0, f32::max);
    [center[0], center[1], center[2], radius]
}

/// Returns the body of a chunk with other children.
fn with_children(
    chunk: &Chunk,
    mut new: impl FnMut(&Chunk) -> Result<Vec<u8>, String>,
) -> Result<Vec<u8>, String> {
    let children: Result<Vec<_>, String> = chunk.children().map(|child| new(&child)).collect();
    Ok(children?.concat())
}

/// Returns an extension with other plugins.
fn extension(
    chunk: &Chunk,
    new: impl FnMut(&Chunk) -> Result<Vec<u8>, String>,
) -> Result<Vec<u8>, String> {
    Ok(with_body(chunk, &with_children(chunk, new)?))
}

/// The vertices of a new geometry: distinct corners of the mesh, in order of first use.
struct Welded {
    /// The corner of each vertex.
    corners: Vec<u32>,
    /// The vertex of each corner.
    vertices: HashMap<u32, u16>,
}

impl Welded {
    fn new(mesh: &Mesh) -> Result<Self, String> {
        let mut known: HashMap<Vec<u32>, u16> = HashMap::new();
        let mut welded = Self {
            corners: Vec::new(),
            vertices: HashMap::new(),
        };
        for &corner in mesh.parts.iter().flat_map(|part| &part.triangles).flatten() {
            if welded.vertices.contains_key(&corner) {
                continue;
            }
            let next = welded.corners.len();
            let number = *known
                .entry(bits(mesh, corner))
                .or_insert(next.min(MAX_VERTICES - 1) as u16);
            if usize::from(number) == next {
                welded.corners.push(corner);
            } else if next >= MAX_VERTICES {
                return Err(format!("has more than {} vertices", MAX_VERTICES - 1));
            }
            welded.vertices.insert(corner, number);
        }
        match welded.corners.len() < MAX_VERTICES {
            true => Ok(welded),
            false => Err(format!("has more than {} vertices", MAX_VERTICES - 1)),
        }
    }
}

/// Returns all values of a corner.
fn bits(mesh: &Mesh, number: u32) -> Vec<u32> {
    let index = number as usize;
    let corner = &mesh.corners[index];
    let point = corner.point as usize;
    let others = mesh.other_uvs.iter().flat_map(|set| set[index]);
    let floats = mesh.points[point]
        .into_iter()
        .chain(corner.normal)
        .chain(corner.uv)
        .chain(others);
    let mut bits: Vec<u32> = floats.map(f32::to_bits).collect();
    bits.push(u32::from_le_bytes(corner.color));
    bits.extend(
        mesh.other_colors
            .get(index)
            .map(|color| u32::from_le_bytes(*color)),
    );
    let weights = mesh.weights.get(point).into_iter().flatten();
    bits.extend(weights.flat_map(|one| [one.joint.into(), one.weight.to_bits()]));
    bits
}

/// Returns the body of a geometry with new triangles.
fn anew(
    edit: &GeometryEdit<'_>,
    layout: &Layout,
    fields: &Chunk,
    mesh: &Mesh,
) -> Result<Vec<u8>, String> {
    let welded = Welded::new(mesh)?;
    let count = welded.corners.len();
    if edit.geometry.declared_morphs != 1 {
        return Err("has morph targets, whose vertices cannot change".to_owned());
    }
    if edit.is_counted && count != edit.geometry.declared_vertices as usize {
        return Err("has another number of vertices, but the model breaks into these".to_owned());
    }
    if edit.geometry.has_skin
        && edit
            .geometry
            .skin
            .as_ref()
            .is_none_or(|skin| skin.form == SkinForm::Atomic)
    {
        return Err("has a skin of an old form, whose vertices cannot change".to_owned());
    }
    let (materials, added) = materials(edit, mesh)?;
    let triangles: Vec<([u16; 3], u16)> = mesh
        .parts
        .iter()
        .flat_map(|part| {
            // Parts without triangles have no entry.
            let triangles = part.triangles.iter();
            triangles.map(|triangle| (triangle, materials[&part.material]))
        })
        .map(|(triangle, material)| (triangle.map(|corner| welded.vertices[&corner]), material))
        .collect();
    let structure = structure(
        edit,
        layout,
        &fields.body,
        mesh,
        &welded.corners,
        &triangles,
    );
    let points = welded
        .corners
        .iter()
        .map(|&corner| mesh.corners[corner as usize].point as usize);
    let weights: Vec<[Weight; 4]> = points
        .map(|point| mesh.weights.get(point).copied().unwrap_or_default())
        .collect();
    with_children(edit.chunk, |child| match child.kind {
        kind::STRUCT => Ok(with_body(child, &structure)),
        kind::MATERIAL_LIST => Ok(material::extended(child, &added)),
        kind::EXTENSION => extension(child, |plugin| match plugin.kind {
            kind::BIN_MESH => Ok(with_body(plugin, &lists(&triangles))),
            kind::SKIN => skin(plugin, edit, &weights),
            kind::NIGHT_COLORS if !mesh.other_colors.is_empty() => {
                let colors = welded
                    .corners
                    .iter()
                    .map(|&corner| mesh.other_colors[corner as usize]);
                let colors: Vec<u8> = colors.flatten().collect();
                let word = plugin.body.get(..4).unwrap_or(&[1, 0, 0, 0]);
                Ok(with_body(plugin, &[word, &colors].concat()))
            }
            _ => Ok(with_body(plugin, &plugin.body)),
        }),
        _ => Ok(with_body(child, &child.body)),
    })
}

/// The entry of a geometry's list for each material of a mesh, and the materials to add
/// to the list.
type Materials = (HashMap<usize, u16>, Vec<Vec<u8>>);

/// Returns the entry of the geometry's list for each material of a mesh, and the
/// materials to add to the list.
fn materials(edit: &GeometryEdit<'_>, mesh: &Mesh) -> Result<Materials, String> {
    let first = edit.geometry.material_entries.len();
    let mut added = Vec::new();
    let mut known = HashMap::new();
    let mut entries = HashMap::new();
    for part in mesh.parts.iter().filter(|part| !part.triangles.is_empty()) {
        let entry = match (edit.material)(part.material)? {
            MaterialSource::Entry(entry) => entry,
            MaterialSource::Added(chunk) => {
                let next = u16::try_from(first + added.len());
                let next = next.map_err(|_| "has more than 65535 materials".to_owned())?;
                *known.entry(chunk.clone()).or_insert_with(|| {
                    added.push(chunk);
                    next
                })
            }
        };
        entries.insert(part.material, entry);
    }
    Ok((entries, added))
}

/// Returns the structure of a geometry with these vertices and triangles.
fn structure(
    edit: &GeometryEdit<'_>,
    layout: &Layout,
    old: &[u8],
    mesh: &Mesh,
    vertices: &[u32],
    triangles: &[([u16; 3], u16)],
) -> Vec<u8> {
    let corners = || {
        vertices
            .iter()
            .map(|&corner| (corner as usize, &mesh.corners[corner as usize]))
    };
    let flags = edit.geometry.flags & !STRIPS;
    let mut out = flags.to_le_bytes().to_vec();
    out.extend_from_slice(&old[2..4]);
    for count in [triangles.len() as u32, vertices.len() as u32, 1] {
        out.extend(count.to_le_bytes());
    }
    out.extend_from_slice(&old[16..layout.colors]);
    if layout.has_colors {
        out.extend(corners().flat_map(|(_, corner)| corner.color));
    }
    for set in 0..layout.uvs.len() {
        let uvs = corners().map(|(number, corner)| match set {
            0 => corner.uv,
            set => mesh
                .other_uvs
                .get(set - 1)
                .map_or(corner.uv, |set| set[number]),
        });
        out.extend(uvs.flatten().flat_map(f32::to_le_bytes));
    }
    for &([a, b, c], material) in triangles {
        out.extend([b, a, material, c].into_iter().flat_map(u16::to_le_bytes));
    }
    let positions =
        corners().map(|(_, corner)| edit.back.apply(mesh.points[corner.point as usize]));
    let positions: Vec<[f32; 3]> = positions.collect();
    let floats = |values: &[f32]| -> Vec<u8> {
        values
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect()
    };
    out.extend(floats(&sphere(&positions)));
    // That there are positions and normals.
    out.extend_from_slice(&old[layout.sphere + 16..layout.positions]);
    out.extend(floats(positions.as_flattened()));
    if layout.normals.is_some() {
        let normals = corners().map(|(_, corner)| edit.back.apply_normal(corner.normal));
        out.extend(normals.flatten().flat_map(f32::to_le_bytes));
    }
    out
}

/// Returns the triangles as lists, one for each material.
fn lists(triangles: &[([u16; 3], u16)]) -> Vec<u8> {
    let mut lists: BTreeMap<u16, Vec<u16>> = BTreeMap::new();
    for (corners, material) in triangles {
        lists.entry(*material).or_default().extend(corners);
    }
    let mut words = vec![0, lists.len() as u32, 3 * triangles.len() as u32];
    for (material, indices) in lists {
        words.extend([indices.len() as u32, material.into()]);
        words.extend(indices.into_iter().map(u32::from));
    }
    words.into_iter().flat_map(u32::to_le_bytes).collect()
}

/// Returns the skin of a geometry with new weights.
fn skin(
    plugin: &Chunk,
    edit: &GeometryEdit<'_>,
    weights: &[[Weight; 4]],
) -> Result<Vec<u8>, String> {
    let Some(old) = &edit.geometry.skin else {
        return Ok(with_body(plugin, &plugin.body));
    };
    let is_same = weights.len() == edit.shown.weights.len() && *weights == *edit.shown.weights;
    if is_same || weights.is_empty() {
        return Ok(with_body(plugin, &plugin.body));
    }
    if weights
        .iter()
        .any(|weights| weights.iter().all(|one| one.weight <= 0.0))
    {
        return Err("has vertices without weights of joints".to_owned());
    }
    let shares = weights.iter().flatten().filter(|one| one.weight > 0.0);
    let used: BTreeSet<u8> = shares.map(|one| one.joint as u8).collect();
    let most = weights
        .iter()
        .map(|weights| weights.iter().filter(|one| one.weight > 0.0).count());
    let most = most.max().unwrap_or_default() as u8;
    let used: Vec<u8> = match old.form {
        SkinForm::Old => Vec::new(),
        _ => used.into_iter().collect(),
    };
    let most = if old.most_weights == 0 {
        0
    } else {
        most.max(old.most_weights.min(4))
    };
    let mut body = vec![old.bones, used.len() as u8, most, 0];
    body.extend(used);
    body.extend(weights.iter().flatten().map(|one| one.joint as u8));
    body.extend(
        weights
            .iter()
            .flatten()
            .flat_map(|one| one.weight.to_le_bytes()),
    );
    let matrices = 4 + old.used.len() + 20 * edit.geometry.declared_vertices as usize;
    body.extend_from_slice(plugin.body.get(matrices..).unwrap_or_default());
    Ok(stored(plugin.kind, plugin.version, &body))
}
