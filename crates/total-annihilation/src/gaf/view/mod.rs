//! View of sprites: a picture for each frame, and animations.

use std::collections::{HashMap, HashSet};
use std::io::{self, Write};

use bytes::Bytes;
use serde::Serialize;
use serde_json::json;

use crate::gaf::export;
use crate::gaf::import::import;
use crate::gaf::names::{folder, frame_name};
use crate::gaf::{self, Frame, Gaf, PixelFormat, Pixels, Reference, Sequence, TICKS_PER_SECOND};
use crate::pal::colors::Colors;
use crate::pal::shown::Shown;
use crate::view::parts;
use hpimount_assets::model::{Picture, Scale, apng, png, sheet, size_problem};
use hpimount_assets::view::converted::{Conversion, Converted, ConvertedFile};
use hpimount_assets::view::json::Seq;
use hpimount_assets::view::listed::{Listed, Render, whole_files};
use hpimount_assets::view::{
    AssetContext, Failure, Preview, Summary, Table, View, ViewFormat, json,
};
use hpimount_containers::file_type::{FileType, Magic};
use hpimount_containers::io::Warnings;

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
    preview: Some(Preview {
        files: &["preview.png"],
        rank: 9,
    }),
    import: Some(import),
    ..ViewFormat::new("GAF", open)
};

/// Maximum number of pictures of a file; the largest file of the games has a
/// tenth as many.
const MAX_PICTURES: usize = 1 << 15;

/// Maximum number of pixels of all pictures of a file. Many references may
/// refer to one large frame.
const MAX_SHOWN: u64 = 1 << 28;

/// Maximum number of pixels of all frames of an animation.
const MAX_ANIMATED: u64 = 1 << 26;

/// Maximum number of pixels that are decoded for a contact sheet.
const MAX_SHEET_PIXELS: u64 = 1 << 25;

/// Maximum number of pixels that are decoded to find warnings for `info.json`.
const MAX_CHECKED: u64 = 1 << 24;

/// Maximum number of pictures on a contact sheet.
const MAX_ON_SHEET: usize = 64;

/// A part's number is that of the sequence times this, plus that of the frame.
const FRAMES: usize = 1 << 16;

fn open(bytes: &Bytes, context: &dyn AssetContext) -> Result<Box<dyn View>, Box<Failure>> {
    let is_shown = |gaf: &Gaf| !gaf.sequences.is_empty();
    let (gaf, error) = parts(gaf::parse(bytes), is_shown, |gaf| {
        json::bounded_value(&Head::new(gaf, ""), &json!({}))
    })?;
    let mut shown = Shown {
        colors: Colors::of_sprite(context),
        asset: gaf,
    };
    let files = files(&mut shown.asset);
    Ok(shown.partial_view(files, error))
}

/// Returns the files. Omitted ones are reported as warnings.
fn files(gaf: &mut Gaf) -> Vec<Listed<Shown<Gaf>>> {
    let mut files = whole_files(&[("info.json", info as _), ("info.txt", page)]);
    let sequences = std::mem::take(&mut gaf.sequences);
    if sequences.iter().any(|sequence| !sequence.is_empty()) {
        files.push(Listed::whole("frames.tsv", frames));
        files.push(Listed::whole("preview.png", preview));
    }
    // Many references may refer to one frame.
    let mut known: HashMap<u32, Option<Frame>> = HashMap::new();
    let (mut pictures, mut pixels) = (0, 0);
    let mut omitted = 0;
    for (index, sequence) in sequences.iter().enumerate() {
        let folder = folder(sequences.len(), index, sequence);
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
                let name = frame_name(number, sequence);
                let part = index * FRAMES + number;
                let render = Render::Part(frame_picture, part);
                files.push(Listed::inside(folder.clone(), name, render));
            } else {
                omitted += 1;
            }
        }
        if !is_animation(sequence) || area == 0 || omitted > omitted_before {
            // There is nothing to animate, or some frames are not shown.
        } else if let Some(why) = animation_problem(sequence, area, &known) {
            problem = Some(why);
        } else {
            let render = Render::Part(animation, index);
            files.push(Listed::new(None, format!("{folder}.apng"), render));
        }
        if let Some(why) = problem {
            let warning = format!("part of sequence {index} is not shown: {why}");
            gaf.warnings.push(warning);
        }
    }
    gaf.sequences = sequences;
    if omitted > 0 {
        gaf.warnings.push(format!(
            "{omitted} frames are not shown: the file has more than {MAX_PICTURES}, or \
             more than {MAX_SHOWN} pixels"
        ));
    }
    files
}

/// Returns whether the frames of a sequence are shown one after the other.
/// Frames without any duration are states, for example of a button.
fn is_animation(sequence: &Sequence) -> bool {
    sequence.len() >= 2 && sequence.frames().any(|reference| reference.ticks > 0)
}

fn animation_problem(
    sequence: &Sequence,
    area: u64,
    known: &HashMap<u32, Option<Frame>>,
) -> Option<String> {
    if area > MAX_ANIMATED {
        return Some(format!(
            "the animation has {area} pixels, more than the {MAX_ANIMATED} that are shown"
        ));
    }
    let frames = sequence.frames();
    let frames = frames.filter_map(|reference| *known.get(&reference.frame)?);
    let (_, (width, height)) = export::extent(frames)?;
    size_problem(width.into(), height.into())
}

/// Returns the picture of a frame; lost pixels are transparent.
fn picture(shown: &Shown<Gaf>, frame: &Frame) -> Option<Picture> {
    let decoded = shown.asset.decode(frame);
    let picture = decoded.unwrap_or_else(|incomplete| incomplete.model);
    export::sprite(picture, &shown.colors.palette)
}

fn frame_picture(shown: &Shown<Gaf>, part: usize, out: &mut dyn Write) -> io::Result<()> {
    let sequence = shown.asset.sequences.get(part / FRAMES);
    let reference = sequence.and_then(|sequence| sequence.get(part % FRAMES));
    let frame = reference.and_then(|reference| shown.asset.frame(reference).ok());
    match frame.and_then(|frame| picture(shown, &frame)) {
        Some(picture) => png::write(&picture, out),
        None => Ok(()),
    }
}

fn animation(shown: &Shown<Gaf>, index: usize, out: &mut dyn Write) -> io::Result<()> {
    let gaf = &shown.asset;
    let Some(sequence) = gaf.sequences.get(index) else {
        return Ok(());
    };
    let all = || {
        sequence
            .frames()
            .map(|reference| (reference, gaf.frame(reference).ok()))
    };
    let Some(((left, top), (width, height))) = export::extent(all().filter_map(|(_, frame)| frame))
    else {
        return Ok(());
    };
    let animation = apng::Animation {
        width,
        height,
        // At most 65535.
        frames: sequence.len() as u32,
        loops: sequence.loops(),
    };
    let mut frames = all();
    let mut next = |_| {
        let (reference, frame) = frames.next().unzip();
        let frame = frame.flatten();
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

/// Writes the first frame of each sequence; for a single sequence, all frames.
fn preview(shown: &Shown<Gaf>, out: &mut dyn Write) -> io::Result<()> {
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

#[derive(Serialize)]
struct Head<'a> {
    format: &'static str,
    version: u32,
    #[serde(skip_serializing_if = "str::is_empty")]
    palette: &'a str,
    sequences: Seq<'a, SequenceFacts<'a>>,
    /// Raw frames without the key. Kingdoms has some with a border in another
    /// color, which is not transparent then.
    #[serde(skip_serializing_if = "Option::is_none")]
    key_unused: Option<usize>,
    warnings: Vec<String>,
}

#[derive(Serialize)]
struct SequenceFacts<'a> {
    index: usize,
    name: &'a str,
    offset: u32,
    frames: usize,
    loops: bool,
    loop_word: u16,
    unknown_4: u32,
    /// Total of all frames, if known for each.
    seconds: Option<f64>,
}

/// Returns the warnings about a file and the pixels of its frames, decoding
/// each frame once; and the number of raw frames without the key.
fn checked(gaf: &Gaf) -> (Warnings, usize) {
    let mut warnings = gaf.warnings.clone();
    let mut key_unused = 0;
    let mut checked = HashSet::new();
    let mut left = MAX_CHECKED;
    let references = gaf.sequences.iter().flat_map(Sequence::frames);
    for reference in references.filter(|reference| checked.insert(reference.frame)) {
        let Ok(frame) = gaf.frame(reference) else {
            continue;
        };
        let Some(rest) = left.checked_sub(frame.pixels()) else {
            break;
        };
        left = rest;
        match gaf.decode(&frame) {
            Ok(picture) => {
                let is_raw = frame.pixel_format() == Some(PixelFormat::Raw);
                let is_opaque = match &picture.pixels {
                    Pixels::Indexed(indexed) => frame.pixels() > 0 && indexed.is_opaque(),
                    Pixels::Rgba(_) => false,
                };
                key_unused += usize::from(is_raw && is_opaque);
                warnings.append(picture.warnings);
            }
            Err(lost) => {
                warnings.append(lost.model.warnings);
                let at = frame.offset;
                warnings.push(format!(
                    "pixels of the frame at {at:#x} are lost: {}",
                    lost.error
                ));
            }
        }
    }
    (warnings, key_unused)
}

impl<'a> Head<'a> {
    fn new(gaf: &'a Gaf, palette: &'a str) -> Self {
        Self {
            format: FORMAT.name,
            version: gaf.version,
            palette,
            sequences: Seq::new(|| {
                let sequences = gaf.sequences.iter().enumerate();
                sequences.map(|(index, sequence)| SequenceFacts::new(index, sequence))
            }),
            key_unused: None,
            warnings: gaf.warnings.texts(),
        }
    }
}

impl<'a> SequenceFacts<'a> {
    fn new(index: usize, sequence: &'a Sequence) -> Self {
        let ticks = sequence.frames().map(|reference| reference.ticks);
        let ticks = ticks.map(|ticks| (ticks > 0).then_some(u64::from(ticks)));
        let ticks: Option<u64> = ticks.sum();
        Self {
            index,
            name: &sequence.name,
            offset: sequence.offset,
            frames: sequence.len(),
            loops: sequence.loops(),
            loop_word: sequence.loop_word,
            unknown_4: sequence.unknown_4,
            seconds: ticks.map(|ticks| ticks as f64 / f64::from(TICKS_PER_SECOND)),
        }
    }
}

fn info(shown: &Shown<Gaf>, out: &mut dyn Write) -> io::Result<()> {
    let gaf = &shown.asset;
    let (warnings, key_unused) = checked(gaf);
    let head = Head {
        key_unused: Some(key_unused),
        warnings: warnings.texts(),
        ..Head::new(gaf, &shown.colors.source)
    };
    json::write_pretty(&head, out)
}

fn page(shown: &Shown<Gaf>, out: &mut dyn Write) -> io::Result<()> {
    let gaf = &shown.asset;
    let mut page = Summary::new("GAF sprites");
    page.list("sequences", gaf.sequences.iter().map(|one| &one.name));
    let frames = gaf.sequences.iter().map(Sequence::len);
    page.line("frames", frames.sum::<usize>());
    page.line("palette", &shown.colors.source);
    page.write(&gaf.warnings, out)
}

/// Columns of `frames.tsv`.
const COLUMNS: [&str; 15] = [
    "sequence",
    "name",
    "frame",
    "width",
    "height",
    "x",
    "y",
    "ticks",
    "format",
    "layers",
    "key",
    "offset",
    "unknown_12",
    "unknown_20",
    "problem",
];

fn frames(shown: &Shown<Gaf>, out: &mut dyn Write) -> io::Result<()> {
    let gaf = &shown.asset;
    let mut table = Table::new(out, &COLUMNS)?;
    for (index, sequence) in gaf.sequences.iter().enumerate() {
        for (number, reference) in sequence.frames().enumerate() {
            table.cell(index).text(&sequence.name).cell(number);
            match gaf.frame(reference) {
                Ok(frame) => {
                    table.cell(frame.width).cell(frame.height);
                    table.cell(frame.x).cell(frame.y).cell(reference.ticks);
                    table.cell(frame.format).cell(frame.layers).cell(frame.key);
                    table.cell(frame.offset).cell(frame.unknown_12);
                    table.cell(frame.unknown_20).cell("");
                }
                Err(error) => {
                    table
                        .cell("")
                        .cell("")
                        .cell("")
                        .cell("")
                        .cell(reference.ticks);
                    table.cell("").cell("").cell("").cell(reference.frame);
                    table.cell("").cell("").text(&error.to_string());
                }
            }
            table.end_row()?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
