//! Pixels as they are stored in frames.

use std::io::Write;

use flate2::Compression;
use flate2::write::ZlibEncoder;

use crate::gaf::{Indexed, PixelFormat};
use crate::pal::colors::Colors;
use hpimount_assets::model::palette::Palettized;

/// Maximum lengths of a skipped run, and of another run, in pixels.
const MAX_SKIPPED: usize = 127;
const MAX_RUN: usize = 64;

/// Minimum length of a run of equal pixels for a code of its own.
const WORTH_A_RUN: usize = 3;

/// Minimum alpha of an opaque pixel in formats without alpha.
const OPAQUE: u8 = 128;

/// Encodes the pixels of a picture. If the size is unchanged, a pixel with an unchanged
/// color keeps its index in `old`.
pub(super) fn encoded(
    format: PixelFormat,
    key: u8,
    (width, pixels): (u16, &[[u8; 4]]),
    old: Option<&Indexed>,
    colors: &Colors,
    warnings: &mut Vec<String>,
) -> Result<Vec<u8>, String> {
    Ok(match format {
        PixelFormat::Raw => indexed(true, key, pixels, old, colors, warnings).0,
        PixelFormat::Rle => {
            let (indices, mask) = indexed(false, key, pixels, old, colors, warnings);
            rows(&indices, &mask, width.into())?
        }
        PixelFormat::Argb4444 => words(pixels, argb4444),
        PixelFormat::Argb1555 => words(pixels, argb1555),
        PixelFormat::Packed => packed(pixels, key != 0)?,
    })
}

/// Returns the palette index of each pixel, and whether it is opaque.
fn indexed(
    is_raw: bool,
    key: u8,
    pixels: &[[u8; 4]],
    old: Option<&Indexed>,
    colors: &Colors,
    warnings: &mut Vec<String>,
) -> (Vec<u8>, Vec<bool>) {
    let opaque = colors.palette.opaque();
    // Raw pixels equal to the key are transparent; pixels in runs are not.
    let mut palettized = Palettized::new(&opaque, is_raw.then_some(key.into()));
    let mut blurred = 0_usize;
    let index = |(at, &[r, g, b, alpha]): (usize, &[u8; 4])| {
        blurred += usize::from(!matches!(alpha, 0 | 255));
        if alpha < OPAQUE {
            return (key, false);
        }
        let old = old.and_then(|old| old.indices.get(at));
        let old = old.map_or(u16::MAX, |&old| old.into());
        // There are 256 colors.
        (palettized.index([r, g, b, 255], old) as u8, true)
    };
    let indexed = pixels.iter().enumerate().map(index).unzip();
    warnings.extend(palettized.warning());
    if blurred > 0 {
        let text = format!("{blurred} pixels are partly transparent: they become opaque or vanish");
        warnings.push(text);
    }
    indexed
}

/// Returns the rows of runs of a frame, each preceded by its length.
pub(super) fn rows(indices: &[u8], mask: &[bool], width: usize) -> Result<Vec<u8>, String> {
    let mut data = Vec::new();
    let masks = mask.chunks_exact(width);
    for (indices, mask) in indices.chunks_exact(width).zip(masks) {
        let mut row = Vec::new();
        let mut at = 0;
        for same in mask.chunk_by(|a, b| a == b) {
            let indices = &indices[at..at + same.len()];
            match same[0] {
                false => {
                    let skipped = indices.chunks(MAX_SKIPPED);
                    row.extend(skipped.map(|skipped| (skipped.len() as u8) << 1 | 1));
                }
                true => runs(indices, &mut row),
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

/// Returns the nearest pixel with 4 bits per channel.
fn argb4444(pixel: [u8; 4]) -> u16 {
    let [r, g, b, a] = pixel.map(|part| (u16::from(part) + 8) / 17);
    a << 12 | r << 8 | g << 4 | b
}

/// Returns the nearest pixel with 5 bits per color.
fn argb1555([r, g, b, a]: [u8; 4]) -> u16 {
    let [r, g, b] = [r, g, b].map(|part| (u16::from(part) * 31 + 127) / 255);
    u16::from(a >= OPAQUE) << 15 | r << 10 | g << 5 | b
}

/// Encodes packed colors: the length of a zlib stream, and the stream.
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
