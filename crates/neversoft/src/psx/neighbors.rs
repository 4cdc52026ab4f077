//! Files of the same level, which share textures and palettes.

use super::Psx;
use super::export::{TextureSet, neighbors};
use super::parse;
use hpimount_assets::view::{AssetContext, AssetKey};

/// Maximum number of bytes to read from neighbors.
const MAX_BYTES: usize = 16 << 20;

/// Returns the files of the same level as the file with this name, if it needs anything
/// from them.
pub(super) fn needed(psx: &Psx, name: &str, context: &dyn AssetContext) -> Vec<Psx> {
    match TextureSet::lacks(psx) {
        true => read(name, context).filter_map(|(_, psx)| psx).collect(),
        false => Vec::new(),
    }
}

/// Returns the names and contents of the files of the same level as the file with this
/// name; `None` for damaged or too large ones.
pub(super) fn read(
    name: &str,
    context: &dyn AssetContext,
) -> impl Iterator<Item = (String, Option<Psx>)> {
    let names = match name {
        "" => Vec::new(),
        name => neighbors(name),
    };
    let mut left = MAX_BYTES;
    names.into_iter().filter_map(move |name| {
        let file = context.find(AssetKey::Sibling(&name))?;
        let psx = context.read(file).and_then(|bytes| {
            left = left.checked_sub(bytes.len())?;
            parse(&bytes).ok()
        });
        Some((name, psx))
    })
}
