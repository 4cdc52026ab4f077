//! View of a font: all of its characters.

use std::io::{self, Write};

use bytes::Bytes;
use serde_json::{Map, Value, json};

use crate::fnt::{self, Fnt};
use crate::pal::colors::Colors;
use crate::pal::shown::Shown;
use crate::view::failure;
use hpimount_assets::model::png::{self, Tones};
use hpimount_assets::view::converted::{Conversion, Converted, ConvertedFile};
use hpimount_assets::view::listed::whole_files;
use hpimount_assets::view::{AssetContext, Failure, Summary, View, ViewFormat, json};

/// Fonts.
pub const FORMAT: ViewFormat = ViewFormat {
    extensions: fnt::EXTENSIONS,
    converted: Conversion::Always(Converted::parts(&[ConvertedFile::named(
        "png",
        "sheet.png",
    )])),
    ..ViewFormat::new("FNT", open)
};

/// Number of characters per row of the sheet, and of rows.
const COLUMNS: usize = 16;

fn open(bytes: &Bytes, _context: &dyn AssetContext) -> Result<Box<dyn View>, Box<Failure>> {
    let fnt = fnt::parse(bytes).map_err(|incomplete| failure(*incomplete, head))?;
    let shown = Shown {
        colors: Colors::embedded(),
        asset: fnt,
    };
    Ok(shown.view(whole_files(&[
        ("info.json", info),
        ("info.txt", page),
        ("sheet.png", sheet),
    ])))
}

fn head(fnt: &Fnt) -> Value {
    json!({
        "format": FORMAT.name,
        "height": fnt.height,
        "flags": fnt.flags,
    })
}

fn widths(fnt: &Fnt) -> impl Iterator<Item = (u8, u8)> {
    (0..=u8::MAX).filter_map(|character| Some((character, fnt.width(character)?)))
}

fn info(shown: &Shown<Fnt>, out: &mut dyn Write) -> io::Result<()> {
    let fnt = &shown.asset;
    let glyphs = widths(fnt).map(|(character, width)| (character.to_string(), width.into()));
    let mut facts = head(fnt);
    facts["glyphs"] = Value::Object(glyphs.collect::<Map<_, _>>());
    facts["warnings"] = fnt.warnings.texts().into();
    json::write_pretty(&facts, out)
}

fn page(shown: &Shown<Fnt>, out: &mut dyn Write) -> io::Result<()> {
    let fnt = &shown.asset;
    let mut page = Summary::new("Font");
    page.line("height", format_args!("{} pixels", fnt.height));
    page.line("characters", widths(fnt).count());
    page.write(&fnt.warnings, out)
}

/// Writes all characters in a grid with 16 columns, white on black. Cells are
/// as wide as the widest character, with a pixel between them.
fn sheet(shown: &Shown<Fnt>, out: &mut dyn Write) -> io::Result<()> {
    let fnt = &shown.asset;
    let widest = widths(fnt).map(|(_, width)| width).max().unwrap_or(1);
    let cell = usize::from(widest) + 1;
    let height = usize::from(fnt.height) + 1;
    let mut glyphs = Vec::new();
    let mut row = |y: u32, row: &mut Vec<u8>| {
        let (line, y) = (y as usize / height, y as usize % height);
        if y == 0 {
            let characters = COLUMNS * line..COLUMNS * (line + 1);
            // At most 255.
            glyphs = characters
                .map(|character| fnt.glyph(character as u8))
                .collect();
        }
        for (column, glyph) in glyphs.iter().enumerate() {
            row.resize(column * cell, 0);
            if let Some(glyph) = glyph {
                let width = usize::from(glyph.width);
                let pixels = glyph.pixels.chunks_exact(width.max(1));
                row.extend(pixels.into_iter().nth(y).unwrap_or_default());
            }
        }
    };
    // At most 4096 by 4096.
    let size = ((COLUMNS * cell) as u32, (COLUMNS * height) as u32);
    png::write_rows(size, Tones::Gray, &mut row, out)
}
