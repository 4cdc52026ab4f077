//! View of a BMP file.

use bytes::Bytes;

use crate::bmp::PICTURE;
use crate::bmp::import::import;
use crate::pal::Palette;
use hpimount_assets::model::{not_shown, png, size_problem};
use hpimount_assets::parse::bmp::{self, Bmp};
use hpimount_assets::parse::so_far;
use hpimount_assets::view::converted::{Conversion, Converted, ConvertedFile};
use hpimount_assets::view::import::Editable;
use hpimount_assets::view::page::Page;
use hpimount_assets::view::{AssetContext, Measures, Opened, ViewFormat};

/// BMP pictures.
pub const FORMAT: ViewFormat = ViewFormat {
    extensions: &["bmp"],
    converted: Conversion::Always(Converted::whole(&[ConvertedFile::first("png")])),
    matches: Some(|bytes| bytes.starts_with(bmp::MAGIC) && bmp::parse(bytes).is_ok()),
    edits: &[Editable::PNG],
    import: Some(import),
    ..ViewFormat::new("BMP", open)
};

fn open(bytes: &Bytes, _context: &dyn AssetContext) -> Opened {
    let (mut bmp, error) = so_far(bmp::parse(bytes));
    let warnings = std::mem::take(&mut bmp.warnings);
    let is_of_ta = bmp.palette.map(|palette| palette == Palette::TA.0);
    let mut page = Page::new(FORMAT.name, "BMP picture", warnings);
    page.fact("width", bmp.width)
        .fact("height", bmp.height)
        .measures(|bmp: &Bmp| Measures::picture(bmp.width, bmp.height))
        .fact("bits", bmp.bits)
        .fact("is_top_down", bmp.is_top_down)
        .fact("has_the_palette_of_ta", is_of_ta);
    match size_problem(bmp.width.into(), bmp.height.into()) {
        _ if error.is_some() => &mut page,
        None => page.file(PICTURE, |bmp: &Bmp, _, out| png::write(&bmp.picture(), out)),
        Some(problem) => page.warn(not_shown("the picture", problem)),
    };
    Ok(page.show(bmp, error))
}
