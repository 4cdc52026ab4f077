//! The parser's results for the sample PSX files match the known contents.

use std::fs;
use std::io::Read;
use std::path::Path;

use crate::assets::samples::{Sample, damage, rendered, samples};
use crate::shared;
use hpimount_neversoft::psx::{self, Palette, Psx, TextureData};
use serde_json::Value;
use testkit::facts::differences;

const FOLDER: &str = "psx/generated";

#[test]
fn every_known_fact_of_a_sample_is_in_its_info() {
    for sample in samples(FOLDER) {
        if !sample.is_damaged() {
            let view = sample.open();
            let found = sample.differences(rendered(&*view, "info.json").as_bytes());
            assert!(found.is_empty(), "{found:#?}");
        }
    }
}

#[test]
fn damage_is_reported_with_its_offset_and_the_part_before_is_kept() {
    // Each sample is level_v4.psx except for the damage, and is listed with a
    // key that was read despite it.
    let kept = [
        ("bad_chunk_length.psx", "models"),
        ("bad_face_length_zero.psx", "textures"),
        ("bad_magic.psx", "file_size"),
        ("bad_meta_offset.psx", "models"),
        ("bad_model_pointer.psx", "textures"),
        ("bad_object_count.psx", "version"),
        ("bad_truncated.psx", "models"),
    ];
    let damaged = || samples(FOLDER).into_iter().filter(Sample::is_damaged);
    for sample in damaged() {
        let name = sample.name.as_str();
        let (_, kept) = kept.iter().find(|(file, _)| *file == name).unwrap();
        let (error, partial) = sample.damage();
        assert!(error.starts_with(damage(name)), "{name}: {error}");
        assert!(partial.get(kept).is_some(), "{name}: {partial:#}");
    }
    assert!([0, kept.len()].contains(&damaged().count()));
}

#[test]
fn a_partly_read_file_has_the_facts_of_the_whole_one() {
    let samples = samples(FOLDER);
    let sample = |name| samples.iter().find(|sample| sample.name == name);
    let Some(Sample { known: whole, .. }) = sample("level_v4.psx") else {
        return;
    };
    for (name, list) in [
        ("bad_truncated.psx", "models"),
        ("bad_chunk_length.psx", "objects"),
        ("bad_model_pointer.psx", "chunks"),
        ("bad_face_length_zero.psx", "textures"),
    ] {
        let (_, partial) = sample(name).unwrap().damage();
        let mut known = whole[list].clone();
        if list == "models" {
            // Their names follow the chunks.
            for model in known.as_array_mut().unwrap() {
                model["name"] = Value::Null;
            }
        }
        let found = differences(&known, &partial[list]);
        assert!(found.is_empty(), "{name}: {found:#?}");
    }
}

#[test]
fn the_pixels_of_every_texture_can_be_made_from_the_model_alone() {
    let Some(golden) = shared("golden/psx/generated") else {
        return;
    };
    let mut compared = 0;
    for sample in samples(FOLDER) {
        if sample.is_damaged() {
            continue;
        }
        let name = &sample.name;
        let psx = psx::parse(&sample.bytes).unwrap();
        for index in 0..psx.textures.len() {
            let path = golden.join(format!("{name}.tex{index:02}.png"));
            match pixels(&psx, index) {
                Some(pixels) => assert_eq!(pixels, png_rows(&path), "{}", path.display()),
                None => assert!(!path.exists(), "{}", path.display()),
            }
            compared += usize::from(path.exists());
        }
    }
    assert_eq!(compared, 17);
}

/// Returns red, green, blue and opacity of every pixel of a texture, if its
/// palette is in the file.
fn pixels(psx: &Psx, index: usize) -> Option<Vec<[u8; 4]>> {
    let texture = &psx.textures[index];
    let palette = &psx.palettes[texture.palette_index?];
    let TextureData::Indexed {
        bits,
        row_size,
        rows,
    } = &texture.data
    else {
        return None;
    };
    let rgba = |color: u16| {
        let part = |shift: u16| {
            let five = ((color >> shift) & 31) as u8;
            five << 3 | five >> 2
        };
        match Palette::is_transparent(color) {
            true => [0; 4],
            false => [part(0), part(5), part(10), 255],
        }
    };
    let mut pixels = Vec::new();
    for row in rows.chunks(*row_size) {
        for x in 0..usize::from(texture.width) {
            let number = match bits {
                4 => row[x / 2] >> (4 * (x % 2)) & 15,
                _ => row[x],
            };
            pixels.push(rgba(palette.colors[usize::from(number)]));
        }
    }
    Some(pixels)
}

/// Returns the pixels of a PNG with 8-bit RGBA and no row filters.
fn png_rows(path: &Path) -> Vec<[u8; 4]> {
    let bytes = fs::read(path).unwrap();
    let number = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
    let width = number(16);
    let mut packed = Vec::new();
    let mut at = 8;
    while at < bytes.len() {
        let length = number(at);
        if &bytes[at + 4..at + 8] == b"IDAT" {
            packed.extend(&bytes[at + 8..at + 8 + length]);
        }
        at += 12 + length;
    }
    let mut rows = Vec::new();
    flate2::read::ZlibDecoder::new(&packed[..])
        .read_to_end(&mut rows)
        .unwrap();
    let mut pixels = Vec::new();
    for row in rows.chunks(1 + 4 * width) {
        assert_eq!(row[0], 0, "a row with a filter");
        pixels.extend_from_slice(row[1..].as_chunks().0);
    }
    pixels
}
