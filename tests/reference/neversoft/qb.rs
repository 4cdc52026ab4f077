//! QB.

use super::samples::{file, samples, sha256};
use crate::support::facts::differences;
use serde_json::Value;

#[test]
fn every_script_has_the_known_facts_and_text() {
    let extensions = ["qb", "qb_compressed"];
    let folders = ["qb", "real"].map(|folder| samples(folder, &extensions));
    for mut sample in folders.into_iter().flatten() {
        let name = sample.name.clone();
        let opened = sample.open();
        // A script that could be read says so with an error that is null.
        if sample.known.get("format").is_none() {
            assert!(opened.is_err(), "{name}");
            continue;
        }
        let view = opened.unwrap_or_else(|failure| panic!("{name}: {}", failure.error));
        let known = sample.known.as_object_mut().unwrap();
        known.remove("sha256");
        let text = known.remove("text_sha256").unwrap();
        assert_eq!(sha256(&file(&*view, "source.q")), text, "{name}");
        let ours: Value = serde_json::from_slice(&file(&*view, "info.json")).unwrap();
        let found = differences(&sample.known, &ours);
        assert!(found.is_empty(), "{name}: {found:#?}");
    }
}
