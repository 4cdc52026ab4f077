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
            if let Some(decoded) = sound.get_mut("sound") {
                let known = decoded.as_object_mut().unwrap().remove("pcm_sha256");
                let ours = samples_sha256(&file(&*view, &name));
                assert_eq!(Some(ours.into()), known, "{}: {name}", sample.name);
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
