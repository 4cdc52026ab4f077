//! Geometries: vertices, triangles and materials.

use bytes::Bytes;

use super::bin_mesh::{self, BinMesh};
use super::gx::Gx;
use super::material::{self, Material};
use super::opengl::OpenGl;
use super::ps2::Ps2;
use super::skin::{Skin, groups};
use super::xbox::Xbox;
use crate::{Chunk, Plugins, Version, kind};
use hpimount_assets::parse::{floats, take};
use hpimount_containers::io::{Cursor, Endian, Error, Result, Warnings};

/// Flags of a geometry.
const ONE_UV: u16 = 4;
pub(super) const PRELIT: u16 = 8;
const TWO_UVS: u16 = 0x80;

/// First version without surface properties in geometries.
const WITHOUT_SURFACE: u32 = 0x3_4000;

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
    /// Number of triangles, as stored. For native geometry, the number before the
    /// conversion to strips.
    pub declared_triangles: u32,
    /// Number of vertices, as stored.
    pub declared_vertices: u32,
    /// Number of morph targets, as stored.
    pub declared_morphs: u32,
    /// The morph targets. The first is the visible shape.
    pub morphs: Vec<MorphTarget>,
    /// The vertices and triangles.
    pub vertices: Vertices,
    /// The materials.
    pub materials: Vec<Material>,
    /// The number in [`Geometry::materials`] for each material number in triangles and
    /// meshes.
    pub material_entries: Vec<usize>,
    /// Triangles by material, in drawing order.
    pub meshes: Vec<BinMesh>,
    /// True if meshes are strips.
    pub is_strips: bool,
    /// True if there is a skin.
    pub has_skin: bool,
    /// The skin; `None` for an unknown form.
    pub skin: Option<Skin>,
    /// Plugins.
    pub plugins: Plugins,
    /// The error; after one, the vertices are [`Vertices::None`].
    pub error: Option<Error>,
    night_colors: Bytes,
}

/// A shape of a geometry.
#[derive(Debug, Default, Clone)]
pub struct MorphTarget {
    /// Center and radius of the bounding sphere.
    pub sphere: [f32; 4],
    positions: Bytes,
    pub(super) normals: Bytes,
}

impl MorphTarget {
    /// Returns the positions of the vertices.
    pub fn positions(&self) -> impl Iterator<Item = [f32; 3]> {
        groups(&self.positions)
    }

    /// Returns the normals of the vertices; empty if they have none.
    pub fn normals(&self) -> impl Iterator<Item = [f32; 3]> {
        groups(&self.normals)
    }

    /// Returns a shape of positions, three floats each.
    pub(super) fn of_positions(positions: Bytes) -> Self {
        Self {
            positions,
            ..Self::default()
        }
    }

    /// Decodes normals in the form of sectors: three signed bytes in units of 1/127,
    /// and an unused byte.
    pub(super) fn set_small_normals(&mut self, stored: &[u8]) {
        let parts =
            stored.as_chunks::<4>().0.iter().flat_map(|[x, y, z, _]| {
                [x, y, z].map(|part| f32::from(part.cast_signed()) / 127.0)
            });
        self.normals = parts.flat_map(f32::to_le_bytes).collect();
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
    /// In the native form of the Xbox.
    Xbox(Xbox),
    /// In the native form of the PlayStation 2.
    PlayStation2(Ps2),
    /// In the native form of OpenGL. The triangles are in the meshes.
    OpenGl(OpenGl),
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
            Self::OpenGl(_) => "opengl",
        }
    }
}

/// Colors, texture coordinates and triangles in the platform-independent form.
#[derive(Debug, Default)]
pub struct Plain {
    pub(super) colors: Bytes,
    pub(super) uvs: Vec<Bytes>,
    pub(super) triangles: Bytes,
}

impl Plain {
    /// Returns the colors of the vertices; empty if they have none.
    pub fn colors(&self) -> impl Iterator<Item = [u8; 4]> {
        self.colors.as_chunks().0.iter().copied()
    }

    /// Returns the coordinates of a UV set, v downwards.
    pub fn uvs(&self, set: usize) -> impl Iterator<Item = [f32; 2]> {
        groups(self.uvs.get(set).map_or(&[][..], |bytes| bytes))
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

    /// Sets the triangles: their vertices counter-clockwise, and the number of
    /// the material.
    pub(super) fn set_triangles(&mut self, triangles: impl Iterator<Item = ([u16; 3], u16)>) {
        let words = triangles.flat_map(|([a, b, c], material)| [b, a, material, c]);
        self.triangles = words.flat_map(u16::to_le_bytes).collect();
    }
}

impl Geometry {
    /// Reads a geometry. After an error, it contains the parts before the error.
    pub(super) fn read(chunk: &Chunk, warnings: &mut Warnings) -> Self {
        let mut geometry = Self::default();
        if let Err(error) = geometry.fill(chunk, warnings) {
            geometry.vertices = Vertices::None;
            geometry.skin = None;
            geometry.error = Some(error);
        }
        geometry
    }

    fn fill(&mut self, geometry: &Chunk, warnings: &mut Warnings) -> Result<()> {
        let fields = geometry.child(kind::STRUCT, "geometry")?;
        self.version = fields.version;
        self.plugins = geometry.plugins();
        let is_native = self.fields(&fields, warnings)?;
        let list = geometry
            .children()
            .find(|chunk| chunk.kind == kind::MATERIAL_LIST);
        match list {
            Some(list) => (self.materials, self.material_entries) = material::read(&list)?,
            None => warnings.push(format!(
                "geometry at {:#x}: has no materials",
                fields.offset
            )),
        }
        for plugin in self.plugins.iter() {
            if let Err(error) = plugin.check_whole("geometry plugin") {
                warnings.push(error.to_string());
            }
            match plugin.kind {
                kind::BIN_MESH => {
                    let found = bin_mesh::read(&plugin, is_native, warnings)?;
                    (self.is_strips, self.meshes) = (found.is_strips, found.meshes);
                }
                kind::SKIN => self.has_skin = true,
                kind::NIGHT_COLORS => self.read_night_colors(&plugin, warnings),
                _ => {}
            }
        }
        // Native data need the meshes, which may come later.
        if let Some(plugin) = self.plugins.find(kind::NATIVE_DATA) {
            self.native(&plugin, warnings)?;
        }
        if is_native && matches!(self.vertices, Vertices::None) {
            let problem = "is missing".to_owned();
            return Err(Error::damaged(fields.offset, "native geometry", problem));
        }
        self.read_skin(warnings);
        self.check(&fields, warnings);
        Ok(())
    }

    /// Returns its memory in bytes, without the bytes of its file.
    pub fn memory(&self) -> usize {
        size_of::<Self>()
            + self.materials.capacity() * size_of::<Material>()
            + self.morphs.capacity() * size_of::<MorphTarget>()
            + self.meshes.capacity() * size_of::<BinMesh>()
            + self.material_entries.capacity() * size_of::<usize>()
            + self.skin.as_ref().map_or(0, Skin::memory)
    }

    /// Reads the skin of a geometry in the platform-independent form.
    fn read_skin(&mut self, warnings: &mut Warnings) {
        let plugin = self.plugins.find(kind::SKIN);
        let is_plain = matches!(self.vertices, Vertices::Plain(_));
        let Some(plugin) = plugin.filter(|_| is_plain) else {
            return;
        };
        match Skin::read(&plugin, self.declared_vertices) {
            Ok(skin) => {
                skin.check(plugin.offset, warnings);
                self.skin = Some(skin);
            }
            Err(error) => warnings.push(error.to_string()),
        }
    }

    /// Reads the night colors, which are missing if the first word is 0.
    fn read_night_colors(&mut self, plugin: &Chunk, warnings: &mut Warnings) {
        let mut cursor = plugin.cursor(Endian::Little);
        let colors = cursor.u32("night colors").and_then(|word| match word {
            0 => Ok(Bytes::new()),
            _ => self.per_vertex(&mut cursor, &plugin.body, 4, "night colors"),
        });
        match colors {
            Ok(colors) => self.night_colors = colors,
            Err(error) => warnings.push(error.to_string()),
        }
    }

    /// Returns the colors of the vertices at night; empty if they have none.
    pub fn night_colors(&self) -> impl Iterator<Item = [u8; 4]> {
        self.night_colors.as_chunks().0.iter().copied()
    }

    /// Returns the number of triangles of a geometry in the
    /// platform-independent form, including degenerate ones.
    pub fn plain_triangles(&self, plain: &Plain) -> usize {
        match self.meshes.is_empty() {
            true => plain.triangles().count(),
            false => self.mesh_triangles(),
        }
    }

    /// Returns the number of triangles of the meshes, including degenerate ones.
    pub fn mesh_triangles(&self) -> usize {
        self.meshes.iter().map(BinMesh::triangle_count).sum()
    }

    /// Reads the structure: counts, and the platform-independent data. Returns
    /// whether the geometry is native.
    fn fields(&mut self, fields: &Chunk, warnings: &mut Warnings) -> Result<bool> {
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
        Ok(is_native)
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
        let sphere = floats(cursor, "bounding sphere")?;
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

    /// Warns about invalid indices and positions.
    fn check(&self, fields: &Chunk, warnings: &mut Warnings) {
        let at = fields.offset;
        match &self.vertices {
            Vertices::None => {
                warnings.push(format!("geometry at {at:#x}: its vertices are missing"));
            }
            Vertices::Plain(plain) => self.check_plain(plain, at, warnings),
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
            Vertices::OpenGl(_) => self.check_meshes(at, warnings),
            Vertices::Xbox(_) | Vertices::PlayStation2(_) => {}
        }
        let entries = self.material_entries.len();
        let mut meshes = self.meshes.iter();
        if let Some(mesh) = meshes.find(|mesh| mesh.material as usize >= entries) {
            let material = mesh.material;
            warnings.push(format!(
                "mesh at {at:#x}: has material {material} of {entries}"
            ));
        }
    }

    /// Warns about triangles of meshes with missing vertices.
    fn check_meshes(&self, at: u64, warnings: &mut Warnings) {
        let vertices = self.declared_vertices;
        let drawn = self.meshes.iter().flat_map(BinMesh::triangles);
        let outside = drawn.filter(|corners| corners.iter().any(|&index| index >= vertices));
        let count = outside.count();
        if count > 0 {
            let problem = format!("triangles of meshes have a vertex past {vertices}");
            warnings.push(format!("geometry at {at:#x}: {count} {problem}"));
        }
    }

    fn check_plain(&self, plain: &Plain, at: u64, warnings: &mut Warnings) {
        let (vertices, entries) = (self.declared_vertices, self.material_entries.len());
        let listed = plain.triangles();
        let outside = |index: u16| u32::from(index) >= vertices;
        let listed = listed.filter(|(corners, _)| corners.iter().any(|&index| outside(index)));
        let listed = listed.count();
        if listed > 0 {
            warnings.push(format!(
                "geometry at {at:#x}: {listed} triangles have a vertex past {vertices}"
            ));
        }
        self.check_meshes(at, warnings);
        let mut warn = |count: usize, problem: &str| {
            if count > 0 {
                warnings.push(format!("geometry at {at:#x}: {count} {problem}"));
            }
        };
        let unknown = plain.triangles();
        let unknown = unknown.filter(|(_, material)| usize::from(*material) >= entries);
        warn(
            unknown.count(),
            &format!("triangles have a material past {entries}"),
        );
        let shape = self.morphs.first();
        let is_odd = |position: &[f32; 3]| !position.iter().all(|value| value.is_finite());
        let odd = shape.map_or(0, |shape| shape.positions().filter(is_odd).count());
        warn(odd, "positions are not finite");
        let has_positions = shape.is_some_and(|shape| !shape.positions.is_empty());
        if !has_positions && vertices > 0 {
            warnings.push(format!("geometry at {at:#x}: its positions are missing"));
        }
    }
}
