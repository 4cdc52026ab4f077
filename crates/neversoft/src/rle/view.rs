//! View of a picture without a stored width: facts, a PNG, and the BMP file if
//! one is packed in it.

use std::io::{self, Write};

use bytes::Bytes;
use serde_json::json;

use crate::rle::{self, Content, Rle};
use hpimount_assets::model::png;
use hpimount_assets::view::converted::{Conversion, Converted, ConvertedFile};
use hpimount_assets::view::damaged::failure;
use hpimount_assets::view::listed::{Listed, ListedView, whole_files};
use hpimount_assets::view::{AssetContext, Failure, Preview, Summary, View, ViewFormat, json};
use hpimount_containers::text::has_extension;

/// Pictures of the PlayStation and the Dreamcast.
pub const FORMAT: ViewFormat = ViewFormat {
    extensions: rle::EXTENSIONS,
    converted: Conversion::Always(Converted::whole(&[ConvertedFile::first("png")])),
    matches: Some(|bytes| bytes.starts_with(rle::MAGIC) && rle::parse(bytes, false).is_ok()),
    preview: Some(Preview {
        files: &["picture.png"],
        rank: 3,
    }),
    ..ViewFormat::new("RLE", open)
};

fn open(bytes: &Bytes, context: &dyn AssetContext) -> Result<Box<dyn View>, Box<Failure>> {
    let name = context.name().as_bytes();
    let is_plain = has_extension(name, "bmr");
    let is_gzip = has_extension(name, "zlb");
    if !is_plain && !is_gzip && !bytes.starts_with(rle::MAGIC) {
        let error =
            hpimount_containers::io::Error::damaged(0, "magic", "is not that of an RLE picture");
        return Err(failure(&FORMAT, bytes, error));
    }
    let model = rle::parse(bytes, is_gzip).map_err(|error| failure(&FORMAT, bytes, error))?;
    let mut files = whole_files(&[("info.json", info as _), ("info.txt", page)]);
    let inside = match &model.content {
        Content::Picture { .. } => None,
        Content::Bmp(inside) => Some(&**inside),
    };
    if inside.is_none_or(|inside| inside.picture.is_some()) {
        files.push(Listed::whole("picture.png", picture));
    }
    if let Some(inside) = inside {
        files.push(Listed::whole("picture.bmp", bmp).sized(inside.file.len() as u64));
    }
    Ok(Box::new(ListedView { model, files }))
}

/// Returns the name of the format inside of gzip.
fn name(rle: &Rle) -> &'static str {
    if rle.is_packed { "RLE" } else { "BMR" }
}

fn info(rle: &Rle, out: &mut dyn Write) -> io::Result<()> {
    let mut facts = json!({ "format": name(rle), "gzip": rle.is_gzip });
    match &rle.content {
        Content::Picture { width, height, .. } => {
            facts["width"] = (*width).into();
            facts["height"] = (*height).into();
            facts["width_from"] = "guess".into();
        }
        Content::Bmp(inside) => {
            facts["inside"] = "BMP".into();
            facts["bytes"] = inside.file.len().into();
        }
    }
    facts["warnings"] = rle.warnings.texts().into();
    json::write_pretty(&facts, out)
}

fn page(rle: &Rle, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Summary::new(format_args!("{} picture", name(rle)));
    match &rle.content {
        Content::Picture { width, height, .. } => {
            page.line(
                "size",
                format_args!("{width} x {height} (the width is a guess)"),
            );
        }
        Content::Bmp(inside) => {
            page.line(
                "inside",
                format_args!("a BMP file of {} bytes", inside.file.len()),
            );
        }
    }
    page.line("gzip", rle.is_gzip);
    page.write(&rle.warnings, out)
}

fn picture(rle: &Rle, out: &mut dyn Write) -> io::Result<()> {
    match rle.content.picture() {
        Some(picture) => png::write(&picture, out),
        None => Ok(()),
    }
}

fn bmp(rle: &Rle, out: &mut dyn Write) -> io::Result<()> {
    match &rle.content {
        Content::Bmp(inside) => out.write_all(&inside.file),
        Content::Picture { .. } => Ok(()),
    }
}
