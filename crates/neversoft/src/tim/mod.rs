//! TIM and TIM2: pictures of the PlayStation and PlayStation 2 (FORMATS,
//! Neversoft 2), as facts, and a PNG for each picture and palette.
//!
//! [`parse`](mod@parse) reads the bytes into pictures that are decoded on demand, and
//! `import` encodes edited ones.

mod import;
pub mod parse;

pub use self::parse::*;

use bytes::Bytes;
use hpimount_record::Value;

use hpimount_assets::model::{not_shown, padded, size_problem};
use hpimount_assets::view::converted::{Conversion, Converted, ConvertedFile};
use hpimount_assets::view::import::Editable;
use hpimount_assets::view::node::{Node, map};
use hpimount_assets::view::page::Page;
use hpimount_assets::view::{AssetContext, Measures, Opened, Preview, ViewFormat};

/// Pictures of the PlayStation and PlayStation 2.
pub const FORMAT: ViewFormat = ViewFormat {
    extensions: EXTENSIONS,
    converted: Conversion::Always(Converted::parts(&[ConvertedFile::first("png")])),
    matches: Some(|bytes| {
        let is_known = bytes.starts_with(b"TIM2") || bytes.starts_with(&[0x10, 0, 0, 0]);
        is_known && parse(bytes).is_ok()
    }),
    preview: Some(Preview::new(3, &["frame.png"])),
    edits: &[Editable::PNG],
    import: Some(import::import),
    ..ViewFormat::new("TIM", open)
};

/// Maximum number of shown palettes of a picture; real pictures have at most 16.
const MAX_FACES: usize = 256;

fn open(bytes: &Bytes, _context: &dyn AssetContext) -> Opened {
    let mut tim = parse(bytes)?;
    let warnings = std::mem::take(&mut tim.warnings);
    let (name, heading) = match tim.header {
        Some(_) => ("TIM2", "TIM2 picture"),
        None => ("TIM", "TIM picture"),
    };
    let mut page = Page::new(name, heading, warnings);
    if let Some(header) = tim.header {
        page.fact("version", header.version)
            .fact("align", header.alignment)
            .fact("count", header.count);
    }
    page.list("pictures", |tim: &Tim| {
        Box::new(tim.pictures.iter().map(picture))
    })
    .measures(|tim| {
        let pictures = tim.pictures.iter();
        Measures::pictures(pictures.map(|picture| [picture.width, picture.height]))
    });
    add_frames(&tim, &mut page);
    Ok(page.show(tim, None))
}

/// A picture with one of its palettes.
struct Frame {
    name: String,
    picture: usize,
    palette: usize,
}

/// Returns the visible pictures, with each of their palettes.
fn frames(tim: &Tim) -> Vec<Frame> {
    let count = |picture: &Stored| picture.faces().min(MAX_FACES);
    let is_alone = tim.pictures.iter().map(count).sum::<usize>() == 1;
    let mut frames = Vec::new();
    for (picture, stored) in tim.pictures.iter().enumerate() {
        if size_problem(stored.width.into(), stored.height.into()).is_some() {
            continue;
        }
        let number = padded(picture, tim.pictures.len(), 2);
        for palette in 0..count(stored) {
            let name = match is_alone {
                true => "frame.png".to_owned(),
                false => format!("{number}_{}.png", padded(palette, stored.faces(), 2)),
            };
            frames.push(Frame {
                name,
                picture,
                palette,
            });
        }
    }
    frames
}

/// Adds a PNG for each picture and palette.
fn add_frames(tim: &Tim, page: &mut Page<Tim>) {
    for (index, picture) in tim.pictures.iter().enumerate() {
        if let Some(problem) = size_problem(picture.width.into(), picture.height.into()) {
            page.warn(not_shown(format_args!("picture {index}"), problem));
        } else if picture.faces() > MAX_FACES {
            let count = picture.faces();
            page.warn(format!(
                "picture {index} has {count} palettes, {MAX_FACES} are shown"
            ));
        }
    }
    for frame in frames(tim) {
        page.picture(&frame.name, move |tim: &Tim| {
            Some(tim.pictures[frame.picture].decode(frame.palette))
        });
    }
}

fn picture(picture: &Stored) -> Node<'_> {
    let mut facts = vec![
        ("offset", picture.offset.into()),
        ("bits", picture.bits.into()),
        ("width", picture.width.into()),
        ("height", picture.height.into()),
    ];
    match &picture.details {
        Details::PlayStation {
            palette,
            picture: pixels,
            stp_colors,
        } => facts.extend([
            (
                "palette",
                palette.as_ref().map_or(Value::Null.into(), block),
            ),
            ("picture", block(pixels)),
            ("palettes", picture.palettes().into()),
            ("stp_colors", (*stp_colors).into()),
        ]),
        Details::PlayStation2 {
            mipmaps,
            colors,
            palette_type,
            is_linear,
            format,
            level_sizes: _,
        } => facts.extend([
            ("mipmaps", (*mipmaps).into()),
            ("colors", (*colors).into()),
            ("palette_type", (*palette_type).into()),
            ("linear", (*is_linear).into()),
            ("format", (*format).into()),
        ]),
    }
    map(facts)
}

fn block(block: &Block) -> Node<'_> {
    map([
        ("size", block.size.into()),
        ("x", block.x.into()),
        ("y", block.y.into()),
        ("words", block.words.into()),
        ("height", block.height.into()),
    ])
}
