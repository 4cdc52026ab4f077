//! Materials that a geometry gets.

use super::{stored, with_body};
use crate::{Chunk, Version, kind};

/// Maximum number of bytes of a texture's name.
const MAX_NAME: usize = 31;

/// First version with the surface of materials.
const WITH_SURFACE: u32 = 0x3_0400;

/// Filter and addressing of new materials: linear with mipmaps, repeated.
const SAMPLING: u32 = 0x1106;

/// Where the material of a face comes from.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum MaterialSource {
    /// It is an entry of the geometry's list.
    Entry(u16),
    /// It is a material of another geometry: the chunk of its list, and its number.
    Other(u64, usize),
    /// It is new.
    New(NewMaterial),
}

/// A new material.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct NewMaterial {
    /// Red, green, blue, alpha.
    pub(super) color: [u8; 4],
    /// The name of its texture.
    pub(super) texture: Option<String>,
}

/// Returns the materials of a list as they are stored.
pub(super) fn chunks(list: &Chunk) -> Vec<Chunk> {
    list.children()
        .filter(|chunk| chunk.kind == kind::MATERIAL)
        .collect()
}

/// Returns a list of materials with more of them at its end.
pub(super) fn extended(list: &Chunk, added: &[Vec<u8>]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut is_counted = false;
    for child in list.children() {
        if child.kind == kind::STRUCT && !is_counted {
            is_counted = true;
            let mut fields = child.body.to_vec();
            let count = fields
                .first_chunk()
                .map_or(0, |word| u32::from_le_bytes(*word));
            let count = count + added.len() as u32;
            fields.resize(fields.len().max(4), 0);
            fields[..4].copy_from_slice(&count.to_le_bytes());
            fields.extend(added.iter().flat_map(|_| u32::MAX.to_le_bytes()));
            out.extend(with_body(&child, &fields));
        } else {
            out.extend(with_body(&child, &child.body));
        }
    }
    out.extend(added.concat());
    with_body(list, &out)
}

/// Returns a new material as it is stored.
///
/// # Errors
/// Returns an error if the name of its texture is too long, or not in ASCII.
pub(super) fn new(material: &NewMaterial, version: Version) -> Result<Vec<u8>, String> {
    let has_texture = u32::from(material.texture.is_some());
    let mut fields = vec![0; 4];
    fields.extend(material.color);
    fields.extend(0_u32.to_le_bytes());
    fields.extend(has_texture.to_le_bytes());
    if version.number() >= WITH_SURFACE {
        fields.extend([1.0_f32; 3].map(f32::to_le_bytes).concat());
    }
    let mut body = stored(kind::STRUCT, version, &fields);
    if let Some(name) = &material.texture {
        if name.len() > MAX_NAME || !name.is_ascii() {
            return Err(format!(
                "material \"{name}\": names of textures have at most {MAX_NAME} plain letters"
            ));
        }
        let string = |text: &str| {
            let mut bytes = text.as_bytes().to_vec();
            bytes.resize(text.len() + 4 - text.len() % 4, 0);
            stored(kind::STRING, version, &bytes)
        };
        let texture = [
            stored(kind::STRUCT, version, &SAMPLING.to_le_bytes()),
            string(name),
            string(""),
            stored(kind::EXTENSION, version, &[]),
        ];
        body.extend(stored(kind::TEXTURE, version, &texture.concat()));
    }
    body.extend(stored(kind::EXTENSION, version, &[]));
    Ok(stored(kind::MATERIAL, version, &body))
}
