//! View of a TIM or TIM2 file: facts, and a PNG for each picture and palette.

use std::io::{self, Write};

use bytes::Bytes;
use serde_json::{Value, json};

use crate::model::{not_shown, padded, png, size_problem};
use crate::neversoft::tim::{self, Block, Details, Stored, Tim};
use crate::view::converted::{Conversion, Converted, ConvertedFile};
use crate::view::damaged::failure;
use crate::view::listed::{Listed, ListedView, Render, whole_files};
use crate::view::{AssetContext, Failure, Preview, Summary, View, ViewFormat, json};

/// Pictures of the PlayStation and PlayStation 2.
pub const FORMAT: ViewFormat = ViewFormat {
    extensions: tim::EXTENSIONS,
    converted: Conversion::Always(Converted::parts(&[ConvertedFile::first("png")])),
    matches: Some(|bytes| {
        let is_known = bytes.starts_with(b"TIM2") || bytes.starts_with(&[0x10, 0, 0, 0]);
        is_known && tim::parse(bytes).is_ok()
    }),
    preview: Some(Preview {
        files: &["frame.png"],
        rank: 3,
    }),
    ..ViewFormat::new("TIM", open)
};

/// Maximum number of palettes that a picture is shown with; a real one has at
/// most 16.
const MAX_FACES: usize = 256;

fn open(bytes: &Bytes, _context: &dyn AssetContext) -> Result<Box<dyn View>, Box<Failure>> {
    let mut model = tim::parse(bytes).map_err(|error| failure(&FORMAT, bytes, error))?;
    let mut files = whole_files(&[("info.json", info), ("info.txt", page)]);
    let faces = |picture: &Stored| picture.faces().min(MAX_FACES);
    let is_alone = model.pictures.iter().map(faces).sum::<usize>() == 1;
    let mut warnings = Vec::new();
    for (index, picture) in model.pictures.iter().enumerate() {
        if let Some(problem) = size_problem(picture.width.into(), picture.height.into()) {
            warnings.push(not_shown(format_args!("picture {index}"), problem));
            continue;
        }
        if picture.faces() > MAX_FACES {
            let count = picture.faces();
            let why = format!("picture {index} has {count} palettes, {MAX_FACES} are shown");
            warnings.push(why);
        }
        for face in 0..faces(picture) {
            let number = padded(index, model.pictures.len(), 2);
            let name = match is_alone {
                true => "frame.png".to_owned(),
                false => format!("{number}_{}.png", padded(face, picture.faces(), 2)),
            };
            let part = index * MAX_FACES + face;
            files.push(Listed::new(None, name, Render::Part(frame, part)));
        }
    }
    for warning in warnings {
        model.warnings.push(warning);
    }
    Ok(Box::new(ListedView { model, files }))
}

/// Returns the name of the format.
fn name(tim: &Tim) -> &'static str {
    match tim.header {
        Some(_) => "TIM2",
        None => "TIM",
    }
}

fn info(tim: &Tim, out: &mut dyn Write) -> io::Result<()> {
    let mut facts = json!({
        "format": name(tim),
        "pictures": tim.pictures.iter().map(picture).collect::<Vec<_>>(),
        "warnings": tim.warnings.texts(),
    });
    if let Some(header) = tim.header {
        facts["version"] = header.version.into();
        facts["align"] = header.alignment.into();
        facts["count"] = header.count.into();
    }
    json::write_pretty(&facts, out)
}

fn picture(picture: &Stored) -> Value {
    let mut facts = json!({
        "offset": picture.offset,
        "bits": picture.bits,
        "width": picture.width,
        "height": picture.height,
    });
    match &picture.details {
        Details::PlayStation {
            palette,
            picture: pixels,
            stp_colors,
        } => {
            facts["palette"] = palette.as_ref().map_or(Value::Null, block);
            facts["picture"] = block(pixels);
            facts["palettes"] = picture.palettes().into();
            facts["stp_colors"] = (*stp_colors).into();
        }
        Details::PlayStation2 {
            mipmaps,
            colors,
            palette_type,
            is_linear,
            format,
        } => {
            facts["mipmaps"] = (*mipmaps).into();
            facts["colors"] = (*colors).into();
            facts["palette_type"] = (*palette_type).into();
            facts["linear"] = (*is_linear).into();
            facts["format"] = (*format).into();
        }
    }
    facts
}

fn block(block: &Block) -> Value {
    json!({
        "size": block.size,
        "x": block.x,
        "y": block.y,
        "words": block.words,
        "height": block.height,
    })
}

fn page(tim: &Tim, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Summary::new(format_args!("{} picture", name(tim)));
    let pictures = tim.pictures.iter().map(|picture| {
        let Stored {
            width,
            height,
            bits,
            ..
        } = picture;
        format!("{width} x {height}, {bits} bits")
    });
    page.list("pictures", pictures);
    let palettes: usize = tim.pictures.iter().map(Stored::palettes).sum();
    page.line("palettes", palettes);
    page.write(&tim.warnings, out)
}

fn frame(tim: &Tim, part: usize, out: &mut dyn Write) -> io::Result<()> {
    match tim.pictures.get(part / MAX_FACES) {
        Some(picture) => png::write(&picture.decode(part % MAX_FACES), out),
        None => Ok(()),
    }
}
