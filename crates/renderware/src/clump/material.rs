//! Materials of a geometry.

use crate::texture::Sampling;
use crate::{Chunk, Plugins, kind};
use hpimount_assets::parse::count::count;
use hpimount_assets::parse::floats;
use hpimount_containers::io::{Endian, Error, Result};

/// A material.
#[derive(Debug, Default, Clone)]
pub struct Material {
    /// Flags.
    pub flags: u32,
    /// Red, green, blue, alpha.
    pub color: [u8; 4],
    /// Ambient, specular and diffuse coefficients; old versions have none.
    pub surface: Option<[f32; 3]>,
    /// The texture.
    pub texture: Option<TextureName>,
    /// Plugins.
    pub plugins: Plugins,
}

impl Material {
    /// Returns the texture if it has a name.
    pub fn named_texture(&self) -> Option<&TextureName> {
        let texture = self.texture.as_ref();
        texture.filter(|named| !named.name.is_empty())
    }
}

/// A texture of a material, by name.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct TextureName {
    /// Name.
    pub name: String,
    /// The name of its mask; usually empty.
    pub mask: String,
    /// Filter and addressing.
    pub sampling: Sampling,
}

/// Reads a material list: the materials, and the material number for each entry of the
/// list. An entry may repeat an earlier one.
pub fn read(list: &Chunk) -> Result<(Vec<Material>, Vec<usize>)> {
    let fields = list.child(kind::STRUCT, "material list")?;
    let mut cursor = fields.cursor(Endian::Little);
    let count = count(&mut cursor, 4, "material count")?;
    let mut chunks = list.children().filter(|chunk| chunk.kind == kind::MATERIAL);
    let (mut materials, mut entries) = (Vec::new(), Vec::new());
    for number in 0..count {
        let at = cursor.offset();
        let stored = cursor.i32("material")?;
        let problem = |text: String| Error::damaged(at, format!("material {number}"), text);
        if let Ok(earlier) = usize::try_from(stored) {
            let entry = entries.get(earlier).copied();
            entries.push(entry.ok_or_else(|| problem(format!("is that of entry {earlier}")))?);
            continue;
        }
        let chunk = chunks
            .next()
            .ok_or_else(|| problem("is missing".to_owned()))?;
        let material = material(&chunk).map_err(|e| e.within(format!("material {number}")))?;
        entries.push(materials.len());
        materials.push(material);
    }
    Ok((materials, entries))
}

fn material(chunk: &Chunk) -> Result<Material> {
    let fields = chunk.child(kind::STRUCT, "material")?;
    let mut cursor = fields.cursor(Endian::Little);
    let mut material = Material {
        flags: cursor.u32("material flags")?,
        plugins: chunk.plugins(),
        ..Material::default()
    };
    material
        .color
        .copy_from_slice(cursor.take(4, "material color")?);
    cursor.u32("material")?;
    cursor.u32("texture flag")?;
    if cursor.remaining() >= 12 {
        material.surface = Some(floats(&mut cursor, "material surface")?);
    }
    let texture = chunk.children().find(|chunk| chunk.kind == kind::TEXTURE);
    material.texture = texture.map(|chunk| texture_name(&chunk)).transpose()?;
    Ok(material)
}

/// Reads a reference to a texture.
pub(super) fn texture_name(chunk: &Chunk) -> Result<TextureName> {
    let fields = chunk.child(kind::STRUCT, "texture")?;
    let word = fields.cursor(Endian::Little).u32("filter and addressing")?;
    let strings = chunk.children().filter(|chunk| chunk.kind == kind::STRING);
    let mut strings = strings.map(|chunk| chunk.string());
    Ok(TextureName {
        name: strings.next().unwrap_or_default(),
        mask: strings.next().unwrap_or_default(),
        sampling: Sampling::from_word(word),
    })
}
