//! Fields of nodes and scripts.

use hpimount_assets::parse::name::until_nul;
use hpimount_containers::io::{Cursor, Result};

/// Maximum length of a text in bytes.
const MAX_TEXT: usize = 256;

/// Skips the padding up to a multiple of `unit` in the file, or to the end.
pub(super) fn align(cursor: &mut Cursor<'_>, unit: u64) {
    let padding = cursor.offset().next_multiple_of(unit) - cursor.offset();
    let padding = cursor.remaining().min(padding as usize);
    // That many bytes are left.
    let _ = cursor.take(padding, "padding");
}

/// Reads `N` signed 32-bit numbers.
pub(super) fn numbers<const N: usize>(
    cursor: &mut Cursor<'_>,
    field: &'static str,
) -> Result<[i32; N]> {
    let mut numbers = [0; N];
    for number in &mut numbers {
        *number = cursor.i32(field)?;
    }
    Ok(numbers)
}

/// Reads a text, which is padded to 2 bytes.
pub(super) fn text(cursor: &mut Cursor<'_>) -> Result<String> {
    let mut ahead = cursor.clone();
    let within = cursor.remaining().min(MAX_TEXT);
    ahead.section(within, "text")?.c_string("text")?;
    let text = cursor.c_string("text")?;
    align(cursor, 2);
    Ok(until_nul(text))
}
