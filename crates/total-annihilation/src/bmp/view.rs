//! View of a BMP file.

use std::io::{self, Write};

use bytes::Bytes;
use serde_json::{Value, json};

use crate::bmp::PICTURE;
use crate::bmp::import::import;
use crate::pal::Palette;
use crate::view::failure;
use hpimount_assets::model::{png, size_problem};
use hpimount_assets::parse::bmp::{self, Bmp};
use hpimount_assets::view::converted::{Conversion, Converted, ConvertedFile};
use hpimount_assets::view::listed::{Listed, ListedView, whole_files};
use hpimount_assets::view::{AssetContext, Failure, Summary, View, ViewFormat, json};

/// BMP pictures.
pub const FORMAT: ViewFormat = ViewFormat {
    extensions: &["bmp"],
    converted: Conversion::Always(Converted::whole(&[ConvertedFile::first("png")])),
    matches: Some(|bytes| bytes.starts_with(bmp::MAGIC) && bmp::parse(bytes).is_ok()),
    import: Some(import),
    ..ViewFormat::new("BMP", open)
};

fn open(bytes: &Bytes, _context: &dyn AssetContext) -> Result<Box<dyn View>, Box<Failure>> {
    let mut bmp = bmp::parse(bytes).map_err(|incomplete| failure(*incomplete, facts))?;
    let mut files = whole_files(&[("info.json", info), ("info.txt", page)]);
    match size_problem(bmp.width.into(), bmp.height.into()) {
        None => files.push(Listed::whole(PICTURE, write_picture)),
        Some(problem) => bmp
            .warnings
            .push(format!("the picture is not shown: {problem}")),
    }
    Ok(Box::new(ListedView { model: bmp, files }))
}

fn facts(bmp: &Bmp) -> Value {
    json!({
        "format": FORMAT.name,
        "width": bmp.width,
        "height": bmp.height,
        "bits": bmp.bits,
        "is_top_down": bmp.is_top_down,
        "has_the_palette_of_ta": bmp.palette.map(|palette| palette == Palette::TA.0),
        "warnings": bmp.warnings.texts(),
    })
}

fn info(bmp: &Bmp, out: &mut dyn Write) -> io::Result<()> {
    json::write_pretty(&facts(bmp), out)
}

fn page(bmp: &Bmp, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Summary::new("BMP picture");
    page.line("size", format_args!("{} x {}", bmp.width, bmp.height));
    page.line("depth", format_args!("{} bits", bmp.bits));
    page.write(&bmp.warnings, out)
}

fn write_picture(bmp: &Bmp, out: &mut dyn Write) -> io::Result<()> {
    png::write(&bmp.picture(), out)
}
