//! Models with their textures and scripts, ready for drawing.

use std::collections::{HashMap, HashSet};
use std::io;

use get_size2::GetSize;

use super::export::{Texture, corners, drawn_textures, scene};
use super::textures::Textures;
use crate::cob;
use crate::pal::Palette;
use crate::tdo::{Model, Object};
use crate::view::file_part;
use hpimount_assets::model::{Picture, Reservation, Scene, padded};
use hpimount_assets::view::AssetContext;
use hpimount_containers::text::stem;

/// Returns the file name of a texture, without extension.
pub(super) fn texture_file(count: usize, index: usize, name: &str) -> String {
    format!("{} {}", padded(index, count, 2), file_part(name))
}

/// A model with its textures.
pub(crate) struct Drawn {
    /// The model.
    pub(crate) scene: Scene<'static>,
    pictures: Vec<Option<Picture>>,
    /// The memory of the scene.
    _memory: Option<Reservation>,
}

impl Drawn {
    /// Combines a model with the textures of the mount.
    pub(crate) fn new(
        model: &Model,
        palette: &Palette,
        script: &Script,
        context: &dyn AssetContext,
    ) -> io::Result<Self> {
        let memory = context.reserve_scene(corners(model))?;
        let names = drawn_textures(model);
        let plain: Vec<&str> = names.iter().map(|(name, _)| name.as_str()).collect();
        let pictures = Textures::new(context).pictures(&plain);
        let textures = plain.iter().zip(&pictures).enumerate();
        let textures: Vec<Texture> = textures
            .map(|(index, (name, picture))| Texture {
                file: texture_file(plain.len(), index, name),
                alpha: picture.as_ref().map(Into::into),
            })
            .collect();
        let name = |object: &Object| {
            let name = object.name.to_string();
            script
                .names
                .get(&name.to_ascii_lowercase())
                .cloned()
                .unwrap_or(name)
        };
        let mut scene = scene(model, &textures, palette, &name);
        let objects = model.objects.iter().enumerate();
        let hidden = objects.filter(|(_, object)| {
            let name = object.name.text().to_ascii_lowercase();
            script.hidden.contains(&name)
        });
        scene.hidden = hidden.map(|(index, _)| index).collect();
        Ok(Self {
            scene,
            pictures,
            _memory: memory,
        })
    }

    /// Returns the number of pixels of all textures.
    pub(crate) fn texture_pixels(&self) -> u64 {
        let pictures = self.pictures.iter().flatten();
        pictures
            .map(|picture| u64::from(picture.width) * u64::from(picture.height))
            .sum()
    }

    /// Returns a picture of the scene.
    pub(crate) fn picture(&self, index: usize) -> Option<Picture> {
        self.pictures.get(index)?.clone()
    }
}

/// The parts of a script that its model needs.
#[derive(Default, GetSize)]
pub(crate) struct Script {
    /// The spelling of piece names in the script, by lower-case name.
    pub(super) names: HashMap<String, String>,
    /// The initially hidden pieces, by lower-case name.
    hidden: HashSet<String>,
}

impl Script {
    /// Reads the script of a model, if there is one.
    pub(super) fn of(context: &dyn AssetContext) -> Self {
        let Some(script) = cob::of_unit(context, stem(context.name())) else {
            return Self::default();
        };
        let hidden = script.hidden_at_first();
        let hidden = hidden.into_iter().filter_map(|piece| {
            let name = script.pieces.get(piece as usize)?;
            Some(name.text().to_ascii_lowercase())
        });
        let names = script.pieces.iter().map(|name| name.to_string());
        Self {
            names: names
                .map(|name| (name.to_ascii_lowercase(), name))
                .collect(),
            hidden: hidden.collect(),
        }
    }
}
