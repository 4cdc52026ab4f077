//! Helpers of the views of this family.

/// Returns a name as a part of a file name, without separators and control characters.
pub(crate) fn file_part(name: &str) -> String {
    let safe = |c: char| {
        if c.is_control() || "/\\".contains(c) {
            '_'
        } else {
            c
        }
    };
    name.trim().chars().map(safe).collect()
}
