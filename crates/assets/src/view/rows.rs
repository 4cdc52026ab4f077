//! Tables of values.

use std::borrow::Cow;
use std::io::{self, Write};
use std::rc::Rc;

use hpimount_record::{self as record, Record, Scope, Value};

use super::Table;

/// A table: its columns, and its rows, which are made one by one.
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

    /// Creates a table of records, with columns of what each belongs to.
    pub fn keyed<R: Record + Default, const N: usize>(
        keys: [&'static str; N],
        records: impl Iterator<Item = ([Value; N], &'a R)> + 'a,
    ) -> Self {
        let fields = record::columns(&R::default(), 0)
            .into_iter()
            .map(Cow::Owned);
        Self {
            columns: keys.into_iter().map(Cow::Borrowed).chain(fields).collect(),
            rows: Box::new(records.map(|(keys, record)| {
                let mut row = Vec::from(keys);
                record::leaves(record, &Scope::default(), &mut |value| row.push(value));
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
        let columns: Vec<&str> = self.columns.iter().map(AsRef::as_ref).collect();
        let mut table = Table::new(out, &columns)?;
        for row in self.rows {
            for value in row {
                match value {
                    Value::Text(text) => table.text(&text),
                    // A list is in one cell.
                    Value::List(values) => {
                        let values: Vec<_> = values.iter().map(Value::to_string).collect();
                        table.text(&values.join(" "))
                    }
                    value => table.cell(value),
                };
            }
            table.end_row()?;
        }
        Ok(())
    }
}
