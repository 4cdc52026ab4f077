//! carcols.dat: the paints of vehicles (FORMATS, GTA 7.5).

use std::collections::HashMap;

use crate::document::schema::Schema;
use crate::document::{self, Document, Row};
use hpimount_containers::io::Result;

/// The sections: paints, and the paints of vehicles with two and with four paints.
const SCHEMA: Schema = Schema::new(&[("col", &["red green blue"])], &["car", "car4"]);

/// The sections of vehicles, and the number of paints in each choice.
pub const VEHICLES: [(&str, usize); 2] = [("car", 2), ("car4", 4)];

/// Reads a file as sections.
///
/// # Errors
/// Returns [`Error::Damaged`](hpimount_containers::io::Error::Damaged) for a
/// file that is not a text or has more than a million rows.
pub fn parse(bytes: &[u8]) -> Result<Document> {
    let mut document = document::parse(bytes, &SCHEMA)?;
    let mut problems = Vec::new();
    for (section, paints) in VEHICLES {
        for row in document.rows(section) {
            let count = document.fields(row).count();
            if (count - 1) % paints != 0 {
                let line = row.line;
                problems.push(format!(
                    "line {line}: {} paints are no multiple of {paints}",
                    count - 1
                ));
            }
        }
    }
    for problem in problems {
        document.warnings.push(problem);
    }
    Ok(document)
}

/// Returns the paint of a row as `#rrggbb`, or `None` for invalid numbers.
pub fn hex(document: &Document, row: &Row) -> Option<String> {
    let [red, green, blue] = paint(document, row)?;
    Some(format!("#{red:02x}{green:02x}{blue:02x}"))
}

fn paint(document: &Document, row: &Row) -> Option<[u8; 3]> {
    let fields = document.fields(row).map(|field| field.parse().ok());
    fields.collect::<Option<Vec<u8>>>()?.try_into().ok()
}

/// Returns the first choice of paints of each vehicle, by lower-case name.
pub(crate) fn first_choices(document: &Document) -> HashMap<String, Vec<[u8; 3]>> {
    let rows = document.rows("col").iter();
    let paints: Vec<_> = rows.map(|row| paint(document, row)).collect();
    let mut choices = HashMap::new();
    for (section, count) in VEHICLES {
        for row in document.rows(section) {
            let mut fields = document.fields(row);
            let name = fields.next().unwrap_or_default().to_ascii_lowercase();
            let numbers = fields.take(count).map(|field| field.parse::<usize>().ok());
            let choice = numbers.map(|number| *paints.get(number?)?);
            if let Some(choice) = choice.collect::<Option<_>>() {
                choices.entry(name).or_insert(choice);
            }
        }
    }
    choices
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vehicles_choose_among_the_paints() {
        let text = b"col\n0,0,0 # black\n245,16,1\n1,2\nend\ncar\nbus, 0,1, 1,1\nvan, 0\nend\n";
        let document = parse(text).unwrap();
        let colors = document.rows("col").iter();
        let colors: Vec<_> = colors.map(|row| hex(&document, row)).collect();
        let known = |color: &str| Some(color.to_owned());
        assert_eq!(colors, [known("#000000"), known("#f51001"), None]);
        assert_eq!(
            document.warnings.texts(),
            [
                "section col: 1 rows have 2 fields, the first in line 4",
                "line 8: 1 paints are no multiple of 2",
            ]
        );
        let bus = ("bus".to_owned(), vec![[0, 0, 0], [245, 16, 1]]);
        assert!(first_choices(&document).into_iter().any(|one| one == bus));
    }
}
