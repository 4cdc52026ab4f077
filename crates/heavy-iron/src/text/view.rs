//! TEXT as text.

use bytes::Bytes;

use crate::origin::Origin;
use crate::text::import::{TEXT, import};
use crate::text::{self, Tag, Text};
use crate::view::{self, list};
use hpimount_assets::parse::so_far;
use hpimount_assets::view::converted::{Conversion, Converted, ConvertedFile, Folder};
use hpimount_assets::view::import::Editable;
use hpimount_assets::view::{AssetContext, Opened, ViewFormat};

/// Texts.
pub const FORMAT: ViewFormat = ViewFormat {
    asset_types: &[*b"TEXT"],
    converted: Conversion::Always(
        Converted::whole(&[ConvertedFile::named("txt", TEXT)]).within(Folder::Named("texts")),
    ),
    edits: &[Editable::new(TEXT, "text")],
    import: Some(import),
    ..ViewFormat::new("HIP text", open)
};

fn open(bytes: &Bytes, context: &dyn AssetContext) -> Opened {
    let facts = Origin::of(context).facts;
    let (mut model, error) = so_far(text::parse(bytes, &facts));
    let warnings = std::mem::take(&mut model.warnings);
    let mut page = view::page(FORMAT.name, bytes, context, warnings);
    let tags: Vec<_> = model.tags().collect();
    let references = tags.iter().filter_map(|tag| tag.reference());
    let closing = tags.iter().copied().filter(|tag| Tag::is_closing(*tag));
    page.fact("declared_length", model.declared)
        .fact("characters", model.text.chars().count())
        .fact("tags", tags.len())
        .fact(
            "references",
            list(references.map(|(_, name)| name.to_owned())),
        )
        .fact("closing_tags", closing.count())
        .file(TEXT, |model: &Text, _, out| {
            out.write_all(model.text.as_bytes())
        })
        .sized(model.text.len() as u64);
    Ok(page.show(model, error))
}
