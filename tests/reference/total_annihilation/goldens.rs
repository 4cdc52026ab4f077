//! Total Annihilation's parsers and independent readers have the same results
//! for every sample.
//!
//! The manifest of the samples lists which are read (`ok`), read with a warning
//! (`odd`), have a lost frame (`bad-frame`), or are refused (`bad`). Known
//! contents are compared field by field and pixel by pixel. The independent
//! readers count irregularities as `notes`; here they are warnings.

use crate::total_annihilation::known;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::shared;
use crate::total_annihilation::known::{Facts, read};
use bytes::Bytes;
use serde_json::Value;

/// The manifest's entry for a sample.
struct Sample {
    name: String,
    expect: String,
    bytes: Bytes,
}

fn samples() -> Vec<Sample> {
    let Some(folder) = shared("samples/ta") else {
        return Vec::new();
    };
    let manifest = fs::read(folder.join("manifest.json")).unwrap();
    let manifest: BTreeMap<String, Value> = serde_json::from_slice(&manifest).unwrap();
    assert!(manifest.len() >= 100, "{} samples", manifest.len());
    let sample = |(name, entry): (String, Value)| Sample {
        expect: entry["expect"].as_str().unwrap().to_owned(),
        bytes: fs::read(folder.join(&name)).unwrap().into(),
        name,
    };
    manifest.into_iter().map(sample).collect()
}

fn golden(name: &str, suffix: &str) -> Option<PathBuf> {
    let path = shared("golden/ta")?.join(format!("{name}{suffix}"));
    path.exists().then_some(path)
}

/// Asserts that the facts about a sample match the known ones.
fn check(name: &str, mut known: Value, facts: &Facts) {
    known.as_object_mut().unwrap().remove("notes");
    let mut ours = facts.json.clone();
    for field in known::not_compared(name) {
        known.as_object_mut().unwrap().remove(*field);
        ours.as_object_mut().unwrap().remove(*field);
    }
    known::adapt(name, &mut known);
    assert_eq!(ours, known, "{name}");
}

#[test]
fn every_sample_is_read_as_expected() {
    for sample in samples() {
        let name = &sample.name;
        match (sample.expect.as_str(), read(name, &sample.bytes)) {
            ("ok", Ok(facts)) => assert!(!facts.is_odd, "{name} is odd"),
            ("odd", Ok(facts)) => {
                let is_healthy = known::HEALTHY.contains(&name.as_str());
                assert_ne!(facts.is_odd, is_healthy, "{name}");
            }
            ("bad-frame", Ok(facts)) => assert!(facts.lost_frames > 0, "{name} is complete"),
            ("bad", Err(error)) => assert!(error.contains("0x"), "{name}: {error}"),
            (expected, Ok(_)) => panic!("{name} should be {expected} and is read"),
            (expected, Err(error)) => panic!("{name} should be {expected}: {error}"),
        }
    }
}

#[test]
fn the_facts_of_every_sample_are_the_known_ones() {
    let mut compared = 0;
    for sample in samples() {
        let Some(path) = golden(&sample.name, ".json") else {
            continue;
        };
        let known: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
        match (known.get("error"), read(&sample.name, &sample.bytes)) {
            (None, Ok(facts)) => check(&sample.name, known, &facts),
            (Some(_), Err(_)) => {}
            (_, other) => panic!("{}: {:?}", sample.name, other.err()),
        }
        compared += 1;
    }
    assert!(compared == 0 || compared > 45, "{compared} were compared");
}

#[test]
fn the_pixels_of_every_sample_are_the_known_ones() {
    let mut compared = 0;
    for sample in samples() {
        let Ok(facts) = read(&sample.name, &sample.bytes) else {
            continue;
        };
        for (suffix, picture) in &facts.pictures {
            let Some(path) = golden(&sample.name, suffix) else {
                // Only samples that are read completely have goldens.
                assert!(sample.name.contains("/bad/"), "{}{suffix}", sample.name);
                continue;
            };
            assert!(*picture == decoded(&path), "{}{suffix}", sample.name);
            compared += 1;
        }
    }
    let goldens = shared("golden/ta").map_or(0, |folder| pngs(&folder));
    assert_eq!(compared, goldens, "every golden picture is compared");
}

#[test]
fn the_texts_of_every_sample_are_the_known_ones() {
    let mut compared = 0;
    for sample in samples() {
        let Ok(facts) = read(&sample.name, &sample.bytes) else {
            continue;
        };
        for (suffix, text) in &facts.texts {
            let Some(path) = golden(&sample.name, suffix) else {
                assert!(sample.name.contains("/bad/"), "{}{suffix}", sample.name);
                continue;
            };
            let known = fs::read_to_string(path).unwrap();
            let known = known::adapt_text(&known);
            assert_eq!(*text, known, "{}{suffix}", sample.name);
            compared += 1;
        }
    }
    assert!(compared == 0 || compared >= 13, "{compared} were compared");
}

/// Returns a picture as the independent readers wrote it: the bytes of its
/// pixels and of its palette.
fn decoded(path: &Path) -> known::Picture {
    let decoder = png::Decoder::new(std::io::BufReader::new(fs::File::open(path).unwrap()));
    let mut reader = decoder.read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    reader.next_frame(&mut pixels).unwrap();
    let info = reader.info();
    known::Picture {
        size: (info.width, info.height),
        pixels,
        palette: info.palette.as_ref().map(|palette| palette.to_vec()),
    }
}

/// Returns the number of PNG files in a folder and its subfolders.
fn pngs(folder: &Path) -> usize {
    let entries = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let counts = entries.map(|path| match path.is_dir() {
        true => pngs(&path),
        false => usize::from(path.extension().is_some_and(|extension| extension == "png")),
    });
    counts.sum()
}
