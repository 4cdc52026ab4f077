//! XA and STR.

use hpimount_assets::model::png;
use serde_json::Value;

use super::samples::{Sample, file, samples, samples_sha256};
use crate::shared;

/// Largest difference of a color from the known one: decoders differ in the
/// rounding of the transformation.
const TOLERANCE: u8 = 8;

/// Removes the digests of the sounds of a sample from its facts, and compares
/// them.
fn compare_sounds(sample: &mut Sample, list: &str, open: &dyn Fn(&str) -> Vec<u8>) {
    let Some(streams) = sample.known.get_mut(list) else {
        return;
    };
    for stream in streams.as_array_mut().unwrap() {
        let name = stream["name"].as_str().unwrap().to_owned();
        let stream = stream.as_object_mut().unwrap();
        let ends = stream.remove("ends").unwrap();
        let ends = ends.as_array().unwrap();
        stream.insert("has_end".into(), (!ends.is_empty()).into());
        let sound = stream["sound"].as_object_mut().unwrap();
        let known = sound.remove("pcm_sha256").unwrap();
        let ours = samples_sha256(&open(&name));
        assert_eq!(Value::from(ours), known, "{}: {name}", sample.name);
    }
}

/// Asserts that a picture is close to the known one.
fn compare_pictures(name: &str, ours: &[u8]) {
    let folder = shared("golden/neversoft").expect("the samples are there");
    let known = ["str", "foreign"]
        .iter()
        .find_map(|kind| std::fs::read(folder.join(format!("{kind}/{name}.frame.png"))).ok());
    let read = |bytes: &[u8]| {
        let picture = png::read(bytes, 1 << 24).unwrap();
        (picture.width, picture.height, picture.rgba())
    };
    let (width, height, known) = read(&known.unwrap_or_else(|| panic!("no picture of {name}")));
    let (our_width, our_height, ours) = read(ours);
    assert_eq!((our_width, our_height), (width, height), "{name}");
    let parts = known.as_flattened().iter().zip(ours.as_flattened());
    let most = parts.map(|(known, ours)| known.abs_diff(*ours)).max();
    assert!(most.unwrap() <= TOLERANCE, "{name}: {most:?}");
}

#[test]
fn every_sound_has_the_known_facts_and_samples() {
    let folders = ["xa", "foreign"].map(|folder| samples(folder, &["xa"]));
    for mut sample in folders.into_iter().flatten() {
        let Some(view) = sample.whole() else { continue };
        if sample.name == "quirk_end_inside.xa" {
            // The independent reader does not divide sounds at their ends.
            let names = ["001_00-01.wav", "001_00-02.wav"];
            let sounds = names.map(|name| (file(&*view, name).len() - 44) / 2);
            assert_eq!(sounds, [4032; 2]);
            continue;
        }
        compare_sounds(&mut sample, "streams", &|name| file(&*view, name));
        sample.assert_facts(&*view);
    }
}

#[test]
fn every_movie_has_the_known_facts_sounds_and_picture() {
    let folders = ["str", "foreign"].map(|folder| samples(folder, &["str"]));
    for mut sample in folders.into_iter().flatten() {
        let Some(view) = sample.whole() else { continue };
        compare_sounds(&mut sample, "sound", &|name| file(&*view, name));
        if let Some(frame) = sample.known.get_mut("frame") {
            let frame = frame.as_object_mut().unwrap();
            frame.remove("sha256");
            let quantizer = frame.remove("quantiser").unwrap();
            frame.insert("quantizer".into(), quantizer);
            // Ours has other words.
            if frame.remove("error").is_none() {
                compare_pictures(&sample.name, &file(&*view, "frame.png"));
            } else {
                assert!(view.position(&|file| file.name == "frame.png").is_none());
            }
        }
        // Warnings about the sound are ours alone.
        let quirks = sample.known["quirks"].as_array_mut().unwrap();
        let ours: Value = serde_json::from_slice(&file(&*view, "info.json")).unwrap();
        let warnings = ours["warnings"].as_array().unwrap().iter();
        let about_sound = |warning: &&Value| {
            let text = warning.as_str().unwrap();
            text.contains("coding") || text.contains("last sector")
        };
        quirks.extend(warnings.filter(about_sound).cloned());
        sample.assert_facts(&*view);
    }
}
