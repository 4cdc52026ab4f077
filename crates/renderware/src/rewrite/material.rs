//! Encoded materials, and the materials that a geometry gets.

use std::borrow::Cow;
use std::collections::HashMap;

use super::{stored, with_body};
use crate::clump::Geometry;
use crate::{Chunk, Version, kind};
use hpimount_assets::model::pairing::Pairing;
use hpimount_assets::model::scene::Material;

/// Maximum length of a texture's name in bytes.
const MAX_NAME: usize = 31;

/// First version with the surface of materials.
const WITH_SURFACE: u32 = 0x3_0400;

/// Filter and addressing of new materials: trilinear, repeated.
const SAMPLING: u32 = 0x1106;

/// Origin of the material of a face.
pub(super) enum MaterialSource {
    /// An entry of the geometry's list.
    Entry(u16),
    /// A material that the list lacks: its chunk.
    Added(Vec<u8>),
}

/// The encoded materials of the geometries of all clumps, in order. Equal bytes are one
/// material, even in different geometries.
pub(super) struct Materials<'a> {
    pairing: &'a Pairing<'a>,
    stored: Vec<Vec<u8>>,
    /// The first of equal materials.
    firsts: HashMap<Vec<u8>, usize>,
    /// The first material with the same bytes as each: materials may be large, and many
    /// nodes may share one.
    first_of: Vec<usize>,
}

impl<'a> Materials<'a> {
    pub(super) fn new(pairing: &'a Pairing<'a>) -> Self {
        Self {
            pairing,
            stored: Vec::new(),
            firsts: HashMap::new(),
            first_of: Vec::new(),
        }
    }

    /// Adds the materials of the next geometry, and returns the number of the first.
    pub(super) fn add(&mut self, geometry: &Geometry, chunk: Option<&Chunk>) -> usize {
        let start = self.stored.len();
        let mut parts = chunk.into_iter().flat_map(Chunk::children);
        let list = parts.find(|part| part.kind == kind::MATERIAL_LIST);
        let chunks = list.iter().flat_map(Chunk::children);
        let mut chunks = chunks.filter(|chunk| chunk.kind == kind::MATERIAL);
        for number in start..start + geometry.materials.len() {
            let chunk = chunks.next();
            let bytes = chunk.map_or_else(Vec::new, |chunk| with_body(&chunk, &chunk.body));
            let first = *self.firsts.entry(bytes.clone()).or_insert(number);
            self.first_of.push(first);
            self.stored.push(bytes);
        }
        start
    }

    /// Returns the number of the first material with the same bytes as a scene
    /// material, or as a new one after encoding.
    pub(super) fn first(&self, number: usize, version: Version) -> usize {
        if let Some(&first) = self.first_of.get(number) {
            return first;
        }
        let bytes = self.bytes(number, version).ok();
        let first = bytes.and_then(|bytes| self.firsts.get(&*bytes).copied());
        first.unwrap_or(number)
    }

    /// Returns the origin of a scene material, for a geometry whose materials begin
    /// with number `start`. Fails if the material does not exist or cannot be encoded.
    pub(super) fn source(
        &self,
        geometry: &Geometry,
        start: usize,
        number: usize,
    ) -> Result<MaterialSource, String> {
        let first = self.first(number, geometry.version);
        let own = self.first_of.get(start..).unwrap_or_default();
        let is_it = |&entry: &usize| own.get(entry) == Some(&first);
        let entry = geometry.material_entries.iter().position(is_it);
        match entry.and_then(|entry| u16::try_from(entry).ok()) {
            Some(entry) => Ok(MaterialSource::Entry(entry)),
            None => {
                let bytes = self.bytes(number, geometry.version)?;
                Ok(MaterialSource::Added(bytes.into_owned()))
            }
        }
    }

    /// Returns the bytes of a material.
    fn bytes(&self, number: usize, version: Version) -> Result<Cow<'_, [u8]>, String> {
        if let Some(stored) = self.stored.get(number) {
            return Ok(Cow::Borrowed(stored));
        }
        let material = self.pairing.material(number);
        let material = material.filter(|_| number >= self.pairing.shown.materials.len());
        let material = material.ok_or_else(|| "has faces without a material".to_owned())?;
        new(material, version).map(Cow::Owned)
    }
}

/// Appends materials to a material list.
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

/// Encodes a new material. Fails if the name of its texture is too long, or not ASCII.
fn new(material: &Material, version: Version) -> Result<Vec<u8>, String> {
    let stem = |name: &str| name.strip_suffix(".png").unwrap_or(name).to_owned();
    let texture = material.texture.as_ref();
    let texture = texture.map(|texture| match texture.file.is_empty() {
        true => stem(&material.name),
        false => stem(&texture.file),
    });
    let byte = |part: f32| (part.clamp(0.0, 1.0) * 255.0).round() as u8;
    let color = match texture {
        Some(_) => [u8::MAX; 4],
        None => material.color.map(byte),
    };
    let has_texture = u32::from(texture.is_some());
    let mut fields = vec![0; 4];
    fields.extend(color);
    fields.extend(0_u32.to_le_bytes());
    fields.extend(has_texture.to_le_bytes());
    if version.number() >= WITH_SURFACE {
        fields.extend([1.0_f32; 3].map(f32::to_le_bytes).concat());
    }
    let mut body = stored(kind::STRUCT, version, &fields);
    if let Some(name) = &texture {
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
