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
