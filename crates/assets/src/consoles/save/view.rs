//! View of saves: their titles, and their icons as pictures, animated ones also
//! as APNG.

use std::io::{self, Write};

use bytes::Bytes;

use crate::consoles::save::{self, Save, Saves};
use crate::model::{apng, padded};
use crate::view::converted::{Conversion, Converted, ConvertedFile};
use crate::view::import::Editable;
use crate::view::node::{Node, map};
use crate::view::page::Page;
use crate::view::{AssetContext, Opened, Preview, ViewFormat};

/// Saves and memory cards of the PlayStation.
pub const FORMAT: ViewFormat = ViewFormat {
    extensions: save::EXTENSIONS,
    converted: Conversion::Always(Converted::parts(&[ConvertedFile::first("png")])),
    matches: Some(|bytes| save::is_known(bytes) && save::parse(bytes).is_ok()),
    preview: Some(Preview::new(7, &["icon.png"])),
    left_out: &[Editable::new(
        "*.png",
        "is the icon of a save, which is not encoded",
    )],
    ..ViewFormat::new("PlayStation save", open)
};

/// Duration of an icon frame in units of 1/50 s: with two frames, and with three.
const DELAYS: [u16; 2] = [16, 11];

fn open(bytes: &Bytes, _context: &dyn AssetContext) -> Opened {
    let mut saves = save::parse(bytes)?;
    let heading = match saves.is_card {
        true => "PlayStation memory card",
        false => "PlayStation save",
    };
    let warnings = std::mem::take(&mut saves.warnings);
    let mut page = Page::new(FORMAT.name, heading, warnings);
    page.fact("card", saves.is_card)
        .list("saves", |saves: &Saves| {
            Box::new(saves.saves.iter().map(facts))
        });
    for (number, save) in saves.saves.iter().enumerate() {
        let name = match save.block {
            Some(block) => format!("{}_icon", padded(block, 16, 2)),
            None => "icon".to_owned(),
        };
        page.picture(format!("{name}.png"), move |saves: &Saves| {
            Some(saves.saves[number].frame(0))
        });
        if save.frames > 1 {
            page.file(format!("{name}.apng"), move |saves: &Saves, _, out| {
                write_animation(&saves.saves[number], out)
            });
        }
    }
    Ok(page.show(saves, None))
}

fn facts(save: &Save) -> Node<'_> {
    map([
        ("block", save.block.into()),
        ("name", save.name.clone().into()),
        ("title", save.title.clone().into()),
        ("blocks", save.blocks.into()),
        ("frames", save.frames.into()),
    ])
}

fn write_animation(save: &Save, out: &mut dyn Write) -> io::Result<()> {
    let first = save.frame(0);
    let animation = apng::Animation {
        width: first.width,
        height: first.height,
        frames: save.frames.into(),
        loops: true,
    };
    let mut frame = |number: u32| apng::Frame {
        picture: Some(save.frame(number as usize)),
        at: (0, 0),
        delay: (DELAYS[usize::from(save.frames > 2)], 50),
    };
    apng::write(&animation, &mut frame, out)
}
