//! The textures that a model's materials use.

use crate::texture::Sampling;
use hpimount_assets::model::scene::{Alpha, Texture, Wrap};

/// A texture that a model's materials use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextureUse {
    /// Name, without extension.
    pub name: String,
    /// The result of looking up that name.
    pub state: TextureState,
}

/// The result of looking up a texture by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TextureState {
    /// A texture that can be shown.
    Found {
        /// Width in pixels.
        width: u32,
        /// Height in pixels.
        height: u32,
        /// Kind of transparency.
        alpha: Alpha,
    },
    /// Nothing.
    Missing,
    /// An asset that cannot be shown as a picture, with the reason.
    Unreadable(String),
}

impl TextureUse {
    /// Returns the texture for a material, with this picture number.
    pub fn sampled(&self, picture: usize, sampling: Sampling) -> Texture {
        // 0 means that nothing is set.
        let wrap = |address: u8| match address {
            2 => Wrap::Mirror,
            3 | 4 => Wrap::Clamp,
            _ => Wrap::Repeat,
        };
        Texture {
            picture,
            file: self.name.clone(),
            wrap: [wrap(sampling.address_u), wrap(sampling.address_v)],
            sharp: matches!(sampling.filter, 1 | 3),
        }
    }

    /// Returns the memory on the heap in bytes.
    pub fn memory(&self) -> usize {
        let why = match &self.state {
            TextureState::Unreadable(why) => why.capacity(),
            TextureState::Found { .. } | TextureState::Missing => 0,
        };
        self.name.capacity() + why
    }
}

impl TextureState {
    /// Returns whether there is a picture.
    pub fn is_found(&self) -> bool {
        matches!(self, Self::Found { .. })
    }
}
