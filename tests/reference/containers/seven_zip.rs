//! Samples of 7z archives match their manifest.

use std::collections::BTreeMap;
use std::fs;

use crate::shared;
use testkit::containers::{Contents as _, open_path};

#[test]
fn archives_of_other_programs_match_their_manifest() {
    let Some(folder) = shared("samples/containers/foreign") else {
        return;
    };
    let manifest = fs::read(folder.join("manifest.json")).unwrap();
    let manifest: BTreeMap<String, serde_json::Value> = serde_json::from_slice(&manifest).unwrap();
    let archives = manifest.iter().filter(|(name, _)| name.ends_with(".7z"));
    let mut count = 0;
    for (name, described) in archives {
        let opened = open_path(&folder.join(name)).unwrap();
        let found = opened.files().map(|(path, entry)| {
            let sum = opened
                .sha256(entry)
                .unwrap_or_else(|error| error.to_string());
            (path.to_owned(), serde_json::Value::from(sum))
        });
        let found: serde_json::Map<String, serde_json::Value> = found.collect();
        assert_eq!(serde_json::Value::from(found), described["files"], "{name}");
        count += 1;
    }
    assert_eq!(count, 3);
}
