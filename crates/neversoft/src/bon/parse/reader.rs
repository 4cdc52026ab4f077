//! The fields of a character, which depend on the version.

use bytes::Bytes;

use super::model::{Body, Color, Material, Part, Shared, Split, Version};
use super::texture::{Texture, TextureFile};
use hpimount_assets::parse::{floats, take};
use hpimount_containers::io::{Cursor, Error, Result};
use hpimount_containers::text::windows_1252;

/// Maximum numbers of materials, of parts, and of nesting levels.
const MAX_MATERIALS: usize = 1 << 16;
const MAX_PARTS: usize = 4096;
const MAX_DEPTH: usize = 64;

/// Sizes of a matrix and of a vertex in version 1, in bytes.
const FIRST_MATRIX: usize = 44;
pub(super) const FIRST_VERTEX: usize = 52;

/// Sizes of a vertex and of an index since version 3, in bytes.
pub(super) const VERTEX: usize = 40;
pub(super) const INDEX: usize = 2;

/// Minimum sizes of a part and of a strip in bytes.
const PART: usize = 20;
const SPLIT: usize = 6;

/// Reads the fields in file order.
pub(super) struct Reader<'a> {
    version: Version,
    cursor: Cursor<'a>,
    bytes: &'a Bytes,
    parts: Vec<Part>,
}

impl<'a> Reader<'a> {
    /// Creates a reader for the data after the version. `bytes` is the whole file.
    pub(super) fn new(version: Version, cursor: Cursor<'a>, bytes: &'a Bytes) -> Self {
        Self {
            version,
            cursor,
            bytes,
            parts: Vec::new(),
        }
    }

    /// Returns the number of remaining bytes.
    pub(super) fn unread(&self) -> usize {
        self.cursor.remaining()
    }

    /// Reads a count, which has 16 bits in one version.
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

    /// Reads floats, either all of them or none.
    fn floats<const N: usize>(&mut self, field: &'static str) -> Result<[f32; N]> {
        let mut part = self.cursor.section(4 * N, field)?;
        floats(&mut part, field)
    }

    pub(super) fn materials(&mut self) -> Result<Vec<Material>> {
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

    /// Reads the sizes of the lists shared by all parts, and skips the lists.
    pub(super) fn shared(&mut self) -> Result<Shared> {
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

    /// Reads all parts.
    pub(super) fn parts(&mut self) -> Result<Vec<Part>> {
        let count = self.count()?;
        let count = self.cursor.check_count(count.into(), PART, "parts")?;
        for _ in 0..count {
            self.part(None, 0)?;
        }
        Ok(std::mem::take(&mut self.parts))
    }

    /// Reads a part, including its nested child parts.
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
