//! The tokens of BOS.

use super::words::OPERATORS;

/// Returns the words and signs of a text without its comments.
pub(super) fn tokens(text: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    for line in text.lines() {
        let mut rest: &str = line.split("//").next().unwrap_or_default();
        loop {
            rest = rest.trim_start();
            if let Some((_, after)) = rest
                .strip_prefix("/*")
                .and_then(|rest| rest.split_once("*/"))
            {
                rest = after;
                continue;
            }
            let Some(first) = rest.chars().next() else {
                break;
            };
            let length = match first {
                '"' => rest[1..].find('"').map_or(rest.len(), |end| end + 2),
                'a'..='z' | 'A'..='Z' | '_' => word_length(rest),
                '0'..='9' => {
                    let is_other = |one: char| !one.is_ascii_digit() && one != '.';
                    rest.find(is_other).unwrap_or(rest.len())
                }
                _ => {
                    let two = rest.get(..2).unwrap_or_default();
                    let is_known = OPERATORS.iter().any(|(sign, _)| *sign == two);
                    if is_known { 2 } else { first.len_utf8() }
                }
            };
            let (token, after) = rest.split_at(length);
            tokens.push(token.to_owned());
            rest = after;
        }
    }
    tokens
}

/// Returns the length of a word; a hyphen between letters is part of it.
fn word_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let is_letter = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_alphabetic);
    let is_part = |&at: &usize| match bytes.get(at) {
        Some(b'-') => is_letter(at - 1) && is_letter(at + 1),
        Some(byte) => byte.is_ascii_alphanumeric() || *byte == b'_',
        None => false,
    };
    (1..).take_while(is_part).count() + 1
}
