//! QB.

use super::samples::{file, samples, sha256};
use fixtures::qb;
use hpimount_neversoft::qb::parse;
use serde_json::Value;
use testkit::facts::differences;

#[test]
fn every_script_has_the_known_facts_and_text() {
    let extensions = ["qb", "qb_compressed"];
    let folders = ["qb", "real"].map(|folder| samples(folder, &extensions));
    for mut sample in folders.into_iter().flatten() {
        let name = sample.name.clone();
        let opened = sample.open();
        // A readable script has an error that is null.
        if sample.known.get("format").is_none() {
            assert!(opened.is_err(), "{name}");
            continue;
        }
        let view = opened.unwrap_or_else(|failure| panic!("{name}: {failure}"));
        let known = sample.known.as_object_mut().unwrap();
        known.remove("sha256");
        let text = known.remove("text_sha256").unwrap();
        for script in known["scripts"].as_array_mut().unwrap() {
            // Without a name, it is the hash, with digits in lower case.
            let hash = script.as_str().unwrap().strip_prefix("0x");
            let hash = hash.and_then(|digits| u32::from_str_radix(digits, 16).ok());
            if let Some(hash) = hash {
                *script = format!("0x{hash:08X}").into();
            }
        }
        // The independent reader writes members with one colon, and names even if
        // they have other hashes.
        if name != "quirk_wrong_name.qb" {
            let source = String::from_utf8(file(&*view, "source.q")).unwrap();
            let source = source.replace("::", ":");
            assert_eq!(sha256(source.as_bytes()), text, "{name}");
        }
        let ours: Value = serde_json::from_slice(&file(&*view, "info.json")).unwrap();
        let found = differences(&sample.known, &ours);
        assert!(found.is_empty(), "{name}: {found:#?}");
    }
}

#[test]
fn every_script_compiles_to_the_same_tokens() {
    let extensions = ["qb", "qb_compressed"];
    let folders = ["qb", "real"].map(|folder| samples(folder, &extensions));
    let mut compiled = 0;
    for sample in folders.into_iter().flatten() {
        let is_packed = sample.name.ends_with("_compressed");
        let (Ok(view), Ok(script)) = (sample.open(), parse(&sample.bytes, is_packed)) else {
            continue;
        };
        let source = String::from_utf8(file(&*view, "source.q")).unwrap();
        let (expected, names) = qb::tokens(script.bytes.bytes());
        let found = qb::compile(&source, &names);
        let found = found.unwrap_or_else(|problem| panic!("{}: {problem}", sample.name));
        assert!(!expected.is_empty(), "{}", sample.name);
        let mut pairs = found.iter().zip(&expected);
        let other = pairs.position(|(found, expected)| found != expected);
        let other = other.map(|at| (at, &found[at], &expected[at]));
        assert_eq!(other, None, "{}", sample.name);
        assert_eq!(found.len(), expected.len(), "{}", sample.name);
        compiled += 1;
    }
    assert!(compiled == 0 || compiled >= 15, "{compiled}");
}
