//! Comments (FORMATS, TA 9).

use std::borrow::Cow;

/// A text with comments replaced by blanks.
pub(super) struct Blanked<'a> {
    pub(super) text: Cow<'a, [u8]>,
    pub(super) has_blocks: bool,
    /// Offset of a `/*` without its end.
    pub(super) endless: Option<usize>,
}

/// Replaces comments by spaces, including those in values. Line ends and the offsets of
/// all other text do not change.
pub(super) fn blank(text: &[u8]) -> Blanked<'_> {
    let mut blanked = Blanked {
        text: Cow::Borrowed(text),
        has_blocks: false,
        endless: None,
    };
    let mut at = 0;
    while let Some((start, is_block)) = next_comment(text, at) {
        let body = start + 2;
        let end = if is_block {
            blanked.has_blocks = true;
            let end = text[body..].windows(2).position(|pair| pair == b"*/");
            if end.is_none() {
                blanked.endless = Some(start);
            }
            end.map_or(text.len(), |end| body + end + 2)
        } else {
            let end = text[body..].iter().position(|byte| is_line_end(*byte));
            end.map_or(text.len(), |end| body + end)
        };
        let comment = &mut blanked.text.to_mut()[start..end];
        for byte in comment.iter_mut().filter(|byte| !is_line_end(**byte)) {
            *byte = b' ';
        }
        at = end;
    }
    blanked
}

/// Returns the offset of the next comment, and whether it is a block comment.
fn next_comment(text: &[u8], at: usize) -> Option<(usize, bool)> {
    let mut at = at;
    loop {
        at += text.get(at..)?.iter().position(|&byte| byte == b'/')?;
        match text.get(at + 1) {
            Some(b'/') => return Some((at, false)),
            Some(b'*') => return Some((at, true)),
            _ => at += 1,
        }
    }
}

fn is_line_end(byte: u8) -> bool {
    matches!(byte, b'\r' | b'\n')
}
