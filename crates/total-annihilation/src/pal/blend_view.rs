//! View of a blend table.

use std::io::{self, Write};

use bytes::Bytes;
use serde_json::{Value, json};

use crate::pal::colors::Colors;
use crate::pal::shown::Shown;
use crate::pal::{self, BlendKind, BlendTable};
use crate::view::failure;
use hpimount_assets::model::png::{self, Tones};
use hpimount_assets::view::converted::{Conversion, Converted, ConvertedFile};
use hpimount_assets::view::listed::whole_files;
use hpimount_assets::view::{AssetContext, Failure, Summary, View, ViewFormat, json};
use hpimount_containers::io::Warnings;

/// Tables that blend and shade colors.
pub const FORMAT: ViewFormat = ViewFormat {
    extensions: pal::BLEND_EXTENSIONS,
    converted: Conversion::Always(Converted::whole(&[ConvertedFile::first("png")])),
    ..ViewFormat::new("TA blend table", open)
};

/// Columns of a table.
const WIDTH: u32 = 256;

fn open(bytes: &Bytes, context: &dyn AssetContext) -> Result<Box<dyn View>, Box<Failure>> {
    let table =
        pal::parse_blend(bytes).map_err(|incomplete| failure(*incomplete, |_| json!({})))?;
    let shown = Shown {
        colors: Colors::of_mount(context),
        asset: table,
    };
    Ok(shown.view(whole_files(&[
        ("info.json", info),
        ("info.txt", page),
        ("table.png", picture),
    ])))
}

fn kind(table: &BlendTable) -> &'static str {
    match table.kind() {
        BlendKind::Alpha => "blends two colors",
        BlendKind::Levels => "shades or lightens a color",
    }
}

fn rows(table: &BlendTable) -> u32 {
    // At most 256.
    table.rows.len() as u32 / WIDTH
}

fn info(shown: &Shown<BlendTable>, out: &mut dyn Write) -> io::Result<()> {
    let table = &shown.asset;
    let facts: Value = json!({
        "format": FORMAT.name,
        "kind": kind(table),
        "rows": rows(table),
        "palette": shown.colors.source,
        "warnings": [],
    });
    json::write_pretty(&facts, out)
}

fn page(shown: &Shown<BlendTable>, out: &mut dyn Write) -> io::Result<()> {
    let table = &shown.asset;
    let mut page = Summary::new("Blend table");
    page.line("kind", kind(table));
    page.line("rows", rows(table));
    page.line("palette", &shown.colors.source);
    page.write(&Warnings::default(), out)
}

/// Writes a picture with a pixel for each entry, in the resulting color.
fn picture(shown: &Shown<BlendTable>, out: &mut dyn Write) -> io::Result<()> {
    let table = &shown.asset;
    let mut row = |y: u32, row: &mut Vec<u8>| {
        let stored = table.rows.chunks(WIDTH as usize).nth(y as usize);
        row.extend_from_slice(stored.unwrap_or_default());
    };
    let size = (WIDTH, rows(table));
    png::write_rows(size, Tones::Palette(&shown.colors.palette.0), &mut row, out)
}
