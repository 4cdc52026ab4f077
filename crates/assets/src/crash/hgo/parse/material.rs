//! Materials and texture animations (FORMATS, HGO 3 and 4).

use get_size2::GetSize;

use super::Hgo;
use crate::parse::count::{count, fitting};
use hpimount_containers::io::{Cursor, Endian, Result};

/// Bytes of a material.
const MATERIAL_SIZE: usize = 0x54;

/// Bytes of a texture animation.
const TEXTURE_ANIMATION_SIZE: usize = 32;

/// A material, with all its fields.
#[derive(Debug, Clone, PartialEq, GetSize)]
pub struct Material {
    /// Number of the material that is drawn after it, counted from 1; 0 for
    /// none.
    pub next: i32,
    /// The attribute bits as stored.
    pub attributes: u32,
    /// The attribute bits by name.
    pub flags: Attributes,
    /// Ambient color, red, green, blue.
    pub ambient: [f32; 3],
    /// Diffuse color, red, green, blue.
    pub diffuse: [f32; 3],
    /// Four words about an effect; their meaning is unknown.
    pub fx: [u32; 4],
    /// Specular exponent.
    pub power: f32,
    /// Opacity, 1 for opaque.
    pub alpha: f32,
    /// Number of the texture; -1 for none.
    pub texture: i32,
    /// Rank among the transparent materials.
    pub alpha_sort: i16,
    /// Number of the effect.
    pub fx_id: u8,
    /// Number of a special treatment.
    pub special_id: u8,
    /// Unknown, at 0x40.
    pub unknown_40: i16,
    /// Unknown, at 0x42.
    pub unknown_42: u8,
    /// Unknown, at 0x43.
    pub unknown_43: u8,
    /// How the texture moves: step in u and v, then scale in u and v.
    pub scroll: [f32; 4],
}

/// The attribute bits of a material by name.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, GetSize)]
pub struct Attributes {
    values: [u8; ATTRIBUTES.len()],
}

/// The attributes and the number of bits of each. The first is in the highest
/// bits in a big-endian file (the order of compilers for the GameCube), and in
/// the lowest in a little-endian one.
const ATTRIBUTES: [(&str, u32); 14] = [
    ("alpha", 2),
    ("filter", 2),
    ("fx", 2),
    ("u_wrap", 2),
    ("v_wrap", 2),
    ("cull", 2),
    ("zmode", 2),
    ("lighting", 2),
    ("color", 1),
    ("fill", 1),
    ("atst", 3),
    ("aref", 8),
    ("afail", 2),
    ("uvmode", 1),
];

impl Attributes {
    fn new(bits: u32, endian: Endian) -> Self {
        let mut position = 0;
        let values = ATTRIBUTES.map(|(_, width)| {
            let shift = match endian {
                Endian::Big => 32 - position - width,
                Endian::Little => position,
            };
            position += width;
            ((bits >> shift) & ((1 << width) - 1)) as u8
        });
        Self { values }
    }

    /// Returns the names, in the order of [`Attributes::iter`].
    pub fn names() -> impl Iterator<Item = &'static str> {
        ATTRIBUTES.iter().map(|&(name, _)| name)
    }

    /// Returns every attribute with its value.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, u8)> {
        Self::names().zip(self.values)
    }
}

/// An animated texture.
#[derive(Debug, Clone, PartialEq, Eq, GetSize)]
pub struct TextureAnimation {
    /// Index of its first texture in [`Hgo::texture_ids`].
    pub first_id: i32,
    /// Number of textures.
    pub id_count: i16,
    /// Flag.
    pub flag: i16,
    /// Number of the material that changes.
    pub material: i32,
    /// Number of the environment material.
    pub environment: i32,
    /// Offset of its name in the name table, counted from 0.
    pub name_offset: i32,
    /// Offset of the script's name in the name table, counted from 0.
    pub script_offset: i32,
    /// Its name.
    pub name: Option<String>,
    /// Name of the script that drives it.
    pub script: Option<String>,
}

/// Reads an `MS00` block. A second one replaces the first.
pub(super) fn read_materials(cursor: &mut Cursor<'_>, hgo: &mut Hgo) -> Result<()> {
    hgo.materials.clear();
    let count = count(cursor, MATERIAL_SIZE, "material count")?;
    for _ in 0..count {
        hgo.materials.push(read_material(cursor)?);
    }
    Ok(())
}

fn read_material(cursor: &mut Cursor<'_>) -> Result<Material> {
    let next = cursor.i32("next material")?;
    let attributes = cursor.u32("material attributes")?;
    Ok(Material {
        next,
        attributes,
        flags: Attributes::new(attributes, cursor.endian()),
        ambient: floats(cursor, "ambient color")?,
        diffuse: floats(cursor, "diffuse color")?,
        fx: array(|| cursor.u32("material effect"))?,
        power: cursor.f32("material power")?,
        alpha: cursor.f32("material alpha")?,
        texture: cursor.i32("material texture")?,
        alpha_sort: cursor.i16("alpha sort")?,
        fx_id: cursor.u8("effect id")?,
        special_id: cursor.u8("special id")?,
        unknown_40: cursor.i16("material")?,
        unknown_42: cursor.u8("material")?,
        unknown_43: cursor.u8("material")?,
        scroll: floats(cursor, "texture scroll")?,
    })
}

/// Reads a `TAS0` block. A second one replaces the first.
pub(super) fn read_texture_animations(cursor: &mut Cursor<'_>, hgo: &mut Hgo) -> Result<()> {
    hgo.texture_animations.clear();
    hgo.texture_ids.clear();
    let count_offset = cursor.offset();
    let animations = cursor.u32("texture animation count")?;
    cursor.u32("texture animation padding")?;
    let animations = fitting(
        cursor,
        count_offset,
        animations,
        TEXTURE_ANIMATION_SIZE,
        "texture animation count",
    )?;
    for _ in 0..animations {
        let animation = read_texture_animation(cursor, hgo)?;
        hgo.texture_animations.push(animation);
    }
    let ids = count(cursor, 2, "texture id count")?;
    for _ in 0..ids {
        hgo.texture_ids.push(cursor.i16("texture id")?);
    }
    Ok(())
}

fn read_texture_animation(cursor: &mut Cursor<'_>, hgo: &mut Hgo) -> Result<TextureAnimation> {
    cursor.take(8, "texture animation links")?;
    let first_id = cursor.i32("first texture id")?;
    let id_count = cursor.i16("texture id count")?;
    let flag = cursor.i16("texture animation flag")?;
    let material = cursor.i32("texture animation material")?;
    let environment = cursor.i32("texture animation environment")?;
    let at = cursor.offset();
    let name_offset = cursor.i32("texture animation name")?;
    let script_offset = cursor.i32("texture animation script")?;
    let mut name = |at, offset| hgo.names.zero_based(at, offset, &mut hgo.warnings);
    Ok(TextureAnimation {
        first_id,
        id_count,
        flag,
        material,
        environment,
        name_offset,
        script_offset,
        name: name(at, name_offset),
        script: name(at + 4, script_offset),
    })
}

/// Reads `N` floats.
pub(super) fn floats<const N: usize>(
    cursor: &mut Cursor<'_>,
    field: &'static str,
) -> Result<[f32; N]> {
    array(|| cursor.f32(field))
}

fn array<T: Copy + Default, const N: usize>(mut read: impl FnMut() -> Result<T>) -> Result<[T; N]> {
    let mut values = [T::default(); N];
    for value in &mut values {
        *value = read()?;
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crash::hgo::parse::build::Build;
    use crate::crash::hgo::parse::parse;

    #[test]
    fn the_byte_order_determines_where_attributes_start() {
        let value = |bits, endian, name| {
            let attributes = Attributes::new(bits, endian);
            attributes
                .iter()
                .find(|&(other, _)| other == name)
                .unwrap()
                .1
        };
        assert_eq!(value(0x4000_0000, Endian::Big, "alpha"), 1);
        assert_eq!(value(0x0000_0001, Endian::Little, "alpha"), 1);
        assert_eq!(value(0x0000_07f8, Endian::Big, "aref"), 0xff);
        assert_eq!(value(0x0000_0001, Endian::Big, "uvmode"), 1);
        assert_eq!(value(0x8000_0000, Endian::Little, "uvmode"), 1);
        let widths: u32 = ATTRIBUTES.iter().map(|&(_, width)| width).sum();
        assert_eq!(widths, u32::BITS);
    }

    #[test]
    fn names_of_texture_animations_are_offsets_from_zero() {
        let build = Build::new(Endian::Big);
        let animation = [0, 0, 1, 2 << 16 | 3, 4, 5, 0, 5];
        let body = [
            build.i32s(&[1, 0]),
            build.i32s(&animation),
            build.i32s(&[2, 7 << 16 | 8]),
        ];
        let root = build.root(&[
            build.block(b"NTBL", &build.names(&["anim", "script"])),
            build.block(b"TAS0", &body.concat()),
        ]);
        let hgo = parse(&root.into()).unwrap();
        let animation = &hgo.texture_animations[0];
        assert_eq!(
            (animation.first_id, animation.id_count, animation.flag),
            (1, 2, 3)
        );
        assert_eq!((animation.material, animation.environment), (4, 5));
        assert_eq!(animation.name.as_deref(), Some("anim"));
        assert_eq!(animation.script.as_deref(), Some("script"));
        assert_eq!(hgo.texture_ids, [7, 8]);
    }

    #[test]
    fn a_material_count_that_does_not_fit_is_an_error_at_the_count() {
        let build = Build::new(Endian::Big);
        let bytes = build.root(&[build.block(b"MS00", &build.i32s(&[-1]))]);
        assert_eq!(
            parse(&bytes.clone().into()).unwrap_err().error.to_string(),
            "material count at 0x10: 4294967295 items of 84 bytes do not fit into 0 bytes"
        );
    }
}
