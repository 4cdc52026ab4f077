//! View of saves: their titles, and their icons as pictures, animated ones also
//! as APNG.

use std::io::{self, Write};

use bytes::Bytes;
use serde_json::{Value, json};

use crate::consoles::save::{self, Save, Saves};
use crate::model::{apng, padded, png};
use crate::view::converted::{Conversion, Converted, ConvertedFile};
use crate::view::damaged::failure;
use crate::view::listed::{Listed, ListedView, Render, whole_files};
use crate::view::{AssetContext, Failure, Preview, Summary, View, ViewFormat, json};

/// Saves and memory cards of the PlayStation.
pub const FORMAT: ViewFormat = ViewFormat {
    extensions: save::EXTENSIONS,
    converted: Conversion::Always(Converted::parts(&[ConvertedFile::first("png")])),
    matches: Some(|bytes| save::is_known(bytes) && save::parse(bytes).is_ok()),
    preview: Some(Preview {
        files: &["icon.png"],
        rank: 7,
    }),
    ..ViewFormat::new("PlayStation save", open)
};

/// How long a frame of an icon is shown, in units of 1/50 s: with two frames, and
/// with three.
const DELAYS: [u16; 2] = [16, 11];

fn open(bytes: &Bytes, _context: &dyn AssetContext) -> Result<Box<dyn View>, Box<Failure>> {
    let model = save::parse(bytes).map_err(|error| failure(&FORMAT, bytes, error))?;
    let mut files = whole_files(&[("info.json", info as _), ("info.txt", page)]);
    for (number, save) in model.saves.iter().enumerate() {
        let name = match save.block {
            Some(block) => format!("{}_icon", padded(block, 16, 2)),
            None => "icon".to_owned(),
        };
        files.push(Listed::new(
            None,
            format!("{name}.png"),
            Render::Part(icon, number),
        ));
        if save.frames > 1 {
            let name = format!("{name}.apng");
            files.push(Listed::new(None, name, Render::Part(animation, number)));
        }
    }
    Ok(Box::new(ListedView { model, files }))
}

fn info(saves: &Saves, out: &mut dyn Write) -> io::Result<()> {
    let facts = json!({
        "format": FORMAT.name,
        "card": saves.is_card,
        "saves": saves.saves.iter().map(facts).collect::<Vec<_>>(),
        "warnings": saves.warnings.texts(),
    });
    json::write_pretty(&facts, out)
}

fn facts(save: &Save) -> Value {
    json!({
        "block": save.block,
        "name": save.name,
        "title": save.title,
        "blocks": save.blocks,
        "frames": save.frames,
    })
}

fn page(saves: &Saves, out: &mut dyn Write) -> io::Result<()> {
    let heading = match saves.is_card {
        true => "PlayStation memory card",
        false => "PlayStation save",
    };
    let mut page = Summary::new(heading);
    let lines = saves.saves.iter().map(|save| match &save.name {
        Some(name) => format!("{name}: {}", save.title),
        None => save.title.clone(),
    });
    page.list("saves", lines);
    page.write(&saves.warnings, out)
}

fn icon(saves: &Saves, number: usize, out: &mut dyn Write) -> io::Result<()> {
    match saves.saves.get(number) {
        Some(save) => png::write(&save.frame(0), out),
        None => Ok(()),
    }
}

fn animation(saves: &Saves, number: usize, out: &mut dyn Write) -> io::Result<()> {
    let Some(save) = saves.saves.get(number) else {
        return Ok(());
    };
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
