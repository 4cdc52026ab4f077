//! BON.

use super::samples::{file, files, samples, sha256};
use serde_json::Value;
use testkit::facts::differences;

#[test]
fn every_character_has_the_known_facts_and_textures() {
    for mut sample in samples("bon", &["bon"]) {
        let Some(view) = sample.whole() else { continue };
        let mut known = Vec::new();
        for material in sample.known["materials"].as_array_mut().unwrap() {
            if let Some(texture) = material.get_mut("texture") {
                known.extend(texture.as_object_mut().unwrap().remove("sha256"));
            }
        }
        sample.known.as_object_mut().unwrap().remove("quirks");
        let ours: Value = serde_json::from_slice(&file(&*view, "info.json")).unwrap();
        let found = differences(&sample.known, &ours);
        assert!(found.is_empty(), "{}: {found:#?}", sample.name);
        let extension = if ours["version"] == 1 { ".pvr" } else { ".dds" };
        let stored = files(&*view, extension);
        let ours: Vec<_> = stored
            .iter()
            .map(|file| Value::from(sha256(file)))
            .collect();
        assert_eq!(ours, known, "{}", sample.name);
        assert_eq!(files(&*view, ".png").len(), known.len(), "{}", sample.name);
    }
}
