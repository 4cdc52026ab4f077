//! Helpers of the asset views: common facts and names.
//!
//! Views depend on the asset type in the archive; names for ids come from the same
//! archive.

use bytes::Bytes;
use get_size2::GetSize;
use hpimount_record::Value;

use crate::names::hex;
use crate::origin::{Origin, code_text};
use hpimount_assets::view::AssetContext;
use hpimount_assets::view::page::Page;
use hpimount_containers::io::{Endian, Warnings};
use hpimount_containers::text::has_extension;

/// Creates the page of an asset with the common facts.
pub(crate) fn page<M: GetSize + Send + Sync + 'static>(
    format: &'static str,
    bytes: &Bytes,
    context: &dyn AssetContext,
    warnings: Warnings,
) -> Page<M> {
    let origin = Origin::of(context);
    let mut page = Page::new(format, format, warnings);
    if let Some(id) = origin.id {
        page.fact("asset_type", code_text(origin.code))
            .fact("id", hex(id));
    }
    let endian = match origin.facts.endian {
        Endian::Big => "big",
        Endian::Little => "little",
    };
    page.fact("platform", origin.facts.platform.name())
        .fact("game", origin.game)
        .fact("endian", endian)
        .fact("file_size", bytes.len());
    page
}

/// Returns a list of values.
pub(crate) fn list<T: Into<Value>>(values: impl IntoIterator<Item = T>) -> Value {
    values.into_iter().collect()
}

/// Returns the name of the asset in its archive, or else the name of its file.
pub(crate) fn name_of(context: &dyn AssetContext) -> String {
    let asset = context.asset();
    let own = asset.and_then(|asset| context.asset_name(asset.id));
    own.map_or_else(|| context.name().to_owned(), |own| own.name)
}

/// Returns the name of the asset without the extension that its files replace, or
/// `unnamed` if it is empty.
pub(crate) fn stem(context: &dyn AssetContext, extensions: &[&str], unnamed: &str) -> String {
    let mut name = name_of(context);
    let has = |known: &&&str| has_extension(name.as_bytes(), known);
    if let Some(known) = extensions.iter().find(has) {
        name.truncate(name.len() - known.len() - 1);
    }
    match name.is_empty() {
        true => unnamed.to_owned(),
        false => name,
    }
}
