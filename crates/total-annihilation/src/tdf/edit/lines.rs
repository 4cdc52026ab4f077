//! Line-related positions of entries in a text.

use std::ops::Range;

/// Extends the range of an entry to whole lines, unless other text is on them.
pub(super) fn with_lines(text: &[u8], entry: Range<usize>) -> Range<usize> {
    let start = line_start(text, entry.start);
    let end = blanks_end(text, entry.end);
    match blanks_end(text, start) == entry.start && is_line_end(text, end) {
        true => start..behind_line_end(text, end),
        false => entry,
    }
}

/// Returns the offset for an entry inserted after another one, and its bytes: a line
/// with the same indentation, or the rest of the line if more text follows on it. After
/// an entry that is not the first of its line, the new entry is indented like the line,
/// plus `deeper`.
pub(super) fn behind(
    text: &[u8],
    other: Range<usize>,
    deeper: &[u8],
    entry: Vec<u8>,
) -> (Range<usize>, Vec<u8>) {
    let end = comments_end(text, other.end);
    if !is_line_end(text, end) {
        return (other.end..other.end, [b" ", &*entry].concat());
    }
    let line = line_start(text, other.start);
    let first = blanks_end(text, line);
    let deeper = if first < other.start { deeper } else { b"" };
    let indentation = [&text[line..first], deeper].concat();
    let at = behind_line_end(text, end);
    let new = match &text[end..at] {
        b"" => [line_end_of(text), &*indentation, &*entry].concat(),
        line_end => [&*indentation, &*entry, line_end].concat(),
    };
    (at..at, new)
}

/// Returns the offset of the first byte of a line.
fn line_start(text: &[u8], at: usize) -> usize {
    let before = text[..at].iter().rposition(is_end);
    before.map_or(0, |end| end + 1)
}

/// Returns the offset after the spaces on a line.
fn blanks_end(text: &[u8], at: usize) -> usize {
    let blanks = text[at..].iter().take_while(|byte| b" \t".contains(byte));
    at + blanks.count()
}

/// Returns the offset after spaces and comments. Block comments may span lines.
fn comments_end(text: &[u8], at: usize) -> usize {
    let mut at = blanks_end(text, at);
    loop {
        let rest = &text[at..];
        let length = match rest {
            [b'/', b'/', ..] => rest.iter().position(is_end),
            [b'/', b'*', body @ ..] => {
                let end = body.windows(2).position(|pair| pair == b"*/");
                end.map(|end| 2 + end + 2)
            }
            _ => return at,
        };
        at = blanks_end(text, at + length.unwrap_or(rest.len()));
    }
}

fn is_line_end(text: &[u8], at: usize) -> bool {
    text.get(at).is_none_or(is_end)
}

fn is_end(byte: &u8) -> bool {
    matches!(byte, b'\r' | b'\n')
}

fn behind_line_end(text: &[u8], at: usize) -> usize {
    at + match text[at..] {
        [b'\r', b'\n', ..] => 2,
        [] => 0,
        _ => 1,
    }
}

/// Returns the line end of a text.
fn line_end_of(text: &[u8]) -> &'static [u8] {
    match text.contains(&b'\n') && !text.contains(&b'\r') {
        true => b"\n",
        false => b"\r\n",
    }
}
