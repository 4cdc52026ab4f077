//! DDM and DDX.

use super::samples::{file, files, samples, sha256};
use serde_json::{Value, json};

#[test]
fn every_model_of_a_level_has_the_known_facts() {
    for mut sample in samples("ddm", &["ddm"]) {
        let Some(view) = sample.whole() else { continue };
        let mut problems = 0;
        for object in sample.known["objects"].as_array_mut().unwrap() {
            let object = object.as_object_mut().unwrap();
            // Ours has another wording, and is a warning of the file, too.
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
        let mut problems = 0;
        let facts = sample.known.as_object_mut().unwrap();
        let mut entries = facts.remove("entries").unwrap();
        for (index, entry) in entries.as_array_mut().unwrap().iter_mut().enumerate() {
            let entry = entry.as_object_mut().unwrap();
            let digest = entry.remove("sha256");
            match entry.remove("dds") {
                Some(Value::Object(dds)) => {
                    known.extend(digest);
                    pictures += 1;
                    entry.extend(dds);
                    entry.insert("error".into(), Value::Null);
                }
                _ => {
                    let absent = ["width", "height", "mipmaps", "fourcc", "bits"];
                    entry.extend(absent.map(|name| (name.into(), Value::Null)));
                    // Ours has another wording, and is a warning of the file, too.
                    assert!(entry["error"].is_string(), "{}: {entry:?}", sample.name);
                    let error = ours["textures"][index]["error"].clone();
                    assert!(error.is_string(), "{}: {error}", sample.name);
                    entry.insert("error".into(), error);
                    problems += 1;
                }
            }
        }
        facts.insert("textures".into(), entries);
        let quirks = facts["quirks"].as_array_mut().unwrap();
        quirks.extend(vec![Value::Null; problems]);
        sample.assert_facts(&*view);
        let stored = files(&*view, ".dds");
        let ours: Vec<_> = stored.iter().map(|dds| Value::from(sha256(dds))).collect();
        assert_eq!(ours, known, "{}", sample.name);
        assert_eq!(files(&*view, ".png").len(), pictures, "{}", sample.name);
    }
}
