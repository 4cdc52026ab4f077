//! Line breaking.

/// Breaks a text at spaces into lines of at most `width` bytes; a longer word
/// has its own line.
pub(super) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.len() + 1 + word.len() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_filled_up_to_the_width() {
        assert_eq!(wrap("ab cd efg h", 5), ["ab cd", "efg h"]);
        assert_eq!(wrap("ab cd efg h", 4), ["ab", "cd", "efg", "h"]);
        assert_eq!(wrap("abcdef g", 3), ["abcdef", "g"]);
        assert_eq!(wrap("", 3), [""]);
    }
}
