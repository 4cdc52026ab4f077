//! Materials of faces (FORMATS, PSX 4).

use std::collections::HashMap;

use super::ExportPlan;
use super::textures::TextureSet;
use crate::psx::{Face, Psx};
use hpimount_assets::model::scene::{Alpha, Material, Texture, Wrap};

/// Maximum number of materials of a scene. Faces of further materials share the last
/// one.
const MAX_MATERIALS: usize = 4096;

/// The place of the colors of untextured faces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colors {
    /// In their corners only, for formats with vertex colors.
    Corners,
    /// In their corners, and as the mean in their material, for formats where many
    /// programs use only the material.
    Materials,
}

/// The properties that distinguish materials.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Surface {
    texture: Option<usize>,
    /// Mean color of an untextured face, with [`Colors::Materials`].
    color: Option<[u8; 3]>,
    has_transparent: bool,
    /// Opacity in quarters.
    opacity: u8,
    double_sided: bool,
    lit: bool,
}

/// The materials of a scene, created on first use.
pub(super) struct Surfaces {
    colors: Colors,
    known: HashMap<Surface, usize>,
    pub(super) materials: Vec<Material>,
}

impl Surfaces {
    pub(super) fn new(colors: Colors) -> Self {
        Self {
            colors,
            known: HashMap::new(),
            materials: Vec::new(),
        }
    }

    /// Returns the index of the material of a face.
    pub(super) fn of(&mut self, psx: &Psx, plan: &ExportPlan, face: &Face) -> usize {
        let textures = &plan.textures;
        let texture = face.texture.filter(|_| face.uv.is_some());
        let texture = texture.and_then(|index| textures.of_face(index));
        let size = texture.and_then(|index| textures.size(psx, index));
        let is_plain = size.is_none() && self.colors == Colors::Materials;
        let surface = Surface {
            texture,
            color: is_plain.then(|| mean(plan, face)),
            has_transparent: size.is_some_and(|size| size.has_transparent),
            opacity: opacity(face),
            double_sided: face.flags & 0x0200 != 0,
            lit: face.is_lit(),
        };
        if let Some(&index) = self.known.get(&surface) {
            return index;
        }
        if self.materials.len() >= MAX_MATERIALS {
            return MAX_MATERIALS - 1;
        }
        self.known.insert(surface, self.materials.len());
        self.materials.push(surface.material(textures));
        self.materials.len() - 1
    }
}

/// Returns the opacity of a face in quarters: 0 if invisible, 1 if a quarter of it is
/// added, 2 if it is blended, otherwise 4.
fn opacity(face: &Face) -> u8 {
    match (face.is_invisible(), face.is_semi_transparent()) {
        (true, _) => 0,
        (_, true) if face.flags & 0x0180 == 0x0180 => 1,
        (_, true) => 2,
        _ => 4,
    }
}

impl Surface {
    fn material(self, textures: &TextureSet) -> Material {
        let mut name = match self.texture {
            Some(index) => textures.name(index).replace(' ', "_"),
            None => "plain".into(),
        };
        if let Some([r, g, b]) = self.color {
            name += &format!("_{r:02x}{g:02x}{b:02x}");
        }
        name += match self.opacity {
            0 => "_invisible",
            1 => "_quarter",
            2 => "_half",
            _ => "",
        };
        if self.double_sided {
            name += "_double";
        }
        if self.lit {
            name += "_lit";
        }
        let alpha = match (self.opacity, self.has_transparent) {
            (4, false) => Alpha::Opaque,
            (4, true) => Alpha::Mask,
            _ => Alpha::Blend,
        };
        let [r, g, b] = self.color.unwrap_or([255; 3]);
        let [r, g, b] = [r, g, b].map(|part| f32::from(part) / 255.0);
        Material {
            name,
            color: [r, g, b, f32::from(self.opacity) / 4.0],
            texture: self.texture.map(|index| Texture {
                picture: index,
                file: textures.name(index),
                wrap: [Wrap::Repeat; 2],
                sharp: true,
            }),
            alpha,
            double_sided: self.double_sided,
            unlit: !self.lit,
        }
    }
}

/// Returns the mean corner color of an untextured face.
fn mean(plan: &ExportPlan, face: &Face) -> [u8; 3] {
    let corners = &plan.colors.of(face, false)[..face.corners()];
    std::array::from_fn(|part| {
        let sum: usize = corners.iter().map(|color| usize::from(color[part])).sum();
        ((sum + corners.len() / 2) / corners.len()) as u8
    })
}
