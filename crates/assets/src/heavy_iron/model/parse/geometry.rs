//! Geometries: vertices, triangles and materials.

use bytes::Bytes;

use super::gx::Gx;
use super::material::{self, Material};
use super::skin::{Skin, floats};
use crate::heavy_iron;
use crate::heavy_iron::take;
use crate::renderware::{Chunk, Version, kind};
use hpimount_containers::io::{Cursor, Endian, Error, Result, Warnings};

/// Flags of a geometry.
const ONE_UV: u16 = 4;
const PRELIT: u16 = 8;
const TWO_UVS: u16 = 0x80;

/// First version without surface properties in geometries.
const WITHOUT_SURFACE: u32 = 0x3_4000;

/// Platforms of native geometry.
const PLATFORM_PS2: u32 = 4;
const PLATFORM_XBOX: u32 = 5;
const PLATFORM_GAMECUBE: u32 = 6;

/// A geometry.
#[derive(Debug, Default)]
pub struct Geometry {
    /// Version of the library that wrote it.
    pub version: Version,
    /// Flags: 1 strips, 2 positions, 4 one UV set, 8 colors, 0x10 normals,
    /// 0x20 lit, 0x40 material colors, 0x80 two UV sets.
    pub flags: u16,
    /// Number of UV sets.
    pub uv_sets: usize,
    /// Number of triangles, as stored; for native geometry the number before
    /// the conversion to strips.
    pub declared_triangles: u32,
    /// Number of vertices, as stored.
    pub declared_vertices: u32,
    /// Number of morph targets, as stored.
    pub declared_morphs: u32,
    /// The morph targets; the first is the shape that is shown.
    pub morphs: Vec<MorphTarget>,
    /// The vertices and triangles.
    pub vertices: Vertices,
    /// The materials.
    pub materials: Vec<Material>,
    /// For each number of a material in triangles and meshes, the number in
    /// [`Geometry::materials`].
    pub material_entries: Vec<usize>,
    /// Triangles by material, in drawing order.
    pub meshes: Vec<BinMesh>,
    /// Whether meshes are strips.
    pub is_strips: bool,
    /// Whether there is a skin.
    pub has_skin: bool,
    /// The skin; `None` for an unknown form.
    pub skin: Option<Skin>,
    /// Types of its extensions.
    pub extensions: Vec<u32>,
}

/// A shape of a geometry.
#[derive(Debug, Default, Clone)]
pub struct MorphTarget {
    /// Center and radius of a sphere around it.
    pub sphere: [f32; 4],
    positions: Bytes,
    normals: Bytes,
}

impl MorphTarget {
    /// Returns the positions of the vertices.
    pub fn positions(&self) -> impl Iterator<Item = [f32; 3]> {
        floats(&self.positions)
    }

    /// Returns the normals of the vertices; empty if they have none.
    pub fn normals(&self) -> impl Iterator<Item = [f32; 3]> {
        floats(&self.normals)
    }
}

/// The vertices and triangles of a geometry.
#[derive(Debug, Default)]
pub enum Vertices {
    /// No vertex data was found.
    #[default]
    None,
    /// In the platform-independent form. Positions are in the morph targets.
    Plain(Plain),
    /// In the native form of the GameCube.
    GameCube(Gx),
    /// In the native form of the Xbox; not read.
    Xbox(Bytes),
    /// In the native form of the PlayStation 2; not read.
    PlayStation2(Bytes),
}

impl Vertices {
    /// Returns the name of the form.
    pub fn name(&self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Plain(_) => "plain",
            Self::GameCube(_) => "gc",
            Self::Xbox(_) => "xbox",
            Self::PlayStation2(_) => "ps2",
        }
    }
}

/// Colors, texture coordinates and triangles in the platform-independent form.
#[derive(Debug, Default)]
pub struct Plain {
    colors: Bytes,
    uvs: Vec<Bytes>,
    triangles: Bytes,
}

impl Plain {
    /// Returns the colors of the vertices; empty if they have none.
    pub fn colors(&self) -> impl Iterator<Item = [u8; 4]> {
        self.colors.as_chunks().0.iter().copied()
    }

    /// Returns the coordinates of a UV set, v downwards.
    pub fn uvs(&self, set: usize) -> impl Iterator<Item = [f32; 2]> {
        floats(self.uvs.get(set).map_or(&[][..], |bytes| bytes))
    }

    /// Returns the triangles: their vertices counter-clockwise, and the number
    /// of the material.
    pub fn triangles(&self) -> impl Iterator<Item = ([u16; 3], u16)> {
        self.triangles.as_chunks::<8>().0.iter().map(|stored| {
            let words = stored.as_chunks().0;
            let [b, a, material, c] = std::array::from_fn(|i| u16::from_le_bytes(words[i]));
            ([a, b, c], material)
        })
    }
}

/// The triangles of a material, in drawing order.
#[derive(Debug, Clone)]
pub struct BinMesh {
    /// Number of the material.
    pub material: u32,
    /// Number of indices.
    pub count: u32,
    indices: Bytes,
}

impl BinMesh {
    /// Returns the numbers of vertices; empty for native geometry.
    pub fn indices(&self) -> impl Iterator<Item = u32> {
        let words = self.indices.as_chunks().0.iter();
        words.map(|word| u32::from_le_bytes(*word))
    }
}

impl Geometry {
    pub(super) fn read(&mut self, geometry: &Chunk, warnings: &mut Warnings) -> Result<()> {
        let fields = geometry.child(kind::STRUCT, "geometry")?;
        self.version = fields.version;
        self.fields(&fields, warnings)?;
        let list = geometry.child(kind::MATERIAL_LIST, "material list")?;
        (self.materials, self.material_entries) = material::read(&list)?;
        let extensions = geometry
            .children()
            .filter(|chunk| chunk.kind == kind::EXTENSION);
        let plugins: Vec<Chunk> = extensions.flat_map(|chunk| chunk.children()).collect();
        for plugin in &plugins {
            plugin.check_whole("geometry plugin")?;
            self.extensions.push(plugin.kind);
            match plugin.kind {
                kind::BIN_MESH => self.bin_mesh(plugin)?,
                kind::NATIVE_DATA => self.native(plugin)?,
                kind::SKIN => self.has_skin = true,
                _ => {}
            }
        }
        if matches!(self.vertices, Vertices::Plain(_)) {
            let vertices = self.declared_vertices as usize;
            let skin = plugins.iter().find(|plugin| plugin.kind == kind::SKIN);
            self.skin = skin.and_then(|skin| Skin::read(skin, vertices));
        }
        self.check(&fields, warnings)
    }

    /// Reads the structure: counts, and the platform-independent data.
    fn fields(&mut self, fields: &Chunk, warnings: &mut Warnings) -> Result<()> {
        fields.check_whole("geometry")?;
        let mut cursor = fields.cursor(Endian::Little);
        self.flags = cursor.u16("geometry flags")?;
        let sets = cursor.u8("UV sets")?;
        let is_native = cursor.u8("geometry flags")? & 1 != 0;
        self.uv_sets = match (sets, self.flags) {
            (0, flags) if flags & TWO_UVS != 0 => 2,
            (0, flags) if flags & ONE_UV != 0 => 1,
            (sets, _) => sets.into(),
        };
        self.declared_triangles = cursor.u32("triangle count")?;
        self.declared_vertices = cursor.u32("vertex count")?;
        self.declared_morphs = cursor.u32("morph count")?;
        if fields.version.number() < WITHOUT_SURFACE {
            cursor.take(12, "geometry colors")?;
        }
        let body = &fields.body;
        if !is_native {
            self.vertices = Vertices::Plain(self.plain(&mut cursor, body)?);
        }
        for _ in 0..self.declared_morphs {
            let morph = self.morph(&mut cursor, body)?;
            self.morphs.push(morph);
        }
        let left = cursor.remaining();
        if left > 0 {
            let at = cursor.offset();
            warnings.push(format!("geometry at {at:#x}: {left} bytes follow it"));
        }
        Ok(())
    }

    /// Takes `size` bytes for each vertex.
    fn per_vertex(
        &self,
        cursor: &mut Cursor<'_>,
        body: &Bytes,
        size: usize,
        field: &'static str,
    ) -> Result<Bytes> {
        let count = cursor.check_count(self.declared_vertices.into(), size, field)?;
        take(cursor, body, count * size, field)
    }

    fn plain(&self, cursor: &mut Cursor<'_>, body: &Bytes) -> Result<Plain> {
        let mut plain = Plain::default();
        if self.flags & PRELIT != 0 {
            plain.colors = self.per_vertex(cursor, body, 4, "vertex colors")?;
        }
        for _ in 0..self.uv_sets {
            plain.uvs.push(self.per_vertex(cursor, body, 8, "UV set")?);
        }
        let count = self.declared_triangles;
        let count = cursor.check_count(count.into(), 8, "triangle count")?;
        plain.triangles = take(cursor, body, count * 8, "triangles")?;
        Ok(plain)
    }

    fn morph(&self, cursor: &mut Cursor<'_>, body: &Bytes) -> Result<MorphTarget> {
        let sphere = heavy_iron::floats(cursor, "bounding sphere")?;
        let has_positions = cursor.u32("position flag")? != 0;
        let has_normals = cursor.u32("normal flag")? != 0;
        let mut morph = MorphTarget {
            sphere,
            ..MorphTarget::default()
        };
        if has_positions {
            morph.positions = self.per_vertex(cursor, body, 12, "positions")?;
        }
        if has_normals {
            morph.normals = self.per_vertex(cursor, body, 12, "normals")?;
        }
        Ok(morph)
    }

    fn bin_mesh(&mut self, plugin: &Chunk) -> Result<()> {
        let mut cursor = plugin.cursor(Endian::Little);
        self.is_strips = cursor.u32("mesh flags")? & 1 != 0;
        let meshes = cursor.u32("mesh count")?;
        let total = cursor.u32("index count")?;
        let meshes = cursor.check_count(meshes.into(), 8, "mesh count")?;
        // Native geometry has no indices here.
        let needed = 8 * meshes as u64 + 4 * u64::from(total);
        let has_indices = cursor.remaining() as u64 >= needed;
        for _ in 0..meshes {
            let count = cursor.u32("index count")?;
            let material = cursor.u32("mesh material")?;
            let mut mesh = BinMesh {
                material,
                count,
                indices: Bytes::new(),
            };
            if has_indices {
                let count = cursor.check_count(count.into(), 4, "index count")?;
                mesh.indices = take(&mut cursor, &plugin.body, count * 4, "indices")?;
            }
            self.meshes.push(mesh);
        }
        Ok(())
    }

    fn native(&mut self, plugin: &Chunk) -> Result<()> {
        // Native PlayStation 2 geometry has the number elsewhere, but the same
        // wrapper.
        let fields = plugin.child(kind::STRUCT, "native geometry")?;
        let platform = fields.cursor(Endian::Little).u32("native platform")?;
        self.vertices = match platform {
            PLATFORM_GAMECUBE => Vertices::GameCube(Gx::read(&fields)?),
            PLATFORM_XBOX => Vertices::Xbox(fields.body),
            PLATFORM_PS2 => Vertices::PlayStation2(fields.body),
            other => {
                let problem = format!("is {other}, which is unknown");
                return Err(Error::damaged(fields.offset, "native platform", problem));
            }
        };
        Ok(())
    }

    /// Checks indices, and warns about invalid ones.
    fn check(&self, fields: &Chunk, warnings: &mut Warnings) -> Result<()> {
        let at = fields.offset;
        let entries = self.material_entries.len();
        match &self.vertices {
            Vertices::None => {
                warnings.push(format!("geometry at {at:#x}: its vertices are missing"));
            }
            Vertices::Plain(plain) => self.check_plain(plain, at, warnings)?,
            Vertices::GameCube(gx) => {
                let (lists, meshes) = (gx.lists().len(), self.meshes.len());
                if lists != meshes {
                    warnings.push(format!(
                        "geometry at {at:#x}: has {lists} display lists and {meshes} meshes"
                    ));
                }
                if gx.triangles() == 0 {
                    warnings.push(format!("geometry at {at:#x}: has no triangles"));
                }
            }
            Vertices::Xbox(_) | Vertices::PlayStation2(_) => {}
        }
        let odd = self
            .meshes
            .iter()
            .find(|mesh| mesh.material as usize >= entries);
        if let Some(mesh) = odd {
            let material = mesh.material;
            warnings.push(format!(
                "mesh at {at:#x}: has material {material} of {entries}"
            ));
        }
        Ok(())
    }

    fn check_plain(&self, plain: &Plain, at: u64, warnings: &mut Warnings) -> Result<()> {
        let (vertices, entries) = (self.declared_vertices, self.material_entries.len());
        for (number, (corners, material)) in plain.triangles().enumerate() {
            let outside = corners.iter().find(|&&index| u32::from(index) >= vertices);
            if let Some(index) = outside {
                let problem = format!("has vertex {index} of {vertices}");
                return Err(Error::damaged(at, format!("triangle {number}"), problem));
            }
            if usize::from(material) >= entries {
                warnings.push(format!(
                    "triangle {number}: has material {material} of {entries}"
                ));
            }
        }
        let shape = self.morphs.first();
        let is_odd = |position: [f32; 3]| !position.iter().all(|value| value.is_finite());
        let odd = shape.map_or(0, |shape| shape.positions().filter(|p| is_odd(*p)).count());
        if odd > 0 {
            warnings.push(format!(
                "geometry at {at:#x}: {odd} positions are not finite"
            ));
        }
        let has_positions = shape.is_some_and(|shape| !shape.positions.is_empty());
        if !has_positions && vertices > 0 {
            warnings.push(format!("geometry at {at:#x}: its positions are missing"));
        }
        Ok(())
    }
}
