//! Differences between two tables, cell by cell.

use std::collections::HashMap;
use std::io;

use hpimount_assets::view::TableSink;
use hpimount_assets::view::page::{Rows, take, take_row};
use hpimount_record::Value;

use super::difference::{Differences, MAX_FIELD};
use super::text::hunks;
use super::value::is_same;

/// Columns that identify rows, the best first. Without them, a column of texts does
/// that are all different.
const KEYS: [&str; 2] = ["id", "name"];

/// Columns that say where a row is. They differ in all rows after an added one, and
/// are not compared if there are others.
const PLACES: [&str; 3] = ["index", "line", "offset"];

/// A table in memory.
#[derive(Default)]
pub(super) struct Table {
    columns: Vec<String>,
    rows: Vec<Vec<Value>>,
    /// Bytes of memory that more rows may take.
    left: usize,
}

/// The table receives rows as long as there is room for them.
impl TableSink for Table {
    fn columns(&mut self, columns: &[&str]) -> io::Result<()> {
        self.columns = columns.iter().map(ToString::to_string).collect();
        let taken = self
            .columns
            .iter()
            .try_for_each(|name| take(name.len(), &mut self.left));
        taken.ok_or(io::ErrorKind::FileTooLarge.into())
    }

    fn row(&mut self, row: Vec<Value>) -> io::Result<()> {
        take_row(&row, &mut self.left).ok_or(io::ErrorKind::FileTooLarge)?;
        self.rows.push(row);
        Ok(())
    }
}

impl Table {
    /// Creates a table that may take `most` bytes.
    pub(super) fn within(most: usize) -> Self {
        Self {
            left: most,
            ..Self::default()
        }
    }

    /// Collects the rows of a table; `None` if its columns and rows need more than
    /// `most` bytes.
    pub(super) fn new(rows: Rows<'_>, most: usize) -> Option<Self> {
        let mut table = Self::within(most);
        rows.send(&mut table).ok()?;
        Some(table)
    }

    /// Parses a table that an archive generates.
    pub(super) fn parse(text: &str) -> Self {
        let mut lines = text.lines().map(|line| line.split('\t').map(str::to_owned));
        let columns = lines.next().into_iter().flatten().collect();
        let rows = lines.map(|line| line.map(Value::from).collect()).collect();
        Self {
            columns,
            rows,
            ..Self::default()
        }
    }

    fn has(&self, column: &str) -> bool {
        self.columns.iter().any(|one| one == column)
    }

    /// Returns the rows with these columns alone.
    fn only(self, columns: &[String]) -> Vec<Row> {
        let place = |name| self.columns.iter().position(|column| column == name);
        let places: Vec<_> = columns.iter().filter_map(place).collect();
        let rows = self.rows.into_iter();
        rows.map(|row| {
            let cell = |&place: &usize| row.get(place).cloned().unwrap_or(Value::Null);
            Row(places.iter().map(cell).collect())
        })
        .collect()
    }
}

/// The compared cells of a row.
struct Row(Vec<Value>);

impl PartialEq for Row {
    fn eq(&self, other: &Self) -> bool {
        self.0
            .iter()
            .zip(&other.0)
            .all(|(old, new)| is_same(old, new))
    }
}

impl Row {
    fn text(&self) -> Option<Value> {
        let cells: Vec<_> = self.0.iter().map(ToString::to_string).collect();
        Some(cells.join(" ").into())
    }
}

/// Adds the differences between two tables: the columns that only one of them has,
/// and the rows and cells of the others that differ.
pub(super) fn compare(name: &str, [old, new]: [Table; 2], found: &mut Differences) {
    let column = |column: &str| Some(Value::from(format!("column {column}")));
    for gone in old.columns.iter().filter(|one| !new.has(one)) {
        found.add(name.to_owned(), column(gone), None);
    }
    for added in new.columns.iter().filter(|one| !old.has(one)) {
        found.add(name.to_owned(), None, column(added));
    }
    let mut columns = old.columns.clone();
    columns.retain(|column| new.has(column));
    if columns.iter().any(|column| !PLACES.contains(&&**column)) {
        columns.retain(|column| !PLACES.contains(&&**column));
    }
    let rows = [old.only(&columns), new.only(&columns)];
    let compared = Compared {
        name,
        columns: &columns,
    };
    match compared.keyed(&rows) {
        Some(keyed) => compared.by_key(&rows, &keyed, found),
        None => compared.by_position(&rows, found),
    }
}

/// The rows of both tables by what identifies them, and the column with that.
struct Keyed<'a> {
    key: usize,
    rows: [HashMap<String, &'a Row>; 2],
}

struct Compared<'a> {
    name: &'a str,
    columns: &'a [String],
}

impl Compared<'_> {
    /// Returns the rows by the first column that identifies those of both tables.
    fn keyed<'r>(&self, rows: &'r [Vec<Row>; 2]) -> Option<Keyed<'r>> {
        let columns = self.columns.iter();
        let named = KEYS
            .iter()
            .filter_map(|key| columns.clone().position(|one| one == key));
        let is_text = |row: &Row, column: usize| matches!(row.0[column], Value::Text(_));
        let texts = (0..self.columns.len())
            .filter(|&column| rows.iter().flatten().all(|row| is_text(row, column)));
        named.chain(texts).find_map(|key| {
            let [old, new] = rows.each_ref().map(|rows| {
                let by_key = rows.iter().map(|row| (row.0[key].to_string(), row));
                let by_key: HashMap<_, _> = by_key.collect();
                (by_key.len() == rows.len()).then_some(by_key)
            });
            Some(Keyed {
                key,
                rows: [old?, new?],
            })
        })
    }

    fn by_key(&self, rows: &[Vec<Row>; 2], keyed: &Keyed<'_>, found: &mut Differences) {
        let named = |row: &Row| {
            let key = row.0[keyed.key].to_string();
            (format!("{}[{key}]", self.name), key)
        };
        for old in &rows[0] {
            let (label, key) = named(old);
            match keyed.rows[1].get(&key) {
                Some(new) => self.cells(&label, old, new, found),
                None => found.add(label, old.text(), None),
            }
        }
        for new in &rows[1] {
            let (label, key) = named(new);
            if !keyed.rows[0].contains_key(&key) {
                found.add(label, None, new.text());
            }
        }
    }

    /// Compares rows that nothing identifies: of those between equal ones, the first
    /// ones were changed, and the rest was removed or added.
    fn by_position(&self, [olds, news]: &[Vec<Row>; 2], found: &mut Differences) {
        let label = |row: usize| format!("{}: row {}", self.name, row + 1);
        for [old, new] in hunks(olds, news) {
            let changed = old.len().min(new.len());
            for step in 0..changed {
                let rows = [&olds[old.start + step], &news[new.start + step]];
                self.cells(&label(old.start + step), rows[0], rows[1], found);
            }
            for row in old.skip(changed) {
                found.add(label(row), olds[row].text(), None);
            }
            for row in new.skip(changed) {
                found.add(label(row), None, news[row].text());
            }
        }
    }

    /// Adds the cells of a row that differ; the row, if their names would be too long.
    fn cells(&self, label: &str, old: &Row, new: &Row, found: &mut Differences) {
        let is_long = |column: &String| label.len() + column.len() > MAX_FIELD;
        if self.columns.iter().any(is_long) {
            if old != new {
                found.add(label.to_owned(), old.text(), new.text());
            }
            return;
        }
        let cells = old.0.iter().zip(&new.0);
        for (column, (old, new)) in self.columns.iter().zip(cells) {
            if !is_same(old, new) {
                let field = format!("{label}.{column}");
                found.add(field, Some(old.clone()), Some(new.clone()));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inspect::diff::difference::Difference;

    fn fields(old: &str, new: &str) -> Vec<(String, Option<String>, Option<String>)> {
        let mut found = Differences::default();
        compare("t.tsv", [old, new].map(Table::parse), &mut found);
        let text = |value: Option<Value>| value.map(|value| value.to_string());
        let fields = found.finish().into_iter();
        fields
            .map(|difference| match difference {
                Difference::Field { field, old, new } => (field, text(old), text(new)),
                Difference::Note(note) => (note, None, None),
            })
            .collect()
    }

    fn text(text: &str) -> Option<String> {
        Some(text.to_owned())
    }

    #[test]
    fn cells_differ_by_row_and_column() {
        let old = "index\tid\tsize\n0\tA1\t5\n1\tB2\t6\n";
        let new = "index\tid\tsize\n0\tA1\t7\n1\tC3\t6\n";
        let expected = [
            ("t.tsv[A1].size".to_owned(), text("5"), text("7")),
            ("t.tsv[B2]".to_owned(), text("B2 6"), None),
            ("t.tsv[C3]".to_owned(), None, text("C3 6")),
        ];
        assert_eq!(fields(old, new), expected);
    }

    #[test]
    fn an_added_row_is_one_difference_although_all_rows_after_it_move() {
        let old = "line\tx\ty\n1\t5\t5\n2\t5\t6\n3\t5\t6\n";
        let new = "line\tx\ty\n2\t5\t5\n3\t7\t7\n4\t5\t6\n5\t5\t8\n";
        let expected = [
            ("t.tsv: row 2".to_owned(), None, text("7 7")),
            ("t.tsv: row 3.y".to_owned(), text("6"), text("8")),
        ];
        assert_eq!(fields(old, new), expected);
        let moved = "line\tx\ty\n2\t5\t5\n3\t5\t6\n4\t5\t6\n";
        assert_eq!(fields(old, moved), []);
    }

    #[test]
    fn a_table_with_long_texts_is_not_collected() {
        let table = |text: &'static str| {
            let mut made = 0;
            let rows = (0..600_u32).map(|number| {
                made += 1;
                [number.into(), text.into()]
            });
            let table = Table::new(Rows::new(["index", "name"], rows), 9 + 600 * 20);
            (table.map(|table| table.rows.len()), made)
        };
        assert_eq!(table("a name"), (Some(600), 600));
        assert_eq!(table("a longer name"), (None, 481));
    }

    #[test]
    fn a_row_with_a_long_name_is_one_difference() {
        let name = "x".repeat(MAX_FIELD);
        let table = |cells: &str| format!("name\ta\tb\n{name}\t{cells}\n");
        let row = |cells: &str| text(&format!("{name} {cells}"));
        let expected = [(format!("t.tsv[{name}]"), row("1 2"), row("3 4"))];
        assert_eq!(fields(&table("1\t2"), &table("3\t4")), expected);
        assert_eq!(fields(&table("1\t2"), &table("1\t2")), []);
    }

    #[test]
    fn columns_of_one_table_alone_are_named() {
        let expected = [
            ("t.tsv".to_owned(), text("column a"), None),
            ("t.tsv".to_owned(), None, text("column b")),
        ];
        assert_eq!(fields("a\tx\n1\t2\n", "b\tx\n9\t2\n"), expected);
    }
}
