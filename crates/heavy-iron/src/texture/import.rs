//! Edited pictures as RWTX: size, format and number of levels stay.

use bytes::Bytes;

use crate::texture;
use crate::texture::names::number_of;
use hpimount_assets::view::import::{self, Changed, Edit, Imported, NOT_THIS_FILE};
use hpimount_renderware::texture::encode;

/// Encodes an edited picture of a texture.
///
/// # Errors
/// Returns why the picture does not fit.
pub(super) fn import(edit: &Edit<'_>) -> Result<Imported, String> {
    let model = texture::parse(edit.asset).map_err(|incomplete| incomplete.error.to_string())?;
    let count = model.textures.len();
    let number = number_of(&edit.part.name, count, edit.context).ok_or(NOT_THIS_FILE)?;
    let texture = model.textures.get(number).ok_or(NOT_THIS_FILE)?;
    let edited = import::picture(edit.file, (texture.width, texture.height))?.rgba();
    if texture.rgba(0).is_some_and(|shown| shown == edited) {
        return Ok(Imported::Unchanged);
    }
    let read = |file: Bytes| texture::parse(&file).ok()?.textures.into_iter().nth(number);
    let encoded = encode::with_pixels(edit.asset, texture, &edited, read)?;
    Ok(Imported::Changed(Changed {
        asset: encoded.file,
        warnings: encoded.warnings,
        quality: encoded.quality,
        ..Changed::default()
    }))
}
