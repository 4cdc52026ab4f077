//! Xbox geometry: vertices in a declared format, and index lists, one for each mesh.
//! Little-endian (FORMATS, HIP assets 7).

use bytes::Bytes;

use super::mesh::Mesh;
use super::shape::Shape;
use crate::Chunk;
use hpimount_assets::parse::take;
use hpimount_containers::io::{Cursor, Endian, Error, Result};

/// First supported version; structures of earlier versions have additional fields.
const FIRST_VERSION: u32 = 0x3_5000;

/// Length of the header, and of the entry of a mesh, in bytes.
const HEADER: usize = 36;
const MESH: usize = 24;

/// The kinds of primitives.
const LIST: u32 = 5;
const STRIP: u32 = 6;

/// Bits of a vertex format.
const COLORS: u32 = 0x0100_0000;
const TANGENTS: u32 = 0x0E00_0000;

/// Length of the tangents of a vertex in bytes.
const TANGENTS_SIZE: usize = 8;

/// Maximum number of UV sets in a format.
const UV_SETS: u32 = 4;

/// Flags of a geometry.
const PRELIT: u16 = 8;
const NORMALS: u16 = 0x10;

/// Geometry as the Xbox draws it.
#[derive(Debug)]
pub struct Xbox {
    format: Format,
    shape: Shape,
    vertices: Bytes,
    lists: Vec<Bytes>,
}

/// Offsets of the attributes of a vertex.
#[derive(Debug)]
struct Format {
    positions: Field,
    normals: Option<Field>,
    /// Offset of the color.
    colors: Option<usize>,
    uvs: Vec<Field>,
    /// Length of a vertex in bytes.
    size: usize,
}

/// An attribute of a vertex.
#[derive(Debug, Clone, Copy)]
struct Field {
    /// Offset in the vertex.
    at: usize,
    kind: Kind,
}

/// Number format of an attribute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Byte,
    Short,
    /// A 16-bit fraction of 32767.
    Fraction,
    /// Three fractions in a word, of 11, 11 and 10 bits.
    Packed,
    Float,
}

impl Kind {
    /// Returns the length of `count` numbers in bytes.
    fn size(self, count: usize) -> usize {
        match self {
            Self::Byte => count,
            Self::Short | Self::Fraction => 2 * count,
            Self::Packed => 4,
            Self::Float => 4 * count,
        }
    }
}

impl Format {
    /// Returns the format with a number, or `None` if it is unknown.
    fn new(number: u32) -> Option<Self> {
        let mut size = 0;
        let mut field = |bits: u32, count: usize| -> Option<Option<Field>> {
            let kind = match bits & 15 {
                0 => return Some(None),
                1 => Kind::Byte,
                2 => Kind::Short,
                3 => Kind::Fraction,
                4 => Kind::Packed,
                5 => Kind::Float,
                _ => return None,
            };
            let at = size;
            size += kind.size(count);
            Some(Some(Field { at, kind }))
        };
        let positions = field(number, 3)??;
        let normals = field(number >> 4, 3)?;
        let mut uvs = Vec::new();
        let colors = (number & COLORS != 0).then_some(());
        let colors = match colors {
            // A color takes a word in every format.
            Some(()) => Some(field(4, 4)??.at),
            None => None,
        };
        for set in 0..UV_SETS {
            uvs.extend(field(number >> (8 + 4 * set), 2)?);
        }
        if number & TANGENTS != 0 {
            size += TANGENTS_SIZE;
        }
        Some(Self {
            positions,
            normals,
            colors,
            uvs,
            size,
        })
    }

    /// Returns the default format number of a geometry.
    fn usual(flags: u16, sets: usize) -> u32 {
        let mut number = 5;
        if flags & NORMALS != 0 {
            number |= 4 << 4;
        }
        if flags & PRELIT != 0 {
            number |= COLORS;
        }
        for set in 0..UV_SETS.min(sets as u32) {
            number |= 5 << (8 + 4 * set);
        }
        number
    }
}

impl Xbox {
    /// Reads the structure of a native geometry. `format` is the number of the vertex
    /// format, if stored; `flags` and `sets` belong to the geometry.
    pub(super) fn read(
        fields: &Chunk,
        format: Option<u32>,
        flags: u16,
        sets: usize,
    ) -> Result<Self> {
        let mut cursor = fields.cursor(Endian::Little);
        cursor.u32("native platform")?;
        let start = cursor.offset();
        let version = fields.version.number();
        let problem = |at, field: &'static str, text| Err(Error::damaged(at, field, text));
        if version < FIRST_VERSION {
            let text = format!("is {version:#x}; native Xbox geometry is known since 0x35000");
            return problem(start, "version", text);
        }
        let size = cursor.u32("native size")? as usize;
        cursor.u16("native serial number")?;
        let meshes = cursor.u16("native mesh count")?;
        let at = cursor.offset();
        let shape = match cursor.u32("primitive")? {
            LIST => Shape::Triangles,
            STRIP => Shape::Strip,
            other => return problem(at, "primitive", format!("is {other}, which is unknown")),
        };
        let vertices = cursor.u32("vertex count")?;
        let at = cursor.offset();
        let stride = cursor.u32("vertex size")? as usize;
        let number = format.filter(|&number| number != 0);
        let number = number.unwrap_or_else(|| Format::usual(flags, sets));
        let format = Format::new(number).filter(|format| format.size == stride);
        let Some(format) = format else {
            let text = format!("is {stride}, which the vertex format {number:#x} does not give");
            return problem(at, "vertex size", text);
        };
        cursor.seek(start, "native geometry")?;
        let size = cursor.check_count(size as u64, 1, "native size")?;
        let head = take(&mut cursor, &fields.body, size, "native geometry")?;
        let vertices = cursor.check_count(vertices.into(), stride, "vertex count")?;
        let vertices = take(&mut cursor, &fields.body, vertices * stride, "vertices")?;
        let geometry = Self {
            lists: lists(&head, start, meshes.into())?,
            format,
            shape,
            vertices,
        };
        geometry.check_indices(start)?;
        Ok(geometry)
    }

    fn check_indices(&self, at: u64) -> Result<()> {
        let count = self.vertices();
        let mut indices = self.lists.iter().flat_map(|list| indices(list));
        match indices.find(|&index| usize::from(index) >= count) {
            Some(index) => {
                let text = format!("is {index} of {count}");
                Err(Error::damaged(at, "index of a vertex", text))
            }
            None => Ok(()),
        }
    }

    /// Returns the number of meshes.
    pub(super) fn meshes(&self) -> usize {
        self.lists.len()
    }

    /// Returns the number of vertices.
    pub fn vertices(&self) -> usize {
        self.vertices.len() / self.format.size
    }

    /// Returns the number of triangles, including degenerate ones.
    pub fn triangles(&self) -> usize {
        let lists = self.lists.iter();
        lists
            .map(|list| self.shape.triangles(list.len() / 2).count())
            .sum()
    }

    /// Returns whether vertices have normals.
    pub fn has_normals(&self) -> bool {
        self.format.normals.is_some()
    }

    /// Returns the vertices as a mesh without triangles.
    pub(super) fn mesh(&self) -> Mesh {
        let vertices = || self.vertices.chunks_exact(self.format.size);
        let three = |field: Field| vertices().map(move |vertex| numbers(vertex, field));
        let uvs = self.format.uvs.iter();
        Mesh {
            positions: three(self.format.positions).collect(),
            normals: self
                .format
                .normals
                .map_or_else(Vec::new, |field| three(field).collect()),
            colors: self.format.colors.map_or_else(Vec::new, |at| {
                vertices()
                    .map(|vertex| [vertex[at + 2], vertex[at + 1], vertex[at], vertex[at + 3]])
                    .collect()
            }),
            uvs: uvs
                .map(|&field| vertices().map(|vertex| numbers(vertex, field)).collect())
                .collect(),
            ..Mesh::default()
        }
    }

    /// Calls `visit` with the vertices of the triangles of a mesh,
    /// counter-clockwise.
    pub(super) fn each_triangle(&self, mesh: usize, mut visit: impl FnMut([u32; 3])) {
        let Some(list) = self.lists.get(mesh) else {
            return;
        };
        let words = list.as_chunks::<2>().0;
        for triangle in self.shape.triangles(words.len()) {
            visit(triangle.map(|corner| u16::from_le_bytes(words[corner]).into()));
        }
    }
}

/// Returns the numbers of an attribute of a vertex. A packed one has three.
fn numbers<const N: usize>(vertex: &[u8], Field { at, kind }: Field) -> [f32; N] {
    let bytes = &vertex[at..];
    let short =
        |index: usize| f32::from(i16::from_le_bytes([bytes[2 * index], bytes[2 * index + 1]]));
    std::array::from_fn(|index| match kind {
        Kind::Byte => f32::from(i8::from_ne_bytes([bytes[index]])),
        Kind::Short => short(index),
        Kind::Fraction => short(index) / 32_767.0,
        Kind::Packed => packed(bytes, index),
        Kind::Float => {
            let word = bytes.as_chunks().0[index];
            f32::from_le_bytes(word)
        }
    })
}

/// Returns a fraction in a word.
fn packed(bytes: &[u8], index: usize) -> f32 {
    let Some((word, _)) = bytes.split_first_chunk() else {
        return 0.0;
    };
    let word = u32::from_le_bytes(*word);
    let (shift, bits) = match index {
        0 => (0, 11),
        1 => (11, 11),
        _ => (22, 10),
    };
    let moved = (word << (32 - bits - shift)).cast_signed() >> (32 - bits);
    let most = (1_i32 << (bits - 1)) - 1;
    (moved as f32 / most as f32).max(-1.0)
}

fn indices(list: &[u8]) -> impl Iterator<Item = u16> {
    let words = list.as_chunks().0.iter();
    words.map(|word| u16::from_le_bytes(*word))
}

/// Takes the indices of each mesh. Lists are aligned. A list without a valid offset
/// follows the previous list.
fn lists(head: &Bytes, at: u64, meshes: usize) -> Result<Vec<Bytes>> {
    // The next offset that is 8 more than a multiple of 16.
    let aligned = |at: usize| at + (24 - at % 16) % 16;
    let mut cursor = Cursor::new(head, at, Endian::Little);
    cursor.seek(at + HEADER as u64, "native meshes")?;
    cursor.check_count(meshes as u64, MESH, "native mesh count")?;
    let first = HEADER + MESH * meshes;
    let (mut found, mut next) = (Vec::with_capacity(meshes), first);
    for number in 0..meshes {
        cursor.take(8, "native mesh")?;
        let length = 2 * cursor.u32("native index count")? as usize;
        // Offsets count from 24 bytes before the structure.
        let stored = (cursor.u32("native index offset")? as usize).checked_sub(24);
        cursor.take(8, "native mesh")?;
        next = aligned(next);
        let end_of = |start: usize| start.checked_add(length).filter(|&end| end <= head.len());
        let stored = stored.filter(|&start| start >= first && end_of(start).is_some());
        let start = stored.unwrap_or(next);
        let Some(end) = end_of(start) else {
            let text = format!("has {length} bytes from {start:#x} of {:#x}", head.len());
            return Err(Error::damaged(
                at,
                format!("indices of mesh {number}"),
                text,
            ));
        };
        found.push(head.slice(start..end));
        next = end;
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_normals_have_fractions_of_11_11_and_10_bits() {
        let word = (1023_u32 | (0x400 << 11) | (0x1FF << 22)).to_le_bytes();
        let found: [f32; 3] = numbers(
            &word,
            Field {
                at: 0,
                kind: Kind::Packed,
            },
        );
        assert_eq!(found, [1.0, -1.0, 1.0]);
    }

    #[test]
    fn formats_determine_the_length_of_a_vertex() {
        let size = |number| Format::new(number).map(|format| format.size);
        assert_eq!(size(5), Some(12));
        assert_eq!(
            size(Format::usual(PRELIT | NORMALS, 2)),
            Some(12 + 4 + 4 + 16)
        );
        assert_eq!(size(0x0200_0005), Some(20));
        assert_eq!((size(0), size(0x65)), (None, None));
    }
}
