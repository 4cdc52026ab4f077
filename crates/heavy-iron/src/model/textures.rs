//! The textures of models: assets and pictures.

use crate::texture::{Texture, parse};
use hpimount_assets::model::scene::Alpha;
use hpimount_assets::view::{AssetContext, AssetKey, AssetRef};
use hpimount_containers::hip::asset_id;
use hpimount_renderware::export::TextureState;
use hpimount_renderware::texture::export::picture_problem;

/// Returns the possible ids of a texture's asset: usually the id of its name with
/// `.RW3`, and rarely of the bare name.
pub(crate) fn texture_ids(name: &str) -> [u32; 2] {
    // Names are stored in single bytes.
    let bytes = name
        .chars()
        .map(|letter| u8::try_from(letter).unwrap_or(b'?'));
    let bytes: Vec<u8> = bytes.collect();
    let with_extension = [&bytes, &b".RW3"[..]].concat();
    [asset_id(&with_extension), asset_id(&bytes)]
}

/// Returns the asset of a texture, in this archive or an adjacent one.
pub(crate) fn find_texture(name: &str, context: &dyn AssetContext) -> Option<AssetRef> {
    let ids = texture_ids(name).into_iter();
    ids.map(AssetKey::Id)
        .find_map(|wanted| context.find(wanted))
}

/// Returns the first texture of the asset with this name.
pub(crate) fn read(name: &str, context: &dyn AssetContext) -> Result<Texture, TextureState> {
    let file = find_texture(name, context).ok_or(TextureState::Missing)?;
    read_asset(file, context)
}

/// Returns the first texture of an asset.
pub(crate) fn read_asset(
    file: AssetRef,
    context: &dyn AssetContext,
) -> Result<Texture, TextureState> {
    let unreadable = |why: String| TextureState::Unreadable(why);
    let bytes = context.read(file);
    let bytes = bytes.ok_or_else(|| unreadable("it cannot be read".to_owned()))?;
    let textures = parse(&bytes);
    let textures = textures.map_err(|incomplete| unreadable(incomplete.error.to_string()))?;
    let first = textures.textures.into_iter().next();
    let first = first.ok_or_else(|| unreadable("it is empty".to_owned()))?;
    match picture_problem(&first) {
        Some(problem) => Err(unreadable(problem)),
        None => Ok(first),
    }
}

/// Returns the state of the texture with this name.
pub(crate) fn state_of(name: &str, context: &dyn AssetContext) -> TextureState {
    match read(name, context) {
        Ok(texture) => TextureState::Found {
            width: texture.width,
            height: texture.height,
            alpha: match texture.has_alpha {
                Some(true) if texture.depth <= 4 => Alpha::Mask,
                Some(true) => Alpha::Blend,
                _ => Alpha::Opaque,
            },
        },
        Err(state) => state,
    }
}
