//! New parts of a clump: frames, with or without meshes, after the existing ones.

use std::collections::{HashMap, HashSet, VecDeque};

use bytes::Bytes;

use super::geometry::{GeometryEdit, edited};
use super::model::{ModelEdit, ShownGeometry, Sources};
use super::{stored, with_body};
use crate::clump::{Geometry, Placement, Vertices};
use crate::{Chunk, kind};
use hpimount_assets::model::Transform;
use hpimount_assets::model::affine::Affine;
use hpimount_assets::model::pairing::{change, numbered};
use hpimount_assets::model::scene::Mesh;
use hpimount_assets::view::import::Problems;
use hpimount_containers::text::windows_1252_byte;

/// Size of the frame and geometry numbers in an atomic.
const NUMBERS: usize = 8;

/// A new part of a clump.
#[derive(Debug)]
pub struct NewPart {
    /// The name of its frame.
    pub name: Vec<u8>,
    /// The number of the parent frame, which may belong to an earlier part.
    pub parent: usize,
    /// Placement in the parent frame.
    pub placement: Placement,
    /// Body of the geometry's chunk; `None` for a frame alone.
    pub geometry: Option<Vec<u8>>,
}

/// Returns the body of a clump's chunk with new parts.
///
/// # Errors
/// Returns the reason why parts cannot be added to the clump.
pub fn with_parts(clump: &Chunk, parts: &[NewPart]) -> Result<Vec<u8>, String> {
    let children: Vec<Chunk> = clump.children().collect();
    if children
        .iter()
        .any(|child| child.is_cut() || child.is_mended)
    {
        return Err("has chunks of spoilt sizes, as a tool that locks models leaves".to_owned());
    }
    let place = |wanted| children.iter().rposition(|child| child.kind == wanted);
    // Only the first list of frames counts.
    let mut all = children.iter();
    let (Some(frames), Some(geometries), Some(atomic)) = (
        all.position(|child| child.kind == kind::FRAME_LIST),
        place(kind::GEOMETRY_LIST),
        place(kind::ATOMIC),
    ) else {
        return Err("has no part, so that none can be added".to_owned());
    };
    let first_frame = count(&children[frames])?;
    let lists = children
        .iter()
        .filter(|child| child.kind == kind::GEOMETRY_LIST);
    let first_geometry = lists.map(count).sum::<Result<usize, _>>()?;
    let mut out = Vec::new();
    for (number, child) in children.iter().enumerate() {
        let new = match child.kind {
            kind::STRUCT => {
                let atomics = parts.iter().filter(|part| part.geometry.is_some());
                with_body(child, &grown(&child.body, atomics.count())?)
            }
            _ if number == frames => with_frames(child, parts)?,
            _ if number == geometries => {
                let geometries = parts.iter().filter_map(|part| part.geometry.as_deref());
                with_geometries(child, geometries)?
            }
            _ => with_body(child, &child.body),
        };
        out.extend(new);
        if number == atomic {
            let drawn = (0..parts.len()).filter(|&part| parts[part].geometry.is_some());
            for (geometry, part) in drawn.enumerate() {
                let numbers = [first_frame + part, first_geometry + geometry];
                out.extend(like(child, numbers)?);
            }
        }
    }
    Ok(out)
}

/// Returns the structure of a list.
fn structure(list: &Chunk) -> Result<Chunk, String> {
    list.child(kind::STRUCT, "list of a clump")
        .map_err(|error| error.to_string())
}

/// Returns the number of elements of a list.
fn count(list: &Chunk) -> Result<usize, String> {
    let fields = structure(list)?.body;
    let count = fields.first_chunk().ok_or("has a list that is cut")?;
    Ok(u32::from_le_bytes(*count) as usize)
}

/// Increments the number of elements at the start of a structure by `by`.
fn grown(fields: &[u8], by: usize) -> Result<Vec<u8>, String> {
    let (count, rest) = fields.split_first_chunk().ok_or("has a list that is cut")?;
    let count = u32::from_le_bytes(*count).checked_add(by as u32);
    let count = count.ok_or("has too many parts")?;
    Ok([&count.to_le_bytes(), rest].concat())
}

fn with_frames(list: &Chunk, parts: &[NewPart]) -> Result<Vec<u8>, String> {
    let fields = structure(list)?;
    let mut body = grown(&fields.body, parts.len())?;
    for part in parts {
        let Placement {
            right,
            up,
            at,
            position,
        } = part.placement;
        let floats = [right, up, at, position];
        body.extend(
            floats
                .as_flattened()
                .iter()
                .flat_map(|part| part.to_le_bytes()),
        );
        body.extend((part.parent as u32).to_le_bytes());
        body.extend([0; 4]);
    }
    let names = parts.iter().map(|part| {
        let name = stored(kind::FRAME_NAME, list.version, &part.name);
        stored(kind::EXTENSION, list.version, &name)
    });
    Ok(with_elements(list, &with_body(&fields, &body), names))
}

fn with_geometries<'a>(
    list: &Chunk,
    geometries: impl Iterator<Item = &'a [u8]> + Clone,
) -> Result<Vec<u8>, String> {
    let fields = structure(list)?;
    let body = grown(&fields.body, geometries.clone().count())?;
    let new = geometries.map(|body| stored(kind::GEOMETRY, list.version, body));
    Ok(with_elements(list, &with_body(&fields, &body), new))
}

/// Returns a list with this structure, and new elements behind those that it has.
fn with_elements(list: &Chunk, fields: &[u8], new: impl Iterator<Item = Vec<u8>>) -> Vec<u8> {
    let old = list.children().filter(|child| child.kind != kind::STRUCT);
    let old = old.flat_map(|child| with_body(&child, &child.body));
    let all: Vec<u8> = fields
        .iter()
        .copied()
        .chain(old)
        .chain(new.flatten())
        .collect();
    with_body(list, &all)
}

/// Copies an atomic with other frame and geometry numbers, and without extensions,
/// which belong to a geometry.
fn like(atomic: &Chunk, numbers: [usize; 2]) -> Result<Vec<u8>, String> {
    let fields = atomic.child(kind::STRUCT, "atomic");
    let fields = fields.map_err(|error| error.to_string())?;
    let rest = fields
        .body
        .get(NUMBERS..)
        .ok_or("has an atomic that is cut")?;
    let numbers = numbers.map(|number| (number as u32).to_le_bytes());
    let body = [numbers.as_flattened(), rest].concat();
    let extension = stored(kind::EXTENSION, atomic.version, &[]);
    Ok(with_body(
        atomic,
        &[with_body(&fields, &body), extension].concat(),
    ))
}

/// Removes all plugins from the body of a geometry's chunk, except for the list of
/// triangles by material.
pub(super) fn without_plugins(geometry: &Chunk) -> Vec<u8> {
    let children = geometry.children().map(|child| match child.kind {
        kind::EXTENSION => {
            let lists = child
                .children()
                .filter(|plugin| plugin.kind == kind::BIN_MESH);
            let lists: Vec<_> = lists
                .map(|plugin| with_body(&plugin, &plugin.body))
                .collect();
            with_body(&child, &lists.concat())
        }
        _ => with_body(&child, &child.body),
    });
    children.collect::<Vec<_>>().concat()
}

/// Maximum length of a frame's name.
const MAX_NAME: usize = 23;

/// Maximum total size of new geometries in bytes: many nodes may share a mesh.
const MAX_ADDED: usize = 64 << 20;

/// A possible parent frame: its number, and its map to the edited scene.
type Frame = (usize, Affine);

/// A plain geometry of a clump, the template for the form of new ones.
type Example<'a> = (&'a ShownGeometry, &'a Geometry, &'a Mesh);

/// Sources of new geometries.
struct Examples<'a> {
    sources: Sources<'a>,
    all: Vec<Example<'a>>,
    /// The examples, by node name.
    named: HashMap<&'a str, usize>,
}

impl ModelEdit<'_> {
    /// Returns the parts for the new nodes. Their frames are numbered after the frames
    /// of the clump, whose first one is the shown node `first_frame`. Each geometry has
    /// the form of an existing one.
    pub fn new_parts(
        &self,
        shown: &[ShownGeometry],
        first_frame: usize,
        problems: &mut Problems,
    ) -> Vec<NewPart> {
        if self.pairing.new.is_empty() {
            return Vec::new();
        }
        let scene = &self.pairing.edited.scene;
        let new: HashSet<usize> = self.pairing.new.iter().copied().collect();
        let examples = self.examples(shown);
        let count = self.clumps[0].clump.frames.len();
        let edited = self.pairing.nodes.iter().skip(first_frame).take(count);
        let frames = edited.enumerate().filter_map(|(number, node)| {
            let node = (*node)?;
            Some((node, (number, *self.pairing.world(node))))
        });
        let frames: HashMap<usize, Frame> = frames.collect();
        let root = self.pairing.nodes.get(first_frame).copied().flatten();
        let root = root.and_then(|node| frames.get(&node).copied());
        let (mut parts, mut length) = (Vec::new(), 0);
        // Each node with the nearest frame above it. Parents come first.
        let (children, roots) = scene.children();
        let mut pending: VecDeque<_> = roots.into_iter().map(|node| (node, None)).collect();
        while let Some((node, above)) = pending.pop_front() {
            let mut frame = frames.get(&node).copied().or(above);
            if new.contains(&node) {
                let part = match above.or(root) {
                    Some(parent) => self.new_part(node, &parent, &examples),
                    None => Err("is below no part of the model".to_owned()),
                };
                match part {
                    Ok((part, world)) => {
                        frame = Some((count + parts.len(), world));
                        length += part.geometry.as_ref().map_or(0, Vec::len);
                        parts.push(part);
                    }
                    Err(problem) => {
                        let name = &scene.nodes[node].name;
                        problems.add(format!("node \"{name}\" is new: {problem}"));
                    }
                }
                if length > MAX_ADDED {
                    problems.add(format!("the new parts have more than {MAX_ADDED} bytes"));
                    break;
                }
            }
            pending.extend(children[node].iter().map(|&child| (child, frame)));
        }
        parts
    }

    /// Returns the plain geometries.
    fn examples<'s>(&'s self, shown: &'s [ShownGeometry]) -> Examples<'s> {
        let scene = self.pairing.shown;
        let plain = shown.iter().filter_map(|one| {
            let geometry = self.clumps[one.clump].clump.geometries.get(one.geometry)?;
            let mesh = scene.meshes.get(scene.nodes[one.node].mesh?)?;
            let is_plain = matches!(geometry.vertices, Vertices::Plain(_))
                && !geometry.has_skin
                && geometry.declared_morphs == 1
                && one.back == Some(Affine::IDENTITY);
            is_plain.then_some((one, geometry, mesh))
        });
        let all: Vec<Example<'_>> = plain.collect();
        let names = all.iter().enumerate().rev();
        let names = names.map(|(number, (one, ..))| (&*scene.nodes[one.node].name, number));
        Examples {
            sources: self.sources(),
            named: names.collect(),
            all,
        }
    }

    /// Returns the part for a new node, and the map from its frame to the edited scene.
    fn new_part(
        &self,
        node: usize,
        (parent, world): &Frame,
        examples: &Examples<'_>,
    ) -> Result<(NewPart, Affine), String> {
        let name = &self.pairing.edited.scene.nodes[node].name;
        let letters: Option<Vec<u8>> = name.chars().map(windows_1252_byte).collect();
        let is_name = |name: &Vec<u8>| (1..=MAX_NAME).contains(&name.len());
        let letters = letters.filter(is_name);
        let letters =
            letters.ok_or_else(|| format!("its name must have 1 to {MAX_NAME} letters"))?;
        const FLAT: &str = "is below a node that is flat";
        let local = world.inverse().ok_or(FLAT)?.after(self.pairing.world(node));
        let place = Affine::from(&Transform {
            scale: [1.0; 3],
            ..local.transform()
        });
        let map = place.inverse().ok_or(FLAT)?.after(&local);
        let map = match map.is_near(&Affine::IDENTITY, self.pairing.size) {
            true => Affine::IDENTITY,
            false => map,
        };
        let part = NewPart {
            name: letters,
            parent: *parent,
            placement: Placement::of(|point| place.apply(point)),
            geometry: match self.pairing.mesh(node, &map)? {
                Some(mesh) => Some(self.new_geometry(name, mesh, examples)?),
                None => None,
            },
        };
        Ok((part, world.after(&place)))
    }

    /// Encodes the mesh of a new node as the body of a geometry. Its form is taken from
    /// the part that the node copies, according to its name, or else from the first
    /// part.
    fn new_geometry(
        &self,
        name: &str,
        mut mesh: Mesh,
        Examples {
            sources,
            all,
            named,
        }: &Examples<'_>,
    ) -> Result<Vec<u8>, String> {
        if mesh.triangles() == 0 {
            return Err("has no faces".to_owned());
        }
        if !mesh.weights.is_empty() {
            return Err("has weights of joints, and skins cannot be added".to_owned());
        }
        let stem = numbered(name).map_or(name, |(stem, _)| stem);
        let number = named.get(stem).copied().unwrap_or_default();
        let (one, geometry, shown) = *all
            .get(number)
            .ok_or("no part of the model is a plain geometry, whose form it could have")?;
        let key = (one.clump, one.geometry);
        let chunk = sources.chunks[one.clump].get(one.geometry);
        let (Some(chunk), Some(&start)) = (chunk, sources.starts.get(&key)) else {
            return Err("has a geometry that is not there".to_owned());
        };
        let mut shown = shown.clone();
        for part in shown.parts.iter_mut().chain(&mut mesh.parts) {
            part.material = sources.materials.first(part.material, geometry.version);
        }
        let change = change(&shown, mesh, &self.compared(one, geometry));
        let body = edited(&GeometryEdit {
            chunk,
            geometry,
            shown: &shown,
            change: &change,
            back: Affine::IDENTITY,
            is_counted: false,
            material: &|number| sources.materials.source(geometry, start, number),
        })?;
        let geometry = Chunk {
            body: body.map_or_else(|| chunk.body.clone(), Bytes::from),
            ..chunk.clone()
        };
        Ok(without_plugins(&geometry))
    }
}
