//! Memory for reading edited models: the memory of their JSON is reserved in advance.

use std::cell::Cell;

use allocation_counter::measure;
use hpimount_assets::model::gltf;

/// Number of repetitions of each element in a file.
const ELEMENTS: usize = 50_000;

/// Returns a GLB file with this JSON.
fn glb(json: &str) -> Vec<u8> {
    let mut json = json.as_bytes().to_vec();
    json.resize(json.len().next_multiple_of(4), b' ');
    let words = [0x4654_6C67, 2, 20 + json.len(), json.len(), 0x4E4F_534A];
    let header = words.map(|word| (word as u32).to_le_bytes()).concat();
    [header, json].concat()
}

#[test]
fn json_takes_no_more_memory_than_is_reserved_for_it() {
    let list = |element: &str| vec![element; ELEMENTS].join(",");
    let extension = |value: String| {
        format!(r#"{{"asset":{{"version":"2.0"}},"extensions":{{"EXT_a":{value}}}}}"#)
    };
    let mut files: Vec<(String, String)> = Vec::new();
    for element in [
        "0",
        r#""ab""#,
        "[]",
        "[0]",
        "[[[[0]]]]",
        "{}",
        r#"{"a":0}"#,
        r#"{"a":{}}"#,
        r#"{"a":[0]}"#,
        r#"{"a":0,"b":0,"c":0,"d":0}"#,
    ] {
        files.push((
            element.to_owned(),
            extension(format!("[{}]", list(element))),
        ));
    }
    let keys: Vec<_> = (0..ELEMENTS).map(|key| format!(r#""{key}":0"#)).collect();
    let keys = format!("{{{}}}", keys.join(","));
    files.push(("keys".to_owned(), extension(keys)));
    let escaped = extension(format!("[{}]", list("[0]"))).replace("extensions", r"\u0065xtensions");
    files.push(("escaped".to_owned(), escaped));
    let limits = format!(
        r#"{{"asset":{{"version":"2.0"}},"accessors":[{{"componentType":5126,"count":1,"type":"VEC3","min":[{}]}}]}}"#,
        list("[0]")
    );
    files.push(("limits".to_owned(), limits));
    let node = r#"{"extensions":{"a":{"a":0}}}"#;
    let nodes = format!(
        r#"{{"asset":{{"version":"2.0"}},"nodes":[{}]}}"#,
        list(node)
    );
    files.push(("nodes".to_owned(), nodes));
    let mut too_many = Vec::new();
    for (element, json) in files {
        let file = glb(&json);
        let reserved = Cell::new(0);
        let reserve = |bytes| {
            reserved.set(reserved.get() + bytes);
            Ok(None)
        };
        let read = measure(|| drop(gltf::read(&file, &reserve).unwrap()));
        let (taken, reserved) = (read.bytes_max as usize, reserved.get());
        if taken > reserved {
            let each = taken / ELEMENTS;
            too_many.push(format!("{element}: {each}, not {}", reserved / ELEMENTS));
        }
    }
    assert!(too_many.is_empty(), "{too_many:#?}");
}
