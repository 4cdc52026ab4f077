//! Breakables: the debris of an object (FORMATS, GTA 5.5).

use get_size2::GetSize;

use hpimount_assets::parse::name::until_nul;
use hpimount_containers::io::{Cursor, Endian, Result};
use hpimount_renderware::Chunk;

/// The debris of a geometry.
#[derive(Debug, Clone, GetSize)]
pub struct Breakable {
    /// Number of the clump.
    pub clump: usize,
    /// Number of the geometry in it.
    pub geometry: usize,
    /// Origin of the pieces: 0 at the object, otherwise at their vertices.
    pub rule: u32,
    /// Number of vertices.
    pub vertices: u16,
    /// Number of triangles.
    pub triangles: u16,
    /// The materials.
    pub pieces: Vec<Piece>,
}

/// A material of a breakable.
#[derive(Debug, Clone, PartialEq, GetSize)]
pub struct Piece {
    /// Name of its texture.
    pub texture: String,
    /// Name of the texture's mask.
    pub mask: String,
    /// Red, green and blue of the light that it reflects.
    pub ambient: [f32; 3],
}

/// Bytes of a name.
const NAME: usize = 32;

/// Reads a breakable, or `None` if the geometry does not break.
pub(super) fn read(plugin: &Chunk, at: (usize, usize)) -> Result<Option<Breakable>> {
    let mut cursor = plugin.cursor(Endian::Little);
    if cursor.u32("breakable")? == 0 {
        return Ok(None);
    }
    let rule = cursor.u32("breakable rule")?;
    // Each count is followed by pointers of the program that wrote it.
    let mut counted = |pointers: usize| {
        let count = cursor.u16("breakable count")?;
        cursor.take(2 + 4 * pointers, "breakable pointers")?;
        Ok(count)
    };
    let (vertices, triangles, materials) = (counted(3)?, counted(2)?, counted(4)?);
    let mut skip = |count: u16, size: usize, field| {
        let count = cursor.check_count(count.into(), size, field)?;
        cursor.take(count * size, field).map(|_| ())
    };
    skip(vertices, 12, "breakable vertices")?;
    skip(vertices, 8, "breakable coordinates")?;
    skip(vertices, 4, "breakable colors")?;
    skip(triangles, 6, "breakable triangles")?;
    skip(triangles, 2, "breakable materials")?;
    let textures = names(&mut cursor, materials, "breakable textures")?;
    let masks = names(&mut cursor, materials, "breakable masks")?;
    let mut pieces = Vec::with_capacity(textures.len());
    for (texture, mask) in textures.into_iter().zip(masks) {
        pieces.push(Piece {
            texture,
            mask,
            ambient: hpimount_assets::parse::floats(&mut cursor, "breakable ambient")?,
        });
    }
    Ok(Some(Breakable {
        clump: at.0,
        geometry: at.1,
        rule,
        vertices,
        triangles,
        pieces,
    }))
}

fn names(cursor: &mut Cursor<'_>, count: u16, field: &'static str) -> Result<Vec<String>> {
    let count = cursor.check_count(count.into(), NAME, field)?;
    let names = cursor.take(count * NAME, field)?;
    Ok(names.chunks_exact(NAME).map(until_nul).collect())
}
