//! Edited scenes of clumps: the bodies of the geometries that changed.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use super::geometry::{GeometryEdit, edited};
use super::material::Materials;
use super::{Bodies, geometries};
use crate::Chunk;
use crate::clump::{Clump, Geometry, Vertices};
use hpimount_assets::model::affine::Affine;
use hpimount_assets::model::pairing::{Change, Compared, Pairing, Placed, change, deformed};
use hpimount_assets::model::scene::{Corner, Mesh, Part};
use hpimount_assets::view::import::Problems;

/// Flag of a geometry: its vertices have colors.
const PRELIT: u16 = 8;

/// Maximum number of compared colors at one place.
const MAX_COLORS: usize = 64;

/// New bodies of geometries, by clump and geometry number, with the first node that
/// shows each.
type Results = BTreeMap<(usize, usize), (usize, Option<Vec<u8>>)>;

/// A clump with its chunk.
pub struct ClumpSource<'a> {
    /// The clump.
    pub clump: &'a Clump,
    /// The chunk of the clump, or of its only atomic.
    pub chunk: Chunk,
}

/// A node that shows a geometry.
#[derive(Debug, Clone, Copy)]
pub struct ShownGeometry {
    /// The node.
    pub node: usize,
    /// The number of the clump.
    pub clump: usize,
    /// The number of the geometry in it.
    pub geometry: usize,
    /// The map from the node's mesh to the geometry; `None` if the mesh is bent and
    /// cannot be edited.
    pub back: Option<Affine>,
    /// True if the node's colors are brighter than the stored colors.
    pub is_brightened: bool,
}

/// Sources of new bodies.
pub(super) struct Sources<'a> {
    /// The chunks of the geometries of each clump.
    pub(super) chunks: Vec<Vec<Chunk>>,
    pub(super) materials: Materials<'a>,
    /// The number of the first material of each geometry.
    pub(super) starts: BTreeMap<(usize, usize), usize>,
}

/// An edited scene. Its materials are the materials of the geometries of all clumps, in
/// order.
pub struct ModelEdit<'a> {
    /// The clumps.
    pub clumps: &'a [ClumpSource<'a>],
    /// The scene and the edited one.
    pub pairing: &'a Pairing<'a>,
    /// The placements of the nodes.
    pub placed: &'a [Placed],
    /// True if other parts of a model depend on the number of a geometry's vertices.
    pub is_counted: fn(&Geometry) -> bool,
    /// True if new nodes become parts.
    pub adds: bool,
}

impl ModelEdit<'_> {
    /// Returns the new bodies of geometries. Reports edits that cannot be stored as
    /// problems.
    pub fn bodies(&self, shown: &[ShownGeometry], problems: &mut Problems) -> Bodies {
        let scene = self.pairing.shown;
        let name = |node: usize| scene.nodes[node].name.as_str();
        for &node in &self.pairing.deleted {
            problems.add(format!(
                "node \"{}\" is gone: parts cannot be deleted",
                name(node)
            ));
        }
        let edited = &self.pairing.edited.scene;
        let new = self.pairing.new.iter().map(|&node| &edited.nodes[node]);
        for node in new.filter(|_| !self.adds) {
            let name = &node.name;
            problems.add(format!("node \"{name}\" is new: parts cannot be added"));
        }
        let sources = self.sources();
        let mut results: Results = BTreeMap::new();
        for one in shown {
            let body = match self.body(one, &sources) {
                Ok(body) => body,
                Err(problem) => {
                    problems.add(format!("node \"{}\": {problem}", name(one.node)));
                    continue;
                }
            };
            let key = (one.clump, one.geometry);
            let (other, known) = results
                .entry(key)
                .or_insert_with(|| (one.node, body.clone()));
            if *known != body {
                problems.add(format!(
                    "node \"{}\": has the mesh of node \"{}\", but another shape",
                    name(one.node),
                    name(*other)
                ));
            }
        }
        let mut bodies = Bodies::new();
        for ((clump, geometry), (_, body)) in results {
            let chunk = sources.chunks[clump].get(geometry);
            bodies.extend(chunk.zip(body).map(|(chunk, body)| (chunk.offset, body)));
        }
        bodies
    }

    /// Returns the new body of a geometry, if the mesh of a node changed.
    fn body(&self, one: &ShownGeometry, sources: &Sources<'_>) -> Result<Option<Vec<u8>>, String> {
        let Some((geometry, shown, mut mesh)) = self.meshes(one)? else {
            return Ok(None);
        };
        let mut shown = match one.is_brightened {
            true => Cow::Owned(with_stored_colors(shown, geometry)),
            false => Cow::Borrowed(shown),
        };
        let first = |part: &Part| sources.materials.first(part.material, geometry.version);
        for number in 0..shown.parts.len() {
            let material = first(&shown.parts[number]);
            if material != shown.parts[number].material {
                shown.to_mut().parts[number].material = material;
            }
        }
        for part in &mut mesh.parts {
            part.material = first(part);
        }
        let mut compared = self.compared(one, geometry);
        compared.has_colors &= !one.is_brightened;
        let change = change(&shown, mesh, &compared);
        if matches!(change, Change::None) {
            return Ok(None);
        }
        let back = one
            .back
            .ok_or("has a sheared frame, and its mesh cannot be edited")?;
        let key = (one.clump, one.geometry);
        let chunk = sources.chunks[one.clump].get(one.geometry);
        let (Some(chunk), Some(&start)) = (chunk, sources.starts.get(&key)) else {
            return Err("has a geometry that is not there".to_owned());
        };
        edited(&GeometryEdit {
            chunk,
            geometry,
            shown: &shown,
            change: &change,
            back,
            is_counted: (self.is_counted)(geometry),
            material: &|number| sources.materials.source(geometry, start, number),
        })
    }

    /// Returns the geometry of a node, the shown mesh, and the edited one if it has
    /// triangles.
    fn meshes(&self, one: &ShownGeometry) -> Result<Option<(&Geometry, &Mesh, Mesh)>, String> {
        let pairing = self.pairing;
        let shown = pairing.shown.nodes[one.node].mesh;
        let shown = shown.and_then(|mesh| pairing.shown.meshes.get(mesh));
        let Some(shown) = shown.filter(|shown| shown.triangles() > 0) else {
            return Ok(None);
        };
        let Some(mesh) = pairing.mesh_of(one.node, &self.placed[one.node].mesh)? else {
            return match pairing.nodes[one.node] {
                Some(_) => Err("its mesh is gone: parts cannot be deleted".to_owned()),
                None => Ok(None),
            };
        };
        let geometry = self.clumps[one.clump].clump.geometries.get(one.geometry);
        let geometry = geometry.ok_or("has a geometry that is not there")?;
        Ok(Some((geometry, shown, mesh)))
    }

    pub(super) fn sources(&self) -> Sources<'_> {
        let chunks = self.clumps.iter().map(|clump| geometries(&clump.chunk));
        let chunks: Vec<Vec<Chunk>> = chunks.collect();
        let (mut materials, mut starts) = (Materials::new(self.pairing), BTreeMap::new());
        for (number, (source, chunks)) in self.clumps.iter().zip(&chunks).enumerate() {
            for (place, geometry) in source.clump.geometries.iter().enumerate() {
                let start = materials.add(geometry, chunks.get(place));
                starts.insert((number, place), start);
            }
        }
        Sources {
            chunks,
            materials,
            starts,
        }
    }

    pub(super) fn compared(&self, one: &ShownGeometry, geometry: &Geometry) -> Compared {
        let shape = geometry.morphs.first();
        let is_plain = matches!(geometry.vertices, Vertices::Plain(_));
        Compared {
            size: self.pairing.size,
            has_normals: is_plain && shape.is_some_and(|shape| shape.normals().next().is_some()),
            has_uvs: geometry.uv_sets > 0,
            has_colors: geometry.flags & PRELIT != 0 && !self.pairing.is_uncolored(one.node),
        }
    }

    /// Returns warnings about changes that cannot be stored.
    pub fn warnings(&self, shown: &[ShownGeometry]) -> Vec<String> {
        let mut warnings = self.pairing.ignored();
        for one in shown {
            let name = &self.pairing.shown.nodes[one.node].name;
            warnings.extend(deformed(name, &self.placed[one.node].mesh));
            let geometries = &self.clumps[one.clump].clump.geometries;
            let geometry = geometries.get(one.geometry);
            let is_plain = geometry.is_some_and(|geometry| geometry.flags & PRELIT == 0);
            if is_plain && self.pairing.is_painted(one.node) {
                warnings.push(format!("node \"{name}\": its mesh cannot have colors"));
            }
        }
        warnings
    }

    /// Adds problems for the edited colors of brightened nodes, which cannot be stored.
    pub fn check_colors(&self, shown: &[ShownGeometry], problems: &mut Problems) {
        for one in shown.iter().filter(|one| one.is_brightened) {
            let Ok(Some((geometry, shown, edited))) = self.meshes(one) else {
                continue;
            };
            let compared = self.compared(one, geometry);
            if compared.has_colors && is_painted(shown, edited, &compared) {
                let name = &self.pairing.shown.nodes[one.node].name;
                problems.add(format!(
                    "node \"{name}\": has colors of a lit geometry, which are shown brighter and \
                     cannot be edited"
                ));
            }
        }
    }
}

/// Returns the mesh of a geometry with its stored colors.
fn with_stored_colors(shown: &Mesh, geometry: &Geometry) -> Mesh {
    let mut stored = shown.clone();
    let colors = geometry.mesh().map(|mesh| mesh.colors).unwrap_or_default();
    for (corner, color) in stored.corners.iter_mut().zip(colors) {
        corner.color = color;
    }
    stored
}

/// Returns whether an edited mesh has other colors than the shown one at the same
/// places. White is the default color of new faces.
fn is_painted(shown: &Mesh, edited: Mesh, compared: &Compared) -> bool {
    let differ = |a: &[u8; 4], b: &[u8; 4]| (0..3).any(|part| a[part].abs_diff(b[part]) > 1);
    let place = |mesh: &Mesh, corner: &Corner| mesh.points[corner.point as usize].map(f32::to_bits);
    match change(shown, edited, compared) {
        Change::None => false,
        Change::Values(values) => {
            let mut pairs = shown.corners.iter().zip(&values.corners);
            pairs.any(|(old, new)| old.color != new.color)
        }
        Change::Anew(edited) => {
            let mut known: HashMap<[u32; 3], Vec<[u8; 4]>> = HashMap::new();
            for corner in &shown.corners {
                let colors = known.entry(place(shown, corner)).or_default();
                if colors.len() < MAX_COLORS {
                    colors.push(corner.color);
                }
            }
            edited.corners.iter().any(|corner| {
                let colors = known.get(&place(&edited, corner));
                let colors = colors.filter(|colors| colors.len() < MAX_COLORS);
                let is_new = |colors: &Vec<_>| colors.iter().all(|one| differ(one, &corner.color));
                corner.color[..3] != [u8::MAX; 3] && colors.is_some_and(is_new)
            })
        }
    }
}
