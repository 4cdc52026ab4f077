//! The models of a level.

use bytes::Bytes;
use get_size2::GetSize;
use hpimount_record::{self as record, Hex, Record, Text};

use hpimount_assets::parse::count::records;
use hpimount_assets::parse::take;
use hpimount_containers::io::{Cursor, Endian, Error, Result, Warnings};

/// Extensions of the files.
pub const EXTENSIONS: &[&str] = &["ddm"];

/// The version of the format.
const VERSION: u32 = 1;

/// Bytes of the header.
const HEADER: u64 = 12;

/// Bytes of a vertex and an index.
const VERTEX: usize = 36;
const INDEX: usize = 2;

/// A parsed file.
#[derive(Debug, Clone, GetSize)]
pub struct Ddm {
    /// Length of the file in bytes, as stored.
    pub size: u32,
    /// The objects; for a damaged object, the reason.
    pub objects: Vec<std::result::Result<Object, String>>,
    /// Warnings.
    pub warnings: Warnings,
}

/// An object.
#[derive(Debug, Clone, GetSize)]
pub struct Object {
    /// Properties.
    pub header: ObjectHeader,
    /// Materials.
    pub materials: Vec<Material>,
    /// Strips of triangles.
    pub splits: Vec<Split>,
    /// Number of bytes after its last field.
    pub unread: usize,
    #[get_size(ignore)]
    vertices: Bytes,
    #[get_size(ignore)]
    indices: Bytes,
}

/// The properties of an object (neversoft.md 12).
#[derive(Debug, Clone, Default, GetSize, Record)]
#[record(table = "../../docs/formats/neversoft.md")]
pub struct ObjectHeader {
    /// Number of the object.
    pub index: u32,
    /// Hash of its name.
    pub checksum: Hex<u32>,
    /// Speed of its texture.
    #[record(parts = "u v")]
    pub speed: [f32; 2],
    /// A rate without a known meaning.
    pub rate: f32,
    /// A number without a known meaning.
    pub param: u32,
    /// Flags.
    pub flags: Hex<u32>,
    /// Name.
    pub name: Text<64>,
    /// Center of its box.
    #[record(parts = "x y z")]
    pub center: [f32; 3],
    /// Half the sides of its box.
    #[record(parts = "x y z")]
    pub extent: [f32; 3],
    /// Radius.
    pub radius: f32,
    /// Number of materials.
    #[record(derived)]
    pub material_count: u32,
    /// Number of vertices.
    #[record(derived)]
    pub vertex_count: u32,
    /// Number of indices.
    #[record(derived)]
    pub index_count: u32,
    /// Number of strips.
    #[record(derived)]
    pub split_count: u32,
}

/// A material.
#[derive(Debug, Clone, Default, GetSize, Record)]
#[record(table = "../../docs/formats/neversoft.md")]
pub struct Material {
    /// Name.
    pub name: Text<64>,
    /// Name of the file of its texture.
    pub texture: Text<64>,
    /// Position in the order of drawing.
    pub order: u32,
    /// Color and opacity.
    #[record(parts = "r g b a")]
    pub color: [u8; 4],
    /// Light that it emits.
    pub emissive: f32,
    /// Light that it reflects.
    pub specular: f32,
    /// Sharpness of the reflection.
    pub glossiness: f32,
    /// Blend mode: 0 to 3, 0 opaque.
    pub blend: u32,
}

/// A strip of triangles.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, GetSize, Record)]
#[record(table = "../../docs/formats/neversoft.md")]
pub struct Split {
    /// Index of the material.
    pub material: u16,
    /// First index.
    pub first: u16,
    /// Number of indices.
    pub count: u16,
}

/// A vertex.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Vertex {
    /// Position.
    pub position: [f32; 3],
    /// Normal.
    pub normal: [f32; 3],
    /// Red, green, blue and alpha.
    pub color: [u8; 4],
    /// Texture coordinates, from the top left.
    pub uv: [f32; 2],
}

/// Parses a file.
///
/// # Errors
/// Returns [`Error::Damaged`] if the header is wrong, or objects overlap so much
/// that they are longer than twice the file.
pub fn parse(bytes: &Bytes) -> Result<Ddm> {
    let mut cursor = Cursor::new(bytes, 0, Endian::Little);
    let version = cursor.u32("version")?;
    if version != VERSION {
        return Err(Error::damaged(
            0,
            "version",
            format!("is {version}, not {VERSION}"),
        ));
    }
    let size = cursor.u32("size")?;
    let count = cursor.u32("objects")?;
    let count = cursor.check_count(count.into(), 8, "objects")?;
    let mut ddm = Ddm {
        size,
        objects: Vec::with_capacity(count),
        warnings: Warnings::default(),
    };
    if size as usize != bytes.len() {
        let there = bytes.len();
        ddm.warnings.push(format!(
            "the stored size is {size}, the file has {there} bytes"
        ));
    }
    let mut left = 2 * bytes.len() as u64;
    for index in 0..count {
        let at = cursor.offset();
        let (offset, length) = (cursor.u32("offset")?, cursor.u32("length")?);
        let (start, end) = (u64::from(offset), u64::from(offset) + u64::from(length));
        let object = if start < HEADER || end > bytes.len() as u64 {
            Err(format!("is at {start:#x} to {end:#x}, outside of the file"))
        } else {
            left = left.checked_sub(length.into()).ok_or_else(|| {
                Error::damaged(at, "object", "overlaps others, which together are too long")
            })?;
            let part = bytes.slice(start as usize..end as usize);
            let cursor = Cursor::new(&part, start, Endian::Little);
            Object::read(cursor, &part).map_err(|error| error.to_string())
        };
        if let Err(problem) = &object {
            ddm.warnings.push(format!("object {index}: {problem}"));
        }
        ddm.objects.push(object);
    }
    Ok(ddm)
}

impl Object {
    fn read(mut cursor: Cursor<'_>, bytes: &Bytes) -> Result<Self> {
        let cursor = &mut cursor;
        let header: ObjectHeader = record::read(cursor)?;
        let materials = records(cursor, header.material_count, "materials")?;
        let mut list = |count: u32, unit: usize, field| {
            let count = cursor.check_count(count.into(), unit, field)?;
            take(cursor, bytes, unit * count, field)
        };
        let vertices = list(header.vertex_count, VERTEX, "vertices")?;
        let indices = list(header.index_count, INDEX, "indices")?;
        let splits = records(cursor, header.split_count, "splits")?;
        Ok(Self {
            header,
            materials,
            splits,
            unread: cursor.remaining(),
            vertices,
            indices,
        })
    }

    /// Returns the number of vertices.
    pub fn vertex_count(&self) -> usize {
        self.vertices.len() / VERTEX
    }

    /// Returns the vertices.
    pub fn vertices(&self) -> impl Iterator<Item = Vertex> {
        let vertices = self.vertices.as_chunks::<VERTEX>().0.iter();
        vertices.map(|stored| {
            let float = |index: usize| {
                let bytes = [0, 1, 2, 3].map(|byte| stored[4 * index + byte]);
                f32::from_le_bytes(bytes)
            };
            Vertex {
                position: [0, 1, 2].map(float),
                normal: [3, 4, 5].map(float),
                color: [24, 25, 26, 27].map(|byte: usize| stored[byte]),
                uv: [7, 8].map(float),
            }
        })
    }

    /// Returns the number of indices.
    pub fn index_count(&self) -> usize {
        self.indices.len() / INDEX
    }

    /// Returns the triangles of a strip, and the numbers of missing triangles and
    /// indices. Omits degenerate triangles.
    pub fn triangles(&self, split: &Split) -> (Vec<[u16; 3]>, usize) {
        let indices = self.indices.as_chunks::<INDEX>().0;
        let indices = indices.get(usize::from(split.first)..).unwrap_or_default();
        let indices = &indices[..indices.len().min(split.count.into())];
        let mut bad = usize::from(indices.len() < usize::from(split.count));
        let mut triangles = Vec::new();
        for (number, corners) in indices.windows(3).enumerate() {
            let mut corners = [0, 1, 2].map(|corner| u16::from_le_bytes(corners[corner]));
            if number % 2 == 1 {
                corners.swap(0, 1);
            }
            let [a, b, c] = corners;
            if a == b || b == c || a == c {
                continue;
            }
            match corners
                .iter()
                .all(|&index| usize::from(index) < self.vertex_count())
            {
                true => triangles.push(corners),
                false => bad += 1,
            }
        }
        (triangles, bad)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Returns a file of one object: an upward square of two triangles, with the
    /// texture `floor.dds` and the hash 0x6F0F6B9F.
    pub(crate) fn square() -> Vec<u8> {
        let words = |words: &[u32]| {
            words
                .iter()
                .flat_map(|w| w.to_le_bytes())
                .collect::<Vec<_>>()
        };
        let named = |name: &str| {
            let mut name = name.as_bytes().to_vec();
            name.resize(64, 0);
            name
        };
        let mut object = words(&[0, 0x6F0F_6B9F, 0, 0, 0, 0, 0]);
        object.extend([named("Floor"), vec![0; 28], words(&[1, 4, 5, 1])].concat());
        let material = [
            named("m"),
            named("floor.dds"),
            words(&[0, u32::MAX, 0, 0, 0, 0]),
        ];
        object.extend(material.concat());
        for [x, z] in [[0.0_f32, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]] {
            let floats = [x, 0.0, z, 0.0, -1.0, 0.0].map(f32::to_le_bytes).concat();
            object.extend([floats, vec![255; 4], [x, z].map(f32::to_le_bytes).concat()].concat());
        }
        // A strip that ends with a degenerate triangle.
        for half in [0_u16, 1, 2, 3, 3, 0, 0, 5] {
            object.extend(half.to_le_bytes());
        }
        let header = words(&[1, 20 + object.len() as u32, 1, 20, object.len() as u32]);
        [header, object].concat()
    }

    fn object(bytes: Vec<u8>) -> Object {
        parse(&bytes.into()).unwrap().objects.remove(0).unwrap()
    }

    #[test]
    fn strips_are_triangles() {
        let object = object(square());
        assert_eq!(object.header.name.text(), "Floor");
        assert_eq!(object.materials[0].texture.text(), "floor.dds");
        let (triangles, bad) = object.triangles(&object.splits[0]);
        assert_eq!((triangles, bad), (vec![[0, 1, 2], [2, 1, 3]], 0));
        let vertex = object.vertices().nth(3).unwrap();
        assert_eq!((vertex.position, vertex.uv), ([1.0, 0.0, 1.0], [1.0, 1.0]));
        assert_eq!(object.unread, 0);
        let past = Split {
            material: 0,
            first: 3,
            count: 9,
        };
        assert_eq!(object.triangles(&past), (Vec::new(), 1));
    }

    #[test]
    fn a_damaged_object_is_a_warning() {
        let mut bytes = square();
        bytes[20 + 28 + 64 + 28 + 7] = 0x7F;
        let ddm = parse(&bytes.clone().into()).unwrap();
        assert!(
            ddm.objects[0]
                .as_ref()
                .unwrap_err()
                .starts_with("vertices at ")
        );
        assert_eq!(ddm.warnings.len(), 1);
        bytes[12] = 1;
        assert!(parse(&bytes.clone().into()).unwrap().objects[0].is_err());
        bytes[8] = 0xFF;
        bytes[11] = 0xFF;
        let error = parse(&bytes.into()).unwrap_err().to_string();
        assert!(error.starts_with("objects at 0xc: "), "{error}");
    }
}
