//! Foreign text on terminals and in logs.

use std::borrow::Cow;

/// Returns a text that may come from an archive, a file name or a server for a
/// line on a terminal or in a log: characters that control a terminal, end a
/// line or change the direction of the text are written as `\u{9b}`.
pub fn printable(text: &str) -> Cow<'_, str> {
    if !text.chars().any(controls) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match controls(character) {
            true => safe.extend(character.escape_unicode()),
            false => safe.push(character),
        }
    }
    Cow::Owned(safe)
}

/// Returns whether a character is a control character (Unicode's category Cc), a
/// separator of lines or paragraphs, or a control of the bidirectional
/// algorithm (UAX #9, section 2).
fn controls(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{2028}' | '\u{2029}'
                | '\u{61c}' | '\u{200e}' | '\u{200f}'
                | '\u{202a}'..='\u{202e}'
                | '\u{2066}'..='\u{2069}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_controls_a_terminal_is_escaped() {
        assert_eq!(printable("a b\u{e9}"), "a b\u{e9}");
        assert_eq!(printable("a\u{9b}2J\n"), "a\\u{9b}2J\\u{a}");
        assert_eq!(printable("\x1b[31m"), "\\u{1b}[31m");
    }

    #[test]
    fn what_turns_the_direction_of_text_or_ends_a_line_is_escaped() {
        assert_eq!(printable("a\u{202e}gpj.exe"), "a\\u{202e}gpj.exe");
        assert_eq!(printable("\u{2066}\u{2028}"), "\\u{2066}\\u{2028}");
        assert_eq!(printable("\u{5d0}\u{200d}"), "\u{5d0}\u{200d}");
    }
}
