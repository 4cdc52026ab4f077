//! Differences between two tables, cell by cell.

use std::collections::HashMap;

use serde_json::Value;

use super::difference::Differences;
use super::text;

/// Columns that identify rows, the best first. Without them, the first column
/// does whose cells are all different.
const KEYS: [&str; 2] = ["id", "name"];

/// Adds the differences between two tables with the same columns, by the cells
/// that identify rows; otherwise the lines that differ.
pub(super) fn compare(name: &str, texts: [&str; 2], found: &mut Differences) {
    let tables = texts.map(Rows::new);
    let key = match tables[0].columns == tables[1].columns {
        true => key(&tables),
        false => None,
    };
    let Some(key) = key else {
        return text::compare(name, texts, found);
    };
    let [olds, news] = &tables;
    let by_key = [olds.by_key(key), news.by_key(key)];
    let cell = |cell: &str| Some(Value::String(cell.to_owned()));
    let row = |row: &[&str]| cell(&row.join(" "));
    for old in &olds.rows {
        let field = format!("{name}[{}]", old[key]);
        let Some(new) = by_key[1].get(old[key]) else {
            found.add(field, row(old), None);
            continue;
        };
        let columns = olds.columns.iter().zip(old.iter().zip(new.iter()));
        for (column, (old, new)) in columns.filter(|(_, (old, new))| old != new) {
            found.add(format!("{field}.{column}"), cell(old), cell(new));
        }
    }
    for new in &news.rows {
        if !by_key[0].contains_key(new[key]) {
            found.add(format!("{name}[{}]", new[key]), None, row(new));
        }
    }
}

/// The rows of a table, each with a cell for each column.
struct Rows<'a> {
    columns: Vec<&'a str>,
    rows: Vec<Vec<&'a str>>,
}

impl<'a> Rows<'a> {
    fn new(text: &'a str) -> Self {
        let mut lines = text
            .lines()
            .map(|line| line.split('\t').collect::<Vec<_>>());
        let columns = lines.next().unwrap_or_default();
        let rows = lines.map(|mut row| {
            row.resize(columns.len(), "");
            row
        });
        let rows = rows.collect();
        Self { columns, rows }
    }

    /// Returns the rows by the cells of a column.
    fn by_key(&self, key: usize) -> HashMap<&'a str, &[&'a str]> {
        let rows = self.rows.iter();
        rows.map(|row| (row[key], row.as_slice())).collect()
    }
}

/// Returns the column that identifies the rows of both tables.
fn key(tables: &[Rows<'_>; 2]) -> Option<usize> {
    let columns = &tables[0].columns;
    let is_unique = |column: &usize| {
        let mut tables = tables.iter();
        tables.all(|table| table.by_key(*column).len() == table.rows.len())
    };
    let named = KEYS.iter();
    let named = named.filter_map(|key| columns.iter().position(|column| column == key));
    named.chain(0..columns.len()).find(is_unique)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inspect::diff::difference::Difference;

    fn fields(old: &str, new: &str) -> Vec<(String, Option<String>, Option<String>)> {
        let mut found = Differences::default();
        compare("t.tsv", [old, new], &mut found);
        let text = |value: Option<Value>| value.and_then(|value| Some(value.as_str()?.to_owned()));
        let fields = found.finish().into_iter();
        fields
            .map(|difference| match difference {
                Difference::Field { field, old, new } => (field, text(old), text(new)),
                Difference::Note(note) => (note, None, None),
            })
            .collect()
    }

    #[test]
    fn cells_differ_by_row_and_column() {
        let old = "index\tid\tsize\n0\tA1\t5\n1\tB2\t6\n";
        let new = "index\tid\tsize\n0\tA1\t7\n1\tC3\t6\n";
        let text = |text: &str| Some(text.to_owned());
        let expected = [
            ("t.tsv[A1].size".to_owned(), text("5"), text("7")),
            ("t.tsv[B2]".to_owned(), text("1 B2 6"), None),
            ("t.tsv[C3]".to_owned(), None, text("1 C3 6")),
        ];
        assert_eq!(fields(old, new), expected);
    }

    #[test]
    fn tables_without_a_key_differ_by_lines() {
        let found = fields("a\nx\nx\n", "a\nx\ny\n");
        assert_eq!(found.len(), 2, "{found:?}");
        assert_eq!(found[0].0, "t.tsv: line 3");
        // Without columns in common.
        assert_eq!(fields("a\n1\n", "b\n1\n").len(), 2);
    }
}
