//! RLE, BMR and ZLB: pictures without a stored width (FORMATS, Neversoft 7), shown as
//! facts, a PNG, and the BMP file that may be packed in it.

pub mod parse;

pub use self::parse::*;

use bytes::Bytes;

use hpimount_assets::view::converted::{Conversion, Converted, ConvertedFile};
use hpimount_assets::view::import::Editable;
use hpimount_assets::view::page::Page;
use hpimount_assets::view::{AssetContext, Measures, Opened, Preview, ViewFormat};
use hpimount_containers::io::Error;
use hpimount_containers::text::has_extension;

/// Pictures of the PlayStation and the Dreamcast.
pub const FORMAT: ViewFormat = ViewFormat {
    extensions: EXTENSIONS,
    converted: Conversion::Always(Converted::whole(&[ConvertedFile::first("png")])),
    matches: Some(|bytes| bytes.starts_with(MAGIC) && parse(bytes, false).is_ok()),
    preview: Some(Preview::new(3, &["picture.png"])),
    left_out: &[Editable::new(
        "*.png",
        "is decoded from an RLE, which is not encoded",
    )],
    ..ViewFormat::new("RLE", open)
};

fn open(bytes: &Bytes, context: &dyn AssetContext) -> Opened {
    let fail = |error| error;
    let is_called = |extension| has_extension(context.name().as_bytes(), extension);
    if !is_called("bmr") && !is_called("zlb") && !bytes.starts_with(MAGIC) {
        let problem = "is not that of an RLE picture";
        return Err(fail(Error::damaged(0, "magic", problem)));
    }
    let mut rle = parse(bytes, is_called("zlb")).map_err(fail)?;
    let warnings = std::mem::take(&mut rle.warnings);
    let (name, heading) = match rle.is_packed {
        true => ("RLE", "RLE picture"),
        false => ("BMR", "BMR picture"),
    };
    let mut page = Page::new(name, heading, warnings);
    page.fact("gzip", rle.is_gzip)
        .measures(|rle: &Rle| match rle.content {
            Content::Picture { width, height, .. } => Measures::picture(width, height),
            Content::Bmp(_) => Measures::default(),
        });
    match &rle.content {
        Content::Picture { width, height, .. } => page
            .fact("width", *width)
            .fact("height", *height)
            .fact("width_from", "guess"),
        Content::Bmp(inside) => page.fact("inside", "BMP").fact("bytes", inside.file.len()),
    };
    let inside = match &rle.content {
        Content::Picture { .. } => None,
        Content::Bmp(inside) => Some(inside),
    };
    if inside.is_none_or(|inside| inside.picture.is_some()) {
        page.picture("picture.png", |rle: &Rle| rle.content.picture());
    }
    if let Some(inside) = inside {
        page.stored("picture.bmp".to_owned(), inside.file.clone());
    }
    Ok(page.show(rle, None))
}
