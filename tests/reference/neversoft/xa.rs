//! XA and STR.

use hpimount_assets::model::png;
use serde_json::{Value, json};

use super::samples::{Sample, file, flatten_sound, samples, samples_sha256};
use crate::shared;

/// Largest difference of a color from the known one: decoders differ in the
/// rounding of the transformation.
const TOLERANCE: u8 = 8;

/// Removes the digests of the sounds of a sample from its facts, and compares
/// them.
fn compare_sounds(sample: &mut Sample, open: &dyn Fn(&str) -> Vec<u8>) {
    for stream in sample.known["streams"].as_array_mut().unwrap() {
        let name = stream["name"].as_str().unwrap().to_owned();
        let stream = stream.as_object_mut().unwrap();
        let ends = stream.remove("ends").unwrap();
        let ends = ends.as_array().unwrap();
        stream.insert("has_end".into(), (!ends.is_empty()).into());
        let known = flatten_sound(stream);
        // Sounds with blocks alone have loops.
        assert_eq!(stream.remove("loop"), Some(Value::Null));
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
        compare_sounds(&mut sample, &|name| file(&*view, name));
        sample.assert_facts(&*view);
    }
}

#[test]
fn every_movie_has_the_known_facts_sounds_and_picture() {
    let folders = ["str", "foreign"].map(|folder| samples(folder, &["str"]));
    for mut sample in folders.into_iter().flatten() {
        let Some(view) = sample.whole() else { continue };
        let facts = sample.known.as_object_mut().unwrap();
        let sounds = facts.remove("sound").unwrap_or_else(|| json!([]));
        facts.insert("streams".into(), sounds);
        compare_sounds(&mut sample, &|name| file(&*view, name));
        let mut problem = None;
        if let Some(frame) = sample.known.get_mut("frame") {
            let frame = frame.as_object_mut().unwrap();
            frame.remove("sha256");
            let quantizer = frame.remove("quantiser").unwrap();
            frame.insert("quantizer".into(), quantizer);
            problem = frame.remove("error");
            if problem.is_none() {
                compare_pictures(&sample.name, &file(&*view, "frame.png"));
            } else {
                assert!(view.position(&|file| file.name == "frame.png").is_none());
            }
        }
        let ours: Value = serde_json::from_slice(&file(&*view, "info.json")).unwrap();
        let warnings = ours["warnings"].as_array().unwrap().iter();
        let warnings = warnings.map(|warning| warning.as_str().unwrap());
        let (not_shown, mut others): (Vec<_>, Vec<_>) =
            warnings.partition(|text| text.starts_with("frame.png is not shown: "));
        // The error of the picture is such a warning, with another wording.
        let expected = usize::from(problem.is_some());
        assert_eq!(not_shown.len(), expected, "{}: {not_shown:?}", sample.name);
        // Warnings about the sound are ours alone.
        others.retain(|text| text.contains("coding") || text.contains("last sector"));
        let quirks = sample.known["quirks"].as_array_mut().unwrap();
        quirks.extend(problem);
        quirks.extend(others.into_iter().map(Value::from));
        sample.assert_facts(&*view);
    }
}
