//! View of a palette.

use std::io::{self, Write};

use bytes::Bytes;
use serde_json::{Value, json};

use crate::pal::colors::Colors;
use crate::pal::shown::Shown;
use crate::pal::{self, Pal};
use crate::view::failure;
use hpimount_assets::model::png::{self, Tones};
use hpimount_assets::view::converted::{Conversion, Converted, ConvertedFile};
use hpimount_assets::view::listed::whole_files;
use hpimount_assets::view::{AssetContext, Failure, Summary, View, ViewFormat, json};

/// Palettes of 256 colors.
pub const FORMAT: ViewFormat = ViewFormat {
    extensions: pal::EXTENSIONS,
    converted: Conversion::Always(Converted::parts(&[ConvertedFile::named(
        "png",
        "swatch.png",
    )])),
    ..ViewFormat::new("TA palette", open)
};

/// Width and height of a color in the picture, and the number of colors in
/// its rows and columns.
const EDGE: u32 = 16;

fn open(bytes: &Bytes, _context: &dyn AssetContext) -> Result<Box<dyn View>, Box<Failure>> {
    let pal = pal::parse(bytes).map_err(|incomplete| failure(*incomplete, |_| json!({})))?;
    let shown = Shown {
        colors: Colors::own(pal.palette),
        asset: pal,
    };
    Ok(shown.view(whole_files(&[
        ("info.json", info),
        ("info.txt", page),
        ("palette.gpl", gimp),
        ("swatch.png", swatch),
    ])))
}

fn info(shown: &Shown<Pal>, out: &mut dyn Write) -> io::Result<()> {
    let pal = &shown.asset;
    let colors = pal.palette.0.iter();
    let colors = colors.map(|[red, green, blue]| format!("{red:02x}{green:02x}{blue:02x}"));
    let facts: Value = json!({
        "format": FORMAT.name,
        "is_the_palette_of_ta": pal.palette == pal::Palette::TA,
        "nonzero_padding": pal.nonzero_padding,
        "trailing": pal.trailing,
        "colors": colors.collect::<Vec<_>>(),
        "warnings": pal.warnings.texts(),
    });
    json::write_pretty(&facts, out)
}

fn page(shown: &Shown<Pal>, out: &mut dyn Write) -> io::Result<()> {
    let pal = &shown.asset;
    let mut page = Summary::new("Palette of 256 colors");
    let is_of_ta = pal.palette == pal::Palette::TA;
    page.line("TA's palette", if is_of_ta { "yes" } else { "no" });
    page.write(&pal.warnings, out)
}

/// Writes a GIMP palette, which many programs read.
fn gimp(shown: &Shown<Pal>, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "GIMP Palette\nName: palette\nColumns: {EDGE}\n#")?;
    for (index, [red, green, blue]) in shown.asset.palette.0.iter().enumerate() {
        writeln!(out, "{red:3} {green:3} {blue:3}\t{index}")?;
    }
    Ok(())
}

fn swatch(shown: &Shown<Pal>, out: &mut dyn Write) -> io::Result<()> {
    let mut row = |y: u32, row: &mut Vec<u8>| {
        let first = y / EDGE * EDGE;
        // At most 255.
        row.extend((0..EDGE * EDGE).map(|x| (first + x / EDGE) as u8));
    };
    let size = (EDGE * EDGE, EDGE * EDGE);
    png::write_rows(size, Tones::Palette(&shown.asset.palette.0), &mut row, out)
}
