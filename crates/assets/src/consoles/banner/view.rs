//! View of a banner: texts and picture.

use bytes::Bytes;

use super::import::import;
use crate::consoles::banner::{self, Banner, Texts};
use crate::view::converted::{Conversion, Converted, ConvertedFile};
use crate::view::import::Editable;
use crate::view::node::{Node, map};
use crate::view::page::Page;
use crate::view::{ALONE, AssetContext, Opened, Preview, ViewFormat};
use hpimount_containers::io::Warnings;

/// The file of the picture.
pub(super) const PICTURE: &str = "banner.png";

/// Banners of GameCube discs.
pub const FORMAT: ViewFormat = ViewFormat {
    extensions: banner::EXTENSIONS,
    converted: Conversion::Always(Converted::parts(&[ConvertedFile::named("png", PICTURE)])),
    matches: Some(|bytes| banner::is_known(bytes) && banner::parse(bytes).is_ok()),
    preview: Some(Preview::new(ALONE, &[PICTURE])),
    edits: &[Editable::PNG],
    import: Some(import),
    ..ViewFormat::new("BNR", open)
};

fn open(bytes: &Bytes, _context: &dyn AssetContext) -> Opened {
    let banner = banner::parse(bytes)?;
    let mut page = Page::new(FORMAT.name, "GameCube banner", Warnings::default());
    if let Some(first) = banner.texts.first() {
        page.fact("title", first.title.clone())
            .fact("maker", first.maker.clone());
    }
    page.list("texts", |banner: &Banner| {
        Box::new(banner.texts.iter().map(texts))
    })
    .picture(PICTURE, |banner| Some(banner.picture()));
    Ok(page.show(banner, None))
}

fn texts(texts: &Texts) -> Node<'_> {
    map([
        ("language", texts.language.into()),
        ("short_title", texts.short_title.clone().into()),
        ("short_maker", texts.short_maker.clone().into()),
        ("title", texts.title.clone().into()),
        ("maker", texts.maker.clone().into()),
        ("description", texts.description.clone().into()),
    ])
}
