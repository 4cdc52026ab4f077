//! The difference between an edited table and the shown table.
//!
//! Compares values, not texts. What spreadsheets change when they save a table, such as
//! separators, quotes, decimal commas, and ids that they take for numbers, is no
//! difference. Rows are found by their keys and columns by their names, so both may be
//! moved or missing.

mod cell;
mod columns;
mod dialect;
mod escapes;
mod pairs;

use std::collections::HashMap;
use std::rc::Rc;

use csv::StringRecord;

pub use self::escapes::edited_text;

use self::cell::Likeness;
use self::columns::{Column, Columns, DELETED};
use self::dialect::{Text, line, line_number};
use super::import::{Changed, Edit, Imported, NOT_THIS_FILE, Problems, shortened};
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
    /// Rows after all shown rows with the same key.
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

/// Maximum number of changed cells.
const MAX_CHANGES: usize = 1 << 18;

/// Maximum number of cell comparisons of rows with the same key.
const MAX_COMPARISONS: usize = 1 << 26;

/// Returns the memory for comparing a shown table with the edited one, in bytes.
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

/// Two tables that are compared.
struct Comparison<'a> {
    old: &'a Text,
    new: &'a Text,
    columns: Columns,
    rules: &'a Rules<'a>,
}

/// The rows of both tables with one key.
#[derive(Default)]
struct Group {
    old: Vec<usize>,
    new: Vec<usize>,
}

impl Comparison<'_> {
    fn differences(&self) -> Result<Differences, String> {
        let mut problems = Problems::default();
        let mut found = Differences::default();
        let (mut spoiled, mut spoiled_line) = (0, 0);
        for (old, new) in self.pairs(&mut found, &mut problems)? {
            let row = &self.new.rows[new];
            match self
                .columns
                .deleted
                .and_then(|place| row.get(place))
                .map(str::trim)
            {
                None | Some("") => {}
                Some("-") if self.rules.can_delete => {
                    let line = line_number(row);
                    found.deleted.push(Deleted { row: old, line });
                    continue;
                }
                Some("-") => problems.add(format!("{}: rows cannot be deleted here", line(row))),
                Some(_) => problems.add(format!("{}, column #: must be \"-\" or empty", line(row))),
            }
            let spoiled_in_row = self.changes(old, new, &mut found.changes, &mut problems);
            if spoiled == 0 {
                spoiled_line = line_number(row);
            }
            spoiled += spoiled_in_row;
            if found.changes.len() > MAX_CHANGES {
                return Err(format!("changes more than {MAX_CHANGES} cells"));
            }
        }
        problems.check()?;
        if spoiled > 0 {
            found.warnings.push(format!(
                "{spoiled} cells are as a spreadsheet spoils them, and count as unchanged: the \
                 first is in line {spoiled_line}"
            ));
        }
        Ok(found)
    }

    /// Adds the different cells of a row, and returns the number of spoiled ones.
    fn changes(
        &self,
        old: usize,
        new: usize,
        changes: &mut Vec<Change>,
        problems: &mut Problems,
    ) -> usize {
        let (shown, row) = (&self.old.rows[old], &self.new.rows[new]);
        if row
            .iter()
            .skip(self.new.header.len())
            .any(|cell| !cell.is_empty())
        {
            let (has, columns) = (row.len(), self.new.header.len());
            problems.add(format!(
                "{}: has {has} cells, the header {columns}",
                line(row)
            ));
        }
        let mut key = None;
        let mut spoiled = 0;
        for column in &self.columns.both {
            let (before, text, likeness) = self.cell(column, old, new);
            spoiled += usize::from(likeness == Likeness::Spoiled);
            let is_empty_key = text.is_empty() && self.is_first_key(column);
            if likeness != Likeness::Different || is_empty_key {
                continue;
            }
            let key = key.get_or_insert_with(|| self.name(shown)).clone();
            let change = Change {
                row: old,
                column: column.name.clone(),
                text: match column.has_commas {
                    true => text.replacen(',', ".", 1),
                    false => text.into_owned(),
                },
                line: line_number(row),
                key,
            };
            match self.is_key(column) || !(self.rules.is_editable)(&column.name) {
                true => problems.add(change.problem(format_args!("is derived; was {before:?}"))),
                false => changes.push(change),
            }
        }
        spoiled
    }

    /// Returns a shown cell, its edited form, and how they compare.
    fn cell(
        &self,
        column: &Column,
        old: usize,
        new: usize,
    ) -> (&str, std::borrow::Cow<'_, str>, Likeness) {
        let shown = self.old.rows[old].get(column.old).unwrap_or_default();
        // Cells that are missing at the end of a row are unchanged.
        let edited = self.new.rows[new].get(column.new).unwrap_or(shown);
        let edited = self.new.cell(edited, shown);
        let likeness = cell::compare(shown, &edited);
        (shown, edited, likeness)
    }

    fn is_key(&self, column: &Column) -> bool {
        let mut keys = self.rules.keys.iter().flat_map(|key| key.iter());
        keys.any(|name| **name == *column.name)
    }

    fn is_first_key(&self, column: &Column) -> bool {
        let first = self.rules.keys.first();
        first.is_some_and(|key| key.contains(&&*column.name))
    }

    /// Returns the name of a shown row for messages.
    fn name(&self, shown: &StringRecord) -> Rc<str> {
        let cell = |name: &str| {
            let place = self.old.header.iter().position(|column| column == name)?;
            shown.get(place)
        };
        let name = self
            .rules
            .name
            .and_then(cell)
            .filter(|name| !name.is_empty());
        let name = name.map(str::to_owned).unwrap_or_else(|| {
            let key = self.rules.keys.first().copied().unwrap_or_default();
            let cells: Vec<_> = key.iter().filter_map(|name| cell(name)).collect();
            cells.join(" ")
        });
        shortened(&name).into()
    }

    /// Pairs the rows of both tables, and finds the new ones.
    fn pairs(
        &self,
        found: &mut Differences,
        problems: &mut Problems,
    ) -> Result<Vec<(usize, usize)>, String> {
        let rows = self.new.rows.iter().enumerate();
        let rows = rows.filter(|(_, row)| row.iter().any(|cell| !cell.is_empty()));
        let (new, mut left): (Vec<_>, Vec<_>) =
            rows.map(|(row, _)| row).partition(|&row| self.is_new(row));
        found
            .added
            .extend(new.into_iter().map(|row| self.added(row)));
        let mut pairs = Vec::new();
        let mut is_paired = vec![false; self.old.rows.len()];
        let mut comparisons = MAX_COMPARISONS / self.columns.both.len().max(1);
        let mut keys = 0;
        for &names in self.rules.keys {
            let Some(key) = self.columns.key(names) else {
                continue;
            };
            keys += 1;
            let groups = self.groups(&key, &is_paired, &mut left, &mut comparisons);
            for Group { old, new } in groups.ok_or(pairs::TOO_MANY)? {
                let is_equal = |old, new| self.is_equal(old, new);
                let result =
                    pairs::pair(&old, &new, &mut comparisons, &is_equal).ok_or(pairs::TOO_MANY)?;
                if let Some(row) = result.ambiguous {
                    let place = line(&self.new.rows[row]);
                    let key = self.shown_key(&key, row);
                    problems.add(format!(
                        "{place}: could be several rows with the key {key}: keep their number and \
                         order"
                    ));
                }
                for row in result.extra {
                    self.extra(row, &key, &result.pairs, found, problems);
                }
                for &(old, _) in &result.pairs {
                    is_paired[old] = true;
                }
                pairs.extend(result.pairs);
            }
        }
        if keys == 0 {
            let names = self.rules.keys.first().map(|key| key.join(", "));
            let names = names.unwrap_or_default();
            return Err(format!(
                "line 1: must have the columns that name a row: {names}"
            ));
        }
        for row in left {
            let place = line(&self.new.rows[row]);
            let first = self.rules.keys.iter().find_map(|key| self.columns.key(key));
            let key = self.shown_key(&first.unwrap_or_default(), row);
            problems.add(format!("{place}: no row has the key {key}"));
        }
        found.added.sort_by_key(|row| row.line);
        pairs.sort_unstable_by_key(|&(_, new)| new);
        Ok(pairs)
    }

    /// Groups rows by a key, and removes paired rows of the edited table from `left`.
    /// Returns `None` if that takes more than `comparisons` comparisons, which are
    /// subtracted from it.
    fn groups(
        &self,
        key: &[&Column],
        is_paired: &[bool],
        left: &mut Vec<usize>,
        comparisons: &mut usize,
    ) -> Option<Vec<Group>> {
        let mut groups: Vec<Group> = Vec::new();
        let mut exact = HashMap::new();
        let mut loose: HashMap<String, Option<usize>> = HashMap::new();
        for (row, shown) in self.old.rows.iter().enumerate() {
            if is_paired[row] {
                continue;
            }
            let cells = || {
                key.iter()
                    .map(|column| shown.get(column.old).unwrap_or_default())
            };
            let next = groups.len();
            let group = *exact.entry(joined(cells().map(exact_key))).or_insert(next);
            if group == next {
                groups.push(Group::default());
            }
            groups[group].old.push(row);
            // A spoiled key that fits several keys is ambiguous.
            let other = loose
                .entry(joined(cells().map(cell::loose)))
                .or_insert(Some(group));
            if *other != Some(group) {
                *other = None;
            }
        }
        let mut is_complete = true;
        left.retain(|&row| {
            let cells = |change: fn(&str) -> String| {
                joined(key.iter().map(|column| {
                    let cell = self.new.rows[row].get(column.new).unwrap_or_default();
                    change(&self.new.cell(cell, ""))
                }))
            };
            let group = exact.get(&cells(exact_key)).copied();
            let group = group.or_else(|| *loose.get(&cells(cell::loose))?);
            let may_be = |&group: &usize| {
                groups[group].old.iter().any(|&old| {
                    if self.may_be(old, row) {
                        return true;
                    }
                    is_complete &= *comparisons > 0;
                    *comparisons = comparisons.saturating_sub(1);
                    !is_complete
                })
            };
            let Some(group) = group.filter(may_be) else {
                return true;
            };
            groups[group].new.push(row);
            false
        });
        groups.retain(|group| !group.new.is_empty());
        is_complete.then_some(groups)
    }

    /// Returns true if the key of an edited row may be a spoiled form of this row's
    /// key.
    fn may_be(&self, old: usize, new: usize) -> bool {
        self.columns.both.iter().all(|column| {
            if !self.is_first_key(column) {
                return true;
            }
            let (_, text, likeness) = self.cell(column, old, new);
            likeness != Likeness::Different || text.is_empty()
        })
    }

    /// Returns whether all cells of two rows are equal.
    fn is_equal(&self, old: usize, new: usize) -> bool {
        let mut columns = self.columns.both.iter();
        columns.all(|column| self.cell(column, old, new).2 != Likeness::Different)
    }

    /// Returns true if a row is new according to its key.
    fn is_new(&self, row: usize) -> bool {
        let key = self
            .rules
            .keys
            .first()
            .and_then(|key| self.columns.key(key));
        let index = key.as_ref().and_then(|key| key.last());
        self.rules.adding == Adding::WithoutIndex
            && index.is_some_and(|index| {
                let cell = self.new.rows[row].get(index.new).unwrap_or_default();
                cell.is_empty()
            })
    }

    fn added(&self, row: usize) -> Added {
        let row = &self.new.rows[row];
        let cells = self.columns.both.iter().filter_map(|column| {
            let cell = row.get(column.new).filter(|cell| !cell.is_empty())?;
            let cell = self.new.cell(cell, "");
            let text = match column.has_commas {
                true => cell.replacen(',', ".", 1),
                false => cell.into_owned(),
            };
            Some((column.name.clone(), text))
        });
        Added {
            line: line_number(row),
            cells: cells.collect(),
        }
    }

    /// Handles an edited row without a matching shown row: it is new, a duplicate, or a
    /// problem.
    fn extra(
        &self,
        row: usize,
        key: &[&Column],
        pairs: &[(usize, usize)],
        found: &mut Differences,
        problems: &mut Problems,
    ) {
        if self.rules.adding == Adding::Behind {
            found.added.push(self.added(row));
            return;
        }
        let records = &self.new.rows;
        let is_repeated = matches!(pairs, [(_, other)] if records[*other] == records[row]);
        if !is_repeated {
            let place = line(&records[row]);
            let other = pairs.last().map(|&(_, other)| line(&records[other]));
            let other = other.unwrap_or_default();
            let key = self.shown_key(key, row);
            problems.add(format!(
                "{place}: has the key {key} of {other}, and other cells"
            ));
        }
    }

    /// Returns the key of an edited row for messages.
    fn shown_key(&self, key: &[&Column], row: usize) -> String {
        let cell = |column: &&Column| self.new.rows[row].get(column.new).unwrap_or_default();
        let cells: Vec<_> = key.iter().map(cell).collect();
        shortened(&cells.join(" "))
    }
}

/// Normalizes a cell of a key for the first comparison.
fn exact_key(cell: &str) -> String {
    cell::bare(cell).to_owned()
}

/// Joins cells with tabs. Shown cells have no tabs.
fn joined(cells: impl Iterator<Item = String>) -> String {
    cells.collect::<Vec<_>>().join("\t")
}

#[cfg(test)]
mod tests;
