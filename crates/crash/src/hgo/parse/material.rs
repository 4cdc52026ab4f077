//! Materials and texture animations (FORMATS, HGO 3 and 4).

use get_size2::GetSize;
use hpimount_record::{self as record, Bits, Field, FixedSize, Flags, Pad, Record};

use super::{Hgo, NameOffset, NameTable};
use hpimount_assets::parse::count::{count, fitting};
use hpimount_containers::io::{Cursor, Result};

/// A material.
#[derive(Debug, Clone, Default, PartialEq, GetSize, Record)]
#[record(table = "../../docs/formats/hgo.md")]
pub struct Material {
    /// Number of the material that is drawn after it, counted from 1; 0 for
    /// none.
    pub next: i32,
    /// The attributes.
    pub attributes: Flags<u32, Attributes>,
    /// Ambient color.
    #[record(parts = "r g b")]
    pub ambient: [f32; 3],
    /// Diffuse color.
    #[record(parts = "r g b")]
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
    pub fxid: u8,
    /// Number of a special treatment.
    pub special_id: u8,
    /// Unknown, at 0x40.
    pub unknown_40: i16,
    /// Unknown, at 0x42.
    pub unknown_42: u8,
    /// Unknown, at 0x43.
    pub unknown_43: u8,
    /// Motion of the texture: step in u and v, then scale in u and v.
    #[record(parts = "u v scale_u scale_v")]
    pub scroll: [f32; 4],
}

/// The attributes of a material.
#[derive(Debug)]
pub struct Attributes;

impl Bits for Attributes {
    const BITS: &'static [(&'static str, u32)] = &[
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
    const REVERSED_IN_BIG: bool = true;
}

/// An animated texture.
#[derive(Debug, Clone, Default, PartialEq, GetSize, Record)]
#[record(table = "../../docs/formats/hgo.md")]
pub struct TextureAnimation {
    /// Filled in by the game.
    pub links: Pad<8>,
    /// Index of its first texture in the list of textures.
    pub first_tid: i32,
    /// Number of textures.
    pub num_tids: i16,
    /// Flag.
    pub flag: i16,
    /// Number of the material that changes.
    pub material: i32,
    /// Number of the environment material.
    pub environment: i32,
    /// Offset of its name, counted from 0.
    #[record(derived)]
    pub name: NameOffset,
    /// Offset of the name of the script that drives it, counted from 0.
    #[record(derived)]
    pub script: NameOffset,
}

/// Reads an `MS00` block. A second one replaces the first.
pub(super) fn read_materials(cursor: &mut Cursor<'_>, hgo: &mut Hgo) -> Result<()> {
    hgo.materials.clear();
    let materials = count(cursor, Material::SIZE, "material count")?;
    hgo.places.materials = cursor.offset() as usize;
    for _ in 0..materials {
        hgo.materials.push(record::read(cursor)?);
    }
    Ok(())
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
        TextureAnimation::SIZE,
        "texture animation count",
    )?;
    hgo.places.texture_animations = cursor.offset() as usize;
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
    let mut animation: TextureAnimation = record::read(cursor)?;
    let script_at = cursor.offset() - NameOffset::SIZE as u64;
    let name_at = script_at - NameOffset::SIZE as u64;
    for (name, at) in [
        (&mut animation.name, name_at),
        (&mut animation.script, script_at),
    ] {
        name.look_up(NameTable::zero_based, at, &mut hgo.names, &mut hgo.warnings);
    }
    Ok(animation)
}

/// Reads `N` floats.
pub(super) fn floats<const N: usize>(
    cursor: &mut Cursor<'_>,
    field: &'static str,
) -> Result<[f32; N]> {
    let mut values = [0.0; N];
    values.read(cursor, field)?;
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hgo::parse::parse;
    use fixtures::hgo::Build;
    use hpimount_containers::io::Endian;

    #[test]
    fn the_byte_order_determines_where_attributes_start() {
        let value = |bits: u32, endian, name| {
            let bytes = match endian {
                Endian::Big => bits.to_be_bytes(),
                Endian::Little => bits.to_le_bytes(),
            };
            let mut attributes = Flags::<u32, Attributes>::default();
            let mut cursor = Cursor::new(&bytes, 0, endian);
            attributes.read(&mut cursor, "attributes").unwrap();
            attributes.group(name).unwrap()
        };
        assert_eq!(value(0x4000_0000, Endian::Big, "alpha"), 1);
        assert_eq!(value(0x0000_0001, Endian::Little, "alpha"), 1);
        assert_eq!(value(0x0000_07f8, Endian::Big, "aref"), 0xff);
        assert_eq!(value(0x0000_0001, Endian::Big, "uvmode"), 1);
        assert_eq!(value(0x8000_0000, Endian::Little, "uvmode"), 1);
        let widths: u32 = Attributes::BITS.iter().map(|&(_, width)| width).sum();
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
            (animation.first_tid, animation.num_tids, animation.flag),
            (1, 2, 3)
        );
        assert_eq!((animation.material, animation.environment), (4, 5));
        assert_eq!(animation.name.get(), Some("anim"));
        assert_eq!(animation.script.get(), Some("script"));
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
