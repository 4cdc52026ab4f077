//! DDM and DDX.

use super::samples::{file, files, samples, sha256};
use serde_json::{Value, json};
use testkit::facts::differences;

#[test]
fn every_model_of_a_level_has_the_known_facts() {
    for mut sample in samples("ddm", &["ddm"]) {
        let Some(view) = sample.whole() else { continue };
        let mut problems = 0;
        for object in sample.known["objects"].as_array_mut().unwrap() {
            let object = object.as_object_mut().unwrap();
            // Ours has other words, which are a warning of the file, too.
            problems += usize::from(object.remove("error").is_some());
            let renamed = [
                ("centre", "center"),
                ("vertices", "vertex_count"),
                ("indices", "index_count"),
            ];
            for (known, ours) in renamed {
                if let Some(value) = object.remove(known) {
                    object.insert(ours.into(), value);
                }
            }
            if let Some(flags) = object.get_mut("flags") {
                *flags = format!("0x{:08X}", flags.as_u64().unwrap()).into();
            }
            let splits = object.get_mut("splits").and_then(Value::as_array_mut);
            for split in splits.into_iter().flatten() {
                *split = json!({ "material": split[0], "first": split[1], "count": split[2] });
            }
        }
        let quirks = sample.known["quirks"].as_array_mut().unwrap();
        quirks.extend(vec![Value::Null; problems]);
        sample.assert_facts(&*view);
    }
}

#[test]
fn every_texture_of_a_level_has_the_known_facts_and_bytes() {
    for mut sample in samples("ddm", &["ddx"]) {
        let Some(view) = sample.whole() else { continue };
        let ours: Value = serde_json::from_slice(&file(&*view, "info.json")).unwrap();
        let mut known = Vec::new();
        let mut pictures = 0;
        for entry in sample.known["entries"].as_array_mut().unwrap() {
            let entry = entry.as_object_mut().unwrap();
            entry.remove("error");
            let digest = entry.remove("sha256");
            if entry.get("dds").is_some() {
                known.extend(digest);
                pictures += 1;
            }
        }
        sample.known.as_object_mut().unwrap().remove("quirks");
        let found = differences(&sample.known, &ours);
        assert!(found.is_empty(), "{}: {found:#?}", sample.name);
        let stored = files(&*view, ".dds");
        let ours: Vec<_> = stored.iter().map(|dds| Value::from(sha256(dds))).collect();
        assert_eq!(ours, known, "{}", sample.name);
        assert_eq!(files(&*view, ".png").len(), pictures, "{}", sample.name);
    }
}
