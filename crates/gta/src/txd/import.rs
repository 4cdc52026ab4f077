//! Edited pictures as textures of a dictionary: size, format and number of levels stay.

use bytes::Bytes;

use super::parse::{self, Entry};
use hpimount_assets::model::padded;
use hpimount_assets::view::import::{self, Changed, Edit, Imported, NOT_THIS_FILE};
use hpimount_renderware::texture::encode;

/// The folder of the pictures of textures, and that of their smaller levels.
pub(super) const TEXTURES: &str = "textures";
pub(super) const LEVELS: &str = "mipmaps";

/// The contact sheet.
pub(super) const SHEET: &str = "preview.png";

/// Encodes an edited picture of a texture.
///
/// # Errors
/// Returns why it does not fit.
pub(super) fn import(edit: &Edit<'_>) -> Result<Imported, String> {
    match (edit.part.folder.as_deref(), &*edit.part.name) {
        (Some(TEXTURES), _) => {}
        (Some(LEVELS), _) => {
            return Err("is made from the first level: edit its picture in textures".to_owned());
        }
        (None, SHEET) => {
            return Err("is a contact sheet: edit the pictures in textures".to_owned());
        }
        _ => return Err(NOT_THIS_FILE.to_owned()),
    }
    let txd = parse::parse(edit.asset).map_err(|error| error.to_string())?;
    let count = txd.textures.len();
    let mut entries = txd.textures.iter().enumerate();
    let is_edited = |&(number, entry): &(usize, &Entry)| {
        format!("{}.png", picture_name(number, count, entry)) == edit.part.name
    };
    let (number, entry) = entries.find(is_edited).ok_or(NOT_THIS_FILE)?;
    let texture = entry.texture.as_ref().map_err(ToString::to_string)?;
    let edited = import::picture(edit.file, (texture.width, texture.height))?.rgba();
    if texture.rgba(0).is_some_and(|shown| shown == edited) {
        return Ok(Imported::Unchanged);
    }
    let read = |file: Bytes| {
        parse::parse(&file)
            .ok()?
            .textures
            .into_iter()
            .nth(number)?
            .texture
            .ok()
    };
    let encoded = encode::with_pixels(edit.asset, texture, &edited, read)?;
    Ok(Imported::Changed(Changed {
        asset: encoded.file,
        warnings: encoded.warnings,
        quality: encoded.quality,
        ..Changed::default()
    }))
}

/// Returns the name of the picture of a texture, without its extension.
pub(super) fn picture_name(number: usize, count: usize, entry: &Entry) -> String {
    let name = format!("{} {}", padded(number, count, 2), entry.name);
    name.trim_end().to_owned()
}
