//! View of a PVR file: facts and a PNG.

use std::io::{self, Write};

use bytes::Bytes;
use serde_json::json;

use crate::pvr::{self, Pvr};
use hpimount_assets::model::png;
use hpimount_assets::view::converted::{Conversion, Converted, ConvertedFile};
use hpimount_assets::view::damaged::failure;
use hpimount_assets::view::listed::{ListedView, whole_files};
use hpimount_assets::view::{AssetContext, Failure, Preview, Summary, View, ViewFormat, json};
use hpimount_containers::io::Warnings;

/// Pictures of the Dreamcast.
pub const FORMAT: ViewFormat = ViewFormat {
    extensions: pvr::EXTENSIONS,
    converted: Conversion::Always(Converted::whole(&[ConvertedFile::first("png")])),
    matches: Some(|bytes| pvr::is_known(bytes) && pvr::parse(bytes).is_ok()),
    preview: Some(Preview {
        files: &["picture.png"],
        rank: 3,
    }),
    ..ViewFormat::new("PVR", open)
};

fn open(bytes: &Bytes, _context: &dyn AssetContext) -> Result<Box<dyn View>, Box<Failure>> {
    let model = pvr::parse(bytes).map_err(|error| failure(&FORMAT, bytes, error))?;
    let files = whole_files(&[
        ("info.json", info as _),
        ("info.txt", page),
        ("picture.png", picture),
    ]);
    Ok(Box::new(ListedView { model, files }))
}

fn info(pvr: &Pvr, out: &mut dyn Write) -> io::Result<()> {
    let facts = json!({
        "format": FORMAT.name,
        "index": pvr.index,
        "size": pvr.size,
        "color": pvr.color,
        "arrangement": pvr.arrangement,
        "width": pvr.width,
        "height": pvr.height,
        "warnings": [],
    });
    json::write_pretty(&facts, out)
}

fn page(pvr: &Pvr, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Summary::new("PVR picture");
    page.line("size", format_args!("{} x {}", pvr.width, pvr.height));
    page.line("color", pvr.color);
    page.line("arrangement", format_args!("{:#04x}", pvr.arrangement));
    page.write(&Warnings::default(), out)
}

fn picture(pvr: &Pvr, out: &mut dyn Write) -> io::Result<()> {
    match pvr.picture() {
        Some(picture) => png::write(&picture, out),
        None => Ok(()),
    }
}
