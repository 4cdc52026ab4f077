//! The names of the pictures of textures.

use crate::view::stem;
use hpimount_assets::model::padded;
use hpimount_assets::view::AssetContext;

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

/// Returns the number of the texture whose picture has this name.
pub(super) fn number_of(name: &str, count: usize, context: &dyn AssetContext) -> Option<usize> {
    picture_names(count, context).position(|picture| picture == name)
}
