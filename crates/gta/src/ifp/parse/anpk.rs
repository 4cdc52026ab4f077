//! `ANPK`, and `ANLF`, a list of such packages: sections with a tag and a
//! length (FORMATS, IFP 2 and 3).
//!
//! Loaders check only the first tag and the tags of the keys, and use only the lengths
//! of `INFO`, `NAME` and `ANIM`.

use bytes::Bytes;

use super::{Animation, KeyKind, Keys, Mismatch, Object, Package};
use hpimount_assets::parse::count::{fill, fitting};
use hpimount_assets::parse::name;
use hpimount_containers::io::Warnings;
use hpimount_containers::io::{Cursor, Error, Result};

/// Minimum size of a package: its header and an `INFO` section with a number.
const PACKAGE_SIZE: usize = 20;

/// Minimum length of an animation in bytes: `NAME`, `DGAN`, and `INFO` with a
/// number.
const ANIMATION_SIZE: usize = 28;

/// Size that bounds the number of objects: the headers of `CPAN` and `ANIM`. Objects
/// are longer, but the first objects of a truncated file should still be found.
const OBJECT_SIZE: usize = 16;

/// Maximum length of a package's or animation's name in bytes. The games support 24.
const MAX_NAME: usize = 255;

/// Bytes of an object's name.
const NAME_SIZE: usize = 28;

/// Size of an `ANIM` section that ends with a bone number.
const SIZE_WITH_BONE: u32 = 44;

/// Size of an `ANIM` section that ends with the next and previous sibling.
pub(super) const SIZE_WITH_SIBLINGS: u32 = 48;

/// Reads a list of packages.
pub(super) fn list(
    cursor: &mut Cursor<'_>,
    file: &Bytes,
    packages: &mut Vec<Package>,
    warnings: &mut Warnings,
) -> Result<()> {
    let (_, mut body) = section(cursor, b"ANLF", warnings)?;
    let count_offset = body.offset();
    let count = body.u32("package count")?;
    let count = fitting(cursor, count_offset, count, PACKAGE_SIZE, "package count")?;
    for _ in 0..count {
        fill(packages, |item| {
            let start = cursor.offset();
            let tag = cursor.clone().take(4, "package magic")?;
            if tag != b"ANPK" {
                let problem = format!("is \"{}\", should be ANPK", tag.escape_ascii());
                return Err(Error::damaged(start, "package magic", problem));
            }
            package(cursor, file, item, warnings)
        })?;
    }
    Ok(())
}

/// Reads a package.
pub(super) fn package(
    cursor: &mut Cursor<'_>,
    file: &Bytes,
    package: &mut Package,
    warnings: &mut Warnings,
) -> Result<()> {
    package.offset = cursor.offset();
    package.declared_size = header(cursor, b"ANPK", warnings)?;
    let (info_size, mut info) = section(cursor, b"INFO", warnings)?;
    package.info_size = Some(info_size);
    let count_offset = info.offset();
    let count = info.u32("animation count")?;
    package.name = section_name(
        &mut info,
        "package name",
        &mut package.junk_after_nul,
        warnings,
    )?;
    let count = fitting(
        cursor,
        count_offset,
        count,
        ANIMATION_SIZE,
        "animation count",
    )?;
    for _ in 0..count {
        let junk = &mut package.junk_after_nul;
        fill(&mut package.animations, |animation| {
            read_animation(cursor, file, animation, junk, warnings)
        })?;
    }
    if let Some(end) = Mismatch::between(package.declared_end(), cursor.offset()) {
        warnings.push(format!(
            "ANPK at {:#x}: ends at {:#x} according to its header, its last animation at {:#x}",
            package.offset, end.declared, end.actual
        ));
    }
    Ok(())
}

fn read_animation(
    cursor: &mut Cursor<'_>,
    file: &Bytes,
    animation: &mut Animation,
    junk: &mut usize,
    warnings: &mut Warnings,
) -> Result<()> {
    animation.offset = cursor.offset();
    let (_, mut name) = section(cursor, b"NAME", warnings)?;
    animation.name = section_name(&mut name, "animation name", junk, warnings)?;
    let size = header(cursor, b"DGAN", warnings)?;
    let declared_end = cursor.offset() + u64::from(size);
    let (info_size, mut info) = section(cursor, b"INFO", warnings)?;
    animation.info_size = Some(info_size);
    let count_offset = info.offset();
    let count = info.u32("object count")?;
    let count = fitting(cursor, count_offset, count, OBJECT_SIZE, "object count")?;
    for _ in 0..count {
        fill(&mut animation.objects, |object| {
            read_object(cursor, file, object, junk, warnings)
        })?;
    }
    animation.end_mismatch = Mismatch::between(declared_end, cursor.offset());
    animation.size = cursor.offset() - animation.offset;
    Ok(())
}

fn read_object(
    cursor: &mut Cursor<'_>,
    file: &Bytes,
    object: &mut Object,
    junk: &mut usize,
    warnings: &mut Warnings,
) -> Result<()> {
    object.offset = cursor.offset();
    let size = header(cursor, b"CPAN", warnings)?;
    let declared_end = cursor.offset() + u64::from(size);
    let (anim_size, mut anim) = section(cursor, b"ANIM", warnings)?;
    object.anim_size = Some(anim_size);
    object.name = read_name(anim.take(NAME_SIZE, "object name")?, junk);
    let count_offset = anim.offset();
    let frames = anim.i32("frame count")?;
    while anim.remaining() >= 4 {
        object.extra.push(anim.i32("object")?);
    }
    object.bone_id = match (anim_size, object.extra.as_slice()) {
        (SIZE_WITH_BONE, &[_, _, bone]) => Some(bone),
        _ => None,
    };
    match u32::try_from(frames) {
        Ok(0) => {}
        Ok(frames) => read_keys(cursor, file, object, count_offset, frames)?,
        Err(_) => warnings.push(format!(
            "frame count at {count_offset:#x}: is {frames}, treated as 0"
        )),
    }
    object.end_mismatch = Mismatch::between(declared_end, cursor.offset());
    Ok(())
}

fn read_keys(
    cursor: &mut Cursor<'_>,
    file: &Bytes,
    object: &mut Object,
    count_offset: u64,
    frames: u32,
) -> Result<()> {
    let tag_offset = cursor.offset();
    let tag = cursor.take(4, "frame type")?;
    let kind = KeyKind::from_tag(tag).ok_or_else(|| {
        Error::damaged(
            tag_offset,
            "frame type",
            format!(
                "is \"{}\", should be KR00, KRT0 or KRTS",
                tag.escape_ascii()
            ),
        )
    })?;
    let declared = cursor.u32("frame data size")?;
    let frames = fitting(cursor, count_offset, frames, kind.size(), "frame count")?;
    let bytes = cursor.take(frames * kind.size(), "keys")?;
    object.key_size_mismatch = Mismatch::between(declared.into(), bytes.len() as u64);
    object.keys = Some(Keys::new(kind, file.slice_ref(bytes)));
    Ok(())
}

/// Reads the tag and length of a section. A wrong tag is only a warning, since tools
/// write zeros.
fn header(
    cursor: &mut Cursor<'_>,
    expected: &'static [u8; 4],
    warnings: &mut Warnings,
) -> Result<u32> {
    let offset = cursor.offset();
    let tag = cursor.take(4, "section tag")?;
    if tag != expected {
        warnings.push(format!(
            "section tag at {offset:#x}: is \"{}\", should be {}",
            tag.escape_ascii(),
            expected.escape_ascii()
        ));
    }
    cursor.u32("section length")
}

/// Reads a section whose length matters to loaders: the length, and the body with
/// padding to a multiple of 4, which the length excludes.
fn section<'a>(
    cursor: &mut Cursor<'a>,
    expected: &'static [u8; 4],
    warnings: &mut Warnings,
) -> Result<(u32, Cursor<'a>)> {
    let length = header(cursor, expected, warnings)?;
    let padded = (length as usize).next_multiple_of(4);
    Ok((length, cursor.section(padded, "section")?))
}

/// Reads a name up to the end of a section. A name longer than games support is
/// truncated with a warning, since it could be as long as the file.
fn section_name(
    body: &mut Cursor<'_>,
    field: &'static str,
    junk: &mut usize,
    warnings: &mut Warnings,
) -> Result<String> {
    let offset = body.offset();
    let bytes = body.take(body.remaining(), field)?;
    let name = bytes.split(|&byte| byte == 0).next().unwrap_or_default();
    if name.len() > MAX_NAME {
        warnings.push(format!(
            "{field} at {offset:#x}: is cut after {MAX_NAME} bytes"
        ));
        return Ok(read_name(&name[..MAX_NAME], junk));
    }
    Ok(read_name(bytes, junk))
}

fn read_name(bytes: &[u8], junk: &mut usize) -> String {
    *junk += name::junk_after_nul(bytes);
    name::until_nul(bytes)
}

#[cfg(test)]
mod tests {
    use crate::ifp::parse::{KeyKind, parse};
    use fixtures::ifp::{self as build, Tail, floats};

    fn walk() -> Vec<u8> {
        let krt0 = floats(&[0.0, 0.0, 0.0, 1.0, 1.0, 2.0, 3.0, 0.5]);
        let objects = [
            build::anpk_object("Root", Tail::Bone(0), Some((b"KRT0", &krt0))),
            build::anpk_object("swaist", Tail::Siblings(1, -1), None),
        ];
        build::anpk("ped", &[("walking", &objects), ("a", &[])])
    }

    #[test]
    fn both_forms_of_an_object_are_read_in_one_file() {
        let ifp = parse(&walk().into()).unwrap();
        assert_eq!(ifp.packages[0].name, "ped");
        let animation = ifp.animations().next().unwrap();
        assert_eq!(
            (animation.name.as_str(), animation.duration()),
            ("walking", 0.5)
        );
        let [root, waist] = &animation.objects[..] else {
            panic!("not two objects");
        };
        assert_eq!((root.bone_id, root.siblings()), (Some(0), None));
        let kind = root.keys.as_ref().map(|keys| keys.kind());
        assert_eq!(kind, Some(KeyKind::Krt0));
        assert_eq!((waist.bone_id, waist.siblings()), (None, Some((1, -1))));
        assert!(waist.keys.is_none());
        assert!(ifp.warnings.is_empty());
        assert_eq!(animation.end_mismatch, None);
    }

    #[test]
    fn an_endless_name_is_cut() {
        let bytes = build::anpk("ped", &[(&"a".repeat(1000), &[])]);
        let ifp = parse(&bytes.into()).unwrap();
        assert_eq!(ifp.animations().next().unwrap().name.len(), 255);
        assert_eq!(
            ifp.warnings.texts(),
            ["animation name at 0x20: is cut after 255 bytes"]
        );
    }

    #[test]
    fn tags_that_no_loader_checks_may_be_zero() {
        let mut bytes = walk();
        bytes[8..12].fill(0);
        let ifp = parse(&bytes.clone().into()).unwrap();
        assert_eq!(
            ifp.warnings.texts(),
            ["section tag at 0x8: is \"\\x00\\x00\\x00\\x00\", should be INFO"]
        );
        assert_eq!(ifp.animations().count(), 2);
    }

    #[test]
    fn an_unknown_kind_of_key_is_an_error_at_its_offset() {
        let object = build::anpk_object("Root", Tail::Bone(0), Some((b"KT00", &[0; 20])));
        let bytes = build::anpk("ped", &[("walk", &[object])]);
        let at = bytes.windows(4).position(|tag| tag == b"KT00").unwrap();
        let incomplete = parse(&bytes.clone().into()).unwrap_err();
        assert_eq!(
            incomplete.error.to_string(),
            format!("frame type at {at:#x}: is \"KT00\", should be KR00, KRT0 or KRTS")
        );
    }

    #[test]
    fn a_list_holds_several_packages() {
        let list = build::anlf(&[walk(), walk()]);
        let ifp = parse(&list.clone().into()).unwrap();
        assert!(ifp.is_list);
        assert_eq!((ifp.packages.len(), ifp.animations().count()), (2, 4));
        assert_eq!(ifp.packages[1].offset, 12 + walk().len() as u64);

        let mut damaged = list;
        damaged[12] = b'B';
        let incomplete = parse(&damaged.clone().into()).unwrap_err();
        assert_eq!(
            incomplete.error.to_string(),
            "package magic at 0xc: is \"BNPK\", should be ANPK"
        );
    }

    #[test]
    fn a_negative_frame_count_means_no_keys() {
        let mut bytes = build::anpk(
            "ped",
            &[("walk", &[build::anpk_object("Root", Tail::Bone(0), None)])],
        );
        let at = bytes.windows(4).position(|name| name == b"Root").unwrap() + 28;
        bytes[at..at + 4].fill(0xff);
        let ifp = parse(&bytes.clone().into()).unwrap();
        assert_eq!(ifp.animations().next().unwrap().frames(), 0);
        let warning = format!("frame count at {at:#x}: is -1, treated as 0");
        assert_eq!(ifp.warnings.texts(), [warning]);
    }
}
