//! Meshes: vertices, triangles, skin and blend shapes (FORMATS, HGO 7).

use get_size2::GetSize;

use super::material::floats;
use hpimount_assets::parse::count::{count, fill, fitting};
use hpimount_containers::io::Warnings;
use hpimount_containers::io::{Cursor, Error, Result};

/// Minimum length of a mesh in bytes: its six numbers.
pub(super) const MESH_SIZE: usize = 24;

/// Bytes of a vertex.
const VERTEX_SIZE: usize = 36;

/// Bytes of the weights of a vertex.
const WEIGHTS_SIZE: usize = 16;

/// Triangles of one material.
#[derive(Debug, Default, Clone, PartialEq, GetSize)]
pub struct Mesh {
    /// Absolute offset.
    pub offset: usize,
    /// Number of the material.
    pub material: i32,
    /// The vertices.
    pub vertices: Vec<Vertex>,
    /// 0 in all known files.
    pub control: i32,
    /// The triangles.
    pub primitives: Vec<Primitive>,
    /// The joints that bend it, with their weights.
    pub skin: Option<Skin>,
    /// Blend shapes.
    pub blend_shapes: Option<BlendShapes>,
}

impl Mesh {
    /// Returns the number of triangles.
    pub fn triangle_count(&self) -> usize {
        let primitives = self.primitives.iter();
        primitives
            .map(|primitive| primitive.triangles().count())
            .sum()
    }
}

/// A vertex. Lengths are in the game's units, y up.
#[derive(Debug, Clone, Copy, PartialEq, GetSize)]
pub struct Vertex {
    /// Position.
    pub position: [f32; 3],
    /// Normal.
    pub normal: [f32; 3],
    /// Color: alpha in the highest byte, then red, green, blue.
    pub color: u32,
    /// Texture coordinates, 0 to 1, and beyond if it repeats.
    pub uv: [f32; 2],
}

/// Triangles.
#[derive(Debug, Default, Clone, PartialEq, Eq, GetSize)]
pub struct Primitive {
    /// Encoding of the triangles.
    pub kind: PrimitiveKind,
    /// The numbers as stored.
    pub indices: Vec<u16>,
}

/// The format of triangles.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, GetSize)]
pub enum PrimitiveKind {
    /// Three numbers of vertices each.
    #[default]
    List,
    /// Strips, each preceded by its length.
    Strips,
}

impl PrimitiveKind {
    /// Returns its number in the file.
    pub fn code(self) -> i32 {
        match self {
            Self::List => 5,
            Self::Strips => 6,
        }
    }
}

impl Primitive {
    /// Returns the triangles as vertex numbers, in consistent winding order and without
    /// degenerate triangles of strips. The numbers may be out of range.
    pub fn triangles(&self) -> impl Iterator<Item = [u16; 3]> + use<'_> {
        let (list, strips): (&[u16], &[u16]) = match self.kind {
            PrimitiveKind::List => (&self.indices, &[]),
            PrimitiveKind::Strips => (&[], &self.indices),
        };
        let list = list.as_chunks().0.iter().copied();
        list.chain(Strips { rest: strips }.flat_map(strip_triangles))
    }

    /// Returns whether the last strip is longer than the rest of the list.
    fn overruns(&self) -> bool {
        let mut position = 0;
        while let Some(&length) = self.indices.get(position) {
            position += 1 + usize::from(length);
        }
        self.kind == PrimitiveKind::Strips && position > self.indices.len()
    }
}

/// An iterator over the strips of an index list. The last strip may be truncated.
struct Strips<'a> {
    rest: &'a [u16],
}

impl<'a> Iterator for Strips<'a> {
    type Item = &'a [u16];

    fn next(&mut self) -> Option<Self::Item> {
        let (&length, rest) = self.rest.split_first()?;
        let (strip, rest) = rest.split_at(usize::from(length).min(rest.len()));
        self.rest = rest;
        Some(strip)
    }
}

fn strip_triangles(strip: &[u16]) -> impl Iterator<Item = [u16; 3]> {
    strip.windows(3).enumerate().filter_map(|(index, corners)| {
        let &[a, b, c] = corners else { return None };
        // Every second triangle of a strip is wound the other way.
        let triangle = if index % 2 == 0 { [a, b, c] } else { [b, a, c] };
        (a != b && b != c && a != c).then_some(triangle)
    })
}

/// The joints of a mesh, with their weights.
#[derive(Debug, Clone, PartialEq, GetSize)]
pub enum Skin {
    /// Three joints for every vertex.
    Vertex(Vec<VertexWeights>),
    /// Any number of joints for runs of vertices.
    Grouped(Vec<SkinGroup>),
}

/// The joints that move a vertex.
#[derive(Debug, Clone, Copy, PartialEq, GetSize)]
pub struct VertexWeights {
    /// The weight of each joint; 0 for an unused one.
    pub weights: [f32; 3],
    /// Numbers of the joints.
    pub joints: [u8; 3],
}

/// The joints of a run of vertices.
#[derive(Debug, Default, Clone, PartialEq, GetSize)]
pub struct SkinGroup {
    /// Number of the first vertex.
    pub first: i32,
    /// Number of vertices.
    pub vertex_count: usize,
    /// Numbers of the joints.
    pub joints: Vec<i32>,
    /// The weights of each joint for each vertex, as stored: joints times vertices.
    pub weights: Vec<f32>,
}

impl Skin {
    /// Returns the joints with a weight for any vertex.
    pub fn joints(&self) -> Vec<i32> {
        let mut joints = Vec::new();
        match self {
            Self::Vertex(vertices) => {
                let mut used = [false; 256];
                for vertex in vertices {
                    for (&weight, &joint) in vertex.weights.iter().zip(&vertex.joints) {
                        // Joint 0 is not special: the weight decides.
                        used[usize::from(joint)] |= weight != 0.0;
                    }
                }
                let numbers = (0..).zip(used).filter(|&(_, used)| used);
                joints.extend(numbers.map(|(joint, _)| joint));
            }
            Self::Grouped(groups) => {
                joints.extend(groups.iter().flat_map(|group| &group.joints));
                joints.sort_unstable();
                joints.dedup();
            }
        }
        joints
    }
}

/// Blend shapes of a mesh.
#[derive(Debug, Default, Clone, PartialEq, GetSize)]
pub struct BlendShapes {
    /// Ids of the shapes in animations.
    pub ids: Vec<i32>,
    /// Length of the vectors in bytes, as stored.
    pub byte_count: u32,
    /// Displacements of all vertices: for each existing shape, a vector for each
    /// vertex.
    pub deltas: Vec<[f32; 3]>,
    /// Nonzero for each shape that is present.
    pub present: Vec<u8>,
}

/// Reads a mesh of an object with this number of joints.
pub(super) fn read(
    cursor: &mut Cursor<'_>,
    joints: usize,
    mesh: &mut Mesh,
    warnings: &mut Warnings,
) -> Result<()> {
    let start = cursor.offset();
    mesh.offset = start as usize;
    mesh.material = cursor.i32("mesh material")?;
    let vertices = count(cursor, VERTEX_SIZE, "vertex count")?;
    mesh.vertices.reserve_exact(vertices);
    for _ in 0..vertices {
        mesh.vertices.push(Vertex {
            position: floats(cursor, "vertex position")?,
            normal: floats(cursor, "vertex normal")?,
            color: cursor.u32("vertex color")?,
            uv: floats(cursor, "vertex uv")?,
        });
    }
    mesh.control = cursor.i32("mesh control")?;
    for _ in 0..count(cursor, 8, "primitive count")? {
        let primitive = read_primitive(cursor)?;
        check_indices(&primitive, mesh.vertices.len(), start, warnings);
        mesh.primitives.push(primitive);
    }
    mesh.skin = read_skin(cursor, mesh.vertices.len())?;
    let bent_by = mesh.skin.iter().flat_map(Skin::joints);
    let exists = |joint: &i32| usize::try_from(*joint).is_ok_and(|joint| joint < joints);
    for joint in bent_by.filter(|joint| !exists(joint)) {
        warnings.push(format!(
            "mesh at {start:#x}: joint {joint} of its skin does not exist"
        ));
    }
    mesh.blend_shapes = read_blend_shapes(cursor, mesh.vertices.len(), start, warnings)?;
    Ok(())
}

fn read_primitive(cursor: &mut Cursor<'_>) -> Result<Primitive> {
    let offset = cursor.offset();
    let kind = match cursor.i32("primitive type")? {
        5 => PrimitiveKind::List,
        6 => PrimitiveKind::Strips,
        other => {
            let problem = format!("is {other}, should be 5 or 6");
            return Err(Error::damaged(offset, "primitive type", problem));
        }
    };
    let count = count(cursor, 2, "index count")?;
    let mut indices = Vec::with_capacity(count);
    for _ in 0..count {
        indices.push(cursor.u16("index")?);
    }
    Ok(Primitive { kind, indices })
}

fn check_indices(primitive: &Primitive, vertices: usize, mesh: u64, warnings: &mut Warnings) {
    if primitive.overruns() {
        warnings.push(format!(
            "mesh at {mesh:#x}: its last strip is cut off by the end of the strips"
        ));
    }
    let corners = primitive.triangles().flatten();
    let wrong = corners.filter(|&corner| usize::from(corner) >= vertices);
    let wrong = wrong.count();
    if wrong > 0 {
        warnings.push(format!(
            "mesh at {mesh:#x}: {wrong} corners of its triangles are past its {vertices} vertices"
        ));
    }
}

fn read_skin(cursor: &mut Cursor<'_>, vertices: usize) -> Result<Option<Skin>> {
    let count_offset = cursor.offset();
    let groups = cursor.u32("skin count")?;
    if groups == 0 {
        return Ok(None);
    }
    if cursor.u8("skin type")? == 0 {
        return read_skin_groups(cursor, count_offset, groups).map(Some);
    }
    let left = u32::try_from(vertices).unwrap_or(u32::MAX);
    let vertices = fitting(
        cursor,
        cursor.offset(),
        left,
        WEIGHTS_SIZE,
        "vertex weights",
    )?;
    let mut weights = Vec::with_capacity(vertices);
    for _ in 0..vertices {
        let entry = VertexWeights {
            weights: floats(cursor, "vertex weight")?,
            joints: [
                cursor.u8("vertex joint")?,
                cursor.u8("vertex joint")?,
                cursor.u8("vertex joint")?,
            ],
        };
        cursor.u8("vertex joint padding")?;
        weights.push(entry);
    }
    Ok(Some(Skin::Vertex(weights)))
}

fn read_skin_groups(cursor: &mut Cursor<'_>, count_offset: u64, groups: u32) -> Result<Skin> {
    let groups = fitting(cursor, count_offset, groups, 12, "skin group count")?;
    let mut list = Vec::new();
    for _ in 0..groups {
        fill(&mut list, |group: &mut SkinGroup| {
            group.first = cursor.i32("skin group start")?;
            let vertices_offset = cursor.offset();
            let vertices = cursor.u32("skin group vertex count")?;
            let joints = count(cursor, 4, "skin group joint count")?;
            for _ in 0..joints {
                group.joints.push(cursor.i32("skin group joint")?);
            }
            // A run without joints has no weights to bound its length.
            let unit = 4 * joints.max(1);
            let field = "skin group vertex count";
            group.vertex_count = fitting(cursor, vertices_offset, vertices, unit, field)?;
            for _ in 0..group.vertex_count * joints {
                group.weights.push(cursor.f32("skin group weight")?);
            }
            Ok(())
        })?;
    }
    Ok(Skin::Grouped(list))
}

fn read_blend_shapes(
    cursor: &mut Cursor<'_>,
    vertices: usize,
    mesh: u64,
    warnings: &mut Warnings,
) -> Result<Option<BlendShapes>> {
    let shapes = count(cursor, 5, "blend shape count")?;
    if shapes == 0 {
        return Ok(None);
    }
    let mut blend = BlendShapes::default();
    for _ in 0..shapes {
        blend.ids.push(cursor.i32("blend shape id")?);
    }
    let bytes = count(cursor, 1, "blend shape length")?;
    blend.byte_count = bytes as u32;
    let mut data = cursor.section(bytes, "blend shapes")?;
    blend.deltas.reserve_exact(bytes / 12);
    while data.remaining() >= 12 {
        blend.deltas.push(floats(&mut data, "blend shape")?);
    }
    blend.present = cursor.take(shapes, "blend shape presence")?.to_vec();
    let present = blend.present.iter().filter(|&&present| present != 0);
    let expected = 12 * vertices as u64 * present.count() as u64;
    if bytes as u64 != expected {
        warnings.push(format!(
            "mesh at {mesh:#x}: its blend shapes have {bytes} bytes, they should have {expected}"
        ));
    }
    Ok(Some(blend))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixtures::hgo::Build;
    use hpimount_containers::io::Endian;

    fn strips(indices: &[u16]) -> Primitive {
        Primitive {
            kind: PrimitiveKind::Strips,
            indices: indices.to_vec(),
        }
    }

    /// Reads a mesh with four vertices and these words after them.
    fn read_mesh(joints: usize, tail: &[u8]) -> (Result<()>, Mesh, Vec<String>) {
        let build = Build::new(Endian::Big);
        let bytes = [build.quad(0), tail.to_vec()].concat();
        let mut cursor = Cursor::new(&bytes, 0x100, Endian::Big);
        let (mut mesh, mut warnings) = (Mesh::default(), Warnings::default());
        let result = read(&mut cursor, joints, &mut mesh, &mut warnings);
        (result, mesh, warnings.texts())
    }

    #[test]
    fn every_second_triangle_of_a_strip_is_reversed_and_flat_ones_are_omitted() {
        let strips = strips(&[5, 0, 1, 2, 3, 3, 3, 7, 8, 9]);
        assert_eq!(
            strips.triangles().collect::<Vec<_>>(),
            [[0, 1, 2], [2, 1, 3], [7, 8, 9]]
        );
    }

    #[test]
    fn a_strip_ends_at_the_end_of_its_list() {
        let cut = strips(&[9, 0, 1, 2]);
        assert!(cut.overruns());
        assert_eq!(cut.triangles().collect::<Vec<_>>(), [[0, 1, 2]]);
        assert!(!strips(&[3, 0, 1, 2]).overruns());
        assert_eq!(strips(&[0, 0, 2, 1]).triangles().count(), 0);
    }

    #[test]
    fn a_list_has_only_whole_triangles() {
        let list = Primitive {
            kind: PrimitiveKind::List,
            indices: vec![0, 1, 2, 2, 1],
        };
        assert_eq!(list.triangles().collect::<Vec<_>>(), [[0, 1, 2]]);
    }

    #[test]
    fn a_vertex_may_have_a_weight_for_joint_0() {
        let build = Build::new(Endian::Big);
        let vertex = [build.f32s(&[0.5, 0.5, 0.0]), vec![0, 3, 9, 0]].concat();
        let tail = [
            build.i32s(&[0, 0, 1]),
            vec![1],
            vertex.repeat(4),
            build.i32s(&[0]),
        ];
        let (result, mesh, warnings) = read_mesh(2, &tail.concat());
        result.unwrap();
        assert_eq!(mesh.skin.unwrap().joints(), [0, 3]);
        assert_eq!(
            warnings,
            ["mesh at 0x100: joint 3 of its skin does not exist"]
        );
    }

    #[test]
    fn groups_have_a_weight_for_every_joint_of_every_vertex() {
        let build = Build::new(Endian::Big);
        let tail = [
            build.i32s(&[0, 0, 1]),
            vec![0],
            build.i32s(&[0, 2, 2, 1, -1]),
            build.f32s(&[0.25, 0.75, 1.0, 0.0]),
            build.i32s(&[0]),
        ];
        let (result, mesh, warnings) = read_mesh(2, &tail.concat());
        result.unwrap();
        let skin = mesh.skin.unwrap();
        assert_eq!(skin.joints(), [-1, 1]);
        assert_eq!(
            warnings,
            ["mesh at 0x100: joint -1 of its skin does not exist"]
        );
        let Skin::Grouped(groups) = skin else {
            panic!("not grouped");
        };
        assert_eq!(groups[0].weights, [0.25, 0.75, 1.0, 0.0]);
    }

    #[test]
    fn only_present_blend_shapes_have_vectors() {
        let build = Build::new(Endian::Big);
        let shapes = |bytes: i32| {
            [
                build.i32s(&[0, 0, 0, 2, 7, 9, bytes]),
                build.f32s(&vec![0.5; bytes as usize / 4]),
                vec![0, 1],
            ]
            .concat()
        };
        let (result, mesh, warnings) = read_mesh(1, &shapes(48));
        result.unwrap();
        let blend = mesh.blend_shapes.unwrap();
        assert_eq!((blend.ids, blend.deltas.len()), (vec![7, 9], 4));
        assert!(warnings.is_empty());
        let (result, _, warnings) = read_mesh(1, &shapes(36));
        result.unwrap();
        assert_eq!(
            warnings,
            ["mesh at 0x100: its blend shapes have 36 bytes, they should have 48"]
        );
    }

    #[test]
    fn corners_without_a_vertex_are_counted() {
        let build = Build::new(Endian::Big);
        let tail = [build.i32s(&[0, 1, 5, 4]), build.u16s(&[0, 4, 5, 9])];
        let tail = [tail.concat(), build.i32s(&[0, 0])].concat();
        let (result, mesh, warnings) = read_mesh(1, &tail);
        result.unwrap();
        assert_eq!(mesh.triangle_count(), 1);
        assert_eq!(
            warnings,
            ["mesh at 0x100: 2 corners of its triangles are past its 4 vertices"]
        );
    }

    #[test]
    fn counts_that_do_not_fit_are_errors_at_the_count() {
        let build = Build::new(Endian::Big);
        // The vertices of the mesh end at 0x198.
        let cases: [(&[i32], &str); 4] = [
            (&[0, -1], "primitive count at 0x19c: "),
            (&[0, 1, 5, -1], "index count at 0x1a4: "),
            (
                &[0, 1, 4, 0],
                "primitive type at 0x1a0: is 4, should be 5 or 6",
            ),
            (&[0, 0, 0, -1], "blend shape count at 0x1a4: "),
        ];
        for (words, expected) in cases {
            let (result, mesh, _) = read_mesh(1, &build.i32s(words));
            let error = result.unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
            assert_eq!(mesh.vertices.len(), 4);
        }
        let groups = [build.i32s(&[0, 0, 1]), vec![0], build.i32s(&[0, -1, 0])];
        let (result, ..) = read_mesh(1, &groups.concat());
        let error = result.unwrap_err().to_string();
        assert!(
            error.starts_with("skin group vertex count at 0x1a9: "),
            "{error}"
        );
    }
}
