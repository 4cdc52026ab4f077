//! The textures of models: sources and pictures.

use std::cell::RefCell;

use get_size2::GetSize;

use crate::models;
use crate::txd::Txd;
use hpimount_assets::model::Picture;
use hpimount_assets::model::scene::Alpha;
use hpimount_assets::view::{AssetContext, AssetRef};
use hpimount_renderware::export::TextureState;
use hpimount_renderware::texture::Texture;
use hpimount_renderware::texture::export::{picture, picture_problem};

/// The source of a model's texture.
#[derive(Debug, Clone, GetSize)]
pub(crate) struct Source {
    /// Name of its dictionary.
    pub(crate) dictionary: String,
    pub(crate) file: AssetRef,
    /// Number there.
    pub(crate) number: usize,
}

/// The dictionaries of a model, read on first use.
pub(crate) struct Dictionaries<'a> {
    files: Vec<(String, AssetRef)>,
    read: Vec<Option<Txd>>,
    context: &'a dyn AssetContext,
}

impl<'a> Dictionaries<'a> {
    pub(crate) fn new(files: Vec<(String, AssetRef)>, context: &'a dyn AssetContext) -> Self {
        Self {
            files,
            read: Vec::new(),
            context,
        }
    }

    /// Returns the first texture with this name.
    pub(crate) fn find(&mut self, name: &str) -> Option<(Source, TextureState)> {
        for (index, (dictionary, file)) in self.files.iter().enumerate() {
            if index == self.read.len() {
                self.read.push(models::read_dictionary(*file, self.context));
            }
            let Some(txd) = &self.read[index] else {
                continue;
            };
            let mut entries = txd.textures.iter();
            let number = entries.position(|entry| entry.name.eq_ignore_ascii_case(name));
            let Some(number) = number else {
                continue;
            };
            let source = Source {
                dictionary: dictionary.clone(),
                file: *file,
                number,
            };
            let state = match &txd.textures[number].texture {
                Ok(texture) => state(texture),
                Err(error) => TextureState::Unreadable(error.to_string()),
            };
            return Some((source, state));
        }
        None
    }
}

fn state(texture: &Texture) -> TextureState {
    if let Some(problem) = picture_problem(texture) {
        return TextureState::Unreadable(problem);
    }
    TextureState::Found {
        width: texture.width,
        height: texture.height,
        alpha: match (texture.has_alpha, texture.format.name()) {
            (Some(true), "DXT1" | "1555") => Alpha::Mask,
            (Some(true), _) => Alpha::Blend,
            _ => Alpha::Opaque,
        },
    }
}

/// The pictures of models. The last dictionary is kept, since successive pictures often
/// come from the same one.
pub(crate) struct Pictures<'a> {
    context: &'a dyn AssetContext,
    last: RefCell<Option<(AssetRef, Txd)>>,
}

impl<'a> Pictures<'a> {
    pub(crate) fn new(context: &'a dyn AssetContext) -> Self {
        Self {
            context,
            last: RefCell::default(),
        }
    }

    /// Returns a picture, or `None` if it cannot be read.
    pub(crate) fn get(&self, source: &Source) -> Option<Picture> {
        let mut last = self.last.borrow_mut();
        if last.as_ref().is_none_or(|(file, _)| *file != source.file) {
            let txd = models::read_dictionary(source.file, self.context)?;
            *last = Some((source.file, txd));
        }
        let (_, txd) = last.as_ref()?;
        picture(txd.textures.get(source.number)?.texture.as_ref().ok()?)
    }
}
