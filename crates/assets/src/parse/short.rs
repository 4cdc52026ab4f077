//! Copies and fills of short runs of bytes, which are the most common ones in pictures.

/// Number of bytes in one write.
pub const AT_ONCE: usize = 16;

/// Fills `row[start..end]` with a value. Bytes after `end` may be changed too;
/// later runs overwrite them.
pub fn fill(row: &mut [u8], start: usize, end: usize, value: u8) {
    match row.get_mut(start..start + AT_ONCE) {
        Some(room) if end - start <= AT_ONCE => room.copy_from_slice(&[value; AT_ONCE]),
        _ => row[start..end].fill(value),
    }
}

/// Copies the first bytes of `from` to `row[start..end]`. Bytes after `end` may
/// be changed too.
pub fn copy(row: &mut [u8], start: usize, end: usize, from: &[u8]) {
    let length = end - start;
    match (row.get_mut(start..start + AT_ONCE), from.get(..AT_ONCE)) {
        (Some(room), Some(from)) if length <= AT_ONCE => room.copy_from_slice(from),
        _ => row[start..end].copy_from_slice(&from[..length]),
    }
}
