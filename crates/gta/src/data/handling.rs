//! handling.cfg: how vehicles move (FORMATS, GTA 7.4).

use crate::document::{Document, Row, Section, bounded_lines, text};
use hpimount_containers::io::Result;

/// Maximum number of rows of a file.
const MAX_ROWS: usize = 1_000_000;

/// The kinds of rows: names, and the letter before the first field.
const KINDS: [(&str, Option<char>); 5] = [
    ("vehicles", None),
    ("bikes", Some('!')),
    ("planes", Some('$')),
    ("boats", Some('%')),
    ("animations", Some('^')),
];

/// Reads a file as a section for each kind of row. The first field of a row is a
/// name, except in `animations`.
///
/// # Errors
/// Returns [`Error::Damaged`](hpimount_containers::io::Error::Damaged) for a
/// file that is not a text or has more than a million rows.
pub fn parse(bytes: &[u8]) -> Result<Document> {
    let text = text(bytes)?;
    let mut sections = KINDS.map(|(name, _)| Section {
        name: name.to_owned(),
        rows: Vec::new(),
    });
    for line in bounded_lines(&text, &[';'], MAX_ROWS) {
        let line = line?;
        let trimmed = line.text.trim_start();
        let indent = line.text.len() - trimmed.len();
        let mut kinds = KINDS.iter().skip(1);
        let marked = kinds.position(|(_, mark)| mark.is_some_and(|mark| trimmed.starts_with(mark)));
        let (kind, skipped) = match marked {
            Some(kind) => (kind + 1, indent + 1),
            None => (0, indent),
        };
        sections[kind].rows.push(Row::of(line, skipped));
    }
    Ok(Document::new(text, sections.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_letter_of_a_row_tells_its_kind() {
        let text = b"; comment\nLANDSTAL 1700.0 4 D ; x\n! BIKE 0.35\n %BOAT 1\n^ 0 1\n";
        let document = parse(text).unwrap();
        let rows = |section| {
            let rows = document.rows(section).iter();
            rows.map(|row| (row.line, document.fields(row).collect::<Vec<_>>()))
                .collect::<Vec<_>>()
        };
        assert_eq!(
            rows("vehicles"),
            [(2, vec!["LANDSTAL", "1700.0", "4", "D"])]
        );
        assert_eq!(rows("bikes"), [(3, vec!["BIKE", "0.35"])]);
        assert_eq!(rows("planes"), []);
        assert_eq!(rows("boats"), [(4, vec!["BOAT", "1"])]);
        assert_eq!(rows("animations"), [(5, vec!["0", "1"])]);
    }
}
