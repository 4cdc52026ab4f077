//! What the views of this family share.

use hpimount_record::Value;

/// Returns a number with at most three digits after the point.
pub(crate) fn rounded(number: f64) -> Value {
    Value::Double((number * 1000.0).round() / 1000.0)
}

/// Returns a hash, or an id, as it is shown.
pub(crate) fn hash_text(hash: u32) -> String {
    format!("0x{hash:08X}")
}

/// Returns the name of a file in a game without directories and extension.
pub(crate) fn stem(path: &str) -> &str {
    let name = path.rsplit(['/', '\\']).next().unwrap_or_default();
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}

/// The steps of a unit of length, and those of a full turn.
pub(crate) const UNIT: f64 = 4096.0;

/// Returns the whole number of steps that a text in a table stands for; a text that is no
/// number as it is.
pub(crate) fn steps(text: &str, unit: f64) -> Value {
    match text.parse::<f64>() {
        Ok(number) => Value::Integer((number * unit).round() as i64),
        Err(_) => Value::text(text.to_owned()),
    }
}
