//! The materials of models and their textures, for scenes.

use std::collections::HashMap;

use super::textures::{TextureState, TextureUse};
use crate::clump::{Geometry, Material};
use hpimount_assets::model::scene::{self, Alpha, MaterialNames};
use hpimount_assets::model::{not_shown, padded};
use hpimount_containers::io::Warnings;

/// Flag of a geometry: material colors apply to textured materials too.
const MATERIAL_COLORS: u16 = 0x40;

/// Maximum number of textures looked up for a model.
const MAX_TEXTURES: usize = 1024;

/// Display of the materials of a geometry.
#[derive(Debug, Clone, Copy)]
pub struct Surface {
    /// True if material colors apply to textured materials too.
    has_colors: bool,
    is_unlit: bool,
    is_double_sided: bool,
    /// The color of materials with a missing texture; by default, their own color.
    missing: Option<[f32; 4]>,
}

impl Surface {
    /// Creates it from the flags of a geometry. Materials are single-sided, and a
    /// missing texture is replaced by the material's color.
    pub fn new(flags: u16, has_normals: bool) -> Self {
        Self {
            has_colors: flags & MATERIAL_COLORS != 0,
            is_unlit: !has_normals,
            is_double_sided: false,
            missing: None,
        }
    }

    /// Makes materials visible from both sides.
    pub fn double_sided(self, is_double_sided: bool) -> Self {
        Self {
            is_double_sided,
            ..self
        }
    }

    /// Sets the color of materials with a missing texture.
    pub fn marked(self, missing: [f32; 4]) -> Self {
        Self {
            missing: Some(missing),
            ..self
        }
    }

    /// Returns a material. `texture` is the number of its texture.
    fn material(
        self,
        name: String,
        material: &Material,
        textures: &[TextureUse],
        texture: Option<usize>,
    ) -> scene::Material {
        let named = material.named_texture();
        let found = texture.and_then(|number| match textures[number].state {
            TextureState::Found { alpha, .. } => Some((number, alpha)),
            _ => None,
        });
        let own = material.color.map(|part| f32::from(part) / 255.0);
        let color = match (named, found) {
            (Some(_), None) => self.missing.unwrap_or(own),
            (Some(_), Some(_)) if !self.has_colors => [1.0; 4],
            _ => own,
        };
        let texture = named.zip(found);
        scene::Material {
            name,
            color,
            texture: texture
                .map(|(named, (number, _))| textures[number].sampled(number, named.sampling)),
            alpha: match found {
                _ if color[3] < 1.0 => Alpha::Blend,
                Some((_, alpha)) => alpha,
                None => Alpha::Opaque,
            },
            double_sided: self.is_double_sided,
            unlit: self.is_unlit,
        }
    }
}

/// Returns the materials of a scene, named after their textures, followed by a plain
/// material.
pub fn materials<'a>(
    listed: impl Iterator<Item = (Surface, &'a Material)> + Clone,
    textures: &[TextureUse],
) -> Vec<scene::Material> {
    let count = listed.clone().count();
    let numbers = textures.iter().enumerate();
    let numbers: HashMap<String, usize> = numbers
        .map(|(number, texture)| (texture.name.to_ascii_lowercase(), number))
        .collect();
    let mut names = MaterialNames::default();
    let plain = scene::Material::plain();
    names.unique(&plain.name);
    let materials = listed.enumerate().map(|(index, (surface, material))| {
        let named = material.named_texture();
        let name = match named {
            Some(named) => names.unique(&named.name),
            None => names.unique(&format!("material_{}", padded(index, count, 2))),
        };
        let texture = named.and_then(|named| numbers.get(&named.name.to_ascii_lowercase()));
        surface.material(name, material, textures, texture.copied())
    });
    materials.chain([plain]).collect()
}

/// Returns the scene material of an entry of a geometry, whose materials begin with
/// number `first`, or `plain` for a missing entry.
pub fn material_of(geometry: &Geometry, entry: u32, first: usize, plain: usize) -> usize {
    let index = geometry.material_entries.get(entry as usize).copied();
    let index = index.filter(|&index| index < geometry.materials.len());
    index.map_or(plain, |index| first + index)
}

/// Looks up textures by name. Reports a problem if there are too many.
pub fn look_up<'a>(
    names: impl Iterator<Item = &'a str>,
    mut find: impl FnMut(&str) -> TextureState,
    problems: &mut Warnings,
) -> Vec<TextureUse> {
    let mut textures = Vec::new();
    for name in names {
        if textures.len() == MAX_TEXTURES {
            let why = format!("materials name more than {MAX_TEXTURES} textures");
            problems.push(not_shown("every texture after these", why));
            break;
        }
        textures.push(TextureUse {
            name: name.to_owned(),
            state: find(name),
        });
    }
    textures
}

/// Adds problems for the hidden geometries of a clump.
pub fn check(number: usize, geometries: &[Geometry], problems: &mut Warnings) {
    for (index, geometry) in geometries.iter().enumerate() {
        if let Some(why) = super::problem(geometry) {
            let what = format_args!("geometry {index} of clump {number}");
            problems.push(not_shown(what, why));
        }
    }
}
