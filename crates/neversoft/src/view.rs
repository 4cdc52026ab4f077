//! What the views of this family share.

/// Returns the name of a file in a game without directories and extension.
pub(crate) fn stem(path: &str) -> &str {
    let name = path.rsplit(['/', '\\']).next().unwrap_or_default();
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}
