//! Messages of the programs on standard error.

use std::borrow::Cow;
use std::fmt::Display;
use std::io::{self, Write};
use std::sync::OnceLock;

use crate::printable::printable;

/// The name that the program was started with.
static PROGRAM: OnceLock<&str> = OnceLock::new();

/// Sets the name with which messages begin, once.
pub fn set_program(name: &'static str) {
    let _ = PROGRAM.set(name);
}

/// Returns the name with which messages begin.
pub(super) fn program() -> &'static str {
    PROGRAM.get().copied().unwrap_or("hpi")
}

/// Writes a line to standard error: the name of the program and a text, in
/// which foreign text is escaped.
pub fn tell(text: impl Display) {
    // Not eprintln!, which panics if standard error is closed.
    let _ = writeln!(io::stderr(), "{}", line(program(), text));
}

/// Returns the line that [`tell`] writes.
fn line(program: &str, text: impl Display) -> String {
    let text = text.to_string();
    format!("{program}: {}", for_people(&printable(&text)))
}

/// Texts in errors of the libraries, and the option that helps.
const ADVICE: [(&str, &str); 2] = [
    ("needs a password", "-o password=@FILE gives it"),
    ("memory; the budget leaves", "-o cachesize= sets the budget"),
];

/// Returns a text with the option that helps, and without the number that the standard
/// library adds to the description of each error of the operating system:
/// ` (os error 2)`.
pub(super) fn for_people(text: &str) -> Cow<'_, str> {
    let mut text = without_numbers(text);
    if let Some((_, advice)) = ADVICE.iter().find(|(error, _)| text.contains(error)) {
        text.to_mut().push_str(&format!(" ({advice})"));
    }
    text
}

fn without_numbers(text: &str) -> Cow<'_, str> {
    const NUMBER: &str = " (os error ";
    let mut parts = text.split(NUMBER);
    let first = parts.next().unwrap_or_default();
    let mut kept = Cow::Borrowed(first);
    for part in parts {
        let end = part.find(|c: char| !c.is_ascii_digit());
        let rest = end.and_then(|end| part[end..].strip_prefix(')'));
        match rest {
            Some(rest) => kept.to_mut().push_str(rest),
            None => {
                let kept = kept.to_mut();
                kept.push_str(NUMBER);
                kept.push_str(part);
            }
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_one_line_without_controls_of_the_terminal() {
        let text = "a\x1b[31m\nhpimount: forged: is mounted";
        assert_eq!(
            line("hpimount", text),
            "hpimount: a\\u{1b}[31m\\u{a}hpimount: forged: is mounted"
        );
    }

    #[test]
    fn the_option_that_helps_is_named() {
        let error = hpimount_containers::io::Error::no_memory("a model", 3, 2);
        assert_eq!(
            for_people(&error.to_string()),
            "a model needs 3 bytes of memory; the budget leaves 2 (-o cachesize= sets the budget)"
        );
        assert_eq!(
            for_people("a.zip: is encrypted, and needs a password"),
            "a.zip: is encrypted, and needs a password (-o password=@FILE gives it)"
        );
    }

    #[test]
    fn numbers_of_errors_are_left_out() {
        let missing = io::Error::from_raw_os_error(2);
        assert_eq!(
            line("p", format!("a: {missing}; b: {missing}")),
            "p: a: No such file or directory; b: No such file or directory"
        );
        assert_eq!(
            for_people("x (os error y) (os error 12"),
            "x (os error y) (os error 12"
        );
    }
}
