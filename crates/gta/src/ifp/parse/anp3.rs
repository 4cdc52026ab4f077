//! `ANP3` and `ANP2`: headers of fixed size without tags (FORMATS, IFP 4).

use bytes::Bytes;

use super::{Animation, KeyKind, Keys, Object, Package, Version};
use hpimount_assets::parse::count::{count, fill, fitting};
use hpimount_assets::parse::name;
use hpimount_containers::io::Warnings;
use hpimount_containers::io::{Cursor, Error, Result};

/// Bytes of a name in any header.
const NAME_SIZE: usize = 24;

/// Bytes of an object without its keys.
const OBJECT_SIZE: usize = 36;

/// Reads the package of `file`; both should end at the same offset.
pub(super) fn package(
    cursor: &mut Cursor<'_>,
    file: &Bytes,
    package: &mut Package,
    warnings: &mut Warnings,
) -> Result<()> {
    package.offset = cursor.offset();
    cursor.take(4, "magic")?;
    package.declared_size = cursor.u32("size")?;
    package.name = read_name(cursor, "package name", &mut package.junk_after_nul)?;
    let is_anp3 = package.version == Version::Anp3;
    let header_size = if is_anp3 { 36 } else { 28 };
    let animations = count(cursor, header_size, "animation count")?;
    for _ in 0..animations {
        let junk = &mut package.junk_after_nul;
        fill(&mut package.animations, |animation| {
            read_animation(cursor, file, animation, is_anp3, junk)
        })?;
    }
    let (declared, found) = (package.declared_end(), cursor.offset());
    let file_size = file.len() as u64;
    if declared != file_size {
        warnings.push(format!(
            "size at 0x4: the package ends at {declared:#x} according to it, the file at {file_size:#x}"
        ));
    }
    if declared != found {
        warnings.push(format!(
            "size at 0x4: the package ends at {declared:#x} according to it, its last animation at {found:#x}"
        ));
    }
    Ok(())
}

fn read_animation(
    cursor: &mut Cursor<'_>,
    file: &Bytes,
    animation: &mut Animation,
    is_anp3: bool,
    junk: &mut usize,
) -> Result<()> {
    animation.offset = cursor.offset();
    animation.name = read_name(cursor, "animation name", junk)?;
    let count_offset = cursor.offset();
    let objects = cursor.u32("object count")?;
    if is_anp3 {
        animation.frame_data_size = Some(cursor.u32("frame data size")?);
        animation.flags = Some(cursor.u32("animation flags")?);
    }
    let objects = fitting(cursor, count_offset, objects, OBJECT_SIZE, "object count")?;
    for _ in 0..objects {
        fill(&mut animation.objects, |object| {
            read_object(cursor, file, object, junk)
        })?;
    }
    animation.size = cursor.offset() - animation.offset;
    Ok(())
}

fn read_object(
    cursor: &mut Cursor<'_>,
    file: &Bytes,
    object: &mut Object,
    junk: &mut usize,
) -> Result<()> {
    object.offset = cursor.offset();
    object.name = read_name(cursor, "object name", junk)?;
    let type_offset = cursor.offset();
    let number = cursor.u32("frame type")?;
    let kind = KeyKind::from_number(number).ok_or_else(|| {
        Error::damaged(
            type_offset,
            "frame type",
            format!("is {number}, should be 1 to 4"),
        )
    })?;
    let count_offset = cursor.offset();
    let frames = cursor.u32("frame count")?;
    object.bone_id = Some(cursor.i32("bone id")?);
    let frames = fitting(cursor, count_offset, frames, kind.size(), "frame count")?;
    let bytes = cursor.take(frames * kind.size(), "keys")?;
    object.keys = Some(Keys::new(kind, file.slice_ref(bytes)));
    Ok(())
}

fn read_name(cursor: &mut Cursor<'_>, field: &'static str, junk: &mut usize) -> Result<String> {
    let bytes = cursor.take(NAME_SIZE, field)?;
    *junk += name::junk_after_nul(bytes);
    Ok(name::until_nul(bytes))
}

#[cfg(test)]
mod tests {
    use crate::ifp::parse::{KeyKind, parse};
    use fixtures::ifp::{self as build, shorts};

    fn two_animations(is_anp3: bool) -> Vec<u8> {
        let root = build::anp_object("Root", 4, 0, &shorts(&[0, 0, 0, 4096, 6, 1024, 0, 0]));
        let spine = build::anp_object(" Spine", 3, -1, &shorts(&[0, 0, 0, 4096, 12]));
        build::anp(
            is_anp3,
            "ped",
            &[("walk", vec![root, spine]), ("empty", vec![])],
        )
    }

    #[test]
    fn both_forms_have_the_same_animations() {
        for is_anp3 in [true, false] {
            let ifp = parse(&two_animations(is_anp3).into()).unwrap();
            let [walk, empty] = &ifp.packages[0].animations[..] else {
                panic!("not two animations");
            };
            assert_eq!((walk.name.as_str(), walk.frames()), ("walk", 1));
            assert_eq!(walk.duration(), 0.2);
            assert_eq!(walk.objects[1].name, " Spine");
            assert_eq!(walk.objects[1].bone_id, Some(-1));
            let kind = walk.objects[0].keys.as_ref().map(|keys| keys.kind());
            assert_eq!(kind, Some(KeyKind::Type4));
            assert_eq!((empty.objects.len(), empty.duration()), (0, 0.0));
            assert_eq!(walk.flags.is_some(), is_anp3);
            assert!(ifp.warnings.is_empty());
        }
    }

    #[test]
    fn a_wrong_size_is_a_warning_and_changes_nothing() {
        let mut bytes = two_animations(true);
        bytes[4] ^= 4;
        bytes.extend([0; 16]);
        let ifp = parse(&bytes.clone().into()).unwrap();
        assert_eq!(ifp.animations().count(), 2);
        assert_eq!((ifp.trailing(), ifp.trailing_zero), (16, true));
        assert_eq!(ifp.warnings.len(), 2);
    }

    #[test]
    fn an_unknown_frame_type_is_an_error_at_its_offset() {
        let mut bytes = two_animations(true);
        bytes[36 + 36 + 24] = 5;
        let incomplete = parse(&bytes.clone().into()).unwrap_err();
        assert_eq!(
            incomplete.error.to_string(),
            "frame type at 0x60: is 5, should be 1 to 4"
        );
        let animation = &incomplete.model.packages[0].animations[0];
        assert_eq!(animation.objects[0].name, "Root");
    }

    #[test]
    fn a_root_that_does_not_move_has_no_root_motion() {
        let key = |x| [0, 0, 0, 4096, 0, x, 0, 0];
        let moves = |name, bone, xs: [i16; 2]| {
            let keys = shorts(&[key(xs[0]), key(xs[1])].concat());
            let object = build::anp_object(name, 4, bone, &keys);
            let bytes = build::anp(true, "ped", &[("walk", vec![object])]);
            let ifp = parse(&bytes.clone().into()).unwrap();
            ifp.animations().next().unwrap().has_root_motion()
        };
        assert!(moves("Pelvis", 0, [1, 2]));
        assert!(moves("normal", -1, [1, 2]));
        assert!(!moves("Root", 0, [1, 1]));
        assert!(!moves("Root", 1, [1, 2]));
    }
}
