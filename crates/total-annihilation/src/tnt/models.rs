//! Models on a map, as sprites.

use std::collections::HashMap;

use crate::pal::Palette;
use crate::tdo::{self, Drawn, Script, export};
use hpimount_assets::model::preview::{self, OnMap};
use hpimount_assets::model::{Picture, corners_problem};
use hpimount_assets::view::AssetContext;

/// A sprite, with palette indices as pixels.
pub(super) struct Sprite {
    pub(super) width: i32,
    pub(super) height: i32,
    /// The point to place, relative to the upper left corner.
    pub(super) origin: [i32; 2],
    pub(super) indices: Vec<u8>,
    /// 0 for transparent pixels.
    pub(super) mask: Vec<u8>,
}

/// Maximum numbers of drawn models, of their corners, and of the pixels of their
/// textures, ten times as many as the largest real maps have.
const MAX_MODELS: usize = 256;
const MAX_CORNERS: usize = 1 << 20;
const MAX_TEXTURES: u64 = 1 << 26;

/// Draws models.
pub(super) struct Models<'a> {
    palette: &'a Palette,
    context: &'a dyn AssetContext,
    /// The indices of known colors.
    indices: HashMap<[u8; 3], u8>,
    /// The rest of each limit.
    models: usize,
    corners: usize,
    textures: u64,
    work: usize,
    pixels: u64,
}

impl<'a> Models<'a> {
    /// `pixels` is the pixel limit for all sprites together.
    pub(super) fn new(pixels: u64, palette: &'a Palette, context: &'a dyn AssetContext) -> Self {
        Self {
            palette,
            context,
            indices: HashMap::new(),
            models: MAX_MODELS,
            corners: MAX_CORNERS,
            textures: MAX_TEXTURES,
            work: preview::MAX_WORK,
            pixels,
        }
    }

    /// Draws a model of the mount as it stands on a map, with its front down.
    pub(super) fn draw(&mut self, name: &str) -> Option<Sprite> {
        self.models = self.models.checked_sub(1)?;
        let model = tdo::of_unit(self.context, name)?;
        let corners = export::corners(&model);
        if corners_problem(corners).is_some() {
            return None;
        }
        self.corners = self.corners.checked_sub(corners)?;
        let drawn = Drawn::new(&model, self.palette, &Script::default(), self.context).ok()?;
        self.textures = self.textures.checked_sub(drawn.texture_pixels())?;
        let pictures = |index| drawn.picture(index);
        let on_map = preview::draw_on_map(&drawn.scene, &pictures, &mut self.work)?;
        let size = pixels(&on_map.picture);
        self.pixels = self.pixels.checked_sub(size)?;
        Some(self.sprite(&on_map))
    }

    fn sprite(&mut self, OnMap { picture, origin }: &OnMap) -> Sprite {
        let mut sprite = Sprite {
            // At most `preview::MAX_EDGE`.
            width: picture.width as i32,
            height: picture.height as i32,
            origin: *origin,
            indices: Vec::new(),
            mask: Vec::new(),
        };
        for [red, green, blue, alpha] in picture.rgba() {
            let color = [red, green, blue];
            let nearest = || self.palette.nearest(color);
            let is_seen = alpha >= 128;
            sprite.mask.push(if is_seen { 0xFF } else { 0 });
            sprite.indices.push(match is_seen {
                true => *self.indices.entry(color).or_insert_with(nearest),
                false => 0,
            });
        }
        sprite
    }
}

fn pixels(picture: &Picture) -> u64 {
    u64::from(picture.width) * u64::from(picture.height)
}
