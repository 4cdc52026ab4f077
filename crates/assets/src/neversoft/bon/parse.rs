//! The materials, textures and parts of a character.

use bytes::Bytes;
use get_size2::GetSize;

use crate::model::Picture;
use crate::neversoft::dds::Dds;
use crate::neversoft::pvr::{self, Pvr};
use crate::parse::{floats, take};
use hpimount_containers::io::{Cursor, Endian, Error, Result, Warnings};
use hpimount_containers::text::windows_1252;

/// Extensions of the files.
pub const EXTENSIONS: &[&str] = &["bon"];

/// First bytes of a file.
pub(super) const MAGIC: &[u8] = b"Bon\0";

/// Maximum number of materials, of parts, and of parts inside each other.
const MAX_MATERIALS: usize = 1 << 16;
const MAX_PARTS: usize = 4096;
const MAX_DEPTH: usize = 64;

/// Bytes of a matrix and of a vertex in version 1.
const FIRST_MATRIX: usize = 44;
const FIRST_VERTEX: usize = 52;

/// Bytes of a vertex and of an index from version 3 on.
const VERTEX: usize = 40;
const INDEX: usize = 2;

/// Minimum bytes of a part and of a strip.
const PART: usize = 20;
const SPLIT: usize = 6;

/// The versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, GetSize)]
pub enum Version {
    /// 1: the Dreamcast, with PVR textures. Every part has its vertices.
    Dreamcast,
    /// 3: the Xbox, with DDS textures and short counts.
    Xbox,
    /// 4: the Xbox, with long counts.
    LaterXbox,
}

impl Version {
    /// Returns its number in files.
    pub fn number(self) -> u32 {
        match self {
            Self::Dreamcast => 1,
            Self::Xbox => 3,
            Self::LaterXbox => 4,
        }
    }

    fn from_number(number: u32) -> Option<Self> {
        let all = [Self::Dreamcast, Self::Xbox, Self::LaterXbox];
        all.into_iter().find(|version| version.number() == number)
    }
}

/// A parsed file.
#[derive(Debug, Clone, GetSize)]
pub struct Bon {
    /// The version.
    pub version: Version,
    /// The materials.
    pub materials: Vec<Material>,
    /// The sizes of the lists that all parts share, from version 3 on.
    pub shared: Option<Shared>,
    /// The parts, each after its parent.
    pub parts: Vec<Part>,
    /// Number of bytes after the last field.
    pub unread: usize,
    /// Warnings.
    pub warnings: Warnings,
}

/// A material.
#[derive(Debug, Clone, GetSize)]
pub struct Material {
    /// Its name.
    pub name: String,
    /// Red, green, blue and alpha.
    pub color: Color,
    /// Two or, in version 1, three numbers without a known meaning.
    pub values: Vec<f32>,
    /// A byte without a known meaning, in version 1.
    pub flag: Option<u8>,
    /// Its texture.
    pub texture: Option<Texture>,
}

/// A color as it is stored.
#[derive(Debug, Clone, Copy, PartialEq, GetSize)]
pub enum Color {
    /// In version 1, parts of 0 to 1.
    Floats([f32; 4]),
    /// From version 3 on.
    Bytes([u8; 4]),
}

/// A texture.
#[derive(Debug, Clone, GetSize)]
pub struct Texture {
    /// Its name.
    pub name: String,
    /// A byte without a known meaning.
    pub flag: u8,
    /// How it continues outside of the picture, without a known meaning.
    pub wrap: [u8; 2],
    /// Offset of the file.
    pub offset: u64,
    /// The file.
    #[get_size(ignore)]
    pub bytes: Bytes,
    /// The file as a picture.
    pub file: TextureFile,
}

/// The kinds of files of textures.
#[derive(Debug, Clone, GetSize)]
pub enum TextureFile {
    /// A picture of Direct3D.
    Dds(Dds),
    /// A picture of the Dreamcast.
    Pvr(Pvr),
    /// A file that cannot be read, with the reason.
    Unknown(String),
}

/// The lists that all parts share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, GetSize)]
pub struct Shared {
    /// Number of vertices.
    pub vertices: u32,
    /// A number without a known meaning.
    pub second: u32,
    /// Number of indices.
    pub indices: u32,
}

/// A part of the character.
#[derive(Debug, Clone, GetSize)]
pub struct Part {
    /// Its type, as it is stored.
    pub kind: u8,
    /// Its name.
    pub name: String,
    /// Number of the part that it belongs to.
    pub parent: Option<usize>,
    /// What differs between versions.
    pub body: Body,
    /// Its strips.
    pub splits: Vec<Split>,
}

/// The fields of a part that differ between versions.
#[derive(Debug, Clone, PartialEq, GetSize)]
pub enum Body {
    /// Version 1.
    First {
        /// Flags, as they are stored.
        flags: u8,
        /// Matrices, whose numbers have no known order.
        matrices: Vec<[f32; 11]>,
        /// Numbers without a known meaning.
        unknown: [f32; 6],
        /// Number of its vertices.
        vertices: u32,
    },
    /// Version 3 and later.
    Later {
        /// A rotation.
        matrix: [f32; 9],
        /// Its position.
        position: [f32; 3],
        /// Another rotation.
        second_matrix: [f32; 9],
        /// Strips between parts.
        joint_splits: Vec<Split>,
    },
}

/// A strip of triangles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, GetSize)]
pub struct Split {
    /// Index of the material.
    pub material: u16,
    /// First index, from version 3 on.
    pub first: Option<u16>,
    /// Number of indices.
    pub count: u32,
}

/// Parses a file.
///
/// # Errors
/// Returns [`Error::Damaged`] if the file ends early, its version is unknown, or
/// it has too many materials or parts, or parts too deep inside each other.
pub fn parse(bytes: &Bytes) -> Result<Bon> {
    let mut cursor = Cursor::new(bytes, 0, Endian::Little);
    if cursor.take(MAGIC.len(), "magic")? != MAGIC {
        return Err(Error::damaged(0, "magic", "is not that of a BON file"));
    }
    let at = cursor.offset();
    let number = cursor.u32("version")?;
    let version = Version::from_number(number)
        .ok_or_else(|| Error::damaged(at, "version", format!("is {number}, not 1, 3 or 4")))?;
    let mut reader = Reader {
        version,
        cursor,
        bytes,
        parts: Vec::new(),
    };
    let materials = reader.materials()?;
    let shared = match version {
        Version::Dreamcast => None,
        Version::Xbox | Version::LaterXbox => Some(reader.shared()?),
    };
    let count = reader.count()?;
    let count = reader.cursor.check_count(count.into(), PART, "parts")?;
    for _ in 0..count {
        reader.part(None, 0)?;
    }
    let mut warnings = Warnings::default();
    for (index, material) in materials.iter().enumerate() {
        let file = material.texture.as_ref().map(|texture| &texture.file);
        if let Some(problem) = file.and_then(TextureFile::problem) {
            warnings.push(format!("the texture of material {index}: {problem}"));
        }
    }
    Ok(Bon {
        version,
        materials,
        shared,
        unread: reader.cursor.remaining(),
        parts: reader.parts,
        warnings,
    })
}

struct Reader<'a> {
    version: Version,
    cursor: Cursor<'a>,
    bytes: &'a Bytes,
    parts: Vec<Part>,
}

impl Reader<'_> {
    /// Reads a count, which is short in one version.
    fn count(&mut self) -> Result<u32> {
        match self.version {
            Version::Xbox => Ok(self.cursor.u16("count")?.into()),
            Version::Dreamcast | Version::LaterXbox => self.cursor.u32("count"),
        }
    }

    fn text(&mut self) -> Result<String> {
        let length: usize = match self.version {
            Version::Dreamcast => self.cursor.u8("length of a name")?.into(),
            Version::Xbox | Version::LaterXbox => self.cursor.u16("length of a name")?.into(),
        };
        Ok(windows_1252(self.cursor.take(length, "name")?).into_owned())
    }

    /// Reads floats that are together in the file or not at all.
    fn floats<const N: usize>(&mut self, field: &'static str) -> Result<[f32; N]> {
        let mut part = self.cursor.section(4 * N, field)?;
        floats(&mut part, field)
    }

    fn materials(&mut self) -> Result<Vec<Material>> {
        let count = self.count()?;
        let unit = match self.version {
            Version::Dreamcast => 30,
            Version::Xbox | Version::LaterXbox => 15,
        };
        let at = self.cursor.offset();
        let count = self.cursor.check_count(count.into(), unit, "materials")?;
        if count > MAX_MATERIALS {
            let problem = format!("are {count}, more than {MAX_MATERIALS}");
            return Err(Error::damaged(at, "materials", problem));
        }
        (0..count).map(|_| self.material()).collect()
    }

    fn material(&mut self) -> Result<Material> {
        let name = self.text()?;
        let (color, values, flag) = match self.version {
            Version::Dreamcast => (
                Color::Floats(self.floats("color")?),
                self.floats::<3>("values")?.to_vec(),
                Some(self.cursor.u8("flag")?),
            ),
            Version::Xbox | Version::LaterXbox => (
                Color::Bytes(*self.cursor.record("color")?),
                self.floats::<2>("values")?.to_vec(),
                None,
            ),
        };
        let texture = match self.cursor.u8("texture flag")? {
            1 => Some(self.texture()?),
            _ => None,
        };
        Ok(Material {
            name,
            color,
            values,
            flag,
            texture,
        })
    }

    fn texture(&mut self) -> Result<Texture> {
        let name = self.text()?;
        let flag = self.cursor.u8("flag")?;
        let wrap = *self.cursor.record("wrap")?;
        let length = self.cursor.u32("length of a texture")?;
        let offset = self.cursor.offset();
        let bytes = take(&mut self.cursor, self.bytes, length as usize, "texture")?;
        Ok(Texture {
            name,
            flag,
            wrap,
            offset,
            file: TextureFile::read(&bytes),
            bytes,
        })
    }

    /// Reads the sizes of the lists that all parts share, and skips the lists.
    fn shared(&mut self) -> Result<Shared> {
        let (vertices, second) = (self.count()?, self.count()?);
        self.skip(vertices, VERTEX, "vertices")?;
        let indices = self.count()?;
        self.skip(indices, INDEX, "indices")?;
        Ok(Shared {
            vertices,
            second,
            indices,
        })
    }

    fn skip(&mut self, count: u32, unit: usize, field: &'static str) -> Result<()> {
        let count = self.cursor.check_count(count.into(), unit, field)?;
        self.cursor.take(unit * count, field)?;
        Ok(())
    }

    /// Reads a part and, in its middle, the parts that belong to it.
    fn part(&mut self, parent: Option<usize>, depth: usize) -> Result<()> {
        let index = self.parts.len();
        if depth > MAX_DEPTH || index >= MAX_PARTS {
            let problem =
                format!("are more than {MAX_PARTS}, or more than {MAX_DEPTH} inside each other");
            return Err(Error::damaged(self.cursor.offset(), "parts", problem));
        }
        let kind = self.cursor.u8("type of a part")?;
        let name = self.text()?;
        self.parts.push(Part {
            kind,
            name,
            parent,
            body: Body::First {
                flags: 0,
                matrices: Vec::new(),
                unknown: [0.0; 6],
                vertices: 0,
            },
            splits: Vec::new(),
        });
        let (body, splits) = match self.version {
            Version::Dreamcast => self.first_body(index, depth)?,
            Version::Xbox | Version::LaterXbox => self.later_body(index, depth)?,
        };
        let part = &mut self.parts[index];
        (part.body, part.splits) = (body, splits);
        Ok(())
    }

    fn first_body(&mut self, index: usize, depth: usize) -> Result<(Body, Vec<Split>)> {
        let flags = self.cursor.u8("flags")?;
        let count = self.cursor.u32("matrices")?;
        let count = self
            .cursor
            .check_count(count.into(), FIRST_MATRIX, "matrices")?;
        let matrices = (0..count).map(|_| self.floats("matrix"));
        let matrices = matrices.collect::<Result<_>>()?;
        let children = self.cursor.u32("children")?;
        let children = self.cursor.check_count(children.into(), PART, "children")?;
        for _ in 0..children {
            self.part(Some(index), depth + 1)?;
        }
        let unknown = self.floats("unknown numbers")?;
        let vertices = self.cursor.u32("vertices")?;
        self.skip(vertices, FIRST_VERTEX, "vertices")?;
        let count = self.cursor.u32("strips")?;
        let count = self.cursor.check_count(count.into(), SPLIT, "strips")?;
        let mut splits = Vec::with_capacity(count);
        for _ in 0..count {
            let material = self.cursor.u16("material")?;
            let count = self.cursor.u32("indices")?;
            self.skip(count, INDEX, "indices")?;
            splits.push(Split {
                material,
                first: None,
                count,
            });
        }
        let body = Body::First {
            flags,
            matrices,
            unknown,
            vertices,
        };
        Ok((body, splits))
    }

    fn later_body(&mut self, index: usize, depth: usize) -> Result<(Body, Vec<Split>)> {
        let (matrix, position) = (self.floats("matrix")?, self.floats("position")?);
        for _ in 0..self.cursor.u16("children")? {
            self.part(Some(index), depth + 1)?;
        }
        let second_matrix = self.floats("second matrix")?;
        let splits = self.splits()?;
        let body = Body::Later {
            matrix,
            position,
            second_matrix,
            joint_splits: self.splits()?,
        };
        Ok((body, splits))
    }

    fn splits(&mut self) -> Result<Vec<Split>> {
        let count = self.cursor.u16("strips")?;
        let count = self.cursor.check_count(count.into(), SPLIT, "strips")?;
        let splits = (0..count).map(|_| {
            Ok(Split {
                material: self.cursor.u16("material")?,
                first: Some(self.cursor.u16("first index")?),
                count: self.cursor.u16("indices")?.into(),
            })
        });
        splits.collect()
    }
}

impl TextureFile {
    fn read(bytes: &Bytes) -> Self {
        if pvr::is_known(bytes) {
            return match pvr::parse(bytes) {
                Ok(pvr) => Self::Pvr(pvr),
                Err(error) => Self::Unknown(error.to_string()),
            };
        }
        match Dds::read(bytes) {
            Some(dds) => Self::Dds(dds),
            None => Self::Unknown("is no DDS or PVR file".to_owned()),
        }
    }

    /// Returns why it cannot be shown, or `None` if it can.
    fn problem(&self) -> Option<String> {
        match self {
            Self::Dds(dds) => dds.problem(),
            Self::Pvr(_) => None,
            Self::Unknown(problem) => Some(problem.clone()),
        }
    }

    /// Returns whether it can be shown.
    pub fn is_shown(&self) -> bool {
        self.problem().is_none()
    }

    /// Returns its width and height in pixels.
    pub fn size(&self) -> Option<[u32; 2]> {
        match self {
            Self::Dds(dds) => Some([dds.width, dds.height]),
            Self::Pvr(pvr) => Some([pvr.width.into(), pvr.height.into()]),
            Self::Unknown(_) => None,
        }
    }

    /// Decodes it.
    pub fn picture(&self) -> Option<Picture> {
        match self {
            Self::Dds(dds) => dds.picture(),
            Self::Pvr(pvr) => pvr.picture(),
            Self::Unknown(_) => None,
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::neversoft::dds::tests::file as dds;
    use crate::neversoft::pvr::parse::tests::file as pvr;

    fn floats(count: usize) -> Vec<u8> {
        (0..count)
            .flat_map(|at| (at as f32).to_le_bytes())
            .collect()
    }

    /// Returns a part of the later versions with these parts in it.
    fn later_part(name: &str, children: &[Vec<u8>]) -> Vec<u8> {
        let name = [&[name.len() as u8, 0], name.as_bytes()].concat();
        let head = [vec![1], name, floats(12), vec![children.len() as u8, 0]];
        let splits = [1_u16, 0, 2, 3, 0].map(u16::to_le_bytes).concat();
        [head.concat(), children.concat(), floats(9), splits].concat()
    }

    /// Returns a file of version 3 with a texture and two parts.
    pub(crate) fn xbox() -> Vec<u8> {
        let texture = dds([1, 1], &[0; 4], 32, &[1, 2, 3, 255]);
        let mut file = b"Bon\0\x03\0\0\0\x01\0\x05\0Shirt\xFF\xC8\x64\xFF".to_vec();
        file.extend([floats(2), b"\x01\x05\0shirt\x01\0\x02".to_vec()].concat());
        file.extend((texture.len() as u32).to_le_bytes());
        file.extend([texture, vec![1, 0, 0, 0]].concat());
        file.extend([vec![0; VERTEX], vec![3, 0], vec![0; 3 * INDEX]].concat());
        let parts = later_part("Pelvis", &[later_part("Head", &[])]);
        [file, vec![1, 0], parts].concat()
    }

    /// Returns a file of version 1 with a texture and a part.
    pub(crate) fn dreamcast() -> Vec<u8> {
        let texture = pvr(false);
        let mut file = b"Bon\0\x01\0\0\0\x01\0\0\0\x05Shirt".to_vec();
        file.extend([floats(7), b"\x00\x01\x05shirt\x01\0\x02".to_vec()].concat());
        file.extend((texture.len() as u32).to_le_bytes());
        file.extend([texture, b"\x01\0\0\0\x01\x04Head\x07\x01\0\0\0".to_vec()].concat());
        file.extend([floats(11), vec![0; 4], floats(6)].concat());
        file.extend([vec![1, 0, 0, 0], vec![0; FIRST_VERTEX]].concat());
        file.extend([vec![1, 0, 0, 0, 5, 0, 2, 0, 0, 0], vec![0; 2 * INDEX]].concat());
        file
    }

    #[test]
    fn parts_are_a_tree() {
        let bon = parse(&xbox().into()).unwrap();
        let parts = bon.parts.iter();
        let parts: Vec<_> = parts
            .map(|part| (part.name.as_str(), part.parent))
            .collect();
        assert_eq!(parts, [("Pelvis", None), ("Head", Some(0))]);
        assert_eq!(bon.unread, 0);
        let Body::Later { position, .. } = &bon.parts[1].body else {
            panic!("{:?}", bon.parts[1].body);
        };
        assert_eq!(*position, [9.0, 10.0, 11.0]);
        let split = bon.parts[0].splits[0];
        assert_eq!((split.material, split.first, split.count), (0, Some(2), 3));
        assert_eq!(bon.shared.unwrap().indices, 3);
    }

    #[test]
    fn textures_are_inside() {
        for (file, expected) in [
            (xbox(), vec![[3, 2, 1, 255]]),
            (dreamcast(), vec![[0, 0, 255, 255], [255, 0, 0, 255]]),
        ] {
            let bon = parse(&file.into()).unwrap();
            let texture = bon.materials[0].texture.as_ref().unwrap();
            assert_eq!((texture.name.as_str(), texture.wrap), ("shirt", [0, 2]));
            assert_eq!(texture.file.picture().unwrap().rgba(), expected);
            assert!(bon.warnings.is_empty());
        }
        let bon = parse(&dreamcast().into()).unwrap();
        let Body::First {
            flags, vertices, ..
        } = bon.parts[0].body
        else {
            panic!("{:?}", bon.parts[0].body);
        };
        assert_eq!((flags, vertices, bon.unread), (7, 1, 0));
        assert_eq!(bon.parts[0].splits[0].count, 2);
    }

    #[test]
    fn a_texture_that_cannot_be_shown_is_a_warning() {
        let mut file = xbox();
        let at = file.windows(4).position(|word| word == b"DDS ").unwrap();
        file[at] = b'X';
        let bon = parse(&file.into()).unwrap();
        let warning = "the texture of material 0: is no DDS or PVR file";
        assert_eq!(bon.warnings.texts(), [warning]);
        assert_eq!(bon.parts.len(), 2);
    }

    #[test]
    fn errors_have_the_place_of_the_field() {
        let error = |bytes: &[u8]| parse(&bytes.to_vec().into()).unwrap_err().to_string();
        let file = xbox();
        for (bytes, start) in [
            (&b"Ban\0"[..], "magic at 0x0: "),
            (b"Bon\0\x02\0\0\0", "version at 0x4: "),
            (b"Bon\0\x04\0\0\0\0\0\0\x10", "materials at 0xc: "),
            (&file[..file.len() - 20], "second matrix at "),
        ] {
            assert!(error(bytes).starts_with(start), "{}", error(bytes));
        }
        let head = [4_u32, 0, 0, 0, 0, 1].map(u32::to_le_bytes).concat();
        let mut deep = [MAGIC.to_vec(), head].concat();
        let level = [vec![0; 3], vec![0; 48], vec![1, 0]].concat();
        deep.extend(level.repeat(100));
        assert!(
            error(&deep).contains("inside each other"),
            "{}",
            error(&deep)
        );
    }
}
