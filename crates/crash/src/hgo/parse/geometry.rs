//! Geometry: meshes, or sprites that face the camera (FORMATS, HGO 6).

use get_size2::GetSize;

use super::Mesh;
use super::material::floats;
use super::mesh::{self, MESH_SIZE};
use hpimount_assets::parse::count::{count, fill, fitting};
use hpimount_containers::io::Warnings;
use hpimount_containers::io::{Cursor, Error, Result};
use hpimount_record::{self as record, FixedSize, Record};

/// Minimum length of a geometry in bytes: its type and a count.
const GEOMETRY_SIZE: usize = 8;

/// A geometry.
#[derive(Debug, GetSize)]
pub enum Geometry {
    /// Meshes, one for every material.
    Meshes {
        /// Absolute offset of the origin.
        offset: usize,
        /// Origin of the coordinates of the meshes.
        origin: [f32; 3],
        /// The meshes.
        meshes: Vec<Mesh>,
    },
    /// Sprites that face the camera.
    Sprites(Vec<Sprites>),
}

impl Geometry {
    /// Returns its meshes; empty for sprites.
    pub fn meshes(&self) -> &[Mesh] {
        match self {
            Self::Meshes { meshes, .. } => meshes,
            Self::Sprites(_) => &[],
        }
    }

    /// Returns its sprites; empty for meshes.
    pub fn sprites(&self) -> &[Sprites] {
        match self {
            Self::Meshes { .. } => &[],
            Self::Sprites(sprites) => sprites,
        }
    }

    /// Returns the material numbers, one for every mesh or set of sprites.
    pub fn materials(&self) -> impl Iterator<Item = i32> {
        let meshes = self.meshes().iter().map(|mesh| mesh.material);
        meshes.chain(self.sprites().iter().map(|sprites| sprites.header.material))
    }

    /// Replaces the material of all meshes.
    #[cfg(test)]
    pub(super) fn set_material(&mut self, material: i32) {
        if let Self::Meshes { meshes, .. } = self {
            meshes.iter_mut().for_each(|mesh| mesh.material = material);
        }
    }
}

/// Sprites of one material.
#[derive(Debug, Default, Clone, PartialEq, GetSize)]
pub struct Sprites {
    /// Absolute offset.
    pub offset: usize,
    /// The header.
    pub header: SpritesHeader,
    /// The sprites.
    pub sprites: Vec<Sprite>,
}

/// The header of a set of sprites.
#[derive(Debug, Default, Clone, PartialEq, GetSize, Record)]
#[record(table = "../../docs/formats/hgo.md")]
pub struct SpritesHeader {
    /// Number of the material.
    pub material: i32,
    /// Number of sprites.
    #[record(derived)]
    pub count: u32,
    /// Orientation towards the camera; meaning unknown.
    pub faceon_type: i32,
    /// Radius of all of them together.
    pub radius: f32,
}

/// A sprite.
#[derive(Debug, Default, Clone, Copy, PartialEq, GetSize, Record)]
#[record(table = "../../docs/formats/hgo.md")]
pub struct Sprite {
    /// Center.
    pub position: [f32; 3],
    /// Width.
    pub width: f32,
    /// Height.
    pub height: f32,
    /// Color: alpha in the highest byte, then red, green, blue.
    pub color: u32,
}

/// Reads a list of geometries of an object with this number of joints.
pub(super) fn read(
    cursor: &mut Cursor<'_>,
    joints: usize,
    list: &mut Vec<Geometry>,
    warnings: &mut Warnings,
) -> Result<()> {
    for _ in 0..count(cursor, GEOMETRY_SIZE, "geometry count")? {
        let offset = cursor.offset();
        let kind = cursor.i32("geometry type")?;
        let result;
        match kind {
            0 => {
                let offset = cursor.offset() as usize;
                let origin = floats(cursor, "geometry origin")?;
                let mut meshes = Vec::new();
                result = read_meshes(cursor, joints, &mut meshes, warnings);
                list.push(Geometry::Meshes {
                    offset,
                    origin,
                    meshes,
                });
            }
            1 => {
                let mut sprites = Vec::new();
                result = read_sprites(cursor, &mut sprites);
                list.push(Geometry::Sprites(sprites));
            }
            _ => {
                let problem = format!("is {kind}, should be 0 or 1");
                return Err(Error::damaged(offset, "geometry type", problem));
            }
        }
        result?;
    }
    Ok(())
}

fn read_meshes(
    cursor: &mut Cursor<'_>,
    joints: usize,
    meshes: &mut Vec<Mesh>,
    warnings: &mut Warnings,
) -> Result<()> {
    for _ in 0..count(cursor, MESH_SIZE, "mesh count")? {
        fill(meshes, |mesh| mesh::read(cursor, joints, mesh, warnings))?;
    }
    Ok(())
}

fn read_sprites(cursor: &mut Cursor<'_>, list: &mut Vec<Sprites>) -> Result<()> {
    for _ in 0..count(cursor, SpritesHeader::SIZE, "sprite set count")? {
        fill(list, |set| {
            set.offset = cursor.offset() as usize;
            set.header = record::read(cursor)?;
            let count_offset = set.offset as u64 + 4;
            let count = set.header.count;
            let count = fitting(cursor, count_offset, count, Sprite::SIZE, "sprite count")?;
            for _ in 0..count {
                set.sprites.push(record::read(cursor)?);
            }
            Ok(())
        })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use hpimount_containers::io::Endian;

    fn read_words(words: &[u32]) -> (Result<()>, Vec<Geometry>) {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
        let mut cursor = Cursor::new(&bytes, 0, Endian::Big);
        let mut list = Vec::new();
        let result = read(&mut cursor, 1, &mut list, &mut Warnings::default());
        (result, list)
    }

    #[test]
    fn sprites_are_kept_with_their_colors() {
        let one = 1.0_f32.to_bits();
        let set = [1, 1, 1, 5, 1, 0, one, one, one, one, one, one, 0xff80_4020];
        let (result, list) = read_words(&set);
        result.unwrap();
        let sprites = &list[0].sprites()[0];
        assert_eq!(list[0].materials().collect::<Vec<_>>(), [5]);
        assert_eq!(sprites.sprites[0].color, 0xff80_4020);
        assert_eq!(sprites.sprites[0].position, [1.0; 3]);
    }

    #[test]
    fn an_unknown_type_is_an_error_at_its_offset() {
        let (result, list) = read_words(&[1, 2, 0]);
        assert_eq!(
            result.unwrap_err().to_string(),
            "geometry type at 0x4: is 2, should be 0 or 1"
        );
        assert!(list.is_empty());
    }

    #[test]
    fn counts_that_do_not_fit_are_errors() {
        for words in [
            &[u32::MAX][..],
            &[1, 0, 0, 0, 0, u32::MAX],
            &[1, 1, u32::MAX],
            &[1, 1, 1, 0, u32::MAX, 0, 0],
        ] {
            assert!(read_words(words).0.is_err(), "{words:x?}");
        }
    }
}
