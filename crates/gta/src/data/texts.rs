//! FXT: texts of mods (FORMATS, GTA 7.6).

use get_size2::GetSize;

use super::MAX_ROWS;
use crate::document::{bounded_lines, text};
use hpimount_containers::io::{Result, Warnings};

/// The texts of a file.
#[derive(Debug, Default, GetSize)]
pub struct Texts {
    /// The texts, in the order of the file.
    pub texts: Vec<Text>,
    /// Warnings.
    pub warnings: Warnings,
}

/// A text.
#[derive(Debug, Clone, PartialEq, Eq, GetSize)]
pub struct Text {
    /// Number of its line, from 1.
    pub line: u32,
    /// The key in scripts.
    pub key: String,
    /// The text, with its tags.
    pub text: String,
}

/// Reads a file: each line except comments has a key and a text.
///
/// # Errors
/// Returns [`Error::Damaged`](hpimount_containers::io::Error::Damaged) for a
/// file that is not a text or has more than 65,536 rows.
pub fn parse(bytes: &[u8]) -> Result<Texts> {
    let text = text(bytes)?;
    let mut found = Texts::default();
    for line in bounded_lines(&text, &[], MAX_ROWS) {
        let line = line?;
        let shown = line.text.trim();
        if ["#", ";", "//"].iter().any(|mark| shown.starts_with(mark)) {
            continue;
        }
        let (key, text) = shown.split_once(char::is_whitespace).unwrap_or((shown, ""));
        found.texts.push(Text {
            line: line.number,
            key: key.to_owned(),
            text: text.trim_start().to_owned(),
        });
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_key_and_a_text() {
        let texts = parse(b"# x\n// y\nMENU1\tGo, ~r~now # 1\n\nEMPTY\n")
            .unwrap()
            .texts;
        let texts: Vec<_> = texts
            .iter()
            .map(|one| (one.line, one.key.as_str(), one.text.as_str()))
            .collect();
        assert_eq!(texts, [(3, "MENU1", "Go, ~r~now # 1"), (5, "EMPTY", "")]);
    }
}
