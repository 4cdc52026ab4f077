//! KAT and SFX.

use super::samples::{file, samples, samples_sha256};
use serde_json::Value;

#[test]
fn every_bank_of_the_dreamcast_has_the_known_facts_and_sounds() {
    for mut sample in samples("kat", &["kat"]) {
        let Some(view) = sample.whole() else { continue };
        // Ours are warnings of the bank, too.
        let mut problems = Vec::new();
        let known = sample.known.as_object_mut().unwrap();
        let Some(mut entries) = known.remove("entries") else {
            // The known facts of the largest sample are cut off.
            continue;
        };
        for entry in entries.as_array_mut().unwrap() {
            let name = format!("{:03}.wav", entry["index"].as_u64().unwrap());
            let entry = entry.as_object_mut().unwrap();
            problems.extend(entry.remove("error"));
            if let Some(mut decoded) = entry.remove("sound") {
                let ours: Value = samples_sha256(&file(&*view, &name)).into();
                assert_eq!(ours, decoded["pcm_sha256"], "{}: {name}", sample.name);
                entry.insert("samples".to_owned(), decoded["samples"].take());
            }
        }
        known.insert("sounds".to_owned(), entries);
        let quirks = sample.known["quirks"].as_array_mut().unwrap();
        quirks.extend(problems);
        sample.assert_facts(&*view);
    }
}

#[test]
fn every_table_of_cues_has_the_known_facts() {
    for sample in samples("kat", &["sfx"]) {
        if let Some(view) = sample.whole() {
            sample.assert_facts(&*view);
        }
    }
}
