//! View of a font: a sheet of all characters.

use std::io::{self, Write};

use bytes::Bytes;

use crate::fnt::{self, Fnt};
use hpimount_assets::model::png::{self, Tones};
use hpimount_assets::parse::so_far;
use hpimount_assets::view::converted::{Conversion, Converted, ConvertedFile};
use hpimount_assets::view::import::Editable;
use hpimount_assets::view::page::Page;
use hpimount_assets::view::{AssetContext, Opened, ViewFormat};
use hpimount_record::Value;

/// Fonts.
pub const FORMAT: ViewFormat = ViewFormat {
    extensions: fnt::EXTENSIONS,
    converted: Conversion::Always(Converted::parts(&[ConvertedFile::named(
        "png",
        "sheet.png",
    )])),
    left_out: &[Editable::new(
        "*.png",
        "is a font, whose letters are not edited",
    )],
    ..ViewFormat::new("FNT", open)
};

/// Numbers of columns and rows of the sheet.
const COLUMNS: usize = 16;

fn open(bytes: &Bytes, _context: &dyn AssetContext) -> Opened {
    let (mut fnt, error) = so_far(fnt::parse(bytes));
    let warnings = std::mem::take(&mut fnt.warnings);
    let mut page = Page::new(FORMAT.name, "Font", warnings);
    page.fact("height", fnt.height).fact("flags", fnt.flags);
    if error.is_none() {
        let glyphs =
            widths(&fnt).map(|(character, width)| (character.to_string().into(), width.into()));
        page.fact("characters", widths(&fnt).count())
            .fact("glyphs", Value::Map(glyphs.collect()))
            .file("sheet.png", |fnt: &Fnt, _, out| sheet(fnt, out));
    }
    Ok(page.show(fnt, error))
}

fn widths(fnt: &Fnt) -> impl Iterator<Item = (u8, u8)> {
    (0..=u8::MAX).filter_map(|character| Some((character, fnt.width(character)?)))
}

/// Writes all characters in a grid of 16 columns, white on black. Cells are as wide as
/// the widest character, with a pixel between them.
fn sheet(fnt: &Fnt, out: &mut dyn Write) -> io::Result<()> {
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
