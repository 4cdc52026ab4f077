//! The difference between an edited table and the shown table.
//!
//! Compares values, not texts. What spreadsheets change when they save a table, such as
//! separators, quotes, decimal commas, and ids that they take for numbers, is no
//! difference. Rows are found by their keys and columns by their names, so both may be
//! moved or missing.

mod cell;
mod columns;
mod comparison;
mod dialect;
mod escapes;
mod pairs;

use std::rc::Rc;

pub use self::escapes::edited_text;

use self::columns::{Columns, DELETED};
use self::comparison::Comparison;
use self::dialect::Text;
use super::import::{Changed, Edit, Imported, NOT_THIS_FILE, Problems};
use super::{ViewFormat, open};

/// Restrictions on the edits of a table.
pub struct Rules<'a> {
    /// The columns that name a row. Keys after the first are for rows whose key a
    /// spreadsheet spoiled, and for tables without the columns of the first. Rows with
    /// equal keys are distinguished by their order.
    pub keys: &'a [&'a [&'a str]],
    /// The column with the row's name for messages, if it is not the key.
    pub name: Option<&'a str>,
    /// Returns true if the cells of a column can be edited. Keys cannot.
    pub is_editable: &'a dyn Fn(&str) -> bool,
    /// Detection of new rows.
    pub adding: Adding,
    /// True if rows can be deleted, by `-` in a column `#`.
    pub can_delete: bool,
}

impl Rules<'_> {
    /// The rules of a table with fixed rows, without its columns.
    pub const FIXED_ROWS: Rules<'static> = Rules {
        keys: &[],
        name: None,
        is_editable: &|_| false,
        adding: Adding::Never,
        can_delete: false,
    };
}

/// Detection of new rows in an edited table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Adding {
    /// None: rows cannot be added.
    Never,
    /// Rows where the last cell of the first key, such as an index, is empty.
    WithoutIndex,
    /// Rows after all shown rows with the same key; if rows have an index, those without one.
    Behind,
}

/// The difference between two tables.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Differences {
    /// Edited cells, by shown rows and columns.
    pub changes: Vec<Change>,
    /// New rows, in the order of the edited table.
    pub added: Vec<Added>,
    /// Deleted rows, by shown rows.
    pub deleted: Vec<Deleted>,
    /// Doubtful edits, one sentence each.
    pub warnings: Vec<String>,
}

impl Differences {
    /// Returns the result of an edit with this new asset.
    pub fn imported(self, edit: &Edit<'_>, asset: Vec<u8>) -> Imported {
        match *asset == **edit.asset {
            true => Imported::Unchanged,
            false => Imported::Changed(Changed {
                asset,
                warnings: self.warnings,
                ..Changed::default()
            }),
        }
    }
}

/// A cell with another value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The number of the row in the shown table.
    pub row: usize,
    /// The name of the column.
    pub column: Rc<str>,
    /// The new text, with a decimal point.
    pub text: String,
    /// The line of the edited table.
    pub line: u64,
    /// The name of the row for messages.
    pub key: Rc<str>,
}

impl Change {
    /// Returns its place: `line 8, column x (TANK)`.
    pub fn place(&self) -> String {
        self.problem("").trim_end_matches(": ").to_owned()
    }

    /// Formats a problem with its place: `line 8, column x (TANK): what`.
    pub fn problem(&self, what: impl std::fmt::Display) -> String {
        place(self.line, &self.column, &self.key, what)
    }
}

/// A new row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Added {
    /// The line of the edited table.
    pub line: u64,
    /// The cells that are not empty, with their columns, in the order of the shown
    /// table.
    pub cells: Vec<(Rc<str>, String)>,
}

impl Added {
    /// Returns the cell of a column; an empty one without it.
    pub fn get(&self, column: &str) -> &str {
        let mut cells = self.cells.iter();
        let found = cells.find(|(name, _)| **name == *column);
        found.map_or("", |(_, text)| text)
    }

    /// Formats a problem with its place: `line 8, column x: what`.
    pub fn problem(&self, column: &str, what: impl std::fmt::Display) -> String {
        place(self.line, column, "", what)
    }
}

/// A deleted row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deleted {
    /// The number of the row in the shown table.
    pub row: usize,
    /// The line of the edited table.
    pub line: u64,
}

fn place(line: u64, column: &str, key: &str, what: impl std::fmt::Display) -> String {
    match key {
        "" => format!("line {line}, column {column}: {what}"),
        _ => format!("line {line}, column {column} ({key}): {what}"),
    }
}

/// Returns the memory for comparing a table as it is shown with the edited one, in bytes.
pub fn memory(shown: &[u8], edited: &[u8]) -> usize {
    2 * memory_of(shown) + memory_of(edited)
}

fn memory_of(table: &[u8]) -> usize {
    const OF_ROW: usize = 256;
    const OF_CELL: usize = 16;
    let parts = table.iter().map(|byte| match byte {
        b'\n' => OF_ROW,
        b'\t' | b';' | b',' => OF_CELL,
        _ => 0,
    });
    2 * table.len() + parts.sum::<usize>()
}

/// Compares an edited table with the table that a view shows.
///
/// # Errors
/// Returns an error if there is no such table, or the errors of [`differences`].
pub fn of_view(
    format: &ViewFormat,
    edit: &Edit<'_>,
    rules: &Rules<'_>,
) -> Result<Differences, String> {
    let view = open(format, edit.asset, edit.context);
    let number = view.position(&|file| file == edit.part);
    let mut shown = Vec::new();
    let rendered = number.map(|number| view.render(number, edit.context, &mut shown));
    rendered
        .ok_or(NOT_THIS_FILE)?
        .map_err(|error| error.to_string())?;
    differences(&shown, edit.file, rules)
}

/// Returns true if an edited, untrusted table has the same rows as the shown table,
/// with equal cells.
pub fn is_unchanged(shown: &[u8], edited: &[u8]) -> bool {
    let Ok(old) = Text::shown(shown) else {
        return false;
    };
    let is_column = |name: &str| old.header.iter().any(|column| column == name);
    let Ok(new) = Text::edited(edited, shown, &is_column) else {
        return false;
    };
    let mut problems = Problems::default();
    let comparison = Comparison {
        columns: Columns::new(&old, &new, &mut problems),
        old: &old,
        new: &new,
        rules: &Rules::FIXED_ROWS,
    };
    let count = old.rows.len();
    let mut rows = 0..count;
    problems.is_empty()
        && comparison.columns.deleted.is_none()
        && new.rows.len() == count
        && rows.all(|row| comparison.is_equal(row, row))
}

/// Compares an edited, untrusted table with the shown table.
///
/// # Errors
/// Returns all problems as one text, each with its place first: "line 8, column x
/// (TANK): is derived".
pub fn differences(shown: &[u8], edited: &[u8], rules: &Rules<'_>) -> Result<Differences, String> {
    let old = Text::shown(shown)?;
    let is_column = |name: &str| {
        old.header
            .iter()
            .any(|column| column.eq_ignore_ascii_case(name))
    };
    let new = Text::edited(edited, shown, &|name| name == DELETED || is_column(name))?;
    let mut problems = Problems::default();
    let columns = Columns::new(&old, &new, &mut problems);
    problems.check()?;
    let comparison = Comparison {
        old: &old,
        new: &new,
        columns,
        rules,
    };
    comparison.differences()
}

/// A shown table.
pub struct ShownTable(Text);

impl ShownTable {
    /// Reads a table.
    ///
    /// # Errors
    /// Returns an error if the table has too many rows or columns.
    pub fn read(table: &[u8]) -> Result<Self, String> {
        Text::shown(table).map(Self)
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.0.rows.len()
    }

    /// Returns whether it has no rows.
    pub fn is_empty(&self) -> bool {
        self.0.rows.is_empty()
    }

    /// Returns the text of a cell, or an empty text.
    pub fn cell(&self, row: usize, column: &str) -> &str {
        let place = self.0.header.iter().position(|name| name == column);
        let row = self.0.rows.get(row);
        row.zip(place)
            .and_then(|(row, place)| row.get(place))
            .unwrap_or_default()
    }
}

#[cfg(test)]
mod tests;
