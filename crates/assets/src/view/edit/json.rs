//! Edited JSON files.

use hpimount_record::Value;

/// The most levels of nested lists and objects in an edited JSON file.
const MAX_DEPTH: usize = 64;

/// Returns whether a value has more levels of lists and objects than this.
fn is_deeper(value: &Value, levels: usize) -> bool {
    let mut inner: Box<dyn Iterator<Item = &Value>> = match value {
        Value::List(values) => Box::new(values.iter()),
        Value::Map(fields) => Box::new(fields.iter().map(|(_, value)| value)),
        _ => return false,
    };
    levels == 0 || inner.any(|value| is_deeper(value, levels - 1))
}

/// Parses an edited JSON file.
///
/// # Errors
/// Returns an error with its line and column.
pub fn value_of_json(file: &[u8]) -> Result<Value, String> {
    let text = file.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(file);
    let text = std::str::from_utf8(text)
        .map_err(|error| format!("is not UTF-8 at byte {}", error.valid_up_to()))?;
    let value = Value::parse(text).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        let text = error.to_string();
        let reason = text.split(" at line ").next().unwrap_or_default();
        format!("{line}:{column}: is no JSON: {reason}")
    })?;
    match is_deeper(&value, MAX_DEPTH) {
        true => Err(format!("is nested more than {MAX_DEPTH} levels deep")),
        false => Ok(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_taken_up_to_64_levels_deep() {
        let nested = |depth| format!("{{\"a\": {}{}}}", "[".repeat(depth), "]".repeat(depth));
        assert!(value_of_json(nested(63).as_bytes()).is_ok());
        let reason = "is nested more than 64 levels deep";
        assert_eq!(value_of_json(nested(64).as_bytes()), Err(reason.to_owned()));
    }
}
