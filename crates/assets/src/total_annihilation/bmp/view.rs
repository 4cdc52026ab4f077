//! View of a BMP file.

use std::io::{self, Write};

use bytes::Bytes;
use serde_json::{Value, json};

use crate::model::{Picture, png, size_problem};
use crate::total_annihilation::bmp::{self, Bmp, Pixels};
use crate::total_annihilation::pal::Palette;
use crate::total_annihilation::pal::colors::Colors;
use crate::total_annihilation::view::{Shown, failure};
use crate::view::converted::{Conversion, Converted, ConvertedFile};
use crate::view::listed::{Listed, whole_files};
use crate::view::{AssetContext, Failure, Summary, View, ViewFormat, json};

/// BMP pictures.
pub const FORMAT: ViewFormat = ViewFormat {
    extensions: bmp::EXTENSIONS,
    converted: Conversion::Always(Converted::whole(&[ConvertedFile::first("png")])),
    matches: Some(|bytes| bytes.starts_with(b"BM") && bmp::parse(bytes).is_ok()),
    ..ViewFormat::new("BMP", open)
};

fn open(bytes: &Bytes, _context: &dyn AssetContext) -> Result<Box<dyn View>, Box<Failure>> {
    let mut bmp = bmp::parse(bytes).map_err(|incomplete| failure(*incomplete, facts))?;
    let mut files = whole_files(&[("info.json", info), ("info.txt", page)]);
    match size_problem(bmp.width.into(), bmp.height.into()) {
        None => files.push(Listed::whole("picture.png", picture)),
        Some(problem) => bmp
            .warnings
            .push(format!("the picture is not shown: {problem}")),
    }
    let shown = Shown {
        colors: Colors::own(bmp.palette.unwrap_or_default()),
        asset: bmp,
    };
    Ok(shown.view(files))
}

fn facts(bmp: &Bmp) -> Value {
    json!({
        "format": FORMAT.name,
        "width": bmp.width,
        "height": bmp.height,
        "bits": bmp.bits,
        "is_top_down": bmp.is_top_down,
        "has_the_palette_of_ta": bmp.palette.map(|palette| palette == Palette::TA),
        "warnings": bmp.warnings.texts(),
    })
}

fn info(shown: &Shown<Bmp>, out: &mut dyn Write) -> io::Result<()> {
    json::write_pretty(&facts(&shown.asset), out)
}

fn page(shown: &Shown<Bmp>, out: &mut dyn Write) -> io::Result<()> {
    let bmp = &shown.asset;
    let mut page = Summary::new("BMP picture");
    page.line("size", format_args!("{} x {}", bmp.width, bmp.height));
    page.line("depth", format_args!("{} bits", bmp.bits));
    page.write(&bmp.warnings, out)
}

fn picture(shown: &Shown<Bmp>, out: &mut dyn Write) -> io::Result<()> {
    let bmp = &shown.asset;
    let picture = match bmp.decode() {
        Pixels::Rgb(bytes) => Picture::from_rgb(bmp.width, bmp.height, &bytes),
        Pixels::Indexed(rows) => shown.colors.palette.picture(bmp.width, bmp.height, rows),
    };
    png::write(&picture, out)
}
