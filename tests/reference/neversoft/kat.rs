//! KAT and SFX.

use super::samples::{file, samples, samples_sha256};

#[test]
fn every_bank_of_the_dreamcast_has_the_known_facts_and_sounds() {
    for mut sample in samples("kat", &["kat"]) {
        let Some(view) = sample.whole() else { continue };
        // Ours are warnings of the bank, too.
        let mut problems = Vec::new();
        let entries = sample.known.get_mut("entries");
        if entries.is_none() {
            // The known facts of the largest sample are cut off.
            continue;
        }
        for entry in entries.unwrap().as_array_mut().unwrap() {
            let name = format!("{:03}.wav", entry["index"].as_u64().unwrap());
            let entry = entry.as_object_mut().unwrap();
            problems.extend(entry.remove("error"));
            if let Some(decoded) = entry.get_mut("sound") {
                let known = decoded.as_object_mut().unwrap().remove("pcm_sha256");
                let ours = samples_sha256(&file(&*view, &name));
                assert_eq!(Some(ours.into()), known, "{}: {name}", sample.name);
            }
        }
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
