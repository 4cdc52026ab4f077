//! Reader of GLB files from any program: untrusted, so offsets are checked and sizes
//! are bounded.

use std::collections::{BTreeMap, HashMap};

use gltf_json::mesh::{Mode, Primitive, Semantic};
use gltf_json::validation::Checked::{self, Valid};
use gltf_json::{Accessor, Index, Root};

use super::accessor::Numbers;
use super::file::{parsed_size, unpack};
use crate::model::affine::Affine;
use crate::model::edited::{Edited, MAX_MATERIALS, MAX_NODES};
use crate::model::math::{add, cross, finite, srgb, subtract, unit};
use crate::model::scene::{
    Alpha, Corner, Joint, Material, Mesh, Node, Part, Texture, Weight, Weights, Wrap, sound_parents,
};
use crate::model::{CORNER_BYTES, MAX_CORNERS, Reserve, Transform};

/// Maximum number of sets of texture coordinates that are read.
const MAX_SETS: u32 = 8;

/// Memory of a vertex attribute in addition to `CORNER_BYTES`, in bytes.
const ATTRIBUTE_BYTES: usize = 32;
const USUAL_ATTRIBUTES: usize = 4;

/// Required extensions that this reader supports.
const KNOWN: [&str; 2] = ["KHR_materials_unlit", "KHR_node_visibility"];

/// Reads a model. `reserve` accounts for the scene and for temporary memory.
///
/// # Errors
/// Returns the defect of the file, as the rest of a sentence that begins with the file.
pub fn read(file: &[u8], reserve: Reserve<'_>) -> Result<Edited, String> {
    let (json, binary) = unpack(file)?;
    let _parsing = reserve(parsed_size(json)).map_err(|error| error.to_string())?;
    let root = Root::from_slice(json).map_err(|error| format!("is no glTF: {error}"))?;
    if root.buffers.iter().any(|buffer| buffer.uri.is_some()) {
        return Err("has its buffer in another file: export it as one GLB file".to_owned());
    }
    let mut required = root.extensions_required.iter();
    if let Some(unknown) = required.find(|one| !KNOWN.contains(&one.as_str())) {
        return Err(format!(
            "needs the extension {unknown}: export it without compression"
        ));
    }
    let order = Order::new(&root)?;
    let mut reader = Reader {
        numbers: Numbers {
            root: &root,
            binary,
        },
        edited: Edited::default(),
        meshes: HashMap::new(),
        joints: HashMap::new(),
    };
    reader.reserve(&order, reserve)?;
    reader.materials();
    reader.nodes(&order)?;
    Ok(reader.edited)
}

/// The nodes that the scenes of a file show.
struct Order {
    /// Their numbers in the file, which rise.
    nodes: Vec<usize>,
    /// The parent of each node of the file.
    parents: Vec<Option<usize>>,
}

impl Order {
    fn new(root: &Root) -> Result<Self, String> {
        let count = root.nodes.len();
        if count > MAX_NODES {
            return Err(format!("has {count} nodes, more than {MAX_NODES}"));
        }
        let mut parents = vec![None; count];
        for (number, node) in root.nodes.iter().enumerate() {
            for child in node.children.iter().flatten() {
                match parents.get_mut(child.value()) {
                    Some(parent @ None) => *parent = Some(number),
                    Some(_) => return Err(format!("node {} has two parents", child.value())),
                    None => return Err(format!("node {} is missing", child.value())),
                }
            }
        }
        let mut shown = vec![false; count];
        let listed = root.scenes.iter().flat_map(|scene| &scene.nodes);
        let mut pending: Vec<usize> = listed.map(Index::value).collect();
        if root.scenes.is_empty() {
            pending.extend((0..count).filter(|&node| parents[node].is_none()));
        }
        while let Some(number) = pending.pop() {
            let node = root.nodes.get(number);
            let node = node.ok_or_else(|| format!("node {number} is missing"))?;
            if std::mem::replace(&mut shown[number], true) {
                continue;
            }
            pending.extend(node.children.iter().flatten().map(Index::value));
        }
        if sound_parents(count, |node| parents[node]) != parents {
            return Err("has a node that is above itself".to_owned());
        }
        for parent in &mut parents {
            *parent = parent.filter(|&parent| shown[parent]);
        }
        Ok(Self {
            nodes: (0..count).filter(|&number| shown[number]).collect(),
            parents,
        })
    }
}

/// The semantics and accessors of a primitive's attributes.
type Attributes = BTreeMap<Checked<Semantic>, Index<Accessor>>;

/// The size of meshes.
#[derive(Clone, Copy, Default)]
struct Size {
    vertices: usize,
    /// The corners of triangles.
    corners: usize,
    /// The memory of the vertices.
    bytes: usize,
}

impl Size {
    fn add(&mut self, other: Self) {
        self.vertices = self.vertices.saturating_add(other.vertices);
        self.corners = self.corners.saturating_add(other.corners);
        self.bytes = self.bytes.saturating_add(other.bytes);
    }
}

struct Reader<'a> {
    numbers: Numbers<'a>,
    edited: Edited,
    /// Scene meshes by mesh and skin of the file.
    meshes: HashMap<(usize, Option<usize>), usize>,
    /// Scene joints by node of the file.
    joints: HashMap<usize, usize>,
}

impl Reader<'_> {
    /// Accounts for the scene. A mesh counts once for each node that shows it.
    fn reserve(&mut self, order: &Order, reserve: Reserve<'_>) -> Result<(), String> {
        let root = self.numbers.root;
        if root.materials.len() > MAX_MATERIALS {
            return Err(format!("has more than {MAX_MATERIALS} materials"));
        }
        let (mut known, mut all) = (HashMap::new(), Size::default());
        for &number in &order.nodes {
            let Some(mesh) = root.nodes[number].mesh.map(|mesh| mesh.value()) else {
                continue;
            };
            let size = match known.get(&mesh) {
                Some(&size) => size,
                None => self.size(mesh)?,
            };
            known.insert(mesh, size);
            all.add(size);
        }
        let Size {
            vertices,
            corners,
            bytes,
        } = all;
        if vertices > MAX_CORNERS || corners > 3 * MAX_CORNERS {
            return Err(format!(
                "has {vertices} vertices and {corners} corners of triangles, more than \
                 {MAX_CORNERS} and three times as many"
            ));
        }
        let bytes = bytes.saturating_add(corners * size_of::<u32>());
        self.edited.memory = reserve(bytes).map_err(|error| error.to_string())?;
        Ok(())
    }

    /// Returns the size of a mesh after reading.
    fn size(&self, mesh: usize) -> Result<Size, String> {
        let (mut all, mut before) = (Size::default(), None);
        let mesh = self.numbers.root.meshes.get(mesh);
        let primitives = mesh.into_iter().flat_map(|mesh| &mesh.primitives);
        for primitive in primitives.filter(|one| is_surface(one)) {
            let attributes = &primitive.attributes;
            let vertices = match attributes.get(&Valid(Semantic::Positions)) {
                Some(&positions) => self.numbers.count(positions)?,
                None => 0,
            };
            let indices = match primitive.indices {
                Some(indices) => self.numbers.count(indices)?,
                None => vertices,
            };
            let is_list = matches!(primitive.mode, Valid(Mode::Triangles));
            all.add(Size {
                // An empty primitive takes time too.
                corners: indices.saturating_mul(if is_list { 1 } else { 3 }).max(1),
                ..Size::default()
            });
            if before != Some(attributes) {
                let others = attributes.len().saturating_sub(USUAL_ATTRIBUTES);
                let vertex = CORNER_BYTES + others * ATTRIBUTE_BYTES;
                all.add(Size {
                    vertices,
                    bytes: vertices.saturating_mul(vertex),
                    ..Size::default()
                });
                before = Some(attributes);
            }
        }
        Ok(all)
    }

    fn materials(&mut self) {
        let root = self.numbers.root;
        let materials = root.materials.iter().map(|material| {
            let surface = &material.pbr_metallic_roughness;
            let [r, g, b, alpha] = surface.base_color_factor.0;
            let texture = surface.base_color_texture.as_ref();
            let texture = texture.and_then(|info| root.textures.get(info.index.value()));
            let picture = texture.map(|texture| texture.source.value());
            let image = picture.and_then(|picture| root.images.get(picture));
            let file = image.and_then(|image| image.name.clone());
            let file = file.or_else(|| texture.and_then(|texture| texture.name.clone()));
            Material {
                name: material.name.clone().unwrap_or_default(),
                color: [srgb(r), srgb(g), srgb(b), alpha].map(finite),
                texture: picture.map(|picture| Texture {
                    picture,
                    file: file.unwrap_or_default(),
                    wrap: [Wrap::Repeat; 2],
                    sharp: false,
                }),
                alpha: Alpha::Opaque,
                double_sided: material.double_sided,
                unlit: false,
            }
        });
        self.edited.scene.materials = materials.collect();
    }

    fn nodes(&mut self, order: &Order) -> Result<(), String> {
        let root = self.numbers.root;
        let places = order.nodes.iter().enumerate();
        let places: HashMap<usize, usize> = places.map(|(place, &node)| (node, place)).collect();
        for (number, skin) in root.skins.iter().enumerate() {
            self.skin(number, skin, &places)?;
        }
        for &number in &order.nodes {
            let node = &root.nodes[number];
            let mesh = match node.mesh {
                Some(mesh) => self.mesh(mesh.value(), skin_of(node))?,
                None => None,
            };
            let named = node.mesh.and_then(|mesh| root.meshes.get(mesh.value()));
            let name = node.name.as_ref().or_else(|| named?.name.as_ref());
            let name = name.cloned().unwrap_or_default();
            let transform = transform(node)
                .ok_or_else(|| format!("the matrix of node \"{name}\" has shear, which cannot be stored: apply the transformation to the mesh"))?;
            self.edited.scene.nodes.push(Node {
                name,
                parent: order.parents[number].and_then(|parent| places.get(&parent).copied()),
                transform,
                mesh,
            });
        }
        Ok(())
    }

    /// Adds the joints of a skin.
    fn skin(
        &mut self,
        number: usize,
        skin: &gltf_json::Skin,
        places: &HashMap<usize, usize>,
    ) -> Result<(), String> {
        let matrices = match skin.inverse_bind_matrices {
            Some(matrices) => self.numbers.floats::<16>(matrices, skin.joints.len())?,
            None => Vec::new(),
        };
        for (place, node) in skin.joints.iter().enumerate() {
            let missing = || format!("joint {place} of skin {number} is not in a scene");
            let &shown = places.get(&node.value()).ok_or_else(missing)?;
            let next = self.edited.scene.joints.len();
            if *self.joints.entry(node.value()).or_insert(next) == next {
                self.edited.scene.joints.push(Joint {
                    node: shown,
                    inverse_bind: matrices.get(place).copied().unwrap_or(IDENTITY),
                });
            }
        }
        Ok(())
    }

    /// Returns the number of a mesh in the scene, or `None` if it has no triangles.
    fn mesh(&mut self, number: usize, skin: Option<usize>) -> Result<Option<usize>, String> {
        let found = self.numbers.root.meshes.get(number);
        let found = found.ok_or_else(|| format!("mesh {number} is missing"))?;
        if let Some(&known) = self.meshes.get(&(number, skin)) {
            return Ok(Some(known));
        }
        let joints = match skin {
            Some(skin) => Some(self.joints_of(skin)?),
            None => None,
        };
        let mut mesh = Mesh {
            name: found.name.clone().unwrap_or_default(),
            ..Mesh::default()
        };
        let (mut is_colored, mut first) = (false, 0);
        let mut before: Option<&Attributes> = None;
        for primitive in found.primitives.iter().filter(|one| is_surface(one)) {
            // Primitives often share their vertices.
            if before != Some(&primitive.attributes) {
                first = mesh.points.len();
                is_colored |= self.vertices(&primitive.attributes, joints.as_deref(), &mut mesh)?;
                before = Some(&primitive.attributes);
            }
            let part = self.part(number, primitive, first, mesh.points.len())?;
            if !part.triangles.is_empty() {
                mesh.parts.push(part);
            }
        }
        if mesh.parts.is_empty() {
            return Ok(None);
        }
        add_normals(&mut mesh);
        let next = self.edited.scene.meshes.len();
        if !is_colored {
            self.edited.uncolored.insert(next);
        }
        self.meshes.insert((number, skin), next);
        self.edited.scene.meshes.push(mesh);
        Ok(Some(next))
    }

    /// Maps the joints of a skin to joints of the scene.
    fn joints_of(&self, skin: usize) -> Result<Vec<u16>, String> {
        let found = self.numbers.root.skins.get(skin);
        let found = found.ok_or_else(|| format!("skin {skin} is missing"))?;
        let numbers = found.joints.iter();
        let numbers = numbers.map(|joint| u16::try_from(self.joints[&joint.value()]).ok());
        let numbers: Option<Vec<u16>> = numbers.collect();
        numbers.ok_or_else(|| format!("skin {skin} has too many joints"))
    }

    /// Adds the vertices of a primitive to a mesh. Returns true if they have colors.
    fn vertices(
        &mut self,
        attributes: &Attributes,
        joints: Option<&[u16]>,
        mesh: &mut Mesh,
    ) -> Result<bool, String> {
        let find = |semantic: Semantic| attributes.get(&Valid(semantic)).copied();
        let positions = find(Semantic::Positions).ok_or("has a mesh without positions")?;
        let (first, count) = (mesh.points.len(), self.numbers.count(positions)?);
        let positions = self.numbers.floats::<3>(positions, count)?;
        let normals = match find(Semantic::Normals) {
            Some(normals) => self.numbers.floats::<3>(normals, count)?,
            None => Vec::new(),
        };
        let colors = match find(Semantic::Colors(0)) {
            Some(colors) => self.numbers.colors(colors, count)?,
            None => Vec::new(),
        };
        let mut sets = Vec::new();
        for set in 0..MAX_SETS {
            let Some(set) = find(Semantic::TexCoords(set)) else {
                break;
            };
            sets.push(self.numbers.floats::<2>(set, count)?);
        }
        let uv = |set: usize, vertex: usize| -> [f32; 2] {
            let set = sets.get(set).and_then(|set| set.get(vertex));
            set.copied().unwrap_or_default()
        };
        mesh.points
            .extend(positions.iter().map(|&point| point.map(finite)));
        mesh.corners.extend((0..count).map(|vertex| {
            Corner {
                point: (first + vertex) as u32,
                normal: normals
                    .get(vertex)
                    .copied()
                    .and_then(unit)
                    .unwrap_or_default(),
                uv: uv(0, vertex),
                color: colors.get(vertex).copied().unwrap_or([u8::MAX; 4]),
            }
        }));
        let others = mesh.other_uvs.len().max(sets.len().saturating_sub(1));
        mesh.other_uvs.resize_with(others, Vec::new);
        for (set, values) in mesh.other_uvs.iter_mut().enumerate() {
            values.resize(first, [0.0; 2]);
            values.extend((0..count).map(|vertex| uv(set + 1, vertex)));
        }
        let skin = joints.zip(find(Semantic::Joints(0)).zip(find(Semantic::Weights(0))));
        if let Some((joints, (indices, weights))) = skin {
            let indices = self.numbers.whole::<4>(indices, count)?;
            let weights = self.numbers.floats::<4>(weights, count)?;
            let shares = indices.into_iter().zip(weights);
            mesh.weights.resize(first, Weights::default());
            for (indices, weights) in shares {
                mesh.weights.push(shared(indices, weights, joints)?);
            }
        }
        if !mesh.weights.is_empty() {
            mesh.weights.resize(first + count, Weights::default());
        }
        Ok(!colors.is_empty())
    }

    /// Returns the triangles of a primitive, which has the vertices `first..end`.
    fn part(
        &self,
        mesh: usize,
        primitive: &Primitive,
        first: usize,
        end: usize,
    ) -> Result<Part, String> {
        let count = (end - first) as u32;
        let indices: Vec<u32> = match primitive.indices {
            Some(indices) => self
                .numbers
                .whole::<1>(indices, self.numbers.count(indices)?)?
                .into_iter()
                .flatten()
                .collect(),
            None => (0..count).collect(),
        };
        if let Some(past) = indices.iter().find(|&&index| index >= count) {
            return Err(format!("mesh {mesh} has vertex {past} of {count}"));
        }
        let at = |place: usize| first as u32 + indices[place];
        let pairs = 0..indices.len().saturating_sub(2);
        let triangles = match primitive.mode {
            Valid(Mode::TriangleStrip) => pairs
                .map(|n| [at(n + n % 2), at(n + 1 - n % 2), at(n + 2)])
                .collect(),
            Valid(Mode::TriangleFan) => pairs.map(|n| [at(0), at(n + 1), at(n + 2)]).collect(),
            _ => (0..indices.len() / 3)
                .map(|n| [at(3 * n), at(3 * n + 1), at(3 * n + 2)])
                .collect(),
        };
        let materials = self.edited.scene.materials.len();
        let material = primitive.material.map_or(materials, |one| one.value());
        if primitive.material.is_some() && material >= materials {
            return Err(format!(
                "mesh {mesh} has material {material} of {materials}"
            ));
        }
        Ok(Part {
            material,
            triangles,
            ..Part::default()
        })
    }
}

const IDENTITY: [f32; 16] = [
    1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0,
];

/// Returns whether a primitive has triangles.
fn is_surface(primitive: &Primitive) -> bool {
    matches!(
        primitive.mode,
        Valid(Mode::Triangles | Mode::TriangleStrip | Mode::TriangleFan)
    )
}

fn skin_of(node: &gltf_json::Node) -> Option<usize> {
    node.skin.map(|skin| skin.value())
}

/// Returns the transformation of a node; `None` if its matrix has shear.
fn transform(node: &gltf_json::Node) -> Option<Transform> {
    if let Some(matrix) = &node.matrix {
        // Column by column for column vectors, which is the same.
        let axes = [0, 4, 8].map(|at| [matrix[at], matrix[at + 1], matrix[at + 2]].map(finite));
        let is_sheared = Affine::new(axes, [0.0; 3]).is_sheared();
        return (!is_sheared).then(|| Transform::from_row_vector_matrix(matrix));
    }
    let rotation = node
        .rotation
        .map_or(Transform::IDENTITY.rotation, |one| one.0);
    let length = rotation.iter().map(|part| part * part).sum::<f32>().sqrt();
    Some(Transform {
        translation: node.translation.unwrap_or_default().map(finite),
        rotation: match length.is_finite() && length > 1e-6 {
            true if (length - 1.0).abs() < 1e-5 => rotation,
            true => rotation.map(|part| part / length),
            false => Transform::IDENTITY.rotation,
        },
        scale: node.scale.unwrap_or([1.0; 3]).map(finite),
    })
}

/// Returns the joints of a vertex without duplicates, with weights that sum to 1.
fn shared(indices: [u32; 4], weights: [f32; 4], joints: &[u16]) -> Result<Weights, String> {
    let mut shares = Weights::default();
    let mut count = 0;
    for (index, weight) in indices.into_iter().zip(weights) {
        if weight <= 0.0 {
            continue;
        }
        let joint = joints.get(index as usize);
        let &joint = joint.ok_or_else(|| format!("has joint {index} of {}", joints.len()))?;
        match shares[..count].iter_mut().find(|one| one.joint == joint) {
            Some(share) => share.weight += weight,
            None => {
                shares[count] = Weight { joint, weight };
                count += 1;
            }
        }
    }
    let sum: f32 = shares.iter().map(|share| share.weight).sum();
    for share in &mut shares {
        share.weight = if sum > 0.0 { share.weight / sum } else { 0.0 };
    }
    Ok(shares)
}

/// Gives corners without a normal the mean normal of their triangles.
fn add_normals(mesh: &mut Mesh) {
    let mut sums = vec![[0.0; 3]; mesh.corners.len()];
    for triangle in mesh.parts.iter().flat_map(|part| &part.triangles) {
        let [a, b, c] = triangle.map(|corner| mesh.points[corner as usize]);
        let normal = cross(subtract(b, a), subtract(c, a));
        for &corner in triangle {
            sums[corner as usize] = add(sums[corner as usize], normal);
        }
    }
    for (corner, sum) in mesh.corners.iter_mut().zip(sums) {
        if corner.normal == [0.0; 3] {
            corner.normal = unit(sum).unwrap_or([0.0, 1.0, 0.0]);
        }
    }
}
