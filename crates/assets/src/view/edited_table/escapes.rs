//! Texts of edited cells, with the escapes of tables decoded.

/// Decodes an edited cell. `text` is the old text, which was shown by
/// [`push_escaped`](hpimount_containers::text::push_escaped): only texts with control
/// characters have escapes.
///
/// # Errors
/// Returns an error if the cell shows escapes and backslashes of the text alike.
pub fn edited_text(text: &str, cell: &str) -> Result<String, &'static str> {
    if !text.contains(char::is_control) {
        return Ok(cell.to_owned());
    }
    let after_backslashes = text.split('\\').skip(1);
    let mut letters = after_backslashes.filter_map(|rest| rest.chars().next());
    match letters.any(|letter| "tnru".contains(letter)) {
        true => Err("shows line breaks and backslashes alike: edit the text itself"),
        false => Ok(unescaped(cell)),
    }
}

/// Returns a text without the escapes of tables.
fn unescaped(cell: &str) -> String {
    let mut text = String::with_capacity(cell.len());
    let mut rest = cell;
    while let Some((before, after)) = rest.split_once('\\') {
        text.push_str(before);
        let (character, length) = match after.as_bytes() {
            [b't', ..] => ('\t', 1),
            [b'n', ..] => ('\n', 1),
            [b'r', ..] => ('\r', 1),
            [b'u', ..] => number(after).unwrap_or(('\\', 0)),
            _ => ('\\', 0),
        };
        text.push(character);
        rest = &after[length..];
    }
    text.push_str(rest);
    text
}

/// Returns the character of an escape such as `u{1b}`, and its length.
fn number(escape: &str) -> Option<(char, usize)> {
    let (digits, _) = escape.strip_prefix("u{")?.split_once('}')?;
    let character = char::from_u32(u32::from_str_radix(digits, 16).ok()?)?;
    Some((character, digits.len() + 3))
}
