//! TRG.

use super::samples::{file, samples};
use serde_json::Value;
use testkit::facts::differences;

/// Replaces the text of every error, because ours has another wording.
fn without_words(value: &mut Value) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(without_words),
        Value::Object(fields) => {
            for (name, value) in fields {
                match name.as_str() {
                    "error" => *value = true.into(),
                    _ => without_words(value),
                }
            }
        }
        _ => {}
    }
}

/// Converts the flags of nodes to the form of ours: bits are digits, but lists of
/// numbers remain.
fn adapt_flags(known: &mut Value) {
    let nodes = known["nodes"].as_array_mut().unwrap().iter_mut();
    for flags in nodes.filter_map(|node| node.get_mut("flags")) {
        if let Some(bits) = flags.as_u64() {
            *flags = format!("0x{bits:04X}").into();
        }
    }
}

#[test]
fn every_node_has_the_known_facts() {
    for mut sample in samples("trg", &["trg"]) {
        let Some(view) = sample.whole() else { continue };
        let mut ours: Value = serde_json::from_slice(&file(&*view, "nodes.json")).unwrap();
        let known = sample.known.as_object_mut().unwrap();
        let quirks = known.remove("quirks").unwrap();
        without_words(&mut sample.known);
        adapt_flags(&mut sample.known);
        without_words(&mut ours);
        let found = differences(&sample.known, &ours);
        assert!(found.is_empty(), "{}: {found:#?}", sample.name);
        // A node that is damaged inside is a warning of ours, too.
        let nodes = sample.known["nodes"].as_array().unwrap().iter();
        let damaged =
            nodes.filter(|node| node.get("error").is_some() && node.get("type").is_some());
        let quirks = quirks.as_array().unwrap().len() + damaged.count();
        let warnings = ours["warnings"].as_array().unwrap();
        assert_eq!(warnings.len(), quirks, "{}: {warnings:?}", sample.name);
        assert!(file(&*view, "level.glb").starts_with(b"glTF"));
    }
}
