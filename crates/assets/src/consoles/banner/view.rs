//! View of a banner: its texts and its picture.

use std::io::{self, Write};

use bytes::Bytes;
use serde_json::{Value, json};

use crate::consoles::banner::{self, Banner, Texts};
use crate::model::png;
use crate::view::converted::{Conversion, Converted, ConvertedFile};
use crate::view::damaged::failure;
use crate::view::listed::{ListedView, whole_files};
use crate::view::{ALONE, AssetContext, Failure, Preview, Summary, View, ViewFormat, json};
use hpimount_containers::io::Warnings;

/// Banners of GameCube discs.
pub const FORMAT: ViewFormat = ViewFormat {
    extensions: banner::EXTENSIONS,
    converted: Conversion::Always(Converted::parts(&[ConvertedFile::named(
        "png",
        "banner.png",
    )])),
    matches: Some(|bytes| banner::is_known(bytes) && banner::parse(bytes).is_ok()),
    preview: Some(Preview {
        files: &["banner.png"],
        rank: ALONE,
    }),
    ..ViewFormat::new("BNR", open)
};

fn open(bytes: &Bytes, _context: &dyn AssetContext) -> Result<Box<dyn View>, Box<Failure>> {
    let model = banner::parse(bytes).map_err(|error| failure(&FORMAT, bytes, error))?;
    let files = whole_files(&[
        ("info.json", info as _),
        ("info.txt", page),
        ("banner.png", picture),
    ]);
    Ok(Box::new(ListedView { model, files }))
}

fn info(banner: &Banner, out: &mut dyn Write) -> io::Result<()> {
    let facts = json!({
        "format": FORMAT.name,
        "texts": banner.texts.iter().map(texts).collect::<Vec<_>>(),
        "warnings": [],
    });
    json::write_pretty(&facts, out)
}

fn texts(texts: &Texts) -> Value {
    json!({
        "language": texts.language,
        "short_title": texts.short_title,
        "short_maker": texts.short_maker,
        "title": texts.title,
        "maker": texts.maker,
        "description": texts.description,
    })
}

fn page(banner: &Banner, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Summary::new("GameCube banner");
    for texts in &banner.texts {
        if let Some(language) = texts.language {
            page.line("language", language);
        }
        page.line("title", &texts.title);
        page.line("maker", &texts.maker);
        page.line("description", texts.description.replace('\n', " "));
    }
    page.write(&Warnings::default(), out)
}

fn picture(banner: &Banner, out: &mut dyn Write) -> io::Result<()> {
    png::write(&banner.picture(), out)
}
