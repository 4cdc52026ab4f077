//! IFP packages of one animation (FORMATS, IFP 2 and 4).
//!
//! Keys are written bit by bit in the layout of the original package. Sizes that
//! contradict the contents are corrected.

use std::io::{self, Write};

use encoding_rs::WINDOWS_1252;

use crate::ifp::{Animation, Object, Package, Version};

/// Length of a name in `ANP2` and `ANP3`.
const ANP_NAME: usize = 24;

/// Size of an object in `ANP2` and `ANP3` without its keys.
const ANP_OBJECT: usize = ANP_NAME + 12;

/// Size of the numbers before the objects in `ANPK`.
const COUNTS: usize = 8;

/// Bytes of an object's name in `ANPK`.
const ANPK_NAME: usize = 28;

/// Writes a package with this animation alone, and the name of its original package.
///
/// # Errors
/// Returns the errors of `out`.
pub fn write(package: &Package, animation: &Animation, out: &mut dyn Write) -> io::Result<()> {
    match package.version {
        Version::Anpk => anpk(&package.name, animation, out),
        Version::Anp2 | Version::Anp3 => anp(package, animation, out),
    }
}

fn anp(package: &Package, animation: &Animation, out: &mut dyn Write) -> io::Result<()> {
    let is_anp3 = package.version == Version::Anp3;
    let objects = &animation.objects;
    let keys = || objects.iter().filter_map(|object| object.keys.as_ref());
    let key_size: usize = keys().map(|keys| keys.bytes().len()).sum();
    let animation_size = ANP_NAME + 4 + if is_anp3 { 8 } else { 0 };
    let size = ANP_NAME + 4 + animation_size + objects.len() * ANP_OBJECT + key_size;
    header(out, if is_anp3 { b"ANP3" } else { b"ANP2" }, size)?;
    out.write_all(&fixed(&package.name, ANP_NAME))?;
    put(out, 1)?;
    out.write_all(&fixed(&animation.name, ANP_NAME))?;
    put(out, objects.len())?;
    if is_anp3 {
        put(out, key_size)?;
        let compressed = keys().any(|keys| keys.kind().is_compressed());
        let flags = animation.flags.unwrap_or(compressed.into());
        out.write_all(&flags.to_le_bytes())?;
    }
    for object in objects {
        let keys = object.keys.as_ref();
        // Every object of a parsed package has keys.
        let kind = keys.and_then(|keys| keys.kind().number()).unwrap_or(3);
        out.write_all(&fixed(&object.name, ANP_NAME))?;
        out.write_all(&kind.to_le_bytes())?;
        put(out, object.frames())?;
        out.write_all(&object.bone_id.unwrap_or(-1).to_le_bytes())?;
        out.write_all(keys.map_or(&[], |keys| keys.bytes()))?;
    }
    Ok(())
}

fn anpk(name: &str, animation: &Animation, out: &mut dyn Write) -> io::Result<()> {
    let (package_name, name) = (terminated(name), terminated(&animation.name));
    let objects = animation.objects.iter();
    let objects: usize = objects.map(|one| section_size(anpk_object_size(one))).sum();
    let group_size = section_size(COUNTS) + objects;
    let info_size = 4 + package_name.len();
    let size = section_size(info_size) + section_size(name.len()) + section_size(group_size);
    header(out, b"ANPK", size)?;
    header(out, b"INFO", info_size)?;
    put(out, 1)?;
    padded(out, &package_name)?;
    header(out, b"NAME", name.len())?;
    padded(out, &name)?;
    header(out, b"DGAN", group_size)?;
    header(out, b"INFO", COUNTS)?;
    put(out, animation.objects.len())?;
    put(out, 0)?;
    for object in &animation.objects {
        header(out, b"CPAN", anpk_object_size(object))?;
        anpk_object(object, out)?;
    }
    Ok(())
}

/// Returns the body size of an `ANIM` section.
fn anim_size(object: &Object) -> usize {
    ANPK_NAME + 4 + size_of_val(&object.extra[..])
}

/// Returns the body size of a `CPAN` section.
fn anpk_object_size(object: &Object) -> usize {
    let keys = object.keys.as_ref().filter(|keys| !keys.is_empty());
    section_size(anim_size(object)) + keys.map_or(0, |keys| section_size(keys.bytes().len()))
}

fn anpk_object(object: &Object, out: &mut dyn Write) -> io::Result<()> {
    header(out, b"ANIM", anim_size(object))?;
    out.write_all(&fixed(&object.name, ANPK_NAME))?;
    put(out, object.frames())?;
    for number in &object.extra {
        out.write_all(&number.to_le_bytes())?;
    }
    if let Some(keys) = object.keys.as_ref().filter(|keys| !keys.is_empty()) {
        let mut tag = [0; 4];
        tag.copy_from_slice(keys.kind().name().as_bytes());
        header(out, &tag, keys.bytes().len())?;
        padded(out, keys.bytes())?;
    }
    Ok(())
}

/// Writes a tag and a length.
fn header(out: &mut dyn Write, tag: &[u8; 4], length: usize) -> io::Result<()> {
    out.write_all(tag)?;
    put(out, length)
}

/// Returns the size of a section with a body of this length: the header, and the body
/// padded to a multiple of 4. The length in the header excludes the padding.
fn section_size(body: usize) -> usize {
    8 + body.next_multiple_of(4)
}

/// Writes the end of a section's body and its padding. The size of the earlier part
/// must be a multiple of 4.
fn padded(out: &mut dyn Write, bytes: &[u8]) -> io::Result<()> {
    out.write_all(bytes)?;
    out.write_all(&[0; 3][..bytes.len().next_multiple_of(4) - bytes.len()])
}

/// Writes a length or a count, which does not exceed a 32-bit number that was read.
fn put(out: &mut dyn Write, value: usize) -> io::Result<()> {
    out.write_all(&(value as u32).to_le_bytes())
}

/// Returns a name in the encoding of the game.
fn encoded(name: &str) -> Vec<u8> {
    WINDOWS_1252.encode(name).0.into_owned()
}

/// Returns a name padded to a fixed size.
fn fixed(name: &str, size: usize) -> Vec<u8> {
    let mut bytes = encoded(name);
    bytes.resize(size, 0);
    bytes
}

/// Returns a name followed by a NUL.
fn terminated(name: &str) -> Vec<u8> {
    let mut bytes = encoded(name);
    bytes.push(0);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ifp::{Ifp, parse};
    use bytes::Bytes;
    use fixtures::ifp::{self as build, Tail, floats, shorts};

    fn read(file: &[u8]) -> Ifp {
        parse(&Bytes::copy_from_slice(file)).unwrap()
    }

    fn written(package: &Package, animation: &Animation) -> Vec<u8> {
        let mut bytes = Vec::new();
        write(package, animation, &mut bytes).unwrap();
        bytes
    }

    fn only(file: &[u8]) -> Ifp {
        let ifp = read(file);
        assert!(ifp.warnings.is_empty(), "{:?}", ifp.warnings.texts());
        assert_eq!((ifp.animations().count(), ifp.trailing()), (1, 0));
        ifp
    }

    #[test]
    fn each_animation_is_written_as_a_separate_package() {
        let root = build::anp_object("caf\u{e9}", 4, 0, &shorts(&[0, 0, 0, 4096, 6, 1024, 0, 0]));
        let spine = build::anp_object(" Spine", 3, -1, &shorts(&[0, 0, 0, 4096, 12]));
        for is_anp3 in [true, false] {
            let objects = vec![root.clone(), spine.clone()];
            let file = build::anp(
                is_anp3,
                "ped",
                &[("idle", vec![]), ("walk", objects.clone())],
            );
            let ifp = read(&file);
            let package = &ifp.packages[0];
            let alone = written(package, &package.animations[1]);
            let expected = build::anp(is_anp3, "ped", &[("walk", objects)]);
            let first = only(&alone);
            assert_eq!(first.animations().next().unwrap().name, "walk");
            let names = |file: &[u8]| {
                let ifp = read(file);
                let objects = ifp.animations().flat_map(|one| &one.objects);
                objects
                    .map(|o| (o.name.clone(), o.keys.as_ref().map(|k| k.bytes().to_vec())))
                    .collect::<Vec<_>>()
            };
            assert_eq!(names(&alone), names(&expected));
        }
    }

    #[test]
    fn tagged_packages_are_written_bit_for_bit() {
        let krt0 = floats(&[0.0, 0.0, 0.0, 1.0, 1.0, 2.0, 3.0, 0.5]);
        let objects = [
            build::anpk_object("Root", Tail::Bone(0), Some((b"KRT0", &krt0))),
            build::anpk_object("swaist", Tail::Siblings(1, -1), None),
        ];
        let walk = build::anpk("ped", &[("walking", &objects)]);
        let ifp = read(&build::anpk("ped", &[("a", &[]), ("walking", &objects)]));
        let package = &ifp.packages[0];
        assert_eq!(written(package, &package.animations[1]), walk);
        only(&walk);
    }
}
