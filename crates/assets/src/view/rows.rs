//! Tables of values.

use std::borrow::Cow;
use std::io::{self, Write};
use std::rc::Rc;

use hpimount_record::{self as record, Record, Value};

use super::Table;

/// The receiver of a table that is made row by row, such as the writer of its file.
pub trait TableSink {
    /// Receives the names of the columns, before the rows.
    ///
    /// # Errors
    /// Returns an error if no more of the table is received.
    fn columns(&mut self, columns: &[&str]) -> io::Result<()>;

    /// Receives a row: the values of the columns. Missing ones at its end are null.
    ///
    /// # Errors
    /// Returns an error if no more of the table is received.
    fn row(&mut self, row: Vec<Value>) -> io::Result<()>;

    /// Receives a row of texts.
    ///
    /// # Errors
    /// Returns an error if no more of the table is received.
    fn texts(&mut self, row: &[&str]) -> io::Result<()> {
        let texts = row.iter().map(|&text| text.to_owned().into());
        self.row(texts.collect())
    }
}

/// A table as TSV.
impl TableSink for Table<'_> {
    fn columns(&mut self, columns: &[&str]) -> io::Result<()> {
        self.columns(columns)
    }

    fn row(&mut self, row: Vec<Value>) -> io::Result<()> {
        for value in row {
            match value {
                Value::Text(text) => self.text(&text),
                // A list is in one cell.
                Value::List(values) => {
                    let values: Vec<_> = values.iter().map(Value::to_string).collect();
                    self.text(&values.join(" "))
                }
                value => self.cell(value),
            };
        }
        self.end_row()
    }

    // The longest tables consist of texts, which are written without copies.
    fn texts(&mut self, row: &[&str]) -> io::Result<()> {
        for text in row {
            self.text(text);
        }
        self.end_row()
    }
}

/// Returns the cell of a number that is the text `null` if it is not finite.
pub fn or_null(number: f32) -> Value {
    match number.is_finite() {
        true => number.into(),
        false => "null".into(),
    }
}

/// A table: its columns, and its lazily generated rows.
pub struct Rows<'a> {
    /// The names of the columns.
    pub columns: Columns,
    /// The values of each row, one for each column.
    pub rows: Box<dyn Iterator<Item = Vec<Value>> + 'a>,
}

/// Names of columns.
pub type Columns = Rc<[Cow<'static, str>]>;

impl<'a> Rows<'a> {
    /// Creates a table of values.
    pub fn new<const N: usize>(
        columns: [&'static str; N],
        rows: impl Iterator<Item = [Value; N]> + 'a,
    ) -> Self {
        Self {
            columns: Rc::new(columns.map(Cow::Borrowed)),
            rows: Box::new(rows.map(Vec::from)),
        }
    }

    /// Creates a table of records, with the number of each.
    pub fn of<R: Record + Default>(records: &'a [R]) -> Self {
        let numbered = records.iter().enumerate();
        Self::keyed(
            ["index"],
            numbered.map(|(index, record)| ([index.into()], record)),
        )
    }

    /// Creates a table of records, with columns for their keys.
    pub fn keyed<R: Record + Default, const N: usize>(
        keys: [&'static str; N],
        records: impl Iterator<Item = ([Value; N], &'a R)> + 'a,
    ) -> Self {
        let fields = record::columns(&R::default()).into_iter().map(Cow::Owned);
        Self {
            columns: keys.into_iter().map(Cow::Borrowed).chain(fields).collect(),
            rows: Box::new(records.map(|(keys, record)| {
                let mut row = Vec::from(keys);
                record::leaves(record, &mut |value| row.push(value));
                row
            })),
        }
    }

    /// Adds columns that are computed from the number of the row.
    pub fn and<const N: usize>(
        mut self,
        columns: [&'static str; N],
        compute: impl Fn(usize) -> [Value; N] + 'a,
    ) -> Self {
        let known = self.columns.iter().cloned();
        self.columns = known.chain(columns.map(Cow::Borrowed)).collect();
        let rows = self.rows.enumerate().map(move |(index, mut row)| {
            row.extend(compute(index));
            row
        });
        Self {
            rows: Box::new(rows),
            ..self
        }
    }

    /// Writes the table.
    ///
    /// # Errors
    /// Returns the errors of `out`.
    pub fn write(self, out: &mut dyn Write) -> io::Result<()> {
        self.send(&mut Table::new(out))
    }

    /// Sends the table to a receiver.
    ///
    /// # Errors
    /// Returns the errors of the receiver.
    pub fn send(mut self, to: &mut dyn TableSink) -> io::Result<()> {
        let columns: Vec<&str> = self.columns.iter().map(AsRef::as_ref).collect();
        to.columns(&columns)?;
        self.rows.try_for_each(|row| to.row(row))
    }
}

/// Memory charged for a value, unless it is a longer text.
pub(super) const VALUE: usize = 8;

/// Takes bytes from the remaining ones; `None` if there are too few.
pub fn take(bytes: usize, left: &mut usize) -> Option<()> {
    *left = left.checked_sub(bytes)?;
    Some(())
}

/// Takes the bytes of a row from the remaining ones, or returns `None` if there are too few:
/// 8 for it and for each text, or the length of a longer text, and 4 for each other value,
/// which takes that little in a file. Whoever charges memory multiplies.
pub fn take_row(row: &[Value], left: &mut usize) -> Option<()> {
    take(VALUE, left)?;
    row.iter().try_for_each(|value| match value {
        Value::Text(_) | Value::List(_) | Value::Map(_) => take_value(value, left),
        _ => take(VALUE / 2, left),
    })
}

/// Takes the bytes of a value and everything in it from the remaining ones.
pub(super) fn take_value(value: &Value, left: &mut usize) -> Option<()> {
    match value {
        Value::Text(text) => take(text.len().max(VALUE), left),
        Value::List(values) => {
            take(VALUE, left)?;
            values.iter().try_for_each(|value| take_value(value, left))
        }
        Value::Map(entries) => {
            take(VALUE, left)?;
            entries.iter().try_for_each(|(name, value)| {
                take(name.len(), left)?;
                take_value(value, left)
            })
        }
        _ => take(VALUE, left),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nested_values_are_counted_with_their_names_and_texts() {
        let needed = |json: &str| {
            let mut left = 1000;
            take_value(&Value::parse(json).unwrap(), &mut left).unwrap();
            1000 - left
        };
        assert_eq!(needed("null"), 8);
        assert_eq!(needed("[1, [2.5, true]]"), 5 * 8);
        assert_eq!(
            needed(r#"{"name": "0123456789", "b": []}"#),
            8 + 4 + 10 + 1 + 8
        );
        let list = Value::List(vec![Value::text("x".repeat(500)); 3]);
        assert_eq!(take_value(&list, &mut 1000), None);
    }
}
