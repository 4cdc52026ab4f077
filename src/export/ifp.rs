//! IFP packages of one animation (FORMATS, IFP 2 and 4).
//!
//! Keys are written as they were read, bit by bit, in the layout of the
//! package that they are from; sizes that contradict the contents are not
//! taken over.

use encoding_rs::WINDOWS_1252;

use crate::asset::ifp::{Animation, Object, Package, Version};

/// Bytes of a name in `ANP2` and `ANP3`.
const ANP_NAME: usize = 24;

/// Bytes of an object's name in `ANPK`.
const ANPK_NAME: usize = 28;

/// A package of this animation alone, with the name of the one that it is
/// from.
pub fn write(package: &Package, animation: &Animation) -> Vec<u8> {
    match package.version {
        Version::Anpk => anpk(&package.name, animation),
        Version::Anp2 | Version::Anp3 => anp(package, animation),
    }
}

fn anp(package: &Package, animation: &Animation) -> Vec<u8> {
    let is_anp3 = package.version == Version::Anp3;
    let mut body = fixed(&package.name, ANP_NAME);
    put(&mut body, 1);
    body.extend(fixed(&animation.name, ANP_NAME));
    put(&mut body, animation.objects.len());
    let keys = animation
        .objects
        .iter()
        .filter_map(|object| object.keys.as_ref());
    if is_anp3 {
        put(&mut body, keys.clone().map(|keys| keys.bytes().len()).sum());
        let compressed = keys.clone().any(|keys| keys.kind().is_compressed());
        let flags = animation.flags.unwrap_or(compressed.into());
        body.extend(flags.to_le_bytes());
    }
    for object in &animation.objects {
        let keys = object.keys.as_ref();
        // Every object of a package that was read has keys.
        let kind = keys.and_then(|keys| keys.kind().number()).unwrap_or(3);
        body.extend(fixed(&object.name, ANP_NAME));
        body.extend(kind.to_le_bytes());
        put(&mut body, object.frames());
        body.extend(object.bone_id.unwrap_or(-1).to_le_bytes());
        body.extend(keys.map_or(&[][..], |keys| keys.bytes()));
    }
    tagged(if is_anp3 { b"ANP3" } else { b"ANP2" }, &body)
}

fn anpk(name: &str, animation: &Animation) -> Vec<u8> {
    let mut info = 1_u32.to_le_bytes().to_vec();
    info.extend(terminated(name));
    let mut body = section(b"INFO", &info);
    body.extend(section(b"NAME", &terminated(&animation.name)));
    let mut counts = Vec::new();
    put(&mut counts, animation.objects.len());
    put(&mut counts, 0);
    let mut group = section(b"INFO", &counts);
    for object in &animation.objects {
        group.extend(section(b"CPAN", &anpk_object(object)));
    }
    body.extend(section(b"DGAN", &group));
    section(b"ANPK", &body)
}

fn anpk_object(object: &Object) -> Vec<u8> {
    let mut anim = fixed(&object.name, ANPK_NAME);
    put(&mut anim, object.frames());
    anim.extend(object.extra.iter().flat_map(|number| number.to_le_bytes()));
    let mut body = section(b"ANIM", &anim);
    if let Some(keys) = object.keys.as_ref().filter(|keys| !keys.is_empty()) {
        let mut tag = [0; 4];
        tag.copy_from_slice(keys.kind().name().as_bytes());
        body.extend(section(&tag, keys.bytes()));
    }
    body
}

/// A tag, the length of what follows, and that.
fn tagged(tag: &[u8; 4], body: &[u8]) -> Vec<u8> {
    let mut bytes = tag.to_vec();
    put(&mut bytes, body.len());
    bytes.extend(body);
    bytes
}

/// As [`tagged`], padded to a multiple of 4, which the length leaves out.
fn section(tag: &[u8; 4], body: &[u8]) -> Vec<u8> {
    let mut bytes = tagged(tag, body);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

/// A length or a number of things that were read from 32 bits, or are part of
/// what was.
fn put(bytes: &mut Vec<u8>, value: usize) {
    bytes.extend((value as u32).to_le_bytes());
}

/// A name as the game has it.
fn encoded(name: &str) -> Vec<u8> {
    WINDOWS_1252.encode(name).0.into_owned()
}

/// A name in a field of fixed size.
fn fixed(name: &str, size: usize) -> Vec<u8> {
    let mut bytes = encoded(name);
    bytes.resize(size, 0);
    bytes
}

/// A name with a NUL behind it.
fn terminated(name: &str) -> Vec<u8> {
    let mut bytes = encoded(name);
    bytes.push(0);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::asset::ifp::build::{self, Tail, floats, shorts};
    use crate::asset::ifp::{Ifp, parse};

    fn only(file: &[u8]) -> Ifp {
        let ifp = parse(file).unwrap();
        assert!(ifp.warnings.is_empty(), "{:?}", ifp.warnings.texts());
        assert_eq!((ifp.animations().count(), ifp.trailing()), (1, 0));
        ifp
    }

    #[test]
    fn each_animation_is_a_package_of_its_own() {
        let root = build::anp_object("caf\u{e9}", 4, 0, &shorts(&[0, 0, 0, 4096, 6, 1024, 0, 0]));
        let spine = build::anp_object(" Spine", 3, -1, &shorts(&[0, 0, 0, 4096, 12]));
        for is_anp3 in [true, false] {
            let objects = vec![root.clone(), spine.clone()];
            let file = build::anp(
                is_anp3,
                "ped",
                &[("idle", vec![]), ("walk", objects.clone())],
            );
            let ifp = parse(&file).unwrap();
            let package = &ifp.packages[0];
            let written = write(package, &package.animations[1]);
            let expected = build::anp(is_anp3, "ped", &[("walk", objects)]);
            let first = only(&written);
            assert_eq!(first.animations().next().unwrap().name, "walk");
            let names = |file: &[u8]| {
                let ifp = parse(file).unwrap();
                let objects = ifp.animations().flat_map(|one| &one.objects);
                objects
                    .map(|o| (o.name.clone(), o.keys.as_ref().map(|k| k.bytes().to_vec())))
                    .collect::<Vec<_>>()
            };
            assert_eq!(names(&written), names(&expected));
        }
    }

    #[test]
    fn tagged_packages_are_written_bit_by_bit() {
        let krt0 = floats(&[0.0, 0.0, 0.0, 1.0, 1.0, 2.0, 3.0, 0.5]);
        let objects = [
            build::anpk_object("Root", Tail::Bone(0), Some((b"KRT0", &krt0))),
            build::anpk_object("swaist", Tail::Siblings(1, -1), None),
        ];
        let walk = build::anpk("ped", &[("walking", &objects)]);
        let ifp = parse(&build::anpk("ped", &[("a", &[]), ("walking", &objects)])).unwrap();
        let package = &ifp.packages[0];
        assert_eq!(write(package, &package.animations[1]), walk);
        only(&walk);
    }
}
