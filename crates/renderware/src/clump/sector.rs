//! World sectors: geometries that use the materials of their world. Little-endian
//! (FORMATS, HIP assets 7).

use super::bin_mesh;
use super::geometry::{Geometry, MorphTarget, Plain, Vertices};
use super::mesh::Mesh;
use crate::{Chunk, kind};
use hpimount_assets::parse::{floats, take};
use hpimount_containers::io::{Cursor, Endian, Error, Result, Warnings};

/// Flags of a world.
const ONE_UV: u32 = 4;
const PRELIT: u32 = 8;
const NORMALS: u32 = 0x10;
const TWO_UVS: u32 = 0x80;

/// First version that stores the material of a triangle after its vertices.
const MATERIAL_LAST: u32 = 0x3_6000;

/// Maximum number of vertices of a sector, because triangles use 16-bit numbers.
const MAX_VERTICES: u32 = u16::MAX as u32;

/// Sizes of a triangle, a position, a stored normal, a color and a pair of texture
/// coordinates in bytes.
const TRIANGLE: usize = 8;
const POSITION: usize = 12;
const NORMAL: usize = 4;
const COLOR: usize = 4;
const UV: usize = 8;

/// Properties shared by all sectors of a world.
#[derive(Debug, Clone, Copy)]
pub struct SectorFormat {
    /// Flags of the world: geometry flags, and the number of UV sets from bit 16 on.
    pub flags: u32,
    /// Length of the world's material list.
    pub materials: usize,
}

impl SectorFormat {
    fn uv_sets(self) -> usize {
        match (self.flags >> 16 & 0xFF, self.flags) {
            (0, flags) if flags & TWO_UVS != 0 => 2,
            (0, flags) if flags & ONE_UV != 0 => 1,
            (sets, _) => sets as usize,
        }
    }

    /// Returns the bytes of a vertex.
    fn vertex(self) -> usize {
        let of = |flag: u32, size: usize| if self.flags & flag != 0 { size } else { 0 };
        POSITION + of(NORMALS, NORMAL) + of(PRELIT, COLOR) + UV * self.uv_sets()
    }
}

/// A part of the geometry of a world.
#[derive(Debug, Default)]
pub struct Sector {
    /// Offset of the material numbers of triangles.
    pub first_material: i32,
    /// The minimum and maximum corner of the bounding box, as stored.
    pub bounds: [[f32; 3]; 2],
    /// Vertices and triangles. Their material numbers are entries of the world's
    /// material list, minus `first_material`.
    pub geometry: Geometry,
}

impl Sector {
    /// Reads a sector. After an error, it contains the parts before the error.
    pub fn read(chunk: &Chunk, format: SectorFormat, warnings: &mut Warnings) -> Self {
        let mut sector = Self::default();
        if let Err(error) = sector.fill(chunk, format, warnings) {
            sector.geometry.vertices = Vertices::None;
            sector.geometry.error = Some(error);
        }
        sector
    }

    /// Returns the vertices and triangles with entries of the world's material list, or
    /// `None` if the sector is unreadable.
    pub fn mesh(&self) -> Option<Mesh> {
        let mut mesh = self.geometry.mesh()?;
        for part in &mut mesh.parts {
            part.material = part.material.wrapping_add_signed(self.first_material);
        }
        Some(mesh)
    }

    /// Returns its memory in bytes, without the bytes of its file.
    pub fn memory(&self) -> usize {
        // Reading converts normals and triangles.
        let triangles = match &self.geometry.vertices {
            Vertices::Plain(plain) => plain.triangles.len(),
            _ => 0,
        };
        let normals = self.geometry.morphs.iter().map(|shape| shape.normals.len());
        size_of::<Self>() + self.geometry.memory() + triangles + normals.sum::<usize>()
    }

    fn fill(&mut self, chunk: &Chunk, format: SectorFormat, warnings: &mut Warnings) -> Result<()> {
        let fields = chunk.child(kind::STRUCT, "sector")?;
        fields.check_whole("sector")?;
        let mut cursor = fields.cursor(Endian::Little);
        self.first_material = cursor.i32("first material")?;
        let geometry = &mut self.geometry;
        geometry.version = fields.version;
        geometry.flags = format.flags as u16;
        geometry.uv_sets = format.uv_sets();
        geometry.plugins = chunk.plugins();
        geometry.declared_triangles = cursor.u32("triangle count")?;
        geometry.declared_vertices = cursor.u32("vertex count")?;
        geometry.declared_morphs = 1;
        let [greatest, least] = [(); 2].map(|()| floats(&mut cursor, "sector box"));
        self.bounds = [least?, greatest?];
        cursor.take(8, "sector")?;
        match cursor.remaining() == 0 && geometry.declared_vertices > 0 {
            true => self.native(&fields, format, warnings),
            false => self.plain(&mut cursor, &fields, format, warnings),
        }
    }

    /// Reads the platform-independent form.
    fn plain(
        &mut self,
        cursor: &mut Cursor<'_>,
        fields: &Chunk,
        format: SectorFormat,
        warnings: &mut Warnings,
    ) -> Result<()> {
        let geometry = &mut self.geometry;
        let (vertices, triangles) = (geometry.declared_vertices, geometry.declared_triangles);
        let at = cursor.offset();
        if vertices > MAX_VERTICES {
            let text = format!("is {vertices}, at most {MAX_VERTICES} are possible");
            return Err(Error::damaged(at, "sector vertices", text));
        }
        let vertices = vertices as usize;
        let triangles = cursor.check_count(triangles.into(), TRIANGLE, "triangle count")?;
        let left = cursor.remaining() - triangles * TRIANGLE;
        let expected = vertices * format.vertex();
        if left != expected {
            let text = format!("take {left} bytes, should take {expected}");
            return Err(Error::damaged(at, "sector vertices", text));
        }
        let body = &fields.body;
        let mut of_vertices = |size, field| take(cursor, body, vertices * size, field);
        let mut shape = MorphTarget::of_positions(of_vertices(POSITION, "positions")?);
        if format.flags & NORMALS != 0 {
            shape.set_small_normals(&of_vertices(NORMAL, "normals")?);
        }
        geometry.morphs = vec![shape];
        let mut plain = Plain::default();
        if format.flags & PRELIT != 0 {
            plain.colors = of_vertices(COLOR, "vertex colors")?;
        }
        for _ in 0..format.uv_sets() {
            plain.uvs.push(of_vertices(UV, "UV set")?);
        }
        let at = cursor.offset();
        let stored = take(cursor, body, triangles * TRIANGLE, "triangles")?;
        let is_last = fields.version.number() >= MATERIAL_LAST;
        let fits = |is_last: bool| {
            triangles_of(&stored, is_last).all(|(corners, material)| {
                corners.iter().all(|&corner| usize::from(corner) < vertices)
                    && entry(self.first_material, material.into(), format.materials).is_some()
            })
        };
        let is_last = match (fits(is_last), fits(!is_last)) {
            (true, _) => is_last,
            (false, true) => {
                warnings.push(format!(
                    "triangles at {at:#x}: have their materials in the order of other versions"
                ));
                !is_last
            }
            (false, false) => {
                let text = "have vertices or materials that do not exist";
                return Err(Error::damaged(at, "sector triangles", text));
            }
        };
        plain.set_triangles(triangles_of(&stored, is_last));
        geometry.vertices = Vertices::Plain(plain);
        Ok(())
    }

    /// Reads the form of a console.
    fn native(
        &mut self,
        fields: &Chunk,
        format: SectorFormat,
        warnings: &mut Warnings,
    ) -> Result<()> {
        let geometry = &mut self.geometry;
        if let Some(plugin) = geometry.plugins.find(kind::BIN_MESH) {
            let found = bin_mesh::read(&plugin, true, warnings)?;
            (geometry.is_strips, geometry.meshes) = (found.is_strips, found.meshes);
        }
        let data = geometry.plugins.find(kind::NATIVE_DATA);
        let missing = || Error::damaged(fields.offset, "native sector", "is missing");
        geometry.native(&data.ok_or_else(missing)?, warnings)?;
        if let Vertices::GameCube(gx) = &geometry.vertices {
            geometry.check_mesh_count(gx.lists().len(), fields.offset)?;
        }
        let (first, count) = (self.first_material, format.materials);
        let mut meshes = geometry.meshes.iter().map(|mesh| mesh.material);
        match meshes.find(|&one| entry(first, one, count).is_none()) {
            Some(material) => {
                let text = format!("is {material} after {first} of {count}");
                Err(Error::damaged(fields.offset, "mesh material", text))
            }
            None => Ok(()),
        }
    }
}

/// Returns an entry of a list of `count` materials.
fn entry(first: i32, material: u32, count: usize) -> Option<usize> {
    let sum = i64::from(first) + i64::from(material);
    usize::try_from(sum).ok().filter(|&entry| entry < count)
}

/// Returns the vertices and materials of triangles.
fn triangles_of(stored: &[u8], is_last: bool) -> impl Iterator<Item = ([u16; 3], u16)> {
    stored.as_chunks::<TRIANGLE>().0.iter().map(move |stored| {
        let words = stored.as_chunks().0;
        match (
            is_last,
            std::array::from_fn(|i| u16::from_le_bytes(words[i])),
        ) {
            (true, [a, b, c, material]) | (false, [material, a, b, c]) => ([a, b, c], material),
        }
    })
}
