//! The materials, textures and parts of a character.

mod model;
mod reader;
mod texture;

pub use self::model::{Body, Bon, Color, Material, Part, Shared, Split, Version};
pub use self::texture::{Texture, TextureFile};

use bytes::Bytes;

use self::reader::Reader;
use hpimount_containers::io::{Cursor, Endian, Error, Result, Warnings};

/// Extensions of the files.
pub const EXTENSIONS: &[&str] = &["bon"];

/// First bytes of a file.
pub(super) const MAGIC: &[u8] = b"Bon\0";

/// Parses a file.
///
/// # Errors
/// Returns [`Error::Damaged`] if the file ends early, its version is unknown, or
/// it has too many materials or parts, or parts too deep inside each other.
pub fn parse(bytes: &Bytes) -> Result<Bon> {
    let mut cursor = Cursor::new(bytes, 0, Endian::Little);
    if cursor.take(MAGIC.len(), "magic")? != MAGIC {
        return Err(Error::damaged(0, "magic", "is not that of a BON file"));
    }
    let at = cursor.offset();
    let number = cursor.u32("version")?;
    let version = Version::from_number(number)
        .ok_or_else(|| Error::damaged(at, "version", format!("is {number}, not 1, 3 or 4")))?;
    let mut reader = Reader::new(version, cursor, bytes);
    let materials = reader.materials()?;
    let shared = match version {
        Version::Dreamcast => None,
        Version::Xbox | Version::LaterXbox => Some(reader.shared()?),
    };
    let parts = reader.parts()?;
    let mut warnings = Warnings::default();
    for (index, material) in materials.iter().enumerate() {
        let file = material.texture.as_ref().map(|texture| &texture.file);
        if let Some(problem) = file.and_then(TextureFile::problem) {
            warnings.push(format!("the texture of material {index}: {problem}"));
        }
    }
    Ok(Bon {
        version,
        materials,
        shared,
        unread: reader.unread(),
        parts,
        warnings,
    })
}

#[cfg(test)]
pub(super) mod tests {
    use super::reader::{FIRST_VERTEX, INDEX, VERTEX};
    use super::*;
    use crate::dds::tests::file as dds;
    use crate::pvr::parse::tests::file as pvr;

    fn floats(count: usize) -> Vec<u8> {
        (0..count)
            .flat_map(|at| (at as f32).to_le_bytes())
            .collect()
    }

    /// Returns a part of the later versions that contains these parts.
    fn later_part(name: &str, children: &[Vec<u8>]) -> Vec<u8> {
        let name = [&[name.len() as u8, 0], name.as_bytes()].concat();
        let head = [vec![1], name, floats(12), vec![children.len() as u8, 0]];
        let splits = [1_u16, 0, 2, 3, 0].map(u16::to_le_bytes).concat();
        [head.concat(), children.concat(), floats(9), splits].concat()
    }

    /// Returns a file of version 3 with a texture and two parts.
    pub(crate) fn xbox() -> Vec<u8> {
        let texture = dds([1, 1], &[0; 4], 32, &[1, 2, 3, 255]);
        let mut file = b"Bon\0\x03\0\0\0\x01\0\x05\0Shirt\xFF\xC8\x64\xFF".to_vec();
        file.extend([floats(2), b"\x01\x05\0shirt\x01\0\x02".to_vec()].concat());
        file.extend((texture.len() as u32).to_le_bytes());
        file.extend([texture, vec![1, 0, 0, 0]].concat());
        file.extend([vec![0; VERTEX], vec![3, 0], vec![0; 3 * INDEX]].concat());
        let parts = later_part("Pelvis", &[later_part("Head", &[])]);
        [file, vec![1, 0], parts].concat()
    }

    /// Returns a file of version 1 with a texture and a part.
    pub(crate) fn dreamcast() -> Vec<u8> {
        let texture = pvr(false);
        let mut file = b"Bon\0\x01\0\0\0\x01\0\0\0\x05Shirt".to_vec();
        file.extend([floats(7), b"\x00\x01\x05shirt\x01\0\x02".to_vec()].concat());
        file.extend((texture.len() as u32).to_le_bytes());
        file.extend([texture, b"\x01\0\0\0\x01\x04Head\x07\x01\0\0\0".to_vec()].concat());
        file.extend([floats(11), vec![0; 4], floats(6)].concat());
        file.extend([vec![1, 0, 0, 0], vec![0; FIRST_VERTEX]].concat());
        file.extend([vec![1, 0, 0, 0, 5, 0, 2, 0, 0, 0], vec![0; 2 * INDEX]].concat());
        file
    }

    #[test]
    fn parts_are_a_tree() {
        let bon = parse(&xbox().into()).unwrap();
        let parts = bon.parts.iter();
        let parts: Vec<_> = parts
            .map(|part| (part.name.as_str(), part.parent))
            .collect();
        assert_eq!(parts, [("Pelvis", None), ("Head", Some(0))]);
        assert_eq!(bon.unread, 0);
        let Body::Later { position, .. } = &bon.parts[1].body else {
            panic!("{:?}", bon.parts[1].body);
        };
        assert_eq!(*position, [9.0, 10.0, 11.0]);
        let split = bon.parts[0].splits[0];
        assert_eq!((split.material, split.first, split.count), (0, Some(2), 3));
        assert_eq!(bon.shared.unwrap().indices, 3);
    }

    #[test]
    fn textures_are_inside() {
        for (file, expected) in [
            (xbox(), vec![[3, 2, 1, 255]]),
            (dreamcast(), vec![[0, 0, 255, 255], [255, 0, 0, 255]]),
        ] {
            let bon = parse(&file.into()).unwrap();
            let texture = bon.materials[0].texture.as_ref().unwrap();
            assert_eq!((texture.name.as_str(), texture.wrap), ("shirt", [0, 2]));
            assert_eq!(texture.file.picture().unwrap().rgba(), expected);
            assert!(bon.warnings.is_empty());
        }
        let bon = parse(&dreamcast().into()).unwrap();
        let Body::First {
            flags, vertices, ..
        } = bon.parts[0].body
        else {
            panic!("{:?}", bon.parts[0].body);
        };
        assert_eq!((flags, vertices, bon.unread), (7, 1, 0));
        assert_eq!(bon.parts[0].splits[0].count, 2);
    }

    #[test]
    fn a_texture_that_cannot_be_shown_is_a_warning() {
        let mut file = xbox();
        let at = file.windows(4).position(|word| word == b"DDS ").unwrap();
        file[at] = b'X';
        let bon = parse(&file.into()).unwrap();
        let warning = "the texture of material 0: is no DDS or PVR file";
        assert_eq!(bon.warnings.texts(), [warning]);
        assert_eq!(bon.parts.len(), 2);
    }

    #[test]
    fn errors_have_the_place_of_the_field() {
        let error = |bytes: &[u8]| parse(&bytes.to_vec().into()).unwrap_err().to_string();
        let file = xbox();
        for (bytes, start) in [
            (&b"Ban\0"[..], "magic at 0x0: "),
            (b"Bon\0\x02\0\0\0", "version at 0x4: "),
            (b"Bon\0\x04\0\0\0\0\0\0\x10", "materials at 0xc: "),
            (&file[..file.len() - 20], "second matrix at "),
        ] {
            assert!(error(bytes).starts_with(start), "{}", error(bytes));
        }
        let head = [4_u32, 0, 0, 0, 0, 1].map(u32::to_le_bytes).concat();
        let mut deep = [MAGIC.to_vec(), head].concat();
        let level = [vec![0; 3], vec![0; 48], vec![1, 0]].concat();
        deep.extend(level.repeat(100));
        assert!(
            error(&deep).contains("inside each other"),
            "{}",
            error(&deep)
        );
    }
}
