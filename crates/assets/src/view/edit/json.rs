//! Edited JSON files.

use hpimount_record::Value;

/// The most levels of nested lists and objects in an edited JSON file.
const MAX_DEPTH: usize = 64;

/// Returns the offset of the first bracket in JSON that is nested too deep.
fn too_deep(json: &str) -> Option<usize> {
    let (mut depth, mut is_text, mut is_escaped) = (0_usize, false, false);
    json.bytes().position(|byte| {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = is_text,
            b'"' => is_text = !is_text,
            _ if is_text => {}
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth > MAX_DEPTH
    })
}

/// Parses an edited JSON file.
///
/// # Errors
/// Returns an error with its line and column.
pub fn value_of_json(file: &[u8]) -> Result<Value, String> {
    let text = file.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(file);
    let text = std::str::from_utf8(text)
        .map_err(|error| format!("is not UTF-8 at byte {}", error.valid_up_to()))?;
    if let Some(deep) = too_deep(text) {
        let before = &text[..deep];
        let line = before.matches('\n').count() + 1;
        let column = deep - before.rfind('\n').map_or(0, |end| end + 1) + 1;
        return Err(format!(
            "{line}:{column}: is nested more than {MAX_DEPTH} levels deep"
        ));
    }
    Value::parse(text).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        let text = error.to_string();
        let reason = text.split(" at line ").next().unwrap_or_default();
        format!("{line}:{column}: is no JSON: {reason}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_taken_up_to_64_levels_deep() {
        let nested = |depth| {
            format!(
                "{{\"a[\\\"[\":\n {}",
                "[".repeat(depth) + &"]".repeat(depth) + "}"
            )
        };
        assert!(value_of_json(nested(63).as_bytes()).is_ok());
        let reason = "2:65: is nested more than 64 levels deep";
        assert_eq!(value_of_json(nested(64).as_bytes()), Err(reason.to_owned()));
    }
}
