//! PVR: pictures of the Dreamcast (FORMATS, Neversoft 8), as facts and a PNG.
//!
//! [`parse`](mod@parse) reads the header, `pixels` decodes and encodes the pixels, and
//! `import` reads an edited picture.

mod import;
pub mod parse;
pub(crate) mod pixels;

pub use self::parse::*;

use bytes::Bytes;

use hpimount_assets::view::converted::{Conversion, Converted, ConvertedFile};
use hpimount_assets::view::import::Editable;
use hpimount_assets::view::page::Page;
use hpimount_assets::view::{AssetContext, Measures, Opened, Preview, ViewFormat};
use hpimount_containers::io::Warnings;

/// The file of the picture.
const PICTURE: &str = "picture.png";

/// Pictures of the Dreamcast.
pub const FORMAT: ViewFormat = ViewFormat {
    extensions: EXTENSIONS,
    converted: Conversion::Always(Converted::whole(&[ConvertedFile::first("png")])),
    matches: Some(|bytes| is_known(bytes) && parse(bytes).is_ok()),
    preview: Some(Preview::new(3, &[PICTURE])),
    edits: &[Editable::PNG],
    import: Some(import::import),
    ..ViewFormat::new("PVR", open)
};

fn open(bytes: &Bytes, _context: &dyn AssetContext) -> Opened {
    let pvr = parse(bytes)?;
    let mut page = Page::new(FORMAT.name, "PVR picture", Warnings::default());
    page.fact("index", pvr.index)
        .fact("size", pvr.size)
        .fact("color", pvr.color)
        .fact("arrangement", pvr.arrangement)
        .fact("width", pvr.width)
        .fact("height", pvr.height)
        .measures(|pvr: &Pvr| Measures::picture(pvr.width, pvr.height))
        .picture(PICTURE, Pvr::picture);
    Ok(page.show(pvr, None))
}
