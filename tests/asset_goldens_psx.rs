//! What is found in the sample PSX files is what is known about them.

mod support;

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use hpimount::asset::psx::{self, Palette, Psx, TextureData};
use hpimount::io::Error;
use hpimount::view::{Failure, VIEW_FORMATS, View};
use serde_json::Value;
use support::facts::differences;
use support::shared;

fn open(bytes: &[u8]) -> Result<Box<dyn View>, Box<Failure>> {
    let format = VIEW_FORMATS
        .iter()
        .find(|format| format.extensions.contains(&"psx"));
    (format.expect("PSX has a view").open)(bytes)
}

fn rendered(view: &dyn View, name: &str) -> Vec<u8> {
    let files = view.files();
    let index = files.iter().position(|file| file.name == name);
    view.render(index.unwrap_or_else(|| panic!("no {name} in {files:?}")))
}

/// The samples, and for each its name and what is known about it.
fn samples() -> Vec<(String, Vec<u8>, Value)> {
    let (Some(samples), Some(golden)) = (
        shared("samples/psx/generated"),
        shared("golden/psx/generated"),
    ) else {
        return Vec::new();
    };
    let mut paths: Vec<PathBuf> = fs::read_dir(samples)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    assert!(!paths.is_empty());
    let sample = |path: PathBuf| {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let known = fs::read(golden.join(format!("{name}.json"))).unwrap();
        let known = serde_json::from_slice(&known).unwrap();
        (name, fs::read(path).unwrap(), known)
    };
    paths.into_iter().map(sample).collect()
}

#[test]
fn every_known_fact_of_a_sample_is_in_its_info() {
    for (name, bytes, known) in samples() {
        if known.get("error").is_some() {
            continue;
        }
        // The known facts have an object's `flags` and `inquiry` as one
        // 32-bit number; `inquiry` is 0 in all samples, so that they are
        // equal all the same. Nothing else is meant differently.
        let view = open(&bytes).unwrap_or_else(|failure| panic!("{name}: {}", failure.error));
        let info = rendered(view.as_ref(), "info.json");
        let info: Value = serde_json::from_slice(&info).unwrap();
        let found = differences(&known, &info);
        assert!(found.is_empty(), "{name}: {found:#?}");
    }
}

#[test]
fn a_damaged_sample_says_where_and_keeps_what_was_read() {
    // Each offset is that of the bytes in which the sample differs from
    // level_v4.psx: the length of the first chunk, of the first face, and so
    // on. The third column is a list that was read in spite of the damage.
    let known_errors = [
        (
            "bad_chunk_length.psx",
            "chunk 73424752: length at 0x25c: is ",
            "models",
        ),
        (
            "bad_face_length_zero.psx",
            "model 0: face 0: length at 0x112: is 0",
            "textures",
        ),
        ("bad_magic.psx", "magic at 0x0: ", ""),
        (
            "bad_meta_offset.psx",
            "meta at 0x4: points to 0xae0",
            "models",
        ),
        (
            "bad_model_pointer.psx",
            "model 0: pointer at 0x7c: points to 0xfffffff0",
            "textures",
        ),
        (
            "bad_object_count.psx",
            "nobj at 0x8: 2147483647 items",
            "version",
        ),
        (
            "bad_truncated.psx",
            "chunk 73424752: length at 0x25c: is ",
            "models",
        ),
    ];
    let damaged: Vec<_> = samples()
        .into_iter()
        .filter(|(_, _, known)| known.get("error").is_some())
        .collect();
    for (name, bytes, _) in &damaged {
        let known = known_errors.iter().find(|(file, ..)| file == name);
        let (_, text, kept) = known.unwrap_or_else(|| panic!("{name} is new"));
        let Failure { error, partial } = *open(bytes).err().expect("a damaged file");
        assert!(matches!(error, Error::Damaged { .. }), "{name}: {error:?}");
        assert!(error.to_string().starts_with(text), "{name}: {error}");
        if kept.is_empty() {
            assert_eq!(partial, serde_json::json!({}), "{name}");
        } else {
            assert!(partial.get(kept).is_some(), "{name}: {partial:#}");
        }
    }
    if !damaged.is_empty() {
        assert_eq!(damaged.len(), known_errors.len());
    }
}

#[test]
fn a_half_read_file_has_the_facts_of_the_whole_one() {
    let samples = samples();
    let Some((_, _, whole)) = samples.iter().find(|(name, ..)| name == "level_v4.psx") else {
        return;
    };
    for (name, list) in [
        ("bad_truncated.psx", "models"),
        ("bad_chunk_length.psx", "objects"),
        ("bad_model_pointer.psx", "chunks"),
        ("bad_face_length_zero.psx", "textures"),
    ] {
        let (_, bytes, _) = samples.iter().find(|(file, ..)| file == name).unwrap();
        let partial = open(bytes).err().unwrap().partial;
        let mut known = whole[list].clone();
        if list == "models" {
            // Their names stand behind the chunks.
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
    for (name, bytes, known) in samples() {
        if known.get("error").is_some() {
            continue;
        }
        let psx = psx::parse(&bytes).unwrap();
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

/// Red, green, blue and opacity of every pixel of a texture, where its palette
/// is in the file.
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
    let rgba = |colour: u16| {
        let part = |shift: u16| {
            let five = ((colour >> shift) & 31) as u8;
            five << 3 | five >> 2
        };
        match Palette::is_transparent(colour) {
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
            pixels.push(rgba(palette.colours[usize::from(number)]));
        }
    }
    Some(pixels)
}

/// The pixels of a PNG with 8-bit RGBA and no row filters.
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
