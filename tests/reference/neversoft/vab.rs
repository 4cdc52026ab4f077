//! VAB.

use super::samples::{file, samples, samples_sha256};
use serde_json::{Value, json};

#[test]
fn every_bank_has_the_known_facts_and_sounds() {
    for mut sample in samples("vab", &["vab", "vh"]) {
        let Some(view) = sample.whole() else { continue };
        // Ours are warnings of the bank, too.
        let mut problems = Vec::new();
        for sound in sample.known["sounds"].as_array_mut().unwrap() {
            let name = format!("{:03}.wav", sound["index"].as_u64().unwrap());
            let sound = sound.as_object_mut().unwrap();
            problems.extend(sound.remove("error").or(sound.remove("quirks")));
            let Some(mut decoded) = sound.remove("sound") else {
                continue;
            };
            let known = decoded["pcm_sha256"].take();
            let ours: Value = samples_sha256(&file(&*view, &name)).into();
            assert_eq!(ours, known, "{}: {name}", sample.name);
            for property in ["rate", "samples"] {
                sound.insert(property.to_owned(), decoded[property].take());
            }
            for (name, end) in [("loop_start", 0), ("loop_end", 1)] {
                sound.insert(name.to_owned(), decoded["loop"][end].clone());
            }
        }
        let quirks = sample.known["quirks"].as_array_mut().unwrap();
        quirks.extend(problems);
        // The independent reader does not count a first size as a sound.
        let first = |quirk: &Value| {
            quirk
                .as_str()
                .is_some_and(|text| text.starts_with("entry 0"))
        };
        if let Some(at) = quirks.iter().position(first) {
            quirks.remove(at);
            let sounds = sample.known["sounds"].as_array_mut().unwrap();
            sounds.insert(0, json!({ "index": 0, "size": 32 }));
        }
        sample.assert_facts(&*view);
    }
}
