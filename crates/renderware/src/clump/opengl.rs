//! OpenGL geometry of mobile games: vertices with declared attributes. The triangles
//! are in the mesh list. Little-endian (FORMATS, GTA 5.3).

use bytes::Bytes;

use super::mesh::Mesh;
use super::skin::Influence;
use crate::Chunk;
use hpimount_assets::parse::take;
use hpimount_containers::io::{Cursor, Endian, Error, Result};

/// Maximum number of attributes of a vertex.
const MAX_ATTRIBUTES: u32 = 12;

/// Length of the declaration of an attribute in bytes.
const ATTRIBUTE: usize = 24;

/// Maximum number of components of an attribute.
const MAX_COMPONENTS: usize = 4;

/// Unit fraction of integer texture coordinates.
const UV_PARTS: f32 = 512.0;

/// Meaning of an attribute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Position,
    Uv,
    Normal,
    Color,
    Weights,
    Bones,
    NightColor,
}

/// The roles, at their numbers.
const ROLES: [Role; 7] = [
    Role::Position,
    Role::Uv,
    Role::Normal,
    Role::Color,
    Role::Weights,
    Role::Bones,
    Role::NightColor,
];

/// Number format of an attribute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Float,
    SignedByte,
    Byte,
    SignedShort,
    Short,
}

/// The kinds, at their numbers.
const KINDS: [Kind; 5] = [
    Kind::Float,
    Kind::SignedByte,
    Kind::Byte,
    Kind::SignedShort,
    Kind::Short,
];

impl Kind {
    /// Returns the length of a number in bytes.
    fn size(self) -> usize {
        match self {
            Self::Float => 4,
            Self::SignedByte | Self::Byte => 1,
            Self::SignedShort | Self::Short => 2,
        }
    }

    /// Returns the integer that represents 1 in normalized attributes.
    fn one(self) -> f32 {
        match self {
            Self::Float => 1.0,
            Self::SignedByte => i8::MAX.into(),
            Self::Byte => u8::MAX.into(),
            Self::SignedShort => i16::MAX.into(),
            Self::Short => u16::MAX.into(),
        }
    }

    /// Reads a number at the start of these bytes.
    fn number(self, bytes: &[u8]) -> f32 {
        let short = || [bytes[0], bytes[1]];
        match self {
            Self::Float => f32::from_le_bytes(bytes.as_chunks().0[0]),
            Self::SignedByte => bytes[0].cast_signed().into(),
            Self::Byte => bytes[0].into(),
            Self::SignedShort => i16::from_le_bytes(short()).into(),
            Self::Short => u16::from_le_bytes(short()).into(),
        }
    }
}

/// An attribute of a vertex.
#[derive(Debug, Clone, Copy)]
struct Attribute {
    role: Role,
    kind: Kind,
    is_normalized: bool,
    components: usize,
    /// Offset in the vertex.
    at: usize,
}

/// Geometry as OpenGL draws it.
#[derive(Debug)]
pub struct OpenGl {
    attributes: Vec<Attribute>,
    vertices: Bytes,
    /// Length of a vertex in bytes.
    stride: usize,
}

impl OpenGl {
    /// Reads the data of a native geometry with this number of vertices.
    pub(super) fn read(data: &Chunk, vertices: u32) -> Result<Self> {
        let mut cursor = data.cursor(Endian::Little);
        let at = cursor.offset();
        let count = cursor.u32("attribute count")?;
        if !(1..=MAX_ATTRIBUTES).contains(&count) {
            let text = format!("is {count}, 1 to {MAX_ATTRIBUTES} are possible");
            return Err(Error::damaged(at, "attribute count", text));
        }
        let count = cursor.check_count(count.into(), ATTRIBUTE, "attribute count")?;
        let (mut attributes, mut stride) = (Vec::with_capacity(count), None);
        for _ in 0..count {
            attributes.push(attribute(&mut cursor, &mut stride)?);
        }
        let stride = stride.unwrap_or_default();
        let count = cursor.check_count(vertices.into(), stride, "vertices")?;
        Ok(Self {
            attributes,
            vertices: take(&mut cursor, &data.body, count * stride, "vertices")?,
            stride,
        })
    }

    /// Returns the number of vertices.
    pub fn vertices(&self) -> usize {
        self.vertices.len() / self.stride
    }

    /// Returns whether vertices have normals.
    pub fn has_normals(&self) -> bool {
        self.find(Role::Normal).is_some()
    }

    /// Returns the vertices as a mesh without triangles.
    pub(super) fn mesh(&self) -> Mesh {
        Mesh {
            positions: self.numbers(Role::Position),
            normals: self.numbers(Role::Normal),
            colors: self.colors(Role::Color),
            night_colors: self.colors(Role::NightColor),
            uvs: match self.find(Role::Uv) {
                Some(_) => vec![self.numbers(Role::Uv)],
                None => Vec::new(),
            },
            ..Mesh::default()
        }
    }

    /// Returns the bones of the vertices; empty if they have none.
    pub(super) fn influences(&self) -> Vec<Influence> {
        let bones = self.numbers::<4>(Role::Bones).into_iter();
        bones
            .map(|bones| bones.map(|bone| bone as u8))
            .zip(self.numbers(Role::Weights))
            .collect()
    }

    /// Returns the last attribute with a role.
    fn find(&self, role: Role) -> Option<Attribute> {
        let attributes = self.attributes.iter().rev();
        attributes.copied().find(|one| one.role == role)
    }

    /// Returns the numbers of an attribute of all vertices, or nothing if they lack it.
    /// Missing components are 0.
    fn numbers<const N: usize>(&self, role: Role) -> Vec<[f32; N]> {
        let Some(attribute) = self.find(role) else {
            return Vec::new();
        };
        let Attribute { kind, at, .. } = attribute;
        let scale = match (attribute.is_normalized, role, kind) {
            (true, ..) => kind.one(),
            (false, Role::Uv, kind) if kind != Kind::Float => UV_PARTS,
            _ => 1.0,
        };
        let vertices = self.vertices.chunks_exact(self.stride);
        vertices
            .map(|vertex| {
                std::array::from_fn(|index| match index < attribute.components {
                    true => kind.number(&vertex[at + index * kind.size()..]) / scale,
                    false => 0.0,
                })
            })
            .collect()
    }

    fn colors(&self, role: Role) -> Vec<[u8; 4]> {
        let stored = self.numbers::<4>(role).into_iter();
        let is_opaque = self.find(role).is_some_and(|one| one.components < 4);
        stored
            .map(|color| {
                let [red, green, blue, alpha] = color.map(|part| (part * 255.0 + 0.5) as u8);
                [red, green, blue, if is_opaque { u8::MAX } else { alpha }]
            })
            .collect()
    }
}

/// Reads the declaration of an attribute. All declarations contain the length of a
/// vertex, the `stride`.
fn attribute(cursor: &mut Cursor<'_>, stride: &mut Option<usize>) -> Result<Attribute> {
    let start = cursor.offset();
    let role = cursor.u32("attribute")?;
    let kind = cursor.u32("attribute type")?;
    let is_normalized = cursor.u32("attribute normalization")? != 0;
    let components = cursor.u32("attribute components")? as usize;
    let size = cursor.u32("vertex size")? as usize;
    let at = cursor.u32("attribute offset")? as usize;
    let found = ROLES.get(role as usize).zip(KINDS.get(kind as usize));
    let Some((&role, &kind)) = found else {
        let text = format!("is {role} of type {kind}, which is unknown");
        return Err(Error::damaged(start, "attribute", text));
    };
    let end = at.saturating_add(kind.size() * components.min(MAX_COMPONENTS));
    if !(1..=MAX_COMPONENTS).contains(&components)
        || end > size
        || stride.is_some_and(|one| one != size)
    {
        let text = format!("has {components} components from {at} of {size} bytes");
        return Err(Error::damaged(start, "attribute", text));
    }
    *stride = Some(size);
    Ok(Attribute {
        role,
        kind,
        is_normalized,
        components,
        at,
    })
}

#[cfg(test)]
mod tests {
    use crate::Chunks;
    use crate::clump::Clump;
    use fixtures::clump as build;
    use hpimount_containers::io::Warnings;

    fn clump(geometry: &[u8]) -> Clump {
        let frames = build::frames(&[("root", -1)]);
        let bytes = build::clump(&frames, &[geometry.to_vec()], &[build::atomic(0, 0)], &[]);
        let chunk = Chunks::new(bytes.into(), 0).next().unwrap();
        let mut clump = Clump::default();
        clump.read(&chunk, &mut Warnings::default()).unwrap();
        clump
    }

    #[test]
    fn vertices_have_the_declared_attributes_and_triangles_are_those_of_meshes() {
        let clump = clump(&build::mobile_square("wood"));
        let mesh = clump.geometries[0].mesh().unwrap();
        assert_eq!(mesh.positions[1], [1.0, 0.0, 0.0]);
        assert_eq!(mesh.uvs[0][3], [1.0, 1.0]);
        assert_eq!(mesh.colors[2], [0, 255, 0, 255]);
        assert_eq!(mesh.parts[0].triangles, [[0, 1, 2], [2, 1, 3]]);
    }

    #[test]
    fn an_attribute_outside_of_the_vertex_is_refused() {
        let mut bytes = build::mobile_square("wood");
        let stored = build::words(&[0, 0, 0, 3, 20, 0]);
        let at = bytes.windows(24).position(|found| found == stored).unwrap();
        bytes[at + 20] = 9;
        let clump = clump(&bytes);
        let error = clump.geometries[0].error.as_ref().unwrap().to_string();
        assert!(
            error.contains("has 3 components from 9 of 20 bytes"),
            "{error}"
        );
    }
}
