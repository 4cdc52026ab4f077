//! Comparison of a file's views with its known contents.

use serde_json::Value;

/// Returns the places where `known` is not contained in `ours`, one per line:
/// `layers[0].name: "HIGH" is known, ours is null`.
///
/// Objects may have more fields than `known`; lists must have the same length. Numbers
/// are equal if they are the same 32-bit number, which is the precision of the formats.
pub fn differences(known: &Value, ours: &Value) -> Vec<String> {
    let mut found = Vec::new();
    compare(known, ours, "", &mut found);
    found
}

fn compare(known: &Value, ours: &Value, path: &str, found: &mut Vec<String>) {
    match (known, ours) {
        (Value::Object(known), Value::Object(ours)) => {
            for (key, value) in known {
                let path = if path.is_empty() {
                    key.clone()
                } else {
                    format!("{path}.{key}")
                };
                match ours.get(key) {
                    Some(other) => compare(value, other, &path, found),
                    None => found.push(format!("{path}: {value} is known, ours is absent")),
                }
            }
        }
        (Value::Array(known), Value::Array(ours)) => {
            if known.len() != ours.len() {
                let (known, ours) = (known.len(), ours.len());
                found.push(format!("{path}: {known} items are known, ours are {ours}"));
            }
            for (index, (known, ours)) in known.iter().zip(ours).enumerate() {
                compare(known, ours, &format!("{path}[{index}]"), found);
            }
        }
        (Value::Number(_), Value::Number(_)) if same_number(known, ours) => {}
        _ if known == ours => {}
        _ => found.push(format!("{path}: {known} is known, ours is {ours}")),
    }
}

fn same_number(known: &Value, ours: &Value) -> bool {
    match (known.as_i64(), ours.as_i64()) {
        (Some(known), Some(ours)) => known == ours,
        _ => {
            known.as_f64().map(|number| number as f32) == ours.as_f64().map(|number| number as f32)
        }
    }
}
