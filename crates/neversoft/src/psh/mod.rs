//! PSH: names of a character's parts, in the form of a C header (FORMATS, Neversoft 9).
//! The skeletons of PSX files use the names, too.

pub mod parse;

pub use self::parse::*;

use bytes::Bytes;

use hpimount_assets::view::page::{Page, Rows};
use hpimount_assets::view::{AssetContext, Opened, ViewFormat};
use hpimount_containers::io::Warnings;

/// Names of the parts of characters.
pub const FORMAT: ViewFormat = ViewFormat {
    extensions: EXTENSIONS,
    ..ViewFormat::new("PSH", open)
};

fn open(bytes: &Bytes, _context: &dyn AssetContext) -> Opened {
    let psh = parse(bytes)?;
    let heading = "Names of a character's parts";
    let mut page = Page::new(FORMAT.name, heading, Warnings::default());
    page.rows("parts", parts).rows("animations", animations);
    Ok(page.show(psh, None))
}

fn parts(psh: &Psh) -> Rows<'_> {
    let rows = psh.parts.iter().map(|part| {
        [
            part.named.index.into(),
            part.named.name.clone().into(),
            part.parent.clone().into(),
        ]
    });
    Rows::new(["index", "name", "parent"], rows)
}

fn animations(psh: &Psh) -> Rows<'_> {
    let animations = psh.animations.iter();
    let rows = animations.map(|one| [one.index.into(), one.name.clone().into()]);
    Rows::new(["index", "name"], rows)
}
