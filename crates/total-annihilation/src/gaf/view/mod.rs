//! View of sprites: a picture for each frame, and animations.

use std::collections::{HashMap, HashSet};
use std::io::{self, Write};

use bytes::Bytes;

use crate::gaf::export;
use crate::gaf::frames;
use crate::gaf::import::{IMPORT_ALL, import};
use crate::gaf::names::{folder, frame_name};
use crate::gaf::{self, Frame, Gaf, PixelFormat, Pixels, Reference, Sequence, TICKS_PER_SECOND};
use crate::pal::colors::{Colors, WithColors};
use hpimount_assets::model::{Picture, Scale, apng, png, sheet, size_problem};
use hpimount_assets::parse::so_far;
use hpimount_assets::view::converted::{Conversion, Converted, ConvertedFile};
use hpimount_assets::view::import::Editable;
use hpimount_assets::view::node::{self, Node};
use hpimount_assets::view::page::{Page, Rows, no_picture};
use hpimount_assets::view::{AssetContext, Measures, Opened, Preview, ViewFile, ViewFormat};
use hpimount_containers::file_type::{FileType, Magic};
use hpimount_containers::io::Warnings;
use hpimount_record::Value;

/// Sprites and textures.
pub const FORMAT: ViewFormat = ViewFormat {
    extensions: gaf::EXTENSIONS,
    converted: Conversion::Always(Converted::parts(&[ConvertedFile::named(
        "png",
        "preview.png",
    )])),
    matches: Some(|bytes| bytes.starts_with(&[0, 1, 1, 0]) && gaf::parse(bytes).is_ok()),
    types: &[FileType {
        magic: &[Magic::at(0, &[0, 1, 1, 0])],
        priority: 50,
        patterns: &["*.gaf", "*.taf"],
        ..FileType::new("image/x-ta-gaf", Some("Total Annihilation sprites"))
    }],
    preview: Some(Preview::new(9, &["preview.png"])),
    edits: &[
        Editable::new(
            "*.png",
            "pixels, and size outside of textures/; frames can be added",
        ),
        Editable::new("frames.tsv", "x, y, ticks and key"),
    ],
    import: Some(import),
    import_all: Some(IMPORT_ALL),
    ..ViewFormat::new("GAF", open)
};

/// Maximum number of pictures of a file, ten times as many as the games' largest file
/// has.
const MAX_PICTURES: usize = 1 << 15;

/// Maximum number of pixels of all pictures of a file. Many references may share one
/// large frame.
const MAX_SHOWN: u64 = 1 << 28;

/// Maximum number of pixels of all frames of an animation.
const MAX_ANIMATED: u64 = 1 << 26;

/// Maximum number of decoded pixels for a contact sheet.
const MAX_SHEET_PIXELS: u64 = 1 << 25;

/// Maximum number of decoded pixels for warnings in `info.json`.
const MAX_CHECKED: u64 = 1 << 24;

/// Maximum number of pictures on a contact sheet.
const MAX_ON_SHEET: usize = 64;

/// The top left corner of an animation relative to the origins of its frames, and its
/// size.
type Extent = ((i32, i32), (u32, u32));

fn open(bytes: &Bytes, context: &dyn AssetContext) -> Opened {
    let (mut gaf, error) = so_far(gaf::parse(bytes));
    let warnings = std::mem::take(&mut gaf.warnings);
    let colors = Colors::of_sprite(context);
    let mut page = Page::new(FORMAT.name, "GAF sprites", warnings);
    let frames = gaf.sequences.iter().map(Sequence::len);
    page.fact("version", gaf.version)
        .fact("palette", colors.source.clone())
        .fact("frames", frames.sum::<usize>())
        .computed(|shown: &WithColors<Gaf>| vec![("key_unused", key_unused(&shown.asset).into())])
        .list("sequences", |shown| {
            Box::new(shown.asset.sequences.iter().enumerate().map(sequence))
        })
        .measures(|shown| measures(&shown.asset))
        .check(|shown| lost_pixels(&shown.asset));
    if gaf.sequences.iter().any(|sequence| !sequence.is_empty()) {
        page.table(frames::TABLE, |shown| {
            Rows::new(frames::COLUMNS, frames::rows(&shown.asset))
        })
        .file("preview.png", |shown, _, out| preview(shown, out));
    }
    add_pictures(&gaf, &mut page);
    Ok(page.show(WithColors { asset: gaf, colors }, error))
}

/// Adds the pictures and animations. Omitted ones are reported as warnings.
fn add_pictures(gaf: &Gaf, page: &mut Page<WithColors<Gaf>>) {
    // Many references may share a frame.
    let mut known: HashMap<u32, Option<Frame>> = HashMap::new();
    let (mut pictures, mut pixels) = (0, 0);
    let mut omitted = 0;
    for (index, sequence) in gaf.sequences.iter().enumerate() {
        let folder = folder(gaf.sequences.len(), index, sequence);
        let mut area = 0;
        let mut problem = None;
        let omitted_before = omitted;
        for (number, reference) in sequence.frames().enumerate() {
            let frame = *known
                .entry(reference.frame)
                .or_insert_with(|| gaf.frame(reference).ok());
            let Some(frame) = frame.filter(|frame| frame.pixels() > 0) else {
                continue;
            };
            area += frame.pixels();
            if let Some(why) = size_problem(frame.width.into(), frame.height.into()) {
                problem = Some(why);
            } else if pictures < MAX_PICTURES && pixels + frame.pixels() <= MAX_SHOWN {
                pictures += 1;
                pixels += frame.pixels();
                let file = ViewFile::inside(folder.clone(), frame_name(number, sequence));
                page.file(file, move |shown, _, out| {
                    let picture = picture(shown, &frame).ok_or_else(no_picture)?;
                    png::write(&picture, out)
                });
            } else {
                omitted += 1;
            }
        }
        // Otherwise there is nothing to animate, or some frames are not shown.
        if is_animation(sequence) && area > 0 && omitted == omitted_before {
            match animation_extent(sequence, area, &known) {
                Err(why) => problem = Some(why),
                Ok(extent) => {
                    page.file(format!("{folder}.apng"), move |shown, _, out| {
                        animation(shown, &shown.asset.sequences[index], extent, out)
                    });
                }
            }
        }
        if let Some(why) = problem {
            page.warn(format!("part of sequence {index} is not shown: {why}"));
        }
    }
    if omitted > 0 {
        page.warn(format!(
            "{omitted} frames are not shown: the file has more than {MAX_PICTURES}, or \
             more than {MAX_SHOWN} pixels"
        ));
    }
}

/// Returns whether the frames of a sequence follow each other in time. Frames without
/// duration are states, for example of a button.
fn is_animation(sequence: &Sequence) -> bool {
    sequence.len() >= 2 && sequence.frames().any(|reference| reference.ticks > 0)
}

fn animation_extent(
    sequence: &Sequence,
    area: u64,
    known: &HashMap<u32, Option<Frame>>,
) -> Result<Extent, String> {
    if area > MAX_ANIMATED {
        return Err(format!(
            "the animation has {area} pixels, more than the {MAX_ANIMATED} that are shown"
        ));
    }
    let frames = sequence.frames();
    let frames = frames.filter_map(|reference| *known.get(&reference.frame)?);
    let extent = export::extent(frames).unwrap_or_default();
    let (_, (width, height)) = extent;
    size_problem(width.into(), height.into()).map_or(Ok(extent), Err)
}

/// Returns the picture of a frame. Lost pixels are transparent.
fn picture(shown: &WithColors<Gaf>, frame: &Frame) -> Option<Picture> {
    let (picture, _) = so_far(shown.asset.decode(frame));
    export::sprite(picture, &shown.colors.palette)
}

fn animation(
    shown: &WithColors<Gaf>,
    sequence: &Sequence,
    ((left, top), (width, height)): Extent,
    out: &mut dyn Write,
) -> io::Result<()> {
    let animation = apng::Animation {
        width,
        height,
        // At most 65535.
        frames: sequence.len() as u32,
        loops: sequence.loops(),
    };
    let mut references = sequence.frames();
    let mut next = |_| {
        let reference = references.next();
        let frame = reference.and_then(|reference| shown.asset.frame(reference).ok());
        let at = frame.map_or((0, 0), |frame| {
            let from = |origin: i16, start: i32| (-i32::from(origin)).abs_diff(start);
            (from(frame.x, left), from(frame.y, top))
        });
        apng::Frame {
            picture: frame.and_then(|frame| picture(shown, &frame)),
            at,
            delay: delay(reference),
        }
    };
    apng::write(&animation, &mut next, out)
}

/// Returns the duration of a frame. 0 ticks count as 1.
fn delay(reference: Option<Reference>) -> (u16, u16) {
    let ticks = reference.map_or(1, |reference| reference.ticks.max(1));
    (
        ticks.try_into().unwrap_or(u16::MAX),
        TICKS_PER_SECOND as u16,
    )
}

/// Writes the first frame of each sequence, or all frames of a single sequence.
fn preview(shown: &WithColors<Gaf>, out: &mut dyn Write) -> io::Result<()> {
    let gaf = &shown.asset;
    let mut filled = gaf.sequences.iter().filter(|sequence| !sequence.is_empty());
    let references: Vec<Reference> = match (filled.next(), filled.next()) {
        (Some(only), None) => only.frames().take(MAX_ON_SHEET).collect(),
        _ => {
            let first = gaf.sequences.iter().filter_map(|sequence| sequence.get(0));
            first.take(MAX_ON_SHEET).collect()
        }
    };
    let frames = references
        .iter()
        .filter_map(|&reference| gaf.frame(reference).ok());
    let sides = frames.map(|frame| u32::from(frame.width.max(frame.height)));
    let scale = Scale::Common(sides.max().unwrap_or_default());
    let mut left = MAX_SHEET_PIXELS;
    let pictures = references.iter().map(|&reference| {
        let frame = gaf.frame(reference).ok()?;
        left = left.checked_sub(frame.pixels())?;
        picture(shown, &frame)
    });
    png::write(&sheet(references.len(), scale, pictures), out)
}

/// Returns the distinct frames, up to a pixel limit.
fn checked(gaf: &Gaf) -> impl Iterator<Item = Frame> {
    let mut seen = HashSet::new();
    let mut left = MAX_CHECKED;
    let references = gaf.sequences.iter().flat_map(Sequence::frames);
    let different = references.filter(move |reference| seen.insert(reference.frame));
    let frames = different.filter_map(|reference| gaf.frame(reference).ok());
    frames.map_while(move |frame| {
        left = left.checked_sub(frame.pixels())?;
        Some(frame)
    })
}

/// Returns the number of raw frames without the key. Kingdoms has some whose border has
/// another color, which is then not transparent.
fn key_unused(gaf: &Gaf) -> usize {
    let is_raw = |frame: &Frame| frame.pixel_format() == Some(PixelFormat::Raw);
    let raw = checked(gaf).filter(|frame| is_raw(frame) && frame.pixels() > 0);
    let opaque = raw.filter(|frame| {
        let picture = gaf.decode(frame).map(|picture| picture.pixels);
        matches!(picture, Ok(Pixels::Indexed(indexed)) if indexed.is_opaque())
    });
    opaque.count()
}

/// Returns the warnings about the pixels of the frames.
fn lost_pixels(gaf: &Gaf) -> Warnings {
    let mut warnings = Warnings::default();
    for frame in checked(gaf) {
        let (picture, error) = so_far(gaf.decode(&frame));
        warnings.append(picture.warnings);
        if let Some(error) = error {
            let at = frame.offset;
            warnings.push(format!("pixels of the frame at {at:#x} are lost: {error}"));
        }
    }
    warnings
}

fn measures(gaf: &Gaf) -> Measures {
    let times = gaf.sequences.iter().filter_map(seconds);
    let frames = gaf.sequences.iter().flat_map(Sequence::frames);
    let frames = frames.filter_map(|reference| gaf.frame(reference).ok());
    let pictures = frames.map(|frame| Measures::picture(frame.width, frame.height));
    times.map(Measures::seconds).chain(pictures).sum()
}

/// Returns how long a sequence takes; `None` if that is unknown for any frame.
fn seconds(sequence: &Sequence) -> Option<f64> {
    let ticks = sequence.frames().map(|reference| reference.ticks);
    let ticks = ticks.map(|ticks| (ticks > 0).then_some(u64::from(ticks)));
    let ticks = ticks.sum::<Option<u64>>()?;
    Some(ticks as f64 / f64::from(TICKS_PER_SECOND))
}

fn sequence((index, sequence): (usize, &Sequence)) -> Node<'_> {
    node::map([
        ("index", index.into()),
        ("name", sequence.name.clone().into()),
        ("offset", sequence.offset.into()),
        ("frames", sequence.len().into()),
        ("loops", sequence.loops().into()),
        ("loop_word", sequence.loop_word.into()),
        ("unknown_4", sequence.unknown_4.into()),
        ("seconds", seconds(sequence).map(Value::Double).into()),
    ])
}

#[cfg(test)]
mod tests;
