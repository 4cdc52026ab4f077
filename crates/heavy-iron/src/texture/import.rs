//! Edited pictures as RWTX: size, format and number of levels stay.

use bytes::Bytes;

use crate::texture;
use crate::view::stem;
use hpimount_assets::model::padded;
use hpimount_assets::view::AssetContext;
use hpimount_assets::view::import::{self, Edit, Imported, NOT_THIS_FILE};
use hpimount_renderware::texture::encode;

/// Encodes an edited picture of a texture.
pub(super) fn import(edit: &Edit<'_>) -> Result<Imported, String> {
    let model = texture::parse(edit.asset).map_err(|incomplete| incomplete.error.to_string())?;
    let count = model.textures.len();
    let mut names = picture_names(count, edit.context);
    let number = names.position(|name| name == edit.part.name);
    let number = number.ok_or(NOT_THIS_FILE)?;
    let texture = model.textures.get(number).ok_or(NOT_THIS_FILE)?;
    let edited = import::picture(edit.file, (texture.width, texture.height))?.rgba();
    if texture.rgba(0).is_some_and(|shown| shown == edited) {
        return Ok(Imported::Unchanged);
    }
    let read = |file: Bytes| texture::parse(&file).ok()?.textures.into_iter().nth(number);
    let changed = encode::with_pixels(edit.asset, texture, &edited, read)?;
    Ok(Imported::Changed(changed))
}

/// Returns the names of the pictures of an asset's textures.
pub(super) fn picture_names(
    count: usize,
    context: &dyn AssetContext,
) -> impl Iterator<Item = String> {
    let stem = stem(context, &["rw3", "txd"], "texture");
    (0..count).map(move |index| match count {
        1 => format!("{stem}.png"),
        count => format!("{stem} {}.png", padded(index, count, 2)),
    })
}
