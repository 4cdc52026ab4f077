//! Views of palettes and of blend tables.

use std::io::{self, Write};

use bytes::Bytes;

use crate::pal::colors::{Colors, WithColors};
use crate::pal::{self, BlendKind, BlendTable, Pal, Palette};
use hpimount_assets::model::png::{self, Tones};
use hpimount_assets::view::converted::{Conversion, Converted, ConvertedFile};
use hpimount_assets::view::page::Page;
use hpimount_assets::view::{AssetContext, Opened, ViewFormat};
use hpimount_containers::io::Warnings;

/// Palettes of 256 colors.
pub const FORMAT: ViewFormat = ViewFormat {
    extensions: pal::EXTENSIONS,
    converted: Conversion::Always(Converted::parts(&[ConvertedFile::named(
        "png",
        "swatch.png",
    )])),
    ..ViewFormat::new("TA palette", open)
};

/// Tables that blend and shade colors.
pub const BLEND_FORMAT: ViewFormat = ViewFormat {
    extensions: pal::BLEND_EXTENSIONS,
    converted: Conversion::Always(Converted::whole(&[ConvertedFile::first("png")])),
    ..ViewFormat::new("TA blend table", open_blend)
};

/// Width and height of a color in the picture, and the number of colors per row and
/// column.
const EDGE: u32 = 16;

/// Columns of a table.
const WIDTH: u32 = 256;

fn open(bytes: &Bytes, _context: &dyn AssetContext) -> Opened {
    let mut pal = pal::parse(bytes).map_err(|lost| lost.error)?;
    let warnings = std::mem::take(&mut pal.warnings);
    let mut page = Page::new(FORMAT.name, "Palette of 256 colors", warnings);
    page.fact("is_the_palette_of_ta", pal.palette == Palette::TA)
        .fact("nonzero_padding", pal.nonzero_padding)
        .fact("trailing", pal.trailing)
        .list("colors", |pal: &Pal| {
            let colors = pal.palette.0.iter();
            let text = |[red, green, blue]: &[u8; 3]| format!("{red:02x}{green:02x}{blue:02x}");
            Box::new(colors.map(move |color| text(color).into()))
        })
        .file("palette.gpl", |pal, _, out| gimp(pal, out))
        .file("swatch.png", |pal, _, out| swatch(pal, out));
    Ok(page.show(pal, None))
}

fn open_blend(bytes: &Bytes, context: &dyn AssetContext) -> Opened {
    let table = pal::parse_blend(bytes).map_err(|lost| lost.error)?;
    let kind = match table.kind() {
        BlendKind::Alpha => "blends two colors",
        BlendKind::Levels => "shades or lightens a color",
    };
    let colors = Colors::of_mount(context);
    let mut page = Page::new(BLEND_FORMAT.name, "Blend table", Warnings::default());
    page.fact("kind", kind)
        .fact("rows", rows(&table))
        .fact("palette", colors.source.clone())
        .file("table.png", |shown: &WithColors<BlendTable>, _, out| {
            blended(shown, out)
        });
    let shown = WithColors {
        asset: table,
        colors,
    };
    Ok(page.show(shown, None))
}

/// Writes a GIMP palette, which many programs read.
fn gimp(pal: &Pal, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "GIMP Palette\nName: palette\nColumns: {EDGE}\n#")?;
    for (index, [red, green, blue]) in pal.palette.0.iter().enumerate() {
        writeln!(out, "{red:3} {green:3} {blue:3}\t{index}")?;
    }
    Ok(())
}

fn swatch(pal: &Pal, out: &mut dyn Write) -> io::Result<()> {
    let mut row = |y: u32, row: &mut Vec<u8>| {
        let first = y / EDGE * EDGE;
        // At most 255.
        row.extend((0..EDGE * EDGE).map(|x| (first + x / EDGE) as u8));
    };
    let size = (EDGE * EDGE, EDGE * EDGE);
    png::write_rows(size, Tones::Palette(&pal.palette.0), &mut row, out)
}

fn rows(table: &BlendTable) -> u32 {
    // At most 256.
    table.rows.len() as u32 / WIDTH
}

/// Writes a picture with a pixel for each entry, in the resulting color.
fn blended(shown: &WithColors<BlendTable>, out: &mut dyn Write) -> io::Result<()> {
    let table = &shown.asset;
    let mut row = |y: u32, row: &mut Vec<u8>| {
        let stored = table.rows.chunks(WIDTH as usize).nth(y as usize);
        row.extend_from_slice(stored.unwrap_or_default());
    };
    let size = (WIDTH, rows(table));
    png::write_rows(size, Tones::Palette(&shown.colors.palette.0), &mut row, out)
}
