//! Edited frames as GAF: size, origin, key and format stay.
//!
//! The pixels of a changed frame are appended to the file, since several frames
//! may share bytes, and only the frame's pointer changes. So everything else
//! stays where it is.

use std::io::Write;

use flate2::Compression;
use flate2::write::ZlibEncoder;

use crate::gaf::names::frame_of;
use crate::gaf::{self, Frame, Gaf, Indexed, PixelFormat, Pixels, export};
use crate::pal::colors::Colors;
use hpimount_assets::model::palette::Palettized;
use hpimount_assets::model::quality;
use hpimount_assets::view::import::{self, Changed, Edit, Imported, NOT_THIS_FILE};

/// Offset in a frame of the pointer to its pixels.
const DATA: usize = 16;

/// Maximum number of pixels of a skipped run, and of another one.
const MAX_SKIPPED: usize = 127;
const MAX_RUN: usize = 64;

/// Runs of equal pixels that are worth a code of their own.
const WORTH_A_RUN: usize = 3;

/// Least alpha of an opaque pixel, in formats that have no alpha.
const OPAQUE: u8 = 128;

/// Encodes an edited frame.
///
/// # Errors
/// Returns why the picture does not fit.
pub(super) fn import(edit: &Edit<'_>) -> Result<Imported, String> {
    let gaf = gaf::parse(edit.asset).map_err(|incomplete| incomplete.error.to_string())?;
    let Some(reference) = frame_of(&gaf, edit.part) else {
        let reason = "edit the frames, which are pictures of their own in the directory";
        return Err(format!("{NOT_THIS_FILE}: {reason}"));
    };
    let frame = gaf.frame(reference).map_err(|error| error.to_string())?;
    let edited = import::picture(edit.file, (frame.width.into(), frame.height.into()))?.rgba();
    let colors = Colors::of_sprite(edit.context);
    let shown = |gaf: &Gaf, frame: &Frame| {
        let decoded = gaf.decode(frame);
        let picture = decoded.unwrap_or_else(|incomplete| incomplete.model);
        export::sprite(picture, &colors.palette).map(|picture| picture.rgba())
    };
    if shown(&gaf, &frame).is_some_and(|shown| shown == edited) {
        return Ok(Imported::Unchanged);
    }
    let Some(format) = frame.pixel_format() else {
        let layers = frame.layers;
        return Err(format!(
            "shows a frame of {layers} layers, which no picture of the whole can replace"
        ));
    };
    let mut changed = Changed::default();
    let data = match format {
        PixelFormat::Raw | PixelFormat::Rle => {
            let indexed = indexed(&gaf, &frame, &edited, &colors, &mut changed.warnings);
            match format {
                PixelFormat::Rle => rows(&indexed, frame.width.into())?,
                _ => indexed.indices,
            }
        }
        PixelFormat::Argb4444 => words(&edited, argb4444),
        PixelFormat::Argb1555 => words(&edited, argb1555),
        PixelFormat::Packed => packed(&edited, frame.key != 0)?,
    };
    changed.asset = with_pixels(edit.asset, &frame, &data)?;
    let users = gaf.sequences.iter().flat_map(gaf::Sequence::frames);
    let users = users.filter(|other| other.frame == reference.frame).count();
    if users > 1 {
        let text = format!("the frame is shown in {users} places, and changes in all of them");
        changed.warnings.push(text);
    }
    let overlap = "shows a file whose parts overlap";
    let encoded = gaf::parse(&changed.asset.clone().into()).map_err(|_| overlap)?;
    let after = frame_of(&encoded, edit.part).and_then(|reference| encoded.frame(reference).ok());
    let after = after.and_then(|frame| shown(&encoded, &frame));
    let after = after
        .filter(|after| after.len() == edited.len())
        .ok_or(overlap)?;
    if format.is_true_color() {
        changed.quality = quality::of_pixels(&edited, &after);
    }
    Ok(Imported::Changed(changed))
}

/// Returns the file with new pixels of a frame, at its end.
fn with_pixels(file: &[u8], frame: &Frame, data: &[u8]) -> Result<Vec<u8>, String> {
    let too_large = |_| "makes the file larger than 4 GiB".to_owned();
    let at = u32::try_from(file.len()).map_err(too_large)?;
    let mut asset = Vec::with_capacity(file.len() + data.len());
    asset.extend_from_slice(file);
    let pointer = frame.offset as usize + DATA;
    let pointer = asset.get_mut(pointer..pointer + 4);
    let pointer = pointer.ok_or("shows a frame that is not in the file")?;
    pointer.copy_from_slice(&at.to_le_bytes());
    asset.extend_from_slice(data);
    Ok(asset)
}

/// Returns the palette indices of an edited frame.
fn indexed(
    gaf: &Gaf,
    frame: &Frame,
    edited: &[[u8; 4]],
    colors: &Colors,
    warnings: &mut Vec<String>,
) -> Indexed {
    let old = gaf.decode(frame);
    let mut old = match old.unwrap_or_else(|incomplete| incomplete.model).pixels {
        Pixels::Indexed(indexed) => indexed,
        Pixels::Rgba(_) => Indexed::default(),
    };
    let opaque = colors.palette.opaque();
    // Raw pixels with the key are transparent, pixels in runs are not.
    let is_raw = frame.pixel_format() == Some(PixelFormat::Raw);
    let mut palettized = Palettized::new(&opaque, is_raw.then_some(frame.key.into()));
    let pixels = old.indices.iter_mut().zip(&mut old.mask);
    let mut blurred = 0_usize;
    for ((index, mask), &[r, g, b, alpha]) in pixels.zip(edited) {
        blurred += usize::from(!matches!(alpha, 0 | 255));
        if alpha < OPAQUE {
            (*index, *mask) = (frame.key, 0);
            continue;
        }
        // There are 256 colors.
        *index = palettized.index([r, g, b, 255], (*index).into()) as u8;
        *mask = 255;
    }
    warnings.extend(palettized.warning());
    if blurred > 0 {
        let text = format!("{blurred} pixels are partly transparent: they become opaque or vanish");
        warnings.push(text);
    }
    old
}

/// Returns the rows of runs of a frame, each after its length.
fn rows(indexed: &Indexed, width: usize) -> Result<Vec<u8>, String> {
    let mut data = Vec::new();
    let masks = indexed.mask.chunks_exact(width);
    for (indices, mask) in indexed.indices.chunks_exact(width).zip(masks) {
        let mut row = Vec::new();
        let mut at = 0;
        for same in mask.chunk_by(|a, b| a == b) {
            let indices = &indices[at..at + same.len()];
            match same[0] {
                0 => {
                    let skipped = indices.chunks(MAX_SKIPPED);
                    row.extend(skipped.map(|skipped| (skipped.len() as u8) << 1 | 1));
                }
                _ => runs(indices, &mut row),
            }
            at += same.len();
        }
        let too_long = |_| "has too many details in a row for runs".to_owned();
        let length = u16::try_from(row.len()).map_err(too_long)?;
        data.extend_from_slice(&length.to_le_bytes());
        data.extend_from_slice(&row);
    }
    Ok(data)
}

/// Appends the runs of opaque pixels: repeated and copied ones.
fn runs(indices: &[u8], row: &mut Vec<u8>) {
    let mut copied = 0;
    let mut at = 0;
    let copy = |from: usize, to: usize, row: &mut Vec<u8>| {
        for copied in indices[from..to].chunks(MAX_RUN) {
            row.push((copied.len() as u8 - 1) << 2);
            row.extend_from_slice(copied);
        }
    };
    for same in indices.chunk_by(|a, b| a == b) {
        if same.len() >= WORTH_A_RUN {
            copy(copied, at, row);
            for run in same.chunks(MAX_RUN) {
                row.extend_from_slice(&[(run.len() as u8 - 1) << 2 | 2, run[0]]);
            }
            copied = at + same.len();
        }
        at += same.len();
    }
    copy(copied, at, row);
}

fn words(pixels: &[[u8; 4]], word: fn([u8; 4]) -> u16) -> Vec<u8> {
    let words = pixels.iter().map(|&pixel| word(pixel).to_le_bytes());
    words.flatten().collect()
}

/// Returns the nearest pixel with 4 bits for each part.
fn argb4444(pixel: [u8; 4]) -> u16 {
    let [r, g, b, a] = pixel.map(|part| (u16::from(part) + 8) / 17);
    a << 12 | r << 8 | g << 4 | b
}

/// Returns the nearest pixel with 5 bits for each color.
fn argb1555([r, g, b, a]: [u8; 4]) -> u16 {
    let [r, g, b] = [r, g, b].map(|part| (u16::from(part) * 31 + 127) / 255);
    u16::from(a >= OPAQUE) << 15 | r << 10 | g << 5 | b
}

/// Returns packed colors: the length of a zlib stream, and the stream.
fn packed(pixels: &[[u8; 4]], has_alpha: bool) -> Result<Vec<u8>, String> {
    let mut stream = ZlibEncoder::new(Vec::new(), Compression::default());
    let parts = if has_alpha { 4 } else { 3 };
    let bytes: Vec<u8> = pixels
        .iter()
        .flat_map(|pixel| &pixel[..parts])
        .copied()
        .collect();
    let stream = stream.write_all(&bytes).and_then(|()| stream.finish());
    let stream = stream.map_err(|error| error.to_string())?;
    let length = u32::try_from(stream.len()).map_err(|_| "is too large".to_owned())?;
    Ok([&length.to_le_bytes(), &stream[..]].concat())
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixtures::png_of;
    use fixtures::ta::gaf::{self as build, Body, Frame as Built};
    use hpimount_assets::model::png;
    use hpimount_assets::view::import::edited;
    use hpimount_assets::view::rendered;
    use proptest::prelude::*;

    /// Returns a file with two frames of 5 by 4 pixels.
    fn built(format: u8) -> Vec<u8> {
        let pixels: Vec<u8> = (0..20).map(|at| at * 13 % 11).collect();
        let frame = |shift: u8| match format {
            0 => Built::new(
                5,
                4,
                Body::Raw(pixels.iter().map(|at| at + shift).collect()),
            ),
            1 => {
                let pixels = pixels.iter().map(|&at| (at > 3).then_some(at + shift));
                Built::rle(5, 4, &pixels.collect::<Vec<_>>())
            }
            _ => {
                let words = pixels.iter().map(|&at| u16::from(at) << 8 | 0x8F31);
                Built::new(5, 4, Body::TrueColor(format, words.collect()))
            }
        };
        build::file(&[build::sequence("walk", vec![(frame(0), 1), (frame(3), 1)])])
    }

    proptest! {
        #[test]
        fn an_edited_frame_is_shown_and_the_others_are_kept(
            format in prop::sample::select(vec![0_u8, 1, 4, 5]),
            from in 0_usize..20,
            to in 0_usize..20,
        ) {
            let old = built(format);
            let (path, other) = ("000 walk/01.png", "000 walk/00.png");
            let before = rendered(&gaf::FORMAT, &old, path).unwrap();
            prop_assert_eq!(edited(&gaf::FORMAT, &old, path, &before), Ok(Imported::Unchanged));
            let mut pixels = png::read(&before, 100).unwrap().rgba();
            pixels.rotate_left(from);
            pixels[to] = pixels[from];
            let file = png_of(5, 4, pixels.clone());
            if let Imported::Changed(changed) = edited(&gaf::FORMAT, &old, path, &file).unwrap() {
                let after = rendered(&gaf::FORMAT, &changed.asset, path).unwrap();
                prop_assert_eq!(png::read(&after, 100).unwrap().rgba(), pixels);
                prop_assert_eq!(
                    rendered(&gaf::FORMAT, &changed.asset, other).unwrap(),
                    rendered(&gaf::FORMAT, &old, other).unwrap()
                );
                prop_assert_eq!((changed.warnings, changed.quality), (Vec::new(), None));
            }
        }

        #[test]
        fn rows_of_runs_have_the_pixels(
            pixels in prop::collection::vec(prop::option::weighted(0.7, 0_u8..3), 300),
        ) {
            let frame = Built::rle(300, 1, &pixels);
            let old = build::file(&[build::sequence("a", vec![(frame, 0)])]);
            let gaf = gaf::parse(&old.into()).unwrap();
            let frame = gaf.frame(gaf.sequences[0].get(0).unwrap()).unwrap();
            let Pixels::Indexed(indexed) = gaf.decode(&frame).unwrap().pixels else {
                panic!("has palette indices");
            };
            let data = rows(&indexed, 300).unwrap();
            let new = with_pixels(&built(0), &Frame { offset: 0, ..frame }, &data);
            prop_assert!(new.is_ok());
            let file = build::file(&[build::sequence(
                "a",
                vec![(Built::new(300, 1, Body::Rle(vec![data[2..].to_vec()])), 0)],
            )]);
            let gaf = gaf::parse(&file.into()).unwrap();
            let frame = gaf.frame(gaf.sequences[0].get(0).unwrap()).unwrap();
            prop_assert_eq!(gaf.decode(&frame).unwrap().pixels, Pixels::Indexed(indexed));
        }
    }

    #[test]
    fn previews_and_frames_of_layers_are_refused() {
        let layers = Body::Layers(vec![Built::rle(1, 1, &[Some(1)])]);
        let old = build::file(&[build::sequence("a", vec![(Built::new(1, 1, layers), 0)])]);
        let file = png_of(1, 1, vec![[255; 4]]);
        let refused = edited(&gaf::FORMAT, &old, "000 a/00.png", &file).unwrap_err();
        assert!(refused.contains("1 layers"), "{refused}");
        let same = rendered(&gaf::FORMAT, &old, "000 a/00.png").unwrap();
        let unchanged = edited(&gaf::FORMAT, &old, "000 a/00.png", &same);
        assert_eq!(unchanged, Ok(Imported::Unchanged));
        let refused = edited(&gaf::FORMAT, &old, "preview.png", &file).unwrap_err();
        assert!(refused.contains("edit the frames"), "{refused}");
    }

    #[test]
    fn partly_transparent_pixels_are_a_warning() {
        let file = png_of(5, 4, vec![[0, 0, 0, 127]; 20]);
        let new = edited(&gaf::FORMAT, &built(1), "000 walk/00.png", &file).unwrap();
        let Imported::Changed(changed) = new else {
            panic!("is changed");
        };
        let after = rendered(&gaf::FORMAT, &changed.asset, "000 walk/00.png").unwrap();
        assert_eq!(png::read(&after, 20).unwrap().rgba(), [[0; 4]; 20]);
        assert!(changed.warnings[0].starts_with("20 pixels are partly"));
    }
}
