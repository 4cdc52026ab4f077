//! Small IFP files for tests.

/// Returns little-endian floats.
pub(crate) fn floats(values: &[f32]) -> Vec<u8> {
    values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect()
}

/// Returns little-endian 16-bit numbers.
pub(crate) fn shorts(values: &[i16]) -> Vec<u8> {
    values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect()
}

/// Returns an object of an `ANP2` or `ANP3` package; the number of keys follows
/// from their bytes.
pub(crate) fn anp_object(name: &str, kind: u32, bone: i32, keys: &[u8]) -> Vec<u8> {
    let size = [20, 32, 10, 16][kind as usize - 1];
    let mut bytes = fixed(name, 24);
    put(&mut bytes, kind);
    put(&mut bytes, (keys.len() / size) as u32);
    bytes.extend(bone.to_le_bytes());
    bytes.extend(keys);
    bytes
}

/// Returns an `ANP3` or `ANP2` package.
pub(crate) fn anp(is_anp3: bool, name: &str, animations: &[(&str, Vec<Vec<u8>>)]) -> Vec<u8> {
    let mut body = fixed(name, 24);
    put(&mut body, animations.len() as u32);
    for (name, objects) in animations {
        body.extend(fixed(name, 24));
        put(&mut body, objects.len() as u32);
        if is_anp3 {
            let keys: usize = objects.iter().map(|object| object.len() - 36).sum();
            put(&mut body, keys as u32);
            put(&mut body, 1);
        }
        body.extend(objects.concat());
    }
    tagged(if is_anp3 { b"ANP3" } else { b"ANP2" }, &body)
}

/// The end of the `ANIM` section of an `ANPK` object.
pub(crate) enum Tail {
    Bone(i32),
    Siblings(i32, i32),
}

/// Returns an object of an `ANPK` package, with the kind and bytes of its keys.
pub(crate) fn anpk_object(name: &str, tail: Tail, keys: Option<(&[u8; 4], &[u8])>) -> Vec<u8> {
    let frames = keys.map_or(0, |(tag, bytes)| match tag {
        b"KRT0" => bytes.len() / 32,
        b"KRTS" => bytes.len() / 44,
        _ => bytes.len() / 20,
    });
    let mut anim = fixed(name, 28);
    put(&mut anim, frames as u32);
    put(&mut anim, 0);
    put(&mut anim, frames.wrapping_sub(1) as u32);
    match tail {
        Tail::Bone(bone) => anim.extend(bone.to_le_bytes()),
        Tail::Siblings(next, prev) => {
            anim.extend(next.to_le_bytes());
            anim.extend(prev.to_le_bytes());
        }
    }
    let mut body = section(b"ANIM", &anim);
    if let Some((tag, bytes)) = keys {
        body.extend(section(tag, bytes));
    }
    section(b"CPAN", &body)
}

/// Returns an `ANPK` package.
pub(crate) fn anpk(name: &str, animations: &[(&str, &[Vec<u8>])]) -> Vec<u8> {
    let mut info = (animations.len() as u32).to_le_bytes().to_vec();
    info.extend(name.bytes().chain([0]));
    let mut body = section(b"INFO", &info);
    for (name, objects) in animations {
        let text: Vec<u8> = name.bytes().chain([0]).collect();
        body.extend(section(b"NAME", &text));
        let mut counts = (objects.len() as u32).to_le_bytes().to_vec();
        put(&mut counts, 0);
        let mut group = section(b"INFO", &counts);
        group.extend(objects.concat());
        body.extend(section(b"DGAN", &group));
    }
    section(b"ANPK", &body)
}

/// Returns an `ANLF` list of packages.
pub(crate) fn anlf(packages: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = section(b"ANLF", &(packages.len() as u32).to_le_bytes());
    bytes.extend(packages.concat());
    bytes
}

fn put(bytes: &mut Vec<u8>, value: u32) {
    bytes.extend(value.to_le_bytes());
}

fn fixed(name: &str, size: usize) -> Vec<u8> {
    let mut bytes = name.as_bytes().to_vec();
    bytes.resize(size, 0);
    bytes
}

/// Returns a tag, the length of `body`, and `body`.
fn tagged(tag: &[u8; 4], body: &[u8]) -> Vec<u8> {
    let mut bytes = tag.to_vec();
    put(&mut bytes, body.len() as u32);
    bytes.extend(body);
    bytes
}

/// Like [`tagged`], padded to a multiple of 4.
fn section(tag: &[u8; 4], body: &[u8]) -> Vec<u8> {
    let mut bytes = tagged(tag, body);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}
